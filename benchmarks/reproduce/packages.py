"""Packages that the tables alone need, so that no extra of canonym brings them."""

from __future__ import annotations

import importlib
from typing import Any

from canonym.errors import InvalidInput


def load(module: str, what: str, package: str) -> Any:
    """Import a module; `InvalidInput` says which package brings it, and what needs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"{what} needs {package}, which is not installed: pip install {package}"
        ) from error
