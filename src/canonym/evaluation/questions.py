"""From annotated documents to what a system is asked, under the rules of a protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from canonym.corpora.duplicates import drop_duplicates
from canonym.errors import InvalidInput
from canonym.evaluation.gold import ConceptIds
from canonym.evaluation.preparation import Memory, Preparation, PreparedMention
from canonym.evaluation.protocols import Protocol
from canonym.types import Document, Mention

__all__ = ["Asked", "Dropped", "Question", "ask"]


@dataclass(frozen=True, slots=True)
class Question:
    """A mention as it is asked, and what is right.

    Parameters
    ----------
    mention : Mention
        As the corpus has it.
    parts : tuple of str
        The strings to look up: one, or one per part of a composite.
    gold : tuple of frozenset of str
        Right concepts as `canonym.evaluation.cases.Case` has them: one set per concept of a
        composite, one set for alternatives, nothing for NIL.
    abbreviation : bool, optional
        Whether the mention is, or holds, an abbreviation; None if its document has no text.
    seen_mention, seen_concept : bool, optional
        Whether training has the prepared text, and any of the concepts; None without training.
    frequency : int, optional
        Training mentions of the concept, of a composite's most frequent one.
    gloss : str
        A string to look up instead where it is found better; empty if there is none.
    document : int
        The number of the document that it stands in.
    """

    mention: Mention
    parts: tuple[str, ...]
    gold: tuple[frozenset[str], ...]
    abbreviation: bool | None = None
    seen_mention: bool | None = None
    seen_concept: bool | None = None
    frequency: int | None = None
    gloss: str = ""
    document: int = 0

    @property
    def text(self) -> str:
        """The prepared text in one piece."""
        return " ".join(self.parts)

    @property
    def concepts(self) -> frozenset[str]:
        """All concepts that the mention stands for."""
        return frozenset().union(*self.gold)

    @property
    def composite(self) -> bool:
        """Whether the annotators gave several concepts for the mention together."""
        return self.mention.rule == "all" and len(self.mention.ids) > 1


class Dropped(NamedTuple):
    """Mentions that are not asked, and the reason why."""

    reason: str
    mentions: tuple[Mention, ...]


class Asked(NamedTuple):
    """What a protocol makes of a corpus.

    Attributes
    ----------
    questions : tuple of Question
        In the order of the corpus.
    dropped : tuple of Dropped
        By reason; together with the questions these are all mentions of the corpus.
    learned : tuple of (str, str)
        Names to add to the terminology with the id of their concept; each once.
    times : tuple of int
        How many training mentions brought each of them.
    n_training : int
        Training mentions that were looked at.
    beside : tuple of (int, str)
        What is not asked under a refined or zero-shot protocol, but stands in a document beside
        what is: the number of the document, and a string.
    """

    questions: tuple[Question, ...]
    dropped: tuple[Dropped, ...]
    learned: tuple[tuple[str, str], ...]
    times: tuple[int, ...]
    n_training: int
    beside: tuple[tuple[int, str], ...] = ()

    def counts(self) -> dict[str, int]:
        """Count the mentions by what became of them."""
        return {
            "asked": len(self.questions),
            **{reason: len(mentions) for reason, mentions in self.dropped},
        }


def ask(
    documents: Iterable[Document],
    ids: ConceptIds,
    protocol: Protocol,
    *,
    training: Iterable[Document] = (),
    types: Sequence[str] = (),
    corrections: Mapping[str, str] | None = None,
    engine: str = "auto",
) -> Asked:
    """Apply the rules of a protocol to a corpus.

    Parameters
    ----------
    documents, training : iterable of Document
        The evaluated part of the corpus, and those that come before it.
    ids : ConceptIds
        Of the terminology; counts the ids of `documents`.
    protocol : Protocol
        The rules.
    types : sequence of str
        Only mentions of these types; all by default.
    corrections : mapping of str to str, optional
        Words and what they should be, applied to prepared strings.
    engine : str
        What finds abbreviations, see `canonym.mentions.abbreviations.find_abbreviations`.

    Returns
    -------
    Asked
        Questions, and everything that was dropped.

    Raises
    ------
    InvalidInput
        If there are no documents, no mentions, or none of the types.
    """
    corpus, known = list(documents), drop_duplicates(training)
    _check(corpus, types)
    prepare = Preparation(ids, protocol, tuple(types), corrections or {}, engine)
    before = [one for document in known for one in prepare(document, count=False)]
    memory = Memory(before) if known else None
    dropped: dict[str, list[Mention]] = {}
    questions: list[Question] = []
    first: set[str] = set()
    for number, document in enumerate(corpus):
        again = bool(document.id) and document.id in first
        first.add(document.id)
        for one in prepare(document, count=not again):
            reason = "in a repeated document" if again else one.reason(protocol)
            if reason:
                dropped.setdefault(reason, []).append(one.mention)
            else:
                questions.append(_question(one, memory, number))
    whole, questions = questions, _select(questions, before, protocol, dropped)
    kept = set(map(id, questions))
    learned = Counter(
        (one.text, concept)
        for one in before
        if protocol.merge and one.text and not one.reason(protocol)
        for part in one.gold
        for concept in sorted(part)
    )
    return Asked(
        tuple(questions),
        tuple(Dropped(reason, tuple(mentions)) for reason, mentions in dropped.items()),
        tuple(learned),
        tuple(learned.values()),
        len(before),
        tuple((one.document, text) for one in whole if id(one) not in kept for text in one.parts),
    )


def _question(one: PreparedMention, memory: Memory | None, document: int) -> Question:
    text, concept, frequency = (None, None, None) if memory is None else memory.recall(one)
    return Question(
        mention=one.mention,
        parts=one.parts,
        gold=one.gold,
        abbreviation=one.abbreviation,
        seen_mention=text,
        seen_concept=concept,
        frequency=frequency,
        gloss=one.gloss,
        document=document,
    )


def _select(
    questions: list[Question],
    before: Sequence[PreparedMention],
    protocol: Protocol,
    dropped: dict[str, list[Mention]],
) -> list[Question]:
    """Keep the questions that a refined or zero-shot protocol wants."""

    def identity(text: str, concepts: frozenset[str], rule: str) -> Hashable:
        return text if protocol.same == "text" else (text, concepts, rule)

    if protocol.keep not in {"refined", "zero-shot"}:
        return questions
    concepts = {concept for one in before for concept in one.concepts}
    training = {identity(one.text, one.concepts, one.mention.rule) for one in before}
    met: set[Hashable] = set()
    kept = []
    for question in questions:
        key = identity(question.text, question.concepts, question.mention.rule)
        reason = ""
        if protocol.keep == "zero-shot":
            reason = "of a concept that training has" if question.concepts & concepts else ""
        elif key in training:
            reason = "that training has as well"
        elif key in met:
            reason = "repeated"
        met.add(key)
        if reason:
            dropped.setdefault(reason, []).append(question.mention)
        else:
            kept.append(question)
    return kept


def _check(corpus: Sequence[Document], types: Sequence[str]) -> None:
    if not corpus:
        raise InvalidInput("no documents to evaluate: give at least one")
    if isinstance(types, str):
        raise InvalidInput(f"types is {types!r}; a list of types is expected: [{types!r}]")
    found = Counter(mention.type for document in corpus for mention in document.mentions)
    if not found:
        raise InvalidInput(f"the {len(corpus):,} documents hold no mentions to evaluate")
    missing = [name for name in types if name not in found]
    if missing:
        raise InvalidInput(
            f"no mention is of the type {missing[0]!r}; there are {', '.join(map(repr, found))}"
        )
