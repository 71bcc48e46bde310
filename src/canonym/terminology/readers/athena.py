"""OMOP vocabularies as Athena delivers them: CONCEPT.csv and its companions."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from canonym.errors import InvalidInput, ReadError
from canonym.terminology.language_tags import OF_OMOP
from canonym.terminology.readers.releases import Release, check_known, curie, headed_rows
from canonym.types import Concept, Name, Record, Relation, Xref

LANGUAGES = OF_OMOP
"""BCP 47 tag of a language (``language_concept_id``); other languages become empty."""

_CONCEPT = (
    "concept_id", "concept_name", "domain_id", "vocabulary_id", "concept_class_id",
    "standard_concept", "concept_code", "invalid_reason",
)  # fmt: skip
_RELATIONSHIP = ("concept_id_1", "concept_id_2", "relationship_id", "invalid_reason")
_ANCESTOR = ("ancestor_concept_id", "descendant_concept_id", "min_levels_of_separation")
_SYNONYM = ("concept_id", "concept_synonym_name", "language_concept_id")
_DIGITS = 18  # of the largest id, so that every one fits into 64 bits
_WITHDRAWN = "D"  # deleted; "U" is replaced by an update of the same meaning
_IS_A = ("Is a", "RxNorm is a")
_NEEDS = ("CONCEPT.csv", "CONCEPT_SYNONYM.csv", "CONCEPT_RELATIONSHIP.csv")


class _Maps:
    """Standard concepts that other concepts map to, as pairs of numbers sorted by the source."""

    def __init__(self) -> None:
        self._sources = array("q")
        self._targets = array("q")
        self._from = self._to = array("q")

    def add(self, source: int, target: int) -> None:
        self._sources.append(source)
        self._targets.append(target)

    def sort(self, sources: array[int]) -> None:
        """Keep the pairs with one of `sources`, each once, and make them searchable."""
        pairs = np.stack([np.array(self._sources, np.int64), np.array(self._targets, np.int64)])
        pairs = np.unique(pairs[:, np.isin(pairs[0], np.array(sources, np.int64))], axis=1)
        # Searched one id at a time, where an array of Python is faster than one of numpy.
        self._from = array("q", pairs[0].tobytes())
        self._to = array("q", pairs[1].tobytes())
        self._sources, self._targets = array("q"), array("q")

    def of(self, source: int) -> list[int]:
        start = bisect_left(self._from, source)
        return list(self._to[start : bisect_right(self._from, source, start)])


def read_athena(
    folder: str | Path,
    *,
    vocabularies: Collection[str] | None = None,
    standard_only: bool = True,
    languages: Collection[str] | None = ("en",),
    relations: Collection[str] = _IS_A,
    ancestors: bool = False,
    version: str = "",
) -> Iterator[Record]:
    """Read a folder of vocabularies downloaded from Athena.

    Parameters
    ----------
    folder : str or Path
        The folder with the files, unpacked. They are tab-separated in spite of their names.
    vocabularies : collection of str, optional
        Vocabularies (``vocabulary_id``) whose concepts and names are taken; None takes all. Name
        source vocabularies as well to get their names on the standard concepts.
    standard_only : bool
        Take standard concepts only; each gets the names and codes of the concepts that map to it.
        Of a withdrawn concept (``invalid_reason`` D) it gets the code alone: old data have it, but
        nobody stands for its name. Otherwise every concept is taken, and ``Maps to`` is a relation
        ``maps_to``, of a standard concept to itself.
    languages : collection of str, optional
        BCP 47 tags of the languages of synonyms to take (see `LANGUAGES`); None takes all.
    relations : collection of str
        Relationships (``relationship_id``) to take: by default ``Is a`` and ``RxNorm is a``, which
        become ``is_a``; ``Has brand name`` would become ``has_brand_name``.
    ancestors : bool
        Take ``is_a`` from the rows of CONCEPT_ANCESTOR that span one level instead: a hierarchy of
        standard concepts across vocabularies.
    version : str
        Version of the vocabularies.

    Yields
    ------
    Concept, Name, Xref or Relation
        All concepts with their codes, then relations, then names. Types are the domain and the
        concept class (``"Condition"``, ``"Disorder"``). A concept that maps to several standard
        ones gives them its names with scope ``narrow``, for it means all of them at once.

    Raises
    ------
    ReadError
        If a file or a column is missing, or a row is ragged.
    InvalidInput
        If the release lacks a vocabulary or relationship of the options, or an id is no number.

    Notes
    -----
    Held in memory: the ids of the concepts taken, and 16 bytes per mapping.
    """
    release = Release(folder, "an Athena folder", _NEEDS)
    files = release.need(**({"ancestors": "CONCEPT_ANCESTOR.csv"} if ancestors else {}))
    concept_file, synonym_file, edge_file, *ancestor_files = (paths[0] for paths in files.values())
    successors = {} if standard_only else _successors(edge_file)
    concepts: set[int] = set()
    others = array("q")
    withdrawn: set[int] = set()
    seen = set()
    for id_, name, domain, vocabulary, class_, standard, code, invalid in headed_rows(
        concept_file, _CONCEPT
    ):
        seen.add(vocabulary)
        if vocabularies is not None and vocabulary not in vocabularies:
            continue
        if standard_only and (standard != "S" or invalid):
            others.append(_number(id_, concept_file))
            if invalid == _WITHDRAWN:
                withdrawn.add(others[-1])
            continue
        concepts.add(_number(id_, concept_file))
        types, heirs = (domain, class_), tuple(successors.get(id_, ()))
        yield Concept(f"OMOP:{id_}", name, "", types, vocabulary, version, bool(invalid), heirs)
        yield Xref(f"OMOP:{id_}", curie(vocabulary, code))
    check_known(concept_file, "vocabularies", vocabularies, seen)
    if not concepts:
        raise InvalidInput(
            f"{concept_file} has no standard concept of the vocabularies asked for: add the "
            "vocabularies that they map to, or pass standard_only=False"
        )
    maps = _Maps()
    names = [relation for relation in relations if not (ancestors and relation in _IS_A)]
    yield from _relations(edge_file, concepts, names, maps, standard_only)
    for ancestor_file in ancestor_files:
        for old, new, levels in headed_rows(ancestor_file, _ANCESTOR):
            if levels == "1" and {_number(id_, ancestor_file) for id_ in (old, new)} <= concepts:
                yield Relation(f"OMOP:{new}", "is_a", f"OMOP:{old}")
    maps.sort(others)
    if standard_only:
        yield from _mapped_names(concept_file, concepts, maps, withdrawn)
    yield from _synonyms(synonym_file, concepts, maps, withdrawn, languages)


def _synonyms(
    path: Path,
    concepts: set[int],
    maps: _Maps,
    withdrawn: set[int],
    languages: Collection[str] | None,
) -> Iterator[Name]:
    for id_, text, tongue in headed_rows(path, _SYNONYM):
        language = LANGUAGES.get(tongue, "")
        if languages is not None and language not in languages:
            continue
        number = _number(id_, path)
        if number in withdrawn:
            continue
        targets = [number] if number in concepts else maps.of(number)
        for target in targets:
            scope = "exact" if len(targets) == 1 else "narrow"
            yield Name(text, f"OMOP:{target}", scope, language)


def _mapped_names(
    path: Path, concepts: set[int], maps: _Maps, withdrawn: set[int]
) -> Iterator[Name | Xref]:
    for id_, name, _, vocabulary, _, _, code, _ in headed_rows(path, _CONCEPT):
        number = _number(id_, path)
        if number in concepts:
            continue
        targets = maps.of(number)
        for target in targets:
            scope = "exact" if len(targets) == 1 else "narrow"
            if number not in withdrawn:
                yield Name(name, f"OMOP:{target}", scope, "en", vocabulary)
            if scope == "exact":
                yield Xref(f"OMOP:{target}", curie(vocabulary, code))


def _relations(
    path: Path, concepts: set[int], relations: Collection[str], standard: _Maps, standard_only: bool
) -> Iterator[Relation]:
    names = {
        name: "is_a" if name in _IS_A else re.sub(r"\W+", "_", name.lower()).strip("_")
        for name in relations
    }
    if not standard_only:
        names["Maps to"] = "maps_to"
    seen = set(_IS_A)
    for first, second, kind, invalid in headed_rows(path, _RELATIONSHIP):
        seen.add(kind)
        maps = kind == "Maps to"
        # A standard concept maps to itself, which tells it from one that maps to nothing.
        if invalid or (first == second and not maps) or (kind not in names and not maps):
            continue
        head, tail = _number(first, path), _number(second, path)
        if tail not in concepts:
            continue
        if head in concepts:
            if kind in names:
                yield Relation(f"OMOP:{first}", names[kind], f"OMOP:{second}")
        elif maps:
            standard.add(head, tail)
    check_known(path, "relations", relations, seen)


def _successors(path: Path) -> dict[str, list[str]]:
    successors: dict[str, list[str]] = {}
    for old, new, kind, invalid in headed_rows(path, _RELATIONSHIP):
        if kind == "Concept replaced by" and not invalid:
            successors.setdefault(old, []).append(f"OMOP:{new}")
    return successors


def _number(id_: str, path: Path) -> int:
    if len(id_) > _DIGITS or not id_.removeprefix("-").isdecimal():
        raise ReadError(path, f"the concept id {id_[:40]!r} is no number of OMOP")
    return int(id_)
