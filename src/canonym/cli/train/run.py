"""What ``canonym train`` does once the options are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canonym.errors import InvalidInput

if TYPE_CHECKING:
    from canonym.terminology import Terminology
    from canonym.training.loop.settings import FitSettings
    from canonym.types import Document

__all__ = ["Request", "run_training"]


@dataclass(kw_only=True)
class Request:
    """Everything the command line says; see the options of `canonym train`.

    ``options`` are those of the objective under its own names.
    """

    recipe: str = field(kw_only=False)
    options: dict[str, Any] = field(kw_only=False)
    encoder: str
    terminologies: Sequence[str]
    output: str
    dev: str | None
    format_: str | None
    types: Sequence[str]
    corrections: str | None
    epochs: int | None
    max_steps: int | None
    learning_rate: float
    weight_decay: float
    optimizer: str
    schedule: str
    warm_up: float
    accumulation: int
    clip: float | None
    precision: str
    patience: int | None
    keep: str
    seed: int
    device: str
    checkpoints: str | None
    checkpoint_every: int
    keep_checkpoints: bool
    resume: bool
    log: str | None
    tensorboard: str | None
    dry_run: bool
    overwrite: bool
    quiet: bool
    corpora: Sequence[str] = ()
    preparation: str = "none"
    pooling: str = "auto"
    max_length: int = 25
    width: int | None = None
    layers: int = 4
    heads: int = 4
    vocabulary: int = 8000
    relations: str | None = None
    top: str | None = None
    concepts: int | None = None
    groups: str | None = None
    hidden: int = 9600
    dropout: float = 0.5
    allow_cycles: bool = False

    @property
    def checkpoint_folder(self) -> Path:
        """Where checkpoints go."""
        if self.checkpoints:
            return Path(self.checkpoints)
        output = Path(self.output)
        return output.with_name(f"{output.name}.checkpoints")

    def settings(self) -> FitSettings:
        """Return the settings of the loop."""
        from canonym.training.loop.settings import FitSettings

        return FitSettings(
            epochs=self.epochs or self.max_steps or 1,
            max_steps=self.max_steps,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            optimizer=self.optimizer,
            schedule=self.schedule,
            warm_up=self.warm_up,
            accumulation=self.accumulation,
            clip=self.clip,
            precision=self.precision,
            seed=self.seed,
            patience=self.patience,
            keep=self.keep,
        )


def run_training(request: Request) -> None:
    """Read, sample, train, and write the encoder; or show what would be sampled.

    Raises
    ------
    InvalidInput
        If a file or an option cannot be used.
    """
    import time

    from canonym.cli.description import print_facts
    from canonym.cli.train.parts import prepare

    _check(request)
    settings = request.settings()
    began = time.monotonic()
    parts = prepare(request)
    if request.dry_run:
        _show_plan(request, parts, settings)
        return
    fitted = _fit(request, parts, settings)
    if not parts.first:
        return
    from canonym.training.loop.checkpoints import remove_checkpoints
    from canonym.training.loop.save import save_trained
    from canonym.training.recipes import PAPERS

    save_trained(
        request.output,
        parts.trainable,
        fitted,
        paper=PAPERS[request.recipe],
        data=parts.counts,
        dev=parts.dev_name,
        overwrite=request.overwrite,
    )
    if not request.keep_checkpoints:
        remove_checkpoints(request.checkpoint_folder)
    if not request.quiet:
        facts: dict[str, Any] = {"encoder": request.output, "steps": fitted.steps}
        facts["epochs"] = len(fitted.epochs)
        if fitted.kept is not None:
            score = fitted.epochs[fitted.kept].dev
            facts["kept"] = f"epoch {fitted.kept + 1}, {parts.dev_name} {score:.4f}"
        print_facts({**facts, "time": f"{time.monotonic() - began:.0f} s"})


def _check(request: Request) -> None:
    """Refuse what cannot work before anything takes time."""
    output = Path(request.output)
    if output.exists() and not request.overwrite and not request.dry_run:
        raise InvalidInput(f"{output} exists already; choose another folder or pass --overwrite")
    if not output.absolute().parent.is_dir():
        raise InvalidInput(f"{output}: the folder {output.parent} does not exist; create it first")
    if request.patience and not request.dev and request.recipe != "few-shot":
        raise InvalidInput("--early-stopping goes by the score of a --dev corpus; name one")
    if request.recipe == "few-shot" and bool(request.top) == bool(request.groups):
        raise InvalidInput("name the high-level concepts: either --top or --groups")
    folder = request.checkpoint_folder
    if not (request.resume or request.dry_run) and any(folder.glob("step-*")):
        raise InvalidInput(
            f"{folder} holds checkpoints of a run; go on with --resume, or remove the folder or "
            "name another with --checkpoints"
        )


def _fit(request: Request, parts: Any, settings: FitSettings) -> Any:
    from canonym.cli.progress import note, stages
    from canonym.training.loop.fit import FitProgress, fit

    def each_epoch(entry: Mapping[str, Any]) -> None:
        dev = "" if entry["dev"] is None else f", {parts.dev_name} {entry['dev']:.4f}"
        told = f"Epoch {entry['epoch'] + 1}, step {entry['step']:,}: mean loss "
        rate = f" ({speed[-1]:,.0f} names/s)" if speed else ""
        note(f"{told}{entry['mean_loss']:.4f}{dev}{rate}", quiet=request.quiet)

    def progress(now: FitProgress) -> None:
        speed[:] = [now.names_per_second]
        report("Training", now.step, now.total)

    speed: list[float] = []
    with stages(unit="steps", quiet=request.quiet) as report:
        return fit(
            parts.trainable,
            parts.objective,
            settings=settings,
            dev_score=parts.dev_score,
            checkpoints=request.checkpoint_folder,
            checkpoint_every=request.checkpoint_every,
            resume=request.resume,
            data=parts.digests,
            device=request.device,
            log=request.log,
            tensorboard=request.tensorboard,
            progress=progress,
            each_epoch=each_epoch,
            notice=lambda text: note(f"Note: {text}.", quiet=request.quiet),
        )


def _show_plan(request: Request, parts: Any, settings: FitSettings) -> None:
    """Sample the first epoch and print what is in it."""
    import numpy as np

    from canonym.cli.description import print_facts
    from canonym.cli.tables import print_table
    from canonym.cli.train.examples import COLUMNS, examples
    from canonym.encoders.devices import torch_device
    from canonym.training.loop.run import make_step

    step = make_step(parts.trainable, parts.objective, settings)
    step.to(torch_device(request.device))
    plan = parts.objective.plan(step.encode, 0, np.random.default_rng([settings.seed, 0]))
    n_batches = parts.objective.n_batches(plan)
    steps = -(-n_batches // settings.accumulation)
    in_all = min(steps * settings.epochs, settings.max_steps or steps * settings.epochs)
    print_facts(
        {
            "recipe": request.recipe,
            **{name.replace("_", " "): value for name, value in parts.counts.items()},
            **{name.replace("_", " "): _plain(v) for name, v in parts.objective.settings.items()},
            "batches": f"{n_batches:,} in the first epoch",
            "steps": f"{steps:,} in the first epoch, {in_all:,} in all",
        }
    )
    print_table(
        COLUMNS[parts.objective.name], examples(parts.objective, plan), title="First examples"
    )


def _plain(value: Any) -> Any:
    return "not set" if value is None else value


def open_terminologies(paths: Sequence[str], *, quiet: bool) -> Terminology:
    """Open one terminology, or several read one after the other."""
    import itertools

    from canonym.cli.sources import open_terminology
    from canonym.terminology import Terminology, read_records

    if len(paths) == 1:
        return open_terminology(paths[0], quiet=quiet)
    return Terminology.build(itertools.chain.from_iterable(map(read_records, paths)))


def read_documents(paths: Sequence[str], *, format: str | None) -> list[Document]:
    """Read annotated corpora one after the other."""
    from canonym.cli.annotated import open_corpus

    return [document for path in paths for document in open_corpus(path, format=format).documents]
