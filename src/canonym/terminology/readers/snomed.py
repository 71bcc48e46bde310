"""SNOMED CT in Release Format 2: the snapshot files of a release folder.

Editions of countries come as several packages, whose files have names of their own
(``sct2_Concept_UKCLSnapshot_GB1000000_20240410.txt``) and whose rows may be states of one thing.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from canonym.errors import InvalidInput
from canonym.terminology.readers.releases import check_complete, check_folder, headed_rows
from canonym.types import Concept, Name, Record, Relation

US_ENGLISH = "900000000000509007"
"""Id of the reference set of preferred descriptions in US English."""

GB_ENGLISH = "900000000000508004"
"""Id of the reference set of preferred descriptions in British English."""

_FULLY_SPECIFIED = "900000000000003001"
_PREFERRED = "900000000000548007"
_IS_A = "116680003"
_STATED = "900000000000010007"
_SUCCESSION = frozenset(("900000000000526001", "900000000000527005"))  # replaced by, same as
_DESCRIPTION = ("id", "active", "conceptId", "languageCode", "typeId", "term")
_DESCRIPTION_KEY = ("id", "conceptId", "typeId")
_RELATIONSHIP = ("active", "sourceId", "destinationId", "typeId", "characteristicTypeId")
_RELATIONSHIP_KEY = ("id", "sourceId", "destinationId", "typeId")
_MEMBER = ("active", "refsetId", "referencedComponentId", "acceptabilityId")
_MEMBER_KEY = ("refsetId", "referencedComponentId")
# Ranks of names as labels: preferred ones come first, by the places of their reference sets.
_OWN_FULL, _SYNONYM, _OTHER_FULL = 1_000_001, 1_000_002, 1_000_003
_NEEDS = (
    "sct2_Concept_Snapshot_*.txt",
    "sct2_Description_Snapshot-*.txt",
    "sct2_Relationship_Snapshot_*.txt",
    "der2_cRefset_LanguageSnapshot-*.txt",
)
_EDGES = "sct2_Relationship_Snapshot_*"
# A word before "Snapshot" names the package; files of a beta release begin with x.
_PATTERNS = {
    "sct2_Concept_Snapshot_*": "sct2_Concept_*Snapshot[-_]*",
    "sct2_Description_Snapshot[-_]*": "sct2_Description_*Snapshot[-_]*",
    "der2_cRefset_LanguageSnapshot[-_]*": "der2_cRefset_*Language*Snapshot[-_]*",
    _EDGES: "sct2_Relationship_*Snapshot[-_]*",
}
_TEXTS = "sct2_TextDefinition_*Snapshot[-_]*"
_ASSOCIATIONS = "der2_cRefset_*Association*Snapshot[-_]*"


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
        Id of the language reference set that chooses the label among the synonyms. By default all
        of the language: those of a country first, the larger before the smaller, then for English
        that of the United States, or before it the British one in the edition of another country.
    relations : bool
        Whether to read the relationships.
    definitions : bool
        Whether to read the text definitions.
    version : str
        Version of the release; empty takes the latest date in the names of the files.

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
    Held in memory: per concept its label, tag and state; per preferred description its id. Files of
    several packages are read more often: of a row in two of them the later state holds.
    """
    folder = Path(folder)
    check_folder(folder, "the folder of a SNOMED CT release", _NEEDS)
    concepts, descriptions, refsets, edges = _needed(folder, relations)
    dates = [date[1] for file in concepts if (date := re.search(r"_(\d{8})\.txt", file.name))]
    version = version or max(dates, default="")
    described = _Rows(descriptions, _DESCRIPTION_KEY)
    preferred = _preferred(folder, _Rows(refsets, _MEMBER_KEY), described, language, refset)
    labels, tags = _labels(described, language, preferred)
    defined: dict[str, str] = {}
    texts = _Rows(_files(folder, _TEXTS) if definitions else [], _DESCRIPTION_KEY)
    for row in texts.read(_DESCRIPTION):
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
    for _, active, id_, tongue, type_, term in described.read(_DESCRIPTION):
        text = _untagged(term)[0] if type_ == _FULLY_SPECIFIED else term
        if active == "1" and tongue == language and id_ in states and text != labels[id_][1]:
            yield Name(text, f"SNOMEDCT:{id_}", "exact", tongue)
    yield from _relations(_Rows(edges, _RELATIONSHIP_KEY), states, labels)


def _needed(folder: Path, relations: bool) -> list[list[Path]]:
    """Find the files of concepts, descriptions, reference sets and relationships."""
    file_lists = [_files(folder, pattern) for pattern in _PATTERNS.values()]
    missing = {
        name: "relations=False" if name == _EDGES else ""
        for name, files in zip(_PATTERNS, file_lists, strict=True)
        if not files and (relations or name != _EDGES)
    }
    check_complete(
        folder,
        missing,
        "the folder of a SNOMED CT release must contain, itself or further down, "
        f"{', '.join(_NEEDS)}; is the release unpacked, and has it a snapshot?",
    )
    return file_lists if relations else [*file_lists[:-1], []]


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(
        file
        for file in folder.rglob("*Snapshot*")
        if fnmatchcase(file.name.removeprefix("x"), pattern) and file.is_file()
    )


def _rows(files: Sequence[Path], names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for file in files:
        yield from headed_rows(file, names)


class _Rows:
    """The rows of the files of one kind; the columns `key` tell what a row is about."""

    def __init__(self, files: Sequence[Path], key: Sequence[str]) -> None:
        self.files = files
        self._columns = ("effectiveTime", *key)

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield columns of the rows; of one in several packages the latest state."""
        latest = self._latest
        if not latest:
            yield from _rows(self.files, names)
            return
        n = len(self._columns)
        for row in _rows(self.files, (*self._columns, *names)):
            if latest.get(row[1:n], row[0]) == row[0]:
                yield row[n:]

    @functools.cached_property
    def _latest(self) -> dict[tuple[str, ...], str]:
        """The time of the latest state of each row that is in several files."""
        if len(self.files) < 2:
            return {}
        # Packages share few of their millions of rows: hashes find them without holding all.
        hashes = [
            np.unique(np.fromiter((hash(row[1:]) for row in headed_rows(file, self._columns)), int))
            for file in self.files
        ]
        values, counts = np.unique(np.concatenate(hashes), return_counts=True)
        shared = set(values[counts > 1].tolist())
        latest: dict[tuple[str, ...], str] = {}
        for time, *key in _rows(self.files, self._columns) if shared else ():
            about = tuple(key)
            if hash(about) in shared:
                latest[about] = max(latest.get(about, ""), time)
        return latest


def _preferred(
    folder: Path, members: _Rows, described: _Rows, language: str, refset: str | None
) -> dict[str, int]:
    """Return the preferred descriptions, each with the place of the best reference set with it."""
    sets: dict[str, tuple[str, ...]] = {}
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    refsets = set()
    for active, name, id_, acceptability in members.read(_MEMBER):
        if active == "1":
            refsets.add(name)
            if acceptability == _PREFERRED:
                several = (*sets.get(id_, ()), name)
                sets[id_] = shared.setdefault(several, several)
    if refset is not None and refset not in refsets:
        raise InvalidInput(
            f"refset={refset!r} is not in {folder}, which has the language reference sets "
            f"{', '.join(sorted(refsets)) or 'none'}"
        )
    order = [refset] if refset else _order(refsets, sets, members, described, language)
    places = {name: place for place, name in enumerate(order)}
    ranks = {
        names: min(places[name] for name in names if name in places)
        for names in shared
        if not places.keys().isdisjoint(names)
    }
    return {id_: ranks[names] for id_, names in sets.items() if names in ranks}


def _order(
    refsets: set[str],
    sets: Mapping[str, tuple[str, ...]],
    members: _Rows,
    described: _Rows,
    language: str,
) -> list[str]:
    """Put the reference sets of a language in order, those that countries add before the rest."""
    general = [US_ENGLISH, GB_ENGLISH]
    added = refsets.difference(general)
    own: Counter[str] = Counter()  # preferred descriptions in the language
    others: Counter[str] = Counter()
    if added:
        for id_, tongue in described.read(("id", "languageCode")):
            if id_ in sets:
                (own if tongue == language else others).update(sets[id_])
        added = {name for name in added if own[name] > others[name]}
    first = sorted(added, key=lambda name: (-own[name], name))
    if language != "en":
        return first
    if first and not any("_US" in file.name for file in members.files):
        general.reverse()
    return [*first, *general]


def _labels(
    described: _Rows, language: str, preferred: Mapping[str, int]
) -> tuple[dict[str, tuple[int, str, str]], dict[str, str]]:
    """Choose the label (rank, text, language) of each concept, and find its semantic tag."""
    labels: dict[str, tuple[int, str, str]] = {}
    tags: dict[str, str] = {}
    shared: dict[str, str] = {}
    languages = set()
    for id_, active, concept, tongue, type_, term in described.read(_DESCRIPTION):
        if active != "1":
            continue
        tongue = shared.setdefault(tongue, tongue)
        languages.add(tongue)
        if type_ == _FULLY_SPECIFIED:
            term, tag = _untagged(term)
            if tag and (tongue == language or concept not in tags):
                tags[concept] = shared.setdefault(tag, tag)
            rank = _OWN_FULL if tongue == language else _OTHER_FULL
        elif tongue == language:
            rank = preferred.get(id_, _SYNONYM)
        else:
            continue
        if concept not in labels or rank < labels[concept][0]:
            labels[concept] = (rank, term, tongue)
    if language not in languages:
        raise InvalidInput(
            f"language={language!r}: {described.files[0]} has descriptions in "
            f"{', '.join(sorted(languages)) or 'no language'} only"
        )
    return labels, tags


def _untagged(term: str) -> tuple[str, str]:
    text, _, tag = term.removesuffix(")").rpartition(" (")
    is_tagged = text and tag and term.endswith(")") and "(" not in tag and ")" not in tag
    return (text, tag) if is_tagged else (term, "")


def _successors(folder: Path) -> dict[str, list[str]]:
    files = _files(folder, _ASSOCIATIONS)
    names = ("active", "refsetId", "referencedComponentId", "targetComponentId")
    successors: dict[str, list[str]] = {}
    for active, refset, old, new in _rows(files, names):
        if active == "1" and refset in _SUCCESSION:
            successors.setdefault(old, []).append(f"SNOMEDCT:{new}")
    return successors


def _relations(
    edges: _Rows, states: dict[str, str], labels: dict[str, tuple[int, str, str]]
) -> Iterator[Relation]:
    names = {_IS_A: "is_a"}
    for active, head, tail, type_, kind in edges.read(_RELATIONSHIP):
        if active != "1" or kind == _STATED or head not in states or tail not in states:
            continue
        if type_ not in names:
            # The attribute is a concept itself; without a description its id must do.
            label = labels.get(type_, (0, type_, ""))[1]
            names[type_] = re.sub(r"\W+", "_", label.lower()).strip("_")
        yield Relation(f"SNOMEDCT:{head}", names[type_], f"SNOMEDCT:{tail}")
