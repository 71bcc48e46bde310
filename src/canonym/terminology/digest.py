"""The digest of a terminology: a hash of its content, the same on every machine."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator

__all__ = ["content_digest"]

_BATCH = 10_000  # part of the definition
_SEPARATOR = "\x1f"
# Tables whose rows are numbered from 0, and tables that are sorted by all their columns.
_NUMBERED = {
    "concepts": (
        "ordinal",
        ("id", "label", "definition", "types", "source", "version", "deprecated", "replaced_by"),
    ),
    "names": ("row", ("concept", "text", "scope", "language", "source")),
}
_SORTED = {
    "relations": ("head", "relation", "tail"),
    "xrefs": ("concept_id", "kind", "target"),
}


def content_digest(connection: sqlite3.Connection) -> str:
    """Hash all concepts, names, relations and cross-references with SHA-256.

    Parameters
    ----------
    connection : sqlite3.Connection
        The open file.

    Returns
    -------
    str
        The digest in hexadecimal.

    Notes
    -----
    Rows are taken in order, 10,000 at a time. Of numbered rows each column is joined by SQLite
    with a unit separator, which is four times as fast as fetching the rows; a batch in which a
    value holds that separator, and the rows of the other tables, are written as JSON. Every piece
    is preceded by its kind and length, so that no two contents give the same bytes.
    """
    whole = hashlib.sha256()
    for table, (number, columns) in _NUMBERED.items():
        whole.update(f"{table}\n".encode())
        count = connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        for start in range(0, count, _BATCH):
            n = min(_BATCH, count - start)
            joined = _join_columns(connection, table, number, columns, start, n)
            if joined is None:
                sql = f"SELECT {', '.join(columns)} FROM {table} WHERE {number} >= ? LIMIT {n}"
                rows = connection.execute(sql, (start,)).fetchall()
                joined = [("rows", json.dumps(rows, ensure_ascii=False))]
            for name, text in joined:
                piece = text.encode()
                whole.update(f"{name} {n} {len(piece)}\n".encode())
                whole.update(piece)
    for table, columns in _SORTED.items():
        whole.update(f"{table}\n".encode())
        for batch in _batches(
            connection, f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1, 2, 3"
        ):
            piece = json.dumps(batch, ensure_ascii=False).encode()
            whole.update(f"rows {len(batch)} {len(piece)}\n".encode())
            whole.update(piece)
    return whole.hexdigest()


def _join_columns(
    connection: sqlite3.Connection,
    table: str,
    number: str,
    columns: tuple[str, ...],
    start: int,
    n: int,
) -> list[tuple[str, str]] | None:
    """Join each column of a range of rows; None where a value holds the separator."""
    # A range of row numbers is read in their order, and so are the values joined.
    joins = ", ".join(f"GROUP_CONCAT({column}, ?1)" for column in columns)
    sql = f"SELECT {joins} FROM {table} WHERE {number} BETWEEN ?2 AND ?3"
    try:
        texts = connection.execute(sql, (_SEPARATOR, start, start + n - 1)).fetchone()
    except sqlite3.DataError:  # longer than SQLite allows a text to be
        return None
    if any(text.count(_SEPARATOR) != n - 1 for text in texts):
        return None
    return list(zip(columns, texts, strict=True))


def _batches(connection: sqlite3.Connection, sql: str) -> Iterator[list[tuple[str, str, str]]]:
    cursor = connection.execute(sql)
    while batch := cursor.fetchmany(_BATCH):
        yield batch
