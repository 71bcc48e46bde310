"""Options, output folders and training stages that the scripts of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from canonym.cli.failures import reported
from canonym.cli.key_options import typed_as
from canonym.cli.options import Decorator, with_options
from canonym.encoders.batches import bf16_pays
from canonym.errors import InvalidInput, require
from canonym.io import files
from canonym.io.devices import torch_device
from canonym.training.loop.checkpoints import list_checkpoints, remove_checkpoints
from canonym.training.loop.fit import fit
from canonym.training.loop.reports import FitProgress
from canonym.training.loop.settings import FitSettings
from canonym.training.objective import Objective, Trainable

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""Settings of every command here."""


class Command(click.Command):
    """A command whose expected errors become messages and exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        flags = {flag: typed_as(option) for option in self.params for flag in option.opts}
        with reported(lambda: flags):
            return super().invoke(ctx)


PRECISION: Decorator = click.option(
    "--precision",
    type=click.Choice(("auto", "bf16", "fp16", "float32")),
    default="auto",
    show_default=True,
    help="Precision of training; auto is bf16 where that is faster than float32.",
)

RESUME: Decorator = click.option(
    "--resume",
    is_flag=True,
    help="Go on with a run that was stopped, from its checkpoints in OUTPUT.checkpoints.",
)


def sentence_encoder(text: str) -> Decorator:
    """Return the option ``--encoder``, the transformer to begin with, with `text` as its help."""
    return click.option(
        "-e",
        "--encoder",
        type=click.Path(exists=True, file_okay=False),
        required=True,
        metavar="FOLDER",
        help=text,
    )


def making_options(*own: Decorator, parts: tuple[str, ...] = (), parts_help: str = "") -> Decorator:
    """Return a decorator that adds the shared options around those of one script."""
    of_parts = click.option(
        "--part",
        "parts",
        type=click.Choice(parts),
        multiple=True,
        default=("train", "dev"),
        show_default=True,
        help=parts_help,
    )
    return with_options(
        click.option(
            "-o",
            "--output",
            type=click.Path(),
            required=True,
            metavar="FOLDER",
            help="Folder to write.",
        ),
        click.option(
            "--data",
            type=click.Path(exists=True, file_okay=False),
            envvar="CANONYM_DATA",
            required=True,
            metavar="FOLDER",
            help="The terminologies and corpora.  [default: $CANONYM_DATA]",
        ),
        *((of_parts,) if parts else ()),
        *own,
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Of every draw.",
        ),
        click.option("--overwrite", is_flag=True, help="Replace the output if it exists."),
    )


def checkpoints_beside(place: Path) -> Path:
    """Return the folder of checkpoints for an output folder."""
    return place.with_name(f"{place.name}.checkpoints")


def write_encoder(place: Path, module: Any, facts: Mapping[str, Any], *, overwrite: bool) -> None:
    """Write a trained transformer and the facts of its training; remove its checkpoints."""
    with files.write_folder(place, overwrite=overwrite) as partial:
        module.to_encoder().save(partial)
        content = {"encoder": "transformer", "training": facts}
        files.write_manifest(partial, kind="encoder", format_number=1, content=content)
    remove_checkpoints(checkpoints_beside(place))


_REPORTED_EVERY = 100
_CHECKPOINT_EVERY = 50


@dataclass(frozen=True)
class Stages:
    """Runs the stages of a recipe, each a training run that can be resumed.

    Each stage has a folder under `checkpoints`. With `resume` it goes on from its newest
    checkpoint, and a finished stage is not trained again, provided the digests of `data` are the
    same. `progress` takes the stage, its steps done and in all; `log` takes a line of text.
    """

    checkpoints: Path | None = None
    resume: bool = False
    data: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[str, int, int], None] | None = None
    log: Callable[[str], None] | None = None

    def check(self) -> None:
        """Refuse to write over the checkpoints of another run, before the work begins."""
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
                "folder to train from the start"
            )

    def run(
        self, stage: str, trainable: Trainable, objective: Objective, settings: FitSettings
    ) -> None:
        """Train one stage with `canonym.training.loop.fit.fit`."""
        folder = None
        if self.checkpoints is not None:
            self.checkpoints.mkdir(exist_ok=True)
            folder = self.checkpoints / stage.replace(" ", "-")
        say = self.log or (lambda _: None)

        def report(now: FitProgress) -> None:
            if self.progress is not None:
                self.progress(stage, now.step, now.total)
            if now.step % _REPORTED_EVERY == 0 or now.step == now.total:
                minutes = now.seconds_left / 60
                say(f"{stage}: step {now.step:,} of {now.total:,}, {minutes:.0f} minutes left")

        fit(
            trainable,
            objective,
            settings=settings,
            checkpoints=folder,
            checkpoint_every=None if folder is None else _CHECKPOINT_EVERY,
            resume=self.resume and folder is not None and bool(list_checkpoints(folder)),
            data=self.data,
            progress=report,
            notice=say,
        )


def usual_precision(device: str = "auto") -> str:
    """Return ``"bf16"`` if `device` computes in it faster than in float32, else ``"float32"``."""
    require("torch", "training an encoder", "torch")
    return "bf16" if bf16_pays(torch_device(device)) else "float32"
