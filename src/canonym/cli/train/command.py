"""``canonym train``: an encoder trained as one of five papers describes."""

from __future__ import annotations

from typing import Any

import click

from canonym.cli.train.options import (
    cosine_options,
    data_options,
    loop_options,
    preparation_option,
    run_recipe,
    scratch_options,
)
from canonym.cli.train.reranker import reranker
from canonym.cli.train.words import word_vectors

__all__ = ["train"]


@click.group()
def train() -> None:
    """Train an encoder as one of five papers describes; settings are the paper's.

    The folder that is written is one that `canonym index --encoder` takes, and that
    sentence-transformers loads without canonym. A run that was stopped goes on with --resume; with
    several GPUs, start it with `accelerate launch -m canonym train ...`.

    \b
      canonym train biosyn --encoder models/BioBERT --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o biosyn-encoder
      canonym index medic.db -o medic-index --encoder biosyn-encoder --encoder chargrams
    """


@train.command()
@data_options(corpus="An annotated training part. Needed.")
@preparation_option("biosyn")
@click.option("-k", type=click.IntRange(min=1), default=20, show_default=True, help="Candidates.")
@click.option(
    "--dense-ratio",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share of the candidates that the encoder finds; the sparse scores find the others.",
)
@click.option(
    "--sparse",
    default="chargrams",
    show_default=True,
    metavar="ENCODER",
    help="What gives the sparse scores, and stays as it is: character n-grams as in the paper, or "
    "another encoder, as --encoder of `canonym index` takes it.",
)
@click.option(
    "--sparse-weight", type=float, default=0.0, show_default=True, help="Their weight at first."
)
@click.option(
    "--sparse-rate", type=float, default=0.01, show_default=True, help="The weight's learning rate."
)
@click.option(
    "--loss",
    type=click.Choice(("marginal", "hard-em", "pair-wise")),
    default="marginal",
    show_default=True,
)
@click.option("--merge", is_flag=True, help="Let training mentions be candidates too.")
@cosine_options()
@scratch_options()
@loop_options(
    batch_size=16,
    batch_help="Mentions",
    learning_rate=1e-5,
    optimizer="adam",
    schedule="constant",
    pooling="cls",
)
def biosyn(**given: Any) -> None:
    """Train with synonym marginalization (Sung et al. 2020, BioSyn).

    For each mention the nearest names are searched anew every epoch; the probability of the right
    ones among them is raised.

    \b
      canonym train biosyn --encoder models/BioBERT --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o biosyn-encoder
      canonym train biosyn --encoder scratch --terminology medic.txt \\
          --corpus train.pubtator -o small --max-steps 200 --dry-run
      canonym train biosyn --encoder hf:NAME --terminology medic.txt --corpus train.pubtator \\
          --cosine-scale 20 --sparse default --sparse-weight 20 --sparse-rate 0 -o beside
      canonym index medic.db -o medic-index --encoder beside --encoder default
    """
    names = ("k", "dense_ratio", "loss", "sparse", "sparse_weight", "sparse_rate", "merge")
    run_recipe("biosyn", given, *names, "cosine_scale", "cosine_middle", "batch_size")


@train.command()
@data_options(corpus="An annotated training part, whose mentions are names too.")
@preparation_option("none")
@click.option(
    "--share",
    type=click.FloatRange(min=0),
    default=1 / 3,
    show_default="a third",
    help="Mentions are repeated up to this share of the names.",
)
@scratch_options()
@loop_options(
    epochs=100,
    batch_size=1500,
    batch_help="Names",
    learning_rate=3e-5,
    weight_decay=0.0,
    optimizer="adam",
    pooling="mean",
    max_length=8,
)
def triplet(**given: Any) -> None:
    """Train with the hardest triplets of each batch (Xu and Bethard 2021).

    Each name, and each mention where a corpus is given, is drawn towards another name of its
    concept: the farthest one in the batch, and apart from the nearest one of another concept.

    \b
      canonym train triplet --encoder models/PubMedBERT --terminology medic.txt \\
          --dev dev.pubtator -o triplet-encoder --precision bf16
    """
    run_recipe("triplet", given, "share", "batch_size")


@train.command()
@data_options(corpus="An annotated training part. Needed.")
@preparation_option("biosyn")
@click.option(
    "--strategy",
    type=click.Choice(("random", "random+parents", "re-sampling", "re-sampling+siblings")),
    default="random",
    show_default=True,
    help="How names are chosen; parents and siblings are those of the terminology.",
)
@click.option("--positives", type=click.IntRange(min=1), default=30, show_default=True)
@click.option("--negatives", type=click.IntRange(min=1), default=5, show_default=True)
@click.option(
    "--relatives",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Names of parents or siblings.",
)
@click.option(
    "--distance", type=click.Choice(("euclidean", "cosine")), default="euclidean", show_default=True
)
@click.option("--margin", type=float, default=1.0, show_default=True)
@click.option(
    "--random-epochs",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Epochs of random sampling before re-sampling.",
)
@click.option(
    "--searched",
    type=click.Choice(("training", "all")),
    default="training",
    show_default=True,
    help="What re-sampling searches: names of training concepts, or all.",
)
@click.option("--allow-cycles", is_flag=True, help="Put up with cycles of the hierarchy.")
@scratch_options()
@loop_options(batch_size=48, batch_help="Triplets", learning_rate=1e-5, pooling="mean")
def dilbert(**given: Any) -> None:
    """Train on triplets of mentions and names (Miftahutdinov et al. 2021, DILBERT).

    \b
      canonym train dilbert --encoder models/BioBERT --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o dilbert-encoder
      canonym train dilbert --encoder models/BioBERT --terminology ctd.tsv \\
          --corpus train.pubtator --strategy re-sampling+siblings -o siblings-encoder
    """
    names = ("strategy", "distance", "margin", "random_epochs", "searched", "allow_cycles")
    numbers = {f"n_{what}": what for what in ("positives", "negatives", "relatives")}
    run_recipe("dilbert", given, *names, "batch_size", **numbers)


@train.command()
@data_options(corpus="")
@preparation_option("none")
@click.option(
    "--variant",
    type=click.Choice(("matrix", "translation", "none")),
    default="matrix",
    show_default=True,
    help="How relations are learned from: a matrix each, a vector each, or not at all.",
)
@click.option(
    "--relations",
    type=click.Path(),
    metavar="FILE",
    help="Relations as head<tab>relation<tab>tail lines.  [default: those of the terminology]",
)
@click.option(
    "--relation-share", type=float, help="Weight of relations.  [default: 1; translation: 0.1]"
)
@click.option("--alpha", type=float, default=2.0, show_default=True, help="Weight of positives.")
@click.option("--beta", type=float, default=50.0, show_default=True, help="Weight of negatives.")
@click.option("--threshold", type=float, default=0.5, show_default=True, help="Their middle.")
@click.option("--margin", type=float, default=0.1, show_default=True, help="Of mining.")
@click.option(
    "--repeats", type=click.IntRange(min=2), default=8, show_default=True, help="Of a triplet."
)
@click.option("--batches", type=click.IntRange(min=1), help="In an epoch.  [default: all triplets]")
@scratch_options()
@loop_options(
    epochs=None,
    max_steps=100_000,
    batch_size=128,
    batch_help="Triplets, repetitions included,",
    learning_rate=2e-5,
    warm_up=0.1,
    accumulation=8,
    pooling="cls",
    max_length=32,
)
def coder(**given: Any) -> None:
    """Train on synonyms and relations at once (Yuan et al. 2020, CODER).

    \b
      canonym train coder --encoder models/PubMedBERT --terminology umls.db -o coder-encoder
      canonym train coder --encoder scratch --terminology doid.obo -o small --max-steps 500
    """
    names = ("variant", "relation_share", "repeats", "batch_size", "alpha", "beta", "threshold")
    run_recipe("coder", given, *names, "margin", n_batches="batches")


@train.command()
@data_options(corpus="")
@click.option("--top", metavar="ID", help="Its children are the high-level concepts.")
@click.option("--concepts", type=click.IntRange(min=2), help="Only so many of them, the largest.")
@click.option(
    "--groups",
    type=click.Path(),
    metavar="FILE",
    help="Instead of --top: JSON, or JSON in gzip, of lists of names by concept.",
)
@click.option(
    "--names", type=click.IntRange(min=2), default=15, show_default=True, help="Of each concept."
)
@click.option("--margin", type=float, default=0.1, show_default=True)
@click.option("--alpha", type=float, default=1.0, show_default=True, help="Weight of triplets.")
@click.option("--beta", type=float, default=1.0, show_default=True, help="Weight of grounding.")
@click.option(
    "--weighting",
    type=click.Choice(("sphere", "inverse")),
    default="sphere",
    show_default=True,
    help="How negatives are weighed by distance.",
)
@click.option("--hidden", type=click.IntRange(min=1), default=9600, show_default=True)
@click.option(
    "--dropout", type=click.FloatRange(0, 1, max_open=True), default=0.5, show_default=True
)
@click.option(
    "--width",
    type=click.IntRange(min=1),
    help="Columns, reached by a random projection.  [default: the encoder's]",
)
@click.option("--allow-cycles", is_flag=True, help="Put up with cycles of the hierarchy.")
@loop_options(
    epochs=100,
    batch_size=16,
    batch_help="Names",
    learning_rate=1e-3,
    weight_decay=0.0,
    optimizer="adam",
    schedule="constant",
    patience=5,
)
def few_shot(**given: Any) -> None:
    """Train a head on a few names of high-level concepts (Fivez et al. 2021).

    The encoder stays as it is; a small network on top of it moves its vectors. Without --dev, the
    score is that of as many other names, with the sign turned: larger is better. Continual
    training is a second run with the first one's output as its --encoder.

    \b
      canonym train few-shot --encoder words.vec --terminology doid.obo --top DOID:4 \\
          --concepts 8 -o few-shot-encoder
    """
    names = ("margin", "alpha", "beta", "weighting", "batch_size")
    run_recipe("few-shot", given, *names, n="names")


for _command in (reranker, word_vectors):
    train.add_command(_command)
