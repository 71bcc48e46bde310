"""Training mentions of a corpus, prepared as an evaluation prepares them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from canonym.corpora.census import drop_duplicates
from canonym.errors import InvalidInput
from canonym.evaluation.protocols import Protocol, choose_protocol
from canonym.evaluation.questions import make_questions
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds
from canonym.types import Document

SEVERAL = "of several concepts, whose parts cannot be told apart"
"""Why a composite mention is no training mention."""


class TrainingMentions(NamedTuple):
    """Mentions to train on, in the order of the corpus."""

    pairs: tuple[tuple[str, frozenset[str]], ...]  # text, and ids of which any is right
    dropped: dict[str, int]  # how many mentions were left out, by reason
    documents: tuple[str, ...] = ()  # the document id of each


def training_mentions(
    documents: Iterable[Document],
    terminology: Terminology,
    *,
    protocol: str | Protocol = "biosyn",
    types: Sequence[str] = (),
    corrections: Mapping[str, str] | None = None,
    engine: str = "auto",
    distinct: bool = False,
) -> TrainingMentions:
    """Prepare the mentions of a corpus as an evaluation prepares its questions.

    `documents` are the training part; repeated ones count once. `protocol` is one that prepares
    strings itself: ``"biosyn"`` writes abbreviations out, and strings in lower case without
    punctuation; ``"plain"`` changes nothing. Only mentions of `types` are taken, all by default.
    `corrections` are misspelt words, each with the right one. `engine` is that of
    `canonym.mentions.abbreviations.find_abbreviations`. With `distinct`, mentions of the same text
    and concepts count once.

    Raises `InvalidInput` if the protocol leaves strings to the linker, or no mention is left.

    Differences
    -----------
    BioSyn's released code trains without composite mentions, as here, and with each pair of text
    and concept once, which is ``distinct``; the paper averages over all training mentions.

    Examples
    --------
    >>> from canonym import Concept, Mention
    >>> terminology = Terminology.build([Concept("MESH:D1", "Migraine")])
    >>> document = Document("7", "Migraines hurt.", (Mention("Migraines", 0, 9, ids=("D1",)),))
    >>> training_mentions([document], terminology).pairs
    (('migraines', frozenset({'MESH:D1'})),)
    """
    checked_protocol = choose_protocol(protocol)
    if not checked_protocol.prepared:
        raise InvalidInput(
            f"the protocol {checked_protocol.name!r} leaves strings to the linker; train with one "
            "that prepares them, such as 'biosyn' or 'plain'"
        )
    question_set = make_questions(
        drop_duplicates(documents),
        ConceptIds(terminology),
        checked_protocol,
        types=types,
        corrections=corrections,
        engine=engine,
    )
    dropped = {reason: len(mentions) for reason, mentions in question_set.dropped}
    pairs, places = [], []
    for question in question_set.questions:
        reason = "of which nothing is left when prepared" if not question.text else ""
        if len(question.gold) > 1 or len(question.parts) > 1:
            reason = SEVERAL
        if reason:
            dropped[reason] = dropped.get(reason, 0) + 1
        else:
            pairs.append((question.text, question.concepts))
            places.append(question.mention.document_id)
    if not pairs:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())
        raise InvalidInput(f"the corpus leaves no mention to train on: {reasons}")
    if distinct:
        first: dict[tuple[str, frozenset[str]], str] = {}
        for pair, place in zip(pairs, places, strict=True):
            first.setdefault(pair, place)
        pairs, places = list(first), list(first.values())
    return TrainingMentions(tuple(pairs), dropped, tuple(places))
