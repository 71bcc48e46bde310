"""Annotated mentions as questions to a terminology: which of these names does this string mean?

A batch of synonyms teaches an encoder what is alike. What a linker asks is narrower: whether, among
all names, one of the right concept comes first. `QuerySet` are mentions with that to answer, and
`MentionQueries` draws them for the batches of `canonym.training.subword.fit.fit_subword`, each with the names
that the encoder of the moment takes for it, as BioSyn does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders.inputs import check_count
from canonym.encoders.subword import NORMAL_STEPS
from canonym.errors import InvalidInput
from canonym.indexes.exact import Exact
from canonym.text.memo import MemoNormaliser
from canonym.types import Float32Array, Int32Array

Encode = Callable[[Sequence[str]], Float32Array]

# Names asked for beyond the wrong ones that are wanted: the nearest are often the right ones.
_SPARE = 40


class QuerySet(NamedTuple):
    """Mentions, and the names that they are looked up among."""

    # Distinct normalised mentions; one that stands for two concepts is there twice
    texts: list[str]
    gold: Int32Array  # (n,) int32: the concept of each
    chances: npt.NDArray[np.float64]  # (n,) float64: how often each is drawn; they add up to 1
    names: list[str]  # Normalised names, distinct within a concept
    concepts: Int32Array  # (n_names,) int32: the concept of each


class QueryBatch(NamedTuple):
    """QuerySet of a batch."""

    texts: list[str]  # Mentions and candidates
    mentions: npt.NDArray[np.int64]  # (n,) int64: places of the mentions in `texts`
    # (n, k) int64: places of their candidates, −1 where there are fewer
    candidates: npt.NDArray[np.int64]
    right: npt.NDArray[np.bool_]  # (n, k) bool: which candidates are names of the right concept


def make_query_set(
    pairs: Iterable[tuple[str, str]],
    names: Iterable[tuple[str, str]],
    *,
    normalisation: Sequence[str] = NORMAL_STEPS,
) -> QuerySet:
    """Make questions of annotated mentions."""
    normalise = MemoNormaliser(tuple(normalisation))
    listed, annotated = list(names), list(pairs)
    forms = normalise([text for text, _ in listed])
    known = dict.fromkeys((form, id_) for form, (_, id_) in zip(forms, listed, strict=True) if form)
    numbers: dict[str, int] = {}
    concepts = [numbers.setdefault(id_, len(numbers)) for _, id_ in known]
    there = {form for form, _ in known}
    asked = normalise([text for text, _ in annotated])
    times = Counter(zip(asked, (id_ for _, id_ in annotated), strict=True))
    in_all = Counter(asked)
    wanted = {
        (form, id_): n**0.5 * n / in_all[form]
        for (form, id_), n in times.items()
        if form and form not in there and id_ in numbers
    }
    total = sum(wanted.values())
    return QuerySet(
        [form for form, _ in wanted],
        np.array([numbers[id_] for _, id_ in wanted], dtype=np.int32),
        np.array([chance / total for chance in wanted.values()]),
        [form for form, _ in known],
        np.array(concepts, dtype=np.int32),
    )


class MentionQueries:
    """Draws questions, with the candidates that an encoder finds."""

    def __init__(self, questions: QuerySet, *, n: int, wrong: int = 10, right: int = 5) -> None:
        for what, number in (("n", n), ("wrong", wrong), ("right", right)):
            check_count(what, number)
        if not questions.texts:
            raise InvalidInput(
                "no mention is left to ask about: each is a name of the terminology, or of a "
                "concept that it lacks"
            )
        self._questions, self._n, self._wrong, self._right = questions, n, wrong, right
        self._order = np.argsort(questions.concepts, kind="stable")
        ordered = questions.concepts[self._order]
        self._starts = np.searchsorted(ordered, questions.gold)
        self._ends = np.searchsorted(ordered, questions.gold, side="right")
        self._rows = np.empty((0, wrong + right), dtype=np.int64)

    def refresh(self, encode: Encode) -> float:
        """Find the candidates anew."""
        one = self._questions
        vectors, asked = encode(one.names), encode(one.texts)
        found = Exact(vectors).search(asked, min(len(one.names), self._wrong + _SPARE)).rows
        self._rows = np.full((len(asked), self._right + self._wrong), -1, dtype=np.int64)
        first = 0
        for place, gold in enumerate(one.gold.tolist()):
            own = self._order[self._starts[place] : self._ends[place]]
            own = own[np.argsort(-(vectors[own] @ asked[place]), kind="stable")][: self._right]
            others = found[place][one.concepts[found[place]] != gold][: self._wrong]
            self._rows[place, : len(own)] = own
            self._rows[place, self._right : self._right + len(others)] = others
            first += int(one.concepts[found[place, 0]] == gold)
        return first / len(asked)

    def draw(self, rng: np.random.Generator) -> QueryBatch:
        """Draw the questions of a batch; `refresh` comes first."""
        one = self._questions
        drawn = rng.choice(len(one.texts), self._n, p=one.chances)
        rows = self._rows[drawn]
        mentions = np.arange(self._n, dtype=np.int64)
        there = rows >= 0
        places = self._n + there.ravel().cumsum().reshape(rows.shape) - 1
        candidates = np.where(there, places, -1)
        texts = [one.texts[place] for place in drawn]
        texts += [one.names[row] for row in rows[there]]
        right = np.zeros(rows.shape, dtype=bool)
        right[:, : self._right] = there[:, : self._right]
        return QueryBatch(texts, mentions, candidates, right)
