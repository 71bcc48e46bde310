"""Terminologies: one reader per format, one store for all, and writers for other programs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from canonym.terminology.export_formats import EXPORTS, export_terminology
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
    "EXPORTS",
    "FORMATS",
    "Hierarchy",
    "ReaderOptions",
    "Terminology",
    "export_terminology",
    "import_terminology",
    "read_records",
    "read_terminology",
    "recognise",
]

_PLACES = {
    "EXPORTS": "export_formats",
    "Hierarchy": "hierarchy",
    "Terminology": "store",
    "export_terminology": "export_formats",
}


def __getattr__(name: str) -> Any:
    # Linking opens a terminology, and needs none of the readers.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PLACES.get(name, 'formats')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
