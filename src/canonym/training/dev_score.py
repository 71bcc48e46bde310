"""The dev score: accuracy of an encoder on the dev part of a corpus, between epochs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from canonym.encoders.chargrams import CharGrams
from canonym.errors import InvalidInput
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import make_questions
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds
from canonym.text import PLAIN, biosyn_normal, normalise_all
from canonym.training.objective import Encode, comparable
from canonym.types import Document, Float32Array

_BLOCK = 8192
_FALLEN = 0.5  # of what n-grams find alone


class DevAccuracy:
    """Accuracy@1 of an encoder as it would be saved, under BioSyn's protocol, lenient reading.

    Called with a function from names to vectors of norm 1, it returns the share of mentions, in
    [0, 1], of which every part has a nearest name that any concept of the mention has. Another
    similarity than the cosine calls the function with ``normalise=False``. Where the encoder has a
    weight of character n-grams, the sum of both scores counts, and a notice says if the encoder
    alone finds less than half of what n-grams find alone.

    Mentions of the `training` part become names of their concepts. `types` and `corrections` are
    those of `canonym.evaluation.questions.make_questions`. `steps` normalise before the encoder, as
    in an index: () for one that normalises itself. `searched` returns how the encoder is searched
    now, see `canonym.training.loop.save.inference_of`; by cosine without n-grams by default.
    `notice` is called with a line of text. Raises `InvalidInput` if the protocol leaves no mention.

    Notes
    -----
    The same as ``accuracy@1`` of `canonym.evaluation.run.evaluate_corpus`, but everything except
    the encoding is prepared once. Of names equally near the first in the terminology counts.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        terminology: Terminology,
        *,
        training: Iterable[Document] = (),
        types: Sequence[str] = (),
        corrections: Mapping[str, str] | None = None,
        steps: Sequence[str] = PLAIN,
        searched: Callable[[], Mapping[str, Any]] = dict,
        notice: Callable[[str], None] = warnings.warn,
    ) -> None:
        self._searched, self._notice = searched, notice
        question_set = make_questions(
            documents,
            ConceptIds(terminology),
            choose_protocol("biosyn"),
            training=training,
            types=types,
            corrections=corrections,
        )
        if not question_set.questions:
            reasons = question_set.left_out or "it is empty"
            raise InvalidInput(f"the dev part leaves no mention to score: {reasons}")
        ids = [concept.id for concept in terminology.iter_concepts()]
        owners: dict[str, set[str]] = {}
        texts = chain.from_iterable(terminology.iter_texts())
        for text, concept in zip(texts, terminology.concept_of_row().tolist(), strict=True):
            if normal := biosyn_normal(text):
                owners.setdefault(normal, set()).add(ids[concept])
        for text, id_ in question_set.learned:
            owners.setdefault(text, set()).add(id_)
        self._owners = list(owners.values())
        parts = {
            part: None for question in question_set.questions for part in question.parts if part
        }
        number = {part: n for n, part in enumerate(parts)}
        self._questions = [
            ([number.get(part) for part in question.parts], question.concepts)
            for question in question_set.questions
        ]
        self._names = list(normalise_all(list(owners), steps))
        self._parts = list(normalise_all(list(parts), steps))
        self._texts = [(name, len(ids)) for name, ids in owners.items()], list(parts)
        self._grams: tuple[_Grams, float] | None = None  # with their accuracy alone
        self.n_mentions, self.n_names = len(self._questions), len(self._names)

    def __call__(self, encode: Encode) -> float:
        """Encode all names and mentions, and return the accuracy."""
        searched = {"similarity": "cosine", "sparse_weight": 0.0, **self._searched()}
        similarity, weight = searched["similarity"], searched["sparse_weight"]
        encode = comparable(encode, similarity)
        queries, names = encode(self._parts), encode(self._names)

        def dense(rows: slice) -> Float32Array:
            block = names[rows]
            scores = queries @ block.T
            if similarity == "euclidean":
                scores -= np.einsum("ij,ij->i", block, block) / 2  # falls as the distance grows
            return scores

        if not weight:
            return self._accuracy(dense)
        if self._grams is None:
            grams = _Grams(*self._texts)
            self._grams = (grams, self._accuracy(grams))
        (grams, without), alone = self._grams, self._accuracy(dense)
        if alone < _FALLEN * without:
            self._notice(
                f"the encoder alone finds {100 * alone:.1f} % of the dev mentions, character "
                f"n-grams alone {100 * without:.1f} %, and the dev score is that of both: if this "
                "stays so, the encoder has fallen apart; take a lower learning rate, or train a "
                "sentence encoder by cosines"
            )
        return self._accuracy(lambda rows: dense(rows) + np.float32(weight) * grams(rows))

    def _accuracy(self, scores: Callable[[slice], Float32Array]) -> float:
        """Return the accuracy by the scores of all parts with blocks of names."""
        best = np.full(len(self._parts), -np.inf, np.float32)
        nearest = np.zeros(len(self._parts), np.int64)
        for start in range(0, self.n_names, _BLOCK):
            block = scores(slice(start, start + _BLOCK))
            place = block.argmax(axis=1)
            top = block[np.arange(len(block)), place]
            better = top > best
            best[better], nearest[better] = top[better], place[better] + start
        right = [
            all(part is not None and self._owners[nearest[part]] & gold for part in parts)
            for parts, gold in self._questions
        ]
        return float(np.mean(right))


class _Grams:
    """Cosines of character n-grams, fitted to the names, of all parts with blocks of names."""

    def __init__(self, names: Sequence[tuple[str, int]], parts: Sequence[str]) -> None:
        from scipy.sparse import csr_array

        # As an index does it: a name counts once for each of its concepts.
        rows = [name for name, n_concepts in names for _ in range(n_concepts)]
        encoder = CharGrams().fit(normalise_all(rows))
        self._names, self._parts = (
            csr_array((vectors.data, *vectors[1::-1]), shape=(len(texts), vectors.n_columns))
            for texts in ([name for name, _ in names], parts)
            for vectors in [encoder.encode(list(normalise_all(texts)))]
        )

    def __call__(self, rows: slice) -> Float32Array:
        return np.asarray((self._parts @ self._names[rows].T).toarray())
