"""Opening a database of reviews: SQLite or PostgreSQL, brought up to date."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from canonym.errors import InvalidInput, ReadError
from canonym.io.files import data_folder

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x63616E72  # which PostgreSQL holds while one process changes the tables


def default_place() -> str:
    """Return the file in which reviews are kept where none is named."""
    return str(data_folder() / "reviews.db")


def open_database(place: str) -> Engine:
    """Open a file, or a URL that begins with ``postgresql://``; missing tables are made.

    Raises
    ------
    InvalidInput
        If a URL is none, or of another database.
    ReadError
        If the database cannot be reached, or is something else.
    """
    engine = _postgresql(place) if "://" in place else _sqlite(Path(place))
    try:
        with engine.execution_options(immediate=True).begin() as connection:
            _bring_up_to_date(connection)
    except (DBAPIError, sqlite3.Error, CommandError) as error:
        engine.dispose()
        reason = str(getattr(error, "orig", error)).strip().partition("\n")[0]
        hidden = engine.url.render_as_string(hide_password=True) if "://" in place else place
        raise ReadError(hidden, f"cannot be used as a database of reviews ({reason})") from error
    return engine


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
    return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)


def _sqlite(path: Path) -> Engine:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():  # what people decide is for its owner only
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise ReadError(path, f"cannot be made ({error.strerror})") from error
    # Connections are cheap, and one of another thread or process is never reused.
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool, connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin below, not in the driver
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # what is answered survives a power cut
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Who writes waits at the beginning: a lock that is raised later can fail at once.
        immediate = connection.get_execution_options().get("immediate")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _bring_up_to_date(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
