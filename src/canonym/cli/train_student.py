"""``canonym train student``: fewer layers of a sentence encoder, taught to do what all did."""

from __future__ import annotations

import click

from canonym.cli.making_options import (
    PRECISION,
    RESUME,
    checkpoints_beside,
    free_place,
    making_options,
    sentence_encoder,
    write_encoder,
)
from canonym.errors import InvalidInput

__all__ = ["student"]


@click.command()
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
def student(
    encoder: str, output: str, data: str, layers: str, batches: int, precision: str,
    resume: bool, seed: int, overwrite: bool, quiet: bool,
) -> None:  # fmt: skip
    """Make a sentence encoder of fewer layers that gives nearly the same vectors, faster.

    It learns from names of open terminologies and from consumer health text; no corpus is read.
    Some ten minutes on two cores. The contextual encoder was made from such a student.

    \b
      canonym train student --encoder all-MiniLM-L6-v2 --data corpora -o student
      canonym train contextual --encoder student --data corpora -o taught
    """
    from pathlib import Path

    from canonym.cli.description import print_facts
    from canonym.cli.progress import note, stages
    from canonym.errors import require
    from canonym.training.student import make_student

    require("torch", "training an encoder", "torch")
    place = free_place(output, overwrite=overwrite)
    kept = _numbers(layers)
    with stages(unit="steps", quiet=quiet) as report:
        module, facts = make_student(
            Path(data),
            encoder,
            layers=kept,
            batches=batches,
            seed=seed,
            precision=precision,
            progress=report,
            log=lambda line: note(line, quiet=quiet),
            checkpoints=checkpoints_beside(place),
            resume=resume,
        )
    write_encoder(place, module, facts, overwrite=overwrite)
    if not quiet:
        print_facts({"encoder": output, "made from": encoder, "layers": layers, "seed": seed})


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"--layers is {text!r}; numbers with commas between them are expected, such as 0,2,4,5"
        ) from None
