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

_QUERIES = Path(__file__).with_suffix(".sql")

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
        connection.executescript(_QUERIES.read_text(encoding="utf-8"))
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
