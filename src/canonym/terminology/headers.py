"""Tables with a header: opened whatever their delimiter, their columns recognised by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from canonym.errors import ReadError, require
from canonym.io.streams import TextStream, open_bytes, open_text
from canonym.terminology.delimited import rows

__all__ = ["RECOGNISED", "Table", "open_table", "recognise"]

RECOGNISED: dict[str, tuple[str, ...]] = {
    "id": (
        "concept_id", "descriptor_ui", "scr_id", "disease_id", "chemical_id", "mesh_id",
        "drugbank_id", "umls_cui", "umls_cuis", "cui", "curie", "concept_code", "code", "id",
        "identifier", "concept_ui", "ui", "term_id",
    ),
    "name": (
        "name", "term", "str", "string", "text", "synonym", "concept_synonym_name", "concept_name",
        "term_name", "title", "description",
    ),
    "label": (
        "label", "preferred_label", "pref_label", "preferred_name", "preferred_term",
        "descriptor_name", "canonical_name",
    ),
    "label_flag": (
        "record_preferred", "label_flag", "is_label", "is_preferred", "preferred_flag", "preferred",
    ),
    "synonym": ("synonyms", "synonym", "aliases", "alternative_names", "other_names"),
    "language": ("language", "language_code", "lang", "locale"),
    "type": (
        "type", "types", "semantic_type", "semantic_types", "category", "categories", "domain_id",
    ),
    "scope": ("scope", "synonym_scope"),
    "definition": ("definition", "def", "description"),
    "parent": ("parent_id", "parent_ids", "parent", "parents", "is_a", "broader"),
    "tree": ("tree_number", "tree_numbers", "tree"),
}  # fmt: skip
"""Names by which a column is recognised, for each role, the first found first.

Case, spaces and punctuation do not matter: ``Concept ID`` is ``concept_id``. A column has one role,
roles are given in this order."""

_DELIMITERS = "\t,;|"
_QUOTED = re.compile(r'"[^"]*"')


class Table(NamedTuple):
    """An open table.

    ``header`` names the columns, ``rows`` yields as many cells for each row, and ``error`` makes a
    `ReadError` at the row yielded last.
    """

    header: tuple[str, ...]
    rows: Iterator[Sequence[str]]
    error: Callable[[str], ReadError]


@contextmanager
def open_table(
    path: str | Path,
    *,
    delimiter: str | None = None,
    quoted: bool | None = None,
    header: bool = True,
    encoding: str = "utf-8",
    separator: str = "|",
) -> Iterator[Table]:
    """Open a delimited file or a Parquet file as a table.

    Parameters
    ----------
    path : str or Path
        The file; Parquet is recognised by its first bytes. Delimited files may be compressed.
    delimiter : str, optional
        What separates cells; without it the most frequent one of tab, comma, semicolon and bar in
        the first line.
    quoted : bool, optional
        Whether cells may be in double quotes and then hold delimiters and line ends. By default
        they may, except that in a tab-separated file a row is always one line.
    header : bool
        Whether the first row names the columns; otherwise they are called ``"1"``, ``"2"``, ….
    encoding : str
        Encoding of a delimited file.
    separator : str
        What joins the values of a list in a Parquet file.

    Yields
    ------
    Table
        Rows in which all cells are empty are left out.

    Raises
    ------
    ReadError
        If the file has one column only, or a row has not as many cells as the header.
    MissingExtra
        If a Parquet file is to be read without pyarrow.
    """
    with open_bytes(path) as stream:
        magic = stream.read(4)
    if magic == b"PAR1":
        with _open_parquet(Path(path), separator) as table:
            yield table
        return
    if not delimiter:
        delimiter = _delimiter(path, encoding)
    with open_text(path, encoding=encoding) as stream:
        if quoted is None and delimiter == "\t":
            split = _tab_rows(stream)
        else:
            split = rows(stream, delimiter=delimiter, quoted=quoted in (True, None))
        first = next(split, [])
        names = first if header else [str(number) for number in range(1, len(first) + 1)]
        body = _checked(stream, len(names), split, [] if header else [first])
        yield Table(tuple(name.strip().lstrip("#").strip() for name in names), body, stream.error)


def _delimiter(path: str | Path, encoding: str) -> str:
    with open_text(path, encoding=encoding) as stream:
        line = _QUOTED.sub("", next(stream))
    counts = {each: line.count(each) for each in _DELIMITERS}
    best = max(counts, key=lambda each: counts[each])
    if not counts[best]:
        raise ReadError(
            path,
            f"the first line has no tab, comma, semicolon or bar: {line.strip()[:80]!r}; a table "
            "has at least a column of ids and one of names (pass the delimiter if it is another)",
            line=1,
        )
    return best


def _tab_rows(stream: TextStream) -> Iterator[list[str]]:
    for line in stream:
        cells = line.rstrip("\n").split("\t")
        if '"' in line:
            cells = [_unquoted(cell) for cell in cells]
        yield cells


def _unquoted(cell: str) -> str:
    # Spreadsheets quote cells with quotes in them also where tabs separate; others never quote.
    # Quotes that are not doubled inside belong to the name.
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        inner = cell[1:-1]
        if '"' not in inner.replace('""', ""):
            return inner.replace('""', '"')
    return cell


def _checked(
    stream: TextStream, width: int, split: Iterator[list[str]], first: list[list[str]]
) -> Iterator[list[str]]:
    yield from first
    for cells in split:
        if len(cells) != width:
            if not any(cells):
                continue
            raise stream.error(
                f"{len(cells)} cells where the first row has {width}: the row is cut, or the "
                "delimiter is part of a name and needs quotes"
            )
        yield cells


@contextmanager
def _open_parquet(path: Path, separator: str) -> Iterator[Table]:
    parquet = require("pyarrow.parquet", "reading Parquet files", "arrow")
    lib = require("pyarrow.lib", "reading Parquet files", "arrow")
    row = 0

    def text(value: Any) -> str:
        if isinstance(value, list):
            return separator.join(map(str, value))
        return "" if value is None else str(value)

    def read(file: Any) -> Iterator[list[str]]:
        nonlocal row
        try:
            for batch in file.iter_batches():
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    row += 1
                    yield [text(cell) for cell in cells]
        except (lib.ArrowException, OSError) as error:
            raise ReadError(path, f"the Parquet file is damaged ({error})") from error

    try:
        file = parquet.ParquetFile(path)
    except (lib.ArrowException, OSError) as error:
        raise ReadError(path, f"is no complete Parquet file ({error})") from error
    with file:
        yield Table(
            tuple(file.schema_arrow.names),
            read(file),
            lambda problem: ReadError(path, problem, line=row or None),
        )


def recognise(table: Table, chosen: Mapping[str, str | None]) -> dict[str, int]:
    """Find the columns of a table by the roles they play.

    Parameters
    ----------
    table : Table
        The table.
    chosen : mapping of str to str or None
        Role to column: the name of the column, None to recognise it by `RECOGNISED`, or ``""`` for
        none. Roles that are not named stay without a column.

    Returns
    -------
    dict of str to int
        Role to position in the header, for the roles that have a column.

    Raises
    ------
    ReadError
        If a column named does not exist, or its name stands twice in the header.
    """
    spellings: dict[str, list[int]] = {}
    for at, name in enumerate(table.header):
        spellings.setdefault(name, []).append(at)
    squeezed: dict[str, list[int]] = {}
    for at, name in enumerate(table.header):
        squeezed.setdefault(_squeeze(name), []).append(at)
    roles: dict[str, int] = {}
    for role, column in chosen.items():
        if not column:
            continue
        found = spellings.get(column) or squeezed.get(_squeeze(column), [])
        if len(found) != 1:
            problem = f"no column {column!r}" if not found else f"{len(found)} columns {column!r}"
            raise table.error(f"{problem} for {role}: {described(table)}")
        roles[role] = found[0]
    for role, column in chosen.items():
        if column is not None:
            continue
        for known in RECOGNISED.get(role, ()):
            found = [at for at in squeezed.get(_squeeze(known), []) if at not in roles.values()]
            if len(found) > 1:
                raise table.error(f"{len(found)} columns {known!r} for {role}: {described(table)}")
            if found:
                roles[role] = found[0]
                break
    return roles


def described(table: Table) -> str:
    """Say which columns a table has, for a message."""
    return "the columns are " + ", ".join(repr(name[:40]) for name in table.header[:30])


def _squeeze(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()
