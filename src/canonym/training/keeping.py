"""What a run keeps on disk, or in memory where it has no folder: checkpoints and best weights."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from canonym import files
from canonym.encoders.devices import out_of_memory
from canonym.errors import InvalidInput
from canonym.training.checkpoints import (
    Checkpoint,
    list_checkpoints,
    read_arrays,
    write_checkpoint,
)

__all__ = ["Keeper"]

_BEST = "best weights"


class Keeper:
    """Writes and reads what a run keeps.

    Parameters
    ----------
    folder : Path, optional
        Where; without one best weights are kept in memory, and nothing else.
    writes : bool
        Whether this process is the one that writes.
    """

    def __init__(self, folder: Path | None, *, writes: bool) -> None:
        self.folder = folder
        self._writes = writes
        self._best: dict[str, np.ndarray[Any, Any]] | None = None

    def save(self, checkpoint: Checkpoint, *, step: int, best: int | None) -> None:
        """Write a checkpoint, and remove what no checkpoint needs any more.

        Parameters
        ----------
        checkpoint : Checkpoint
            Its content.
        step : int
            Steps taken.
        best : int, optional
            The epoch of the best weights.
        """
        if self.folder is None or not self._writes:
            return
        for partial in self.folder.glob(".*.partial-*"):
            files.remove_leftovers(self.folder / partial.name[1:].split(".partial-")[0])
        write_checkpoint(self.folder, checkpoint, step=step)
        # The older of the two checkpoints may know another best epoch.
        needed = {self._best_path(self.folder, epoch) for epoch in _best_epochs(self.folder, best)}
        for path in self.folder.glob("best-*"):
            if path not in needed:
                shutil.rmtree(path, ignore_errors=True)

    def save_best(self, arrays: dict[str, np.ndarray[Any, Any]], *, epoch: int) -> None:
        """Keep the weights of an epoch as the best so far."""
        if not self._writes:
            return
        if self.folder is None:
            self._best = arrays
            return
        from safetensors.numpy import save

        self.folder.mkdir(parents=True, exist_ok=True)
        with files.write_folder(self._best_path(self.folder, epoch), overwrite=True) as partial:
            (partial / "model.safetensors").write_bytes(save(arrays))
            files.write_manifest(partial, kind=_BEST, format_number=1, content={})

    def read_best(self, epoch: int) -> dict[str, np.ndarray[Any, Any]] | None:
        """Return the best weights; None in a process that does not write and has no folder.

        Raises
        ------
        ReadError
            If they are damaged.
        """
        if self.folder is None:
            return self._best
        path = self._best_path(self.folder, epoch)
        files.read_manifest(path, kind=_BEST, newest=1)
        return read_arrays(path / "model.safetensors")

    def lost(self, problem: str) -> InvalidInput:
        """Return the error for a run that cannot go on, with what is left of it."""
        return InvalidInput(
            f"{problem}, which is no number to go on with: lower the learning rate, set clip, or "
            f"compute in float32; {self._left()}"
        )

    @contextlib.contextmanager
    def memory_explained(self, *, accumulation: int) -> Iterator[None]:
        """Turn a lack of memory into a message that says what to try."""
        try:
            yield
        except (RuntimeError, MemoryError) as error:
            if not isinstance(error, MemoryError) and not out_of_memory(error):
                raise
            raise InvalidInput(
                "the batch does not fit the memory: halve the batch and set accumulation to "
                f"{2 * accumulation} for steps of the same size, or shorten max_length; "
                f"{self._left()}"
            ) from error

    def _left(self) -> str:
        listed = [] if self.folder is None else list_checkpoints(self.folder)
        return f"the checkpoint {listed[0]} stays" if listed else "there is no checkpoint yet"

    @staticmethod
    def _best_path(folder: Path, epoch: int) -> Path:
        return folder / f"best-{epoch:04d}"


def _best_epochs(folder: Path, best: int | None) -> set[int]:
    """Return the best epochs of all checkpoints in a folder."""
    found = set() if best is None else {best}
    for path in list_checkpoints(folder):
        with contextlib.suppress(InvalidInput, KeyError, TypeError):
            content = files.read_manifest(path, kind="training checkpoint", newest=1)
            if content["state"]["best"] is not None:
                found.add(int(content["state"]["best"]))
    return found
