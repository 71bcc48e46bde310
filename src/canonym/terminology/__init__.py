"""Terminologies: one reader per format, one store for all."""

from __future__ import annotations

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
