"""Outputs that survive being stopped: what is written down about a job, and when it may go on.

A job that writes a folder has a record for each part, see `canonym.bulk.target`. One that writes a
file has a `Journal`. While ``OUT`` is written it is called ``OUT.partial``. ``OUT.partial.json``
records, every few seconds, how many items are done, how many bytes they took, a hash of them, and
the options of the run. At the end ``OUT.partial`` becomes ``OUT`` and the record goes: ``OUT`` is
whole or absent. A run that resumes cuts ``OUT.partial`` to the recorded length, checks that options
and input are the same, and continues behind them.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import check_file, failures_name, open_sealed, put_file, sealed, write_file
from canonym.io.locks import lock

_LOG = logging.getLogger(__name__)
_FORMAT = 1
_INTERVAL = 2.0  # seconds between two records

AGAIN = "pass overwrite=True instead of resume=True to start over"
"""The advice where an earlier run cannot be resumed."""

INTERRUPTED = (
    "holds what an interrupted run has done: pass resume=True to go on, or overwrite=True to start "
    "over"
)
"""What is said of an output that would be lost."""


# --- what all jobs write down ---------------------------------------------------------------------


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON with its checksum, whole or not at all."""
    with write_file(path) as partial:
        text = json.dumps(sealed(content), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        # As an escape, which JSON reads, even half a character that came from a shell is kept.
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")


def read_record(path: Path) -> Any:
    """Read what `write_record` has written; damage is a `ReadError`."""
    with damage_told(path):
        return open_sealed(path.read_text(encoding="utf-8"))


@contextlib.contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Raise a `ReadError` where a record does not hold what is looked for in it."""
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        problem = error if isinstance(error, ValueError) else repr(error)
        raise ReadError(path, f"is damaged ({problem}): {AGAIN}") from error


def check_settings(place: Path, earlier: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with other settings than those that the output at `place` was begun with."""
    if changed := [key for key in {**earlier, **now} if earlier.get(key) != now.get(key)]:
        raise Mismatch(
            f"{place} was begun with another {', another '.join(changed)}: use the same, or {AGAIN}"
        )


def lock_output(stream: IO[bytes], path: Path, *, shown: Path, output: Path) -> os.stat_result:
    """Lock the open file at `path`; refuse an output that is being written, or just was.

    Messages call it `shown` while it is written. Return the state of the file.
    """
    lock(stream, shown)
    opened = os.fstat(stream.fileno())
    if not path.exists() or not os.path.samestat(opened, path.stat()):
        raise InvalidInput(f"another process has just written {output}")
    return opened


# --- one file -------------------------------------------------------------------------------------


@contextlib.contextmanager
def open_journal(
    target: Path,
    settings: Mapping[str, Any],
    *,
    overwrite: bool = False,
    resume: bool,
    encoding: str = "utf-8",
    tell: Callable[[str], None] = _LOG.info,
) -> Iterator[Journal]:
    """Open a journal; finish it at the end, or keep what is done if the run fails.

    `tell` gets remarks on what an earlier run has left. The error of a run that fails has a note on
    what is kept.
    """
    with failures_name(target, working_files(target)[0]):
        journal = Journal(target, settings, overwrite=overwrite, resume=resume, encoding=encoding)
    if journal.discarded:
        tell(f"What an earlier run left in {journal.partial} is discarded.")
    if journal.n_items:
        tell(f"Continuing after {journal.n_links:,} mentions.")
    try:
        with failures_name(target, journal.partial):
            yield journal
            journal.check_skipped()
            journal.finish()
    except BaseException as error:
        if n_done := journal.stop():
            error.add_note(
                f"What is done, {n_done:,} mentions, is kept in {journal.partial}; the same call "
                "with resume=True continues from there."
            )
        raise


def working_files(target: Path) -> tuple[Path, Path]:
    """Return what an output is called while it is written, and the record beside it."""
    partial = target.with_name(target.name + ".partial")
    return partial, partial.with_name(partial.name + ".json")


def is_finished(output: str | Path) -> bool:
    """Tell whether an output is written, and no other run of it was interrupted."""
    target = Path(output)
    _end_last_step(target)
    return target.is_file() and not working_files(target)[0].exists()


def _end_last_step(target: Path) -> None:
    """Remove what a run left that was killed when its output had got its name.

    The output may have both names then, and would be cut with the partial one.
    """
    partial, record = working_files(target)
    with contextlib.suppress(FileNotFoundError):
        if target.is_file() and partial.samefile(target):
            partial.unlink()
    if target.is_file() and not partial.exists():
        record.unlink(missing_ok=True)


class Journal:
    """An output file and the record of what is in it.

    `settings` holds everything the output depends on beside the input. With `resume` the earlier
    run is continued: `n_items` and `n_links` say how much it has done. Without it, what the run
    left is thrown away with `overwrite`, when `discarded` is true.

    Raises `Mismatch` if the earlier run had other settings, `ReadError` if what it left is damaged,
    and `InvalidInput` if the folder is missing, the file is being written, or something would be
    lost that neither `overwrite` nor `resume` allows.
    """

    def __init__(
        self,
        target: Path,
        settings: Mapping[str, Any],
        *,
        overwrite: bool = False,
        resume: bool,
        encoding: str = "utf-8",
    ) -> None:
        self.target = target
        self._overwrite = overwrite
        self._settings = dict(settings)
        self.partial, self._record = working_files(target)
        _end_last_step(target)
        check_file(target, overwrite=overwrite)
        for path in (self.partial, self._record):
            check_file(path, overwrite=True)
            if path.is_symlink():
                raise InvalidInput(f"{path} is a link, and is written meanwhile: remove it")
        self.n_items = self.n_links = 0
        self._expected = ""
        length = self._load() if resume else 0
        self.discarded = not resume and self.partial.exists() and self._record.exists()
        self._file = self.partial.open("r+b" if length else "ab")
        try:
            opened = lock_output(self._file, self.partial, shown=self.partial, output=target)
            used = opened.st_size or self._record.exists()
            if used and not resume and not overwrite:
                raise InvalidInput(f"{self.partial} {INTERRUPTED}")
        except InvalidInput:
            self._file.close()
            raise
        if not length:
            self._record.unlink(missing_ok=True)
        self._file.truncate(length)
        self._file.seek(length)
        self.stream = io.TextIOWrapper(
            self._file, encoding=encoding, newline="", write_through=False
        )
        self._hash = hashlib.sha256()
        self._skipped = 0
        self._done = (self.n_items, self.n_links)
        self._sound = True
        self._next = time.monotonic() + _INTERVAL

    def _load(self) -> int:
        """Read the record of the earlier run; return the length of its output."""
        if not self._record.exists():
            return 0
        record = read_record(self._record)
        with damage_told(self._record):
            settings, self._expected = dict(record["settings"]), str(record["input"])
            counts: list[int] = [record[key] for key in ("bytes", "items", "links")]
            if not all(type(count) is int and count >= 0 for count in counts):
                raise ValueError("a count is no whole number")
            length, self.n_items, self.n_links = counts
        check_settings(self.partial, settings, self._settings)
        size = self.partial.stat().st_size if self.partial.exists() else 0
        if size < length:
            raise ReadError(
                self.partial, f"has {size:,} bytes where {length:,} were recorded: {AGAIN}"
            )
        return length

    def skip(self, item: object) -> bool:
        """Take the next item of the input; tell whether the earlier run has done it.

        Raises `Mismatch` if the items that it has done were others.
        """
        if self._skipped >= self.n_items:
            return False
        self._skipped += 1
        self._add(item)
        if self._skipped == self.n_items and self._hash.hexdigest() != self._expected:
            raise Mismatch(
                f"the input has changed within the {self.n_items:,} rows or documents that are "
                f"already in {self.partial}: {AGAIN}"
            )
        return True

    def check_skipped(self) -> None:
        """Refuse, at the end of the input, one that is shorter than what is done."""
        if self._skipped < self.n_items:
            raise Mismatch(
                f"{self.partial} holds {self.n_items:,} rows or documents, and the input has only "
                f"{self._skipped:,}: {AGAIN}"
            )

    def begin(self) -> None:
        """Mark the output as unsound: an item is about to be written."""
        self._sound = False

    def done(self, item: object, n_links: int) -> None:
        """Count an item that is written, with that many links."""
        self._add(item)
        self._done = (self._done[0] + 1, self._done[1] + n_links)
        self._sound = True
        if time.monotonic() >= self._next:
            self.save()
            self._next = time.monotonic() + _INTERVAL

    def _add(self, item: object) -> None:
        self._hash.update(repr(item).encode("utf-8", "surrogatepass"))

    def save(self) -> None:
        """Record what is done, after the output itself is on disk."""
        self.stream.flush()
        os.fsync(self._file.fileno())
        record = {
            "bytes": self._file.tell(),
            "format": _FORMAT,
            "input": self._hash.hexdigest(),
            "items": self._done[0],
            "links": self._done[1],
            "settings": self._settings,
        }
        write_record(self._record, record)
        _LOG.debug("%s holds %d links, %d bytes", self.partial, record["links"], record["bytes"])

    def finish(self) -> None:
        """Turn the partial output into the finished one."""
        self.stream.flush()
        os.fsync(self._file.fileno())
        if os.name == "nt":  # no open file can be renamed there
            self.stream.close()
        # Renamed before the lock goes, so that no other process takes the file for its own.
        put_file(self.partial, self.target, overwrite=self._overwrite)
        self.stream.close()
        self._record.unlink(missing_ok=True)

    def stop(self) -> int:
        """Keep what is done after a failure; return the number of links that are kept."""
        with contextlib.suppress(OSError):
            if self._sound and self._done[1] > self.n_links:
                self.save()
        with contextlib.suppress(OSError):
            self.stream.close()
        if self._record.exists():
            return int(read_record(self._record)["links"])
        self.partial.unlink(missing_ok=True)
        return 0
