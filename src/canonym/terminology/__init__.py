"""Terminologies: one reader per format, one store for all."""

from __future__ import annotations

from canonym.terminology.build import build_terminology
from canonym.terminology.store import Terminology

__all__ = ["Terminology", "build_terminology"]
