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
from canonym.mentions.segments import PRESENT, Segment, segments
from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.regex import regex
from canonym.text.words import forms_of
from canonym.types import Mention

__all__ = ["FLAGS", "consistent", "with_flags"]

# Ends of sentences, and of lines but for those that go on with a small letter.
_END = regex(r"(?<=[.!?])\s+(?=[^a-z\s])|(?<!\s)[^\S\n]*\n[^\S\n]*(?:\n\s*|(?=[^a-z\s]))|;\s*")
_TIGHT_DASH = regex("^[^\\S\n]*[-\u2010-\u2014\u2212](?=\\w)", re.MULTILINE)
_PLUS = regex(r"(?:^|[\s,(])\+(?=\w)|\(\+\)")
_QUESTION = regex(rf"\s*(?:{forms_of('question word')})\b", re.IGNORECASE)
# A heading, alone in its line or with a colon, or an empty line.
_HEADING = regex(
    r"^[ \t]*(?P<title>[A-Z][A-Z /&-]{3,60})[ \t]*$|(?:^[ \t]*|(?<=[.;]\s)|(?<=[.;]\s\s))"
    r"(?P<head>[A-Z][\w /&'-]{1,60}):|\n[ \t\r]*\n",
    re.MULTILINE,
)
_BREAK = regex(r"[,:]|\bwith\b|\A(?>.*?\band\b).*\b(?:is|was|has)\b", re.IGNORECASE | re.DOTALL)
_WITH = regex(r"\bwith\b", re.IGNORECASE)
_OF_SEVERAL = frozenset(f"{verb} excluded" for verb in ("are", "have been", "were", "will be"))
_PARTS = r"(?!\b(?:are|had|has|have|is|was|were|who|with)\b)"  # a list ends there
_LISTED = regex(
    rf"(?>\s*,(?:{_PARTS}[^.;:()])*\b(?:and|or)\b)(?:{_PARTS}[^,.;:()])*", re.IGNORECASE
)
_BESIDE = regex(r"[\s,:(\u2013\u2014-]*\Z")
_FEW_WORDS = regex(r"\s*(?:[\w'-]+\s+){0,2}\Z")
_LAST = regex(r"\s*(?:$|[.,;:)])")
_NEXT_WORD = regex(r"\s+(\w+)")
_NEW_CLAUSE = regex(r",\s*(?:and\s+)?(?:(?:the|her|his|a)\s+)?\Z", re.IGNORECASE)
_VERB = regex(
    r"(?:\s+(?:at|from|in|of|on|to)(?:\s+[\w-]+){1,3})?"
    rf"\s+(?:{forms_of('verb of a clause')})\b",
    re.IGNORECASE,
)
_SUBJECT = regex(r"[\s,]{0,3}(?:he|i|it|patient|pt|she|the patient|they|we)\b", re.IGNORECASE)
_MAY_COME = regex(rf"\s+(?:ever |not )?(?:{forms_of('verb of what may come')})\b", re.IGNORECASE)
_NOR = regex(r"\b(?:or|nor)\b", re.IGNORECASE)
_LISTED_ON = regex(r"[^.;]*\b(?:or|nor)\b", re.IGNORECASE)
_JOINED = regex(r"\b(?:and|nor|or)\b|/", re.IGNORECASE)
_DIGIT = regex(r"\d")
_CLAUSE = regex(rf"\b(?:{forms_of('word of a new clause')})\b", re.IGNORECASE)
# What tells of a thing that is there, behind it or in its name: "no fever, rash with blisters".
_TOLD = regex(
    rf"(?:,[^\S\n]*|[^\S\n]+)(?:{forms_of('word of a change')})\b"
    rf"|[^\S\n]+(?:\d|(?:{forms_of('word of what is there')})\b)"
    rf"(?!\s+(?:{forms_of('word of an effort')})\b)",
    re.IGNORECASE,
)
_SEEN = regex(
    rf"\d|\b(?:{forms_of('word of something seen')})\b"
    rf"(?!\s(?:{forms_of('part named by its side')})\b)",
    re.IGNORECASE,
)
_MORE = regex(rf"[^\S\n]+(?!(?:{forms_of('word behind what is denied')})\b)\w", re.IGNORECASE)
_FOR = regex(r"\bfor\s+(?:[\w-]+\s+){0,2}\Z", re.IGNORECASE)
_TAKES = regex(rf"(?:^|[,:]|\b(?:{forms_of('word before a drug')}))\s*\Z", re.IGNORECASE)
_AS_NEEDED = frozenset(["as necessary", "as needed", "if needed", "prn", "when needed"])
_REACH = 1_000  # characters of a sentence on each side of a mention; more is a table without ends
_LAST_FLAGS = ("~",)  # sorts behind all flags
_CLAUSE_FLAGS = frozenset(["negated", "uncertain"])


def with_flags(text: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Return mentions with their flags; their places in the text stay as they are.

    A mention that is negated or of the family is not historical: "no history of asthma".

    >>> with_flags("He denies fever.", [Mention("fever", 10, 15)])[0].flags
    ('negated',)
    """
    ends = [match.end() for match in _END.finditer(text)] if mentions else []
    starts = [0, *ends]
    heads = _sections(text) if ends else []
    bullets = len(_TIGHT_DASH.findall(text)) > 1 and _PLUS.search(text) is None
    read: dict[tuple[int, int], _Sentence] = {}
    flagged = []
    for mention in mentions:
        check_time()
        start, end = mention.start or 0, mention.end or 0
        first = bisect_right(starts, start) - 1
        last = bisect_right(starts, max(start, end - 1)) - 1
        begin, stop = starts[first], ends[last] if last < len(ends) else len(text)
        headed = bisect_right(heads, (begin, _LAST_FLAGS))
        under = heads[headed - 1][1] if headed else ()
        if stop - begin > 2 * _REACH + end - start:
            begin, stop = _around(text, begin, stop, start, end)
        if (begin, stop) not in read:
            read[begin, stop] = _read(begin, text[begin:stop], bullets, under)
        flagged.append(replace(mention, flags=read[begin, stop].flags(start, end)))
    return tuple(flagged)


def _around(text: str, begin: int, stop: int, start: int, end: int) -> tuple[int, int]:
    """Return what is read of a long sentence for a mention: as much as for those beside it."""
    first, last = (start // _REACH - 1) * _REACH, (end // _REACH + 2) * _REACH
    if first > begin:
        begin = text.find(" ", first, start) + 1 or start
    if last < stop:
        stop = max(text.rfind(" ", end, last), end)
    return begin, stop


def consistent(flags: Iterable[str]) -> tuple[str, ...]:
    """Return flags in their order, without those that others exclude.

    What is negated or of the family is not of the past, and what is negated or may come is not in
    doubt.

    >>> consistent(["historical", "negated"])
    ('negated',)
    """
    several = set(flags)
    if several & {"negated", "family"}:
        several.discard("historical")
    if several & {"negated", "hypothetical"}:
        several.discard("uncertain")
    return tuple(flag for flag in FLAGS if flag in several)


def _sections(text: str) -> list[tuple[int, tuple[str, ...]]]:
    """Return where what is under a heading begins and ends, with what the heading says of it."""
    sections: list[tuple[int, tuple[str, ...]]] = []
    begin = _begin(text, 0)  # of what is under the last heading
    for match in _HEADING.finditer(text):
        name = match["title"] or match["head"]
        if name is None:
            if begin < match.start():
                sections.append((match.end(), ()))
            continue
        cues = [cue for cue in find_cues(name) if cue.end == len(name.rstrip())]
        begin = _begin(text, match.end())
        sections.append(
            (match.start(), cues[-1].rule.flags if cues and cues[-1].rule.before else ())
        )
    return sections


def _begin(text: str, place: int) -> int:
    """Return where the first word or sign from a place on stands."""
    return len(text) - len(text[place:].lstrip())


class _Sentence(NamedTuple):
    """A sentence, where it begins in its text, its cues and signs, and what its heading says."""

    begin: int
    text: str
    cues: Sequence[Cue]
    signed: list[Segment]
    under: tuple[str, ...] = ()

    def flags(self, start: int, end: int) -> tuple[str, ...]:
        """Return the flags of a place in the text."""
        start, end = start - self.begin, end - self.begin
        said, forbidden = set[str](), self._there(start, end)
        # A turn may have the first word of a mention: *there is mild*.
        before = [c for c in self.cues[::-1] if c.end <= start or (c.rule.ends and c.start < start)]
        behind = [cue for cue in self.cues if cue.start >= end]
        for cues, reaches in ((behind, self._reaches_back), (before, self._reaches_on)):
            stopped = set(forbidden)
            for cue in cues:  # the nearest first: its end of what was said stops those beyond
                if not said.issuperset(cue.rule.flags) and reaches(cue, start, end):
                    between = self.text[min(cue.end, end) : max(cue.start, start)]
                    if cue.rule.flags[0] not in _CLAUSE_FLAGS or not _PLUS.search(between):
                        said.update(flag for flag in cue.rule.flags if flag not in stopped)
                    if "hypothetical" in cue.rule.flags and cues is before:
                        stopped.update(_CLAUSE_FLAGS)  # "no red flags, return if worse"
                stopped.update(cue.rule.ends)
        said.update(flag for flag in self.under if flag not in stopped)
        said.update(self._signs(start, end))
        for cue in self.cues:
            if cue.start < start < cue.end:
                # Of "no history of cancer" the name says all but the denial.
                inside = find_cues(self.text[start:end])
                own = {flag for inner in inside for flag in inner.rule.flags}
                said.update(flag for flag in cue.rule.flags if flag not in own)
                if not cue.rule.flags:  # "no change in" says nothing, but of a change it does
                    ahead = find_cues(self.text[cue.start : start].rstrip())
                    said.update(flag for rest in ahead for flag in rest.rule.flags)
        return consistent(said)

    def _is_listed(self, between: str, start: int, end: int) -> bool:
        """Tell whether a mention stands in the list of what is denied before it.

        A list ends behind an item that is no denied finding, and before what is told as something
        that is there: "no fever, temp 98, cough", "no fever, rash with blisters". Behind its *or*
        it ends before what is told in more words: "no fever or cough, rash on the legs".
        """
        first, *others = between.split(",")
        if not others:
            return True
        *items, beside = others
        if any(map(_DIGIT.search, items)):
            return False
        denials = (c.start for c in self.cues if c.start >= end and "negated" in c.rule.flags)
        behind = self.text[end : min(denials, default=len(self.text))]
        if _JOINED.search(beside) or _LISTED_ON.match(behind):
            return True
        if any(map(_CLAUSE.search, others)) or _TOLD.match(behind):
            return False
        if _SEEN.search(self.text, start, end):
            return False
        if any(map(_NOR.search, (first, *items))):
            return _MORE.match(behind) is None
        return sum(cue.words.partition(" ")[0] == "no" for cue in self.cues) < 2

    def _reaches_on(self, cue: Cue, start: int, end: int) -> bool:
        """Tell whether a cue reaches the mention behind it."""
        between = self.text[cue.end : start]
        if cue.rule.before == "opening":
            said = self.text[: cue.start].strip()  # "PMH:" or "Well,"
            return said.endswith(":") or " " not in said or bool(_SUBJECT.match(between))
        if not cue.rule.before or (cue.rule.after and between.lstrip()[:1] == ","):
            return False  # "MI ruled out, asthma" says it of what stands before
        if cue.words in ("prn", "p.r.n."):  # who takes albuterol has asthma; "prn pain" may come
            return not _TAKES.search(self.text[: cue.start]) and "," not in between
        if cue.words == "should":
            return not self.text[: cue.start].strip() or bool(_MAY_COME.match(self.text, end))
        if cue.rule.before == "next":
            return _FEW_WORDS.fullmatch(between) is not None
        if cue.rule.before == "clause" and _BREAK.search(between):
            return False
        if cue.rule.flags[0] == "negated" and not self._is_listed(between, start, end):
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
        if not cue.rule.after or (cue.rule.flags[0] in _CLAUSE_FLAGS and _WITH.search(between)):
            return False
        if cue.words in _AS_NEEDED:
            return _FOR.search(self.text[:start]) is not None and "," not in between
        behind = _LAST.match(self.text, cue.end)
        if cue.rule.after == "predicate" and not behind:
            word = _NEXT_WORD.match(self.text, cue.end)
            if word is None or word[1].lower() not in FUNCTION_WORDS:
                return False
        if cue.rule.after == "last" and not behind:
            return False
        if cue.rule.after == "head":
            return between.isspace()
        if cue.rule.after == "next":  # in brackets or behind a dash
            return _BESIDE.fullmatch(between) is not None and not between.isspace()
        if "," not in between or _BESIDE.match(between):
            return True
        # "Asthma, pregnancy or cancer were excluded": all of them.
        return cue.words in _OF_SEVERAL and _LISTED.fullmatch(between) is not None

    def _of(self, start: int, end: int) -> list[Segment]:
        """Return what stands in signs beside a mention, and speaks of it."""
        around = [part for part in self.signed if part.start <= start and end <= part.end]
        return [part for part in around if end <= part.sign[0] or part.sign[1] <= start]

    def _there(self, start: int, end: int) -> frozenset[str]:
        """Return what no cue says beside a plus, one of several if it is behind, or a "?"."""
        means = {part.means for part in self._of(start, end) if not part.is_behind}
        if sum(part.is_behind for part in self.signed) > 1:
            means.update(part.means for part in self._of(start, end))
        return _CLAUSE_FLAGS if PRESENT in means else frozenset(["negated"] if means else ())

    def _signs(self, start: int, end: int) -> Iterator[str]:
        """Yield the flags that signs give a mention."""
        for part in self._of(start, end):
            is_question = part.is_behind and _QUESTION.match(self.text) is not None
            if part.means in FLAGS and not (is_question and "?" in self.text[slice(*part.sign)]):
                yield part.means


def _read(begin: int, text: str, bullets: bool, under: tuple[str, ...]) -> _Sentence:
    """Read the cues of a sentence, of which signs leave some nothing to say, and its signs."""
    signed = segments(text, bullets=bullets)
    spans = [part.sign for part in signed if part.is_behind]
    cues = find_cues(text)
    if spans:
        cues = [cue for cue in cues if not any(a < cue.end and cue.start < b for a, b in spans)]
    return _Sentence(begin, text, cues, signed, under)
