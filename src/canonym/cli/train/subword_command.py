"""``canonym train subword``: an encoder fitted to a terminology."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from canonym.cli.description import print_facts
from canonym.cli.named_indexes import open_terminology
from canonym.cli.options import (
    Number,
    corpus_format_option,
    mention_type_option,
    overwrite_option,
    several,
)
from canonym.cli.progress import note, stages
from canonym.cli.verbosity import is_quiet
from canonym.errors import InvalidInput
from canonym.io.places import check_outputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from canonym.encoders.subword import Subword
    from canonym.training.subword.held_out import Found, Gain
    from canonym.training.subword.mention_names import MentionNames
    from canonym.types import Document

_DIMENSIONS = 128
# On names of MEDIC that were set aside, an encoder that knows the words needs fewer steps.
_STEPS, _STEPS_FROM_NONE = 2000, 3000
# On held-out names of UBERON a half keeps 6.3 of 7.2 points, on unseen mentions of BC5CDR it loses
# 1.5 points instead of 7.1 (`benchmarks/fit_share.py`).
_START_SHARE = 0.5


@click.command("subword")
@click.argument("terminology", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="Folder to write.")
@click.option(
    "--start",
    default="default",
    metavar="ENCODER",
    help="Encoder to start from: default is the bundled one, none means random vectors; or a "
    "folder made by `canonym train subword`.",
)
@several(
    "-c",
    "--corpus",
    "corpora",
    type=click.Path(),
    help="Annotated mentions, as `canonym evaluate` takes them. The encoder learns them as further "
    "names of their concepts.",
)
@mention_type_option()
@click.option(
    "--mention-share",
    "share",
    type=Number(0, 1, min_open=True, max_open=True),
    help="Share of mentions among the names drawn.  [default: 0.2]",
)
@corpus_format_option
@click.option(
    "--start-share",
    type=Number(0, 1, max_open=True),
    help="Share of the encoder it starts from in the result. Without it, the encoder learns names "
    f"and forgets how mentions are written.  [default: {_START_SHARE}; 0 with --start none]",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    help=f"Steps of training.  [default: {_STEPS}; {_STEPS_FROM_NONE} with --start none]",
)
@click.option("--batch", type=click.IntRange(min=2), default=512, help="Names in a step.")
@click.option(
    "--dimensions",
    type=click.IntRange(min=1),
    help=f"Width of the vectors, with --start none.  [default: {_DIMENSIONS}]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the random numbers.")
@click.option(
    "--held-out",
    type=click.IntRange(min=0),
    default=1000,
    help="Names set aside, beside a fifth of the documents of a corpus, to measure the gain in a "
    "first run; 0 skips that run.",
)
@overwrite_option
def subword(
    terminology: str,
    output: str,
    start: str,
    corpora: tuple[str, ...],
    types: tuple[str, ...],
    share: float | None,
    format_: str | None,
    start_share: float | None,
    steps: int | None,
    batch: int,
    dimensions: int | None,
    seed: int,
    held_out: int,
    overwrite: bool,
) -> None:
    """Fit an encoder to the synonyms of TERMINOLOGY, in minutes and without a GPU.

    It is fitted twice. The first time some names are set aside and looked up afterwards, to show
    the gain over the bundled encoder; the second time uses all names, and is written. With
    --corpus, mentions of some documents are set aside and looked up as well.

    \b
      canonym train subword doid.db -o doid-encoder
      canonym train subword medic.db -o medic-encoder --corpus train.pubtator --mention-type Disease
      canonym index doid.db -o doid-index --encoder doid-encoder
    """
    from canonym.encoders import make_encoder, save_encoder
    from canonym.encoders.subword import Subword
    from canonym.io.numbers import BY_BLAS
    from canonym.training.subword.held_out import SHARE, fit_names, measure_gain

    inputs = (terminology, start, *corpora)
    check_outputs({"-o": output}, inputs, overwrite=overwrite, folder=True)
    _check_corpus_options(corpora, types, share, format_)
    share = share or SHARE
    encoder = _open_start(start, dimensions)
    documents = _read_corpora(corpora, format_)
    began = time.monotonic()
    data = _read_names(terminology, documents, types)
    run = {
        "steps": steps or (_STEPS if encoder else _STEPS_FROM_NONE),
        "batch": batch,
        "seed": seed,
        "start_share": _chosen_share(start_share, encoder),
    }
    options: dict[str, Any] = {"start": encoder, "mentions": data.mentions, "share": share, **run}
    options["dimensions"] = dimensions or _DIMENSIONS
    facts = {"encoder": output, "starts from": start, **data.facts()}
    with stages(unit="steps") as report:
        if held_out:
            gain = measure_gain(
                data.names,
                data.concepts,
                baseline=encoder or make_encoder("default"),
                n=held_out,
                progress=partial(report, "Fitting without what is set aside"),
                **options,
            )
            facts |= _gain_facts(gain, start, mentions=data.mentions is not None)
        progress = partial(report, "Fitting")
        fitted = fit_names(data.names, data.concepts, progress=progress, **options)
    history: dict[str, Any] = {"start": encoder.trained if encoder is not None else None}
    history |= {"data": data.record(documents, share), "options": run, "rests_on": BY_BLAS}
    settings = fitted.options() | {"trained": history}
    save_encoder(Subword(fitted.table, scale=fitted.scale, **settings), output, overwrite=overwrite)
    if not is_quiet():
        print_facts({**facts, "time": f"{time.monotonic() - began:.0f} s"})
    if held_out:
        _warn_of_losses(gain, start)


class _Data(NamedTuple):
    """Names to fit an encoder to: all of a terminology, and annotated mentions."""

    names: list[str]
    concepts: npt.NDArray[np.int32]
    digest: str
    mentions: MentionNames | None

    def facts(self) -> dict[str, Any]:
        """Return the counts for the report."""
        facts: dict[str, Any] = {"names": len(self.names)}
        if self.mentions is not None:
            facts["mentions"] = len(self.mentions.names)
            if self.mentions.dropped:
                facts["mentions left out"] = self.mentions.dropped
        return facts

    def record(self, documents: Sequence[Document], share: float) -> dict[str, Any]:
        """Return what identifies the data, to be saved with the encoder."""
        from canonym.evaluation.run import corpus_digest

        record = {"terminology": self.digest, "names": len(self.names)}
        if self.mentions is None:
            return record
        n = len(self.mentions.names)
        return record | {"corpus": corpus_digest(documents), "mentions": n, "mention_share": share}


def _read_names(terminology: str, documents: Sequence[Document], types: Sequence[str]) -> _Data:
    from canonym.training.subword.mention_names import mention_names

    with open_terminology(terminology) as opened:
        mentions = mention_names(documents, opened, types=types) if documents else None
        names = [text for texts in opened.iter_texts() for text in texts]
        return _Data(names, opened.concept_of_row(), opened.digest, mentions)


def _check_corpus_options(
    corpora: Sequence[str], types: Sequence[str], share: float | None, format: str | None
) -> None:
    given = {"--mention-type": bool(types), "--mention-share": share, "--format": format}
    for name, value in given.items():
        if value and not corpora:
            raise InvalidInput(f"{name} is about annotated mentions; name their file with --corpus")


def _open_start(spec: str, dimensions: int | None) -> Subword | None:
    """Open the encoder that the fit starts from, or return None for ``none``."""
    from canonym.encoders import load_encoder, make_encoder
    from canonym.encoders.subword import Subword

    if spec == "none":
        return None
    encoder = make_encoder(spec) if spec == "default" else load_encoder(spec)
    if not isinstance(encoder, Subword):
        raise InvalidInput(
            f"--start {spec}: this is a {type(encoder).__name__}, and only a subword encoder can "
            "be fitted further: give default, none, or a folder made by `canonym train subword`"
        )
    if dimensions is not None:
        raise InvalidInput(
            f"--dimensions {dimensions}: the encoder {spec} keeps its {encoder.dimensions} "
            "dimensions; leave the option out, or pass --start none to begin with random vectors "
            "of that width"
        )
    return encoder


def _chosen_share(given: float | None, start: Subword | None) -> float:
    if start is None:
        if given:
            raise InvalidInput(
                f"--start-share {given} keeps a share of an encoder, and --start none has none; "
                "leave one of the two out"
            )
        return 0.0
    return _START_SHARE if given is None else given


def _read_corpora(paths: Sequence[str], format: str | None) -> list[Document]:
    from canonym.cli.annotated import open_corpus

    # A table without document ids is one document, called after its file: documents of the same id
    # count once.
    return [
        document if document.id else replace(document, id=path)
        for path in paths
        for document in open_corpus(path, format=format).documents
    ]


def _warn_of_losses(gain: Gain, start: str) -> None:
    for what, found in (("names", gain.names), ("mentions", gain.mentions)):
        if found is not None and found.after < found.before:
            instead = "the default encoder" if start in {"default", "none"} else start
            note(
                f"WARNING: fewer of the {what} set aside are found than before: keep {instead}, or "
                "fit with more --start-share or fewer --steps"
            )


def _gain_facts(gain: Gain, start: str, *, mentions: bool) -> dict[str, str]:
    before = "default encoder" if start in {"default", "none"} else start

    def facts_of(what: str, found: Found | None, lead: str) -> dict[str, str]:
        if found is None:
            return {f"{what} set aside": "none could be"}
        return {
            f"{what} set aside": f"{found.n:,} looked up among {found.n_searched:,}",
            f"{lead}found, {before}": f"{100 * found.before:.1f} %",
            f"{lead}found, fitted encoder": f"{100 * found.after:.1f} %",
            f"{lead}gain": f"{100 * (found.after - found.before):+.1f} points",
        }

    facts = facts_of("names", gain.names, "")
    return facts | facts_of("mentions", gain.mentions, "mentions: ") if mentions else facts
