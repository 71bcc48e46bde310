"""The text around a mention: its sentence, and the phrases of a text without the mention."""

from __future__ import annotations

import re
from collections.abc import Iterable

from canonym.regex import regex
from canonym.rules import shipped

LONGEST = 10_000
"""Characters of a text that are looked at, the mention in the middle."""

_PHRASE = 100
FUNCTION_WORDS = frozenset(rule.form for rule in shipped().of_kind("function word"))
"""Words of English that name nothing."""
_BREAKS = regex(
    r"[,.;:()\[\]/\n]|(?<!\w)(?:" + "|".join(sorted(FUNCTION_WORDS)) + r")(?!\w)", re.IGNORECASE
)
_ENDS = regex(r"[.!?](?=\s+[^a-z\s])|\n")


def phrases(text: str) -> list[str]:
    """Split an English text at punctuation and function words; distinct, of 3 to 100 characters.

    >>> phrases("Smoking is a cause of emphysema and chronic bronchitis.")
    ['Smoking', 'cause', 'emphysema', 'chronic bronchitis']
    """
    phrases = (" ".join(piece.split())[:_PHRASE] for piece in _BREAKS.split(text))
    return list(dict.fromkeys(phrase for phrase in phrases if len(phrase) > 2))


def without(text: str, mentions: Iterable[str]) -> str:
    """Take mentions out of a text, as whole words and in any case; commas stay in their places.

    >>> without("A cold wind, and colds.", ["cold"])
    'A , wind, and colds.'
    """
    for mention in mentions:
        if mention.strip():
            text = _whole(mention).sub(",", text)
    return text


def sentence_of(text: str, mention: str, *, start: int | None = None) -> tuple[str, str]:
    """Return the sentence of a mention, and at most `LONGEST` characters around it.

    The mention begins at `start`, by default where it is first found. If the text does not have it,
    the sentence is empty and the text around is the beginning.

    >>> sentence_of("It was warm. He had a cold. He slept.", "cold")[0]
    'He had a cold.'
    """
    if start is None or not 0 <= start < max(len(text), 1):
        place = _whole(mention).search(text) if mention.strip() else None
        start = place.start() if place else None
    if start is None:
        return "", text[:LONGEST]
    begin = max(0, min(start - LONGEST // 2, len(text) - LONGEST))
    around = text[begin : begin + LONGEST]
    middle = start - begin
    ends = [end.end() for end in _ENDS.finditer(around)]
    first = max((end for end in ends if end <= middle), default=0)
    last = min((end for end in ends if end > middle), default=len(around))
    return around[first:last].strip(), around


def _whole(mention: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(mention.strip())}(?!\w)", re.IGNORECASE)
