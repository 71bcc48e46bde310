"""SNOMED CT in Release Format 2: the snapshot files of a release folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.terminology.readers.releases import check_complete, check_folder, headed_rows
from canonym.types import Concept, Name, Record, Relation

US_ENGLISH = "900000000000509007"
"""Id of the reference set of preferred descriptions in US English."""

_FULLY_SPECIFIED = "900000000000003001"
_PREFERRED = "900000000000548007"
_IS_A = "116680003"
_STATED = "900000000000010007"
_SUCCESSION = frozenset(("900000000000526001", "900000000000527005"))  # replaced by, same as
_TAGGED = re.compile(r"(.+) \(([^()]+)\)")
_DESCRIPTION = ("id", "active", "conceptId", "languageCode", "typeId", "term")
_RELATIONSHIP = ("active", "sourceId", "destinationId", "typeId", "characteristicTypeId")
_NEEDS = (
    "sct2_Concept_Snapshot_*.txt",
    "sct2_Description_Snapshot-*.txt",
    "sct2_Relationship_Snapshot_*.txt",
    "der2_cRefset_LanguageSnapshot-*.txt",
)
_EDGES = "sct2_Relationship_Snapshot_*"
_PATTERNS = (
    "sct2_Concept_Snapshot_*",
    "sct2_Description_Snapshot[-_]*",
    "der2_cRefset_LanguageSnapshot[-_]*",
    _EDGES,
)


def read_snomed(
    folder: str | Path,
    *,
    language: str = "en",
    refset: str | None = None,
    relations: bool = True,
    definitions: bool = True,
    version: str = "",
) -> Iterator[Record]:
    """Read a SNOMED CT release: an edition, or the international edition with extensions.

    Parameters
    ----------
    folder : str or Path
        The unpacked release; snapshot files are found anywhere in it. Files of several modules
        (an extension and its base) are read together.
    language : str
        Language of names (``languageCode``).
    refset : str, optional
        Id of the language reference set that chooses the label among the synonyms. By default that
        of US English for English; all reference sets for other languages, or where it is missing.
    relations : bool
        Whether to read the relationships.
    definitions : bool
        Whether to read the text definitions.
    version : str
        Version of the release; empty takes the date in the names of the files.

    Yields
    ------
    Concept, Name or Relation
        All concepts, inactive ones as deprecated; the other names; the relations of the inferred
        view. The label is the preferred synonym, else the fully specified name without its tag, in
        another language if need be. The type is the tag (``"disorder"``).

    Raises
    ------
    ReadError
        If `folder` is not an unpacked release, or a file lacks columns or has a ragged row.
    InvalidInput
        If the release has no such reference set or no description in the language.

    Notes
    -----
    Held in memory: per concept its label, tag and state; per preferred description its id.
    """
    folder = Path(folder)
    check_folder(folder, "the folder of a SNOMED CT release", _NEEDS)
    concepts, descriptions, refsets, edges = _needed(folder, relations)
    texts = _files(folder, "sct2_TextDefinition_Snapshot[-_]*")
    if not version and (date := re.search(r"_(\d{8})\.txt", concepts[0].name)):
        version = date[1]
    labels, tags = _labels(descriptions, language, _preferred(folder, refsets, language, refset))
    defined: dict[str, str] = {}
    for row in _rows(texts if definitions else [], _DESCRIPTION):
        if row[1] == "1" and row[3] == language:
            defined.setdefault(row[2], row[5])
    successors = _successors(folder)
    states: dict[str, str] = {}  # of a concept in two modules the later state holds
    for id_, time, active in _rows(concepts, ("id", "effectiveTime", "active")):
        states[id_] = max(states.get(id_, ""), time + active)
    for id_, state in states.items():
        _, label, tongue = labels.get(id_, (0, "", "en"))
        retired = state[-1] != "1"
        curie, english = f"SNOMEDCT:{id_}", tongue == "en"
        definition, types = defined.get(id_, ""), (tags[id_],) if id_ in tags else ()
        new = tuple(successors.get(id_, ())) if retired else ()
        own = label if english else ""
        yield Concept(curie, own, definition, types, "SNOMED CT", version, retired, new)
        if not english:  # the label of a concept counts as English
            yield Name(label, curie, "label", tongue)
    for _, active, id_, tongue, type_, term in _rows(descriptions, _DESCRIPTION):
        text = _untagged(term)[0] if type_ == _FULLY_SPECIFIED else term
        if active == "1" and tongue == language and id_ in states and text != labels[id_][1]:
            yield Name(text, f"SNOMEDCT:{id_}", "exact", tongue)
    yield from _relations(edges, states, labels)


def _needed(folder: Path, relations: bool) -> list[list[Path]]:
    """Find the files of concepts, descriptions, reference sets and relationships."""
    found = [_files(folder, pattern) for pattern in _PATTERNS]
    missing = {
        pattern: "relations=False" if pattern == _EDGES else ""
        for pattern, files in zip(_PATTERNS, found, strict=True)
        if not files and (relations or pattern != _EDGES)
    }
    check_complete(
        folder,
        missing,
        "the folder of a SNOMED CT release must contain, itself or further down, "
        f"{', '.join(_NEEDS)}; is the release unpacked, and has it a snapshot?",
    )
    return found if relations else [*found[:-1], []]


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(
        file
        for start in ("", "x")  # files of a beta release begin with x
        for file in folder.rglob(f"{start}{pattern}")
        if file.is_file()
    )


def _rows(files: Sequence[Path], names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for file in files:
        yield from headed_rows(file, names)


def _preferred(folder: Path, files: Sequence[Path], language: str, refset: str | None) -> set[str]:
    wanted = refset or (US_ENGLISH if language == "en" else None)
    names = ("active", "refsetId", "referencedComponentId", "acceptabilityId")
    found = {row[1] for row in _rows(files, names) if row[0] == "1"}
    if refset is not None and refset not in found:
        raise InvalidInput(
            f"refset={refset!r} is not in {folder}, which has the language reference sets "
            f"{', '.join(sorted(found)) or 'none'}"
        )
    if wanted not in found:
        wanted = None
    return {
        row[2]
        for row in _rows(files, names)
        if row[0] == "1" and row[3] == _PREFERRED and (wanted is None or row[1] == wanted)
    }


def _labels(
    files: Sequence[Path], language: str, preferred: set[str]
) -> tuple[dict[str, tuple[int, str, str]], dict[str, str]]:
    """Choose the label (rank, text, language) of each concept, and find its semantic tag."""
    labels: dict[str, tuple[int, str, str]] = {}
    tags: dict[str, str] = {}
    shared: dict[str, str] = {}
    languages = set()
    for id_, active, concept, tongue, type_, term in _rows(files, _DESCRIPTION):
        if active != "1":
            continue
        tongue = shared.setdefault(tongue, tongue)
        languages.add(tongue)
        if type_ == _FULLY_SPECIFIED:
            term, tag = _untagged(term)
            if tag and (tongue == language or concept not in tags):
                tags[concept] = shared.setdefault(tag, tag)
            rank = 1 if tongue == language else 3
        elif tongue == language:
            rank = 0 if id_ in preferred else 2
        else:
            continue
        if concept not in labels or rank < labels[concept][0]:
            labels[concept] = (rank, term, tongue)
    if language not in languages:
        raise InvalidInput(
            f"language={language!r}: {files[0]} has descriptions in "
            f"{', '.join(sorted(languages)) or 'no language'} only"
        )
    return labels, tags


def _untagged(term: str) -> tuple[str, str]:
    match = _TAGGED.fullmatch(term)
    return (match[1], match[2]) if match else (term, "")


def _successors(folder: Path) -> dict[str, list[str]]:
    files = _files(folder, "der2_cRefset_Association*Snapshot_*")
    names = ("active", "refsetId", "referencedComponentId", "targetComponentId")
    successors: dict[str, list[str]] = {}
    for active, refset, old, new in _rows(files, names):
        if active == "1" and refset in _SUCCESSION:
            successors.setdefault(old, []).append(f"SNOMEDCT:{new}")
    return successors


def _relations(
    files: Sequence[Path], states: dict[str, str], labels: dict[str, tuple[int, str, str]]
) -> Iterator[Relation]:
    names = {_IS_A: "is_a"}
    for active, head, tail, type_, kind in _rows(files, _RELATIONSHIP):
        if active != "1" or kind == _STATED or head not in states or tail not in states:
            continue
        if type_ not in names:
            # The attribute is a concept itself; without a description its id must do.
            label = labels.get(type_, (0, type_, ""))[1]
            names[type_] = re.sub(r"\W+", "_", label.lower()).strip("_")
        yield Relation(f"SNOMEDCT:{head}", names[type_], f"SNOMEDCT:{tail}")
