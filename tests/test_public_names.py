"""Every public name resolves, says what it is, and documents only what it has."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import canonym

SECTIONS = {
    *("Parameters", "Other Parameters", "Returns", "Yields", "Raises", "Warns", "Notes"),
    "Differences",
    *("References", "Examples", "See Also", "Attributes", "Methods"),
}
_UNDERLINED = re.compile(r"^(\S[^\n]*)\n(-{3,})$", re.MULTILINE)


@functools.cache
def _names() -> list[str]:
    found = ["canonym", *(one.name for one in pkgutil.walk_packages(canonym.__path__, "canonym."))]
    return [name for name in found if not name.endswith("__main__")]


@functools.cache
def _public_modules() -> list[str]:
    """Modules with ``__all__``: packages, and the few modules that users import from."""
    found = []
    for name in _names():
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        if re.search(r"^__all__ = ", Path(spec.origin).read_text(encoding="utf-8"), re.MULTILINE):
            found.append(name)
    return found


def _public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions and classes of a module, and the methods of those classes."""
    for name in module.__all__:
        value = getattr(module, name)
        if getattr(value, "__module__", module.__name__) != module.__name__:
            continue  # documented where it is from
        if inspect.isclass(value) or inspect.isroutine(value):
            yield name, value
        if inspect.isclass(value):
            for member in vars(value):
                made = getattr(value, member)
                foreign = any(
                    member in vars(base) and not base.__module__.startswith("canonym")
                    for base in value.__mro__[1:]
                )
                if not (member.startswith("_") or foreign) and (
                    inspect.isroutine(made) or isinstance(made, property)
                ):
                    yield f"{name}.{member}", made


def _sections(text: str) -> dict[str, str]:
    parts = _UNDERLINED.split(text)
    return dict(zip(parts[1::3], parts[3::3], strict=True))


def _documented(section: str) -> list[str]:
    """Return the names that a numpydoc section of parameters describes."""
    heads = [line for line in section.splitlines() if line and not line[0].isspace()]
    return [name.strip().lstrip("*") for line in heads for name in line.split(" : ")[0].split(",")]


def test_every_module_says_what_it_is() -> None:
    texts = {name: inspect.getdoc(importlib.import_module(name)) or "" for name in _names()}
    assert not [name for name, text in texts.items() if not text], "without a docstring"
    firsts = {name: text.split("\n\n")[0].rstrip() for name, text in texts.items()}
    endless = [name for name, first in firsts.items() if first[-1] not in ".`)"]
    assert not endless, "the first sentence has no end"


def test_public_modules_name_what_they_have() -> None:
    for name in _public_modules():
        public = importlib.import_module(name).__all__
        assert len(set(public)) == len(public), f"{name}.__all__ names something twice"
    assert not [
        f"{name}.{public}"
        for name in _public_modules()
        for public in importlib.import_module(name).__all__
        if not hasattr(importlib.import_module(name), public)
    ]


def _everything_public() -> Iterator[tuple[str, Any]]:
    for name in _public_modules():
        for public, value in _public(importlib.import_module(name)):
            yield f"{name}.{public}", value


def _faults_of_a_docstring(text: str) -> Iterator[str]:
    if not text:
        yield "has no docstring"
        return
    if text.split("\n\n")[0].rstrip()[-1] not in ".:`)":
        yield "the first sentence has no end"
    for section, underline in _UNDERLINED.findall(text):
        if section not in SECTIONS:
            yield f"unknown section {section!r}"
        if len(underline) != len(section):
            yield f"{section} is underlined unevenly"


def test_every_public_name_is_documented() -> None:
    assert not [
        f"{where}: {fault}"
        for where, value in _everything_public()
        for fault in _faults_of_a_docstring(inspect.getdoc(value) or "")
    ]


def _not_taken(value: Any) -> set[str]:
    """Return the parameters that a docstring describes and the signature does not have."""
    listed = _documented(_sections(inspect.getdoc(value) or "").get("Parameters", ""))
    if not listed or isinstance(value, property):
        return set()
    try:
        signature = inspect.signature(value)
    except ValueError:
        return set()
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    code = getattr(value, "__code__", None)  # where a signature is shown that spells options out
    passes_on = code is not None and code.co_flags & inspect.CO_VARKEYWORDS
    if passes_on or inspect.Parameter.VAR_KEYWORD in kinds:
        return set()  # what it passes on is documented under its own name
    return set(listed) - set(signature.parameters) - {"self"}


def test_documented_parameters_exist() -> None:
    not_taken = {where: _not_taken(value) for where, value in _everything_public()}
    assert not {where: names for where, names in not_taken.items() if names}


def test_the_package_resolves_its_names_lazily() -> None:
    for public in canonym.__all__:
        assert getattr(canonym, public) is not None
    assert dir(canonym) == sorted(canonym.__all__)
    assert canonym.Linker is importlib.import_module("canonym.linker").Linker
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_the_kind'"):
        _ = canonym.nothing_of_the_kind


def test_the_version_is_the_one_of_the_package() -> None:
    from importlib.metadata import version

    assert canonym.__version__ == version("canonym")
