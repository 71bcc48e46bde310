"""canonym finds the concept a biomedical name stands for.

The public names are resolved on first use, so that ``import canonym`` stays fast and loads no heavy
dependency. Type checkers and editors see them as imports.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from canonym.errors import (
        CanonymError,
        InvalidInput,
        Mismatch,
        MissingExtra,
        NotTrained,
        ReadError,
    )
    from canonym.jobs.link import link_table
    from canonym.linker import Linker, LinkOptions, Links, Settings
    from canonym.terminology import Terminology, import_terminology, read_terminology
    from canonym.types import (
        Candidate,
        Concept,
        Document,
        Hits,
        Link,
        Mention,
        Name,
        Relation,
        Xref,
    )

__version__ = "0.1.0"

_NAMES = {
    "canonym.errors": "CanonymError InvalidInput Mismatch MissingExtra NotTrained ReadError",
    "canonym.jobs.link": "link_table",
    "canonym.linker": "LinkOptions Linker Links Settings",
    "canonym.terminology": "Terminology import_terminology read_terminology",
    "canonym.types": "Candidate Concept Document Hits Link Mention Name Relation Xref",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [  # literal, for type checkers
    "Candidate",
    "CanonymError",
    "Concept",
    "Document",
    "Hits",
    "InvalidInput",
    "Link",
    "LinkOptions",
    "Linker",
    "Links",
    "Mention",
    "Mismatch",
    "MissingExtra",
    "Name",
    "NotTrained",
    "ReadError",
    "Relation",
    "Settings",
    "Terminology",
    "Xref",
    "__version__",
    "import_terminology",
    "link_table",
    "read_terminology",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'canonym' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
