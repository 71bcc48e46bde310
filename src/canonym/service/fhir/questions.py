"""Parameters of an operation, from an address or from a resource of the type Parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from canonym.errors import InvalidInput

_LONGEST = 1000
_MOST = 100
_FOR_ALL = {"_format", "_pretty"}
_JSON = {"json", "application/json", "application/fhir+json", "text/json"}
_ANY = {"*/*", "application/*"}
_FLAGS = {"true": True, "false": False}


class Coding(NamedTuple):
    """A code of a code system; `display` and `version` may be empty."""

    system: str
    code: str
    display: str = ""
    version: str = ""


class Question:
    """The values of parameters by name; one that is unknown or too long is an `InvalidInput`."""

    def __init__(self, pairs: Iterable[tuple[str, Any]], known: frozenset[str]) -> None:
        self._values: dict[str, list[Any]] = {}
        for name, value in pairs:
            if name not in known | _FOR_ALL:
                raise InvalidInput(
                    f"the parameter {name!r:.80} is not supported; {', '.join(sorted(known))} are"
                )
            self._values.setdefault(name, []).append(value)
        if self.text("_format", "json").split(";")[0].lower() not in _JSON:
            raise InvalidInput("_format is expected to be json")

    def texts(self, name: str) -> list[str]:
        """Return all values of a parameter."""
        values = self._values.get(name, [])
        for value in values:
            _check_text(name, value)
        return values

    def text(self, name: str, default: str = "") -> str:
        """Return the only value of a parameter."""
        values = self.texts(name)
        if len(values) > 1:
            raise InvalidInput(f"{name} is given {len(values)} times; one value is expected")
        return values[0] if values else default

    def flag(self, name: str) -> bool:
        """Return whether a parameter is true; it is false where it is missing."""
        value = str(*self._values.get(name, ["false"])[:1]).lower()
        if value not in _FLAGS:
            raise InvalidInput(f"{name} is {value!r:.80}; true or false is expected")
        return _FLAGS[value]

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 0 on."""
        value = str(*self._values.get(name, [default])[:1])
        if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) <= most):
            raise InvalidInput(f"{name} is {value!r:.80}; a number from 0 to {most:,} is expected")
        return int(value)

    def coding(self, coding: str, code: str, *systems: str) -> Coding:
        """Return the code that is given as a whole, or in parts with one of several names.

        Behind the address of the system, and a bar, may stand its version.
        """
        whole = self._values.get(coding, [None])[0]
        if whole is None:
            system = next(filter(None, map(self.text, systems)), "")
            stated = Coding(system, self.text(code), self.text("display"))
        elif isinstance(whole, Mapping):
            stated = Coding(*(whole.get(part, "") for part in Coding._fields))
        else:
            raise InvalidInput(f"{coding} is no Coding; an object with system and code is expected")
        for part, value in zip(Coding._fields, stated, strict=True):
            _check_text(part, value)
        system, _, version = stated.system.partition("|")
        if not (system and stated.code):
            raise InvalidInput(f"{systems[0]} and {code} are expected, or {coding}")
        versions = sorted({version, stated.version, self.text("version")} - {""})
        if len(versions) > 1:
            raise InvalidInput(
                f"{system:.200} is given the versions {', '.join(versions):.200}; one is expected"
            )
        return stated._replace(system=system, version="".join(versions))


def accepts_json(accept: str) -> bool:
    """Tell whether the header ``Accept`` of a request allows JSON; an empty one does.

    >>> accepts_json("application/fhir+xml, */*;q=0.1"), accepts_json("application/fhir+xml")
    (True, False)
    """
    ranges = [part.split(";") for part in accept.lower().replace(" ", "").split(",") if part]
    return not ranges or any(
        name in _JSON | _ANY
        and not any(each.startswith("q=") and not each.strip("q=0.") for each in parameters)
        for name, *parameters in ranges
    )


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise InvalidInput(f"{name} is no text of at most {_LONGEST:,} characters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{name} has a lone surrogate; no text can hold it") from error


def pairs_of(content: Any) -> list[tuple[str, Any]]:
    """Return names and values of a resource of the type Parameters, of limited size.

    Anything else is an `InvalidInput`.
    """
    if not isinstance(content, dict) or content.get("resourceType") != "Parameters":
        raise InvalidInput("a resource of the type Parameters is expected, in JSON")
    members = content.get("parameter", [])
    if not isinstance(members, list) or len(members) > _MOST:
        raise InvalidInput(f"parameter is no list of at most {_MOST} members")
    return [_pair(member) for member in members]


def _pair(member: Any) -> tuple[str, Any]:
    if isinstance(member, dict) and isinstance(member.get("name"), str):
        for key, value in member.items():
            if key.startswith("value"):
                return member["name"], value
    raise InvalidInput("a parameter has no name or no value; both are expected")
