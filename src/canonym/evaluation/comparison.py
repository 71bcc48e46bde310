"""Other tools' ids under the same protocol, and whether the difference is one.

What files of predictions look like is told in `canonym.evaluation.predictions`. Ids may carry
another prefix than the terminology's.

A tool is compared on every mention that the protocol asks. One that the file lacks is an answer of
NIL; a line that no question belongs to is counted, with what became of its mention. The lenient
reading looks at names, which such a file does not have: tools are compared by the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import FoundConcept
from canonym.evaluation.figures import DRAWS, Figure
from canonym.evaluation.metrics import columns
from canonym.evaluation.outcome import Run
from canonym.evaluation.outcomes import Answer, Case, read_answers
from canonym.evaluation.predictions import Key, read_predictions
from canonym.evaluation.statistics import (
    Difference,
    McNemar,
    bound,
    mcnemar,
    paired_bootstrap,
)
from canonym.terminology.ids import IdCensus
from canonym.types import Mention

__all__ = ["Comparison", "Contrast", "Key", "compare", "read_predictions"]

_METRIC = "accuracy@1"


@dataclass(frozen=True, slots=True)
class Contrast:
    """Ours against another tool in one reading.

    Parameters
    ----------
    ours, theirs : Figure
        Accuracy of the two on the same mentions.
    difference : Difference
        Ours minus theirs, by paired bootstrap.
    test : McNemar
        Exact test on the mentions that only one of the two has right.
    """

    ours: Figure
    theirs: Figure
    difference: Difference
    test: McNemar

    def to_dict(self) -> dict[str, Any]:
        """Return the contrast ready for JSON."""
        return {
            "ours": self.ours.to_dict(),
            "theirs": self.theirs.to_dict(),
            "difference": self.difference._asdict(),
            "mcnemar": self.test._asdict(),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Another tool's predictions, scored beside a run.

    Parameters
    ----------
    name : str
        What to call the tool.
    contrasts : dict of str to Contrast
        By reading.
    cases : dict of str to tuple of Case
        Of the tool, by reading, in the order of the run's questions.
    missing : tuple of Key
        Mentions that were asked and that the predictions lack; counted as NIL.
    extra : dict of str to int
        Predictions that belong to no question, by what became of the mention.
    ids : IdCensus
        How the tool's ids were understood.
    """

    name: str
    contrasts: dict[str, Contrast]
    cases: dict[str, tuple[Case, ...]]
    missing: tuple[Key, ...]
    extra: dict[str, int]
    ids: IdCensus

    @property
    def remarks(self) -> list[str]:
        """What a reader of the figures has to know, as sentences."""
        found = []
        if self.missing:
            found.append(
                f"{self.name} has no prediction for {len(self.missing):,} of the mentions asked, "
                f"the first at {self.missing[0][1]}-{self.missing[0][2]} of document "
                f"{self.missing[0][0]}; they count as NIL"
            )
        found += [
            f"{count:,} predictions of {self.name} are of mentions {reason}; they do not count"
            for reason, count in self.extra.items()
        ]
        return [*found, *(f"{self.name}: {remark}" for remark in self.ids.remarks())]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison ready for JSON."""
        return {
            "name": self.name,
            "contrasts": {reading: one.to_dict() for reading, one in self.contrasts.items()},
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
        With the protocol, the questions and our answers.
    predictions : mapping of (document, start, end) to tuple of str
        Of `read_predictions`, or made by hand.
    name : str
        What to call the tool.
    seed : int
        Of the draws.

    Returns
    -------
    Comparison
        In every reading but the lenient one.

    Raises
    ------
    InvalidInput
        If no prediction belongs to a question, or the questions have no offsets.
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
        # An id that the terminology does not have is a prediction all the same, and a wrong one.
        concepts = [run.concept_ids.find(id_) or id_ for id_ in predictions.get(key, ())]
        found = [Answer("", (), (FoundConcept(id_, "", 1.0),)) for id_ in concepts]
        answers.append(found or [Answer("", (), (), nil=True)])
    cases: dict[str, tuple[Case, ...]] = {}
    contrasts = {}
    for reading in run.protocol.readings:
        if reading == "lenient":
            continue
        cases[reading] = read_answers(run.questions, answers, reading)
        ours, theirs = (columns(c, _METRIC) for c in (run.cases[reading], cases[reading]))
        n = len(ours)
        contrasts[reading] = Contrast(
            Figure("all", reading, _METRIC, n, *bound(ours, draws=DRAWS, rng=seed)),
            Figure("all", reading, _METRIC, n, *bound(theirs, draws=DRAWS, rng=seed)),
            paired_bootstrap(ours, theirs, draws=DRAWS, rng=seed),
            mcnemar(ours[:, 0], theirs[:, 0]),
        )
    extra = _explain_extra(run, predictions, set(keys))
    return Comparison(name, contrasts, cases, missing, extra, run.concept_ids.census(ids))


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
