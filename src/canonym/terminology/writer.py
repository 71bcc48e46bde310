"""Records written into a terminology file, in bounded memory, and the digest of its content."""

from __future__ import annotations

import hashlib
import itertools
import json
import mmap
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput
from canonym.io.files import write_file
from canonym.terminology.language_tags import check_language
from canonym.terminology.sqlite_file import (
    APPLICATION_ID,
    BATCH,
    FORMAT,
    INDEXES,
    LANGUAGES,
    concept_row,
    on_one_line,
)
from canonym.types import SCOPES, Concept, Name, Record, Relation, Xref

_LABEL = SCOPES.index("label")
_EXACT = SCOPES.index("exact")
_SCOPE_NUMBERS = {scope: number for number, scope in enumerate(SCOPES)}
_CACHED_CONCEPTS = 400_000
_CACHED_KIB = 128 << 10  # of the database
_SCHEMA = Path(__file__).with_name("schema.sql")
_CONCEPT = ("ordinal", *Concept.__slots__)


def write_terminology(
    records: Iterable[Record],
    path: Path,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write records to a terminology file; see `Terminology.build`.

    Memory holds a batch of records, a cache of ids and a byte per concept.
    """
    with write_file(path, overwrite=overwrite) as partial:
        try:
            writer = Writer(partial, path)
        except sqlite3.OperationalError as error:
            raise UnwritableError(f"{path} could not be created ({error})") from error
        try:
            count, source = 0, iter(records)
            while added := writer.add(itertools.islice(source, BATCH)):
                count += added
                if progress is not None:
                    progress(count)
            writer.finish()
        finally:
            writer.connection.close()


class Writer:
    """Takes records into a new database file; the caller renames it when complete.

    Ids are resolved through the database, with a cache for the concepts met last. `target` is the
    final path, for messages.
    """

    def __init__(self, path: Path, target: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self._target = target
        # The file is temporary until it is complete and synced: no journal is needed meanwhile.
        self.connection.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
            f"PRAGMA cache_size=-{_CACHED_KIB}; PRAGMA application_id={APPLICATION_ID};"
            + _SCHEMA.read_text(encoding="utf-8")
        )
        self.connection.execute("BEGIN")
        # SQLite numbers rows one above the largest: this one makes the first name row 0.
        self.connection.execute("INSERT INTO names VALUES (-1, -1, '', 0, '', '')")
        self._ordinals: dict[str, int] = {}
        self._seen = Seen()
        self._languages: set[str] = set()
        self._defined = bytearray()  # by ordinal: whether the concept itself has come
        self._n_given_names = 0
        self._remarks: Counter[str] = Counter()
        self._concepts = self._pending("concept", "concepts", _CONCEPT)
        self._types = self._pending("type", "types", ("type", "concept"))
        # The first of equal names stays; a label that comes late raises its scope.
        self._names = self._pending(
            "name",
            "names",
            ("concept", "text", "scope", "language", "source"),
            "ON CONFLICT (concept, text, language) "
            "DO UPDATE SET scope = MIN(scope, excluded.scope)",
        )
        once = "ON CONFLICT DO NOTHING"
        self._relations = self._pending("relation", "relations", ("head", "relation", "tail"), once)
        self._xrefs = self._pending(
            "cross-reference", "xrefs", ("concept_id", "target", "kind"), once
        )

    def _pending(self, what: str, table: str, columns: tuple[str, ...], rest: str = "") -> Pending:
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {{}} {rest}"
        return Pending(self.run, what, columns, sql)

    def run(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement; a full disk is an `UnwritableError`."""
        try:
            return self.connection.execute(sql, values)
        except sqlite3.OperationalError as error:
            raise UnwritableError(
                f"{self._target} could not be written ({error}); is the disk full, or the folder "
                "protected? Nothing was changed"
            ) from error

    # --- concepts ---------------------------------------------------------------------------------

    def _ordinal_of(self, id_: str) -> int | None:
        """Look a concept up in the file, where the cache no longer has it."""
        self._flush_concepts()
        sql = "SELECT ordinal FROM concepts WHERE id = ?"
        row = self.run(sql, (id_,)).fetchone()
        if row is None:
            return None
        self._remember(id_, row[0])
        return int(row[0])

    def _remember(self, id_: str, ordinal: int) -> None:
        if len(self._ordinals) >= _CACHED_CONCEPTS:
            for old in list(self._ordinals)[: _CACHED_CONCEPTS // 2 + 1]:
                del self._ordinals[old]
        self._ordinals[id_] = ordinal

    def _insert_concept(self, concept: Concept, *, defined: bool) -> int:
        ordinal = len(self._defined)
        self._concepts.values.extend((ordinal, *concept_row(concept)))
        for type_ in dict.fromkeys(concept.types):
            self._types.values.extend((type_, ordinal))
        self._remember(concept.id, ordinal)
        self._defined.append(defined)
        return ordinal

    def _add_concept(self, concept: Concept) -> None:
        id_ = concept.id
        ordinal = self._ordinals.get(id_)
        if ordinal is None and self._seen.add(id_):
            ordinal = self._ordinal_of(id_)
        if ordinal is None:
            check_text(id_, "the id", id_)
            if not id_.strip():
                raise InvalidInput(f"a concept without an id (label {concept.label!r})")
            ordinal = self._insert_concept(concept, defined=True)
            if concept.label:
                self._add_label(ordinal, concept.label, _LABEL)
        else:
            self._merge_concept(ordinal, concept)

    def _merge_concept(self, ordinal: int, concept: Concept) -> None:
        """Fill gaps of a concept met before; a second label becomes an exact synonym."""
        self._flush_concepts()
        row = self.run(
            "SELECT label, definition, types, source, version, deprecated, replaced_by "
            "FROM concepts WHERE ordinal = ?",
            (ordinal,),
        ).fetchone()
        label, definition, types, source, version, deprecated, replaced_by = row
        if self._defined[ordinal]:
            self._remarks["ids defined more than once (merged)"] += 1
        self._defined[ordinal] = True
        merged = Concept(
            concept.id,
            label or concept.label,
            definition or concept.definition,
            tuple(dict.fromkeys([*json.loads(types), *concept.types])),
            source or concept.source,
            version or concept.version,
            bool(deprecated) or concept.deprecated,
            tuple(dict.fromkeys([*json.loads(replaced_by), *concept.replaced_by])),
        )
        self.run(
            "UPDATE concepts SET id=?, label=?, definition=?, types=?, source=?, version=?, "
            "deprecated=?, replaced_by=? WHERE ordinal=?",
            (*concept_row(merged), ordinal),
        )
        for type_ in merged.types:
            self.run("INSERT OR IGNORE INTO types VALUES (?, ?)", (type_, ordinal))
        if concept.label:
            scope = _LABEL if on_one_line(merged.label) == on_one_line(concept.label) else _EXACT
            self._add_label(ordinal, concept.label, scope)

    # --- records ----------------------------------------------------------------------------------

    def add(self, records: Iterable[Record]) -> int:
        """Take a batch of records, small enough for memory; return their number."""
        known, numbers, add_name = self._ordinals, _SCOPE_NUMBERS, self._names.values.extend
        count = 0
        for record in records:
            count += 1
            try:
                if isinstance(record, Name):
                    ordinal = known.get(record.concept_id)
                    if ordinal is None:
                        ordinal = self._concept_of(record)
                    scope = numbers.get(record.scope)
                    if scope is None:
                        raise InvalidInput(
                            f"the scope {record.scope!r} is unknown; expected one of "
                            f"{', '.join(SCOPES)}"
                        )
                    text = on_one_line(record.text)
                    if record.language not in self._languages:
                        check_language(record.language)
                        self._languages.add(record.language)
                    if text:
                        add_name((ordinal, text, scope, record.language, record.source))
                    else:
                        self._remarks["empty names left out"] += 1
                elif isinstance(record, Concept):
                    self._add_concept(record)
                elif isinstance(record, Relation):
                    self._relations.values.extend((record.head, record.relation, record.tail))
                elif isinstance(record, Xref):
                    self._xrefs.values.extend((record.concept_id, record.target, record.kind))
                else:
                    raise InvalidInput(
                        f"a terminology is made of Concept, Name, Relation and Xref, not of "
                        f"{type(record).__name__}"
                    )
            except UnwritableError:
                raise
            except (InvalidInput, AttributeError, TypeError, UnicodeEncodeError) as error:
                raise InvalidInput(f"{record!a:.200} cannot be used: {error}") from error
        self._flush_concepts()
        self._n_given_names += self._names.n_rows
        for pending in (self._names, self._relations, self._xrefs):
            pending.flush()
        return count

    def _concept_of(self, name: Name) -> int:
        """Find the concept of a name that is not in the cache, or make it."""
        id_ = name.concept_id
        ordinal = self._ordinal_of(id_) if self._seen.add(id_) else None
        if ordinal is None:
            check_text(id_, "the id", id_)
            if not id_.strip():
                raise InvalidInput("the name belongs to no concept, for its id is empty")
            ordinal = self._insert_concept(Concept(id_), defined=False)
        return ordinal

    def _add_label(self, ordinal: int, label: str, scope: int) -> None:
        if text := on_one_line(label):
            self._names.values.extend((ordinal, text, scope, "en", ""))
        else:
            self._remarks["empty names left out"] += 1

    # --- rows -------------------------------------------------------------------------------------

    def _flush_concepts(self) -> None:
        self._concepts.flush()
        self._types.flush()

    def finish(self) -> None:
        """Label concepts that came without a label, make the indexes, write counts and digest."""
        run = self.run
        run("DELETE FROM names WHERE row = -1")
        # A concept may have come without a label: its label-scoped name, else its first, serves.
        run("CREATE TEMP TABLE bare (ordinal INTEGER PRIMARY KEY, best INTEGER)")
        run(
            "INSERT INTO bare SELECT ordinal, (SELECT row FROM names "
            "WHERE concept = ordinal ORDER BY scope, row LIMIT 1) FROM concepts WHERE label = ''"
        )
        run("DELETE FROM bare WHERE best IS NULL")
        run(
            "UPDATE concepts SET label = (SELECT n.text FROM bare b JOIN names n ON n.row = b.best "
            "WHERE b.ordinal = concepts.ordinal) WHERE ordinal IN (SELECT ordinal FROM bare)"
        )
        run(f"UPDATE names SET scope = {_LABEL} WHERE row IN (SELECT best FROM bare)")
        run("COMMIT")
        for index in INDEXES:
            run(index)
        counts = {
            f"n_{table}": run(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            for table in ("concepts", "names", "relations", "xrefs")
        }
        if not counts["n_names"]:
            raise InvalidInput(
                f"the terminology has {counts['n_concepts']:,} concepts and no names; nothing "
                "could be found by name: check the format and the columns"
            )
        self._remarks["repeated names stored once"] = self._n_given_names - counts["n_names"]
        self._remarks["concepts made from names alone"] = self._defined.count(0)
        meta = {
            **counts,
            "format": FORMAT,
            "digest": content_digest(self.connection),
            "languages": dict(run(LANGUAGES).fetchall()),
            "remarks": {kind: count for kind, count in sorted(self._remarks.items()) if count},
        }
        for key, value in sorted(meta.items()):
            run("INSERT INTO meta VALUES (?, ?)", (key, json.dumps(value)))


# --- rows that wait -------------------------------------------------------------------------------

_VARIABLES = 900  # in one statement: much faster than one row each, and any SQLite takes as many


Run = Callable[[str, Sequence[Any]], sqlite3.Cursor]


class UnwritableError(InvalidInput, OSError):
    """The file cannot be written, whatever the records are."""


class Pending:
    """Rows that wait to be inserted into a table, many at a time.

    ``values`` holds the values of all rows, one after the other: extend it by a whole row. `what`
    names a row in messages, and `sql` is the statement with ``{}`` for the values.
    """

    def __init__(self, run: Run, what: str, columns: Sequence[str], sql: str) -> None:
        self.values: list[Any] = []
        self._run = run
        self._what = what
        self._columns = columns
        self._sql = sql
        self._together = max(_VARIABLES // len(columns), 1)
        self._several = self._statement(self._together)

    @property
    def n_rows(self) -> int:
        """Number of rows that wait."""
        return len(self.values) // len(self._columns)

    def _statement(self, n: int) -> str:
        marks = f"({', '.join('?' * len(self._columns))})"
        return self._sql.format(", ".join([marks] * n))

    def flush(self) -> None:
        """Insert the rows; raise if a value is neither a string nor a number."""
        values, width = self.values, len(self._columns)
        if not values:
            return
        # SQLite would take bytes for a string, and give bytes back.
        if not all(issubclass(kind, str | int) for kind in set(map(type, values))):
            self._check()
        step = self._together * width
        try:
            for start in range(0, len(values), step):
                chunk = values[start : start + step]
                whole = len(chunk) == step
                sql = self._several if whole else self._statement(len(chunk) // width)
                self._run(sql, chunk)
        except UnicodeEncodeError:
            self._check()
        values.clear()

    def _check(self) -> None:
        """Raise for the first value that cannot be stored."""
        width = len(self._columns)
        for at, value in enumerate(self.values):
            column = self._columns[at % width]
            row = tuple(self.values[at - at % width : at - at % width + width])
            if isinstance(value, str):
                check_text(value, f"the {column} of a {self._what}", row)
            elif not isinstance(value, int):
                raise InvalidInput(
                    f"the {column} of the {self._what} {row!a:.200} should be a string, not "
                    f"{type(value).__name__}"
                )


def check_text(text: str, what: str, shown: object) -> None:
    """Raise if a string holds a lone surrogate; `what` and `shown` are for the message."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{what} ({shown!a:.200}) holds a lone surrogate, which is no character; the file was "
            "decoded with the wrong encoding"
        ) from error


class Seen:
    """Ids that may have been met: certain about new ids, nearly certain about known ones.

    Spares a look into the database for nearly every new concept, at 16 MiB at most.
    """

    def __init__(self) -> None:
        self._bits = mmap.mmap(-1, 1 << 24)  # zeros, of which only what is touched takes memory

    def add(self, id_: str) -> bool:
        """Note an id; return False if it was surely never noted before."""
        # Not `hash`, which differs between runs, and with it the order of pages in the file.
        place = zlib.crc32(id_.encode("utf-8", "surrogatepass"))
        byte, bit = place >> 3 & 0xFFFFFF, 1 << (place & 7)
        if self._bits[byte] & bit:
            return True
        self._bits[byte] |= bit
        return False


# --- digest ---------------------------------------------------------------------------------------

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
_SORTED = {"relations": ("head", "relation", "tail"), "xrefs": ("concept_id", "kind", "target")}


def content_digest(connection: sqlite3.Connection) -> str:
    """Hash all concepts, names, relations and cross-references with SHA-256.

    Rows are taken in order, 10,000 at a time. Of numbered rows SQLite joins each column with a unit
    separator, four times as fast as fetching the rows. A batch with that separator in a value, and
    the rows of the other tables, are written as JSON. Every piece is preceded by its kind and
    length, so that no two contents give the same bytes.
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
        sql = f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1, 2, 3"
        cursor = connection.execute(sql)
        while batch := cursor.fetchmany(_BATCH):
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
