"""Reports of a run in progress: a log file, TensorBoard, and callbacks."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from canonym.errors import InvalidInput, require
from canonym.io.files import write_file


class FitProgress(NamedTuple):
    """The progress of a run."""

    step: int  # steps taken
    total: int  # steps planned; training may end earlier
    epoch: int
    loss: float  # of the last step
    learning_rate: float
    names_per_second: float  # forward and backward, since this process began
    seconds_left: float  # at that rate


class Journal:
    """Reports each step and each epoch; `fit` explains the arguments.

    `start` is the number of steps of a resumed run; later lines are cut off the log.
    """

    def __init__(
        self,
        *,
        log: str | Path | None = None,
        tensorboard: str | Path | None = None,
        progress: Callable[[FitProgress], None] | None = None,
        each_epoch: Callable[[Mapping[str, Any]], None] | None = None,
        start: int = 0,
    ) -> None:
        self._progress, self._each_epoch = progress, each_epoch
        self._start = start
        self._began = time.perf_counter()
        self._names = 0
        self._open = contextlib.ExitStack()
        self._board: Any = None
        self._log: Any = None
        if tensorboard is not None:
            require("tensorboard", "a log for TensorBoard")
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(tensorboard), purge_step=start + 1)
            self._open.callback(self._board.close)
        if log is not None:
            path = Path(log)
            try:
                _cut(path, start)
                self._log = self._open.enter_context(path.open("a", encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                self._open.close()
                raise InvalidInput(f"the log {path} cannot be written ({error})") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add_step(
        self, *, step: int, total: int, epoch: int, loss: float, learning_rate: float, names: int
    ) -> None:
        """Report a step, which `step` includes."""
        self._names += names
        seconds = time.perf_counter() - self._began
        entry = {"step": step, "epoch": epoch, "loss": loss, "learning_rate": learning_rate}
        self._line({**entry, "names": names, "seconds": round(seconds, 3)})
        if self._board is not None:
            self._board.add_scalar("loss", loss, step)
            self._board.add_scalar("learning_rate", learning_rate, step)
        if self._progress is not None:
            rate = self._names / max(seconds, 1e-9)
            left = (total - step) * seconds / (step - self._start)
            self._progress(FitProgress(step, total, epoch, loss, learning_rate, rate, left))

    def add_epoch(self, entry: Mapping[str, Any]) -> None:
        """Report the mean loss and the dev score of an epoch."""
        self._line(entry)
        if self._each_epoch is not None:
            self._each_epoch(entry)
        if self._board is not None:
            for name in ("mean_loss", "dev"):
                if entry.get(name) is not None:
                    self._board.add_scalar(name, entry[name], entry["step"])

    def add_measures(self, entry: Mapping[str, Any]) -> None:
        """Report the recall of candidates before an epoch, by the part of the corpus."""
        self._line(entry)
        if self._board is not None:
            for part, value in entry["recall"].items():
                self._board.add_scalar(f"recall/{part}", value, entry["step"])

    def _line(self, entry: Mapping[str, Any]) -> None:
        if self._log is not None:
            self._log.write(json.dumps(entry) + "\n")
            self._log.flush()


def _cut(path: Path, start: int) -> None:
    """Cut the lines of steps that are trained again, and a broken last one, off a log."""
    if not path.exists():
        return
    earlier = []
    for line in path.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            if start and json.loads(line)["step"] <= start:
                earlier.append(line + "\n")
    with write_file(path) as partial:
        partial.write_text("".join(earlier), encoding="utf-8")
