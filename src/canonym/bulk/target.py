"""Output of bulk runs: a folder of Parquet files, and beside them what is done and how.

::

    TARGET/part-000000.parquet, …      the rows, in the order of the input
    TARGET/_canonym/job.json           settings, files and shards, written first
    TARGET/_canonym/part-000000.json   what a part holds, written when the part is there
    TARGET/_canonym/failed/…           the errors of parts that could not be made
    TARGET/_canonym/manifest.json      all parts, written last: the output is whole

Readers of Parquet folders pass over names that begin with ``_``.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from canonym.bulk.sources import InputFile, Layout, Shard
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import failures_name, file_digest
from canonym.io.journal import (
    AGAIN,
    INTERRUPTED,
    check_settings,
    damage_told,
    lock_output,
    read_record,
    write_record,
)

_FORMAT = 1


class Target:
    """The folder of an output; `open_target` opens it for one process alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records = folder / "_canonym"
        self.job = self.records / "job.json"
        self.manifest = self.records / "manifest.json"

    def part(self, shard: Shard) -> Path:
        """Return the path of the rows of a shard."""
        return self.folder / f"{shard.name}.parquet"

    def record(self, shard: Shard) -> Path:
        """Return the path of what is told about a shard."""
        return self.records / f"{shard.name}.json"

    def failure(self, shard: Shard) -> Path:
        """Return the path of the error of a shard."""
        return self.records / "failed" / f"{shard.name}.json"

    # --- the job ----------------------------------------------------------------------------------

    def begin(
        self,
        settings: Mapping[str, Any],
        files: list[InputFile],
        layout: Layout,
        shards: list[Shard],
    ) -> None:
        """Write down what is to be done."""
        places = {file: place for place, file in enumerate(files)}
        record = {
            "format": _FORMAT,
            "settings": dict(settings),
            "layout": layout,
            "files": [file._asdict() for file in files],
            "shards": [[places[shard.file], *shard[2:]] for shard in shards],
        }
        write_record(self.job, record)

    def resume(
        self, settings: Mapping[str, Any], files: list[InputFile]
    ) -> tuple[Layout, list[Shard]]:
        """Return the shards of an earlier run, if it did the same with the same files."""
        content = read_record(self.job)
        with damage_told(self.job):
            if content["format"] > _FORMAT:
                raise Mismatch(f"{self.folder} was begun by a newer canonym: upgrade it")
            kind, columns, delimiter, types = content["layout"]
            layout = Layout(kind, tuple(columns), delimiter, tuple(types))
            before = [InputFile(**file) for file in content["files"]]
            earlier = content["settings"]
        check_settings(self.folder, earlier, settings)
        _check_same(before, files, self.folder)
        now = {file.name: file for file in files}
        return layout, [
            Shard(number, now[before[place].name], *rest)
            for number, (place, *rest) in enumerate(content["shards"])
        ]

    # --- parts ------------------------------------------------------------------------------------

    def is_done(self, shard: Shard) -> bool:
        """Tell whether a shard is written, whole, and nobody has changed it since."""
        try:
            output, part = read_record(self.record(shard))["output"], self.part(shard)
            same = part.stat().st_size == output["bytes"]
            return bool(same and file_digest(part) == output["sha256"])
        except (OSError, ReadError, KeyError):
            return False

    def set_aside(self, shard: Shard, problem: str, attempts: int) -> None:
        """Write down why a shard could not be made."""
        path = self.failure(shard)
        path.parent.mkdir(exist_ok=True)
        rows = {"file": shard.file.name, "first row": shard.first_row, "rows": shard.rows}
        write_record(path, {"error": problem, "attempts": attempts, "input": rows})

    def finish(self, settings: Mapping[str, Any], shards: list[Shard]) -> None:
        """Write the manifest of all parts: from now on the output is whole."""
        parts = [read_record(self.record(shard)) for shard in shards]
        record = {
            "format": _FORMAT,
            "settings": dict(settings),
            "rows": sum(part["rows"] for part in parts),
            "parts": [{k: v for k, v in part.items() if k != "settings"} for part in parts],
        }
        write_record(self.manifest, record)

    def clear(self) -> None:
        """Remove what an earlier run has written, its manifest first."""
        self.manifest.unlink(missing_ok=True)
        for path in self.folder.glob("part-*.parquet"):
            path.unlink()
        for path in self.records.glob("*.json"):
            path.unlink()
        shutil.rmtree(self.records / "failed", ignore_errors=True)


@contextlib.contextmanager
def open_target(folder: Path, *, resume: bool, overwrite: bool) -> Iterator[Target]:
    """Open a folder to write in for one process alone, and refuse what must not be written over.

    A run that ends before it has begun leaves nothing.
    """
    target = Target(folder)
    _check_folder(target, resume=resume, overwrite=overwrite)
    with failures_name(folder, folder):
        target.records.mkdir(parents=True, exist_ok=True)
    path = target.records / "lock"
    with path.open("ab") as stream:
        lock_output(stream, path, shown=folder, output=folder)
        _check_folder(target, resume=resume, overwrite=overwrite)
        try:
            yield target
        finally:
            path.unlink(missing_ok=True)
            if not target.job.exists():
                with contextlib.suppress(OSError):
                    target.records.rmdir()
                    folder.rmdir()


def _check_folder(target: Target, *, resume: bool, overwrite: bool) -> None:
    folder = target.folder
    if not folder.parent.is_dir():
        raise InvalidInput(f"{folder}: the folder {folder.parent} does not exist; create it first")
    if os.path.lexists(folder) and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; the name of a folder is expected")
    if target.job.exists():
        if not resume and not overwrite:
            whole = "holds a finished output: pass overwrite=True to replace it"
            raise InvalidInput(f"{folder} {whole if target.manifest.exists() else INTERRUPTED}")
    elif folder.exists() and any(path != target.records for path in folder.iterdir()):
        raise InvalidInput(
            f"{folder} was not written by canonym and is left alone; choose another folder"
        )


def _check_same(before: list[InputFile], now: list[InputFile], folder: Path) -> None:
    """Refuse other files than those of the earlier run."""
    old = {file.name: file for file in before}
    new = {file.name: file for file in now}
    for name in sorted({*old, *new}):
        if name not in new:
            problem = "is gone"
        elif name not in old:
            problem = "is new"
        elif not (problem := new[name].change(old[name])):
            continue
        raise Mismatch(f"the input has changed since {folder} was begun: {name} {problem}: {AGAIN}")
