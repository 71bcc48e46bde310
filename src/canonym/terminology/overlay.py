"""Synonyms and forbidden mention–concept pairs, added to a finished index, in one SQLite file.

Any process may write and any number may read; all see a change at their next batch. Every change
raises a number in the file (SQLite's ``user_version``), so that a reader finds out by one page. A
digest of the content is changed with it, and compared when the file is opened.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import check_regular, read_manifest
from canonym.io.forks import Lock
from canonym.terminology import Terminology
from canonym.terminology.language_tags import check_language
from canonym.terminology.sqlite_file import on_one_line
from canonym.text import STRONG, normalise
from canonym.types import Name, Record

_log = logging.getLogger(__name__)

ADDED = "added"
"""`Name.source` of synonyms that were added to an index."""

OVERLAY = "overlay.db"
"""Name of the file in the folder of an index."""

MARK = ".added"
"""Behind the name of that file: the name of an empty file that says that something was added."""

_APPLICATION_ID = 0x63616F32  # "cao2": the last character is the format
_SCHEMA = (
    f"PRAGMA application_id = {_APPLICATION_ID}",
    "CREATE TABLE digest (value TEXT NOT NULL)",
    "CREATE TABLE identity (value TEXT NOT NULL)",
    "CREATE TABLE synonyms (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, "
    "concept TEXT NOT NULL, language TEXT NOT NULL, UNIQUE (concept, name))",
    "CREATE TABLE forbidden (mention TEXT NOT NULL, concept TEXT NOT NULL, "
    "PRIMARY KEY (mention, concept)) WITHOUT ROWID",
)
_NOTES = (
    "CREATE TABLE IF NOT EXISTS notes (name TEXT NOT NULL, concept TEXT NOT NULL, "
    "note TEXT NOT NULL, PRIMARY KEY (name, concept)) WITHOUT ROWID"
)  # beside the rest: no link depends on it
_PATIENCE = 30.0  # seconds that a writer waits for another
_MODULUS = 1 << 256


class OverlayContent(NamedTuple):
    """Added names in their order, and pairs of a mention and the id of a forbidden concept."""

    synonyms: tuple[Name, ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()


_NOTHING = OverlayContent()


class Overlay:
    """The file with the synonyms and forbidden pairs beside an index.

    Safe to use from several threads and processes. The file appears with the first change, and a
    mark beside it that says so, for the case that the file gets lost.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mark = path.with_name(f"{path.name}{MARK}")
        self._lock = Lock()
        self._known: tuple[tuple[int, int] | None, OverlayContent] = (None, _NOTHING)
        # Numbers are never used again within a file, and what has one never changes.
        self._names: dict[int, Name] = {}
        self._identity = ""

    # --- reading --------------------------------------------------------------------------------

    def read(self) -> OverlayContent:
        """Return the present content: the same object for as long as nothing changes."""
        try:
            place = self.path.stat().st_ino
        except FileNotFoundError:
            self._check_there()
            with self._lock:
                self._known = (None, _NOTHING)
            return _NOTHING
        with self._connected("rw") as connection:
            connection.execute("BEGIN")
            if not self._is_made(connection):
                self._check_there()
                return _NOTHING
            version = (place, _number(connection, "user_version"))
            with self._lock:
                known, content = self._known
                if known != version:
                    content = self._renewed(connection)
                    self._known = (version, content)
                return content

    def _renewed(self, connection: sqlite3.Connection) -> OverlayContent:
        """Read what is new since the last time; a file that canonym never wrote is refused."""
        try:
            identity = connection.execute("SELECT value FROM identity").fetchone()[0]
            names = self._names if identity == self._identity else {}
            read, content = _content(connection, names)
        except (TypeError, KeyError, ValueError) as error:
            raise self._damage(repr(error)) from error
        # What was read before does not change.
        if not names and self._stored(connection) != _digest(content):
            raise self._damage("its content is not what its digest says")
        self._names, self._identity = read, identity
        return content

    def check(self) -> None:
        """Read the whole file, and refuse one that is missing or damaged."""
        Overlay(self.path).read()  # anew, so that the digest is compared
        if not self._has_tables():
            return
        with self._connected("rw") as connection:
            result = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if result != "ok":
            raise self._damage(result)

    def _stored(self, connection: sqlite3.Connection) -> int:
        try:
            return int(connection.execute("SELECT value FROM digest").fetchone()[0], 16)
        except (TypeError, ValueError) as error:
            raise self._damage("its digest cannot be read") from error

    def _damage(self, problem: object) -> ReadError:
        return ReadError(
            self.path,
            f"is damaged ({problem}); restore it, or remove it and {self._mark} to go on without "
            "what was added",
        )

    def _check_there(self) -> None:
        """Refuse to go on without a file that was there: the names in it would be lost unseen."""
        # The mark appears after the tables, so that looking in this order raises no false alarm.
        if self._mark.exists() and not self._has_tables():
            raise ReadError(
                self.path,
                "is missing or empty, and synonyms or forbidden pairs were added to this index: "
                f"put the file back, or remove {self._mark} to go on without them",
            )

    def _has_tables(self) -> bool:
        if not self.path.exists():
            return False
        with self._connected("rw") as connection:
            return self._is_made(connection)

    def _is_made(self, connection: sqlite3.Connection) -> bool:
        """Whether the tables are there; a file of something else is an error."""
        application_id = _number(connection, "application_id")
        if application_id == _APPLICATION_ID:
            return True
        if application_id >> 8 == _APPLICATION_ID >> 8:
            raise Mismatch(
                f"{self.path} was written by another version of canonym: use that one or a newer, "
                f"or remove it and {self._mark} to go on without what was added"
            )
        if application_id or _number(connection, "schema_version"):
            raise ReadError(self.path, "is not a file of added synonyms; move it elsewhere")
        return False

    @contextlib.contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        """Open the file for as long as the block lasts, and explain what goes wrong."""
        check_regular(self.path)
        try:
            uri = f"{self.path.absolute().as_uri()}?mode={mode}"
            connection = sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)
            with contextlib.closing(connection):
                yield connection
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise InvalidInput(
                    f"{self.path} has been written to by another process for {_PATIENCE:.0f} "
                    "seconds; try again when it is done"
                ) from error
            # A table that is not there, or text that is none.
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR:
                raise self._damage(error) from error
            raise OSError(None, str(error), str(self.path)) from error
        except sqlite3.DatabaseError as error:
            raise self._damage(error) from error

    # --- writing --------------------------------------------------------------------------------

    def write(self, content: OverlayContent) -> OverlayContent:
        """Add synonyms and forbidden pairs, all of them or none; return those that were new."""

        def change(connection: sqlite3.Connection) -> OverlayContent:
            synonyms = [
                name
                for name in content.synonyms
                if connection.execute(
                    "INSERT INTO synonyms (name, concept, language) VALUES (?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    (name.text, name.concept_id, name.language),
                ).rowcount
            ]
            forbidden = [
                pair
                for pair in content.forbidden
                if not _same_pairs(connection, *pair)
                and connection.execute("INSERT INTO forbidden VALUES (?, ?)", pair).rowcount
            ]
            return OverlayContent(tuple(synonyms), tuple(forbidden))

        return self._write(change, +1)

    def remove(self, content: OverlayContent) -> OverlayContent:
        """Remove synonyms, and forbidden pairs by the normal form of the mention.

        All of them or none; returns those that were there.
        """

        def change(connection: sqlite3.Connection) -> OverlayContent:
            keys = dict.fromkeys((name.text, name.concept_id) for name in content.synonyms)
            synonyms = [
                Name(*name, language=tag, source=ADDED)
                for name in keys
                for (tag,) in connection.execute(
                    "SELECT language FROM synonyms WHERE name = ? AND concept = ?", name
                )
            ]
            connection.executemany("DELETE FROM synonyms WHERE name = ? AND concept = ?", keys)
            pairs = (
                pair for written in content.forbidden for pair in _same_pairs(connection, *written)
            )
            forbidden = list(dict.fromkeys(pairs))
            connection.executemany(
                "DELETE FROM forbidden WHERE mention = ? AND concept = ?", forbidden
            )
            if _has_notes(connection):
                gone = (*keys, *forbidden)
                connection.executemany("DELETE FROM notes WHERE name = ? AND concept = ?", gone)
            return OverlayContent(tuple(synonyms), tuple(forbidden))

        return self._write(change, -1)

    def _write(
        self, change: Callable[[sqlite3.Connection], OverlayContent], sign: int
    ) -> OverlayContent:
        """Make a change that adds rows or, with the other sign, removes them; return these."""
        self._check_there()
        with self._connected("rwc") as connection:
            connection.execute("BEGIN IMMEDIATE")
            if not self._is_made(connection):
                self._make(connection)
                connection.execute("COMMIT")  # before the mark
                connection.execute("BEGIN IMMEDIATE")
            changed = change(connection)
            if changed == _NOTHING:
                connection.execute("ROLLBACK")
            else:
                # From the old digest, so that damage of any time stays visible.
                _store(connection, self._stored(connection) + sign * _digest(changed))
                version = _number(connection, "user_version")
                connection.execute(f"PRAGMA user_version = {(version + 1) % (1 << 31)}")
                # First, for a process killed in between leaves a file without content.
                self._mark.touch()
                connection.execute("COMMIT")
            return changed

    def _make(self, connection: sqlite3.Connection) -> None:
        for statement in _SCHEMA:
            connection.execute(statement)
        # A new file in the place of another differs by its name, and by its first number.
        connection.execute("INSERT INTO identity VALUES (?)", (secrets.token_hex(16),))
        connection.execute(f"PRAGMA user_version = {secrets.randbelow(1 << 30)}")
        _store(connection, _digest(_NOTHING))

    # --- notes ----------------------------------------------------------------------------------

    def note(self, notes: Mapping[tuple[str, str], str]) -> None:
        """Keep notes, such as who decided, about what is added and forbidden now."""
        there = _pairs(self.read())
        rows = [(*pair, note) for pair, note in notes.items() if pair in there]
        if not rows:
            return
        with self._connected("rw") as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_NOTES)
            connection.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")

    def notes(self) -> dict[tuple[str, str], str]:
        """Return the notes about what is added and forbidden now."""
        there = _pairs(self.read())
        if not there:
            return {}
        with self._connected("rw") as connection:
            if not _has_notes(connection):
                return {}
            rows = connection.execute("SELECT name, concept, note FROM notes")
            return {(name, id_): note for name, id_, note in rows if (name, id_) in there}

    def copy(self, target: Path) -> None:
        """Write a copy of the file, as it is at one moment, where there is anything to copy."""
        if self.read() == _NOTHING:
            return
        with (
            self._connected("rw") as connection,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            connection.backup(copy)
        Overlay(target)._mark.touch()


def _has_notes(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'notes'")
    return tables.fetchone() is not None


def _pairs(content: OverlayContent) -> set[tuple[str, str]]:
    return {(name.text, name.concept_id) for name in content.synonyms} | {*content.forbidden}


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _digest(content: OverlayContent) -> int:
    """Return the sum of the SHA-256 of all rows: it is changed row by row, in any order."""
    rows = [(name.text, name.concept_id, name.language) for name in content.synonyms]
    written = (json.dumps(row, default=repr).encode() for row in (*rows, *content.forbidden))
    return sum(int.from_bytes(hashlib.sha256(row).digest(), "big") for row in written) % _MODULUS


def _store(connection: sqlite3.Connection, digest: int) -> None:
    connection.execute("DELETE FROM digest")
    connection.execute("INSERT INTO digest VALUES (?)", (f"{digest % _MODULUS:064x}",))


def _content(
    connection: sqlite3.Connection, known: Mapping[int, Name]
) -> tuple[dict[int, Name], OverlayContent]:
    """Read everything, the names by their numbers as well; those that are known are not read."""
    numbers = [n for (n,) in connection.execute("SELECT number FROM synonyms ORDER BY number")]
    rows = connection.execute(
        "SELECT number, name, concept, language FROM synonyms WHERE number > ?",
        (max(known, default=0),),
    )
    new = {
        n: Name(_text(text), _text(id_), language=_text(tag), source=ADDED)
        for n, text, id_, tag in rows
    }
    names = {n: known.get(n) or new[n] for n in numbers}
    pairs = connection.execute("SELECT mention, concept FROM forbidden ORDER BY 1, 2")
    return names, OverlayContent(
        tuple(names.values()), tuple((_text(m), _text(id_)) for m, id_ in pairs)
    )


def _text(cell: object) -> str:
    if not isinstance(cell, str):
        raise TypeError(f"{cell!r:.40} where text is expected")
    return cell


def _same_pairs(
    connection: sqlite3.Connection, mention: str, concept: str
) -> Iterable[tuple[str, str]]:
    """Return the forbidden pairs whose mention has the same normal form."""
    form = normalise(mention, STRONG)
    mentions = connection.execute("SELECT mention FROM forbidden WHERE concept = ?", (concept,))
    return [
        (other, concept) for (other,) in mentions.fetchall() if normalise(other, STRONG) == form
    ]


class MergedTerminology(NamedTuple):
    """A terminology with the names of an overlay, and the rest of the overlay.

    `rest` are all forbidden pairs, and the synonyms of concepts that the terminology does not have.
    """

    terminology: Terminology
    rest: OverlayContent = OverlayContent()

    def finish(self, folder: Path) -> None:
        """Write the rest beside a new index."""
        if self.rest != OverlayContent():
            Overlay(folder / OVERLAY).write(self.rest)


def merge_into(terminology: Terminology, index: str | Path, *, newest: int) -> MergedTerminology:
    """Make the names that were added to an index part of a terminology.

    The index is of that terminology or of another release of it. Names that became part of it
    before are taken as well. The result is a new, temporary terminology, unless nothing is added.
    Raises `ReadError` if the index is missing or damaged.
    """
    read_manifest(index, kind="linker", newest=newest)
    content = Overlay(Path(index) / OVERLAY).read()
    with Terminology(Path(index) / "terminology.db") as old:
        added = [*added_names(old), *content.synonyms]
    _log.info("take over %s synonyms of %s", len(added), index)
    known: list[Name] = []
    left: list[Name] = []
    for name in added:
        id_ = terminology.resolve(name.concept_id)
        if id_ is None:
            left.append(name)
        elif all(own.text != name.text for own in terminology.names(id_)):
            known.append(replace(name, concept_id=id_))
    if known:
        terminology = Terminology.build(_records(terminology, known))
    return MergedTerminology(terminology, OverlayContent(tuple(left), content.forbidden))


def added_names(terminology: Terminology) -> list[Name]:
    """Return the names that were added to an index, and became part of its terminology."""
    try:
        rows = terminology.rows_where(sources=[ADDED])
    except InvalidInput:
        return []
    return [name for name in terminology.names_at(np.flatnonzero(rows)) if name.source == ADDED]


def _records(terminology: Terminology, added: Iterable[Name]) -> Iterator[Record]:
    """Yield a terminology, its rows in order, and further names."""
    for concept in terminology.iter_concepts():
        yield replace(concept, label="")
    yield from terminology.iter_names()
    yield from added
    yield from terminology.iter_relations()
    yield from terminology.iter_xrefs()


def check_overlay(folder: str | Path, folded: str | Path | None) -> None:
    """Refuse to replace an index whose added names and pairs would be lost."""
    content = Overlay(Path(folder) / OVERLAY).read()
    carried_over = folded is not None and Path(folded).resolve() == Path(folder).resolve()
    if content != OverlayContent() and not carried_over:
        raise InvalidInput(
            f"{folder} holds {len(content.synonyms):,} added synonyms and "
            f"{len(content.forbidden):,} forbidden pairs, which would be lost: take them along by "
            f"fold={str(folder)!r} (--fold {folder}), or remove {Path(folder) / OVERLAY} and "
            f"{OVERLAY}{MARK}"
        )


def checked_name(
    terminology: Terminology, text: str, concept_id: str, language: str = "en"
) -> Name:
    """Return a name that can be added, with the concept's own id.

    Raises `InvalidInput` if there is no such concept, the text has no letter or digit, or the
    language is no tag.
    """
    for what, value in (("name", text), ("id", concept_id), ("language", language)):
        if not isinstance(value, str):
            raise InvalidInput(f"the {what} is {value!r:.80}; a string is expected")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text + language):
        raise InvalidInput(f"the name {text!r:.80} holds a character that is no text")
    if not normalise(text, STRONG):
        raise InvalidInput(f"the name {text!r:.80} has no letter and no digit to look up")
    check_language(language)
    id_ = terminology.concept(concept_id).id
    return Name(on_one_line(text), id_, language=language, source=ADDED)


def checked_synonym(terminology: Terminology, name: object) -> Name:
    """Return a `Name` that can be added, as `checked_name` does; refuse anything else."""
    if not isinstance(name, Name):
        raise InvalidInput(
            f"a synonym is a Name, not {type(name).__name__} ({name!r:.80}): "
            "Name('heart attack', 'X:1')"
        )
    return checked_name(terminology, name.text, name.concept_id, name.language)


def checked_pair(terminology: Terminology, pair: object) -> Name:
    """Return the mention and the concept of a forbidden pair as a `Name`."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidInput(
            f"a forbidden pair is a mention and the id of a concept, not {pair!r:.80}"
        )
    return checked_name(terminology, *pair)
