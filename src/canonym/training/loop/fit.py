"""The training loop: an encoder, an objective and settings in; trained weights out.

An objective samples an epoch as a plan, and the loop takes its batches in order. A run that was
stopped goes on from its newest checkpoint, on a CPU to the same bits: each step seeds its random
numbers with the seed of the run and its own number.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym.encoders.batches import bf16_pays
from canonym.encoders.inputs import check_count
from canonym.errors import InvalidInput, ReadError, require
from canonym.io.arrays import spans
from canonym.training.loop.checkpoints import (
    Checkpoint,
    Keeper,
    all_finite,
    check_folder,
    check_same_run,
    list_checkpoints,
    module_arrays,
    module_digest,
    optimizer_arrays,
    read_newest,
    restore_module,
    restore_optimizer,
)
from canonym.training.loop.process_group import Processes, open_processes
from canonym.training.loop.reports import FitProgress, Journal
from canonym.training.loop.settings import FitSettings, rate_factor
from canonym.training.objective import Encode, Objective, Plan, Trainable
from canonym.types import Float32Array

_log = logging.getLogger(__name__)
_ENCODED = 2048  # names at a time, between two reports
_NEAR = 0.02  # of the loss of an encoder that gives all names one vector

DevScore = Callable[[Encode], float]
"""Quality of an encoder on the dev part; larger is better."""

SamplingProgress = Callable[[int, int], None]
"""Takes the names encoded so far for a search between epochs, and their number."""

# --- a step ---------------------------------------------------------------------------------------


def make_step(
    trainable: Trainable, objective: Objective, settings: FitSettings, *, several: bool = False
) -> Any:
    """Return the torch module whose forward pass is the loss of a batch of a plan, or None.

    Everything that a loss touches is in one module with one forward pass: several processes then
    exchange the gradients of the encoder and of the extra modules alike. With `several`, a batch
    without a loss gives a 0 that every weight takes part in, for the others wait for its gradients.
    The encoder computes in ``settings.precision``; the loss itself is float32.
    """
    require("torch", "training an encoder", "torch")
    import torch

    half = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(settings.precision)

    class Step(torch.nn.Module):  # type: ignore[misc]
        """The encoder, the extra modules of the objective, and the loss of both."""

        def __init__(self) -> None:
            super().__init__()
            self.encoder = trainable.network
            torch.manual_seed(settings.seed)
            made = objective.extra_modules(trainable.width)
            self.extra = torch.nn.ModuleDict({name: module for name, (module, _) in made.items()})
            self.rates: dict[str, float | None] = {name: rate for name, (_, rate) in made.items()}
            self.n_names = 0  # that went through the encoder
            self.has_loss = False  # of the last batch
            self.report: SamplingProgress | None = None

        def autocast(self, *, enabled: bool = True) -> Any:
            device = next(self.encoder.parameters()).device.type
            return torch.autocast(device, dtype=half, enabled=enabled and half is not None)

        def embed(self, names: Sequence[str]) -> Any:
            self.n_names += len(names)
            with self.autocast():
                vectors = trainable.embed(names)
                return vectors if half is None else vectors.float()

        def encode(self, names: Sequence[str], **options: Any) -> Float32Array:
            """Encode names for a search between epochs, in the precision of the training."""
            vectors = np.empty((len(names), trainable.width), np.float32)
            for some in spans(len(names), _ENCODED):
                with self.autocast():
                    vectors[some] = trainable.encode(names[some], **options)
                if self.report is not None:
                    self.report(some.stop, len(names))
            return vectors

        def forward(self, plan: Plan | None, batch: int) -> Any:
            loss = None
            if plan is not None:
                # A loss of distances or exponentials needs more digits than half of a float has.
                with self.autocast(enabled=False):
                    loss = objective.loss(self.embed, plan, batch)
            if loss is not None and (loss.ndim or not loss.requires_grad):
                raise InvalidInput(
                    f"the objective {objective.name!r} gives a loss that cannot be followed: a "
                    f"scalar with gradients is expected, found {tuple(loss.shape)}"
                )
            self.has_loss = loss is not None
            if loss is None and several:
                return sum((p * 0).sum() for p in self.parameters() if p.requires_grad)
            return loss

    return Step()


def make_optimizer(step: Any, settings: FitSettings) -> Any:
    """Return the optimizer of a step, with one group for each learning rate and weight decay.

    ``"adam"`` adds the decay of all weights of the encoder to the gradient, as BioSyn does.
    ``"adamw"`` takes it off the matrices directly, and has none for biases and norms.
    """
    torch = require("torch", "training an encoder", "torch")
    encoder = [p for p in step.encoder.parameters() if p.requires_grad]
    decayed = [p for p in encoder if settings.optimizer == "adam" or p.ndim > 1]
    rest = [p for p in encoder if settings.optimizer != "adam" and p.ndim <= 1]
    groups = [
        {"params": decayed, "rate": settings.learning_rate, "weight_decay": settings.weight_decay},
        {"params": rest, "rate": settings.learning_rate, "weight_decay": 0.0},
    ]
    for name, module in step.extra.items():
        rate = step.rates[name]
        rate = settings.learning_rate if rate is None else rate
        groups.append({"params": list(module.parameters()), "rate": rate, "weight_decay": 0.0})
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    # Fused, it passes once over each weight, in a fifth of the time on a CPU.
    filled = [group for group in groups if group["params"]]
    return kind(filled, lr=settings.learning_rate, fused=True)


# --- a run ----------------------------------------------------------------------------------------


class EpochRecord(NamedTuple):
    """An epoch that is over: its number, the steps taken by then, mean loss and dev score."""

    epoch: int
    step: int
    mean_loss: float
    dev: float | None


@dataclass
class RunState:
    """Progress of a run; a checkpoint is this with weights, optimizer and plan."""

    step: int = 0  # steps taken
    total: int = 0  # steps that the learning rate is laid out for; 0 before the first plan
    epoch: int = 0
    position: int = 0  # steps taken of the epoch
    names: int = 0  # that the encoder has seen, repeated ones each time
    loss_sum: float = 0.0  # over the steps of the epoch
    best: int | None = None  # the epoch of the best dev score
    waiting: int = 0  # epochs since then
    stopped_early: bool = False  # by the dev score
    epochs: list[EpochRecord] = field(default_factory=list)  # that are over
    measured: list[Mapping[str, Any]] = field(default_factory=list)  # before each epoch
    seconds: float = 0.0  # of earlier processes


class Run:
    """A run in one of its processes; `fit` explains the arguments."""

    def __init__(
        self,
        trainable: Trainable,
        objective: Objective,
        settings: FitSettings,
        processes: Processes,
        *,
        data: Mapping[str, str],
        folder: Path | None,
    ) -> None:
        self.trainable, self.objective, self.settings = trainable, objective, settings
        self.processes = processes
        self.keeper = Keeper(folder, writes=processes.first)
        self.state = RunState()
        self.plan: Plan | None = None
        self.step = make_step(trainable, objective, settings, several=processes.n > 1)
        self.identity: dict[str, Any] = {
            "objective": objective.name,
            "objective_settings": dict(objective.settings),
            "encoder": dict(trainable.settings),
            "start": module_digest(self.step),
            "settings": settings.shaping(),
            "data": dict(data),
            "processes": processes.n,
        }
        optimizer = make_optimizer(self.step, settings)
        self._rates = [float(group["rate"]) for group in optimizer.param_groups]
        self._began = time.perf_counter()
        self._model, self._optimizer = processes.accelerator.prepare(self.step, optimizer)

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        return (
            self.state.epoch >= self.settings.n_epochs or self._used_up or self.state.stopped_early
        )

    @property
    def _used_up(self) -> bool:
        """Whether the steps or the names that may be used are."""
        most = {"step": self.settings.max_steps, "names": self.settings.max_names}
        return any(n is not None and getattr(self.state, name) >= n for name, n in most.items())

    @property
    def seconds(self) -> float:
        """The time that the run took, with that of the processes it was resumed from."""
        return self.state.seconds + time.perf_counter() - self._began

    def train_epoch(self, journal: Journal, *, checkpoint_every: int | None) -> None:
        """Take the remaining steps of the epoch, as far as the settings allow."""
        state, most = self.state, self.settings.max_steps
        if self.plan is None:
            self.plan = self._sample()
            self._measure(self.plan, journal)
        size = self.settings.accumulation * self.processes.n
        n_batches = self.objective.n_batches(self.plan)
        n_steps = -(-n_batches // size)
        if not state.total:
            total = n_steps * self.settings.n_epochs
            state.total = min(total, most or total)
        self.trainable.network.train()
        while state.position < n_steps and not self._used_up:
            start = state.position * size
            with self.keeper.memory_explained(accumulation=self.settings.accumulation):
                loss, names, rate = self._take_step(start, min(start + size, n_batches))
            state.step += 1
            state.position += 1
            state.names += names
            state.loss_sum += loss
            journal.add_step(
                step=state.step,
                total=max(self._expected_steps(), state.step),
                epoch=state.epoch,
                loss=loss,
                learning_rate=rate,
                names=names,
            )
            due = checkpoint_every is not None and state.step % checkpoint_every == 0
            if due and state.position < n_steps and not self._used_up:
                self._save()

    def _expected_steps(self) -> int:
        """Return the steps of the run, as far as the names of those taken tell."""
        total, most = self.state.total, self.settings.max_names
        if most is None or not self.state.names:
            return total
        return min(total, math.ceil(most * self.state.step / self.state.names))

    def _sample(self) -> Plan:
        state = self.state
        rng = np.random.default_rng([self.settings.seed, state.epoch])
        with self.keeper.memory_explained(accumulation=self.settings.accumulation):
            plan = self.processes.share(
                lambda: self.objective.plan(self.step.encode, state.epoch, rng)
            )
        for name, array in plan.items():
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
                raise InvalidInput(
                    f"the plan of the objective {self.objective.name!r} holds {name!r}, which is "
                    "no array of numbers; a checkpoint could not keep it"
                )
        if self.objective.n_batches(plan) < 1:
            raise InvalidInput(
                f"the objective {self.objective.name!r} finds nothing to train on; give more names"
            )
        return plan

    def _measure(self, plan: Plan, journal: Journal) -> None:
        """Ask the objective what it measures, if it does, on the plan of an epoch."""
        state, measure = self.state, getattr(self.objective, "measure", None)
        # A run that began without has nothing for its first epochs.
        if measure is None or len(state.measured) != state.epoch:
            return
        state.measured.append(dict(measure(plan, state.epoch)))
        if recall := state.measured[-1].get("recall"):
            journal.add_measures({"step": state.step, "epoch": state.epoch, "recall": recall})

    def measure_end(self, journal: Journal) -> None:
        """Sample once more where the objective measures something, for the trained encoder."""
        if self.state.measured and self.state.measured[-1]:
            self._measure(self._sample(), journal)

    def _take_step(self, start: int, stop: int) -> tuple[float, int, float]:
        """Follow the mean loss of some batches; return it, the names used, and the rate."""
        import torch

        processes, state = self.processes, self.state
        most = self.settings.max_names
        done = (state.step, state.total) if most is None else (state.names, most)
        factor = rate_factor(self.settings, *done)
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * factor
        seed = np.random.SeedSequence([self.settings.seed, state.step, processes.rank])
        torch.manual_seed(int(seed.generate_state(1, np.uint64)[0] >> np.uint64(1)))
        self._optimizer.zero_grad()
        self.step.n_names = 0
        rounds = -(-(stop - start) // processes.n)
        no_sync = processes.accelerator.no_sync
        total, used = 0.0, 0
        for turn in range(rounds):
            batch = start + turn * processes.n + processes.rank
            last = turn == rounds - 1
            with contextlib.nullcontext() if last else no_sync(self._model):
                loss = self._model(self.plan if batch < stop else None, batch)
                if loss is not None:
                    total += float(loss.detach())
                    used += self.step.has_loss
                    # Gradients are averaged over processes: what is left is 1 / batches.
                    processes.accelerator.backward(loss * (processes.n / (stop - start)))
        total, n_used, names = processes.total([total, float(used), float(self.step.n_names)])
        mean = total / (stop - start)
        if not math.isfinite(mean):
            raise self.keeper.lost(f"the loss of step {state.step + 1} is {mean}")
        if n_used:
            if self.settings.clip is not None:
                processes.accelerator.clip_grad_norm_(self._model.parameters(), self.settings.clip)
            self._optimizer.step()
        return mean, int(names), self.settings.learning_rate * factor

    def end_epoch(self, journal: Journal, dev_score: Callable[[Encode], float] | None) -> None:
        """Measure the dev score, decide whether to go on, and write a checkpoint."""
        state, processes = self.state, self.processes
        dev = None
        if dev_score is not None:
            with self.keeper.memory_explained(accumulation=self.settings.accumulation):
                dev = processes.share(lambda: float(dev_score(self.trainable.encode)))
            if not math.isfinite(dev):
                raise self.keeper.lost(f"the dev score of epoch {state.epoch} is {dev}")
        mean = state.loss_sum / max(state.position, 1)
        record = EpochRecord(state.epoch, state.step, mean, dev)
        best = None if state.best is None else state.epochs[state.best].dev
        state.epochs.append(record)
        if dev is not None:
            if best is None or dev > best:
                state.best, state.waiting = state.epoch, 0
                if self.settings.keep == "best":
                    self.keeper.save_best(module_arrays(self.step), epoch=state.epoch)
            else:
                state.waiting += 1
            patience = self.settings.patience
            state.stopped_early = patience is not None and state.waiting >= patience
        journal.add_epoch(record._asdict())
        state.epoch, state.position, state.loss_sum, self.plan = state.epoch + 1, 0, 0.0, None
        if self.keeper.folder is not None:
            self._save()

    def keep_weights(self) -> int | None:
        """Put the best weights back, if they are wanted, and return their epoch."""
        best = self.state.best
        if self.settings.keep == "last" or best is None:
            return None
        arrays = self.keeper.read_best(best)
        if arrays is not None:
            restore_module(self.step, arrays, source=self.keeper.folder or Path("memory"))
        return best

    def restore(self, checkpoint: Checkpoint, *, source: Path) -> None:
        """Go on from a checkpoint of the same run."""
        _log.info("go on from %s", source)
        check_same_run(checkpoint.identity, self.identity, folder=source)
        restore_module(self.step, checkpoint.model, source=source)
        restore_optimizer(self._optimizer, checkpoint.optimizer, source=source)
        try:
            content = dict(checkpoint.state)
            epochs = [EpochRecord(**entry) for entry in content.pop("epochs")]
            self.processes.restore_loss_scale(content.pop("loss_scale"))
            self.state = RunState(**content, epochs=epochs)
        except (TypeError, KeyError) as error:
            raise ReadError(source, f"the checkpoint is damaged ({error}); train again") from error
        self.plan = checkpoint.plan

    def _save(self) -> None:
        if not all_finite(self.step):
            raise self.keeper.lost(f"a weight after step {self.state.step} is NaN or infinite")
        state = asdict(self.state)
        state["epochs"] = [record._asdict() for record in self.state.epochs]
        state["seconds"] = self.seconds
        state["loss_scale"] = self.processes.loss_scale
        model, optimizer = module_arrays(self.step), optimizer_arrays(self._optimizer)
        checkpoint = Checkpoint(self.identity, state, model, optimizer, self.plan)
        _log.info("checkpoint of step %s", self.state.step)
        self.keeper.save(checkpoint, step=self.state.step, best=self.state.best)
        self.processes.accelerator.wait_for_everyone()


# --- fit ------------------------------------------------------------------------------------------


class Fitted(NamedTuple):
    """The history of a run; the weights are in the trainable."""

    steps: int  # those before a resumption included
    names: int  # that the encoder has seen, repeated ones each time
    epochs: tuple[EpochRecord, ...]
    kept: int | None  # the epoch whose weights were kept; None for those of the last step
    stopped_early: bool  # by the dev score
    extra: dict[str, np.ndarray[Any, Any]]  # weights of the extra modules, ``"module.weight"``
    identity: dict[str, Any]  # objective, settings, encoder, data, processes
    seconds: float  # that training took, before and after a resumption
    measured: tuple[Mapping[str, Any], ...]  # by the objective, before each epoch and at the end


def _warn_of_collapse(
    objective: Objective, epoch: EpochRecord, notice: Callable[[str], None]
) -> None:
    collapsed = getattr(objective, "collapsed_loss", None)
    if collapsed is not None and abs(epoch.mean_loss - collapsed) <= _NEAR * abs(collapsed):
        notice(
            f"the mean loss of epoch {epoch.epoch + 1} is {epoch.mean_loss:.4g}, that of an "
            "encoder which gives all names one vector; if it stays there, the training has "
            "collapsed: take easier negatives or a lower learning rate"
        )


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
    sampling: SamplingProgress | None = None,
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
    log : str or Path, optional
        A file of JSON lines: loss, rate, names and seconds of each step; mean loss and dev score of
        each epoch.
    tensorboard : str or Path, optional
        A folder for TensorBoard, which then is needed.
    progress, each_epoch : callable, optional
        Called with a `FitProgress` after each step, and with the log's entry of each epoch.
    sampling : callable, optional
        Called with the names encoded so far for a search between epochs, and their number.
    notice : callable
        Called with a line of text about anything that does not stop the run, such as a damaged
        checkpoint.

    Returns
    -------
    Fitted
        The history.

    Raises
    ------
    MissingExtra
        If torch or accelerate is not installed (extra ``torch``).
    InvalidInput
        If there is nothing to train on, the memory does not suffice, the loss is not finite, or
        the folder has checkpoints and `resume` is off.
    Mismatch
        If the checkpoints are of another run.
    ReadError
        If there are checkpoints and none of them is whole.

    Notes
    -----
    A step follows the mean loss of ``accumulation · processes`` batches, fewer at the end of an
    epoch. A batch without a loss counts as 0; a step of such batches alone changes nothing.
    """
    settings = settings or FitSettings()
    folder = None if checkpoints is None else Path(checkpoints)
    _check_folder(folder, resume=resume, every=checkpoint_every)
    with open_processes(settings, device=device) as processes:
        on_cpu = processes.device.type == "cpu"
        if settings.precision == "bf16" and on_cpu and not bf16_pays(processes.device):
            notice(
                "this processor computes in bf16 many times slower than in float32: stop the "
                "training and choose precision float32"
            )
        run = Run(trainable, objective, settings, processes, data=data or {}, folder=folder)
        run.step.report = sampling
        if resume and folder is not None:
            if checkpoint := read_newest(folder, notice=notice):
                run.restore(checkpoint, source=folder)
            else:
                notice(f"{folder} holds no checkpoint: training starts at the beginning")
        told: dict[str, Any] = {"log": log, "tensorboard": tensorboard, "progress": progress}
        told = told | {"each_epoch": each_epoch} if processes.first else {}
        with Journal(**told, start=run.state.step) as journal:
            while not run.finished:
                run.train_epoch(journal, checkpoint_every=checkpoint_every)
                run.end_epoch(journal, dev_score)
                if processes.first:
                    _warn_of_collapse(objective, run.state.epochs[-1], notice)
            run.measure_end(journal)
        kept_epoch = run.keep_weights()
        return Fitted(
            run.state.step,
            run.state.names,
            tuple(run.state.epochs),
            kept_epoch,
            run.state.stopped_early,
            module_arrays(run.step.extra),
            run.identity,
            run.seconds,
            tuple(run.state.measured) if any(run.state.measured) else (),
        )


def _check_folder(folder: Path | None, *, resume: bool, every: int | None) -> None:
    if every is not None:
        check_count("checkpoint_every", every)
        if folder is None:
            raise InvalidInput("checkpoint_every is set, but no folder for checkpoints")
    if folder is None:
        if resume:
            raise InvalidInput("resume needs the folder of the checkpoints; name it")
        return
    check_folder(folder)
    listed = list_checkpoints(folder)
    if listed and not resume:
        raise InvalidInput(
            f"{folder} holds checkpoints up to {listed[0].name}; resume that run, or remove the "
            "folder or name another to train from the start"
        )
