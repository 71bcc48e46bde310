"""canonym finds the concept a biomedical name stands for.

The public names below are resolved on first use, so that ``import canonym`` stays fast and loads no
heavy dependency.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Candidate": "canonym.types",
    "CanonymError": "canonym.errors",
    "Concept": "canonym.types",
    "Document": "canonym.types",
    "Hits": "canonym.types",
    "InvalidInput": "canonym.errors",
    "Link": "canonym.types",
    "Linker": "canonym.linker",
    "Links": "canonym.linker",
    "Mention": "canonym.types",
    "Mismatch": "canonym.errors",
    "MissingExtra": "canonym.errors",
    "Name": "canonym.types",
    "NotTrained": "canonym.errors",
    "ReadError": "canonym.errors",
    "Relation": "canonym.types",
    "Terminology": "canonym.terminology",
    "Xref": "canonym.types",
    "import_terminology": "canonym.terminology",
    "read_terminology": "canonym.terminology",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'canonym' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
