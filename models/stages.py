"""Stages of a recipe, one training run after the other, that can be taken up where they stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.training.loop.checkpoints import list_checkpoints
from canonym.training.loop.fit import fit
from canonym.training.loop.progress import FitProgress
from canonym.training.loop.settings import FitSettings
from canonym.training.objective import Objective, Trainable

__all__ = ["Stages"]

_TOLD = 100
_CHECKPOINTED = 50


@dataclass(frozen=True)
class Stages:
    """How the stages of a recipe are run.

    Attributes
    ----------
    checkpoints : Path, optional
        A folder for the checkpoints of all stages, each in one of its own; none are written without
        it.
    resume : bool
        Whether to go on from the newest checkpoint of each stage: one that was finished is not
        trained again.
    data : mapping of str to str
        Digests of what is learned from; a run only goes on with the same.
    progress : callable, optional
        Called with the stage, its steps done and in all.
    log : callable, optional
        Called with a line of text now and then.
    """

    checkpoints: Path | None = None
    resume: bool = False
    data: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[str, int, int], None] | None = None
    log: Callable[[str], None] | None = None

    def check(self) -> None:
        """Make sure before the work that checkpoints of another run are not written over.

        Raises
        ------
        InvalidInput
            If there are some, and nobody asked to resume; or to resume without a folder.
        """
        if self.checkpoints is None:
            if self.resume:
                raise InvalidInput("resume needs the folder of the checkpoints; name it")
            return
        there = any(map(list_checkpoints, self.checkpoints.glob("*/")))
        if self.resume and not there and self.log is not None:
            self.log(f"{self.checkpoints} holds no checkpoint: training starts at the beginning")
        if there and not self.resume:
            raise InvalidInput(
                f"{self.checkpoints} holds checkpoints of a run; resume that run, or remove the "
                "folder to train anew"
            )

    def run(
        self, stage: str, trainable: Trainable, objective: Objective, settings: FitSettings
    ) -> None:
        """Train, as `canonym.training.loop.fit.fit` does; raises what that raises."""
        folder = None
        if self.checkpoints is not None:
            self.checkpoints.mkdir(exist_ok=True)
            folder = self.checkpoints / stage.replace(" ", "-")
        say = self.log or (lambda _: None)

        def told(now: FitProgress) -> None:
            if self.progress is not None:
                self.progress(stage, now.step, now.total)
            if now.step % _TOLD == 0 or now.step == now.total:
                minutes = now.seconds_left / 60
                say(f"{stage}: step {now.step:,} of {now.total:,}, {minutes:.0f} minutes left")

        fit(
            trainable,
            objective,
            settings=settings,
            checkpoints=folder,
            checkpoint_every=None if folder is None else _CHECKPOINTED,
            resume=self.resume and folder is not None and bool(list_checkpoints(folder)),
            data=self.data,
            progress=told,
            notice=say,
        )
