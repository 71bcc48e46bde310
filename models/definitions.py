"""What a concept is, in a sentence: from terminologies, and from consumer health text.

A definition says what a name leaves out. An encoder that has it near the names of its concept
learns which words belong together though no name has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from canonym.text import STRONG
from canonym.text.memo import MemoNormaliser

__all__ = ["Definition", "defined_in", "shorten"]

# "Gout is a disease …", "The flu (influenza) is a …": what stands before the verb is the
# name, what stands after it the definition. Answers begin so; sentences further on rarely do.
_OPENING = re.compile(
    r"(?:Summary : )?(?:The |A |An )?(?P<name>[A-Z0-9][^.:;?!()]{2,80}?)"
    r"(?: \([^()]{1,80}\))?,? (?:is|are) (?P<text>(?:a|an|the|one|any|when|caused)\b[^?]{20,})",
    re.DOTALL,
)
_MOST = 240  # characters: about forty tokens, more than an encoder of names takes


class Definition(NamedTuple):
    """A text that says what a concept is, and the number of the concept."""

    text: str
    concept: int


def shorten(text: str) -> str:
    """Return the beginning of a definition, in whole words.

    Examples
    --------
    >>> shorten("  A   disease of the heart. ")
    'A disease of the heart.'
    """
    plain = " ".join(text.split())
    return plain if len(plain) <= _MOST else plain[:_MOST].rpartition(" ")[0]


def defined_in(passages: Iterable[str], names: Mapping[str, int | None]) -> Iterator[Definition]:
    """Yield what passages say about names that they begin with.

    Parameters
    ----------
    passages : iterable of str
        Paragraphs.
    names : mapping of str to int or None
        The concept of each name in its `canonym.text.STRONG` form; None where several have it.

    Yields
    ------
    Definition
        Of passages whose first words are a name of one concept, without that name.

    Examples
    --------
    >>> answer = "Gout is a disease of the joints that comes in attacks."
    >>> [found.text for found in defined_in([answer, "What is gout ?"], {"gout": 7})]
    ['a disease of the joints that comes in attacks.']
    """
    normal = MemoNormaliser(STRONG)
    for passage in passages:
        found = _OPENING.match(passage)
        if found is None:
            continue
        (form,) = normal([found["name"]])
        concept = names.get(form)
        if concept is not None:
            yield Definition(shorten(found["text"]), concept)
