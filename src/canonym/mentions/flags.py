"""Flags of mentions in running text: negated, historical, hypothetical, of the family, uncertain.

The sentence of a mention is searched for cues (`canonym.mentions.cues`), each with a reach, as
NegEx and ConText do. What is written without a space before a mention counts too: "-vomiting",
"(-) edema", "?PE". A cue inside a mention is part of its name and says nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from canonym.io.time_limit import check_time
from canonym.mentions.cues import FLAGS, Cue, find_cues
from canonym.regex import regex
from canonym.types import Mention

__all__ = ["FLAGS", "consistent", "with_flags"]

# Ends of sentences, and of lines but for those that go on with a small letter.
_END = regex(r"(?<=[.!?])\s+(?=[^a-z\s])|(?<!\s)[^\S\n]*\n[^\S\n]*(?:\n\s*|(?=[^a-z\s]))|;\s*")
_DASH = "[-\u2010-\u2014\u2212]"
_MINUS = regex(rf"(?:(?P<start>^|\n)\s*|[\s,(/])({_DASH})\Z")
_MINUS_IN_BRACKETS = regex(rf"\(\s*{_DASH}\s*\)\s*\Z")
_MINUS_BEHIND = regex(rf"\s*\(\s*{_DASH}\s*\)|\s*{_DASH}\s*(?:$|[,;])")
_NO_BEHIND = regex(rf"\s*(?:(?::|\s{_DASH})\s*no\b(?!\s+\w)|\(no\))", re.IGNORECASE)
_TIGHT_DASH = regex(rf"^[^\S\n]*{_DASH}(?=\w)", re.MULTILINE)
_PLUS = regex(r"(?:^|[\s,(])\+(?=\w)|\(\+\)")
_DOUBT_BEFORE = regex(r"(?:^|[\s,;:(])\?+\s*\Z|\(\?\)\s*\Z")
_DOUBT_BEHIND = regex(r"\s*(?:\?|\(\?+\))")
_QUESTION = regex(
    r"\s*(?:any|are|can|could|did|do|does|has|have|how|if|is|may|should|was|were|what|when|where"
    r"|which|who|why|will|would)\b",
    re.IGNORECASE,
)
_BREAK = regex(r"[,:]|\bwith\b|\A(?>.*?\band\b).*\b(?:is|was|has)\b", re.IGNORECASE | re.DOTALL)
_COMMA = regex(r",")
_OF_SEVERAL = frozenset(f"{verb} excluded" for verb in ("are", "have been", "were", "will be"))
_LISTED = regex(
    r"(?>\s*,(?:(?!\b(?:are|had|has|have|is|was|were|who|with)\b)[^.;:()])*\b(?:and|or)\b)"
    r"(?:(?!\b(?:are|had|has|have|is|was|were|who|with)\b)[^,.;:()])*",
    re.IGNORECASE,
)
_BESIDE = regex(r"[\s,:(\u2013\u2014-]*\Z")
_FEW_WORDS = regex(r"\s*(?:[\w'-]+\s+){0,2}\Z")
_LAST = regex(r"\s*(?:$|[.,;:)])")
_NEW_CLAUSE = regex(r",\s*(?:and\s+)?(?:(?:the|her|his|a)\s+)?\Z", re.IGNORECASE)
_VERB = regex(
    r"\s+(?:began|continues?|did|has|had|is|improved|persists?|remains?|started|was|were|worsens?)\b",
    re.IGNORECASE,
)
_NOR = regex(r"\b(?:or|nor)\b", re.IGNORECASE)
_FOR = regex(r"\bfor\s+(?:[\w-]+\s+){0,2}\Z", re.IGNORECASE)
_TAKES = regex(
    r"(?:^|[,:]|\b(?:and|continue|continues|gave|given|on|or|some|start|take|takes|use|uses|using"
    r"|with))\s*\Z",
    re.IGNORECASE,
)
_AS_NEEDED = frozenset(["as needed", "if needed", "prn", "when needed"])
_REACH = 1_000  # characters of a sentence on each side of a mention; more is a table without ends
_CLAUSE_FLAGS = frozenset(["negated", "uncertain"])


def with_flags(text: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Return mentions with their flags; their places in the text stay as they are.

    A mention that is negated or of the family is not historical: "no history of asthma".

    >>> with_flags("He denies fever.", [Mention("fever", 10, 15)])[0].flags
    ('negated',)
    """
    ends = [match.end() for match in _END.finditer(text)] if mentions else []
    starts = [0, *ends]
    bullets = len(_TIGHT_DASH.findall(text)) > 1 and _PLUS.search(text) is None
    read: dict[tuple[int, int], _Sentence] = {}
    flagged = []
    for mention in mentions:
        check_time()
        start, end = mention.start or 0, mention.end or 0
        first = bisect_right(starts, start) - 1
        last = bisect_right(starts, max(start, end - 1)) - 1
        if (first, last) not in read:
            begin = starts[first]
            written = text[begin : (ends[last] if last < len(ends) else len(text))]
            read[first, last] = _Sentence(begin, written, find_cues(written), bullets)
        sentence = read[first, last]
        if len(sentence.text) > 2 * _REACH + end - start:
            begin = max(sentence.begin, start - _REACH)
            written = text[begin : min(end + _REACH, sentence.begin + len(sentence.text))]
            sentence = _Sentence(begin, written, find_cues(written), bullets)
        flagged.append(replace(mention, flags=sentence.flags(start, end)))
    return tuple(flagged)


def consistent(flags: Iterable[str]) -> tuple[str, ...]:
    """Return flags in their order, without those that others exclude.

    What is negated or of the family is not of the past, and what is negated is not in doubt.

    >>> consistent(["historical", "negated"])
    ('negated',)
    """
    several = set(flags)
    if several & {"negated", "family"}:
        several.discard("historical")
    if "negated" in several:
        several.discard("uncertain")
    return tuple(flag for flag in FLAGS if flag in several)


class _Sentence(NamedTuple):
    """A sentence, where it begins in its text, and its cues.

    `bullets` tells whether a dash at the start of a line of the text is the bullet of a list.
    """

    begin: int
    text: str
    cues: list[Cue]
    bullets: bool

    def flags(self, start: int, end: int) -> tuple[str, ...]:
        """Return the flags of a place in the text."""
        start, end = start - self.begin, end - self.begin
        said = set(self._signs(start, end))
        before = [cue for cue in reversed(self.cues) if cue.end <= start]
        behind = [cue for cue in self.cues if cue.start >= end]
        for cues, reaches in ((before, self._reaches_on), (behind, self._reaches_back)):
            stopped: set[str] = set()
            for cue in cues:  # the nearest first: its end of what was said stops those beyond
                if not said.issuperset(cue.rule.flags) and reaches(cue, start, end):
                    said.update(flag for flag in cue.rule.flags if flag not in stopped)
                stopped.update(cue.rule.ends)
        for cue in self.cues:
            if cue.start < start < cue.end:
                # Of "no history of cancer" the name says all but the denial.
                inside = find_cues(self.text[start:end])
                own = {flag for inner in inside for flag in inner.rule.flags}
                said.update(flag for flag in cue.rule.flags if flag not in own)
        return consistent(said)

    def _reaches_on(self, cue: Cue, start: int, end: int) -> bool:
        """Tell whether a cue reaches the mention behind it."""
        between = self.text[cue.end : start]
        if not cue.rule.before or (cue.rule.flags[0] in _CLAUSE_FLAGS and _PLUS.search(between)):
            return False
        if cue.words == "prn":  # "albuterol prn": who takes it has it; what it is for, may come
            return not _TAKES.search(self.text[: cue.start]) and not _COMMA.search(between)
        if cue.words == "should":
            return not self.text[: cue.start].strip()
        if cue.rule.before == "next":
            return _FEW_WORDS.fullmatch(between) is not None
        if cue.rule.before == "clause" and _BREAK.search(between):
            return False
        return not (
            cue.rule.flags[0] in _CLAUSE_FLAGS
            and _NEW_CLAUSE.search(between)
            and _VERB.match(self.text, end)
            and not _NOR.search(between)
        )

    def _reaches_back(self, cue: Cue, start: int, end: int) -> bool:
        """Tell whether a cue reaches the mention before it."""
        between = self.text[end : cue.start]
        if not cue.rule.after or (cue.rule.flags[0] in _CLAUSE_FLAGS and _PLUS.search(between)):
            return False
        if cue.words in _AS_NEEDED:
            return _FOR.search(self.text[:start]) is not None and not _COMMA.search(between)
        if cue.rule.after == "last" and not _LAST.match(self.text, cue.end):
            return False
        if cue.rule.after == "next":
            return _NO_BEHIND.match(self.text, end) is not None
        if _COMMA.search(between) is None or _BESIDE.match(between):
            return True
        # "Asthma, pregnancy or cancer were excluded": all of them.
        return cue.words in _OF_SEVERAL and _LISTED.fullmatch(between) is not None

    def _signs(self, start: int, end: int) -> Iterator[str]:
        """Yield what is written in signs beside a mention."""
        before = self.text[max(start - 20, 0) : start]
        minus = _MINUS.search(before)
        tight = minus is not None and (minus["start"] is None or not self.bullets)
        if tight or _MINUS_IN_BRACKETS.search(before) or _MINUS_BEHIND.match(self.text, end):
            yield "negated"
        asked = _QUESTION.match(self.text) is not None
        if _DOUBT_BEFORE.search(before) or (not asked and _DOUBT_BEHIND.match(self.text, end)):
            yield "uncertain"
