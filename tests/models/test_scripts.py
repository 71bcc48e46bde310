"""The scripts that make the shipped files can be started."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import models


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(models.__path__)])
def test_each_script_finds_what_it_imports(name: str) -> None:
    pytest.importorskip("torch")
    assert importlib.import_module(f"models.{name}").__doc__
