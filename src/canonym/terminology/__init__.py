"""Terminologies: one reader per format, one store for all."""

from __future__ import annotations

from canonym.terminology.build import build_terminology
from canonym.terminology.formats import (
    FORMATS,
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
    "Terminology",
    "build_terminology",
    "import_terminology",
    "read_records",
    "read_terminology",
    "recognise",
]
