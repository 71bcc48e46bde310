"""Comparison with another tool's ids under the same protocol.

`canonym.evaluation.predictions` describes the files of predictions. Ids may have another prefix
than the terminology's. A mention that the file lacks counts as NIL. Predictions without a question
are counted by reason. Files have no names, so the lenient reading is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import FoundConcept
from canonym.evaluation.metrics import columns
from canonym.evaluation.outcomes import RankedAnswer, ScoredMention, read_answers
from canonym.evaluation.predictions import Key
from canonym.evaluation.run import Run
from canonym.evaluation.slices import DRAWS, Figure
from canonym.evaluation.statistics import Difference, McNemar, bound, mcnemar, paired_bootstrap
from canonym.terminology.ids import IdCensus
from canonym.types import Mention

_METRIC = "accuracy@1"


@dataclass(frozen=True, slots=True)
class Contrast:
    """Ours against another tool in one reading."""

    ours: Figure
    theirs: Figure
    difference: Difference
    test: McNemar


@dataclass(frozen=True, slots=True)
class Comparison:
    """Another tool's predictions, scored beside a run.

    `contrasts` go by reading, and so does `scored`, which has the tool's mentions in the order of
    the run's questions. `missing` mentions have no prediction and count as NIL. `extra` counts the
    predictions without a question, by reason. `ids` tells how the tool's ids were understood.
    """

    name: str
    contrasts: dict[str, Contrast]
    scored: dict[str, tuple[ScoredMention, ...]]
    missing: tuple[Key, ...]
    extra: dict[str, int]
    ids: IdCensus

    @property
    def remarks(self) -> list[str]:
        """Sentences that a reader of the figures has to know."""
        remarks = []
        if self.missing:
            remarks.append(
                f"{self.name} has no prediction for {len(self.missing):,} of the mentions asked, "
                f"the first at {self.missing[0][1]}-{self.missing[0][2]} of document "
                f"{self.missing[0][0]}; they count as NIL"
            )
        remarks += [
            f"{count:,} predictions of {self.name} are of mentions {reason}; they do not count"
            for reason, count in self.extra.items()
        ]
        return [*remarks, *(f"{self.name}: {remark}" for remark in self.ids.remarks())]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison ready for JSON."""
        return {
            "name": self.name,
            "contrasts": {
                reading: {
                    "ours": contrast.ours.to_dict(),
                    "theirs": contrast.theirs.to_dict(),
                    "difference": contrast.difference._asdict(),
                    "mcnemar": contrast.test._asdict(),
                }
                for reading, contrast in self.contrasts.items()
            },
            "missing": len(self.missing),
            "extra": dict(self.extra),
            "ids": self.ids.to_dict(),
            "remarks": self.remarks,
        }


def compare(
    run: Run, predictions: Mapping[Key, tuple[str, ...]], *, name: str = "other", seed: int = 0
) -> Comparison:
    """Score another tool's ids on the questions of a run, and test the difference.

    Parameters
    ----------
    run : Run
        The evaluation, with our answers.
    predictions : mapping of (document, start, end) to tuple of str
        See `canonym.evaluation.predictions.read_predictions`.
    name : str
        Name of the tool.
    seed : int
        Of the draws.

    Returns
    -------
    Comparison
        In every reading but the lenient one.

    Raises
    ------
    InvalidInput
        If no prediction belongs to a question, or questions lack offsets.
    """
    keys = [_key(question.mention) for question in run.questions]
    missing = tuple(dict.fromkeys(key for key in keys if key not in predictions))
    if len(missing) == len(set(keys)):
        raise InvalidInput(
            f"none of the {len(predictions):,} predictions of {name} is of a mention that is "
            f"asked: is it another corpus? Asked is document {keys[0][0]!r}, {keys[0][1]}-"
            f"{keys[0][2]}, for one"
        )
    ids = [id_ for key in dict.fromkeys(keys) for id_ in predictions.get(key, ())]
    answers = []
    for key in keys:
        # An unknown id is a wrong prediction.
        concepts = [run.concept_ids.find(id_) or id_ for id_ in predictions.get(key, ())]
        ranked = [RankedAnswer("", (), (FoundConcept(id_, "", 1.0),)) for id_ in concepts]
        answers.append(ranked or [RankedAnswer("", (), (), nil=True)])
    scored: dict[str, tuple[ScoredMention, ...]] = {}
    contrasts = {}
    for reading in run.protocol.readings:
        if reading == "lenient":
            continue
        scored[reading] = read_answers(run.questions, answers, reading)
        ours, theirs = (columns(c, _METRIC) for c in (run.scored[reading], scored[reading]))
        n = len(ours)
        contrasts[reading] = Contrast(
            Figure("all", reading, _METRIC, n, *bound(ours, draws=DRAWS, rng=seed)),
            Figure("all", reading, _METRIC, n, *bound(theirs, draws=DRAWS, rng=seed)),
            paired_bootstrap(ours, theirs, draws=DRAWS, rng=seed),
            mcnemar(ours[:, 0], theirs[:, 0]),
        )
    extra = _explain_extra(run, predictions, set(keys))
    return Comparison(name, contrasts, scored, missing, extra, run.concept_ids.census(ids))


def _key(mention: Mention) -> Key:
    if mention.start is None or mention.end is None:
        raise InvalidInput(
            f"mention {mention.text[:60]!r} of document {mention.document_id!r} has no offsets, by "
            "which predictions are found"
        )
    return mention.document_id, mention.start, mention.end


def _explain_extra(
    run: Run, predictions: Mapping[Key, tuple[str, ...]], asked: set[Key]
) -> dict[str, int]:
    reasons = {
        (m.document_id, m.start, m.end): reason for reason, some in run.dropped for m in some
    }
    extra = [key for key in predictions if key not in asked]
    counts = Counter(reasons.get(key, "that the corpus does not have") for key in extra)
    return dict(counts.most_common())
