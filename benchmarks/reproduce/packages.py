"""Packages that the tables alone need, so that no extra of canonym brings them."""

from __future__ import annotations

import importlib
from typing import Any

from canonym.errors import InvalidInput


def load(module: str, what: str, package: str) -> Any:
    """Import a module, or say which package brings it; `what` needs it.

    Raises
    ------
    InvalidInput
        If the package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"{what} needs {package}, which is not installed: pip install {package}"
        ) from error
