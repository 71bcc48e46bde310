"""Make a student, a transformer with fewer layers: ``python -m models.make_student -o FOLDER``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from canonym.cli.description import print_facts
from canonym.cli.progress import note, stages
from canonym.cli.verbosity import is_quiet, with_verbosity
from canonym.errors import InvalidInput, require
from canonym.io.files import check_folder, file_digest
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.transformer import NameModule
from models.mixture import check_data, digests, read_mixture
from models.objectives import Distillation
from models.run import (
    CONTEXT,
    PRECISION,
    RESUME,
    Command,
    Stages,
    checkpoints_beside,
    making_options,
    sentence_encoder,
    usual_precision,
    write_encoder,
)
from models.sources import read_passages

LAYERS: tuple[int, ...] = (0, 2, 4, 5)
"""Four of the six layers of all-MiniLM-L6-v2. Of all choices with the first and the last layer, the
vectors of this one are nearest to those of the six before any training."""

SETTINGS: dict[str, Any] = {
    "max_length": 16,
    "batches": 600,
    "learning_rate": 5e-4,
    "optimizer": "adamw",
    "schedule": "linear",
    "warm_up": 0.05,
}
"""The loss was 0.04 after 150 batches and 0.02 after 600. The next recipe moves vectors more."""


def make_student(
    data: Path,
    start: str | Path,
    *,
    layers: Sequence[int] = LAYERS,
    batches: int | None = None,
    seed: int = 0,
    precision: str = "auto",
    progress: Callable[[str, int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
    checkpoints: Path | None = None,
    resume: bool = False,
) -> tuple[NameModule, dict[str, Any]]:
    """Keep some layers of the sentence encoder `start` and teach them its vectors.

    It learns from names of the terminologies and passages of consumer health text under `data`;
    no corpus is read. Returns the student and the facts of its training, ready for JSON.
    """
    check_data(data, parts=())
    computed = usual_precision() if precision == "auto" else precision
    text, passages = read_passages(data)
    say = log or (lambda _: None)
    of_files = {**digests(data, ()), text.name: file_digest(text)}
    runs = Stages(checkpoints, resume, data=of_files, progress=progress, log=log)
    runs.check()
    chosen = {**SETTINGS, **({} if batches is None else {"batches": batches})}
    length, n_batches = chosen.pop("max_length"), chosen.pop("batches")
    teacher = NameModule.read(start, pooling="mean", max_length=length)
    student = NameModule.read(start, pooling="mean", max_length=length)
    keep_layers(student, layers)
    mixture = read_mixture(data, parts=(), log=log)
    sizes = np.bincount(mixture.concepts, minlength=len(mixture.weights))
    objective = Distillation(
        teacher,
        mixture.names,
        mixture.weights[mixture.concepts] / sizes[mixture.concepts],
        passages,
        batches=n_batches,
    )
    say(f"{n_batches:,} batches of names and of {len(passages):,} passages")
    embeddings = student.network.embeddings
    rates = _without_dropout(student)
    # The embeddings are the teacher's, and two thirds of the weights: the rest learns faster.
    embeddings.requires_grad_(False)
    settings = FitSettings(epochs=1, seed=seed, precision=computed, **chosen)
    runs.run("student", student, objective, settings)
    for layer, rate in rates:
        layer.p = rate
    embeddings.requires_grad_(True)
    return student, {
        "layers": list(layers),
        "settings": {**SETTINGS, **objective.settings},
        "seed": seed,
        "precision": computed,
        "data": of_files,
    }


def keep_layers(module: NameModule, layers: Sequence[int]) -> None:
    """Remove all other layers of a transformer, in place."""
    torch = require("torch", "training an encoder", "torch")
    network = module.network
    present = getattr(getattr(network, "encoder", None), "layer", None)
    if present is None:
        raise InvalidInput(
            f"{type(network).__name__} does not keep its layers as BERT does; a BERT or RoBERTa "
            "encoder is expected"
        )
    if (
        not layers
        or list(layers) != sorted(set(layers))
        or not 0 <= layers[0] <= layers[-1] < len(present)
    ):
        raise InvalidInput(
            f"layers {list(layers)} were given; rising numbers from 0 to {len(present) - 1} are "
            "expected, at least one"
        )
    network.encoder.layer = torch.nn.ModuleList([present[row] for row in layers])
    network.config = copy.deepcopy(network.config)
    network.config.num_hidden_layers = len(layers)


def _without_dropout(module: NameModule) -> list[tuple[Any, float]]:
    """Switch dropout off: a student sees each string about once; return the rates of before."""
    import torch

    found = [
        (layer, layer.p)
        for layer in module.network.modules()
        if isinstance(layer, torch.nn.Dropout)
    ]
    for layer, _ in found:
        layer.p = 0.0
    return found


@with_verbosity
@click.command(cls=Command, context_settings=CONTEXT)
@sentence_encoder("The sentence encoder to learn from: all-MiniLM-L6-v2, or another BERT.")
@making_options(
    click.option(
        "--layers",
        default="0,2,4,5",
        show_default=True,
        metavar="NUMBERS",
        help="Its layers that stay, counted from 0.",
    ),
    click.option(
        "--batches", type=click.IntRange(min=1), default=600, show_default=True, help="Of training."
    ),
    PRECISION,
    RESUME,
)
def main(
    encoder: str, output: str, data: str, layers: str, batches: int, precision: str,
    resume: bool, seed: int, overwrite: bool,
) -> None:  # fmt: skip
    """Make a sentence encoder of fewer layers that gives nearly the same vectors, faster.

    It learns from names of open terminologies and from consumer health text; no corpus is read.
    Some ten minutes on two cores. The contextual encoder was made from such a student.

    \b
      python -m models.make_student --encoder all-MiniLM-L6-v2 --data corpora -o student
      python -m models.make_contextual --encoder student --data corpora -o taught
    """
    require("torch", "training an encoder", "torch")
    place = Path(output)
    check_folder(place, overwrite=overwrite)
    kept = _numbers(layers)
    with stages(unit="steps") as report:
        module, facts = make_student(
            Path(data),
            encoder,
            layers=kept,
            batches=batches,
            seed=seed,
            precision=precision,
            progress=report,
            log=lambda line: note(line),
            checkpoints=checkpoints_beside(place),
            resume=resume,
        )
    write_encoder(place, module, facts, overwrite=overwrite)
    if not is_quiet():
        print_facts({"encoder": output, "made from": encoder, "layers": layers, "seed": seed})


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"--layers is {text!r}; numbers with commas between them are expected, such as 0,2,4,5"
        ) from None


if __name__ == "__main__":
    main()
