"""Names, mentions and scores that all peers share, by canonym's evaluation (``biosyn``)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from canonym.evaluation.dictionary import Dictionary, FoundConcept, FoundName, build_dictionary
from canonym.evaluation.outcomes import RankedAnswer, read_answers
from canonym.evaluation.protocols import PROTOCOLS
from canonym.evaluation.questions import Question, make_questions, read_corrections
from canonym.evaluation.slices import figures
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds
from inputs import MEDIC, PARTS, documents_of
from peers.processes import PeerFailed

READINGS = ("lenient", "strict")
SLICES = ("all", "unseen mention")


class Corpus(NamedTuple):
    """A corpus of three parts, with the types of its mentions and its list of misspelt words."""

    folder: str
    types: tuple[str, ...] = ()
    corrections: str = ""


CORPORA = {
    "NCBI disease": Corpus("ncbi-disease", corrections="medic-2012/ncbi-spell-check.txt"),
    "BC5CDR disease": Corpus("bc5cdr", types=("Disease",)),
}
TERMINOLOGY = MEDIC


@dataclass
class Task:
    """The questions of a test part, and the names among which they are looked up.

    `names` are distinct pairs of a name and the id of its concept, in normal form; the first one of
    a concept is its label, and training mentions come last.
    """

    questions: Sequence[Question]
    dictionary: Dictionary
    names: list[tuple[str, str]]

    @property
    def documents(self) -> list[list[str]]:
        """The strings to look up, document by document."""
        return [
            [text for one in some for text in one.parts]
            for _, some in groupby(self.questions, key=attrgetter("mention.document_id"))
        ]

    def score(self, candidates: Sequence[Sequence[tuple[str, str | None]]]) -> dict[str, Any]:
        """Score the candidates of all strings in both readings."""
        strings = sum(len(one.parts) for one in self.questions)
        if len(candidates) != strings:
            raise PeerFailed(f"it gave {len(candidates)} answers to {strings} strings")
        waiting = iter(candidates)
        answers = [
            tuple(self._answer(text, next(waiting)) for text in one.parts) for one in self.questions
        ]
        scored = {name: read_answers(self.questions, answers, name) for name in READINGS}
        return {
            f"{one.reading}, {one.slice}": one.to_dict()
            for one in figures(scored, metrics=["accuracy@1"], shown=SLICES)
        }

    def _answer(self, text: str, found: Sequence[tuple[str, str | None]]) -> RankedAnswer:
        """Give each name the ids of all its concepts, and rank the concepts by their best names.

        A peer that answers with names alone gets the concepts of a name as canonym orders them:
        labels first, then by id.
        """
        names, concepts = [], []
        for name, id_ in found:
            owners = self.dictionary.concepts_named(name)
            if id_ is None and not owners:
                raise PeerFailed(f"it found {name!r} for {text!r}, which is no name of a concept")
            names.append(FoundName(name, owners or (str(id_),), 0.0))
            concepts += [
                FoundConcept(one, name, 0.0) for one in (owners if id_ is None else (id_,))
            ]
        return RankedAnswer(text, tuple(names), tuple(concepts))


def make_task(data: Path, terminology: Terminology, corpus: Corpus) -> Task:
    """Prepare the test part of a corpus."""
    asked = make_questions(
        documents_of(corpus.folder, "test"),
        ConceptIds(terminology),
        PROTOCOLS["biosyn"],
        training=documents_of(corpus.folder, "train", "dev"),
        types=corpus.types,
        corrections=read_corrections(data / corpus.corrections) if corpus.corrections else None,
    )
    dictionary = build_dictionary(terminology, asked.learned, encoders=())
    pairs = ((name.text, name.concept_id) for name in dictionary.linker.terminology.iter_names())
    return Task(asked.questions, dictionary, list(dict.fromkeys(pairs)))


def distinct_documents(terminology: Terminology, corpus: Corpus) -> list[list[str]]:
    """Return the distinct prepared mentions of all parts, by document, in a random order."""
    documents = documents_of(corpus.folder, *PARTS)
    asked = make_questions(
        documents, ConceptIds(terminology), PROTOCOLS["biosyn"], types=corpus.types
    )
    met: set[str] = set()
    found = []
    for _, some in groupby(asked.questions, key=attrgetter("mention.document_id")):
        new = dict.fromkeys(text for one in some for text in one.parts if text not in met)
        met.update(new)
        if new:
            found.append([*new])
    random.Random(0).shuffle(found)
    return found
