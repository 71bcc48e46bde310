"""The mechanisms that read mentions and texts, and how to switch each of them off.

A mechanism is a function, a method, a pattern or a number of the package. Its id is the place where
it stands: ``mentions.terse.in_full`` is the function of that name in ``canonym.mentions.terse``.
Switched off, it gives what stands beside its id in ``mechanisms.tsv``, and all modules that have it
get that. A number, a table or what changes its arguments is watched where another mechanism counts.
Nothing in the package knows of this.

Normal forms (`canonym.text.STEPS`) are made with an index, and are no part of the table; what they
bring is counted by the sieves that use them.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np

import canonym
from canonym.linking.names import Names
from canonym.mentions import drug_lines
from canonym.mentions.contrasts import NOTHING
from canonym.mentions.status import Stated, Status
from canonym.regex import _Regex
from canonym.rules import shipped
from record import rows_of

_TABLE = Path(__file__).with_suffix(".tsv")

_NEVER = re.compile("(?!)")
"""Matches nothing."""


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _nothing_of(make: Callable[[], Any]) -> Callable[..., Any]:
    return lambda *_, **__: make()


OFF: Mapping[str, Callable[..., Any]] = {
    "same": lambda text, *_, **__: text,
    "second": lambda _, text, *__, **___: text,
    "third": lambda _, __, names, *___: names,
    "third_list": lambda _, __, hits, *___, **____: list(hits),
    "third_iter": lambda _, __, near: iter(near),
    "third_zeros": lambda _, __, tied: [0.0] * len(tied),
    "zeros": lambda _, tied: [0.0] * len(tied),
    "two_zeros": lambda _, __, ___, tied: ([0.0] * len(tied), [0.0] * len(tied)),
    "alone": lambda text: (text,),
    "as_list": lambda text: [text],
    "as_list_of": lambda drafts, *_: list(drafts),
    "as_tuple": lambda flags: tuple(dict.fromkeys(flags)),
    "others_and_last": lambda others, last: [*others, last],
    "same_and_text": lambda text: (text, ""),
    "sum": lambda left, right: left + right,
    "bare": lambda piece: [drug_lines._bare(piece)],
    "status": lambda text, *_: Status(text),
    "stated": lambda text, status: (Stated(text, status.flags),),
    "positive": lambda text, _: (Stated(text, ("positive",)),),
    "written": lambda link: link.mention.text,
    "yields": _nothing_of(lambda: iter(())),
    "no_turns": lambda _, words: iter([False] * len(words.starts)),
    "no_joints": lambda _, numbers, *__: np.zeros(len(numbers) + 1, dtype=np.bool_),
    "no_pieces": _always(((), False)),
    "nothing": _always(NOTHING),
    "text": _always(""),
    "none": _always(None),
    "false": _always(False),
    "true": _always(True),
    "zero": _always(0.0),
    "tuple": _always(()),
    "two_tuples": _always(((), ())),
    "list": _nothing_of(list),
    "dict": _nothing_of(dict),
}
"""What a function gives that is switched off, by the word in the table."""

# What a method is given comes behind the object itself.
_OF_METHODS = {"same": "second"}
_FLAG_OF = {
    "_negated": "negated",
    "_past": "historical",
    "_hypothetical": "hypothetical",
    "_family": "family",
    "_uncertain": "uncertain",
}


class Mechanism(NamedTuple):
    """A mechanism: its id, what it gives where it is off, and what it does in words.

    `watched` is the mechanism that tells for which strings it may count: its own id, mostly.
    """

    id: str
    off: str
    says: str
    watched: str
    n_lines: int

    @property
    def code(self) -> CodeType | None:
        """The code of a function, None for anything else."""
        if self.is_constant or self.off in ("pattern", "sieve"):
            return None
        code: CodeType = _function(_value(self.id)).__code__
        return code

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return self.off[0].isdigit()


@functools.cache
def modules() -> tuple[ModuleType, ...]:
    """Import and return all modules that may hold a mechanism."""
    parts = ("text", "mentions", "linking", "ranking", "terminology")
    packages = [importlib.import_module(f"canonym.{part}") for part in parts]
    inner = [
        importlib.import_module(f"{package.__name__}.{info.name}")
        for package in packages
        for info in pkgutil.iter_modules(package.__path__)
    ]
    return (canonym, *packages, *inner)


@functools.cache
def mechanisms() -> tuple[Mechanism, ...]:
    """Return all mechanisms, in the order of the table."""
    return tuple(_mechanism(**row) for row in rows_of(_TABLE))


def _mechanism(id: str, off: str, says: str, watched: str) -> Mechanism:
    n_lines = 0
    if off not in ("pattern", "sieve") and not off[0].isdigit():
        function = _function(_value(id))
        says = says or (inspect.getdoc(function) or "").split("\n")[0].rstrip(".")
        n_lines = len(inspect.getsource(function).splitlines())
    elif off == "sieve":
        says = f"what the sieve `{id.partition('.')[2]}` knows"
    else:
        n_lines = 1
    return Mechanism(id, off, says, watched or id, n_lines)


def _function(value: Any) -> Any:
    if isinstance(value, property):
        value = value.fget
    return inspect.unwrap(value)


def _owner(id: str) -> tuple[Any, str]:
    """Return the module or class of a mechanism, and its name there."""
    *path, name = id.split(".")
    if path[-1].lstrip("_")[0].isupper():
        return getattr(importlib.import_module(".".join(["canonym", *path[:-1]])), path[-1]), name
    return importlib.import_module(".".join(["canonym", *path])), name


def _value(id: str) -> Any:
    owner, name = _owner(id)
    return inspect.getattr_static(owner, name)


# --- caches ---------------------------------------------------------------------------------------


@functools.cache
def _memories() -> tuple[Any, ...]:
    """Return what remembers results of functions that may depend on a mechanism."""
    leaves = ("canonym.text.words", "canonym.text", "canonym.text.transliterate")
    values = (
        value
        for module in modules()
        for value in vars(module).values()
        if hasattr(value, "cache_clear") and value.__module__ not in leaves
    )
    memories = {id(value): value for value in values if value.cache_parameters()["maxsize"]}
    return tuple(memories.values())


def forget() -> None:
    """Let functions know nothing of what they were asked; tables of the book stay as they are."""
    for memory in _memories():
        memory.cache_clear()
    tables = shipped().tables
    for memory in [key for key in tables if isinstance(key, functools.partial)]:
        del tables[memory]


def _forget_all() -> None:
    """Forget the tables of the book too: patterns in them may be off."""
    forget()
    shipped().tables.clear()


# --- switching ------------------------------------------------------------------------------------


class _Watched:
    """A pattern that tells when it matches."""

    def __init__(self, pattern: _Regex, tell: Callable[[], None]) -> None:
        self.pattern, self._own, self._tell = pattern.pattern, pattern, tell

    def __getattr__(self, name: str) -> Any:
        method, off = getattr(self._own, name), getattr(_NEVER, name)

        def watched(*args: Any, **options: Any) -> Any:
            result = method(*args, **options)
            if name == "finditer":
                result = list(result)
                if result:
                    self._tell()
                return iter(result)
            if result != off(*args, **options):
                self._tell()
            return result

        return watched


_SIEVES = ("verbatim", "normalised", "reordered", "bare")


def replacement(mechanism: Mechanism) -> Any:
    """Return what stands in the place of a mechanism that is off."""
    if mechanism.is_constant:
        return float(mechanism.off)
    if mechanism.off == "pattern":
        return _NEVER
    value = _value(mechanism.id)
    function = OFF[_off_of(mechanism)]
    return property(function) if isinstance(value, property) else function


def _off_of(mechanism: Mechanism) -> str:
    owner, _ = _owner(mechanism.id)
    return (
        _OF_METHODS.get(mechanism.off, mechanism.off) if inspect.isclass(owner) else mechanism.off
    )


def _watching(mechanism: Mechanism, tell: Callable[[Any], None]) -> Any:
    """Return a mechanism that tells when it gives something else than where it is off."""
    value = _value(mechanism.id)
    if mechanism.off == "pattern":
        return _Watched(value, lambda: tell(None))
    function = value.fget if isinstance(value, property) else value
    off, yields = OFF[_off_of(mechanism)], _yields(function)

    @functools.wraps(function)
    def watched(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        other = off(*args, **options)
        if yields:
            result, other = list(result), list(other)
        if not _equal(result, other):
            tell(result)
        return iter(result) if yields else result

    return property(watched) if isinstance(value, property) else watched


def _yields(function: Any) -> bool:
    return str(inspect.unwrap(function).__annotations__.get("return", "")).startswith("Iterator")


def _equal(result: Any, other: Any) -> bool:
    if isinstance(result, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(result, other))
    return bool(result == other)


def _with(value: Any, old: Any, new: Any) -> Any:
    """Return what a name of a module holds, with something else in the place of a function."""
    if value is old:
        return new
    if type(value) is tuple and any(_holds(item, old) for item in value):
        return tuple(_with(item, old, new) for item in value)
    return value


def _holds(value: Any, old: Any) -> bool:
    return value is old or (type(value) is tuple and any(item is old for item in value))


def _replace(id: str, new: Any, undo: ExitStack) -> None:
    """Put something in the place of a mechanism, in all modules that have it."""
    owner, name = _owner(id)
    old = inspect.getattr_static(owner, name)
    alone = inspect.isclass(owner) or isinstance(old, float)
    for holder in (owner,) if alone else modules():
        names = [name] if alone else list(vars(holder))
        for key in names:
            value = vars(holder)[key]
            held = new if alone else _with(value, old, new)
            if held is not value:
                setattr(holder, key, held)
                undo.callback(setattr, holder, key, value)


def _replace_sieve(number: int | None, tell: Callable[[int], None], undo: ExitStack) -> None:
    """Let a sieve know nothing, or tell of all sieves what they know."""
    find = Names.find

    def other(self: Any, sieve: int, forms: Any) -> Any:
        rows = find(self, sieve, forms)
        if sieve == number:
            return [of_form[:0] for of_form in rows]
        if any(map(len, rows)):
            tell(sieve)
        return rows

    Names.find = other  # type: ignore[method-assign]
    undo.callback(setattr, Names, "find", find)


@contextmanager
def switched_off(mechanism: Mechanism) -> Iterator[None]:
    """Leave a mechanism out."""
    with ExitStack() as undo:
        undo.callback(_forget_all)
        if mechanism.off == "sieve":
            number = _SIEVES.index(mechanism.id.partition(".")[2])
            _replace_sieve(number, lambda _: None, undo)
        else:
            _replace(mechanism.id, replacement(mechanism), undo)
        _forget_all()
        yield


@contextmanager
def watched(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell the id of each mechanism that gives something else than where it is off."""
    every = mechanisms()
    beside: dict[str, list[str]] = {}
    for mechanism in every:
        if mechanism.watched != mechanism.id:
            beside.setdefault(mechanism.watched, []).append(mechanism.id)

    def teller(mechanism: Mechanism) -> Callable[[Any], None]:
        ids = (mechanism.id, *beside.get(mechanism.id, ()))

        def told(result: Any) -> None:
            for id in ids:
                tell(id)
            if mechanism.id == "mentions.cues.find_cues":
                for cue in result:
                    for name, flag in _FLAG_OF.items():
                        if flag in (*cue.rule.flags, *cue.rule.ends):
                            tell(f"mentions.cues.{name}")

        return told

    makers = {f"mentions.cues.{name}" for name in _FLAG_OF}
    with ExitStack() as undo:
        undo.callback(forget)
        for mechanism in every:
            own = mechanism.watched == mechanism.id and mechanism.off != "sieve"
            if own and mechanism.id not in makers:
                _replace(mechanism.id, _watching(mechanism, teller(mechanism)), undo)
        _replace_sieve(None, lambda number: tell(f"sieve.{_SIEVES[number]}"), undo)
        forget()
        yield
