"""``canonym train contextual``: make the contextual encoder again."""

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

__all__ = ["contextual"]


@click.command()
@sentence_encoder("The sentence encoder that is taught: all-MiniLM-L6-v2, or a student of it.")
@making_options(
    click.option(
        "--batches",
        type=click.IntRange(min=1),
        default=280,
        show_default=True,
        help="Of each of the three epochs of the first stage, on names and mentions.",
    ),
    click.option(
        "--neighbours",
        default="default",
        show_default=True,
        metavar="ENCODER",
        help="A subword encoder that finds the hard neighbours of names: default has read both "
        "parts; for one part, an encoder of `canonym train default --part`.",
    ),
    PRECISION,
    RESUME,
    parts=("train", "dev"),
    parts_help="Part of the corpora whose mentions are learned from. Can be repeated.",
)
def contextual(
    encoder: str, output: str, data: str, parts: tuple[str, ...], batches: int, neighbours: str,
    seed: int, precision: str, resume: bool, overwrite: bool, quiet: bool,
) -> None:  # fmt: skip
    """Teach a sentence encoder names and mentions, as the contextual encoder was taught.

    Names of open terminologies with the mentions of NCBI disease and BC5CDR, then synonym
    marginalization on the mentions, then the average with the weights it began with. An
    hour and a half on one core that computes in float32, for one of four layers.

    \b
      canonym train student --encoder all-MiniLM-L6-v2 --data corpora -o student
      canonym train contextual --encoder student --data corpora -o taught
      canonym index medic.db -o medic-index --encoder default --encoder taught
    """
    from pathlib import Path

    from canonym.cli.description import print_facts
    from canonym.cli.progress import note, stages
    from canonym.encoders import make_encoder
    from canonym.encoders.subword import Subword
    from canonym.errors import InvalidInput, require
    from canonym.training.contextual_encoder import make_contextual_encoder

    require("torch", "training an encoder", "torch")
    place = free_place(output, overwrite=overwrite)
    miner = make_encoder(neighbours)
    if not isinstance(miner, Subword):
        raise InvalidInput(
            f"--neighbours is {neighbours!r}, which is no subword encoder; 'default' is expected, "
            "or a folder that `canonym train default` made"
        )
    with stages(unit="steps", quiet=quiet) as report:
        module, facts = make_contextual_encoder(
            Path(data),
            encoder,
            miner=miner,
            parts=[part for part in ("train", "dev") if part in parts],
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
        print_facts({"encoder": output, "started from": encoder, "seed": seed})
