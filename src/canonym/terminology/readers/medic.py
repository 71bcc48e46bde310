"""Dictionaries of lines ``id||name``: MEDIC, and those of BioSyn."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.io.streams import open_text
from canonym.io.tables import filled_parts
from canonym.terminology.readers.omim import title_name
from canonym.types import Concept, Name, Record, Xref

_STYLES = ("auto", "medic", "biosyn")
_Lines = Iterator[tuple[tuple[str, ...], str]]


def read_medic(
    path: str | Path,
    *,
    style: str = "auto",
    prefixes: bool = True,
    source: str | None = None,
    version: str = "",
    encoding: str = "utf-8",
) -> Iterator[Record]:
    """Read a dictionary of lines ``id||name``, in either of its two forms.

    In **MEDIC** form a line is a concept, ``id[|id...]||name[|name...]``: the first id is the
    concept's, the others are alternatives; the first name is the label.

    In **BioSyn** form a line is a name, ``id[|id...]||name``: the ids are those of every concept
    that has the name. Ids that always stand together are one concept with alternatives; otherwise
    each concept gets the name. The first name of a concept is its label.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed.
    style : str
        ``"medic"``, ``"biosyn"`` or ``"auto"``: MEDIC form when any name part holds a bar, else
        BioSyn form.
    prefixes : bool
        Whether ``D009203`` and ``C535338`` become ``MESH:...`` and six digits ``OMIM:...``. Other
        ids, such as those with a prefix already, are kept as they are.
    source : str, optional
        The source to record; by default ``"MEDIC"`` for MEDIC form and none for BioSyn form.
    version : str
        The version to record; the file does not say.
    encoding : str
        Encoding of the file.

    Yields
    ------
    Concept, Name or Xref
        The concept before its names.

    Raises
    ------
    InvalidInput
        If `style` is unknown.
    ReadError
        If a line has not exactly one ``||``, or no id.

    Notes
    -----
    The file is read twice, or three times in BioSyn form, because the form and the alternatives
    show only over all lines. Memory holds the distinct lists of ids, not the names.

    A title that OMIM includes in an entry (``SMALL TOE SYNDROME, INCLUDED``) means another entity;
    it is a ``narrow`` name.

    References
    ----------
    Davis AP et al. (2012). MEDIC: a practical disease vocabulary used at the Comparative
    Toxicogenomics Database. Database, bar065.
    Sung M et al. (2020). Biomedical Entity Representations with Synonym Marginalization. ACL.
    """
    if style not in _STYLES:
        raise InvalidInput(f"style={style!r} is unknown: use one of {', '.join(_STYLES)}")
    path = Path(path)
    if style == "auto":
        barred = any("|" in names for _, names in _lines(path, encoding))
        style = "medic" if barred else "biosyn"
    if source is None:
        source = "MEDIC" if style == "medic" else ""
    concept = functools.partial(Concept, source=source, version=version)
    if style == "medic":
        yield from _read_concepts(_lines(path, encoding), concept, prefixes)
    else:
        groups = _group(ids for ids, _ in _lines(path, encoding))
        yield from _read_names(_lines(path, encoding), concept, prefixes, groups)


def _lines(path: Path, encoding: str) -> _Lines:
    """Yield the ids and the name part of each line."""
    any_concept = False
    with open_text(path, encoding=encoding) as stream:
        for line in stream:
            text = line.strip()
            if not text:
                continue
            ids, separator, names = text.partition("||")
            if not separator or "||" in names:
                raise stream.error(f"{text[:60]!r} should be 'id||name', with one double bar")
            parts = tuple(dict.fromkeys(part.strip() for part in ids.split("|")))
            if "" in parts:
                raise stream.error(f"an id is empty in {text[:60]!r}")
            any_concept = True
            yield parts, names.strip()
        if not any_concept:
            raise stream.error("the file holds only blank lines: lines 'id||name' were expected")


def _group(lists: Iterator[tuple[str, ...]]) -> dict[str, str]:
    """Map every id to the first of those that stand in exactly the same lists as it."""
    numbers: dict[tuple[str, ...], int] = {}
    places: dict[str, list[int]] = {}
    for ids in lists:
        if ids in numbers:
            continue
        numbers[ids] = len(numbers)
        for id_ in ids:
            places.setdefault(id_, []).append(numbers[ids])
    first: dict[tuple[int, ...], str] = {}
    return {id_: first.setdefault(tuple(where), id_) for id_, where in places.items()}


def _curie(id_: str, prefixes: bool) -> str:
    is_mesh = 7 <= len(id_) <= 10 and id_[0] in "CD" and id_[1:].isdecimal()
    if prefixes and (is_mesh or id_ == "C"):  # the branch of diseases, the root of the tree
        return f"MESH:{id_}"
    if prefixes and len(id_) == 6 and id_.isdecimal():
        return f"OMIM:{id_}"
    return id_


def _read_concepts(
    lines: _Lines, concept: Callable[[str, str], Concept], prefixes: bool
) -> Iterator[Record]:
    for ids, names in lines:
        first, *others = (_curie(id_, prefixes) for id_ in ids)
        label, *synonyms = filled_parts(names) or [""]
        yield concept(first, label)
        for text in synonyms:
            yield Name(text, first, title_name(text)[1])
        for other in others:
            yield Xref(first, other, "alternative")


def _read_names(
    lines: _Lines, concept: Callable[[str, str], Concept], prefixes: bool, groups: dict[str, str]
) -> Iterator[Record]:
    seen: set[str] = set()
    for ids, name in lines:
        for id_ in ids:
            first = groups[id_]
            concept_id = _curie(first, prefixes)
            if id_ != first:
                if id_ not in seen:
                    yield Xref(concept_id, _curie(id_, prefixes), "alternative")
            elif id_ in seen:
                yield Name(name, concept_id, title_name(name)[1])
            else:
                yield concept(concept_id, name)
            seen.add(id_)
