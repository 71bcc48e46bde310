"""UMLS Metathesaurus in Rich Release Format: MRCONSO, MRSTY, MRDEF and MRREL of a folder."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from canonym.errors import ReadError
from canonym.io.streams import open_text
from canonym.terminology.readers.releases import Release, check_known, curie
from canonym.terminology.readers.rrf import (
    ABBREVIATIONS,
    filled,
    lat_of,
    rrf_relations,
    rrf_rows,
    tag_of,
)
from canonym.types import Concept, Name, Record, Xref

_NEEDS = ("MRCONSO.RRF", "MRSTY.RRF")


class _Sorted:
    """Rows of a file that is sorted by CUI, taken one concept after the other."""

    def __init__(self, files: Sequence[Path], width: int) -> None:
        self._groups = _groups(files, width)
        self._cui = ""
        self._rows: list[list[str]] = []

    def take(self, cui: str) -> list[list[str]]:
        while self._cui < cui:
            # Behind the last concept stands one that is larger than any.
            self._cui, self._rows = next(self._groups, ("\U0010ffff", []))
        return self._rows if self._cui == cui else []

    def finish(self) -> None:
        """Read the rest, so that a file in another order is found out and loses no rows."""
        for _ in self._groups:
            pass


def _groups(files: Sequence[Path], width: int) -> Iterator[tuple[str, list[list[str]]]]:
    before = ""
    for cui, group in itertools.groupby(rrf_rows(files, width), operator.itemgetter(0)):
        if cui <= before:
            raise ReadError(
                files[0],
                f"{cui} comes after {before}, but a release is sorted by CUI: sort the file "
                "(LC_ALL=C sort) and read it again",
            )
        before = cui
        yield cui, list(group)


class _Kept:
    """A set of CUIs: one byte for each of the ten million that a C and seven digits can name."""

    def __init__(self) -> None:
        self._flags = bytearray(10_000_000)
        self._others: set[str] = set()

    def add(self, cui: str) -> None:
        if len(cui) == 8 and cui[0] == "C" and cui[1:].isdecimal():
            self._flags[int(cui[1:])] = 1
        else:
            self._others.add(cui)

    def __contains__(self, cui: str) -> bool:
        if len(cui) == 8 and cui[0] == "C" and cui[1:].isdecimal():
            return bool(self._flags[int(cui[1:])])
        return cui in self._others


def read_umls(
    folder: str | Path,
    *,
    languages: Sequence[str] | None = ("ENG",),
    sources: Collection[str] | None = None,
    suppress: Collection[str] = ("O", "Y", "E"),
    types: Collection[str] | None = None,
    relations: bool | Collection[str] = True,
    definitions: bool = True,
    version: str = "",
) -> Iterator[Record]:
    """Read a UMLS release.

    MRCONSO, MRSTY and MRDEF are sorted by CUI and are read side by side, so memory does not grow
    with the release. Each file may be plain, compressed, or in the parts of the full release
    (``MRCONSO.RRF.aa.gz``).

    Parameters
    ----------
    folder : str or Path
        The folder with the files, or the one above its ``META``.
    languages : sequence of str, optional
        Languages of names, as UMLS (``"ENG"``) or BCP 47 (``"en"``) writes them; labels come from
        the first that a concept has. None takes all, English first.
    sources : collection of str, optional
        Vocabularies (``SAB``) to take names, definitions and relations from; None takes all.
    suppress : collection of str
        Values of ``SUPPRESS`` that leave a row out: ``O`` is obsolete, ``Y`` and ``E`` suppressed.
    types : collection of str, optional
        Semantic types to take, by TUI (``"T047"``) or name (``"Disease or Syndrome"``).
    relations : bool or collection of str
        Whether to read MRREL; a collection names the relations to keep, such as ``{"is_a"}``.
    definitions : bool
        Whether to read MRDEF.
    version : str
        Version of the release; empty takes it from ``release.dat`` where there is one.

    Yields
    ------
    Concept, Name, Xref or Relation
        A concept, then its names and its codes in the vocabularies; relations last. Relations
        between concepts that are not taken are left out.

    Raises
    ------
    ReadError
        If a file is missing, has rows of another width, or is not sorted by CUI.
    InvalidInput
        If a filter names a language, source or type that the release does not have.

    Notes
    -----
    A row of MRREL says what CUI2 is to CUI1: in ``C1|PAR|C2`` the second is the parent of the
    first, which becomes ``Relation(C1, "is_a", C2)``; in ``C1|RO|C2|treats`` the second treats the
    first, which becomes ``Relation(C2, "treats", C1)``. ``isa`` and ``inverse_isa`` become
    ``is_a``, and so do ``PAR`` and ``CHD`` without a RELA; ``RB`` and ``RN`` become ``broader``.
    MRREL states each relation in both directions, so relations that have one name here come twice.
    """
    release = Release(folder, "a UMLS folder", _NEEDS, subfolder="META")
    optional = {"definitions": "MRDEF.RRF"} if definitions else {}
    optional |= {"relations": "MRREL.RRF"} if relations else {}
    paths = release.need(**optional)
    files, edges = paths["MRCONSO.RRF"], filled(paths.get("MRREL.RRF", []))
    sty = _Sorted(filled(paths["MRSTY.RRF"]), 6)
    described = _Sorted(filled(paths["MRDEF.RRF"]), 8) if definitions else None
    version = version or _version(release)
    lats = None if languages is None else [lat_of(language) for language in languages]
    places = {"ENG": 0} if lats is None else {lat: n for n, lat in enumerate(lats)}
    cuis = _Kept()
    seen_languages: set[str] = set()
    seen_sources: set[str] = set()
    seen_types: set[str] = set()
    for cui, rows in _groups(files, 18):
        semantic = sty.take(cui)
        for row in semantic:
            seen_types.update((row[1], row[3]))
        seen_languages.update(row[1] for row in rows)
        seen_sources.update(row[11] for row in rows)
        atoms = [
            row
            for row in rows
            if (lats is None or row[1] in places)
            and row[16] not in suppress
            and (sources is None or row[11] in sources)
        ]
        if types is not None and not any(row[1] in types or row[3] in types for row in semantic):
            continue
        if not atoms:
            continue
        cuis.add(cui)
        definition = _definition(described.take(cui), atoms, suppress) if described else ""
        own = tuple([row[3] for row in semantic])
        label = min(atoms, key=lambda row: _rank(row, places))
        yield from _records(f"UMLS:{cui}", atoms, label, own, definition, version)
    for side in (sty, described):
        if side is not None:
            side.finish()
    check_known(files[0], "languages", lats, seen_languages)
    check_known(files[0], "sources", sources, seen_sources)
    check_known(files[0], "types", types, seen_types)
    yield from rrf_relations(
        edges, "UMLS", cuis.__contains__, sources=sources, suppress=suppress, relations=relations
    )


def _rank(row: list[str], places: dict[str, int]) -> int:
    """Rank an atom as a label: language first, then UMLS's marks of preference."""
    rank = 8 * places.get(row[1], 1) + 4 * (row[2] != "P") + 2 * (row[4] != "PF")
    return rank + (row[6] != "Y")


def _definition(rows: list[list[str]], atoms: list[list[str]], suppress: Collection[str]) -> str:
    # The atom tells the language of a definition; MRDEF itself does not.
    auis = {atom[7] for atom in atoms} if rows else ()
    return next((row[5] for row in rows if row[1] in auis and row[6] not in suppress), "")


def _records(
    id_: str,
    atoms: list[list[str]],
    label: list[str],
    types: tuple[str, ...],
    definition: str,
    version: str,
) -> Iterator[Record]:
    text, lat, source = label[14], label[1], label[11]
    if lat == "ENG":
        yield Concept(id_, text, definition, types, "UMLS", version)
    else:  # the label of a concept counts as English
        yield Concept(id_, "", definition, types, "UMLS", version)
        yield Name(text, id_, "label", tag_of(lat), source)
    names = {(text, lat, source)}
    codes = set()
    for atom in atoms:
        text, lat, source, code = atom[14], atom[1], atom[11], atom[13]
        if (text, lat, source) not in names:
            names.add((text, lat, source))
            scope = "abbreviation" if atom[12] in ABBREVIATIONS else "exact"
            yield Name(text, id_, scope, tag_of(lat), source)
        if (source, code) not in codes and code and code != "NOCODE":
            codes.add((source, code))
            yield Xref(id_, curie(source, code))


def _version(release: Release) -> str:
    files = release.find("release.dat")
    if not files:
        return ""
    with open_text(files[0]) as stream:
        for line in stream:
            key, _, value = line.partition("=")
            if key.strip() == "umls.release.name":
                return value.strip()
    return ""
