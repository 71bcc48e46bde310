"""Translations of an ontology: tables in Babelon format, and ROBOT templates of synonyms.

::

    source_language  translation_language  subject_id  source_value  predicate_id  translation_value
    en               es                    HP:0001250  Seizure       rdfs:label    Convulsiones

    subject_id  translation_value
    ID          AL oboInOwl:hasExactSynonym@de SPLIT=|
    HP:0001250  Epileptischer Anfall|Krampfanfall

References
----------
The Babelon format. https://monarch-initiative.github.io/babelon/
Human Phenotype Ontology, translations. https://obophenotype.github.io/hpo-translations/
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from canonym.io.curies import last_part
from canonym.io.tables import Table, open_table, shown
from canonym.regex import regex
from canonym.terminology.language_tags import check_language
from canonym.terminology.readers.obo import PROPERTIES
from canonym.types import Concept, Name, Record

_log = logging.getLogger(__name__)

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("subject_id", "source_id"),
    "value": ("translation_value", "translation_text"),
    "label": ("source_value", "source_text"),
    "predicate": ("predicate_id", "predicate"),
    "language": ("translation_language", "translation_lang"),
    "status": ("translation_status", "status"),
}
"""Names of the columns by what they hold, the usual one first."""

_REVIEWED = {"", "OFFICIAL", "MANUALLY TRANSLATED", "REVIEWED", "APPROVED"}
_MISSING = {"", "NA", "N/A"}
_SCOPES = {"label": "exact", **PROPERTIES}
_TEMPLATE = regex(r"\bAL? +\S*?(?<!\w)(\w+)@([\w-]+)(?: +SPLIT=(\S+))?")


def read_babelon(
    path: str | Path,
    *,
    languages: Collection[str] | None = None,
    unreviewed: bool = False,
    quoted: bool = False,
    source: str = "",
    version: str = "",
    encoding: str = "utf-8",
) -> Iterator[Record]:
    """Read the names that translators gave to the concepts of an ontology.

    Parameters
    ----------
    path : str or Path
        A table in Babelon format, or a ROBOT template with the language in its second row. It may
        be compressed. Columns are those of `COLUMNS`.
    languages : collection of str, optional
        Only names in these languages, tags such as ``"es"``.
    unreviewed : bool
        Also names whose status is not one of a reviewed translation, such as ``CANDIDATE``.
    quoted : bool
        Whether cells may be in double quotes and then hold line ends.
    source, version : str
        The terminology and its version.
    encoding : str
        Encoding of the file.

    Yields
    ------
    Concept or Name
        A concept at its first row, with the label in the source language where the table has it.
        Names are labels and synonyms; other properties, such as definitions, are left out.

    Raises
    ------
    ReadError
        If a column is missing, an id is empty, or a template does not tell its language.
    """
    for tag in languages or ():
        check_language(tag)
    with open_table(path, delimiter="\t", quoted=quoted, encoding=encoding) as table:
        at = _columns(table)
        rows = _translated(table, at) if "predicate" in at else _templates(table, at)
        known: set[str] = set()
        n_unreviewed = 0
        for cells, value, scope, language in rows:
            id_ = cells[at["id"]].strip()
            if not id_:
                raise table.error(f"the id of {value!r} is empty")
            status = cells[at["status"]].strip().upper() if "status" in at else ""
            if value in _MISSING or status == "NOT_TRANSLATED":
                continue
            if languages is not None and language not in languages:
                continue
            if not unreviewed and status not in _REVIEWED:
                n_unreviewed += 1
                continue
            if id_ not in known:
                known.add(id_)
                is_label = "predicate" not in at or _local(cells[at["predicate"]]) == "label"
                label = cells[at["label"]].strip() if "label" in at and is_label else ""
                yield Concept(id_, label, source=source, version=version)
            yield Name(value, id_, scope=scope, language=language)
        if n_unreviewed:
            _log.warning(
                "%s: %s names are not reviewed and left out; unreviewed=True takes them",
                path, f"{n_unreviewed:,}",
            )  # fmt: skip


def _columns(table: Table) -> dict[str, int]:
    names = [name.strip().lower() for name in table.header]
    roles = {}
    for role, known in COLUMNS.items():
        places = [names.index(name) for name in known if name in names]
        if places:
            roles[role] = places[0]
    template = "predicate" not in roles
    for role in ("id", "value", *(() if template else ("language",))):
        if role not in roles:
            raise table.error(
                f"no column {' or '.join(COLUMNS[role])}; a table of translations has "
                f"subject_id, predicate_id, translation_language and translation_value, found "
                f"{shown(table.header)}"
            )
    return roles


def _local(curie: str) -> str:
    """Return the last part of a property: ``rdfs:label`` and an address that ends so are equal."""
    return last_part(curie.strip()).lower()


_Translated = Iterator[tuple[list[str], str, str, str]]
"""Cells, name, scope and language."""


def _translated(table: Table, at: Mapping[str, int]) -> _Translated:
    """Yield the rows of a Babelon table that are names."""
    tags: set[str] = set()
    for cells in table.rows:
        scope = _SCOPES.get(_local(cells[at["predicate"]]))
        if scope is None:
            continue
        language = cells[at["language"]].strip()
        if language not in tags:
            check_language(language, table.error)
            tags.add(language)
        yield list(cells), cells[at["value"]].strip(), scope, language


def _templates(table: Table, at: Mapping[str, int]) -> _Translated:
    """Yield the names of a ROBOT template, which may stand several in a cell."""
    told = next(iter(table.rows), None)
    match = _TEMPLATE.search(told[at["value"]]) if told else None
    scope = _SCOPES.get(match[1].lower()) if match else None
    if match is None or scope is None:
        raise table.error(
            "neither a column predicate_id nor, in the row below the header, a ROBOT template with "
            "a language, such as 'AL oboInOwl:hasExactSynonym@es'"
        )
    language, separator = match[2], match[3]
    check_language(language, table.error)
    for cells in table.rows:
        value = cells[at["value"]]
        for part in value.split(separator) if separator else [value]:
            yield list(cells), part.strip(), scope, language
