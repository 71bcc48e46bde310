"""The nouns of canonym: what goes in, what comes out, and the arrays in between.

Inside the library names and concepts are rows of arrays; the objects of this package exist at the
edges, in what a reader yields and in what a caller receives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from canonym.types.annotations import (
    CORRECTION,
    EVERYDAY,
    NO_ANSWER,
    ONE_OF_SEVERAL,
    OPEN,
    OTHER_READINGS,
    SECOND_LOOK,
    USUAL_READING,
    Document,
    Mention,
    Step,
)
from canonym.types.links import (
    SIMILARITIES,
    Against,
    Candidate,
    ConceptMapping,
    Contradiction,
    Link,
)
from canonym.types.records import SCOPES, Concept, Name, Record, Relation, Xref

if TYPE_CHECKING:
    from canonym.types.search_arrays import (
        BoolArray,
        Encoder,
        Float32Array,
        Hits,
        Int32Array,
        Searchable,
        SparseVectors,
    )

__all__ = [
    "CORRECTION",
    "EVERYDAY",
    "NO_ANSWER",
    "ONE_OF_SEVERAL",
    "OPEN",
    "OTHER_READINGS",
    "SCOPES",
    "SECOND_LOOK",
    "SIMILARITIES",
    "USUAL_READING",
    "Against",
    "BoolArray",
    "Candidate",
    "Concept",
    "ConceptMapping",
    "Contradiction",
    "Document",
    "Encoder",
    "Float32Array",
    "Hits",
    "Int32Array",
    "Link",
    "Mention",
    "Name",
    "Record",
    "Relation",
    "Searchable",
    "SparseVectors",
    "Step",
    "Xref",
]


def __getattr__(name: str) -> Any:
    """Load the arrays when they are asked for: who reads a file alone needs no NumPy."""
    if name not in __all__:
        raise AttributeError(f"module 'canonym.types' has no attribute {name!r}")
    from canonym.types import search_arrays

    return globals().setdefault(name, getattr(search_arrays, name))
