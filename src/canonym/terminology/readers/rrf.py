"""Rich Release Format: the rows, languages and relations of UMLS and RxNorm files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.io.streams import open_text
from canonym.types import Relation

__all__ = ["ABBREVIATIONS", "LANGUAGES", "lat_of", "relation_of", "rrf_rows"]

ABBREVIATIONS = frozenset(("AA", "AB", "ACR", "MTH_ACR", "OA", "RAB", "VAB"))
"""Term types (``TTY``) of names that are abbreviations or acronyms."""

LANGUAGES = {
    "ARA": "ar", "BAQ": "eu", "CHI": "zh", "CZE": "cs", "DAN": "da", "DUT": "nl", "ENG": "en",
    "EST": "et", "FIN": "fi", "FRE": "fr", "GER": "de", "GRE": "el", "HEB": "he", "HUN": "hu",
    "ITA": "it", "JPN": "ja", "KOR": "ko", "LAV": "lv", "LIT": "lt", "NOR": "no", "POL": "pl",
    "POR": "pt", "RUM": "ro", "RUS": "ru", "SCR": "hr", "SLO": "sk", "SPA": "es", "SWE": "sv",
    "TUR": "tr", "UKR": "uk",
}  # fmt: skip
"""BCP 47 tag of a language (``LAT``); another one keeps its code in small letters."""

# REL, where RELA says nothing more: the relation, and whether it runs from CUI1 to CUI2. Left out
# are SIB, which follows from the parents, and DEL and XR, which deny a relation.
_RELATIONS = {
    "PAR": ("is_a", True),
    "CHD": ("is_a", False),
    "RB": ("broader", True),
    "RN": ("broader", False),
    "AQ": ("allowed_qualifier", True),
    "QB": ("allowed_qualifier", False),
    "SY": ("synonymous", True),
    "RL": ("similar", True),
    "RQ": ("possibly_synonymous", True),
    "RO": ("related", True),
    "RU": ("related", True),
}


def rrf_rows(files: Sequence[Path], width: int) -> Iterator[list[str]]:
    """Split a Rich Release Format file, which may come in parts, into rows.

    Parameters
    ----------
    files : sequence of Path
        The file, or its parts in order; a row may begin in one part and end in the next.
    width : int
        Number of columns.

    Yields
    ------
    list of str
        The cells, and one more for what follows the last bar.

    Raises
    ------
    ReadError
        If a row has another number of columns, as a truncated one has.
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


def lat_of(language: str) -> str:
    """Find the code that UMLS gives a language.

    Parameters
    ----------
    language : str
        That code itself (``"GER"``) or a BCP 47 tag (``"de"``).

    Returns
    -------
    str
        The code (``LAT``).

    Raises
    ------
    InvalidInput
        If `language` is neither.
    """
    if language.upper() in LANGUAGES:
        return language.upper()
    for lat, tag in LANGUAGES.items():
        if tag == language.lower():
            return lat
    if len(language) == 3:
        return language.upper()
    raise InvalidInput(
        f"languages: {language!r} is unknown; expected codes of UMLS such as 'ENG' or of BCP 47 "
        "such as 'en'"
    )


def relation_of(rel: str, rela: str, first: str, second: str) -> Relation | None:
    """Turn the relation of a row of MRREL or RXNREL around, so that it reads head to tail.

    Parameters
    ----------
    rel, rela : str
        ``REL`` and ``RELA``.
    first, second : str
        Ids of the first and the second concept of the row.

    Returns
    -------
    Relation or None
        None for a row that states no relation (``SIB``, ``DEL``, ``XR``).
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
