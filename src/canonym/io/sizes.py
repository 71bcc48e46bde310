"""Sizes as people write them: "4GB"."""

from __future__ import annotations

import re

from canonym.errors import InvalidInput
from canonym.regex import regex

_SIZE = regex(r"(\d+(?:\.\d+)?) ?([KMGT]?)(I?)B?", re.IGNORECASE)


def parse_size(size: int | str, what: str = "the size") -> int:
    """Return a number of bytes; `what` names it in a message.

    >>> parse_size("4GB"), parse_size("1.5 g"), parse_size("2GiB"), parse_size(512)
    (4000000000, 1500000000, 2147483648, 512)
    """
    match = _SIZE.fullmatch(str(size).strip())
    n_bytes = 0
    if match and not isinstance(size, bool):
        number, unit, binary = match.groups()
        thousands = "_KMGT".index(unit.upper() or "_")
        n_bytes = int(float(number) * (1024 if binary else 1000) ** thousands)
    if not n_bytes:
        raise InvalidInput(f"{what} is {size!r}; expected a size such as '4GB' or '500MB'")
    return n_bytes
