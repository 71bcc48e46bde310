"""Mentions, their documents, and the steps of their preparation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Document", "Mention", "Step"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of text that names a concept.

    Parameters
    ----------
    text : str
        The span as it stands in the document.
    start, end : int, optional
        Half-open code-point offsets in the document's text.
    type : str
        The annotated entity type, may be empty.
    ids : tuple of str
        Gold ids as the corpus writes them, empty when unknown. How several ids combine is in
        `rule`.
    rule : str
        ``"any"``: each id alone is right; ``"all"``: the mention is composite and stands for every
        id.
    document_id : str
        The document the mention is from, may be empty.
    context : str
        Text around the mention where there is no document (a column of a table), may be empty.
    flags : tuple of str, optional
        What the text says about the mention, of `canonym.mentions.flags.FLAGS`; None where nobody
        looked.
    """

    text: str
    start: int | None = None
    end: int | None = None
    type: str = ""
    ids: tuple[str, ...] = ()
    rule: str = "any"
    document_id: str = ""
    context: str = ""
    flags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its mentions; offsets of the mentions point into `text`."""

    id: str
    text: str
    mentions: tuple[Mention, ...] = ()


CORRECTION = "correction"
"""Name of the step from an unknown word to the known one that it is likely to be."""

EVERYDAY = "canonym everyday names"
"""The source of the everyday names that come with canonym."""

USUAL_READING = "usual reading"
"""Name of the step from a short form of several meanings to the usual one."""

OTHER_READINGS = "other readings"
"""Name of the step that tells what else a short form may stand for, where it is no name of that."""

ONE_OF_SEVERAL = "one of several"
"""Name of the step that tells what a mention may mean, which does not say what names do."""

SECOND_LOOK, NO_ANSWER = "second look", "no answer: "
"""The step of a second look, and how what came of it begins where that was nothing."""

OPEN = {OTHER_READINGS: "may also stand for", ONE_OF_SEVERAL: "may mean"}
"""How the steps that turn nothing into something are said: before, these words, after."""


class Step(NamedTuple):
    """One thing that preparation did to a mention: which step, what it saw, what it left."""

    name: str
    before: str
    after: str
