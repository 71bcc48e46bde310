"""The scripts that make the shipped files can be started."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import models

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(models.__path__)])
def test_each_script_finds_what_it_imports(name: str) -> None:
    pytest.importorskip("torch")
    assert importlib.import_module(f"models.{name}").__doc__


@pytest.mark.parametrize("folder", ["models", "benchmarks"])
def test_a_script_defines_what_it_calls_before_it_runs(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        runs = [n for n in body if isinstance(n, ast.If) and "__main__" in ast.unparse(n.test)]
        assert runs in ([], body[-1:]), f"{path} defines more behind it"
