"""Questions of a second look, and the answers to them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from canonym.terminology import Terminology
from canonym.types import Link

N_CHOICES = 10
"""How many candidates of a mention are shown."""

_MOST_SYNONYMS, _MOST_PARENTS = 6, 3
_MOST_LETTERS = 200  # of a name
_MOST_TEXT = 600  # characters around a mention


class Choice(NamedTuple):
    """What is shown of a candidate: never its id, so that no answer can write one."""

    label: str
    synonyms: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The label and the synonyms."""
        return (self.label, *self.synonyms)


class Question(NamedTuple):
    """A mention as it is written and as it was looked up, text around it, and what it may be."""

    written: str
    read: str
    context: str
    choices: tuple[Choice, ...]

    def key(self, chooser: str) -> str:
        """Return what an answer of a chooser is kept under: SHA-256 of all that it depends on."""
        content = json.dumps([chooser, self], ensure_ascii=True)
        return hashlib.sha256(content.encode("ascii")).hexdigest()


class Answer(NamedTuple):
    """The place of a choice, None where none of them is meant.

    With a `problem` there is no answer.
    """

    place: int | None
    problem: str = ""


class Chooser(Protocol):
    """Chooses between the candidates of mentions.

    Attributes
    ----------
    identity : str
        What its answers depend on beside the question.
    at_a_time : int
        Questions that it is asked together, and whose answers are kept together.
    """

    identity: str
    at_a_time: int

    def answers(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Yield the answer to each question, in order."""
        ...


def question_of(link: Link, context: str, terminology: Terminology) -> Question:
    """Ask about a link, and the text around its mention."""
    candidates = link.candidates[:N_CHOICES]
    choices = (choice_of(candidate.id, terminology, candidate.name) for candidate in candidates)
    read = link.searched or link.mention.text
    return Question(link.mention.text, read, context[:_MOST_TEXT], tuple(choices))


def choice_of(id: str, terminology: Terminology, matched: str = "") -> Choice:
    """Return what is shown of a concept; the name that matched goes first."""
    label = terminology.concept(id).label
    names = dict.fromkeys((matched, *(name.text for name in terminology.names(id))))
    synonyms = [_cut(name) for name in names if name not in ("", label)]
    parents = [_cut(terminology.concept(above).label) for above in terminology.parents(id)]
    return Choice(_cut(label), tuple(synonyms[:_MOST_SYNONYMS]), tuple(parents[:_MOST_PARENTS]))


def _cut(name: str) -> str:
    return name[:_MOST_LETTERS]
