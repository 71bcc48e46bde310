"""``canonym train all-names``: BioSyn's loss with every name for a candidate."""

from __future__ import annotations

from typing import Any

import click

from canonym.cli.train_options import (
    data_options,
    loop_options,
    preparation_option,
    run_recipe,
    scratch_options,
)

__all__ = ["all_names"]


@click.command()
@data_options(corpus="An annotated training part. Needed.")
@preparation_option("biosyn")
@click.option(
    "--batches",
    type=click.IntRange(min=1),
    default=250,
    show_default=True,
    help="In an epoch, after which all names are encoded anew.",
)
@click.option(
    "--mention-share",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share of what asks in a batch that are mentions; the others are names.",
)
@click.option(
    "--kept",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.3,
    show_default=True,
    help="Chance of each right name to be one; the others are as if they were not there.",
)
@click.option(
    "--disturbed",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of what asks with a slip, in another order or the like.",
)
@click.option(
    "--cosine-scale",
    type=click.FloatRange(min=0, min_open=True),
    default=20.0,
    show_default=True,
    help="What cosines are multiplied by.",
)
@scratch_options()
@loop_options(
    epochs=4,
    batch_size=256,
    batch_help="Strings that ask",
    learning_rate=1e-5,
    warm_up=0.06,
    clip=1.0,
    pooling="mean",
)
def all_names(**given: Any) -> None:
    """Train with synonym marginalization over all names (BioSyn's loss, our batches).

    Mentions, and the names of the terminology, ask among all names for those of their concept; a
    name asks for the other names. BioSyn itself, with the nearest 20 names of each mention, is
    `canonym train biosyn`.

    \b
      canonym train all-names --encoder models/MiniLM --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o all-names-encoder --precision bf16
      canonym train all-names --encoder scratch --terminology medic.txt \\
          --corpus train.pubtator -o small --batches 20 --epochs 1 --dry-run
      canonym index medic.db -o medic-index --encoder all-names-encoder --encoder default
    """
    names = ("mention_share", "kept", "disturbed", "cosine_scale", "batch_size")
    run_recipe("all-names", given, *names, n_batches="batches")
