"""The writing end of the database: records in, rows out, in bounded memory."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.terminology.database import APPLICATION_ID, FORMAT, INDEXES, SCHEMA
from canonym.terminology.digest import content_digest
from canonym.terminology.pending import Pending, Statements, UnwritableError, check_text
from canonym.terminology.records import concept_row
from canonym.terminology.seen import Seen
from canonym.types import SCOPES, Concept, Name, Record, Relation, Xref

__all__ = ["Writer"]

_LABEL = SCOPES.index("label")
_EXACT = SCOPES.index("exact")
_SCOPE_NUMBERS = {scope: number for number, scope in enumerate(SCOPES)}
_CACHED_CONCEPTS = 400_000
_CACHED_KIB = 128 << 10  # of the database
_CONCEPT = ("ordinal", *Concept.__slots__)


class Writer:
    """Takes records into a new database file.

    Ids are resolved through the database, with a cache for the concepts met last.

    Parameters
    ----------
    path : Path
        The file to make. It is not safe against a crash: the caller renames it when complete.
    target : Path
        What the caller will call it, for messages.
    """

    def __init__(self, path: Path, target: Path) -> None:
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
        self._statements = Statements(self.connection, target)
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
        return Pending(self._statements, what, columns, sql)

    # --- concepts -------------------------------------------------------------------------------

    def _ordinal_of(self, id_: str) -> int | None:
        """Look a concept up in the file, where the cache no longer has it."""
        self._flush_concepts()
        sql = "SELECT ordinal FROM concepts WHERE id = ?"
        row = self._statements.run(sql, (id_,)).fetchone()
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
                self._add_name(ordinal, concept.label, _LABEL, "en", "")
        else:
            self._merge_concept(ordinal, concept)

    def _merge_concept(self, ordinal: int, concept: Concept) -> None:
        """Fill gaps of a concept met before; a second label becomes an exact synonym."""
        self._flush_concepts()
        row = self._statements.run(
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
        self._statements.run(
            "UPDATE concepts SET id=?, label=?, definition=?, types=?, source=?, version=?, "
            "deprecated=?, replaced_by=? WHERE ordinal=?",
            (*concept_row(merged), ordinal),
        )
        for type_ in merged.types:
            self._statements.run("INSERT OR IGNORE INTO types VALUES (?, ?)", (type_, ordinal))
        if concept.label:
            scope = _LABEL if merged.label.strip() == concept.label.strip() else _EXACT
            self._add_name(ordinal, concept.label, scope, "en", "")

    # --- records --------------------------------------------------------------------------------

    def add(self, records: Iterable[Record]) -> int:
        """Take a batch of records, small enough for memory; return how many there were.

        Raises
        ------
        InvalidInput
            If a record cannot be used, or the file cannot be written.
        """
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
                    text = record.text.strip()
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
        self._flush()
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

    def _add_name(self, ordinal: int, text: str, scope: int, language: str, source: str) -> None:
        if text := text.strip():
            self._names.values.extend((ordinal, text, scope, language, source))
        else:
            self._remarks["empty names left out"] += 1

    # --- rows -----------------------------------------------------------------------------------

    def _flush_concepts(self) -> None:
        self._concepts.flush()
        self._types.flush()

    def _flush(self) -> None:
        self._flush_concepts()
        self._n_given_names += self._names.n_rows
        for pending in (self._names, self._relations, self._xrefs):
            pending.flush()

    def finish(self) -> None:
        """Label what came without a label, make the indexes, write counts and digest.

        Raises
        ------
        InvalidInput
            If there are no names at all.
        """
        run = self._statements.run
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
            "remarks": {kind: count for kind, count in sorted(self._remarks.items()) if count},
        }
        for key, value in sorted(meta.items()):
            run("INSERT INTO meta VALUES (?, ?)", (key, json.dumps(value)))
