"""API keys in one SQLite file: their hashes and scopes, never the keys themselves."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from canonym.errors import InvalidInput, ReadError

SCOPES = ("read", "review", "admin")
"""What a key may do; each scope includes those before it.

``read`` links and looks up, ``review`` also sees and decides reviews and changes synonyms, and
``admin`` sees and revokes keys too.
"""

_APPLICATION_ID = 0x63616B31  # "cak1": the last character is the format
_PREFIX = "canonym"
_TABLE = (
    "CREATE TABLE keys (id TEXT PRIMARY KEY, name TEXT NOT NULL, scope TEXT NOT NULL, "
    "hash BLOB NOT NULL, created INTEGER NOT NULL, revoked INTEGER)"
)
_NO_HASH = bytes(32)
_PATIENCE = 2.0  # seconds in which another process may write


class Key(NamedTuple):
    """A key without its secret; times are seconds since 1970."""

    id: str
    name: str
    scope: str
    created: int
    revoked: int | None = None

    def allows(self, scope: str) -> bool:
        """Whether the key may do what needs a scope."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class Keys:
    """The keys in a file; changes count at once in every process.

    A file that is missing or is something else is a `ReadError`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise ReadError(self.path, "no such file; `canonym serve keys add NAME` makes one")
        with self._connected():
            pass

    @classmethod
    def create(cls, path: str | Path) -> Keys:
        """Open a file of keys, or make an empty one that only its owner may read."""
        path = Path(path)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
            with contextlib.closing(sqlite3.connect(path)) as connection, connection:
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(_TABLE)
        return cls(path)

    def add(self, name: str, scope: str) -> str:
        """Make a key and return it; it cannot be read again."""
        if scope not in SCOPES:
            raise InvalidInput(f"there is no scope {scope!r}; there are {', '.join(SCOPES)}")
        if not name.strip() or not name.isprintable():
            raise InvalidInput(f"the name {name!r} says nothing; a name of its user is expected")
        id_, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        row = (id_, name.strip(), scope, _hash(secret), int(time.time()))
        with self._connected() as connection, connection:
            connection.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, NULL)", row)
        return f"{_PREFIX}_{id_}_{secret}"

    def list(self) -> list[Key]:
        """Return all keys, the revoked ones as well, in the order in which they came."""
        sql = "SELECT id, name, scope, created, revoked FROM keys ORDER BY rowid"
        with self._connected() as connection:
            return [Key(*row) for row in connection.execute(sql)]

    def revoke(self, id: str) -> None:
        """Make a key useless; an error where no such key is in use."""
        sql = "UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL"
        with self._connected() as connection, connection:
            if not connection.execute(sql, (int(time.time()), id)).rowcount:
                raise InvalidInput(
                    f"no key in use has the id {id!r}; `canonym serve keys list` shows the ids"
                )

    def find(self, text: str) -> Key | None:
        """Return the key in use that a client gave, if it is one; in the same time for all."""
        prefix, _, rest = text.partition("_")
        id_, _, secret = rest.partition("_")
        sql = "SELECT id, name, scope, created, revoked, hash FROM keys WHERE id = ?"
        with self._connected() as connection:
            row = connection.execute(sql, (id_,)).fetchone()
        same = hmac.compare_digest(_hash(secret), _NO_HASH if row is None else row[5])
        if row is None or not same or prefix != _PREFIX:
            return None
        key = Key(*row[:5])
        return key if key.revoked is None else None

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            uri = f"{self.path.absolute().as_uri()}?mode=rw"
            opened = sqlite3.connect(uri, uri=True, timeout=_PATIENCE)
            with contextlib.closing(opened) as connection:
                application_id = connection.execute("PRAGMA application_id").fetchone()[0]
                if application_id != _APPLICATION_ID:
                    raise ReadError(self.path, "is not a file of keys; name another with --keys")
                yield connection
        except sqlite3.Error as error:
            raise ReadError(self.path, f"cannot be used as a file of keys ({error})") from error


def _hash(secret: str) -> bytes:
    # The secret has 256 random bits: a slow hash would guard nothing more.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
