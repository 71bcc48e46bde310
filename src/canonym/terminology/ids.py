"""Ids as corpora and other tools write them, resolved to the concepts of one terminology.

Corpora write ``D003920`` or ``OMIM:123456``, terminologies ``MESH:D003920``. Some ids are an
alternative of another concept, and some are unknown. Every id is counted by how it was resolved,
and unknown ids are listed, so that none vanishes from an evaluation.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from canonym.io.systems import FORMS
from canonym.terminology.replaced import current_id
from canonym.terminology.store import Terminology

# Bare ids of the two terminologies of most corpora; other prefixes are tried in order.
_BARE = {"MESH": FORMS["mesh"], "OMIM": FORMS["omim"]}


@dataclass(frozen=True, slots=True)
class IdCensus:
    """Counts of the ids that were met, by how they were resolved.

    ``alternative`` ids may have a change of prefix as well. ``unknown`` holds the ids that the
    terminology does not have with their occurrences, most frequent first, and ``prefixes`` those of
    all prefixes as written, ``""`` for none.
    """

    n: int
    as_written: int
    prefix_added: int
    prefix_removed: int
    prefix_changed: int
    alternative: int
    unknown: dict[str, int]
    prefixes: dict[str, int]

    @property
    def n_unknown(self) -> int:
        """Occurrences of ids that the terminology does not have."""
        return sum(self.unknown.values())

    @property
    def mixed(self) -> bool:
        """Whether ids with and without a prefix were met, a sign of two sources."""
        return "" in self.prefixes and len(self.prefixes) > 1

    def remarks(self) -> list[str]:
        """Return a sentence for each fact that a reader of the figures has to know."""
        remarks = []
        if self.unknown:
            shown = ", ".join(list(self.unknown)[:5])
            more = ", …" if len(self.unknown) > 5 else ""
            remarks.append(
                f"{self.n_unknown:,} of {self.n:,} ids ({len(self.unknown):,} different ones) are "
                f"not in the terminology: {shown}{more}"
            )
        if self.mixed:
            prefixes = ", ".join(
                f"{count:,} {prefix + ':' if prefix else 'without one'}"
                for prefix, count in self.prefixes.items()
            )
            remarks.append(f"ids are written with different prefixes: {prefixes}")
        return remarks

    def to_dict(self) -> dict[str, Any]:
        """Return the census as plain dicts, ready for JSON."""
        return asdict(self) | {"n_unknown": self.n_unknown, "mixed": self.mixed}


class ConceptIds:
    """Finds the concept that an id stands for in `terminology`, and counts the ids it met.

    >>> from canonym import Concept, Terminology, Xref
    >>> ids = ConceptIds(
    ...     Terminology.build([Concept("MESH:D1", "flu"), Xref("MESH:D1", "OMIM:7", "alternative")])
    ... )
    >>> ids.concept("D1"), ids.concept("OMIM:7"), ids.concept("D2")
    ('MESH:D1', 'MESH:D1', None)
    """

    def __init__(self, terminology: Terminology) -> None:
        self.terminology = terminology
        self._known: dict[str, tuple[str | None, str]] = {}
        self._met: Counter[str] = Counter()

    def concept(self, id_: str) -> str | None:
        """Return the id of the concept as the terminology writes it, or None; count the id."""
        self._met[id_] += 1
        return self.find(id_)

    def find(self, id_: str) -> str | None:
        """Return what `concept` returns without counting the id."""
        if id_ not in self._known:
            self._known[id_] = self._resolve(id_)
        return self._known[id_][0]

    def census(self, ids: Iterable[str] | None = None) -> IdCensus:
        """Count how the ids met so far, or the given ones, were resolved."""
        met = self._met if ids is None else Counter(ids)
        how: Counter[str] = Counter()
        unknown: dict[str, int] = {}
        prefixes: Counter[str] = Counter()
        for id_, count in met.items():
            prefixes[_prefix(id_)] += count
            if self.find(id_) is None:
                unknown[id_] = count
            how[self._known[id_][1]] += count
        return IdCensus(
            sum(met.values()),
            how["as written"],
            how["added"],
            how["removed"],
            how["changed"],
            how["alternative"],
            dict(sorted(unknown.items(), key=lambda pair: (-pair[1], pair[0]))),
            dict(sorted(prefixes.items(), key=lambda pair: (-pair[1], pair[0]))),
        )

    def _resolve(self, id_: str) -> tuple[str | None, str]:
        for form, how in self._forms(id_):
            concept = self.terminology.resolve(form)
            if concept is not None:
                # A deprecated concept is not found; what is in its place is, if anything is.
                concept = current_id(self.terminology, concept) or concept
                return concept, how if concept == form else "alternative"
        return None, "unknown"

    def _forms(self, id_: str) -> Iterable[tuple[str, str]]:
        """Yield spellings of the id in the terminology, each with its difference."""
        yield id_, "as written"
        prefix, bare = _prefix(id_), id_.partition(":")[2] if ":" in id_ else id_
        how = "changed" if prefix else "added"
        if not prefix:
            yield from ((f"{p}:{bare}", how) for p, form in _BARE.items() if form.fullmatch(bare))
        for known in self._known_prefixes:
            # Another prefix names another concept: only the same one in other letters will do.
            if not prefix or known.lower() == prefix.lower():
                yield f"{known}:{bare}", how
        if prefix:
            yield bare, "removed"

    @functools.cached_property
    def _known_prefixes(self) -> tuple[str, ...]:
        counts = Counter(_prefix(concept.id) for concept in self.terminology.iter_concepts())
        xrefs = self.terminology.iter_xrefs()
        counts.update(_prefix(xref.target) for xref in xrefs if xref.kind == "alternative")
        counts.pop("", None)
        return tuple(sorted(counts, key=lambda prefix: (-counts[prefix], prefix)))


def _prefix(id_: str) -> str:
    return id_.partition(":")[0] if ":" in id_ else ""
