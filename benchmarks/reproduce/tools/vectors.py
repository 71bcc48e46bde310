"""Concepts by their vectors: near ones of the same semantic type, and relations told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from canonym.cli.options import several
from models.run import CONTEXT, Command

if TYPE_CHECKING:
    from reproduce.results import Measured

_TERMINOLOGY = several(
    *("-t", "--terminology", "terminologies"),
    type=click.Path(),
    required=True,
    help="A terminology, or a source that `canonym import` recognises.",
)
_ENCODER = click.option(
    "-e",
    "--encoder",
    default="default",
    show_default=True,
    metavar="SPEC",
    help="As for `canonym index`, of dense vectors.",
)


@click.command(cls=Command, context_settings=CONTEXT)
@_TERMINOLOGY
@_ENCODER
@several("--type", "types", metavar="TYPE", help="Only concepts of this semantic type.")
@click.option("-k", type=click.IntRange(1), default=40, show_default=True, help="Neighbours.")
def mcsm(terminologies: tuple[str, ...], encoder: str, types: tuple[str, ...], k: int) -> None:
    """Measure how far the nearest names are of the same semantic type (CODER, section 4.5).

    \b
      python benchmarks/reproduce mcsm --terminology umls.db --encoder coder \\
          --type "Disease or Syndrome" --type Finding
    """
    from canonym.cli.named_indexes import open_terminologies
    from canonym.cli.progress import activity
    from canonym.encoders import make_encoder
    from reproduce.rows import measure_mcsm

    terminology = open_terminologies(terminologies)
    with activity("Encoding"):
        found = measure_mcsm(terminology, make_encoder(encoder), types=types, k=k)
    _print(found, "type", 1)


@click.command(cls=Command, context_settings=CONTEXT)
@_TERMINOLOGY
@_ENCODER
@click.option(
    "--relations",
    type=click.Path(),
    metavar="FILE",
    help="head<tab>relation<tab>tail a line.  [default: those of the terminology]",
)
@click.option(
    "--most",
    type=click.IntRange(2),
    metavar="N",
    help="At most so many triplets of a relation, half of them turned around.",
)
@click.option("--finetuned", is_flag=True, help="Train the encoder along; needs torch.")
@click.option("--epochs", type=click.IntRange(1), default=50, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
def relations(
    terminologies: tuple[str, ...],
    encoder: str,
    relations: str | None,
    most: int | None,
    finetuned: bool,
    epochs: int,
    seed: int,
) -> None:
    """Measure how well the relation of two concepts is told from their vectors (section 4.6).

    A fifth of the pairs of concepts is for the test.

    \b
      python benchmarks/reproduce relations --terminology doid.db --encoder coder --most 5000
      python benchmarks/reproduce relations --terminology umls.db --relations ddb.tsv --finetuned
    """
    from canonym.cli.named_indexes import open_terminologies
    from canonym.cli.progress import activity
    from canonym.encoders import make_encoder
    from canonym.training.sampling.relations import read_relations
    from reproduce.rows import measure_relations

    terminology = open_terminologies(terminologies)
    triplets = list(read_relations(relations) if relations else terminology.iter_relations())
    with activity("Training"):
        found = measure_relations(
            terminology,
            triplets,
            make_encoder(encoder),
            fresh=(lambda: make_encoder(encoder)) if finetuned else None,
            most=most,
            epochs=epochs,
            seed=seed,
        )
    _print(found, "metric", 100)


def _print(found: Measured, what: str, factor: int) -> None:
    from canonym.cli.output import print_table
    from canonym.cli.progress import note

    digits = 1 if factor == 100 else 2
    rows = [
        (figure.metric, f"{figure.n:,}", f"{factor * figure.value:.{digits}f}")
        for figure in found.figures
    ]
    print_table((what, "n", found.task), rows, right=("n", found.task))
    for remark in found.remarks:
        note(f"{remark[0].upper()}{remark[1:]}.")
