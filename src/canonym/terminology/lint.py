"""Errors and oddities of a terminology."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from canonym.errors import InvalidInput
from canonym.io.packaged import packaged_rows
from canonym.regex import regex
from canonym.terminology.hierarchy import Hierarchy
from canonym.text import normalise
from canonym.text.markup import ENTITY

if TYPE_CHECKING:
    from canonym.terminology.store import Terminology


_LONGEST_NAME = 500  # characters; above it a name is more likely a definition

_CONTROL = frozenset(map(chr, (*range(0x20), *range(0x7F, 0xA0), 0xFFFD, 0xFFFE, 0xFFFF)))
# UTF-8 read as Windows-1252 or Latin-1: a leading byte and the bytes that go on, as characters.
_CONTINUED = "[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
_MOJIBAKE = regex(f"[ÂÃÄÅÎÏ]{_CONTINUED}|[à-ï]{_CONTINUED}{{2}}|[ð-ô]{_CONTINUED}{{3}}")


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of problem found in a terminology, with its count, samples and advice.

    ``severity`` is ``"error"`` (will go wrong), ``"warning"`` (look at it) or ``"note"``.
    """

    kind: str
    severity: str
    count: int
    samples: tuple[str, ...]
    advice: str


# Kinds of findings, each with its severity and advice, in the order of a report.
_KINDS: dict[str, list[str]] = {
    kind: [severity, advice.format(longest=_LONGEST_NAME)]
    for kind, severity, advice in packaged_rows(__file__)
}
_SHARED = (
    "SELECT {0}, COUNT(DISTINCT {1}), MIN({1}), MAX({1}) FROM {2} GROUP BY {0} "
    "HAVING MIN({1}) != MAX({1}) AND {0} != '' ORDER BY 2 DESC, 1"
)
_QUERIES = {
    "concepts without names": (
        "SELECT id FROM concepts WHERE ordinal NOT IN (SELECT concept FROM names) ORDER BY ordinal"
    ),
    "relations to deprecated concepts": (
        "SELECT r.head || ' ' || r.relation || ' ' || r.tail "
        "FROM concepts t CROSS JOIN relations r ON r.tail = t.id JOIN concepts h ON h.id = r.head "
        "WHERE t.deprecated AND NOT h.deprecated ORDER BY r.head, r.relation, r.tail"
    ),
}


class _Findings:
    """Counts, with the first few samples of each kind."""

    def __init__(self, samples: int) -> None:
        self._limit = samples
        self._counts = dict.fromkeys(_KINDS, 0)
        self._samples: dict[str, list[str]] = {kind: [] for kind in _KINDS}

    def add(self, kind: str, sample: str) -> None:
        self._counts[kind] += 1
        if self.wants(kind):
            self._samples[kind].append(sample)

    def add_name(self, kind: str, terminology: Terminology, row: int) -> None:
        sample = ""
        if self.wants(kind):
            name = terminology.names_at([row])[0]
            more = f"… ({len(name.text):,} characters)" if len(name.text) > 80 else ""
            sample = f"{name.text[:80]!r}{more} of {name.concept_id}"
        self.add(kind, sample)

    def wants(self, kind: str) -> bool:
        """Whether a further sample would be kept."""
        return len(self._samples[kind]) < self._limit

    def __iter__(self) -> Iterator[Finding]:
        for kind, (severity, advice) in _KINDS.items():
            if self._counts[kind]:
                yield Finding(
                    kind, severity, self._counts[kind], tuple(self._samples[kind]), advice
                )


def lint(terminology: Terminology, *, samples: int = 5) -> list[Finding]:
    """Look for errors and oddities in a terminology, which is streamed; `samples` are kept of each
    kind.

    Errors come first, then warnings, then notes.

    >>> from canonym import Concept, Terminology
    >>> terminology = Terminology.build([Concept("X:1|X:2", "cold"), Concept("X:3", "cold")])
    >>> [(finding.kind, finding.count) for finding in lint(terminology)][:2]
    [('ids with separators', 1), ('names shared by several ids', 1)]
    """
    if samples < 0:
        raise InvalidInput(f"samples={samples} is negative; give the most samples per kind")
    findings = _Findings(samples)
    _look_at_concepts(terminology, findings)
    _look_at_names(terminology, findings)
    _look_at_sharing(terminology, findings)
    _look_at_hierarchy(terminology, findings)
    for kind, sql in _QUERIES.items():
        for (sample,) in terminology._database.rows(sql):
            findings.add(kind, sample)
    for (source, version), count in terminology.sources().items():
        named = " ".join(part for part in (source, version) if part) or "(no source)"
        findings.add("concepts by source", f"{named}: {count:,}")
    return list(findings)


def _look_at_concepts(terminology: Terminology, findings: _Findings) -> None:
    current = "SELECT deprecated FROM concepts WHERE id = ?"
    for id_, replaced_by in terminology._database.rows(
        "SELECT id, replaced_by FROM concepts ORDER BY ordinal"
    ):
        if any(mark in "|;," or mark.isspace() for mark in id_):
            findings.add("ids with separators", repr(id_))
        if replaced_by == "[]":
            continue
        for successor in json.loads(replaced_by):
            row = terminology._database.first(current, (terminology.resolve(successor),))
            if row is None:
                findings.add("successors that are missing", f"{id_} → {successor}")
            elif row[0]:
                findings.add("successors that are deprecated", f"{id_} → {successor}")


def _look_at_names(terminology: Terminology, findings: _Findings) -> None:
    for row, text in enumerate(itertools.chain.from_iterable(terminology.iter_texts())):
        if is_damaged(text):
            findings.add_name("encoding damage", terminology, row)
        if len(text) > _LONGEST_NAME:
            findings.add_name("long names", terminology, row)
        elif not normalise(text):
            findings.add_name("names that normalise to nothing", terminology, row)


def is_damaged(text: str) -> bool:
    """Tell whether a name holds XML entities, control characters or wrongly decoded UTF-8."""
    return bool(
        ("&" in text and ENTITY.search(text))
        or not _CONTROL.isdisjoint(text)
        or (not text.isascii() and _MOJIBAKE.search(text))
    )


def _look_at_sharing(terminology: Terminology, findings: _Findings) -> None:
    for kind, sql in (
        ("names shared by several ids", _SHARED.format("text", "concept", "names")),
        ("labels shared by several ids", _SHARED.format("label", "ordinal", "concepts")),
    ):
        for text, count, first, last in terminology._database.rows(sql):
            if findings.wants(kind):
                concept, other = terminology.concepts_at([first, last])
                findings.add(
                    kind, f"{text[:80]!r}: {count} ids, such as {concept.id} and {other.id}"
                )
            else:
                findings.add(kind, "")


def _look_at_hierarchy(terminology: Terminology, findings: _Findings) -> None:
    hierarchy = Hierarchy.from_terminology(terminology)
    for cycle in hierarchy.cycles():
        findings.add("cycles", " → ".join([*cycle, cycle[0]]))
    for child, parent in hierarchy.dangling():
        findings.add("dangling parents", f"{child} is_a {parent}")
