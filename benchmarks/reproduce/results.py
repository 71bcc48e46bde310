"""Outcomes of rows: a linking run, folds, samples of a model, or another task; and NIL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.metrics import columns
from canonym.evaluation.outcomes import RankedAnswer
from canonym.evaluation.run import Run
from canonym.evaluation.slices import Figure
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds
from canonym.types import Document, Name, Record, Xref
from reproduce.folds import FoldRuns
from reproduce.measures.nil import (
    LEARNED,
    MOST_RIGHT,
    STRATEGIES,
    draw_thresholds,
    draw_with_features,
)
from reproduce.measures.spread import Spread, aggregate


@dataclass(frozen=True, slots=True)
class Measured:
    """The outcome of a task other than linking.

    Figures have the slice ``"all"``, no reading, and bounds of NaN where there are none. `unit` is
    ``"%"`` for shares. `sd` is the standard deviation of metrics that are means. `data` are
    digests of the files read, by their names in the data folder; `details` is what else is known.
    """

    task: str
    figures: tuple[Figure, ...]
    unit: str = ""
    remarks: tuple[str, ...] = ()
    sd: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)

    def figure(self, metric: str, *, reading: str | None = None) -> Figure:
        """Return the figure of a metric; this task has no readings."""
        if reading:
            raise InvalidInput(f"the task {self.task!r} has no readings; leave {reading!r} out")
        for figure in self.figures:
            if figure.metric == metric:
                return figure
        raise InvalidInput(
            f"the task {self.task!r} has no metric {metric!r}; it has "
            + ", ".join(figure.metric for figure in self.figures)
        )

    def value(self, metric: str, *, reading: str | None = None) -> float:
        """Return the value of `figure`."""
        return self.figure(metric, reading=reading).value


@dataclass(frozen=True, slots=True)
class SampleRuns:
    """One row run with two or more samples of its models."""

    runs: tuple[Run | Measured, ...]

    @property
    def remarks(self) -> list[str]:
        """The remarks of all samples, each once."""
        return list(dict.fromkeys(remark for run in self.runs for remark in run.remarks))

    def spread(self, metric: str, *, reading: str | None = None, slice: str = "all") -> Spread:
        """Return mean, standard deviation and t interval of a metric over the samples."""
        return aggregate(
            [
                run.figure(metric, reading=reading, slice=slice).value
                if isinstance(run, Run)
                else run.value(metric, reading=reading)
                for run in self.runs
            ]
        )


Outcome: TypeAlias = Run | FoldRuns | Measured | SampleRuns
"""The outcome of a row of an experiment."""


def leave_out(
    terminology: Terminology, documents: Iterable[Document], *, share: float, seed: int = 0
) -> tuple[Terminology, int]:
    """Take a share of the concepts of mentions out of a terminology.

    Returns the rest, without relations, and the number of concepts taken.
    """
    ids = ConceptIds(terminology)
    found = {ids.find(id_) for d in documents for m in d.mentions for id_ in m.ids} - {None}
    concepts = sorted(id_ for id_ in found if id_)
    n = round(share * len(concepts))
    if not 0 < share < 1 or not 0 < n < len(concepts):
        raise InvalidInput(
            f"a share of {share} of the {len(concepts):,} concepts of mentions is to be absent; "
            "more than 0 and less than 1 is expected, and at least one concept on either side"
        )
    rng = np.random.default_rng(seed)
    gone = {concepts[place] for place in rng.choice(len(concepts), size=n, replace=False)}

    def left() -> Iterable[Record]:
        for concept in terminology.iter_concepts():
            if concept.id not in gone:
                yield replace(concept, label="")
        rest: Iterable[Name | Xref]
        for rest in (terminology.iter_names(), terminology.iter_xrefs()):
            yield from (record for record in rest if record.concept_id not in gone)

    return Terminology.build(left()), n


def measure_nil(
    run: Run,
    terminology: Terminology,
    *,
    reading: str | None = None,
    n_dev: int = 100,
    repetitions: int = 20,
    seed: int = 0,
    by_distance: bool = False,
) -> Measured:
    """Choose thresholds by DILBERT's strategies on draws of the mentions, and try them on the rest.

    Figures are mean accuracies with t intervals over the repetitions, by strategy: those of
    DILBERT, `reproduce.measures.nil.MOST_RIGHT`, `reproduce.measures.nil.LEARNED`, and ``"never"``
    for never answering NIL. A mention is right if it is answered and its best candidate is right,
    or refused and the terminology lacks its concept. Its score is the confidence if there is one,
    else the similarity of the best candidate, of a composite that of its worst part (Miftahutdinov
    et al. 2021, section 5.4). Draws are the same for all strategies. With `by_distance` the scores
    ``1 / (1 + d)`` are turned into ``-d``: the paper's third threshold is a mean of distances.
    """
    chosen = reading or run.protocol.readings[0]
    cases = run.scored[chosen]
    right = columns(cases, "accuracy@1")[:, 0] > 0.5
    scores = [_negative_distance(case.score) if by_distance else case.score for case in cases]
    ids = {concept.id for concept in terminology.iter_concepts()}
    known = [
        bool(question.gold) and all(part & ids for part in question.gold)
        for question in run.questions
    ]
    right &= np.array(known)
    signs = _signs(run.answers)
    figures, spreads, thresholds = [], {}, {}
    size = {"n_dev": n_dev, "repetitions": repetitions}
    for strategy in (*STRATEGIES, MOST_RIGHT, LEARNED):
        rng = np.random.default_rng(seed)
        if strategy == LEARNED:
            drawn = draw_with_features(signs, right, known, rng=rng, **size)
        else:
            drawn = draw_thresholds(scores, right, known, strategy=strategy, rng=rng, **size)
        spread = aggregate(drawn.accuracy.tolist())
        n = len(cases) - n_dev
        figures.append(Figure("all", "", strategy, n, spread.mean, spread.low, spread.high))
        spreads[strategy] = spread.sd
        thresholds[strategy] = [float(one) for one in drawn.thresholds]
    share = float(right.mean())
    figures.append(Figure("all", "", "never", len(cases), share, float("nan"), float("nan")))
    absent = len(known) - sum(known)
    note = f"{absent:,} of {len(known):,} mentions have no concept in the terminology"
    return Measured(
        "nil",
        tuple(figures),
        "%",
        (note, f"thresholds are chosen on {n_dev} mentions, {repetitions} times"),
        spreads,
        {"thresholds": thresholds, "fingerprints": run.fingerprints},
    )


def _negative_distance(similarity: float) -> float:
    return 1 - 1 / similarity if similarity > 0 else -np.inf


def _signs(answers: Sequence[Sequence[RankedAnswer]]) -> npt.NDArray[np.float64]:
    """Return features of the best candidate of every mention, NaN where there is none."""
    # Of several parts that with the lowest score counts: it comes first among the features.
    rows = [min(map(_signs_of, parts), default=[]) for parts in answers]
    n = max(map(len, rows), default=0) or 1
    return np.array([row or [np.nan] * n for row in rows], dtype=np.float64)


def _signs_of(answer: RankedAnswer) -> list[float]:
    if answer.signs or not answer.concepts:
        return list(answer.signs)
    best, *others = answer.concepts
    return [best.score, best.score - others[0].score if others else best.score]
