"""A transformer and an objective small enough for a test."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_SMALL = _load("small_run")


@pytest.fixture(scope="session")
def small() -> ModuleType:
    """The module `small_run`: an objective, a module and a dev score."""
    return _SMALL


@pytest.fixture
def small_table() -> ModuleType:
    """The module `small_table`: vectors that can be trained, and what objectives promise."""
    return _load("small_table")


@pytest.fixture
def names() -> list[str]:
    """Ninety names of two words."""
    return list(_SMALL.NAMES)


@pytest.fixture
def make_module() -> Callable[..., Any]:
    """A function that makes the same tiny BERT each time."""
    make: Callable[..., Any] = _SMALL.make_module
    return make
