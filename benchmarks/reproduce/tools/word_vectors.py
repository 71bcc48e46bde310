"""``python benchmarks/reproduce word-vectors``: vectors of words from running text."""

from __future__ import annotations

from typing import Any

import click

from canonym.cli.options import overwrite_option, with_options
from canonym.training.keys import keys_of
from models.run import CONTEXT, Command
from reproduce.word_vectors import train_word_vectors

_settings = with_options(
    *(
        click.option(
            "--" + name.replace("_", "-"),
            type=click.Choice(key.choices) if key.choices else key.kind,
            default=key.default,
            show_default=True,
            help=key.help,
        )
        for name, key in keys_of(train_word_vectors).items()
    )
)


@click.command("word-vectors", cls=Command, context_settings=CONTEXT)
@click.argument("texts", nargs=-1, required=True, type=click.Path(), metavar="TEXT...")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    required=True,
    help="OUT.vec for a file that other tools read too; any other name for the folder of an "
    "encoder. There fastText keeps its character n-grams, so that every word has a vector.",
)
@_settings
@overwrite_option
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
    from reproduce.word_vectors import write_vec

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
