"""Keys of a plan: settings of a training run, with their types, ranges, defaults and help.

A parameter is a key if its annotation carries a `Key`. Type and default are those of the parameter,
and the help is what the docstring says of it; published settings replace defaults.
"""

from __future__ import annotations

import inspect
import math
import numbers
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from canonym.errors import InvalidInput

PLANS = Path(__file__).parent / "plans"
"""The folder of plans that come with canonym."""
UNSET = "none"
"""In a plan, the value of a key that has none."""

_KINDS = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


@dataclass(frozen=True)
class Key:
    """The values that a setting takes, beside its type."""

    least: float | None = None
    most: float | None = None
    above: float | None = None  # greater than this
    below: float | None = None  # less than this
    choices: tuple[str, ...] = ()
    key: str = ""  # in a plan; the name of the parameter by default
    recipes: tuple[str, ...] = ()  # that have it; all by default

    # From the parameter that carries it.
    name: str = ""
    kind: type = str
    several: bool = False
    optional: bool = False  # takes None
    default: Any = None
    help: str = ""

    def check(self, value: Any) -> Any:
        """Return a value as the parameter takes it, or raise `InvalidInput`."""
        if self.optional and value in (None, UNSET):
            return None
        values = list(value) if self.several and isinstance(value, list | tuple) else [value]
        if not all(map(self._takes, values)):
            raise InvalidInput(f"{self.key} is {value!r}; expected {self.expected}")
        return tuple(values) if self.several else value

    def parse(self, text: str) -> Any:
        """Return the value that `text` stands for: one of TOML, or the text itself."""
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            return text
        return text if self.kind is str and not isinstance(value, str | list) else value

    @property
    def expected(self) -> str:
        """The values that are taken, in words."""
        if self.choices:
            return f"one of {', '.join(map(repr, self.choices))}"
        words = {"least": "at least", "most": "at most", "above": "above", "below": "below"}
        bounds_of = {word: getattr(self, name) for name, word in words.items()}
        bounds = [f"{word} {value:g}" for word, value in bounds_of.items() if value is not None]
        kind = "a list of strings" if self.several else _KINDS[self.kind]
        return " ".join(filter(None, (kind, " and ".join(bounds))))

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


Count = Annotated[int, Key(least=1)]
Share = Annotated[float, Key(least=0, most=1)]
Weight = Annotated[float, Key(least=0)]
Rate = Annotated[float, Key(above=0)]
Number = Annotated[float, Key()]
Switch = Annotated[bool, Key()]
Text = Annotated[str, Key()]
Texts = Annotated[tuple[str, ...], Key()]


def keys_of(
    source: Callable[..., Any], published: Mapping[str, Any] | None = None
) -> dict[str, Key]:
    """Return the keys of a function or class by parameter; a `published` plan has its defaults."""
    annotated = vars(source)["__init__"] if isinstance(source, type) else source
    hints = get_type_hints(annotated, include_extras=True)
    helps, plan = _helps(source), published or {}
    keys: dict[str, Key] = {}
    for name, parameter in inspect.signature(source).parameters.items():
        kind = hints.get(name)
        optional = type(None) in get_args(kind)
        if optional:
            kind = next(type_ for type_ in get_args(kind) if type_ is not type(None))
        note = next((n for n in getattr(kind, "__metadata__", ()) if isinstance(n, Key)), None)
        if note is None:
            continue
        kind = get_args(kind)[0]
        key = replace(
            note,
            key=note.key or name,
            name=name,
            kind=get_args(kind)[0] if get_origin(kind) is tuple else kind,
            several=get_origin(kind) is tuple,
            optional=optional,
            default=parameter.default,
            help=helps.get(name, ""),
        )
        if key.key in plan:
            key = replace(key, default=key.check(plan[key.key]))
        keys[name] = key
    return keys


def check_keys(source: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of `values`, which are by parameter, that are keys of a function or class.

    Raises `InvalidInput` for one that it does not take.
    """
    keys = keys_of(source)
    return {name: replace(key, key=name).check(values[name]) for name, key in keys.items()}


def read_toml(path: Path) -> dict[str, Any]:
    """Read a file of TOML, or raise `InvalidInput`."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as TOML ({error})") from error


def published_plan(recipe: str) -> dict[str, Any]:
    """Return the settings of a recipe's paper, as its plan has them."""
    return read_toml(PLANS / f"{recipe}-published.toml")


def published(recipe: str, source: Callable[..., Any]) -> dict[str, Any]:
    """Return those settings of a recipe's paper that a function or class takes."""
    plan = published_plan(recipe)
    return {name: key.default for name, key in keys_of(source, plan).items() if key.key in plan}


def _helps(source: Callable[..., Any]) -> dict[str, str]:
    """Return what the docstring of a function or class says of its parameters."""
    section = (inspect.getdoc(source) or "").partition("Parameters\n----------\n")[2]
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.partition("\n\n")[0].splitlines():
        if line.startswith(" "):
            for name in names:
                texts[name].append(line.strip())
        else:
            names = line.partition(" : ")[0].split(", ")
            texts |= {name: [] for name in names}
    return {name: " ".join(lines).replace("``", "") for name, lines in texts.items()}
