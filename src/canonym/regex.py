"""Regular expressions that are compiled when they are first used.

Canonym has some three hundred of them. To link one name needs fifty, and compiling the others took
a quarter of the time of the command.
"""

from __future__ import annotations

import re
from typing import Any, cast

GAP = r"(?:(?<!\s)\s+)?"
"""White space before something: a search tries a run of it once, not at each of its characters."""

_MEMBERS = (
    *("findall", "finditer", "flags", "fullmatch", "groupindex", "groups", "match", "search"),
    *("split", "sub", "subn"),
)


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    r"""Return a pattern as `re.compile` does, which an error in it reaches at its first use.

    >>> regex(r"type (\d)", re.IGNORECASE).search("diabetes Type 2")[1]
    '2'
    """
    return cast("re.Pattern[str]", _Unused(pattern, flags))


class _Regex:
    """The members of a compiled pattern, in slots, where they are found fastest."""

    __slots__ = ("_flags", "pattern", *_MEMBERS)

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __reduce__(self) -> tuple[Any, ...]:
        return regex, (self.pattern, self._flags)


class _Unused(_Regex):
    """A pattern that becomes the other kind, whose slots are full, when one is asked for."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for member in _MEMBERS:
            setattr(self, member, getattr(compiled, member))
        self.__class__ = _Regex  # type: ignore[assignment]
        return getattr(compiled, name)
