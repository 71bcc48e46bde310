"""The record of an evaluation run: outcomes by protocol, with their figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from canonym.errors import InvalidInput
from canonym.evaluation.figures import Figure
from canonym.evaluation.metrics import columns
from canonym.evaluation.outcomes import (
    Answer,
    Case,
)
from canonym.evaluation.protocols import Protocol
from canonym.evaluation.questions import Dropped, Question
from canonym.terminology.ids import ConceptIds, IdCensus

# MODULE: What an evaluation yields: questions, answers, cases, figures, and what identifies them.


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of an evaluation.

    Parameters
    ----------
    protocol : Protocol
        Its rules are ``protocol.rules``.
    part : str
        Which part of the corpus was evaluated, such as ``"test"``.
    questions : tuple of Question
        What was asked, in the order of the corpus.
    answers : tuple of tuple of Answer
        What was found for each part of each question.
    cases : dict of str to tuple of Case
        By reading; the first reading is the one to be compared with published numbers.
    dropped : tuple of Dropped
        What was not asked, by reason.
    ids : IdCensus
        How the gold ids were understood.
    headline : tuple of Figure
        Figures of all readings on the slices that separate systems.
    fingerprints : dict
        What identifies corpus, terminology, index and encoders, with the seed and the version.
    seconds : dict of str to float
        Time taken by ``"preparing"``, ``"indexing"``, ``"linking"`` and ``"evaluating"``.
    concept_ids : ConceptIds
        Finds the concepts of further ids, such as those of another tool.
    learned : tuple of (str, str)
        Names that training mentions added to the terminology, with the id of their concept.
    notes : tuple of str
        Further remarks, of what the caller did before.
    """

    protocol: Protocol
    part: str
    questions: tuple[Question, ...]
    answers: tuple[tuple[Answer, ...], ...]
    cases: dict[str, tuple[Case, ...]]
    dropped: tuple[Dropped, ...]
    ids: IdCensus
    headline: tuple[Figure, ...]
    fingerprints: dict[str, Any]
    seconds: dict[str, float]
    concept_ids: ConceptIds
    learned: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def remarks(self) -> list[str]:
        """What a reader of the figures has to know, as sentences."""
        left_out = [f"{len(d.mentions):,} mentions {d.reason} were left out" for d in self.dropped]
        return [*self.notes, *left_out, *self.ids.remarks()]

    def figure(self, metric: str, *, reading: str | None = None, slice: str = "all") -> Figure:
        """Return a figure of the headline; of the first reading unless another is named.

        Raises
        ------
        InvalidInput
            If the headline has no such figure.
        """
        reading = reading or self.protocol.readings[0]
        for figure in self.headline:
            if (figure.slice, figure.reading, figure.metric) == (slice, reading, metric):
                return figure
        raise InvalidInput(
            f"the headline has no {metric!r} of {slice!r} in the reading {reading!r}; it has "
            + ", ".join(dict.fromkeys(figure.metric for figure in self.headline))
        )

    def value(self, metric: str, *, reading: str | None = None, slice: str = "all") -> float:
        """Return the value of `figure`."""
        return self.figure(metric, reading=reading, slice=slice).value

    def mentions(self, k: int = 5) -> list[dict[str, Any]]:
        """Return one plain dict per question: the mention, what is right, what was found."""
        readings = {name: _right(cases) for name, cases in self.cases.items()}
        return [
            {
                "document": question.mention.document_id,
                "start": question.mention.start,
                "end": question.mention.end,
                "mention": question.mention.text,
                "type": question.mention.type,
                "gold": [sorted(part) for part in question.gold],
                "right": {name: right[i] for name, right in readings.items()},
                "parts": [
                    {
                        "searched": answer.searched,
                        "nil": answer.nil,
                        "concepts": [found._asdict() for found in answer.concepts[:k]],
                    }
                    for answer in answers
                ],
            }
            for i, (question, answers) in enumerate(zip(self.questions, self.answers, strict=True))
        ]

    def to_dict(self, *, mentions: bool = False, seconds: bool = False) -> dict[str, Any]:
        """Return the run as plain dicts and lists, ready for JSON.

        Parameters
        ----------
        mentions : bool
            Whether to add what was asked and found, mention by mention.
        seconds : bool
            Whether to add the times, which differ from run to run; all else is the same again.
        """
        return {
            "protocol": self.protocol.to_dict(),
            "part": self.part,
            "n": len(self.questions),
            "dropped": {reason: len(some) for reason, some in self.dropped},
            "ids": self.ids.to_dict(),
            "remarks": self.remarks,
            "headline": [figure.to_dict() for figure in self.headline],
            "fingerprints": self.fingerprints,
            **({"mentions": self.mentions()} if mentions else {}),
            **({"seconds": dict(self.seconds)} if seconds else {}),
        }


def _right(cases: Sequence[Case]) -> list[bool]:
    return [bool(right) for right in columns(cases, "accuracy@1")[:, 0]]
