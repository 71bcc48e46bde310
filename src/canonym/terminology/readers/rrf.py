"""Rich Release Format: the rows, languages and relations of UMLS and RxNorm files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.io.streams import open_text
from canonym.terminology.language_tags import OF_UMLS
from canonym.types import Relation

ABBREVIATIONS = frozenset(("AA", "AB", "ACR", "MTH_ACR", "OA", "RAB", "VAB"))
"""Term types (``TTY``) of names that are abbreviations or acronyms."""

# Relation by REL, for rows without a RELA, and whether it runs from CUI1 to CUI2. SIB is left out,
# which follows from the parents, and so are DEL and XR, which deny a relation.
_RELATIONS = {
    "PAR": ("is_a", True), "CHD": ("is_a", False), "RB": ("broader", True),
    "RN": ("broader", False), "AQ": ("allowed_qualifier", True), "QB": ("allowed_qualifier", False),
    "SY": ("synonymous", True), "RL": ("similar", True), "RQ": ("possibly_synonymous", True),
    "RO": ("related", True), "RU": ("related", True),
}  # fmt: skip


def rrf_rows(files: Sequence[Path], width: int) -> Iterator[list[str]]:
    """Split a Rich Release Format file into rows: `width` cells, and one more after the last bar.

    The file may come in parts; a row may begin in one part and end in the next.
    """
    begun = ""
    for file in files:
        with open_text(file) as stream:
            for line in stream:
                if begun:
                    line, begun = begun + line, ""
                if line == "\n":
                    continue
                cells = line.split("|")
                if len(cells) != width + 1:
                    if file is not files[-1] and not line.endswith("\n"):
                        begun = line
                        continue
                    raise stream.error(
                        f"{len(cells) - 1} columns where {width} were expected (each ends with a "
                        "bar): the file is truncated or of another kind"
                    )
                yield cells


def filled(files: Sequence[Path]) -> list[Path]:
    """Leave out empty files: a subset without definitions, say, has an empty MRDEF."""
    return [file for file in files if file.stat().st_size]


def tag_of(lat: str) -> str:
    """Return the BCP 47 tag of a language (``LAT``), an unknown code in small letters."""
    return OF_UMLS.get(lat, lat.lower())


def lat_of(language: str) -> str:
    """Return the code of UMLS (``LAT``) for a language, given as that code or as a BCP 47 tag."""
    for lat, tag in OF_UMLS.items():
        if tag == language.lower():
            return lat
    if len(language) == 3:
        return language.upper()
    raise InvalidInput(
        f"languages: {language!r} is unknown; expected codes of UMLS such as 'ENG' or of BCP 47 "
        "such as 'en'"
    )


def relation_of(rel: str, rela: str, first: str, second: str) -> Relation | None:
    """Turn a row of MRREL or RXNREL around, so that it reads head to tail.

    Returns None for a row that states no relation (``SIB``, ``DEL``, ``XR``).
    """
    if rela == "isa":
        return Relation(second, "is_a", first)
    if rela == "inverse_isa":
        return Relation(first, "is_a", second)
    if rela:
        return Relation(second, rela, first)
    if rel not in _RELATIONS:
        return None
    name, forward = _RELATIONS[rel]
    return Relation(first, name, second) if forward else Relation(second, name, first)


def rrf_relations(
    files: Sequence[Path],
    prefix: str,
    is_kept: Callable[[str], bool],
    *,
    sources: Collection[str] | None,
    suppress: Collection[str],
    relations: bool | Collection[str],
) -> Iterator[Relation]:
    """Yield `relations` between concepts that are kept, from the rows of MRREL or RXNREL."""
    for row in rrf_rows(files, 16):
        first, second = row[0], row[4]
        if first == second or row[14] in suppress:
            continue
        if sources is not None and row[10] not in sources:
            continue
        if not (is_kept(first) and is_kept(second)):
            continue  # also relations of atoms, which have no concepts
        relation = relation_of(row[3], row[7], f"{prefix}:{first}", f"{prefix}:{second}")
        if relation is None:
            continue
        if isinstance(relations, bool) or relation.relation in relations:
            yield relation
