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

_PUBLIC = {
    "Candidate": "canonym.types",
    "CanonymError": "canonym.errors",
    "Concept": "canonym.types",
    "Document": "canonym.types",
    "Hits": "canonym.types",
    "InvalidInput": "canonym.errors",
    "Link": "canonym.types",
    "LinkOptions": "canonym.linker",
    "Linker": "canonym.linker",
    "Links": "canonym.linker",
    "Mention": "canonym.types",
    "Mismatch": "canonym.errors",
    "MissingExtra": "canonym.errors",
    "Name": "canonym.types",
    "NotTrained": "canonym.errors",
    "ReadError": "canonym.errors",
    "Relation": "canonym.types",
    "Settings": "canonym.linker",
    "Terminology": "canonym.terminology",
    "Xref": "canonym.types",
    "import_terminology": "canonym.terminology",
    "link_table": "canonym.jobs.link",
    "read_terminology": "canonym.terminology",
}

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
    if name not in _PUBLIC:
        raise AttributeError(f"module 'canonym' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
