"""Changes between two versions of a terminology."""

from __future__ import annotations

import csv
import json
import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from canonym.errors import InvalidInput, ReadError
from canonym.io.files import write_file
from canonym.terminology.sqlite_file import BATCH

if TYPE_CHECKING:
    from canonym.terminology.store import Terminology

KINDS: dict[str, str] = {
    "added": "concepts whose id is new",
    "retired": "concepts that are absent, or deprecated now",
    "restored": "concepts that were deprecated and are no longer",
    "merged": "concepts whose id is an alternative of another, or that were replaced by another",
    "renamed": "concepts with another label",
    "name added": "names that a kept concept gained",
    "name removed": "names that a kept concept lost",
    "name moved": "names that one concept lost and another gained",
    "parent added": "places that a kept concept gained in the hierarchy",
    "parent removed": "places that a kept concept lost in the hierarchy",
}
"""Kinds of changes and what they are, in the order of a report."""


class Change(NamedTuple):
    """One change of a concept.

    ``kind`` is one of `KINDS`; ``id`` and ``label`` are the concept as it is now, or as it was
    where it is gone; ``name`` is the name that changed. ``before`` and ``after`` are labels
    (renamed), ids (merged, name moved, parents), ``"absent"`` or ``"deprecated"`` (retired), or the
    concept that had the name (name removed).
    """

    kind: str
    id: str
    label: str
    name: str
    before: str
    after: str


class Difference:
    """Changes between two terminologies, made by `compare`; millions fit, in a temporary file.

    ``counts`` has the number of changes of every kind in `KINDS`; ``old`` and ``new`` have file
    name, digest and numbers of concepts and names.
    """

    def __init__(
        self, connection: sqlite3.Connection, old: dict[str, Any], new: dict[str, Any]
    ) -> None:
        self._connection = connection
        self._finalizer = weakref.finalize(self, connection.close)
        self.old, self.new = old, new
        n_changes = dict(connection.execute("SELECT kind, COUNT(*) FROM changes GROUP BY kind"))
        self.counts: dict[str, int] = {kind: n_changes.get(kind, 0) for kind in KINDS}

    def __repr__(self) -> str:
        summary = ", ".join(f"{count:,} {kind}" for kind, count in self.counts.items() if count)
        return f"<Difference: {summary or 'none'}>"

    def changes(self, kind: str | None = None, *, limit: int | None = None) -> Iterator[Change]:
        """Yield the changes of one kind, or all in the order of `KINDS`; at most `limit` a kind."""
        if kind is not None and kind not in KINDS:
            raise InvalidInput(f"kind={kind!r} is unknown; use one of {', '.join(KINDS)}")
        return self._changes(KINDS if kind is None else (kind,), -1 if limit is None else limit)

    def _changes(self, kinds: Iterable[str], limit: int) -> Iterator[Change]:
        for kind in kinds:
            cursor = self._connection.execute(
                "SELECT * FROM changes WHERE kind = ? ORDER BY rowid LIMIT ?", (kind, limit)
            )
            while batch := cursor.fetchmany(BATCH):
                yield from map(Change._make, batch)

    def to_dict(self, *, limit: int | None = None) -> dict[str, Any]:
        """Return dicts and lists, ready for JSON: all counts, at most `limit` changes a kind."""
        return {
            "old": self.old,
            "new": self.new,
            "counts": self.counts,
            "changes": [change._asdict() for change in self.changes(limit=limit)],
        }

    def write_tsv(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write all changes to a TSV file with a header, one per row."""
        with (
            write_file(path, overwrite=overwrite) as partial,
            partial.open("w", encoding="utf-8", newline="") as stream,
        ):
            rows = csv.writer(stream, delimiter="\t", lineterminator="\n")
            rows.writerow(Change._fields)
            rows.writerows(self.changes())


def compare(old: Terminology, new: Terminology) -> Difference:
    """Compare two versions of a terminology; memory does not grow with their size.

    A concept is the same when its id is the same, and a name when its text is. Names and parents
    are compared along merges: those of a merged concept are looked for in its first current
    successor. A name that moved is neither "name added" nor "name removed"; names of added concepts
    are not listed.

    >>> from canonym import Concept, Name, Terminology
    >>> old = Terminology.build([Concept("X:1", "flu"), Name("grippe", "X:1")])
    >>> new = Terminology.build([Concept("X:1", "influenza"), Name("grippe", "X:1")])
    >>> [(change.kind, change.before, change.after) for change in compare(old, new).changes()][0]
    ('renamed', 'flu', 'influenza')
    """
    # The empty name is a temporary database on disk, removed when it is closed.
    connection = sqlite3.connect("", uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.executescript("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF;")
        for name, terminology in (("old", old), ("new", new)):
            uri = terminology.path.absolute().as_uri() + "?mode=ro&immutable=1"
            connection.execute(f"ATTACH ? AS {name}", (uri,))
        connection.execute("CREATE TABLE successors (id TEXT PRIMARY KEY, target INTEGER NOT NULL)")
        connection.executemany("INSERT INTO successors VALUES (?, ?)", _successors(new))
        for script in _SCRIPTS:
            connection.executescript(script)
        for name in ("old", "new"):
            connection.execute(f"DETACH {name}")
        return Difference(connection, _describe(old), _describe(new))
    except sqlite3.OperationalError as error:
        connection.close()
        raise InvalidInput(
            f"{old.path} and {new.path} could not be compared ({error}); is the disk for temporary "
            "files full?"
        ) from error
    except sqlite3.DatabaseError as error:
        connection.close()
        raise ReadError(
            new.path,
            f"this terminology or {old.path} is damaged ({error}); import the source again",
        ) from error
    except BaseException:
        connection.close()
        raise


def _successors(terminology: Terminology) -> Iterator[tuple[str, int]]:
    """Deprecated concepts and the ordinal of their first successor that is current."""
    deprecated = "SELECT id, replaced_by FROM concepts WHERE deprecated AND replaced_by != '[]'"
    current = "SELECT ordinal FROM concepts WHERE id = ? AND NOT deprecated"
    for id_, replaced_by in terminology._database.rows(deprecated):
        for successor in json.loads(replaced_by):
            row = terminology._database.first(current, (terminology.resolve(successor),))
            if row is not None:
                yield id_, row[0]
                break


def _describe(terminology: Terminology) -> dict[str, Any]:
    return {
        "file": terminology.path.name,
        "digest": terminology.digest,
        "n_concepts": terminology.n_concepts,
        "n_names": terminology.n_names,
    }


# --- queries --------------------------------------------------------------------------------------

# They run in a database to which both files are attached, as ``old`` and ``new``. Its table
# ``successors`` (id, target) holds the concepts deprecated in the new file and the ordinal of
# their successor. The scripts fill the table ``changes``.
#
# `kept` maps concepts of the old file to the new one. Its states: 0 same id, 1 merged into the new
# concept, 2 same id although merged. Names and parents are compared along it, so that a merge is
# reported once, and not again for each of its names and children.
_KEPT = """
CREATE TABLE kept (old INTEGER, new INTEGER, state INTEGER NOT NULL, PRIMARY KEY (old, new))
    WITHOUT ROWID;
INSERT INTO kept SELECT o.ordinal, s.target, 1 FROM old.concepts o
    JOIN successors s ON s.id = o.id WHERE NOT o.deprecated;
INSERT INTO kept SELECT o.ordinal, n.ordinal,
    CASE WHEN o.ordinal IN (SELECT old FROM kept) THEN 2 ELSE 0 END
    FROM old.concepts o JOIN new.concepts n ON n.id = o.id;
INSERT INTO kept SELECT o.ordinal, MIN(t.ordinal), 1 FROM old.concepts o
    JOIN new.xrefs x ON x.target = o.id AND x.kind = 'alternative'
    JOIN new.concepts t ON t.id = x.concept_id
    WHERE o.ordinal NOT IN (SELECT old FROM kept) GROUP BY o.ordinal;
CREATE INDEX kept_by_new ON kept (new, old, state);
"""
_BOTH = "JOIN old.concepts o ON o.ordinal = k.old JOIN new.concepts n ON n.ordinal = k.new"
_CONCEPTS = f"""
CREATE TABLE changes (
    kind TEXT NOT NULL, id TEXT NOT NULL, label TEXT NOT NULL, name TEXT NOT NULL,
    before TEXT NOT NULL, after TEXT NOT NULL);
INSERT INTO changes SELECT 'added', n.id, n.label, '', '', '' FROM new.concepts n
    WHERE n.id NOT IN (SELECT id FROM old.concepts) ORDER BY n.ordinal;
INSERT INTO changes SELECT 'retired', o.id, o.label, '', '', 'absent' FROM old.concepts o
    WHERE o.ordinal NOT IN (SELECT old FROM kept) ORDER BY o.ordinal;
INSERT INTO changes SELECT 'retired', n.id, n.label, '', '', 'deprecated' FROM kept k {_BOTH}
    WHERE k.state = 0 AND n.deprecated AND NOT o.deprecated ORDER BY n.ordinal;
INSERT INTO changes SELECT 'restored', n.id, n.label, '', '', '' FROM kept k {_BOTH}
    WHERE k.state = 0 AND o.deprecated AND NOT n.deprecated ORDER BY n.ordinal;
INSERT INTO changes SELECT 'merged', o.id, o.label, '', o.id, n.id FROM kept k {_BOTH}
    WHERE k.state = 1 ORDER BY o.ordinal;
INSERT INTO changes SELECT 'renamed', n.id, n.label, '', o.label, n.label FROM kept k {_BOTH}
    WHERE k.state = 0 AND o.label != n.label ORDER BY n.ordinal;
"""
_NAMES = """
CREATE TABLE lost AS SELECT MIN(o.row) AS row, o.concept, o.text FROM old.names o
    WHERE NOT EXISTS (SELECT 1 FROM kept k JOIN new.names n ON n.concept = k.new
                      AND n.text = o.text WHERE k.old = o.concept)
    GROUP BY o.concept, o.text;
CREATE TABLE gained AS SELECT MIN(n.row) AS row, n.concept, n.text FROM new.names n
    WHERE NOT EXISTS (SELECT 1 FROM kept k JOIN old.names o ON o.concept = k.old
                      AND o.text = n.text WHERE k.new = n.concept)
    GROUP BY n.concept, n.text;
CREATE INDEX gained_by_text ON gained (text);
CREATE TABLE moved AS SELECT l.row AS old_row, l.concept AS old, g.row AS new_row, g.concept AS new,
    l.text FROM lost l CROSS JOIN gained g ON g.text = l.text;
INSERT INTO changes SELECT 'name added', n.id, n.label, g.text, '', '' FROM gained g
    JOIN new.concepts n ON n.ordinal = g.concept
    WHERE g.concept IN (SELECT new FROM kept WHERE state = 0)
    AND g.row NOT IN (SELECT new_row FROM moved) ORDER BY n.ordinal, g.row;
INSERT INTO changes SELECT 'name removed', n.id, n.label, l.text, o.id, '' FROM lost l
    JOIN old.concepts o ON o.ordinal = l.concept JOIN kept k ON k.old = l.concept
    JOIN new.concepts n ON n.ordinal = k.new
    WHERE k.state < 2 AND l.row NOT IN (SELECT old_row FROM moved) ORDER BY n.ordinal, l.row;
INSERT INTO changes SELECT 'name moved', n.id, n.label, m.text, o.id, n.id FROM moved m
    JOIN old.concepts o ON o.ordinal = m.old JOIN new.concepts n ON n.ordinal = m.new
    ORDER BY m.new_row, m.old_row;
"""


def _parent(file: str) -> str:
    """SQL for the id of a parent: of the concept that has it, even as an alternative id."""
    return (
        f"COALESCE((SELECT id FROM {file}.concepts WHERE id = r.tail), "
        f"(SELECT c.id FROM {file}.xrefs x JOIN {file}.concepts c ON c.id = x.concept_id "
        "WHERE x.target = r.tail AND x.kind = 'alternative' ORDER BY c.ordinal LIMIT 1), r.tail)"
    )


_PARENTS = f"""
CREATE TABLE was (child INTEGER, parent TEXT, now TEXT, PRIMARY KEY (child, now, parent))
    WITHOUT ROWID;
INSERT OR IGNORE INTO was SELECT k.new, p.id, COALESCE(n.id, p.id) FROM (
        SELECT o.ordinal AS child, {_parent("old")} AS id
        FROM old.relations r JOIN old.concepts o ON o.id = r.head WHERE r.relation = 'is_a') p
    JOIN kept k ON k.old = p.child AND k.state = 0
    LEFT JOIN old.concepts c ON c.id = p.id LEFT JOIN kept q ON q.old = c.ordinal
    LEFT JOIN new.concepts n ON n.ordinal = q.new
    WHERE COALESCE(q.new, -1) != k.new OR c.ordinal = p.child;
CREATE TABLE is_now (child INTEGER, parent TEXT, PRIMARY KEY (child, parent)) WITHOUT ROWID;
INSERT OR IGNORE INTO is_now SELECT n.ordinal, {_parent("new")}
    FROM new.relations r JOIN new.concepts n ON n.id = r.head WHERE r.relation = 'is_a'
    AND n.ordinal IN (SELECT new FROM kept WHERE state = 0);
INSERT INTO changes SELECT 'parent added', n.id, n.label, '', '', i.parent FROM is_now i
    JOIN new.concepts n ON n.ordinal = i.child
    WHERE NOT EXISTS (SELECT 1 FROM was w WHERE w.child = i.child AND w.now = i.parent)
    ORDER BY i.child, i.parent;
INSERT INTO changes SELECT 'parent removed', n.id, n.label, '', w.parent, '' FROM (
        SELECT w.child, w.parent, MAX(i.parent IS NOT NULL) AS still FROM was w
        LEFT JOIN is_now i ON i.child = w.child AND i.parent = w.now GROUP BY w.child, w.parent) w
    JOIN new.concepts n ON n.ordinal = w.child WHERE NOT w.still ORDER BY w.child, w.parent;
CREATE INDEX changes_by_kind ON changes (kind);
"""

_SCRIPTS = (_KEPT, _CONCEPTS, _NAMES, _PARENTS)
