"""Annotated mentions as questions to a terminology: which of these names does this string mean?

A batch of synonyms teaches an encoder what is alike. What a linker asks is narrower: whether, among
all names, one of the right concept comes first. `Questions` are mentions with that to answer, and
`Asking` draws them for the batches of `canonym.training.subword.fit.fit_subword`, each with the names
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

__all__ = ["Asking", "QuestionBatch", "Questions", "questions_of"]

Encode = Callable[[Sequence[str]], Float32Array]

# Names asked for beyond the wrong ones that are wanted: the nearest are often the right ones.
_SPARE = 40


class Questions(NamedTuple):
    """Mentions, and the names that they are looked up among.

    Attributes
    ----------
    texts : list of str
        Distinct normalised mentions; one that stands for two concepts is there twice.
    gold : (n,) int32
        The concept of each.
    chances : (n,) float64
        How often each is drawn; they add up to 1.
    names : list of str
        Normalised names, distinct within a concept.
    concepts : (n_names,) int32
        The concept of each.
    """

    texts: list[str]
    gold: Int32Array
    chances: npt.NDArray[np.float64]
    names: list[str]
    concepts: Int32Array


class QuestionBatch(NamedTuple):
    """Questions of a batch.

    Attributes
    ----------
    texts : list of str
        Mentions and candidates.
    mentions : (n,) int64
        Places of the mentions in `texts`.
    candidates : (n, k) int64
        Places of their candidates, −1 where there are fewer.
    right : (n, k) bool
        Which candidates are names of the right concept.
    """

    texts: list[str]
    mentions: npt.NDArray[np.int64]
    candidates: npt.NDArray[np.int64]
    right: npt.NDArray[np.bool_]


def questions_of(
    pairs: Iterable[tuple[str, str]],
    names: Iterable[tuple[str, str]],
    *,
    normalisation: Sequence[str] = NORMAL_STEPS,
) -> Questions:
    """Make questions of annotated mentions.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Mention and id of its concept, as often as it was annotated.
    names : iterable of (str, str)
        Name and id of its concept.
    normalisation : sequence of str
        Steps under which strings are equal; those of the encoder.

    Returns
    -------
    Questions
        Of the mentions that are no names, since an encoder has nothing to say where the string
        itself is there; and of ids that have a name. A mention that stands ``n`` times for its
        concept and ``N`` times for any is drawn in proportion to ``√n · n / N``, as in
        `canonym.training.subword.mention_names.mention_weights`.

    Examples
    --------
    >>> names = [("Migraine", "D1"), ("sick headache", "D1"), ("Fever", "D2")]
    >>> pairs = [("fevers", "D2"), ("megrim", "D1"), ("megrim", "D1"), ("oedema", "D9")]
    >>> questions_of(pairs, names).texts
    ['megrim']
    """
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
    return Questions(
        [form for form, _ in wanted],
        np.array([numbers[id_] for _, id_ in wanted], dtype=np.int32),
        np.array([chance / total for chance in wanted.values()]),
        [form for form, _ in known],
        np.array(concepts, dtype=np.int32),
    )


class Asking:
    """Draws questions, with the candidates that an encoder finds.

    Parameters
    ----------
    questions : Questions
        At least one.
    n : int
        Questions of a batch.
    wrong, right : int
        Candidates of each: the nearest names of other concepts, and of its own.

    Raises
    ------
    InvalidInput
        If there is no question, or a number is below 1.
    """

    def __init__(self, questions: Questions, *, n: int, wrong: int = 10, right: int = 5) -> None:
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
        """Find the candidates anew.

        Parameters
        ----------
        encode : callable
            Normalised strings to vectors of length one.

        Returns
        -------
        float
            The share of the questions whose nearest name is right, in [0, 1].
        """
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

    def draw(self, rng: np.random.Generator) -> QuestionBatch:
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
        return QuestionBatch(texts, mentions, candidates, right)
