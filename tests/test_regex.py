"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import ast
import copy
import importlib
import pickle
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

import canonym
from canonym.regex import _Regex, regex
from tests.test_layers import PACKAGE, tree_of


def test_it_is_the_pattern() -> None:
    ours, pattern = regex("b(a)", re.IGNORECASE), re.compile("b(a)", re.IGNORECASE)
    assert ours.pattern == pattern.pattern
    for name in ("findall", "split"):
        assert getattr(ours, name)("aBAb") == getattr(pattern, name)("aBAb")
    assert ours.sub("x", "BA ba") == "x x"
    assert (ours.flags, ours.groups) == (pattern.flags, pattern.groups)


@pytest.mark.parametrize("used", [False, True])
def test_it_is_copied_and_sent_to_other_processes(used: bool) -> None:
    ours = regex("b(a)", re.IGNORECASE)
    if used:
        assert ours.search("BA")
    for again in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert again.fullmatch("Ba")


def test_an_error_in_it_is_that_of_re() -> None:
    with pytest.raises(re.error, match="unterminated"):
        regex("(a").search("a")


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is evaluated as a module is loaded."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _at_import(child)


def test_no_module_compiles_a_pattern_of_text_as_it_is_loaded() -> None:
    assert not [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: use canonym.regex"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in _at_import(tree_of(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "re.compile"
        and not ast.unparse(node.args[0]).lstrip("r").startswith("b")
    ]


def _patterns(value: Any) -> Iterator[Any]:
    """Yield the patterns in a global variable, and in the containers that it holds."""
    if isinstance(value, _Regex):
        yield value
    elif isinstance(value, dict):
        yield from _patterns([*value, *value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _patterns(item)


def test_every_pattern_can_be_compiled() -> None:
    compiled = 0
    for module in pkgutil.walk_packages(canonym.__path__, "canonym."):
        if module.name.endswith("__main__"):
            continue
        try:
            variables = vars(importlib.import_module(module.name))
        except ModuleNotFoundError as error:  # the extra that brings it is not installed
            if str(error.name).startswith("canonym"):
                raise
            continue
        for pattern in _patterns(list(variables.values())):
            assert pattern.flags is not None
            compiled += 1
    assert compiled > 300
