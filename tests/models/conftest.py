"""Small files in place of the real sources, and a tiny transformer."""

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
HERE = Path(__file__).parent


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def small_table() -> ModuleType:
    """The module `small_table`: vectors that can be trained, and checks of an objective."""
    return _load(HERE.parent / "training" / "small_table.py")


@pytest.fixture
def make_module() -> Callable[..., Any]:
    """A function that makes the same tiny BERT each time."""
    make: Callable[..., Any] = _load(HERE.parent / "training" / "small_run.py").make_module
    return make


@pytest.fixture(name="folder")
def source_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a small file for each open terminology."""
    _load(HERE / "small_sources.py").write_sources(tmp_path, monkeypatch)
    return tmp_path


@pytest.fixture(name="mixed")
def source_folder_with_corpora(folder: Path) -> Path:
    """The same with mentions of two corpora, in three parts each."""
    _load(HERE / "small_sources.py").write_corpora(folder)
    return folder
