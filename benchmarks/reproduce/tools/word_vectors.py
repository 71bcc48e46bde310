"""``python benchmarks/reproduce word-vectors``: vectors of words from running text."""

from __future__ import annotations

from typing import Any

import click

from canonym.cli.train.command import TrainingCommand, click_option
from models.run import CONTEXT, Command


def _options() -> list[click.Option]:
    from canonym.training.option_notes import options_of
    from reproduce.word_vectors import OPTIONS, train_word_vectors

    return [*map(click_option, options_of(train_word_vectors, OPTIONS).values())]


class _Command(TrainingCommand, Command):
    """A command of this folder, with the options of training."""


@click.command("word-vectors", cls=_Command, make=_options, at=2, context_settings=CONTEXT)
@click.argument("texts", nargs=-1, required=True, type=click.Path(), metavar="TEXT...")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    required=True,
    help="OUT.vec for a file that other tools read too; any other name for the folder of an "
    "encoder. There fastText keeps its character n-grams, so that every word has a vector.",
)
@click.option("--overwrite", is_flag=True, help="Replace the output if it exists.")
def word_vectors(texts: tuple[str, ...], output: str, overwrite: bool, **options: Any) -> None:
    """Train word vectors on running text (Fivez et al. 2021, fastText).

    TEXT is a file of sentences or paragraphs, one a line, plain or compressed. The mean of the
    vectors of its words is the vector of a name.

    \b
      python benchmarks/reproduce word-vectors abstracts.txt.xz -o words.vec
      canonym train few-shot --encoder words.vec --terminology doid.obo --top DOID:4 -o head
    """
    from pathlib import Path

    from canonym.cli.description import print_facts
    from canonym.cli.progress import counter
    from canonym.cli.verbosity import is_quiet
    from canonym.encoders import save_encoder
    from canonym.io.places import check_outputs
    from reproduce.word_vectors import train_word_vectors, write_vec

    place = Path(output)
    folder = place.suffix != ".vec"
    check_outputs({"-o": output}, texts, overwrite=overwrite, folder=folder)
    with counter("Training", unit="epochs", total=options["epochs"]) as show:
        encoder = train_word_vectors(texts, progress=lambda done, _total: show(done), **options)
    if folder:
        save_encoder(encoder, place, overwrite=overwrite)
    else:
        write_vec(encoder, place, overwrite=overwrite)
    if not is_quiet():
        print_facts(
            {
                "word vectors": output,
                "words": f"{len(encoder.words):,}",
                "columns": encoder.n_columns,
                "n-gram vectors": f"{len(encoder.buckets) if folder else 0:,}",
            }
        )
