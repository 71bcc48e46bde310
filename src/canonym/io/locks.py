"""Locks that a process has on a file until it closes it or ends."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from canonym.errors import InvalidInput


def lock(stream: IO[bytes], path: Path) -> None:
    """Lock an open file, or refuse: another process is writing `path`."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has no such locks
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InvalidInput(f"another process is writing {path}: wait for it or stop it") from error
    except OSError:  # pragma: no cover - a file system without locks
        return
