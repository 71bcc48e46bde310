"""RxNorm in Rich Release Format: RXNCONSO, RXNSTY, RXNREL and RXNCUI of a folder."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.terminology.readers.releases import Release, check_known, curie
from canonym.terminology.readers.rrf import filled, rrf_relations, rrf_rows, tag_of
from canonym.types import Concept, Name, Record, Xref

_log = logging.getLogger(__name__)

# Term types of RxNorm's own names that are not the name of a concept but a further one.
_SYNONYMS = frozenset(("ET", "PSN", "SY", "TMSY"))
_NEEDS = ("RXNCONSO.RRF",)


def read_rxnorm(
    folder: str | Path,
    *,
    sources: Collection[str] = (),
    suppress: Collection[str] = ("O", "Y", "E"),
    types: Collection[str] | None = None,
    relations: bool | Collection[str] = True,
    version: str = "",
) -> Iterator[Record]:
    """Read an RxNorm release.

    Parameters
    ----------
    folder : str or Path
        The folder with the files, or the one above its ``rrf``.
    sources : collection of str
        Further vocabularies (``SAB``) whose names of RxNorm's concepts are taken, such as
        ``{"MTHSPL", "DRUGBANK"}``. RxNorm's own names always are.
    suppress : collection of str
        Values of ``SUPPRESS`` that leave a row out: ``O`` is obsolete, ``Y`` and ``E`` suppressed.
    types : collection of str, optional
        Kinds of concepts to take, by term type (``"IN"``, ``"SCD"``) or semantic type
        (``"Clinical Drug"``).
    relations : bool or collection of str
        Whether to read RXNREL; a collection names the relations to keep, such as
        ``{"has_ingredient"}``.
    version : str
        Version of the release; empty takes the date at the end of the folder's name
        (``RxNorm_full_01062025``) where there is one.

    Yields
    ------
    Concept, Name, Xref or Relation
        All concepts; their further names and codes; their relations; then the retired ids, of which
        RXNCUI tells the successors. Types of a concept are its term type and its semantic types.

    Raises
    ------
    ReadError
        If a file is missing or has rows of another width.
    InvalidInput
        If a filter names a source or type that the release does not have.

    Notes
    -----
    The current prescribable content has no RXNSTY: types are the term types alone then. Relations
    between atoms and those of other vocabularies are left out. Directions are as in
    `canonym.terminology.readers.umls.read_umls`.
    """
    release = Release(folder, "an RxNorm folder", _NEEDS, subfolder="rrf")
    paths = release.need(**({"relations": "RXNREL.RRF"} if relations else {}))
    files, edges = paths["RXNCONSO.RRF"], filled(paths.get("RXNREL.RRF", []))
    semantics = release.find("RXNSTY.RRF")
    if not semantics:
        _log.warning("%s has no RXNSTY.RRF: concepts get no semantic types", folder)
    semantic = _semantic_types(filled(semantics))
    if not version and (date := re.search(r"_(\d{8})$", Path(folder).resolve().name)):
        version = date[1]
    labels: dict[str, str] = {}
    seen_types: set[str] = set()
    for row in rrf_rows(files, 18):
        cui, tty = row[0], row[12]
        if row[11] != "RXNORM" or tty in _SYNONYMS or row[16] in suppress or cui in labels:
            continue
        own = (tty, *semantic.get(cui, ()))
        seen_types.update(own)
        if types is None or any(type_ in types for type_ in own):
            labels[cui] = row[14]
            yield Concept(f"RXNORM:{cui}", row[14], "", own, "RxNorm", version)
    check_known(files[0], "types", types, seen_types)
    if not labels:
        raise InvalidInput(
            f"{files[0]} has no concept of RxNorm left (SAB=RXNORM, SUPPRESS not in "
            f"{sorted(suppress)}): check the options"
        )
    yield from _names(files, labels, sources, suppress)
    yield from rrf_relations(
        edges,
        "RXNORM",
        labels.__contains__,
        sources=("RXNORM",),
        suppress=suppress,
        relations=relations,
    )
    yield from _retired(release.find("RXNCUI.RRF"), labels, version)


def _semantic_types(files: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    types: dict[str, tuple[str, ...]] = {}
    for row in rrf_rows(files, 6):
        own = (*types.get(row[0], ()), row[3])
        types[row[0]] = shared.setdefault(own, own)  # few combinations, many concepts
    return types


def _names(
    files: Sequence[Path],
    labels: dict[str, str],
    sources: Collection[str],
    suppress: Collection[str],
) -> Iterator[Name | Xref]:
    seen = set()
    for row in rrf_rows(files, 18):
        cui, source, text = row[0], row[11], row[14]
        seen.add(source)
        if cui not in labels or row[16] in suppress:
            continue
        if source != "RXNORM" and source not in sources:
            continue
        if text != labels[cui]:
            yield Name(text, f"RXNORM:{cui}", "exact", tag_of(row[1]), source)
        if source != "RXNORM" and row[13] not in ("", "NOCODE"):
            yield Xref(f"RXNORM:{cui}", curie(source, row[13]))
    check_known(files[0], "sources", sources, seen)


def _retired(files: Sequence[Path], labels: dict[str, str], version: str) -> Iterator[Concept]:
    if not files:
        return
    successors: dict[str, list[str]] = {}
    for row in rrf_rows(files, 5):
        old, new = row[0], row[4]
        if old not in labels and new in labels:
            successors.setdefault(old, []).append(f"RXNORM:{new}")
    for old, new_ids in successors.items():
        heirs = tuple(dict.fromkeys(new_ids))
        yield Concept(f"RXNORM:{old}", "", "", (), "RxNorm", version, True, heirs)
