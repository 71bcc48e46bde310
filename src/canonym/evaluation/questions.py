"""Questions of an evaluation: annotated documents under the rules of a protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from canonym.corpora.census import drop_duplicates
from canonym.corpora.concept_files import mention_parts
from canonym.corpora.gold import NO_CONCEPT
from canonym.errors import InvalidInput
from canonym.evaluation.protocols import Protocol
from canonym.io.streams import open_text
from canonym.mentions.abbreviations import find_abbreviations
from canonym.mentions.aliases import Aliases, find_aliases
from canonym.mentions.composites import split_composite
from canonym.terminology.ids import ConceptIds
from canonym.text import biosyn_normal
from canonym.types import Document, Mention


class PreparedMention(NamedTuple):
    """A mention with its strings and concepts, before any rule has dropped it.

    `parts` are the strings to look up, in normal form, and `gloss` the explanation of the mention
    in its document. `unknown` holds the ids that the terminology does not have.
    """

    mention: Mention
    parts: tuple[str, ...]
    gold: tuple[frozenset[str], ...]
    unknown: tuple[str, ...]
    abbreviation: bool | None
    gloss: str = ""

    @property
    def text(self) -> str:
        """The strings in one piece."""
        return " ".join(filter(None, self.parts))

    @property
    def concepts(self) -> frozenset[str]:
        """All concepts of the mention."""
        return frozenset().union(*self.gold)

    def reason(self, protocol: Protocol) -> str:
        """Return the reason to drop the mention, or an empty string."""
        if not self.mention.ids and self.mention.rule != "nil":
            return "without an id"
        if protocol.keep == "all":
            return ""
        if not any(self.gold) and not self.unknown:
            return "of no concept (NIL)"
        missing = self.unknown or frozenset() in self.gold
        return "with an id that the terminology does not have" if missing else ""


class TrainingMemory:
    """Texts and concepts of the training mentions."""

    def __init__(self, before: Sequence[PreparedMention]) -> None:
        self.texts = {mention.text for mention in before}
        self.counts = Counter(concept for mention in before for concept in mention.concepts)

    def recall(self, mention: PreparedMention) -> tuple[bool, bool | None, int | None]:
        """Return whether training has the text, whether it has a concept, and how often."""
        if not mention.concepts:
            return mention.text in self.texts, None, None
        frequency = max(self.counts[concept] for concept in mention.concepts)
        return mention.text in self.texts, frequency > 0, frequency


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepares the mentions of documents under a protocol; see `make_questions`."""

    ids: ConceptIds
    protocol: Protocol
    types: tuple[str, ...]
    corrections: Mapping[str, str]
    engine: str

    def __call__(self, document: Document, *, count: bool) -> Iterator[PreparedMention]:
        """Yield the mentions of a document; with `count` their ids enter the census."""
        mentions = [m for m in document.mentions if not self.types or m.type in self.types]
        has_text = bool(document.text) and self.protocol.split != "file"
        forms: Mapping[str, str] = {}
        if mentions and has_text and not self.protocol.as_written:
            forms = find_abbreviations(document.text, engine=self.engine)
        glosses: Aliases = {}
        if self.protocol.glosses:
            glosses = find_aliases(document.mentions, document.text, defined=forms)
        for mention in mentions:
            whole = expand_words(mention.text, forms) if forms else mention.text
            several = len(mention.ids) > 1
            parts: tuple[str, ...] = (whole,)
            if self.protocol.split == "file":
                parts = mention_parts(mention)
            elif self.protocol.split == "text" or (
                self.protocol.split in {"gold", "written"} and several
            ):
                parts = split_composite(whole)
            gold, unknown = self._gold(mention, count)
            short = (whole != mention.text or looks_short(mention.text)) if has_text else None
            normal = tuple(self._normal(part) for part in parts)
            gloss = glosses.get((mention.text, mention.type), "") if len(normal) == 1 else ""
            gloss = self._normal(expand_words(gloss, forms))
            yield PreparedMention(mention, normal, gold, unknown, short, gloss)

    def _normal(self, text: str) -> str:
        normal = text if self.protocol.as_written else biosyn_normal(text)
        if not self.corrections:
            return normal
        return " ".join(self.corrections.get(word, word) for word in normal.split())

    def _gold(
        self, mention: Mention, count: bool
    ) -> tuple[tuple[frozenset[str], ...], tuple[str, ...]]:
        concepts, unknown = [], []
        for id_ in mention.ids:
            if id_.lower() in NO_CONCEPT:
                concepts.append("")
                continue
            known_id = self.ids.concept(id_) if count else self.ids.find(id_)
            if known_id is None:
                unknown.append(id_)
            # An id that the terminology does not have stays: nothing can predict it.
            concepts.append(known_id or id_)
        if mention.rule == "all":
            parts = dict.fromkeys(frozenset({concept} - {""}) for concept in concepts)
            return tuple(parts), tuple(unknown)
        either = frozenset(concepts) - {""}
        return ((either,) if either else ()), tuple(unknown)


def expand_words(text: str, forms: Mapping[str, str]) -> str:
    """Write abbreviations out as BioSyn's preparation does: whole words between spaces only.

    Linking also writes out short forms of several words, with a hyphen or in brackets
    (`canonym.mentions.abbreviations.expand`). On the training and dev parts of two corpora this
    rule gives the released files, except for a dozen mentions of 14,000.

    >>> forms = {"FAP": "familial polyposis", "AFAP": "attenuated FAP"}
    >>> expand_words("AFAP (FAP) patients", forms)
    'attenuated familial polyposis (FAP) patients'
    """

    def written_out(text: str, above: frozenset[str]) -> str:
        return " ".join(
            written_out(forms[word], above | {word})
            if word in forms and word not in above
            else word
            for word in text.split()
        )

    return written_out(text, frozenset())


def looks_short(text: str) -> bool:
    """Tell whether a mention is one word of two to six characters, two or more of them capitals."""
    return 2 <= len(text) <= 6 and " " not in text and sum(letter.isupper() for letter in text) >= 2


def read_corrections(path: str | Path) -> dict[str, str]:
    """Read a list of misspelt words, one ``wrong||right`` a line."""
    changes = {}
    with open_text(path) as stream:
        for line in stream:
            if line.strip():
                wrong, separator, right = line.strip().partition("||")
                if not (wrong and separator and right) or "||" in right:
                    raise stream.error(f"'wrong||right' was expected, found {line.strip()[:60]!r}")
                changes[wrong] = right
    return changes


# --- questions ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """The strings to look up for a mention, and the right concepts.

    `parts` and `gold` are those of `canonym.evaluation.outcomes.ScoredMention`: one per concept of
    a composite. `abbreviation` is None if the document has no text, `seen_mention` and
    `seen_concept` without training data. `gloss` is looked up instead if it finds a nearer name.
    """

    mention: Mention
    parts: tuple[str, ...]
    gold: tuple[frozenset[str], ...]
    abbreviation: bool | None = None
    seen_mention: bool | None = None
    seen_concept: bool | None = None
    frequency: int | None = None
    gloss: str = ""

    @property
    def text(self) -> str:
        """The prepared text in one piece."""
        return " ".join(self.parts)

    @property
    def concepts(self) -> frozenset[str]:
        """All concepts of the mention."""
        return frozenset().union(*self.gold)

    @property
    def composite(self) -> bool:
        """Whether the annotators gave several concepts for the mention together."""
        return self.mention.rule == "all" and len(self.mention.ids) > 1


class Dropped(NamedTuple):
    """Mentions without a question, and the reason."""

    reason: str
    mentions: tuple[Mention, ...]


class QuestionSet(NamedTuple):
    """The questions of a corpus under a protocol, and everything that was dropped.

    `learned` are names that training adds to the terminology, with the id of their concept.
    """

    questions: tuple[Question, ...]
    dropped: tuple[Dropped, ...]
    learned: tuple[tuple[str, str], ...]
    n_training: int

    @property
    def left_out(self) -> str:
        """The numbers of mentions that were dropped and the reasons, in words."""
        return ", ".join(f"{len(mentions):,} {reason}" for reason, mentions in self.dropped)


def make_questions(
    documents: Iterable[Document],
    ids: ConceptIds,
    protocol: Protocol,
    *,
    training: Iterable[Document] = (),
    types: Sequence[str] = (),
    corrections: Mapping[str, str] | None = None,
    engine: str = "auto",
) -> QuestionSet:
    """Apply the rules of a protocol to a corpus.

    `training` holds the parts before the evaluated one, and `engine` finds abbreviations (see
    `canonym.mentions.abbreviations.find_abbreviations`). `corrections` apply to prepared strings.
    """
    corpus, known = list(documents), drop_duplicates(training)
    _check(corpus, types)
    prepare = Preparation(ids, protocol, tuple(types), corrections or {}, engine)
    before = [prepared for document in known for prepared in prepare(document, count=False)]
    memory = TrainingMemory(before) if known else None
    dropped: dict[str, list[Mention]] = {}
    questions: list[Question] = []
    first: set[str] = set()
    for document in corpus:
        again = bool(document.id) and document.id in first
        first.add(document.id)
        for prepared in prepare(document, count=not again):
            reason = "in a repeated document" if again else prepared.reason(protocol)
            if reason:
                dropped.setdefault(reason, []).append(prepared.mention)
            else:
                questions.append(_question(prepared, memory))
    questions = _select(questions, before, protocol, dropped)
    learned = dict.fromkeys(
        (prepared.text, concept)
        for prepared in before
        if protocol.merge and prepared.text and not prepared.reason(protocol)
        for part in prepared.gold
        for concept in sorted(part)
    )
    left_out = tuple(Dropped(reason, tuple(mentions)) for reason, mentions in dropped.items())
    return QuestionSet(tuple(questions), left_out, tuple(learned), len(before))


def _question(prepared: PreparedMention, memory: TrainingMemory | None) -> Question:
    text, concept, frequency = (None, None, None) if memory is None else memory.recall(prepared)
    return Question(
        *(prepared.mention, prepared.parts, prepared.gold, prepared.abbreviation),
        *(text, concept, frequency, prepared.gloss),
    )


def _select(
    questions: list[Question],
    before: Sequence[PreparedMention],
    protocol: Protocol,
    dropped: dict[str, list[Mention]],
) -> list[Question]:
    """Keep the questions of a refined or zero-shot protocol."""

    def identity(text: str, concepts: frozenset[str], rule: str) -> Hashable:
        return text if protocol.same == "text" else (text, concepts, rule)

    if protocol.keep not in {"refined", "zero-shot"}:
        return questions
    concepts = {concept for prepared in before for concept in prepared.concepts}
    training = {
        identity(prepared.text, prepared.concepts, prepared.mention.rule) for prepared in before
    }
    met: set[Hashable] = set()
    unseen = []
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
            unseen.append(question)
    return unseen


def _check(corpus: Sequence[Document], types: Sequence[str]) -> None:
    if not corpus:
        raise InvalidInput("no documents to evaluate: give at least one")
    if isinstance(types, str):
        raise InvalidInput(f"types is {types!r}; a list of types is expected: [{types!r}]")
    counts = Counter(mention.type for document in corpus for mention in document.mentions)
    if not counts:
        raise InvalidInput(f"the {len(corpus):,} documents hold no mentions to evaluate")
    if missing := [name for name in types if name not in counts]:
        raise InvalidInput(
            f"no mention is of the type {missing[0]!r}; there are {', '.join(map(repr, counts))}"
        )
