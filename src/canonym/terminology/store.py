"""A terminology in one SQLite file: read by many, never changed in place.

Row ``i`` of the name table is row ``i`` of every vector file; rows keep the order in which the
reader yielded them. The digest identifies the content: two builds from the same records have the
same digest, whatever the machine.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.types import SCOPES, Concept, Int32Array, Name, Record, Relation, Xref

__all__ = ["FORMAT", "Terminology"]

FORMAT = 1
"""Format number of the files this version writes, and the newest it reads."""

_APPLICATION_ID = 0x63616E6F  # "cano": tells a terminology from any other SQLite file
_CONCEPT_COLUMNS = "id, label, definition, types, source, version, deprecated, replaced_by"
_BATCH = 20_000


class Terminology:
    """A terminology opened for reading.

    Safe to use from several threads: each has a connection of its own.

    Parameters
    ----------
    path : str or Path
        A file written by `Terminology.build` or ``canonym import``.

    Raises
    ------
    ReadError
        If the file is missing, is not a terminology of ours, or is damaged.
    Mismatch
        If it was written by a newer version of canonym.

    Examples
    --------
    >>> from canonym import Concept, Name, Terminology
    >>> terminology = Terminology.build(
    ...     [Concept("X:1", "Myocardial infarction"), Name("heart attack", "X:1")]
    ... )
    >>> terminology.n_concepts, terminology.n_names
    (1, 2)
    >>> [name.text for name in terminology.names("X:1")]
    ['Myocardial infarction', 'heart attack']
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise ReadError(path, "no such file; expected a terminology made by `canonym import`")
        if not self.path.is_file():
            raise ReadError(path, "not a file; expected a terminology made by `canonym import`")
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._meta = self._read_meta()
        self._finalizer: weakref.finalize[Any, Any] | None = None

    # --- making ---------------------------------------------------------------------------------

    @classmethod
    def build(
        cls, records: Iterable[Record], path: str | Path | None = None, *, overwrite: bool = False
    ) -> Terminology:
        """Write records to a file and open it; see `canonym.terminology.build.build_terminology`.

        Without `path` the file is temporary and goes when the object goes.
        """
        from canonym.terminology.build import build_temporary, build_terminology

        if path is not None:
            return build_terminology(records, path, overwrite=overwrite)
        return build_temporary(records)

    # --- opening --------------------------------------------------------------------------------

    def _connect(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            # `immutable` spares the locking: a finished file is never changed, only replaced.
            uri = self.path.absolute().as_uri() + "?mode=ro&immutable=1"
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            self._local.connection = connection
            with self._lock:
                self._connections.append(connection)
        return connection

    def _read_meta(self) -> dict[str, Any]:
        try:
            application = self._connect().execute("PRAGMA application_id").fetchone()[0]
            if application != _APPLICATION_ID:
                raise ReadError(
                    self.path, "a database, but not a terminology made by `canonym import`"
                )
            rows = self._connect().execute("SELECT key, value FROM meta").fetchall()
            meta = {key: json.loads(value) for key, value in rows}
            newest = int(meta["format"])
        except (sqlite3.DatabaseError, KeyError, ValueError) as error:
            self.close()
            raise ReadError(
                self.path,
                f"not a terminology made by `canonym import`, or a damaged one ({error}); "
                "import the source again",
            ) from error
        except ReadError:
            self.close()
            raise
        if newest > FORMAT:
            self.close()
            raise Mismatch(
                f"{self.path} was written by a newer canonym (format {newest}, this version reads "
                f"up to {FORMAT}); upgrade canonym or import the source again"
            )
        return meta

    def close(self) -> None:
        """Close the connections of all threads; the object cannot be used afterwards."""
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        self._local = threading.local()

    def __enter__(self) -> Terminology:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return (
            f"<Terminology {self.path.name}: {self.n_concepts:,} concepts, {self.n_names:,} names>"
        )

    def _query(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._connect().execute(sql, parameters)
        except sqlite3.DatabaseError as error:
            raise ReadError(
                self.path, f"the terminology is damaged ({error}); import the source again"
            ) from error

    # --- what it is -----------------------------------------------------------------------------

    @property
    def digest(self) -> str:
        """SHA-256 of the content, in hexadecimal."""
        return str(self._meta["digest"])

    @property
    def n_concepts(self) -> int:
        """Number of concepts."""
        return int(self._meta["n_concepts"])

    @property
    def n_names(self) -> int:
        """Number of name rows: distinct (concept, text, language) triples."""
        return int(self._meta["n_names"])

    @property
    def n_relations(self) -> int:
        """Number of distinct relations."""
        return int(self._meta["n_relations"])

    @property
    def n_xrefs(self) -> int:
        """Number of distinct cross-references and alternative ids."""
        return int(self._meta["n_xrefs"])

    @property
    def remarks(self) -> dict[str, int]:
        """What building merged or left out, by kind, with counts."""
        return dict(self._meta["remarks"])

    def sources(self) -> dict[tuple[str, str], int]:
        """Count concepts by source and version."""
        rows = self._query("SELECT source, version, COUNT(*) FROM concepts GROUP BY 1, 2")
        return {(source, version): count for source, version, count in rows}

    def types(self) -> dict[str, int]:
        """Count concepts by semantic type."""
        return dict(self._query("SELECT type, COUNT(*) FROM types GROUP BY 1 ORDER BY 1"))

    def languages(self) -> dict[str, int]:
        """Count name rows by language."""
        return dict(self._query("SELECT language, COUNT(*) FROM names GROUP BY 1 ORDER BY 1"))

    # --- concepts and names ---------------------------------------------------------------------

    def resolve(self, id: str) -> str | None:
        """Return the id of the concept that `id` names, itself or as an alternative; else None."""
        if self._query("SELECT 1 FROM concepts WHERE id = ?", (id,)).fetchone():
            return id
        row = self._query(
            "SELECT x.concept_id FROM xrefs x JOIN concepts c ON c.id = x.concept_id "
            "WHERE x.target = ? AND x.kind = 'alternative' ORDER BY c.ordinal LIMIT 1",
            (id,),
        ).fetchone()
        return None if row is None else str(row[0])

    def concept(self, id: str) -> Concept:
        """Look a concept up by its id or an alternative id.

        Raises
        ------
        InvalidInput
            If no concept has the id.
        """
        primary = self.resolve(id)
        if primary is None:
            raise InvalidInput(f"no concept has the id {id!r} in {self.path.name}")
        row = self._query(
            f"SELECT {_CONCEPT_COLUMNS} FROM concepts WHERE id = ?", (primary,)
        ).fetchone()
        return _concept(row)

    def concepts_at(self, ordinals: Sequence[int]) -> list[Concept]:
        """Return concepts by their ordinal (0 … `n_concepts` − 1), in the order given."""
        sql = f"SELECT {_CONCEPT_COLUMNS} FROM concepts WHERE ordinal = ?"
        return [_concept(self._query(sql, (int(o),)).fetchone()) for o in ordinals]

    def names(self, id: str) -> tuple[Name, ...]:
        """Return the names of a concept in row order, empty when the id is unknown."""
        rows = self._query(
            "SELECT n.text, c.id, n.scope, n.language, n.source FROM names n "
            "JOIN concepts c ON c.ordinal = n.concept WHERE c.id = ? ORDER BY n.row",
            (self.resolve(id) or id,),
        )
        return tuple(_name(row) for row in rows)

    def names_at(self, rows: Sequence[int]) -> list[Name]:
        """Return names by their row (0 … `n_names` − 1), in the order given."""
        sql = (
            "SELECT n.text, c.id, n.scope, n.language, n.source FROM names n "
            "JOIN concepts c ON c.ordinal = n.concept WHERE n.row = ?"
        )
        return [_name(self._query(sql, (int(row),)).fetchone()) for row in rows]

    def iter_concepts(self) -> Iterator[Concept]:
        """Yield all concepts in order."""
        cursor = self._query(f"SELECT {_CONCEPT_COLUMNS} FROM concepts ORDER BY ordinal")
        while batch := cursor.fetchmany(_BATCH):
            yield from map(_concept, batch)

    def iter_texts(self, batch: int = _BATCH) -> Iterator[list[str]]:
        """Yield the texts of all names in row order, in lists of `batch`."""
        cursor = self._query("SELECT text FROM names ORDER BY row")
        while rows := cursor.fetchmany(batch):
            yield [text for (text,) in rows]

    def iter_names(self) -> Iterator[Name]:
        """Yield all names in row order."""
        cursor = self._query(
            "SELECT n.text, c.id, n.scope, n.language, n.source FROM names n "
            "JOIN concepts c ON c.ordinal = n.concept ORDER BY n.row"
        )
        while batch := cursor.fetchmany(_BATCH):
            yield from map(_name, batch)

    # --- arrays ---------------------------------------------------------------------------------

    def _column(self, sql: str, n: int, dtype: Any, parameters: Sequence[Any] = ()) -> Any:
        cursor = self._query(sql, parameters)
        return np.fromiter((row[0] for row in cursor), dtype=dtype, count=n)

    def concept_of_row(self) -> Int32Array:
        """Return the ordinal of the concept of every row, ``(n_names,)`` int32."""
        column = self._column("SELECT concept FROM names ORDER BY row", self.n_names, np.int32)
        return np.asarray(column, dtype=np.int32)

    def scope_of_row(self) -> np.ndarray[Any, np.dtype[np.int8]]:
        """Return the position in `SCOPES` of every row's scope, ``(n_names,)`` int8."""
        column = self._column("SELECT scope FROM names ORDER BY row", self.n_names, np.int8)
        return np.asarray(column, dtype=np.int8)

    def id_rank(self) -> Int32Array:
        """Return the place of every concept when ids are sorted, ``(n_concepts,)`` int32."""
        order = self._column("SELECT ordinal FROM concepts ORDER BY id", self.n_concepts, np.int32)
        rank = np.empty(self.n_concepts, dtype=np.int32)
        rank[order] = np.arange(self.n_concepts, dtype=np.int32)
        return rank

    # --- relations ------------------------------------------------------------------------------

    def iter_relations(self, relation: str | None = None) -> Iterator[Relation]:
        """Yield relations, all or of one kind, in order of head, relation and tail."""
        where, parameters = ("WHERE relation = ?", (relation,)) if relation else ("", ())
        cursor = self._query(
            f"SELECT head, relation, tail FROM relations {where} ORDER BY 1, 2, 3", parameters
        )
        while batch := cursor.fetchmany(_BATCH):
            yield from (Relation(*row) for row in batch)

    def iter_xrefs(self) -> Iterator[Xref]:
        """Yield cross-references and alternative ids in order."""
        cursor = self._query("SELECT concept_id, target, kind FROM xrefs ORDER BY 1, 3, 2")
        while batch := cursor.fetchmany(_BATCH):
            yield from (Xref(*row) for row in batch)

    def parents(self, id: str) -> tuple[str, ...]:
        """Return the ids of the direct parents."""
        sql = "SELECT tail FROM relations WHERE head = ? AND relation = 'is_a' ORDER BY 1"
        return tuple(tail for (tail,) in self._query(sql, (id,)))

    def children(self, id: str) -> tuple[str, ...]:
        """Return the ids of the direct children."""
        sql = "SELECT head FROM relations WHERE tail = ? AND relation = 'is_a' ORDER BY 1"
        return tuple(head for (head,) in self._query(sql, (id,)))


def _concept(row: tuple[Any, ...]) -> Concept:
    id_, label, definition, types, source, version, deprecated, replaced_by = row
    return Concept(
        id_,
        label,
        definition,
        tuple(json.loads(types)),
        source,
        version,
        bool(deprecated),
        tuple(json.loads(replaced_by)),
    )


def _name(row: tuple[Any, ...]) -> Name:
    text, concept_id, scope, language, source = row
    return Name(text, concept_id, SCOPES[scope], language, source)
