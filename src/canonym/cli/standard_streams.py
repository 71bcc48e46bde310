"""Standard streams that a caller closed, or that cannot be written: failures say so, none is lost.

A shell closes them with ``>&-``. The next file that is opened would take the free number, and what
a library prints would go into it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator

_STDERR = 2


class _Lossy(io.TextIOWrapper):
    """Standard error that drops what it cannot write: messages are lost then, and no exit code."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            self._give_up()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        # What is pending is written again when Python ends: into nothing.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            super().flush()


@contextlib.contextmanager
def usable_streams() -> Iterator[None]:
    """Put streams in place of closed ones: reading and writing them fails, as an `OSError`."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        _open_closed()
    before, lossy = sys.stderr, None
    if isinstance(before, io.TextIOWrapper) and _number(before) == _STDERR:
        lossy = _Lossy(before.buffer, before.encoding, before.errors, write_through=True)
        sys.stderr = lossy
    try:
        yield
    finally:
        if lossy is not None:
            lossy.flush()
            lossy.detach()
            sys.stderr = before


def _number(stream: io.TextIOWrapper) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return stream.fileno()
    return None


def _open_closed() -> None:
    # Opened the other way round, so that reading and writing fail.
    flags = {"stdin": os.O_WRONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for number, (name, flag) in enumerate(flags.items()):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, flag), number)
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
