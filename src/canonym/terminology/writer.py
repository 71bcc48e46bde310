"""The writing end of the database: records in, rows out, in bounded memory."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput
from canonym.terminology.database import APPLICATION_ID, FORMAT, INDEXES, SCHEMA
from canonym.terminology.digest import content_digest
from canonym.terminology.records import check_rows, check_text, concept_row
from canonym.terminology.seen import Seen
from canonym.types import SCOPES, Concept, Name, Record, Relation, Xref

__all__ = ["Writer"]

_LABEL = SCOPES.index("label")
_EXACT = SCOPES.index("exact")
_SCOPE_NUMBERS = {scope: number for number, scope in enumerate(SCOPES)}
_CACHED_CONCEPTS = 400_000
_CACHED_KIB = 128 << 10  # of the database
_VARIABLES = 900  # in one statement: much faster than one row each, and any SQLite takes as many


class Writer:
    """Takes records into a new database file.

    Ids are resolved through the database, with a cache for the concepts met last.

    Parameters
    ----------
    path : Path
        The file to make. It is not safe against a crash: the caller renames it when complete.
    """

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        # The file is temporary until it is complete and synced: no journal is needed meanwhile.
        self.connection.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
            f"PRAGMA cache_size=-{_CACHED_KIB}; PRAGMA application_id={APPLICATION_ID};" + SCHEMA
        )
        self.connection.execute("BEGIN")
        # SQLite numbers rows one above the largest: this one makes the first name row 0.
        self.connection.execute("INSERT INTO names VALUES (-1, -1, '', 0, '', '')")
        self._ordinals: dict[str, int] = {}
        self._seen = Seen()
        self._defined = bytearray()  # by ordinal: whether the concept itself has come
        self._n_given_names = 0
        self._remarks: Counter[str] = Counter()
        self._concepts: list[tuple[Any, ...]] = []
        self._types: list[tuple[str, int]] = []
        self._names: list[tuple[int, str, int, str, str]] = []
        self._relations: list[tuple[str, str, str]] = []
        self._xrefs: list[tuple[str, str, str]] = []

    # --- concepts -------------------------------------------------------------------------------

    def _ordinal_of(self, id_: str) -> int | None:
        """Look a concept up in the file, where the cache no longer has it."""
        self._flush_concepts()
        sql = "SELECT ordinal FROM concepts WHERE id = ?"
        row = self.connection.execute(sql, (id_,)).fetchone()
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
        self._concepts.append((ordinal, *concept_row(concept)))
        self._types.extend((type_, ordinal) for type_ in dict.fromkeys(concept.types))
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
                self._add_name(ordinal, concept.label, _LABEL, "en", "")
        else:
            self._merge_concept(ordinal, concept)

    def _merge_concept(self, ordinal: int, concept: Concept) -> None:
        """Fill gaps of a concept met before; a second label becomes an exact synonym."""
        self._flush_concepts()
        row = self.connection.execute(
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
        self.connection.execute(
            "UPDATE concepts SET id=?, label=?, definition=?, types=?, source=?, version=?, "
            "deprecated=?, replaced_by=? WHERE ordinal=?",
            (*concept_row(merged), ordinal),
        )
        self.connection.executemany(
            "INSERT OR IGNORE INTO types VALUES (?, ?)", [(t, ordinal) for t in merged.types]
        )
        if concept.label:
            scope = _LABEL if merged.label.strip() == concept.label.strip() else _EXACT
            self._add_name(ordinal, concept.label, scope, "en", "")

    # --- records --------------------------------------------------------------------------------

    def add(self, records: Iterable[Record]) -> None:
        """Take a batch of records, small enough for memory.

        Raises
        ------
        InvalidInput
            If a record cannot be used.
        """
        known, numbers, names = self._ordinals, _SCOPE_NUMBERS, self._names
        for record in records:
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
                    text = record.text.strip()
                    if text:
                        names.append((ordinal, text, scope, record.language, record.source))
                    else:
                        self._remarks["empty names left out"] += 1
                elif isinstance(record, Concept):
                    self._add_concept(record)
                elif isinstance(record, Relation):
                    self._relations.append((record.head, record.relation, record.tail))
                elif isinstance(record, Xref):
                    self._xrefs.append((record.concept_id, record.target, record.kind))
                else:
                    raise InvalidInput(
                        f"a terminology is made of Concept, Name, Relation and Xref, not of "
                        f"{type(record).__name__}"
                    )
            except (InvalidInput, AttributeError, TypeError, UnicodeEncodeError) as error:
                raise InvalidInput(f"{record!a:.200} cannot be used: {error}") from error
        self._flush()

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

    def _add_name(self, ordinal: int, text: str, scope: int, language: str, source: str) -> None:
        if text := text.strip():
            self._names.append((ordinal, text, scope, language, source))
        else:
            self._remarks["empty names left out"] += 1

    # --- rows -----------------------------------------------------------------------------------

    def _insert(self, what: str, sql: str, rows: list[Any]) -> None:
        """Insert rows by a statement with ``{}`` for their values, many rows per statement."""
        if not rows:
            return
        # SQLite would take bytes for a string, and give bytes back.
        kinds = {kind for cells in zip(*rows, strict=True) for kind in set(map(type, cells))}
        if not all(issubclass(kind, str | int) for kind in kinds):
            check_rows(what, rows)
        marks = f"({', '.join('?' * len(rows[0]))})"
        together = max(_VARIABLES // len(rows[0]), 1)
        whole = len(rows) - len(rows) % together
        several = sql.format(", ".join([marks] * together))
        try:
            for start in range(0, whole, together):
                values = itertools.chain.from_iterable(rows[start : start + together])
                self.connection.execute(several, tuple(values))
            self.connection.executemany(sql.format(marks), rows[whole:])
        except UnicodeEncodeError as error:
            check_rows(what, rows)
            raise InvalidInput(f"a {what} cannot be stored ({error})") from error
        rows.clear()

    def _flush_concepts(self) -> None:
        self._insert("concept", "INSERT INTO concepts VALUES {}", self._concepts)
        self._insert("type", "INSERT INTO types VALUES {}", self._types)

    def _flush(self) -> None:
        self._flush_concepts()
        self._n_given_names += len(self._names)
        # The first of equal names stays; a label that comes late raises its scope.
        self._insert(
            "name",
            "INSERT INTO names (concept, text, scope, language, source) VALUES {} "
            "ON CONFLICT (concept, text, language) "
            "DO UPDATE SET scope = MIN(scope, excluded.scope)",
            self._names,
        )
        once = "INSERT INTO {} VALUES {{}} ON CONFLICT DO NOTHING"
        self._insert("relation", once.format("relations"), self._relations)
        self._insert("cross-reference", once.format("xrefs"), self._xrefs)

    def finish(self) -> None:
        """Label what came without a label, make the indexes, write counts and digest.

        Raises
        ------
        InvalidInput
            If there are no names at all.
        """
        run = self.connection.execute
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
        self.connection.executescript(INDEXES)  # commits first
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
            "remarks": {kind: count for kind, count in sorted(self._remarks.items()) if count},
        }
        self.connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [(key, json.dumps(value)) for key, value in sorted(meta.items())],
        )
