"""Tables of cases that stand beside a test: ``test_spaces.toml`` beside ``test_spaces.py``."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest


def cases(*arguments: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each row of the table that has its name.

    `arguments` name the columns. A row that ends early has None in the others.
    """

    def ask(test: Callable[..., None]) -> Callable[..., None]:
        table = tables(inspect.getfile(test))[test.__name__.removeprefix("test_")]
        if len(arguments) == 1:
            return pytest.mark.parametrize(arguments[0], table)(test)
        rows = [row + (None,) * (len(arguments) - len(row)) for row in table]
        return pytest.mark.parametrize(arguments, rows)(test)

    return ask


@lru_cache(maxsize=1)
def tables(test_file: str) -> dict[str, tuple[Any, ...]]:
    """Read all tables beside a test by name; each is a tuple, and so is a row of several cells."""
    content = Path(test_file).with_suffix(".toml").read_text("utf-8")
    return {name: _as_tuple(rows) for name, rows in tomllib.loads(content).items()}


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value
