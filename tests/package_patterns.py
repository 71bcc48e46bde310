"""Every regular expression of the package, and how it is used."""

from __future__ import annotations

import ast
import builtins
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import canonym
from canonym.mentions import cues, drug_lines, phrasings, spread, status, trial_fields
from canonym.regex import _MEMBERS, _Regex
from canonym.text import running
from tests.test_layers import PACKAGE, tree_of

_FUNCTIONS = ("compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub")
_PATTERNS = (_Regex, re.Pattern)


class Used(NamedTuple):
    """A pattern, where it stands, and what is done with it: search, match or fullmatch."""

    name: str
    pattern: str
    flags: int
    uses: frozenset[str]


def patterns_in(value: Any) -> Iterator[Any]:
    """Yield the patterns in a global variable, and in the containers that it holds."""
    if isinstance(value, _PATTERNS):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in([*value, *value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from patterns_in(item)


@cache
def modules() -> dict[str, ModuleType]:
    """Return the modules of the package, but for those whose extra is not installed."""
    loaded = {}
    for module in pkgutil.walk_packages(canonym.__path__, "canonym."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded[module.name] = importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("canonym"):
                raise
    return loaded


def every_pattern() -> Iterator[Used]:
    """Yield the patterns of global variables, those that functions make, and those in calls."""
    yield from _of_variables()
    yield from _of_functions()
    yield from _of_calls()


def _uses(methods: set[str]) -> frozenset[str]:
    return frozenset(name if name in ("match", "fullmatch") else "search" for name in methods)


def _text(pattern: str | bytes) -> str:
    return pattern if isinstance(pattern, str) else pattern.decode("latin-1")


def _of_variables() -> Iterator[Used]:
    methods: dict[int, set[str]] = defaultdict(set)
    named: dict[int, tuple[str, Any]] = {}
    for name, module in modules().items():
        here = [
            (variable, pattern)
            for variable, value in vars(module).items()
            for pattern in patterns_in(value)
        ]
        if not here:
            continue
        for variable, pattern in here:
            named.setdefault(id(pattern), (f"{name}.{variable}", pattern))
        nodes = list(ast.walk(tree_of(Path(str(module.__file__)))))
        parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                for pattern in patterns_in(vars(module).get(node.id)):
                    methods[id(pattern)] |= _methods(node, parents, vars(module))
    for key, (name, pattern) in named.items():
        asked = methods[key] & set(_MEMBERS) or {"search"}
        yield Used(name, _text(pattern.pattern), pattern.flags & ~re.LOCALE, _uses(asked))


def _methods(
    node: ast.Name, parents: dict[ast.AST, ast.AST], variables: Mapping[str, Any]
) -> set[str]:
    """Return what is called on a variable, or in its function on what may come of it."""
    parent = parents[node]
    if isinstance(parent, ast.Attribute):
        return {parent.attr}
    around: ast.AST = node
    while not isinstance(around, ast.FunctionDef | ast.Module):
        around = parents[around]
    if isinstance(around, ast.Module):
        return {"search"}
    asked = {
        part.attr
        for part in ast.walk(around)
        if isinstance(part, ast.Attribute)
        and not (isinstance(part.value, ast.Name) and part.value.id in variables)
    }
    return asked & {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}


def _of_functions() -> Iterator[Used]:
    made = {
        **{f"{make.__module__}.{make.__name__}": [make()] for make in _MAKERS},
        f"{cues.__name__}._table": [
            known.expression
            for opened in cues._table().values()
            for several in opened.before.values()
            for known in several
        ],
        f"{phrasings.__name__}._wordings": [it.expression for it in phrasings._wordings()],
        f"{spread.__name__}._spreads": spread._spreads(),
        f"{running.__name__}._word_pattern": [running._word_pattern(it) for it in (False, True)],
    }
    for name, patterns in made.items():
        for pattern in dict.fromkeys(patterns):
            use = _USES.get(name.rpartition(".")[2], "search")
            yield Used(name, pattern.pattern, pattern.flags, frozenset({use}))


_USES = dict.fromkeys(("_table", "_own_salt", "_strong_pair"), "match") | {
    **dict.fromkeys(("_wordings", "_operation", "_ways"), "fullmatch")
}
_MAKERS = (
    *(drug_lines._quantities, drug_lines._forms, drug_lines._ending, drug_lines._share),
    *(drug_lines._salt, drug_lines._own_salt, drug_lines._strong_pair, trial_fields._noise),
    status._operation,
)
_MADE_BY = {make.__name__ for make in (*_MAKERS, spread._spreads)}


class _Sample(str):
    """A word in the place of a variable that only a function has, and of its members."""

    __slots__ = ()

    def __getattr__(self, name: str) -> _Sample:
        return self


class _Samples(dict[str, Any]):
    """The variables of a module, and a sample in the place of each other one."""

    def __missing__(self, name: str) -> _Sample:
        return _Sample("ab")


def _of_calls() -> Iterator[Used]:
    """Yield the patterns that functions of `re` are called with, inside of functions."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(["canonym", *path.relative_to(PACKAGE).with_suffix("").parts])
        for function in ast.walk(tree_of(path)):
            if not isinstance(function, ast.FunctionDef) or module not in modules():
                continue
            if module == "canonym.regex" or function.name in _MADE_BY:
                continue
            name = f"{module}.{function.name}"
            for node in ast.walk(function):
                match node:
                    case ast.Call(ast.Attribute(ast.Name("re"), function)):
                        if function in _FUNCTIONS:
                            yield from _of_call(name, node, function, vars(modules()[module]))


def _of_call(name: str, node: ast.Call, function: str, variables: dict[str, Any]) -> Iterator[Used]:
    values = _Samples({**vars(builtins), **variables})
    pattern = eval(ast.unparse(node.args[0]), {}, values)  # noqa: S307: our own source
    at = {"sub": 4, "split": 3, "compile": 1}.get(function, 2)
    flags = [
        *node.args[at : at + 1],
        *(word.value for word in node.keywords if word.arg == "flags"),
    ]
    number = int(eval(ast.unparse(flags[0]), {}, values)) if flags else 0
    yield Used(name, _text(pattern), number, _uses({function}))
