"""A terminology as writers of mappings need it: its origin, and its standard concepts."""

from __future__ import annotations

from canonym import __version__
from canonym.export.mappings import Origin
from canonym.export.omop import Target
from canonym.terminology import Terminology


def origin_of(
    terminology: Terminology,
    fingerprint: str,
    date: str = "",
    added: frozenset[tuple[str, str]] = frozenset(),
) -> Origin:
    """Return where mappings to a terminology come from."""
    sources = terminology.sources()
    source, version = max(sources, key=lambda pair: sources[pair], default=("", ""))
    prefixes = tuple(terminology.prefixes()) or ("",)
    return Origin(__version__, fingerprint, prefixes, source, version, date, added)


class StandardConcepts:
    """Finds the standard concepts that a concept maps to, itself if it is one.

    A terminology without any "Maps to" holds standard concepts alone. A concept that is gone maps
    to none.
    """

    def __init__(self, terminology: Terminology) -> None:
        self._terminology = terminology
        self._maps = next(terminology.iter_relations("maps_to"), None) is not None

    def __call__(self, id_: str) -> list[Target]:
        """Return the standard concepts of an id."""
        known = self._terminology.resolve(id_)
        if known is None:
            return []
        ids = self._terminology.related(known, "maps_to") if self._maps else (known,)
        found = map(self._terminology.concept, ids)
        return [Target(concept.id, concept.source, concept.types) for concept in found]
