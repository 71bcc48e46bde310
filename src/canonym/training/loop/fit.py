"""The one training loop: an encoder, an objective, and settings in; trained weights out.

An epoch is a plan that the objective samples; its batches are gone through in order. A run that was
stopped, by whatever, goes on from its newest checkpoint: on a CPU to the same bits, since each step
starts its random numbers from the seed and its own number.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym.encoders.devices import bf16_pays
from canonym.encoders.inputs import check_count
from canonym.errors import InvalidInput
from canonym.training.loop.checkpoints import list_checkpoints, module_arrays, read_newest
from canonym.training.loop.processes import open_processes
from canonym.training.loop.progress import FitProgress, Journal
from canonym.training.loop.run import EpochRecord, Run
from canonym.training.loop.settings import FitSettings
from canonym.training.objective import Encode, Objective, Trainable

__all__ = ["EpochRecord", "FitProgress", "FitSettings", "Fitted", "fit"]

DevScore = Callable[[Encode], float]
"""How good an encoder is on the dev part; larger is better."""


class Fitted(NamedTuple):
    """What came out of a run, beside the weights, which are in the trainable.

    Attributes
    ----------
    steps : int
        Steps taken, those before the run was taken up included.
    epochs : tuple of EpochRecord
        One for each epoch.
    kept : int or None
        The epoch whose weights were kept; None where those of the last step were.
    stopped_early : bool
        Whether the dev score ended the run.
    extra : dict of str to array
        Weights of what was trained besides the encoder, ``"module.weight"``.
    identity : dict
        What the run was: objective, settings, encoder, data, processes.
    """

    steps: int
    epochs: tuple[EpochRecord, ...]
    kept: int | None
    stopped_early: bool
    extra: dict[str, np.ndarray[Any, Any]]
    identity: dict[str, Any]


def fit(
    trainable: Trainable,
    objective: Objective,
    *,
    settings: FitSettings | None = None,
    dev_score: DevScore | None = None,
    checkpoints: str | Path | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    data: Mapping[str, str] | None = None,
    device: str = "auto",
    log: str | Path | None = None,
    tensorboard: str | Path | None = None,
    progress: Callable[[FitProgress], None] | None = None,
    each_epoch: Callable[[Mapping[str, Any]], None] | None = None,
    notice: Callable[[str], None] = warnings.warn,
) -> Fitted:
    """Train an encoder with an objective.

    Parameters
    ----------
    trainable : Trainable
        The encoder, trained in place.
    objective : Objective
        Samples the epochs and knows the loss.
    settings : FitSettings, optional
        Of the loop; its defaults are BioSyn's.
    dev_score : callable, optional
        Called with a function from names to vectors after each epoch; larger is better.
    checkpoints : str or Path, optional
        Folder for the newest two checkpoints, and the best weights so far. None are written by
        default.
    checkpoint_every : int, optional
        Steps between checkpoints; there is one after each epoch anyway.
    resume : bool
        Whether to go on from the newest whole checkpoint, if there is one.
    data : mapping of str to str, optional
        Digests of what the objective was made of: a run only goes on with the same.
    device : str
        As torch names it, or ``"auto"``.
    log, tensorboard, progress, each_epoch
        Those of `canonym.training.journal.Journal`.
    notice : callable
        Told what the caller ought to know and what stops nothing, such as a damaged checkpoint.

    Returns
    -------
    Fitted
        The history.

    Raises
    ------
    MissingExtra
        If torch or accelerate is not installed (extra ``torch``).
    InvalidInput
        If there is nothing to train on, the memory does not suffice, the loss is no number any
        more, or checkpoints are there and `resume` is off.
    Mismatch
        If the checkpoints are of another run.
    ReadError
        If there are checkpoints and none of them is whole.

    Notes
    -----
    A step follows the mean loss of ``accumulation · processes`` batches, fewer at the end of an
    epoch; a batch of which nothing can be learned counts as 0, and a step of such batches alone
    changes nothing.
    """
    settings = settings or FitSettings()
    folder = None if checkpoints is None else Path(checkpoints)
    if checkpoint_every is not None:
        check_count("checkpoint_every", checkpoint_every)
        if folder is None:
            raise InvalidInput("checkpoint_every is set, but no folder for checkpoints")
    _check_folder(folder, resume=resume)
    with open_processes(settings, device=device) as processes:
        on_cpu = processes.device.type == "cpu"
        if settings.precision == "bf16" and on_cpu and not bf16_pays(processes.device):
            notice(
                "this processor computes in bf16 many times slower than in float32: stop the "
                "training and choose precision float32"
            )
        run = Run(trainable, objective, settings, processes, data=data or {}, folder=folder)
        if resume and folder is not None:
            found = read_newest(folder, notice=notice)
            if found is not None:
                run.restore(found, source=folder)
            else:
                notice(f"{folder} holds no checkpoint: training starts at the beginning")
        with Journal(
            log=log if processes.first else None,
            tensorboard=tensorboard if processes.first else None,
            progress=progress if processes.first else None,
            each_epoch=each_epoch if processes.first else None,
            start=run.state.step,
        ) as journal:
            while not run.finished:
                run.train_epoch(journal, checkpoint_every=checkpoint_every)
                run.end_epoch(journal, dev_score)
        kept = run.keep_weights()
        return Fitted(
            run.state.step,
            tuple(run.state.epochs),
            kept,
            run.state.stopped_early,
            module_arrays(run.step.extra),
            run.identity,
        )


def _check_folder(folder: Path | None, *, resume: bool) -> None:
    if folder is None:
        if resume:
            raise InvalidInput("resume needs the folder of the checkpoints; name it")
        return
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; a folder for checkpoints is expected")
    if not folder.absolute().parent.is_dir():
        raise InvalidInput(f"{folder}: the folder {folder.parent} does not exist; create it first")
    listed: Sequence[Path] = list_checkpoints(folder)
    if listed and not resume:
        raise InvalidInput(
            f"{folder} holds checkpoints up to {listed[0].name}; resume that run, or remove the "
            "folder or name another to train anew"
        )
