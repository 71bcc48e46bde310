"""Write a stream of records into a terminology file.

Memory does not grow with the terminology: ids are resolved through the database, with a bounded
cache for the concepts seen last.
"""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import sqlite3
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput
from canonym.files import write_file
from canonym.terminology.store import _APPLICATION_ID, FORMAT, Terminology
from canonym.types import SCOPES, Concept, Name, Record, Relation, Xref

__all__ = ["build_temporary", "build_terminology"]

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE concepts (
    ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, label TEXT NOT NULL,
    definition TEXT NOT NULL, types TEXT NOT NULL, source TEXT NOT NULL, version TEXT NOT NULL,
    deprecated INTEGER NOT NULL, replaced_by TEXT NOT NULL);
CREATE TABLE names (
    row INTEGER PRIMARY KEY, concept INTEGER NOT NULL, text TEXT NOT NULL, scope INTEGER NOT NULL,
    language TEXT NOT NULL, source TEXT NOT NULL, UNIQUE (concept, text, language));
CREATE TABLE relations (
    head TEXT NOT NULL, relation TEXT NOT NULL, tail TEXT NOT NULL,
    PRIMARY KEY (head, relation, tail)) WITHOUT ROWID;
CREATE TABLE xrefs (
    concept_id TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL,
    PRIMARY KEY (concept_id, kind, target)) WITHOUT ROWID;
CREATE TABLE types (
    type TEXT NOT NULL, concept INTEGER NOT NULL, PRIMARY KEY (type, concept)) WITHOUT ROWID;
"""
_INDEXES = """
CREATE INDEX relations_by_tail ON relations (tail, relation);
CREATE INDEX xrefs_by_target ON xrefs (target, kind);
"""
_DIGESTED = (
    "SELECT id, label, definition, types, source, version, deprecated, replaced_by "
    "FROM concepts ORDER BY ordinal",
    "SELECT concept, text, scope, language, source FROM names ORDER BY row",
    "SELECT head, relation, tail FROM relations ORDER BY 1, 2, 3",
    "SELECT concept_id, kind, target FROM xrefs ORDER BY 1, 2, 3",
)
_LABEL = SCOPES.index("label")
_EXACT = SCOPES.index("exact")
_SCOPE_NUMBERS = {scope: number for number, scope in enumerate(SCOPES)}
_CACHED_CONCEPTS = 200_000
_BATCH = 20_000


class _Writer:
    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        # The file is temporary until it is complete and synced: no journal is needed meanwhile.
        self.connection.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-131072;"
            f"PRAGMA locking_mode=EXCLUSIVE; PRAGMA application_id={_APPLICATION_ID};" + _SCHEMA
        )
        self.connection.execute("BEGIN")
        # SQLite numbers rows one above the largest: this one makes the first name row 0.
        self.connection.execute("INSERT INTO names VALUES (-1, -1, '', 0, '', '')")
        self.ordinals: dict[str, int] = {}
        self.n_concepts = 0
        self.n_given_names = 0
        self.remarks: Counter[str] = Counter()
        self.pending_concepts: list[tuple[Any, ...]] = []
        self.pending_types: list[tuple[str, int]] = []
        self.pending_names: list[tuple[int, str, int, str, str]] = []
        self.pending_relations: list[tuple[str, str, str]] = []
        self.pending_xrefs: list[tuple[str, str, str]] = []

    # --- concepts ---

    def ordinal_of(self, id_: str) -> int | None:
        known = self.ordinals.get(id_)
        if known is not None:
            return known
        if self.n_concepts <= len(self.ordinals):
            return None  # every concept so far is in the cache
        self.flush_concepts()
        row = self.connection.execute("SELECT ordinal FROM concepts WHERE id = ?", (id_,))
        found = row.fetchone()
        if found is None:
            return None
        self.remember(id_, int(found[0]))
        return int(found[0])

    def remember(self, id_: str, ordinal: int) -> None:
        if len(self.ordinals) >= _CACHED_CONCEPTS:
            for old in list(self.ordinals)[: _CACHED_CONCEPTS // 2]:
                del self.ordinals[old]
        self.ordinals[id_] = ordinal

    def insert_concept(self, concept: Concept, *, known: bool) -> int:
        ordinal = self.n_concepts
        self.pending_concepts.append((ordinal, *_concept_row(concept)))
        self.pending_types.extend((type_, ordinal) for type_ in set(concept.types))
        self.remember(concept.id, ordinal)
        self.n_concepts += 1
        if not known:
            self.remarks["concepts made from names alone"] += 1
        return ordinal

    def add_concept(self, concept: Concept) -> None:
        _check_text(concept.id, "id", concept.id)
        if not concept.id.strip():
            raise InvalidInput(f"a concept without an id (label {concept.label!r})")
        ordinal = self.ordinal_of(concept.id)
        if ordinal is None:
            ordinal = self.insert_concept(concept, known=True)
            if concept.label:
                self.add_name_row(ordinal, concept.label, _LABEL, "en", "")
            return
        self.flush_concepts()
        row = self.connection.execute(
            "SELECT label, definition, types, source, version, deprecated, replaced_by "
            "FROM concepts WHERE ordinal = ?",
            (ordinal,),
        ).fetchone()
        self.merge_concept(ordinal, row, concept)

    def merge_concept(self, ordinal: int, row: tuple[Any, ...], concept: Concept) -> None:
        """Fill gaps of a concept met before; a second label becomes an exact synonym."""
        label, definition, types, source, version, deprecated, replaced_by = row
        described = bool(definition or source or version or types != "[]" or label)
        if described and concept.label:
            self.remarks["ids defined more than once (merged)"] += 1
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
        self.connection.execute(
            "UPDATE concepts SET id=?, label=?, definition=?, types=?, source=?, version=?, "
            "deprecated=?, replaced_by=? WHERE ordinal=?",
            (*_concept_row(merged), ordinal),
        )
        self.connection.executemany(
            "INSERT OR IGNORE INTO types VALUES (?, ?)", [(t, ordinal) for t in merged.types]
        )
        if concept.label:
            scope = _LABEL if merged.label == concept.label else _EXACT
            self.add_name_row(ordinal, concept.label, scope, "en", "")

    # --- names ---

    def add_name(self, name: Name) -> None:
        ordinal = self.ordinals.get(name.concept_id)
        if ordinal is None:
            ordinal = self.ordinal_of(name.concept_id)
        if ordinal is None:
            if not name.concept_id.strip():
                raise InvalidInput(f"name {name.text!r} belongs to no concept: its id is empty")
            ordinal = self.insert_concept(Concept(name.concept_id), known=False)
        number = _SCOPE_NUMBERS.get(name.scope)
        if number is None:
            raise InvalidInput(
                f"name {name.text!r} of {name.concept_id}: scope {name.scope!r} is unknown; "
                f"expected one of {', '.join(SCOPES)}"
            )
        self.add_name_row(ordinal, name.text, number, name.language, name.source)

    def add_name_row(self, ordinal: int, text: str, scope: int, language: str, source: str) -> None:
        text = text.strip()
        if text:
            self.pending_names.append((ordinal, text, scope, language, source))
        else:
            self.remarks["empty names left out"] += 1

    # --- the rest ---

    def add(self, record: Record) -> None:
        """Take one record; the caller flushes now and then."""
        if isinstance(record, Name):
            self.add_name(record)
        elif isinstance(record, Concept):
            self.add_concept(record)
        elif isinstance(record, Relation):
            self.pending_relations.append((record.head, record.relation, record.tail))
        elif isinstance(record, Xref):
            self.pending_xrefs.append((record.concept_id, record.target, record.kind))
        else:
            raise InvalidInput(
                f"a terminology is made of Concept, Name, Relation and Xref, not of "
                f"{type(record).__name__} ({record!r:.80})"
            )

    def flush_concepts(self) -> None:
        insert = self.connection.executemany
        try:
            insert("INSERT INTO concepts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", self.pending_concepts)
            insert("INSERT INTO types VALUES (?, ?)", self.pending_types)
        except UnicodeEncodeError:
            _name_the_culprit(self.pending_concepts)
            raise
        self.pending_concepts.clear()
        self.pending_types.clear()

    def flush(self) -> None:
        self.flush_concepts()
        self.n_given_names += len(self.pending_names)
        insert = self.connection.executemany
        try:
            # The first of equal names stays; a label that comes late raises its scope.
            insert(
                "INSERT INTO names (concept, text, scope, language, source) "
                "VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (concept, text, language) "
                "DO UPDATE SET scope = MIN(scope, excluded.scope)",
                self.pending_names,
            )
            insert("INSERT OR IGNORE INTO relations VALUES (?, ?, ?)", self.pending_relations)
            insert("INSERT OR IGNORE INTO xrefs VALUES (?, ?, ?)", self.pending_xrefs)
        except UnicodeEncodeError:
            _name_the_culprit([*self.pending_names, *self.pending_relations, *self.pending_xrefs])
            raise
        for pending in (self.pending_names, self.pending_relations, self.pending_xrefs):
            pending.clear()

    def finish(self) -> None:
        self.flush()
        run = self.connection.execute
        run("DELETE FROM names WHERE row = -1")
        # A concept may have come without a label: its label-scoped name, else its first, serves.
        run("CREATE TEMP TABLE bare AS SELECT ordinal FROM concepts WHERE label = ''")
        run(
            "UPDATE concepts SET label = COALESCE((SELECT text FROM names WHERE concept = ordinal "
            "ORDER BY scope, row LIMIT 1), '') WHERE ordinal IN bare"
        )
        run(
            "UPDATE names SET scope = 0 WHERE row IN (SELECT MIN(n.row) FROM bare b "
            "JOIN concepts c ON c.ordinal = b.ordinal "
            "JOIN names n ON n.concept = c.ordinal AND n.text = c.label GROUP BY c.ordinal)"
        )
        self.connection.executescript(_INDEXES)  # commits first
        counts = {
            f"n_{table}": run(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            for table in ("concepts", "names", "relations", "xrefs")
        }
        if not counts["n_names"]:
            raise InvalidInput(
                f"the terminology has {counts['n_concepts']:,} concepts and no names; nothing "
                "could be found by name: check the format and the columns"
            )
        doubles = self.n_given_names - counts["n_names"]
        if doubles:
            self.remarks["repeated names stored once"] = doubles
        meta = {
            **counts,
            "format": FORMAT,
            "digest": self.digest(),
            "remarks": dict(sorted(self.remarks.items())),
        }
        self.connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [(key, json.dumps(value)) for key, value in sorted(meta.items())],
        )

    def digest(self) -> str:
        whole = hashlib.sha256()
        for sql in _DIGESTED:
            cursor = self.connection.execute(sql)
            while batch := cursor.fetchmany(_BATCH):
                whole.update(json.dumps(batch, ensure_ascii=False).encode())
            whole.update(b"\x1d")
        return whole.hexdigest()


def _concept_row(concept: Concept) -> tuple[Any, ...]:
    return (
        concept.id,
        concept.label.strip(),
        concept.definition,
        _json_list(concept.types),
        concept.source,
        concept.version,
        int(concept.deprecated),
        _json_list(concept.replaced_by),
    )


@functools.lru_cache(maxsize=4096)
def _json_list(values: tuple[str, ...]) -> str:
    return json.dumps(values, ensure_ascii=False)


def _name_the_culprit(rows: Sequence[tuple[Any, ...]]) -> None:
    for row in rows:
        for value in row:
            if isinstance(value, str):
                _check_text(value, "record", row)


def _check_text(text: str, what: str, shown: object) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{what} {shown!a} holds a lone surrogate, which is no character; the file was "
            "decoded with the wrong encoding"
        ) from error


def build_terminology(
    records: Iterable[Record],
    path: str | Path,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Terminology:
    """Write records to a terminology file and open it.

    Parameters
    ----------
    records : iterable of Concept, Name, Relation or Xref
        In any order; names keep theirs. A concept's label becomes a name row of its own. Equal
        names of a concept (same text and language) are stored once. A concept met twice is merged.
    path : str or Path
        The file to write. It appears whole or not at all.
    overwrite : bool
        Whether an existing file may be replaced.
    progress : callable, optional
        Called now and then with the number of records read so far.

    Returns
    -------
    Terminology
        Opened for reading; its `remarks` say what was merged or left out.

    Raises
    ------
    InvalidInput
        If a record cannot be used, or there are no names at all.
    """
    path = Path(path)
    with write_file(path, overwrite=overwrite) as partial:
        writer = _Writer(partial)
        try:
            for count, record in enumerate(records, start=1):
                writer.add(record)
                if count % _BATCH == 0:
                    writer.flush()
                    if progress is not None:
                        progress(count)
            writer.finish()
        except sqlite3.OperationalError as error:
            raise InvalidInput(
                f"{path} could not be written ({error}); is the disk full? Nothing was changed"
            ) from error
        finally:
            writer.connection.close()
    return Terminology(path)


def build_temporary(records: Iterable[Record]) -> Terminology:
    """Write records to a temporary terminology that goes when the object goes."""
    folder = tempfile.mkdtemp(prefix="canonym-")
    try:
        terminology = build_terminology(records, Path(folder) / "terminology.db")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    terminology._finalizer = weakref.finalize(
        terminology, shutil.rmtree, folder, ignore_errors=True
    )
    return terminology
