"""A cluster of PostgreSQL in a temporary folder, where its programs are installed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest


class Cluster:
    """A server that can be stopped and started; it listens in its folder only."""

    def __init__(self, programs: Path, folder: str) -> None:
        self._programs = programs
        self.folder = folder
        self._as_user: list[str] = []
        if os.geteuid() == 0:  # its server refuses to run as root
            shutil.chown(folder, "postgres", "postgres")
            self._as_user = ["runuser", "-u", "postgres", "--"]
        self._run("initdb", "-U", "canonym", "-A", "trust", "--no-sync")

    def _run(self, program: str, *arguments: str) -> None:
        path = str(self._programs / program)
        command = [*self._as_user, path, "-D", f"{self.folder}/data", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=120)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        # No test takes the power away, so none needs to wait for the disk.
        options = f"-c listen_addresses='' -c fsync=off -k {self.folder}"
        self._run("pg_ctl", "-w", "-l", f"{self.folder}/log", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server."""
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def address(self, name: str) -> str:
        """Return the address of a database."""
        return f"postgresql://canonym@/{name}?host={self.folder}"

    def execute(self, statement: str) -> None:
        """Run a statement for the whole cluster."""
        import psycopg

        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def create(self) -> str:
        """Make an empty database, and return its address."""
        name = f"r{uuid.uuid4().hex}"
        self.execute(f'CREATE DATABASE "{name}"')
        return self.address(name)

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """Make an empty database for the block, and return its address.

        The files of thirty that stay, once they are on the disk, take half a minute to remove.
        """
        address = self.create()
        yield address
        name = address.partition("@/")[2].partition("?")[0]
        self.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """Start a cluster, which ends with the block; without its programs the test is skipped."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        pytest.skip("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(prefix="canonym-pg-") as folder:
        started = Cluster(found[-1], folder)
        started.start()
        try:
            yield started
        finally:
            started.stop()
