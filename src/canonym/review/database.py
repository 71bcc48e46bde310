"""Opening a database of reviews: SQLite or PostgreSQL, with the tables of this release."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import NullPool

from canonym.errors import InvalidInput, ReadError
from canonym.io.files import check_regular, data_folder
from canonym.review.models import Base, Revision

NEWEST = "0005"
"""The revision of the tables that this release has; those before it were of development alone."""

_TIMEOUTS = {"connect_timeout": 5, "tcp_user_timeout": 10_000}  # seconds, milliseconds
_LOCK = 0x63616E72  # which PostgreSQL holds while one process changes the tables


def default_place() -> str:
    """Return the file in which reviews are kept where none is named."""
    return str(data_folder() / "reviews.db")


class Unreachable(ReadError):
    """A database of reviews that cannot be used now: it is down, locked, full, or gone."""


def open_database(place: str, *, create: bool = True) -> Engine:
    """Open a file, or a URL that begins with ``postgresql://``; missing tables are made.

    A file that cannot be written to is only read. Without `create` the file has to be there. A URL
    that is none, or of another database, is an `InvalidInput`; a database that cannot be reached,
    or is something else, is `Unreachable`.
    """
    engine = _postgresql(place) if "://" in place else _sqlite(Path(place), create=create)
    try:
        with reachable(engine):
            if "://" not in place and not _is_writable(Path(place)):
                check_database(engine)
                return engine
            with engine.execution_options(immediate=True).begin() as connection:
                _make_tables(connection)
    except Unreachable:
        engine.dispose()
        raise
    return engine


class _OtherTables(Exception):
    """The tables of a database are not those of this release."""

    def __init__(self, found: str | None) -> None:
        super().__init__(
            f"it has the tables {found}, and {NEWEST} are expected: it was made by another version "
            "of canonym; open it with that one"
        )


@contextlib.contextmanager
def reachable(engine: Engine) -> Iterator[None]:
    """Say of a database that fails that it cannot be reached."""
    try:
        yield
    except (IntegrityError, DataError):  # what was to be written is wrong
        raise
    except (DBAPIError, PoolTimeout, sqlite3.Error, _OtherTables) as error:
        reason = str(getattr(error, "orig", error)).strip().partition("\n")[0]
        place = engine.url.database if engine.dialect.name == "sqlite" else None
        raise Unreachable(
            place or engine.url.render_as_string(hide_password=True),
            f"cannot be used as a database of reviews ({reason})",
        ) from error


def check_database(engine: Engine) -> None:
    """Look whether a database is there, with the tables of this release."""
    with reachable(engine), engine.connect() as connection:
        revision = _revision(connection)
        if revision != NEWEST:
            raise _OtherTables(revision)


def _postgresql(place: str) -> Engine:
    try:
        url = make_url(place)
    except ArgumentError as error:
        raise InvalidInput("the database of reviews is no URL that can be read") from error
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise InvalidInput(
            f"the database of reviews begins with {url.drivername}://; a file, or an address that "
            "begins with postgresql:// is expected"
        )
    timeouts = {name: value for name, value in _TIMEOUTS.items() if name not in url.query}
    url = url.set(drivername="postgresql+psycopg")
    return create_engine(url, pool_pre_ping=True, connect_args=timeouts)


def _sqlite(path: Path, *, create: bool) -> Engine:
    check_regular(path)
    try:
        if create and not path.exists():  # what people decide is for its owner only
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise ReadError(path, f"cannot be made ({error.strerror})") from error

    def connect() -> sqlite3.Connection:
        # A file that was removed is not made again: it would be an empty one.
        mode = "rw" if _is_writable(path) else "ro"
        if mode == "ro" and not Path(f"{path}-wal").exists():  # nobody writes
            mode += "&immutable=1"
        address = f"{path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(address, uri=True, timeout=30, check_same_thread=False)

    # Connections are cheap, and one of another thread or process is never reused.
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool, creator=connect)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin below, not in the driver
        if _is_writable(path):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # what is answered survives a power cut
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Who writes waits at the beginning: a lock that is raised later can fail at once.
        immediate = connection.get_execution_options().get("immediate")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _is_writable(path: Path) -> bool:
    """Tell whether a file and its folder can be written to; where there is none, others say so."""
    effective = os.access in os.supports_effective_ids
    here = (path, path.parent) if path.exists() else ()
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in here)


def _revision(connection: Connection) -> str | None:
    """Return the revision of the tables of a database, if it has any."""
    if not inspect(connection).has_table(Revision.__tablename__):
        return None
    return connection.scalar(select(Revision.version_num))


def _make_tables(connection: Connection) -> None:
    """Make the tables where there are none yet; those of another release are refused."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    revision = _revision(connection)
    if revision is None:
        Base.metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(Revision).values(version_num=NEWEST))
    elif revision != NEWEST:
        raise _OtherTables(revision)
