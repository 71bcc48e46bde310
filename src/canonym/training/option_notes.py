"""Training options: help, range and flags beside the type and default of a parameter.

A field of a dataclass carries its `Option` in its annotation; a class with a long signature has
them in an attribute ``options``, by parameter. Type and default are those of the parameter.
`canonym train` makes its flags of the options, and files are checked by them.
"""

from __future__ import annotations

import inspect
import math
import numbers
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args, get_origin, get_type_hints

from canonym.errors import InvalidInput

_KINDS = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


@dataclass(frozen=True)
class Option:
    """The help of a training option, and the values that it takes."""

    help: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None  # greater than this
    below: float | None = None  # less than this
    choices: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # on the command line; --name by default
    metavar: str | None = None
    unset: str = ""  # what happens without a value, in words
    shown: str = ""  # the default in words, where its value says little
    required: bool = False
    recipes: tuple[str, ...] = ()  # that have it; all by default

    # From the parameter that carries it.
    name: str = ""
    kind: type = str
    several: bool = False
    optional: bool = False  # takes None
    default: Any = None

    @property
    def key(self) -> str:
        """Its name in a file: that of its longest flag."""
        longest = max(self.flags, key=len, default=self.name)
        return longest.strip("-").replace("-", "_")

    def check(self, value: Any, *, called: str = "") -> Any:
        """Return a value as the option takes it, or raise `InvalidInput`; `called` is its name."""
        if value is None and self.optional:
            return None
        values = list(value) if self.several and isinstance(value, list | tuple) else [value]
        if not all(map(self._takes, values)):
            raise InvalidInput(f"{called or self.key} is {value!r}; expected {self._expected()}")
        return tuple(values) if self.several else value

    def _takes(self, value: Any) -> bool:
        abstract: Any = {int: numbers.Integral, float: numbers.Real}.get(self.kind, self.kind)
        if not isinstance(value, abstract) or isinstance(value, bool) != (self.kind is bool):
            return False
        if self.kind in (str, bool):
            return not self.choices or value in self.choices
        number: Any = value
        return (
            (isinstance(number, int) or math.isfinite(number))
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def _expected(self) -> str:
        if self.choices:
            return f"one of {', '.join(map(repr, self.choices))}"
        words = {"least": "at least", "most": "at most", "above": "above", "below": "below"}
        bounds_of = {word: getattr(self, name) for name, word in words.items()}
        bounds = [f"{word} {value:g}" for word, value in bounds_of.items() if value is not None]
        kind = "a list of strings" if self.several else _KINDS[self.kind]
        return " ".join(filter(None, (kind, " and ".join(bounds))))


def options_of(
    source: Callable[..., Any],
    described: Mapping[str, Option] | None = None,
    defaults: Mapping[str, object] | None = None,
) -> dict[str, Option]:
    """Return the options of a function or class, with names, types and defaults filled in.

    `described` are its options by parameter; without it they are in the annotations. `defaults` are
    those of a paper, where they differ from the parameter's.
    """
    annotated = vars(source)["__init__"] if isinstance(source, type) else source
    hints = get_type_hints(annotated, include_extras=True)
    parameters = inspect.signature(source).parameters
    if described is None:
        described = {
            name: option
            for name in parameters
            for option in getattr(hints.get(name), "__metadata__", ())
            if isinstance(option, Option)
        }
    options: dict[str, Option] = {}
    for name, option in described.items():
        if name not in parameters:
            continue
        kind, several, optional = _kind(hints[name])
        default = (defaults or {}).get(name, parameters[name].default)
        options[name] = replace(
            option, name=name, kind=kind, several=several, optional=optional, default=default
        )
    return options


def check_options(
    source: Callable[..., Any], described: Mapping[str, Option] | None, values: Mapping[str, Any]
) -> None:
    """Raise `InvalidInput` unless the options of a function or class take these `values`."""
    for name, option in options_of(source, described).items():
        option.check(values[name], called=name)


def _kind(hint: Any) -> tuple[type, bool, bool]:
    """Return the type of a value, whether there may be several, and whether there may be none."""
    if hasattr(hint, "__metadata__"):
        hint = get_args(hint)[0]
    optional = get_origin(hint) is types.UnionType
    if optional:
        hint = next(type_ for type_ in get_args(hint) if type_ is not type(None))
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True, optional
    return hint, False, optional
