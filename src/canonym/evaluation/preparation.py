"""Mentions brought to the form in which a protocol asks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from canonym.corpora.concepts import mention_parts
from canonym.corpora.gold import NO_CONCEPT
from canonym.errors import ReadError
from canonym.evaluation.gold import ConceptIds
from canonym.evaluation.protocols import Protocol
from canonym.mentions.abbreviations import find_abbreviations
from canonym.mentions.composites import split_composite
from canonym.mentions.glosses import Glosses, find_glosses
from canonym.streams import open_text
from canonym.text import biosyn_normal
from canonym.types import Document, Mention

__all__ = ["Memory", "Preparation", "PreparedMention", "expand_words", "read_corrections"]


class PreparedMention(NamedTuple):
    """A mention with its strings and concepts, before any rule has dropped it.

    Attributes
    ----------
    mention : Mention
        As the corpus has it.
    parts : tuple of str
        The strings to look up, in normal form.
    gold : tuple of frozenset of str
        As `canonym.evaluation.cases.Case` has it.
    unknown : tuple of str
        Ids that the terminology does not have.
    abbreviation : bool or None
        Whether the mention is, or holds, an abbreviation.
    gloss : str
        What the document explains it by, in normal form; empty if by nothing.
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
        """Say why the mention is not asked, or nothing."""
        if not self.mention.ids and self.mention.rule != "nil":
            return "without an id"
        if protocol.keep == "all":
            return ""
        if not any(self.gold) and not self.unknown:
            return "of no concept (NIL)"
        missing = self.unknown or frozenset() in self.gold
        return "with an id that the terminology does not have" if missing else ""


class Memory:
    """What a system could have learned from the training mentions."""

    def __init__(self, before: Sequence[PreparedMention]) -> None:
        self.texts = {one.text for one in before}
        self.counts = Counter(concept for one in before for concept in one.concepts)

    def recall(self, one: PreparedMention) -> tuple[bool, bool | None, int | None]:
        """Say whether training has the text, whether it has a concept, and how often."""
        if not one.concepts:
            return one.text in self.texts, None, None
        frequency = max(self.counts[concept] for concept in one.concepts)
        return one.text in self.texts, frequency > 0, frequency


class Preparation:
    """Prepares the mentions of documents under a protocol; see `canonym.evaluation.questions.ask`.

    Parameters
    ----------
    ids : ConceptIds
        Of the terminology.
    protocol : Protocol
        Says how composite mentions are split.
    types : tuple of str
        Only mentions of these types; all if there are none.
    corrections : mapping of str to str
        Words and what they should be.
    engine : str
        What finds abbreviations.
    """

    def __init__(
        self,
        ids: ConceptIds,
        protocol: Protocol,
        types: tuple[str, ...],
        corrections: Mapping[str, str],
        engine: str,
    ) -> None:
        self.ids = ids
        self.protocol = protocol
        self.types = types
        self.corrections = corrections
        self.engine = engine

    def __call__(self, document: Document, *, count: bool) -> Iterator[PreparedMention]:
        """Yield the mentions of a document; `count` says whether their ids are counted as met."""
        mentions = [m for m in document.mentions if not self.types or m.type in self.types]
        told = bool(document.text) and self.protocol.split != "file"
        forms: Mapping[str, str] = {}
        if mentions and told and not self.protocol.as_written:
            forms = find_abbreviations(document.text, engine=self.engine)
        glosses: Glosses = {}
        if self.protocol.glosses:
            glosses = find_glosses(document.mentions, document.text, defined=forms)
        for mention in mentions:
            whole = expand_words(mention.text, forms) if forms else mention.text
            several = len(mention.ids) > 1
            parts: tuple[str, ...] = (whole,)
            if self.protocol.split == "file":
                parts = mention_parts(mention)
            elif self.protocol.split == "text" or (self.protocol.split == "gold" and several):
                parts = split_composite(whole)
            gold, unknown = self._gold(mention, count)
            short = (whole != mention.text or _looks_short(mention.text)) if told else None
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
            found = self.ids.concept(id_) if count else self.ids.find(id_)
            if found is None:
                unknown.append(id_)
            # An id that the terminology does not have stays as it is: nothing can predict it.
            concepts.append(found or id_)
        if mention.rule == "all":
            parts = dict.fromkeys(frozenset({one} - {""}) for one in concepts)
            return tuple(parts), tuple(unknown)
        either = frozenset(concepts) - {""}
        return ((either,) if either else ()), tuple(unknown)


def expand_words(text: str, forms: Mapping[str, str]) -> str:
    """Write abbreviations out as BioSyn's preparation does: whole words between spaces only.

    Linking does more (`canonym.mentions.abbreviations.expand`): it sees short forms of several
    words, with a hyphen or in brackets. On the training and dev parts of two corpora this rule
    gives what the authors released, but for a dozen mentions of 14,000.

    Parameters
    ----------
    text : str
        A mention.
    forms : mapping of str to str
        Long form by short form. Short forms in a long form are written out as well.

    Examples
    --------
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


def _looks_short(text: str) -> bool:
    """Tell whether a mention is one short word with two capitals or more."""
    return 2 <= len(text) <= 6 and " " not in text and sum(letter.isupper() for letter in text) >= 2


def read_corrections(path: str | Path) -> dict[str, str]:
    """Read a list of misspelt words, one ``wrong||right`` a line.

    Raises
    ------
    ReadError
        If a line is something else.
    """
    found = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                wrong, separator, right = line.strip().partition("||")
                if not (wrong and separator and right) or "||" in right:
                    problem = f"'wrong||right' was expected, found {line.strip()[:60]!r}"
                    raise ReadError(path, problem, line=number)
                found[wrong] = right
    return found
