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
from itertools import zip_longest
from typing import NamedTuple

from canonym.io.time_limit import check_time
from canonym.mentions.cues import FLAGS, STATES, Cue, find_cues
from canonym.mentions.segments import PLAIN, PRESENT, Segment, segments
from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.regex import regex
from canonym.text.shape import DIGIT, WORD, shape_of
from canonym.text.words import words_of_kind
from canonym.types import Mention

__all__ = ["FLAGS", "consistent", "with_flags"]

# Ends of sentences, and of lines but for those that go on with a small letter.
_END = regex(r"(?<=[.!?])\s+(?=[^a-z\s])|(?<!\s)[^\S\n]*\n[^\S\n]*(?:\n\s*|(?=[^a-z\s]))|;\s*")
_PLUS = regex(r"(?:^|[\s,(])\+(?=\w)|\(\+\)")
# A heading, alone in its line or with a colon, or an empty line.
_HEADING = regex(
    r"^[ \t]*(?P<title>[A-Z][A-Z /&-]{3,60})[ \t]*$|(?:^[ \t]*|(?<=[.;]\s)|(?<=[.;]\s\s))"
    r"(?P<head>[A-Z][\w /&'-]{1,60}):|\n[ \t\r]*\n",
    re.MULTILINE,
)
_BEGINNING = regex(r"\s*\w+(?:[\s-]+\w+){0,4}")
_FEW = 2  # words
_OF_TIME = (("historical",), ("family",))  # what ends more is a conjunction
_NEAR = 60  # characters in which a few words stand
_BESIDE = str.maketrans("", "", ",:(\u2013\u2014-")
_ALTERNATIVES = frozenset(["or", "nor"])
_JOINTS = _ALTERNATIVES | {"and"}
_REACH = 1_000  # characters of a sentence on each side of a mention; more is a table without ends
_LAST_FLAGS = ("~",)  # sorts behind all flags


def with_flags(text: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Return mentions with their flags; their places in the text stay as they are.

    A mention that is negated or of the family is not historical: "no history of asthma".

    >>> with_flags("He denies fever.", [Mention("fever", 10, 15)])[0].flags
    ('negated',)
    """
    ends = [match.end() for match in _END.finditer(text)] if mentions else []
    starts = [0, *ends]
    heads = _sections(text) if ends else []
    bullets = sum(map(_is_bulleted, text.split("\n"))) > 1 and _PLUS.search(text) is None
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


def _is_bulleted(line: str) -> bool:
    start = line.lstrip()[:2].translate(PLAIN)
    return start[:1] == "-" and start[1:].isalnum()


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
        said, forbidden = set[str](), self._there(start, end) | self._now(start, end)
        # A turn may have the first word of a mention: *there is mild*.
        before = [c for c in self.cues[::-1] if c.end <= start or (c.rule.ends and c.start < start)]
        behind = [cue for cue in self.cues if cue.start >= end]
        for cues, reaches in ((behind, self._reaches_back), (before, self._reaches_on)):
            stopped = set(forbidden)
            for cue in cues:  # the nearest first: its end of what was said stops those beyond
                if not said.issuperset(cue.rule.flags) and reaches(cue, start, end):
                    between = self.text[min(cue.end, end) : max(cue.start, start)]
                    if cue.rule.flags[0] not in STATES or not _PLUS.search(between):
                        said.update(flag for flag in cue.rule.flags if flag not in stopped)
                    if "hypothetical" in cue.rule.flags and cues is before:
                        stopped.update(STATES)  # "no red flags, return if worse"
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
        if any(map(DIGIT.search, items)):
            return False
        if any(map(_is_placed, (first, *items))):
            return False
        if any(map(_is_sought, (first, *items))) and not _has(_ALTERNATIVES, self.text[:end]):
            return False  # "no fracture seen, swelling"
        if any(map(_is_seen, others)) and not _has(_ALTERNATIVES, between):
            return False  # "no sores, incontinent and dysphagic"
        denials = (c.start for c in self.cues if c.start >= end and "negated" in c.rule.flags)
        behind = self.text[end : min(denials, default=len(self.text))]
        if "/" in beside or _has(_JOINTS, beside):
            return True
        if _has(_ALTERNATIVES, behind.replace(";", ".").partition(".")[0]):
            return True
        if _has(words_of_kind("word of a new clause"), ",".join(others)) or _is_told(behind):
            return False
        if _is_seen(self.text[start:end]):
            return False
        if _has(_ALTERNATIVES, ",".join((first, *items))):
            words = _first_words(behind.partition("\n")[0])
            return not words or _begin_with(words, "word behind what is denied")
        return sum(cue.words.partition(" ")[0] == "no" for cue in self.cues) < 2

    def _reaches_on(self, cue: Cue, start: int, end: int) -> bool:
        """Tell whether a cue reaches the mention behind it."""
        between = self.text[cue.end : start]
        if cue.rule.before == "opening":
            said = self.text[: cue.start].strip()  # "PMH:" or "Well,"
            is_subject = _begin_with(shape_of(between).words, "subject of a sentence")
            return said.endswith(":") or " " not in said or is_subject
        if not cue.rule.before or (cue.rule.after and between.lstrip()[:1] == ","):
            return False  # "MI ruled out, asthma" says it of what stands before
        before = self.text[: cue.start].rstrip()
        if cue.words in words_of_kind("cue of a need"):
            # Who takes albuterol has asthma; "prn pain" may come.
            return not _takes(before) and "," not in between
        if cue.words == "should":
            verbs = words_of_kind("verb of what may come")
            return not before or not verbs.isdisjoint(_first_words(self.text, end)[:2])
        if cue.rule.before == "next":
            are_few = len(between.split()) <= _FEW and not between[-1:].strip()
            return are_few and all(c.isalnum() or c.isspace() or c in "_'-" for c in between)
        if cue.rule.before == "clause" and _breaks(between):
            return False
        if cue.rule.flags[0] == "negated" and not self._is_listed(between, start, end):
            return False
        return not (
            cue.rule.flags[0] in STATES
            and "," in between
            and _has_subject(between.rpartition(",")[2], _first_words(self.text, end))
            and not _has(_ALTERNATIVES, between)
        )

    def _reaches_back(self, cue: Cue, start: int, end: int) -> bool:
        """Tell whether a cue reaches the mention before it."""
        if not cue.rule.after:
            return False
        between = self.text[end : cue.start]
        if cue.rule.flags[0] in STATES and "with" in shape_of(between).there:
            return False
        if cue.words in words_of_kind("cue of a need"):
            before = WORD.findall(self.text[max(start - _NEAR, 0) : start].lower())
            return "for" in before[-3:] and "," not in between
        is_last = self.text[cue.end :].lstrip()[:1] in ".,;:)"
        if cue.rule.after == "predicate" and not is_last:
            is_last = not FUNCTION_WORDS.isdisjoint(_first_words(self.text, cue.end)[:1])
        if cue.rule.after in ("last", "predicate") and not is_last:
            return False
        if not _is_beside(between) and any(f" {dash} " in between for dash in "-\u2013\u2014"):
            return False  # "dysphagia - cancer not excluded"
        if cue.rule.after == "head":
            return between.isspace()
        if cue.rule.after == "next":  # in brackets or behind a dash
            return not between.isspace() and _is_beside(between)
        if "," not in between or _is_beside(between):
            return True
        # "Asthma, pregnancy or cancer were excluded": all of them.
        return cue.words in words_of_kind("cue of several things") and _goes_on(between)

    def _of(self, start: int, end: int) -> list[Segment]:
        """Return what stands in signs beside a mention, and speaks of it."""
        around = [part for part in self.signed if part.start <= start and end <= part.end]
        return [part for part in around if end <= part.sign[0] or part.sign[1] <= start]

    def _there(self, start: int, end: int) -> frozenset[str]:
        """Return what no cue says beside a plus, one of several if it is behind, or a "?"."""
        means = {part.means for part in self._of(start, end) if not part.is_behind}
        if sum(part.is_behind for part in self.signed) > 1:
            means.update(part.means for part in self._of(start, end))
        return STATES if PRESENT in means else frozenset(["negated"] if means else ())

    def _now(self, start: int, end: int) -> frozenset[str]:
        """Return what a turn at the end of a mention takes back: *h/o gout, asthma now*."""
        turns = (
            turn.rule.ends
            for turn in self.cues
            if turn.start > start and not self.text[end : turn.start].strip()
            if turn.end <= end or self.text[turn.end :].lstrip()[:1] in ".,;)"
        )
        return frozenset(flag for ends in turns if ends in _OF_TIME for flag in ends)

    def _signs(self, start: int, end: int) -> Iterator[str]:
        """Yield the flags that signs give a mention."""
        for part in self._of(start, end):
            asks = part.is_behind and "?" in self.text[slice(*part.sign)]
            is_question = asks and _begin_with(_first_words(self.text), "question word")
            if part.means in FLAGS and not is_question:
                yield part.means


def _has(words: frozenset[str], text: str) -> bool:
    return not words.isdisjoint(shape_of(text).there)


def _is_beside(between: str) -> bool:
    return not between.translate(_BESIDE).strip()


def _first_words(text: str, start: int = 0) -> Sequence[str]:
    """Return the words with which a text goes on at a place, five at most."""
    match = _BEGINNING.match(text, start)
    return shape_of(match[0]).words if match else ()


def _begin_with(words: Sequence[str], kind: str) -> bool:
    """Tell whether words begin with a form of a kind, which has three words at most."""
    return any(" ".join(words[:n]) in words_of_kind(kind) for n in (1, 2, 3))


def _is_told(behind: str) -> bool:
    """Tell whether the text behind a thing tells of it as of what is there: *rash with blisters*.

    What comes with an effort is none of these: *no pain with exertion*.
    """
    line = behind.partition("\n")[0]
    words = _first_words(line.removeprefix(","))
    is_changed = _begin_with(words, "word of a change")
    if is_changed or line.startswith(","):
        return is_changed
    there = words_of_kind("word of what is there")
    behind_it = (words[n:] for n in (1, 2, 3) if " ".join(words[:n]) in there)
    has_number = any(word[0].isdigit() for word in words[:1])
    return has_number or any(not _begin_with(rest, "word of an effort") for rest in behind_it)


def _is_seen(name: str) -> bool:
    """Tell whether a name says how something or somebody is: *left effusion*, *obese*."""
    words = shape_of(name).words
    seen = words_of_kind("word of something seen") | words_of_kind("adjective of a patient")
    parts = words_of_kind("part named by its side")
    if len(words) > 1 and words[-1] in words_of_kind("verb of a clause"):
        return True  # "stroke persists"
    return DIGIT.search(name) is not None or any(
        word in seen and following not in parts for word, following in zip_longest(words, words[1:])
    )


def _is_placed(item: str) -> bool:
    """Tell whether an item says by what a thing was looked for: *no stone on CT*."""
    *_, before, last = ("", "", *shape_of(item).words)
    return last in words_of_kind("test") and before in ("on", "by", "per", "in", "at")


def _is_sought(item: str) -> bool:
    """Tell whether an item says that a thing was looked for: *no fracture seen*."""
    return not words_of_kind("word of a search").isdisjoint(shape_of(item).words[-1:])


def _takes(before: str) -> bool:
    """Tell whether what stands before a drug says that someone takes it."""
    last = WORD.findall(before[-_NEAR:].lower())[-1:]
    is_told = before[-1:].isalnum() and not words_of_kind("word before a drug").isdisjoint(last)
    return is_told or before[-1:] in ",:"


def _breaks(between: str) -> bool:
    """Tell whether a clause ends between a cue and a mention."""
    words, verbs = shape_of(between).words, words_of_kind("word behind a list")
    is_other = "and" in words and not verbs.isdisjoint(words[words.index("and") :])
    return is_other or "with" in words or "," in between or ":" in between


def _has_subject(before: str, behind: Sequence[str]) -> bool:
    """Tell whether a mention is the subject of a clause: *the cough in the morning persists*."""
    is_placed = not words_of_kind("preposition").isdisjoint(behind[:1])
    verbs = behind[2:] if is_placed else behind[:1]
    may_follow = words_of_kind("word before a subject").issuperset(before.lower().split())
    return may_follow and not words_of_kind("verb of a clause").isdisjoint(verbs)


def _goes_on(between: str) -> bool:
    """Tell whether a list goes on behind a mention to its last item: *, pregnancy or cancer*."""
    *_, last = between.split(",")
    return (
        between.lstrip().startswith(",")
        and not any(mark in between for mark in ".;:()")
        and _has(_JOINTS - {"nor"}, last)
        and not _has(words_of_kind("word behind a list"), between)
    )


def _read(begin: int, text: str, bullets: bool, under: tuple[str, ...]) -> _Sentence:
    """Read the cues of a sentence, of which signs leave some nothing to say, and its signs."""
    signed = segments(text, bullets=bullets)
    spans = [part.sign for part in signed if part.is_behind]
    cues = find_cues(text)
    if spans:
        cues = [cue for cue in cues if not any(a < cue.end and cue.start < b for a, b in spans)]
    return _Sentence(begin, text, cues, signed, under)
