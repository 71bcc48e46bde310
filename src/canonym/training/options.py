"""Training options: what a parameter's annotation says about its help, type and range.

A parameter of an objective, an encoder or the loop carries an `Option` in its annotation::

    k: Annotated[int, Option("Candidates.", least=1)] = 20

`options_of` reads them, `canonym train` makes its flags of them, and files are checked by them.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args, get_origin, get_type_hints

from canonym.errors import InvalidInput

_KINDS = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


@dataclass(frozen=True)
class Option:
    """What a user reads about a training option, and which values it takes."""

    help: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None  # greater than this
    below: float | None = None  # less than this
    choices: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # on the command line; --name by default
    metavar: str | None = None
    unset: str = ""  # the default in words, where its value says little
    required: bool = False
    recipes: tuple[str, ...] = ()  # that have it; all by default

    # From the parameter that carries it.
    name: str = ""
    kind: type = str
    several: bool = False
    default: Any = None

    @property
    def key(self) -> str:
        """Its name in a file: that of its longest flag."""
        longest = max(self.flags, key=len, default=self.name)
        return longest.strip("-").replace("-", "_")

    def check(self, value: Any) -> Any:
        """Return a value from a file, or raise `InvalidInput` if the option does not take it."""
        values = list(value) if self.several and isinstance(value, list) else [value]
        if not all(map(self._takes, values)):
            raise InvalidInput(f"{self.key} is {value!r}; {self._expected()} is expected")
        return tuple(values) if self.several else value

    def _takes(self, value: Any) -> bool:
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind or (self.choices and value not in self.choices):
            return False
        return not (
            (self.least is not None and not value >= self.least)
            or (self.most is not None and not value <= self.most)
            or (self.above is not None and not value > self.above)
            or (self.below is not None and not value < self.below)
        )

    def _expected(self) -> str:
        if self.choices:
            return f"one of {', '.join(map(repr, self.choices))}"
        words = {"least": "at least", "most": "at most", "above": "above", "below": "below"}
        bounds = [
            f"{words[name]} {getattr(self, name):g}"
            for name in words
            if getattr(self, name) is not None
        ]
        kind = "a list of strings" if self.several else _KINDS[self.kind]
        return " ".join(filter(None, (kind, " and ".join(bounds))))


def options_of(
    source: Callable[..., Any], defaults: Mapping[str, object] | None = None
) -> dict[str, Option]:
    """Return the options among the parameters of a function or dataclass, by name.

    `defaults` are a paper's, where they differ from the parameter's own.
    """
    annotated = source.__init__ if isinstance(source, type) else source
    hints = get_type_hints(annotated, include_extras=True)
    found: dict[str, Option] = {}
    for name, parameter in inspect.signature(source).parameters.items():
        hint = hints.get(name)
        options = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Option)]
        if not options:
            continue
        kind, several = _kind(get_args(hint)[0])
        own = None if parameter.default is inspect.Parameter.empty else parameter.default
        found[name] = replace(
            options[0],
            name=name,
            kind=kind,
            several=several,
            default=(defaults or {}).get(name, own),
        )
    return found


def _kind(hint: Any) -> tuple[type, bool]:
    """Return the type of a value, and whether there may be several."""
    if get_origin(hint) is types.UnionType:
        hint = next(one for one in get_args(hint) if one is not type(None))
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True
    return hint, False
