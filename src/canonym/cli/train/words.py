"""``canonym train word-vectors``: vectors of words from running text."""

from __future__ import annotations

import click

from models.options import free_place

__all__ = ["word_vectors"]

_AT_LEAST_1 = click.IntRange(min=1)


@click.command(name="word-vectors")
@click.argument("texts", nargs=-1, required=True, type=click.Path(), metavar="TEXT...")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    required=True,
    help="OUT.vec for a file that other tools read too; any other name for the folder of an "
    "encoder, in which fastText keeps its character n-grams: every word has a vector then.",
)
@click.option(
    "--kind",
    type=click.Choice(("fasttext", "word2vec")),
    default="fasttext",
    show_default=True,
    help="With vectors of character n-grams, or of words alone.",
)
@click.option(
    "--dimensions", type=_AT_LEAST_1, default=300, show_default=True, help="Columns of a vector."
)
@click.option(
    "--epochs", type=_AT_LEAST_1, default=5, show_default=True, help="Passes over the text."
)
@click.option(
    "--window", type=_AT_LEAST_1, default=5, show_default=True, help="Words to either side."
)
@click.option(
    "--negative", type=_AT_LEAST_1, default=5, show_default=True, help="Negatives of a pair."
)
@click.option(
    "--min-count",
    type=_AT_LEAST_1,
    default=5,
    show_default=True,
    help="Leave out words that occur less often.",
)
@click.option("--learning-rate", type=float, default=0.05, show_default=True)
@click.option("--n-min", type=_AT_LEAST_1, default=3, show_default=True, help="Of n-grams.")
@click.option("--n-max", type=_AT_LEAST_1, default=6, show_default=True, help="Of n-grams.")
@click.option(
    "--buckets",
    type=_AT_LEAST_1,
    default=200_000,
    show_default=True,
    help="Vectors that all n-grams share.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--workers",
    type=_AT_LEAST_1,
    default=1,
    show_default=True,
    help="Threads; with more than one, two runs differ.",
)
@click.option("--overwrite", is_flag=True, help="Replace the output if it exists.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no report.")
def word_vectors(
    texts: tuple[str, ...], output: str, overwrite: bool, quiet: bool, **options: object
) -> None:
    """Train word vectors on running text (Fivez et al. 2021, fastText).

    TEXT is a file of sentences or paragraphs, one a line, plain or compressed. The mean of the
    vectors of its words is the vector of a name.

    \b
      canonym train word-vectors abstracts.txt.xz -o words.vec
      canonym train few-shot --encoder words.vec --terminology doid.obo --top DOID:4 -o head
    """
    from typing import Any

    from canonym.cli.description import print_facts
    from canonym.cli.progress import counter
    from canonym.encoders import save_encoder
    from canonym.training.modules.word_vectors import train_word_vectors, write_vec

    place = free_place(output, overwrite=overwrite)
    given: dict[str, Any] = dict(options)
    with counter("Training", unit="epochs", total=given["epochs"], quiet=quiet) as show:
        encoder = train_word_vectors(texts, progress=lambda done, _total: show(done), **given)
    if place.suffix == ".vec":
        write_vec(encoder, place)
    else:
        save_encoder(encoder, place, overwrite=overwrite)
    if not quiet:
        print_facts(
            {
                "word vectors": output,
                "words": f"{len(encoder.words):,}",
                "columns": encoder.n_columns,
                "n-gram vectors": f"{0 if place.suffix == '.vec' else len(encoder.buckets):,}",
            }
        )
