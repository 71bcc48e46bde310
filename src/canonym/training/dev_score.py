"""The dev score: accuracy of an encoder on the dev part of a corpus, between epochs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from canonym.errors import InvalidInput
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import make_questions
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds
from canonym.text import PLAIN, biosyn_normal, normalise_all
from canonym.training.objective import Encode, comparable
from canonym.types import Document

_BLOCK = 8192


class DevAccuracy:
    """Accuracy@1 of an encoder alone, under BioSyn's protocol in its lenient reading.

    Called with a function from names to vectors of norm 1, it returns the share of mentions, in
    [0, 1], of which every part has a nearest name that any concept of the mention has. Another
    similarity than the cosine calls the function with ``normalise=False``.

    Parameters
    ----------
    documents : iterable of Document
        The dev part.
    terminology : Terminology
        The concepts.
    training : iterable of Document
        The training part, whose mentions become names of their concepts.
    types : sequence of str
        Only mentions of these types; all by default.
    corrections : mapping of str to str, optional
        Misspelt words, and the right ones.
    steps : sequence of str
        Normalisation before the encoder, as in an index: () for one that normalises itself.
    similarity : str
        How vectors are compared, one of `canonym.types.SIMILARITIES`.

    Raises
    ------
    InvalidInput
        If the protocol leaves no mention.

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
        similarity: str = "cosine",
    ) -> None:
        self._similarity = similarity
        question_set = make_questions(
            documents,
            ConceptIds(terminology),
            choose_protocol("biosyn"),
            training=training,
            types=types,
            corrections=corrections,
        )
        if not question_set.questions:
            reasons = ", ".join(
                f"{n:,} {reason}" for reason, n in question_set.counts().items() if n
            )
            raise InvalidInput(
                f"the dev part leaves no mention to score: {reasons or 'it is empty'}"
            )
        ids = [concept.id for concept in terminology.iter_concepts()]
        owners: dict[str, set[str]] = {}
        concepts = iter(terminology.concept_of_row().tolist())
        for texts in terminology.iter_texts():
            for text, concept in zip(texts, concepts, strict=False):
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
        self.n_mentions, self.n_names = len(self._questions), len(self._names)

    def __call__(self, encode: Encode) -> float:
        """Encode all names and mentions, and return the accuracy."""
        encode = comparable(encode, self._similarity)
        queries = encode(self._parts)
        best = np.full(len(queries), -np.inf, np.float32)
        nearest = np.zeros(len(queries), np.int64)
        vectors = encode(self._names)
        for start in range(0, len(vectors), _BLOCK):
            block = vectors[start : start + _BLOCK]
            scores = queries @ block.T
            if self._similarity == "euclidean":
                scores -= np.einsum("ij,ij->i", block, block) / 2  # falls as the distance grows
            place = scores.argmax(axis=1)
            top = scores[np.arange(len(queries)), place]
            better = top > best
            best[better], nearest[better] = top[better], place[better] + start
        right = [
            all(part is not None and self._owners[nearest[part]] & wanted for part in parts)
            for parts, wanted in self._questions
        ]
        return float(np.mean(right))
