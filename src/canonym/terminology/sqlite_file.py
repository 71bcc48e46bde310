"""The SQLite file under a terminology: its layout, and connections that only read."""

from __future__ import annotations

import contextlib
import functools
import json
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import CanonymError, InvalidInput, Mismatch, ReadError
from canonym.io.files import check_regular, parse_json
from canonym.io.forks import Lock, on_fork
from canonym.regex import regex
from canonym.types import SCOPES, Concept, Int32Array, Name

FORMAT = 1
"""Format number of the files this version writes, and the newest it reads."""

APPLICATION_ID = 0x63616E6F  # "cano": tells a terminology from any other SQLite file
BATCH = 20_000
"""Rows held in memory at a time."""

LANGUAGES = "SELECT language, COUNT(*) FROM names GROUP BY 1 ORDER BY 1"
INDEXES = (
    "CREATE INDEX relations_by_tail ON relations (tail, relation)",
    "CREATE INDEX xrefs_by_target ON xrefs (target, kind)",
)

_BREAKS = regex(r" ?[\t\n\v\f\r\x85\u2028\u2029]+ ?")
_MAGIC = b"SQLite format 3\0"
_CACHED_KIB = 256  # of each thread
_HOW = "expected a terminology made by `canonym import`"
_TOGETHER = 500  # values in a query; SQLite may take 999


def is_sqlite(path: Path) -> bool:
    """Tell whether a path is a SQLite file."""
    with contextlib.suppress(OSError, ValueError):
        if path.is_file():  # a pipe would be waited for
            with path.open("rb") as stream:
                return stream.read(len(_MAGIC)) == _MAGIC
    return False


class _Connection:
    """A connection that closes with the thread it belongs to."""

    def __init__(self, path: Path) -> None:
        # `immutable` spares the locking: a finished file is never changed, only replaced.
        uri = path.absolute().as_uri() + "?mode=ro&immutable=1"
        self.sqlite = sqlite3.connect(uri, uri=True, check_same_thread=False)
        # Forty threads of a service would keep 2 MB each of what the system keeps anyway.
        self.sqlite.execute(f"PRAGMA cache_size=-{_CACHED_KIB}")

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # connecting may have failed
            self.sqlite.close()


class Database:
    """A terminology file opened for reading, with a connection for each thread.

    ``meta`` holds counts, digest, format and remarks as written by the build. ``values`` caches the
    distinct values that filters have looked up.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._local = threading.local()
        self._connections: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._inherited: list[_Connection] = []
        self._lock = Lock()
        on_fork(self, Database._leave_connections)
        self._closed = False
        self.values: dict[str, list[str]] = {}
        self._check_header()
        self._identity = self._identify()
        try:
            self.meta = self._read_meta()
        except CanonymError:
            self.close()
            raise

    # --- opening ----------------------------------------------------------------------------------

    def _check_header(self) -> None:
        """Refuse other files and truncated ones before SQLite sees them."""
        try:
            check_regular(self.path)
            with self.path.open("rb") as stream:
                header = stream.read(100)
                size = stream.seek(0, 2)
        except FileNotFoundError as error:
            raise ReadError(self.path, f"no such file; {_HOW}") from error
        except IsADirectoryError as error:
            raise ReadError(self.path, f"not a file but a folder; {_HOW}") from error
        except OSError as error:
            raise ReadError(self.path, f"cannot be opened ({error.strerror}); {_HOW}") from error
        except ValueError as error:  # a NUL in the path
            raise ReadError(self.path, f"is no path ({error}); {_HOW}") from error
        if len(header) < 100 or not header.startswith(_MAGIC):
            raise ReadError(
                self.path, f"not a terminology; {_HOW} (import this file first if it is a source)"
            )
        if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
            raise ReadError(self.path, f"a database, but not a terminology; {_HOW}")
        page = int.from_bytes(header[16:18], "big")
        expected = (65536 if page == 1 else page) * int.from_bytes(header[28:32], "big")
        if size != expected:
            raise ReadError(
                self.path,
                f"has {size:,} bytes where {expected:,} were written: it is damaged; copy it "
                "again or import the source again",
            )

    def _identify(self) -> tuple[int, int, int]:
        try:
            status = self.path.stat()
        except OSError as error:
            raise ReadError(self.path, f"has gone ({error.strerror})") from error
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _read_meta(self) -> dict[str, Any]:
        try:
            meta = {key: parse_json(value) for key, value in self.rows("SELECT * FROM meta")}
            newest = int(meta["format"])
            if newest <= FORMAT:
                for key in ("n_concepts", "n_names", "n_relations", "n_xrefs"):
                    meta[key] = int(meta[key])
                self._check_counts(meta)
                meta = {**meta, "digest": str(meta["digest"]), "remarks": dict(meta["remarks"])}
                meta["languages"] = dict(meta["languages"])
        except (KeyError, ValueError, TypeError) as error:
            raise self.damage(error) from error
        if newest > FORMAT:
            raise Mismatch(
                f"{self.path} was written by a newer canonym (format {newest}, this version reads "
                f"up to {FORMAT}); upgrade canonym or import the source again"
            )
        return meta

    def _check_counts(self, meta: dict[str, Any]) -> None:
        for table, number in (("concepts", "ordinal"), ("names", "row")):
            last = self.first(f"SELECT MAX({number}) FROM {table}")
            if last != (meta[f"n_{table}"] - 1,):
                raise ValueError(
                    f"the {table} are not the {meta[f'n_{table}']:,} that were written"
                )

    def _connect(self) -> sqlite3.Connection:
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            if self._closed:
                raise InvalidInput(f"the terminology {self.path} was closed; open it again")
            if self._identify() != self._identity:
                raise Mismatch(
                    f"{self.path} was replaced by another file while it was open; open it again"
                )
            connection = self._local.connection = _Connection(self.path)
            with self._lock:
                self._connections.add(connection)
        return connection.sqlite

    def _leave_connections(self) -> None:
        """Open others in a forked child; those of the parent are neither used nor closed."""
        self._inherited += self._connections
        self._connections = weakref.WeakSet()
        self._local = threading.local()

    def close(self) -> None:
        """Close the connections of all threads; the database cannot be used afterwards."""
        self._closed = True
        with self._lock:
            for connection in list(self._connections):
                connection.sqlite.close()
            self._connections.clear()
        self._local = threading.local()

    def _explain(self, error: Exception) -> None:
        """Raise the error behind an error of SQLite; return when it means "not found"."""
        if isinstance(error, (OverflowError, UnicodeEncodeError)):
            return  # a number or a lone surrogate that no terminology can hold
        if self._closed:
            raise InvalidInput(f"the terminology {self.path} was closed; open it again") from error
        if isinstance(error, (sqlite3.ProgrammingError, sqlite3.InterfaceError)):
            raise InvalidInput(f"an id must be a string ({error})") from error
        raise self.damage(error) from error

    def damage(self, error: Exception) -> ReadError:
        """Make the error for content that canonym never wrote."""
        return ReadError(
            self.path,
            f"the terminology is damaged ({error}); copy it again or import the source again",
        )

    # --- reading ----------------------------------------------------------------------------------

    def batches(
        self, sql: str, parameters: Sequence[Any] = (), size: int = BATCH
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Run a query and yield its rows in lists of `size`."""
        try:
            cursor = self._connect().execute(sql, parameters)
            while batch := cursor.fetchmany(size):
                yield batch
        except (sqlite3.Error, OverflowError, UnicodeEncodeError) as error:
            self._explain(error)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run a query and yield its rows."""
        for batch in self.batches(sql, parameters):
            yield from batch

    def rows_with(self, sql: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """Run a query of rows that have one of many values, with ``{}`` for some of them."""
        for start in range(0, len(values), _TOGETHER):
            some = values[start : start + _TOGETHER]
            yield from self.rows(sql.format(", ".join("?" * len(some))), some)

    def first(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Run a query and return its first row, or None."""
        try:
            row: tuple[Any, ...] | None = self._connect().execute(sql, parameters).fetchone()
        except (sqlite3.Error, OverflowError, UnicodeEncodeError) as error:
            self._explain(error)
            return None
        return row

    def column(self, sql: str, n: int, dtype: Any) -> Any:
        """Run a query of one column and return its `n` numbers as an array."""
        column = np.empty(n, dtype=dtype)
        start = 0
        for batch in self.batches(sql):
            end = start + len(batch)
            if end <= n:
                try:
                    values = np.fromiter((value for (value,) in batch), dtype, len(batch))
                except (TypeError, ValueError, OverflowError) as error:
                    raise self.damage(error) from error
                column[start:end] = values
            start = end
        if start != n:
            raise self.damage(ValueError(f"{start:,} rows where {n:,} were expected"))
        return column

    @functools.cached_property
    def concept_of_row(self) -> Int32Array:
        """Ordinal of the concept of every name row, ``(n_names,)`` int32, read-only."""
        sql = "SELECT concept FROM names ORDER BY row"
        concepts: Int32Array = self.column(sql, self.meta["n_names"], np.int32)
        concepts.setflags(write=False)
        return concepts


# --- concepts and names as rows, and back ---------------------------------------------------------

CONCEPTS = (
    "SELECT id, label, definition, types, source, version, deprecated, replaced_by FROM concepts "
)
"""Start of a query whose rows `objects` turns into `Concept`."""

NAMES = (
    "SELECT n.text, c.id, n.scope, n.language, n.source FROM names n "
    "JOIN concepts c ON c.ordinal = n.concept "
)
"""Start of a query whose rows `objects` turns into `Name`."""


def on_one_line(name: str) -> str:
    """Strip a name, and put a space for a tab or line end, at which tables would part it."""
    name = name.strip()
    return name if name.isprintable() else _BREAKS.sub(" ", name)


def concept_row(concept: Concept) -> tuple[Any, ...]:
    """Turn a concept into the values of its row, without the ordinal."""
    return (
        concept.id,
        on_one_line(concept.label),
        concept.definition,
        _json_list(_strings(concept.types)) if concept.types else "[]",
        concept.source,
        concept.version,
        int(concept.deprecated),
        _json_list(_strings(concept.replaced_by)) if concept.replaced_by else "[]",
    )


def _strings(values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError(f"several strings are expected, not the one string {values!r}")
    return tuple(values)


@functools.lru_cache(maxsize=4096)
def _json_list(values: tuple[str, ...]) -> str:
    return json.dumps(values, ensure_ascii=False)


def _concept(row: tuple[Any, ...]) -> Concept:
    id_, label, definition, types, source, version, deprecated, replaced_by = row
    types, replaced_by = tuple(parse_json(types)), tuple(parse_json(replaced_by))
    return Concept(id_, label, definition, types, source, version, bool(deprecated), replaced_by)


def _name(row: tuple[Any, ...]) -> Name:
    text, concept_id, scope, language, source = row
    return Name(text, concept_id, SCOPES[scope], language, source)


_MAKERS = {CONCEPTS: _concept, NAMES: _name}


def objects(
    database: Database, select: str, rest: str = "", parameters: Sequence[Any] = ()
) -> Iterator[Any]:
    """Yield the concepts or names that a query finds; `select` is `CONCEPTS` or `NAMES`."""
    make = _MAKERS[select]
    try:
        for row in database.rows(select + rest, parameters):
            yield make(row)
    except (ValueError, IndexError, TypeError) as error:
        raise database.damage(error) from error


def objects_at(
    database: Database, select: str, column: str, numbers: Sequence[int] | npt.NDArray[Any], n: int
) -> list[Any]:
    """Return the concepts or names with the given numbers (0 … `n` − 1), in the order given.

    `column` holds the number.
    """
    ordinals = [int(number) for number in numbers]
    for number in ordinals:
        if not 0 <= number < n:
            raise InvalidInput(
                f"{number} is out of range: {database.path.name} has {n:,}, counted from 0"
            )
    by_ordinal: dict[int, Any] = {}
    distinct = sorted(set(ordinals))
    for first in range(0, len(distinct), _TOGETHER):
        some = distinct[first : first + _TOGETHER]
        rest = f"WHERE {column} IN ({', '.join('?' * len(some))}) ORDER BY {column}"
        records = list(objects(database, select, rest, some))
        if len(records) != len(some):
            raise database.damage(ValueError(f"{len(some)} rows expected, {len(records)} found"))
        by_ordinal.update(zip(some, records, strict=True))
    return [by_ordinal[number] for number in ordinals]
