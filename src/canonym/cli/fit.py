"""``canonym fit``: an encoder of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from canonym.cli.annotated import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from canonym.encoders.subword import Subword
    from canonym.training.subword.held_out import Found, Gain
    from canonym.types import Document

__all__ = ["fit"]

_DIMENSIONS = 128
# On names set aside of MEDIC, an encoder that knows the words is about as good after fewer steps.
_STEPS, _STEPS_FROM_NONE = 2000, 3000


@click.command()
@click.argument("terminology", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="Folder to write.")
@click.option(
    "--start",
    default="default",
    show_default=True,
    metavar="ENCODER",
    help="What to go on from: default is the encoder that comes with canonym, none begins with "
    "random vectors; or a folder made by `canonym fit`.",
)
@click.option(
    "-c",
    "--corpus",
    "corpora",
    type=click.Path(),
    multiple=True,
    help="Annotated mentions, as `canonym evaluate` takes them: further names of their concepts, "
    "to learn from only. Can be repeated.",
)
@click.option(
    "--mention-type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Only mentions of this type, such as Disease. Can be repeated.",
)
@click.option(
    "--mention-share",
    "share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="How many of the names drawn are mentions.  [default: 0.2]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(tuple(FORMATS)),
    help="Format of the corpora; recognised when left out.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    help=f"[default: {_STEPS}; {_STEPS_FROM_NONE} with --start none]",
)
@click.option(
    "--batch", type=click.IntRange(min=2), default=512, show_default=True, help="Names in a step."
)
@click.option(
    "--dimensions",
    type=click.IntRange(min=1),
    help=f"Width of the vectors, with --start none.  [default: {_DIMENSIONS}]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--held-out",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="Names set aside, and with a corpus a fifth of its documents, to measure the gain in a "
    "first run; 0 saves that run.",
)
@click.option("--overwrite", is_flag=True, help="Replace the output if it exists.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no report.")
def fit(
    terminology: str,
    output: str,
    start: str,
    corpora: tuple[str, ...],
    types: tuple[str, ...],
    share: float | None,
    format_: str | None,
    steps: int | None,
    dimensions: int | None,
    held_out: int,
    overwrite: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Fit an encoder to the synonyms of TERMINOLOGY, in minutes and without a GPU.

    Twice: once without some of the names, which are then looked up, to show what is gained over the
    encoder that comes with canonym; and once with all names, which is what is written. With
    --corpus, mentions of some documents are set aside and looked up as well.

    \b
      canonym fit doid.db -o doid-encoder
      canonym fit medic.db -o medic-encoder --corpus train.pubtator --mention-type Disease
      canonym index doid.db -o doid-index --encoder doid-encoder
    """
    import time
    from pathlib import Path

    from canonym.cli.description import print_facts
    from canonym.cli.progress import stages
    from canonym.cli.sources import open_terminology
    from canonym.encoders import save_encoder
    from canonym.errors import InvalidInput
    from canonym.training.subword.held_out import SHARE, fit_names
    from canonym.training.subword.mention_names import mention_names

    if Path(output).exists() and not overwrite:
        raise InvalidInput(f"{output} exists already; choose another folder or pass --overwrite")
    _check_corpus_options(corpora, types, share, format_)
    encoder = open_start(start, dimensions)
    documents = _read_corpora(corpora, format_)
    began = time.monotonic()
    facts: dict[str, Any] = {"encoder": output, "goes on from": start}
    mentions = None
    with open_terminology(terminology, quiet=quiet) as opened:
        names = [text for texts in opened.iter_texts() for text in texts]
        concepts = opened.concept_of_row()
        data = {"terminology": opened.digest, "names": len(names)}
        facts["names"] = len(names)
        if documents:
            mentions = mention_names(documents, opened, types=types)
            facts["mentions"] = len(mentions.names)
            if mentions.dropped:
                facts["mentions left out"] = mentions.dropped
            data |= _corpus_data(documents, len(mentions.names), share or SHARE)
    options |= {"start": encoder, "mentions": mentions, "share": share or SHARE}
    options["dimensions"] = dimensions or _DIMENSIONS
    options["steps"] = steps or (_STEPS if encoder else _STEPS_FROM_NONE)
    with stages(unit="steps", quiet=quiet) as report:
        if held_out:
            gain = _gain(names, concepts, n=held_out, report=report, **options)
            facts |= _facts(gain, start, mentions=mentions is not None)
        fitted = fit_names(
            names, concepts, progress=lambda done, total: report("Fitting", done, total), **options
        )
    trained = {"start": None if encoder is None else encoder.trained, "data": data}
    trained["options"] = {name: options[name] for name in ("steps", "batch", "seed")}
    save_encoder(_with_history(fitted, trained), output, overwrite=overwrite)
    if not quiet:
        print_facts({**facts, "time": f"{time.monotonic() - began:.0f} s"})


def open_start(spec: str, dimensions: int | None) -> Subword | None:
    """Open the encoder that a fit goes on from; nothing for ``none``.

    Raises
    ------
    InvalidInput
        If it is no subword encoder, or a width is asked for that it cannot have.
    ReadError
        If there is no saved encoder of that name.
    """
    from canonym.encoders import load_encoder, make_encoder
    from canonym.encoders.subword import Subword
    from canonym.errors import InvalidInput

    if spec == "none":
        return None
    encoder = make_encoder(spec) if spec == "default" else load_encoder(spec)
    if not isinstance(encoder, Subword):
        raise InvalidInput(
            f"--start {spec}: this is a {type(encoder).__name__}, and only a subword encoder can "
            "be gone on from: default, none, or a folder made by `canonym fit`"
        )
    if dimensions is not None:
        raise InvalidInput(
            f"--dimensions {dimensions}: an encoder that goes on from another keeps its "
            f"{encoder.dimensions} dimensions; leave the option out, or pass --start none to "
            "begin with random vectors of that width"
        )
    return encoder


def _check_corpus_options(
    corpora: Sequence[str], types: Sequence[str], share: float | None, format: str | None
) -> None:
    from canonym.errors import InvalidInput

    given = {"--mention-type": bool(types), "--mention-share": share, "--format": format}
    for name, value in given.items():
        if value and not corpora:
            raise InvalidInput(f"{name} is about annotated mentions; name their file with --corpus")


def _read_corpora(paths: Sequence[str], format: str | None) -> list[Document]:
    from dataclasses import replace

    from canonym.cli.annotated import open_corpus

    # Tables without documents are documents of their own: of those with one id the first counts.
    return [
        document if document.id else replace(document, id=path)
        for path in paths
        for document in open_corpus(path, format=format).documents
    ]


def _corpus_data(documents: Sequence[Document], n: int, share: float) -> dict[str, Any]:
    from canonym.evaluation.run import corpus_digest

    return {"corpus": corpus_digest(documents), "mentions": n, "mention_share": share}


def _with_history(encoder: Subword, trained: dict[str, Any]) -> Subword:
    from canonym.encoders.subword import Subword

    options = encoder.options() | {"trained": trained}
    return Subword(encoder.table, scale=encoder.scale, **options)


def _gain(
    names: Sequence[str],
    concepts: Any,
    *,
    n: int,
    report: Any,
    start: Subword | None,
    **options: Any,
) -> Gain:
    """Fit without some names and mentions, look these up, and compare with the start."""
    from canonym.encoders import make_encoder
    from canonym.training.subword.held_out import measure_gain

    return measure_gain(
        names,
        concepts,
        baseline=start or make_encoder("default"),
        n=n,
        start=start,
        progress=lambda done, total: report("Fitting without what is set aside", done, total),
        **options,
    )


def _facts(gain: Gain, start: str, *, mentions: bool) -> dict[str, str]:
    before = "default encoder" if start in {"default", "none"} else start

    def told(what: str, found: Found | None, lead: str) -> dict[str, str]:
        if found is None:
            return {f"{what} set aside": "none could be"}
        return {
            f"{what} set aside": f"{found.n:,} looked up among {found.n_searched:,}",
            f"{lead}found, {before}": f"{100 * found.before:.1f} %",
            f"{lead}found, fitted encoder": f"{100 * found.after:.1f} %",
            f"{lead}gain": f"{100 * (found.after - found.before):+.1f} points",
        }

    facts = told("names", gain.names, "")
    return facts | told("mentions", gain.mentions, "mentions: ") if mentions else facts
