"""Regular expressions that are compiled when they are first used.

Canonym has some four hundred of them. To link one name needs fifty, and compiling the others took
a quarter of the time of the command.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    r"""Return a pattern as `re.compile` does, which an error in it reaches at its first use.

    >>> regex(r"type (\d)", re.IGNORECASE).search("diabetes Type 2")[1]
    '2'
    """
    return cast("re.Pattern[str]", _Regex(pattern, flags))


class _Regex:
    """A pattern whose methods are those of the compiled one, once that is there."""

    # Looked up in a slot they take hardly longer than those of a pattern; in a dictionary, half
    # as long again.
    __slots__ = ("_flags", "pattern", *_METHODS)

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return regex, (self.pattern, self._flags)
