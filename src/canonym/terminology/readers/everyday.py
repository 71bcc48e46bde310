"""Everyday English names of ICD-10-CM categories and codes, bundled with canonym."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from string import ascii_uppercase, digits

from canonym.io.streams import open_text
from canonym.io.tables import column_places, split_rows
from canonym.types import EVERYDAY, Name

SOURCE = EVERYDAY
"""Source of every name of `read_everyday`, for filters."""

_NAMES = Path(__file__).parents[2] / "models" / "everyday" / "names.tsv"
_COLUMNS = ("name", "code", "scope")
_SCOPES = ("exact", "narrow", "broad", "related")
_OF_CODES = frozenset(f"{ascii_uppercase}{digits}")


def read_everyday(
    path: str | Path | None = None, *, known: Container[str] | None = None
) -> Iterator[Name]:
    """Read everyday names of ICD-10-CM concepts, in English: "pink eye", "water on the knee".

    The names belong to concepts of `canonym.terminology.readers.icd10cm.read_icd10cm`; read them
    after it. They are no coding advice; NOTICE.md beside the file says how they were made. Another
    file at `path` has the same layout: the columns name, code and scope, in any order, separated by
    tabs, below a header. Names of concepts beyond the `known` ids (``ICD10CM:H10``) are left out,
    for a release of ICD-10-CM that lacks a code of the file. The source of all names is `SOURCE`.

    Raises `ReadError` if a column is missing, a row is ragged or incomplete, a code is malformed,
    or a scope is none of the four.

    Notes
    -----
    The scope relates the name to the concept. A ``narrow`` name stands for a part of the concept
    ("flu shot" of Z23, immunization), a ``broad`` one also for other concepts ("diabetes" of E11),
    a ``related`` one for something associated. Names that ICD-10-CM has word for word in the same
    category are not in the file.

    Examples
    --------
    >>> [(name.concept_id, name.scope) for name in read_everyday() if name.text == "pink eye"]
    [('ICD10CM:H10', 'exact')]
    """
    with open_text(_NAMES if path is None else path) as stream:
        table = split_rows(stream, delimiter="\t", quoted=False, width=len(_COLUMNS))
        places = column_places(stream, next(table, []), _COLUMNS)
        for cells in table:
            text, code, scope = (cells[place].strip() for place in places)
            if problem := _problem(text, code, scope):
                raise stream.error(problem)
            id_ = f"ICD10CM:{code}"
            if known is None or id_ in known:
                yield Name(text, id_, scope, source=SOURCE)


def _problem(text: str, code: str, scope: str) -> str:
    if not text:
        return f"the name of {code or 'a code'} is empty: write one, or take the line out"
    category, point, rest = code.partition(".")
    is_category = len(category) == 3 and category[0].isalpha()
    is_short = 1 <= len(rest) <= 4 if point else True
    if not (is_category and is_short and _OF_CODES.issuperset(category + rest)):
        return (
            f"{code!r} is not written like an ICD-10-CM category or code: a letter and two digits "
            "or letters, then up to four more after a point (H10, H10.9, C4A, S72.001A)"
        )
    if scope not in _SCOPES:
        return f"{scope!r} is no scope of a name: use {', '.join(_SCOPES)}"
    return ""
