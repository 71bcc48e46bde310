"""Preferences of a caller among concepts of one name.

A preference is a type of concepts, a source, a prefix of ids or a species. Of two concepts that are
equal otherwise, one that meets the first preference goes first, then one that meets the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes import BoolArray
from canonym.mentions.species import species_of, taxon_of
from canonym.terminology import Terminology

SPECIES = "species"
"""The preference for concepts of the species that the text names."""

MOST = 30
"""Most preferences of a call."""

_LISTED = 12


def unmet_preferences(terminology: Terminology, prefer: Sequence[str]) -> npt.NDArray[np.int32]:
    """Say which preferences each concept does not meet: ``(n_concepts,)``, smaller goes first.

    Each is one binary digit, the first preference the highest. Concepts of any species meet
    `SPECIES`: which one it is depends on the text.

    Raises
    ------
    InvalidInput
        If the terminology has no concept that meets a preference.
    """
    unmet = np.zeros(terminology.n_concepts, dtype=np.int32)
    for wanted in prefer:
        unmet = 2 * unmet + ~_that_meet(terminology, wanted)
    return unmet


def _that_meet(terminology: Terminology, wanted: str) -> BoolArray:
    """Mark the concepts of a type, source, prefix or species of that name."""
    rows = np.zeros(terminology.n_names, dtype=np.bool_)
    if _among(wanted, terminology.types()):
        rows |= terminology.rows_where(types=[wanted])
    if _among(wanted, _sources(terminology)):
        rows |= terminology.rows_where(sources=[wanted])
    found = np.zeros(terminology.n_concepts, dtype=np.bool_)
    found[terminology.concept_of_row()[rows]] = True
    if wanted.endswith(":"):
        found |= terminology.with_prefix(wanted)
    taxon = taxon_of(wanted)
    if taxon or wanted == SPECIES:
        species = (species_of(one.types, one.label) for one in terminology.iter_concepts())
        found |= np.fromiter((bool(one) and one == (taxon or one) for one in species), np.bool_)
    if not found.any():
        raise InvalidInput(_no_concept(terminology, wanted))
    return found


def _sources(terminology: Terminology) -> list[str]:
    return [source for source, _ in terminology.sources() if source]


def _among(wanted: str, known: Iterable[str]) -> bool:
    return wanted.casefold() in {one.casefold() for one in known}


def _no_concept(terminology: Terminology, wanted: str) -> str:
    kinds = {
        "types": list(terminology.types()),
        "sources": _sources(terminology),
        "prefixes": [f"{prefix}:" for prefix in terminology.prefixes() if prefix],
    }
    there = "; ".join(
        f"{kind} {', '.join(map(repr, values[:_LISTED]))}"
        + (f" and {len(values) - _LISTED} more" if len(values) > _LISTED else "")
        for kind, values in kinds.items()
        if values
    )
    return (
        f"prefer: no concept of {terminology.path.name} is of {wanted!r}; expected a type, a "
        f"source, a prefix of ids or a species. It has the {there}"
    )
