"""What a training run is made of, from the files named on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from canonym.cli.train.run import Request
    from canonym.terminology import Terminology
    from canonym.types import Document

__all__ = ["Parts", "prepare"]


@dataclass
class Parts:
    """The parts of a run.

    Attributes
    ----------
    trainable, objective
        As `canonym.training.loop.fit.fit` takes them.
    dev_score, dev_name
        What is measured between epochs, and what it is called.
    digests : dict of str to str
        Of the data.
    counts : dict of str to object
        What there is to train on.
    """

    trainable: Any
    objective: Any
    dev_score: Callable[[Any], float] | None
    dev_name: str
    digests: dict[str, str]
    counts: dict[str, Any]

    @property
    def first(self) -> bool:
        """Whether this is the process that writes; ``accelerate launch`` starts several."""
        return os.environ.get("RANK", "0") == "0"


def prepare(request: Request) -> Parts:
    """Read the files, open the encoder, and make the objective.

    Raises
    ------
    InvalidInput
        If a file or an option cannot be used, or there is nothing to train on.
    """
    from canonym.cli.train.run import open_terminologies, read_documents
    from canonym.evaluation.questions import read_corrections
    from canonym.io.files import file_digest
    from canonym.training.recipes import build_objective, data_digests, mentions_of
    from canonym.training.sampling.groups import read_relations

    corrections = read_corrections(request.corrections) if request.corrections else None
    corpus = read_documents(request.corpora, format=request.format_)
    dev = read_documents([request.dev], format=request.format_) if request.dev else []
    terminology = open_terminologies(request.terminologies, quiet=request.quiet)
    counts: dict[str, Any] = {"concepts": terminology.n_concepts, "names": terminology.n_names}
    mentions, dropped = mentions_of(
        corpus,
        terminology,
        preparation=request.preparation,
        types=request.types,
        corrections=corrections,
    )
    if corpus:
        counts["mentions"] = len(mentions)
    counts |= {f"left out {reason}": n for reason, n in dropped.items()}
    trainable = _open_trainable(request, terminology)
    objective = build_objective(
        request.recipe,
        terminology,
        mentions=mentions,
        preparation=request.preparation,
        relations=None if request.relations is None else read_relations(request.relations),
        groups=_groups(request, terminology),
        trainable=trainable,
        seed=request.seed,
        **_objective_options(request),
    )
    digests = data_digests(terminology, corpus=corpus, dev=dev)
    for what in ("corrections", "relations", "groups"):
        if (path := getattr(request, what)) is not None:
            digests[what] = file_digest(path)
    score, name = _dev_score(request, terminology, objective, corpus, dev, corrections, trainable)
    return Parts(trainable, objective, score, name, digests, counts)


def _open_trainable(request: Request, terminology: Terminology) -> Any:
    from canonym.training.recipes import open_head, open_trainable

    if request.recipe == "few-shot":
        return open_head(
            request.encoder,
            hidden=request.hidden,
            dropout=request.dropout,
            width=request.width,
            seed=request.seed,
        )
    sizes = {name: getattr(request, name) for name in ("width", "layers", "heads", "vocabulary")}
    return open_trainable(
        request.encoder,
        names=lambda: [text for texts in terminology.iter_texts() for text in texts],
        pooling=request.pooling,
        max_length=request.max_length,
        seed=request.seed,
        sizes=sizes,
    )


def _objective_options(request: Request) -> dict[str, Any]:
    from canonym.training.papers.coder import Weighing

    options = dict(request.options)
    if request.recipe == "coder":
        weighing = [options.pop(name) for name in ("alpha", "beta", "threshold", "margin")]
        options["weighing"] = Weighing(*weighing)
    return options


def _groups(request: Request, terminology: Terminology) -> dict[str, list[str]] | None:
    from canonym.training.recipes import group_names
    from canonym.training.sampling.groups import read_groups

    if request.groups is not None:
        return read_groups(request.groups)
    if request.top is None:
        return None
    return group_names(
        terminology, request.top, n_concepts=request.concepts, allow_cycles=request.allow_cycles
    )


def _dev_score(
    request: Request,
    terminology: Terminology,
    objective: Any,
    corpus: Sequence[Document],
    dev: Sequence[Document],
    corrections: Any,
    trainable: Any,
) -> tuple[Callable[[Any], float] | None, str]:
    from canonym.linking.build import encoder_steps
    from canonym.training.loop.dev_score import DevAccuracy

    if dev:
        score = DevAccuracy(
            dev,
            terminology,
            training=corpus,
            types=request.types,
            corrections=corrections,
            steps=encoder_steps(getattr(trainable, "base", None)),
        )
        return score, "dev accuracy@1"
    if request.recipe == "few-shot":
        return objective.validation_score, "validation score"
    return None, "dev"
