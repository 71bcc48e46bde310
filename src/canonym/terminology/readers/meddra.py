"""MedDRA in its ASCII distribution: the ``.asc`` files of the folder MedAscii."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_text
from canonym.io.tables import split_rows
from canonym.terminology.readers.releases import Release
from canonym.types import Concept, Name, Record, Relation, Xref

_LEVELS = {"SOC": 10, "HLGT": 9, "HLT": 9, "PT": 11}  # and the number of columns of each file
_EDGES = ("soc_hlgt.asc", "hlgt_hlt.asc", "hlt_pt.asc")
_NEEDS = ("llt.asc", *(f"{level.lower()}.asc" for level in reversed(_LEVELS)), *_EDGES)


def read_meddra(
    folder: str | Path,
    *,
    llt: str = "names",
    non_current: bool = False,
    language: str = "en",
    version: str = "",
    encoding: str = "utf-8",
) -> Iterator[Record]:
    """Read a MedDRA release.

    Parameters
    ----------
    folder : str or Path
        The folder with the files, or the one above its ``MedAscii``.
    llt : str
        With ``"names"`` a lowest level term is a name of its preferred term, and its code an
        alternative id. With ``"concepts"`` it is a concept below its preferred term.
    non_current : bool
        Whether to take lowest level terms that are no longer current.
    language : str
        BCP 47 tag of the language of this distribution.
    version : str
        Version of the release; empty takes it from ``meddra_release.asc`` where there is one.
    encoding : str
        Encoding of the files; older translations are in ``"latin-1"``.

    Yields
    ------
    Concept, Name, Xref or Relation
        Concepts from system organ classes down to preferred terms, with their level as type; then
        the lowest level terms; then the hierarchy. A preferred term has a relation ``primary_soc``
        beside its parents, for it may be below several classes.

    Raises
    ------
    ReadError
        If a file is missing, has rows of another width, or a row names a code that is not there.
    InvalidInput
        If `llt` is neither of the two.
    """
    if llt not in ("names", "concepts"):
        raise InvalidInput(f"llt={llt!r} is unknown: expected 'names' or 'concepts'")
    release = Release(folder, "a MedDRA folder", _NEEDS, subfolder="MedAscii")
    files = {name: parts[0] for name, parts in release.need().items()}
    version = version or _version(release, encoding)

    def concept(code: str, label: str, level: str, *, retired: bool = False) -> Iterator[Record]:
        id_, own = f"MEDDRA:{code}", label if language == "en" else ""
        yield Concept(id_, own, "", (level,), "MedDRA", version, retired)
        if language != "en":  # the label of a concept counts as English
            yield Name(label, id_, "label", language)

    labels: dict[str, str] = {}
    primary: list[tuple[str, str]] = []
    for level, width in _LEVELS.items():
        for row in _rows(files[f"{level.lower()}.asc"], width, encoding):
            labels[row[0]] = row[1]
            yield from concept(row[0], row[1], level)
            if level == "PT":
                primary.append((row[0], row[3]))
    for row in _rows(files["llt.asc"], 11, encoding):
        code, text, term, current = row[0], row[1], row[2], row[9]
        if term not in labels:
            raise ReadError(
                files["llt.asc"], f"{code} ({text}) belongs to {term}, which is not in pt.asc"
            )
        if code == term or (current == "N" and not non_current):
            continue  # each preferred term is also a lowest level term of the same code
        if llt == "concepts":
            yield from concept(code, text, "LLT", retired=current == "N")
            yield Relation(f"MEDDRA:{code}", "is_a", f"MEDDRA:{term}")
            continue
        if text != labels[term]:
            yield Name(text, f"MEDDRA:{term}", "exact", language)
        yield Xref(f"MEDDRA:{term}", f"MEDDRA:{code}", "alternative")
    for name in _EDGES:
        for parent, child in _pairs(files[name], labels, encoding):
            yield Relation(f"MEDDRA:{child}", "is_a", f"MEDDRA:{parent}")
    for code, soc in primary:
        if soc:
            yield Relation(f"MEDDRA:{code}", "primary_soc", f"MEDDRA:{soc}")


def _rows(path: Path, width: int, encoding: str) -> Iterator[list[str]]:
    # A row ends with a dollar sign; distributions differ in whether one more follows.
    with open_text(path, encoding=encoding) as stream:
        for cells in split_rows(stream, delimiter="$", quoted=False):
            if not width < len(cells) <= width + 2 or any(cells[width:]):
                raise stream.error(
                    f"{len(cells) - 1} columns where {width} were expected (each ends with a "
                    "dollar sign): the file is truncated or of another kind"
                )
            yield cells


def _pairs(path: Path, labels: dict[str, str], encoding: str) -> Iterator[tuple[str, str]]:
    for row in _rows(path, 2, encoding):
        for code in row[:2]:
            if code not in labels:
                raise ReadError(path, f"{code} is in no file of terms: is the release complete?")
        yield row[0], row[1]


def _version(release: Release, encoding: str) -> str:
    files: Sequence[Path] = release.find("meddra_release.asc")
    if not files:
        return ""
    with open_text(files[0], encoding=encoding) as stream:
        return next(stream).split("$")[0].strip()
