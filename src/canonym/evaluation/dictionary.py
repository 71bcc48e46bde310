"""The dictionary of an evaluation: names in normal form, searched by similarity alone."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from canonym.encoders import make_encoder
from canonym.errors import InvalidInput
from canonym.evaluation.questions import QuestionSet
from canonym.linker import Linker
from canonym.linking.names import Filter
from canonym.mentions.aliases import LEAST_GAIN
from canonym.ranking.pooling import TieRule
from canonym.terminology import Terminology
from canonym.text import biosyn_normal
from canonym.types import Encoder, Name, Record

TRAINING = "training"
"""`Name.source` of the names of training mentions."""

_WIDER = 4  # names fetched per concept wanted


class FoundName(NamedTuple):
    """A name as a string, the ids of all concepts that have it, and its score."""

    text: str
    ids: tuple[str, ...]
    score: float


class FoundConcept(NamedTuple):
    """A concept, its best name, and the score of that name."""

    id: str
    name: str
    score: float


def equal_first(
    concepts: Iterable[FoundConcept], text: str, ids: Sequence[str], k: int
) -> tuple[FoundConcept, ...]:
    """Put concepts that have a string as a name before others of the best score.

    `concepts` are the `k` best, and `ids` those with that name. If all `k` tie, every one of `ids`
    ties too, for nothing is more similar to a string than the string.
    """
    near = list(concepts)
    tied = [concept.id for concept in near if concept.score == near[0].score]
    own = [id_ for id_ in ids if id_ in tied or len(tied) == k]
    first = [FoundConcept(id_, text, near[0].score) for id_ in own]
    return (*first, *(concept for concept in near if concept.id not in own))[:k]


def dictionary_records(
    terminology: Terminology,
    learned: Iterable[tuple[str, str]] = (),
    *,
    normal: Callable[[str], str] = biosyn_normal,
) -> Iterator[Record]:
    """Yield a terminology with its names in normal form, and the names of training mentions.

    Concepts come without label, then the names in the order of their rows, labels among them.
    """
    for concept in terminology.iter_concepts():
        yield replace(concept, label="", definition="")
    for name in terminology.iter_names():
        if text := normal(name.text):
            yield replace(name, text=text)
    for text, concept_id in learned:
        yield Name(text, concept_id, source=TRAINING)


def build_dictionary(
    terminology: Terminology,
    learned: Iterable[tuple[str, str]] = (),
    *,
    encoders: Sequence[str | Encoder] = ("chargrams",),
    weights: Sequence[float] | None = None,
    as_written: bool = False,
) -> Dictionary:
    """Index the terminology of an evaluation for a search by similarity alone.

    `learned` are names of training mentions, with the id of their concept. Without encoders a
    string finds the equal name only. With `as_written` encoders get names letter for letter. The
    index is temporary and goes with the dictionary.
    """
    normal = str if as_written else biosyn_normal
    records = Terminology.build(dictionary_records(terminology, learned, normal=normal))
    linker = Linker.build(
        records,
        encoders=prepared_encoders(encoders, as_written=as_written),
        weights=weights,
        sieves=(),
        spelling=False,
        composites=False,
        min_length=0,
    )
    return Dictionary(linker)


def prepared_encoders(
    encoders: Sequence[str | Encoder], *, as_written: bool
) -> Sequence[str | Encoder]:
    """Return encoders for prepared names, or for names letter for letter."""
    return [_unprepared(encoder) for encoder in encoders] if as_written else encoders


def _unprepared(encoder_or_name: str | Encoder) -> str | Encoder:
    """Return an encoder for names letter for letter; the caller's own is left unchanged."""
    encoder: Any = (
        make_encoder(encoder_or_name) if isinstance(encoder_or_name, str) else encoder_or_name
    )
    if hasattr(encoder, "steps"):  # it normalises by itself, and gets names letter for letter
        return encoder_or_name
    encoder = copy.copy(encoder)
    encoder.steps = ()
    unprepared: Encoder = encoder
    return unprepared


class Dictionary:
    """Finds the nearest names, and the nearest concepts, of prepared strings.

    Its linker has a terminology in normal form, and no sieves.
    """

    def __init__(self, linker: Linker) -> None:
        self.linker = linker
        self.kept: Dictionary | None = None  # the owner of the folder
        self._ids = [concept.id for concept in linker.terminology.iter_concepts()]
        self._texts = list(itertools.chain.from_iterable(linker.terminology.iter_texts()))
        self._number: dict[str, int] = {}
        owners = [self._number.setdefault(text, len(self._number)) for text in self._texts]
        self._chosen = linker.pipeline.filters.choose()
        self._names = list(self._number)
        ties = self._chosen.ties
        self._concept: list[int] = ties.concept_of_row.tolist()
        # The order of rows of equal score: labels first, then ids.
        ranks = ties.concept_rank[ties.concept_of_row].tolist()
        self._order = list(zip(ties.scope_of_row.tolist(), ranks, range(len(owners)), strict=True))
        self._rows: list[list[int]] = [[] for _ in self._names]
        for row in sorted(range(len(owners)), key=self._order.__getitem__):
            self._rows[owners[row]].append(row)
        # A search for names takes every distinct string for a concept.
        n = len(self._names)
        of_row, scopes = np.array(owners, dtype=np.int32), np.zeros(len(owners), dtype=np.int8)
        by_name = TieRule(of_row, scopes, np.arange(n, dtype=np.int32), by_scope=False)
        self._by_name = Filter(None, len(owners), n, by_name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (type(self), *self.linker.__reduce__())

    def concepts_named(self, text: str) -> tuple[str, ...]:
        """Return the ids of the concepts that have a string as a name, labels first, then by id."""
        name = self._number.get(text)
        if name is None:
            return ()
        return tuple(dict.fromkeys(self._ids[self._concept[row]] for row in self._rows[name]))

    def find_names(self, strings: Iterable[str], k: int) -> dict[str, tuple[FoundName, ...]]:
        """Rank the `k` distinct names nearest to each string in normal form.

        Of equal scores, the name that equals the string comes first: a plural ties with it for an
        encoder that drops endings. Then comes the order of the terminology.
        """
        names_of = self._search_names(distinct_strings(strings, k), k)
        return {text: self._described(names) for text, names in names_of.items()}

    def find_concepts(self, strings: Iterable[str], k: int) -> dict[str, tuple[FoundConcept, ...]]:
        """Rank the concepts nearest to each string by their best names.

        Of equal scores, concepts that have the string as a name come first, then labels, then ids.
        """
        distinct = distinct_strings(strings, k)
        if not self._searches:
            return {
                text: tuple(FoundConcept(id_, text, 1.0) for id_ in self.concepts_named(text)[:k])
                for text in distinct
            }
        hits = self.linker.pipeline.nearest([text for text in distinct if text], k, self._chosen)
        return {
            text: equal_first(
                (
                    FoundConcept(self._ids[hit.concept], self._texts[hit.row], hit.score)
                    for hit in hits.get(text, ())
                ),
                text,
                self.concepts_named(text),
                k,
            )
            for text in distinct
        }

    def find(
        self, strings: Iterable[str], k: int
    ) -> dict[str, tuple[tuple[FoundName, ...], tuple[FoundConcept, ...]]]:
        """Return the results of `find_names` and `find_concepts` from one search.

        All rows of a name have its score. The concepts of the names found are thus the nearest
        ones, as far as they score above the last name. Other strings are searched again.
        """
        distinct = distinct_strings(strings, k)
        if not self._searches:
            names, concepts = self.find_names(distinct, k), self.find_concepts(distinct, k)
            return {text: (names[text], concepts[text]) for text in distinct}
        wide = self._search_names(distinct, _WIDER * k)
        near = {text: self._concepts_of(text, names, k) for text, names in wide.items()}
        unsettled = [
            text
            for text, names in wide.items()
            if len(names) == _WIDER * k
            and (len(near[text]) < k or near[text][-1].score <= names[-1][1])
        ]
        near.update(self.find_concepts(unsettled, k))
        return {text: (self._described(wide[text][:k]), near[text]) for text in distinct}

    def _search_names(self, texts: Sequence[str], k: int) -> dict[str, list[tuple[int, float]]]:
        """Return numbers and scores of the nearest names."""
        if not self._searches:
            return {
                text: [(self._number[text], 1.0)] if text in self._number else [] for text in texts
            }
        hits = self.linker.pipeline.nearest([text for text in texts if text], k, self._by_name)
        near = {}
        for text in texts:
            names = [(hit.concept, hit.score) for hit in hits.get(text, ())]
            own, tied = self._number.get(text), sum(hit[1] == names[0][1] for hit in names)
            # Nothing is more similar to a string than the string: if all tie, it ties too.
            if own is not None and (tied == k or own in (name for name, _ in names[:tied])):
                others = [hit for hit in names if hit[0] != own]
                names = [(own, names[0][1]), *others][:k]
            near[text] = names
        return near

    def _described(self, names: Iterable[tuple[int, float]]) -> tuple[FoundName, ...]:
        return tuple(
            FoundName(self._names[name], self.concepts_named(self._names[name]), score)
            for name, score in names
        )

    def _concepts_of(
        self, text: str, names: Sequence[tuple[int, float]], k: int
    ) -> tuple[FoundConcept, ...]:
        best: dict[int, FoundConcept] = {}
        equal = set(self._rows[self._number[text]]) if text in self._number else set()
        for score, level in itertools.groupby(names, key=lambda name: name[1]):
            rows = [row for name, _ in level for row in self._rows[name]]
            for row in sorted(rows, key=lambda row: (row not in equal, self._order[row])):
                concept = self._concept[row]
                if concept not in best:
                    best[concept] = FoundConcept(self._ids[concept], self._texts[row], score)
            if len(best) >= k:
                break
        return tuple(best.values())[:k]

    @property
    def _searches(self) -> bool:
        return bool(self.linker.manifest["encoders"])


def _reopened(
    cls: type[Dictionary], opened: Callable[..., Linker], arguments: tuple[Any, ...]
) -> Dictionary:
    return cls(opened(*arguments))


def distinct_strings(strings: Iterable[str], k: int) -> list[str]:
    """Return each string once, and check that `k` counts candidates."""
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise InvalidInput(f"k is {k!r}; expected the number of candidates wanted, at least 1")
    return list(dict.fromkeys(strings))


def as_explained(question_set: QuestionSet, dictionary: Dictionary) -> QuestionSet:
    """Replace the string of a question by its gloss, if the gloss has a nearer name."""
    strings = {
        text
        for question in question_set.questions
        if question.gloss
        for text in (*question.parts, question.gloss)
    }
    if not strings:
        return question_set
    names_of = dictionary.find_names(strings, 1)
    near = {text: names[0].score if names else float("-inf") for text, names in names_of.items()}
    return question_set._replace(
        questions=tuple(
            replace(question, parts=(question.gloss,))
            if question.gloss and near[question.gloss] > near[question.parts[0]] + LEAST_GAIN
            else question
            for question in question_set.questions
        )
    )
