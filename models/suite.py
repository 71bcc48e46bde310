"""The development suite: names of many domains, by which recipes of encoders are chosen.

One concept in ten is held out of the training: of UBERON, HPO, DOID and DrugBank by its id, of MeSH
a whole branch at once, so that its neighbours are unknown as well. A question is a name of a
held-out concept that no other name of it equals but for case, punctuation and order. The answer is
right if the nearest other name of the terminology is one of the concept.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from canonym.terminology import read_records
from canonym.text import UNORDERED
from canonym.text.memo import MemoNormaliser
from canonym.types import Concept, Name, Record
from models.sources import SOURCES

MESH: Mapping[str, Any] = {
    "format": "table",
    "prefix": "MESH:",
    "tree_types": True,
}
"""How the suite reads MeSH: the types of a descriptor are the letters of its trees."""

DOMAINS: Mapping[str, tuple[str, str]] = {
    "anatomy": ("UBERON", ""),
    "phenotypes": ("HPO 2014", ""),
    "diseases": ("DOID 2015", ""),
    "drugs": ("DrugBank", ""),
    "chemicals": ("MeSH 2024", "D"),
    "organisms": ("MeSH 2024", "B"),
    "procedures": ("MeSH 2024", "E"),
    "processes": ("MeSH 2024", "G"),
    "mind and society": ("MeSH 2024", "FIMN"),
}
"""Domains of the suite: the source, and the letters of MeSH's trees."""

_MOST, _EACH = 2000, 3  # questions of a domain, and of a concept


class Domain(NamedTuple):
    """Questions of a domain with the concept of each, and the names they are asked of."""

    name: str
    questions: list[tuple[str, str]]
    names: list[tuple[str, str]]


def _number(text: str) -> int:
    return zlib.crc32(text.encode())


def _chosen(text: str) -> bool:
    return _number(text) % 10 == 0


def _mesh(data: Path) -> Iterator[Record]:
    return read_records(
        data / SOURCES["MeSH 2024"], **MESH, trees=str(data / SOURCES["MeSH trees"])
    )


def held_out_ids(data: Path) -> frozenset[str]:
    """Return the ids of all concepts that the suite holds out of the training."""
    found = set()
    for source in ("UBERON", "HPO 2014", "DOID 2015", "DrugBank"):
        records = read_records(data / SOURCES[source])
        found |= {one.id for one in records if isinstance(one, Concept) and _chosen(one.id)}
    return frozenset(found | set(_held_out_branches(data)))


def _held_out_branches(data: Path) -> Iterator[str]:
    """Yield the ids of the descriptors below one in ten of MeSH's branches of the third level."""
    with gzip.open(data / SOURCES["MeSH trees"], "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if _chosen(".".join(row["tree_number"].split(".")[:3])):
                yield f"MESH:{row['descriptor_ui']}"


def read_suite(data: Path) -> Iterator[Domain]:
    """Yield the domains of the suite, with at most 2,000 questions each."""
    out = held_out_ids(data)
    for name, (source, letters) in DOMAINS.items():
        if letters:
            yield _domain(name, _mesh(data), out, frozenset(letters))
        else:
            yield _domain(name, read_records(data / SOURCES[source]), out)


def _domain(
    name: str, records: Iterator[Record], out: frozenset[str], letters: frozenset[str] = frozenset()
) -> Domain:
    names: list[tuple[str, str]] = []
    kept: set[str] = set()
    for record in records:
        if isinstance(record, Concept):
            if not record.deprecated and (not letters or letters & set(record.types)):
                kept.add(record.id)
                names.append((record.label, record.id))
        elif isinstance(record, Name) and record.concept_id in kept:
            names.append((record.text, record.concept_id))
    names = list(dict.fromkeys(names))
    forms = MemoNormaliser(UNORDERED)([text for text, _ in names])
    of_concept: dict[str, dict[str, str]] = defaultdict(dict)
    owners: dict[str, set[str]] = defaultdict(set)
    for (text, id_), form in zip(names, forms, strict=True):
        of_concept[id_].setdefault(form, text)
        owners[form].add(id_)
    questions = []
    for id_, texts in of_concept.items():
        if id_ in out:
            # At least half of the names of a concept stay, to be found.
            alone = sorted((form for form in texts if len(owners[form]) == 1), key=_number)
            asked = alone[: min(len(texts) // 2, _EACH)]
            questions += [(texts[form], form, id_) for form in asked]
    questions = sorted(questions, key=lambda one: _number(one[1]))[:_MOST]
    taken = {(form, id_) for _, form, id_ in questions}
    left = [pair for pair, form in zip(names, forms, strict=True) if (form, pair[1]) not in taken]
    return Domain(name, [(text, id_) for text, _, id_ in questions], left)
