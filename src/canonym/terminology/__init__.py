"""Terminologies: one reader per format, one store for all."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from canonym.terminology.formats import (
        FORMATS,
        ReaderOptions,
        import_terminology,
        read_records,
        read_terminology,
        recognise,
    )
    from canonym.terminology.hierarchy import Hierarchy
    from canonym.terminology.store import Terminology

__all__ = [
    "FORMATS",
    "Hierarchy",
    "ReaderOptions",
    "Terminology",
    "import_terminology",
    "read_records",
    "read_terminology",
    "recognise",
]

_PLACES = {"Hierarchy": "hierarchy", "Terminology": "store"}


def __getattr__(name: str) -> Any:
    # Linking opens a terminology, and needs none of the readers.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PLACES.get(name, 'formats')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
