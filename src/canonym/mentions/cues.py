"""Words that say whether a mention is negated, past, doubtful, feared or of the family.

One table for running text (`canonym.mentions.flags`) and for the mentions of a list
(`canonym.mentions.status`): the rules of the kinds "cue", "turn" and "no cue" of the book
(`canonym.rules`). A cue stands before what it speaks of ("denies fever") or after it ("fever:
none"). Some words look like a cue and say nothing ("gram negative"); others end the reach of the
cues before them ("but").

The kinds follow NegEx and ConText, and the guidelines of ICD-10-CM for what counts as uncertain:
"consistent with" and "compatible with" do. "ruled out" negates, "rule out" doubts. "resolved" is of
the past. "in remission" is no cue: it tells how a disease runs, and terminologies name it.

References
----------
Chapman et al. (2001), A simple algorithm for identifying negated findings and diseases in discharge
summaries. Harkema et al. (2009), ConText: an algorithm for determining negation, experiencer, and
temporal status from clinical reports.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from canonym.regex import regex
from canonym.rules import FLAGS, current, once_a_book, phrase_expression, remembered
from canonym.rules import Rule as Row
from canonym.text.shape import DIGIT, WORD, shape_of

__all__ = ["FLAGS", "SIDES", "STATES", "Cue", "Rule", "find_cues", "outer_words"]

SIDES: tuple[str, ...] = ("before", "after")
"""Where a cue may stand, as seen from the mention."""

STATES = frozenset(["negated", "uncertain"])
"""The flags that say whether something is there."""

_TURNED = str.maketrans("()", ")(")
_ANY = "_"  # stands for any words
_GAP = 40  # characters behind a comma, in which a cue may begin that needs one


class Rule(NamedTuple):
    """What a cue says, of which side, and how far it reaches.

    `flags` are of `FLAGS`. `before` is how far a cue reaches that stands before a mention, `after`
    the same of one behind it: ``"sentence"``, ``"clause"`` (to a comma or "with"), ``"next"`` (a
    few words), ``"last"`` (it has to end its clause), ``"predicate"`` (the same, or to go on with a
    small word: "negative today", not "negative pressure"), ``"head"`` (at once behind the mention,
    whose head it is: "flu vaccine"), or ``""`` where it does not stand so. A turn with ``"comma"``
    counts behind one. `in_lists` are the sides on which the cue counts in a list; `ends` are the
    flags that it stops.
    """

    flags: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    in_lists: tuple[str, ...] = SIDES
    ends: tuple[str, ...] = ()


class Cue(NamedTuple):
    """A place in a text with the rule of the words there."""

    start: int
    end: int
    words: str
    rule: Rule


def _rule_of(row: Row) -> Rule:
    """Return what a row of the book says; its places are ``before:sentence lists:none``."""
    if row.kind != "cue":
        ends = tuple(row.means.split()) if row.kind == "turn" else ()
        return Rule(before=row.where, ends=ends)
    where = dict(place.split(":") for place in row.where.split())
    lists = where.get("lists", ",".join(SIDES))
    return Rule(
        tuple(row.means.split()),
        where.get("before", ""),
        where.get("after", ""),
        tuple(side for side in SIDES if side in lists),
    )


@once_a_book
def _phrases() -> list[tuple[str, Rule]]:
    """Return phrases with choices in round brackets and 0 for a digit, those of a rule together."""
    phrases: dict[Rule, list[tuple[str, Rule]]] = {}
    for kind in ("cue", "turn", "no cue"):
        for row in current().of_kind(kind):
            rule = _rule_of(row)
            phrases.setdefault(rule, []).append((row.form, rule))
    return [*itertools.chain.from_iterable(phrases.values())]


class _Phrase(NamedTuple):
    """A phrase as an expression, and its rule."""

    expression: re.Pattern[str]
    rule: Rule


class _Opened(NamedTuple):
    """The phrases that may begin with a word: whatever comes next, and with which second word."""

    anyway: list[_Phrase]
    before: dict[str, list[_Phrase]]


@once_a_book
def _table() -> dict[str, _Opened]:
    """Return the phrases that may begin with a word."""
    phrases, places = list[_Phrase](), dict[str, dict[str, set[int]]]()
    for phrase, rule in _phrases():
        expression = regex(rf"(?:{phrase_expression(phrase)})(?!\w)", re.IGNORECASE)
        for first, second in _openings(phrase):
            opened = places.setdefault(DIGIT.sub("0", first), {"": set()})
            opened.setdefault(DIGIT.sub("0", second), set()).add(len(phrases))
        phrases.append(_Phrase(expression, rule))

    def of(numbers: Iterable[int]) -> list[_Phrase]:
        return [phrases[number] for number in sorted(numbers)]

    return {
        first: _Opened(
            of(opened[""]), {word: of(numbers | opened[""]) for word, numbers in opened.items()}
        )
        for first, opened in places.items()
    }


@once_a_book
def outer_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words with which a cue before a mention may begin, and one behind it may end."""
    begin, end = set[str](), set[str]()
    for phrase, rule in _phrases():
        if rule.flags and rule.before:
            begin.update(first for first, _ in _openings(phrase))
        if rule.flags and rule.after and rule.in_lists:
            end.update(last[::-1] for last, _ in _openings(phrase[::-1].translate(_TURNED)))
    return frozenset(begin), frozenset(end)


def _openings(phrase: str) -> set[tuple[str, str]]:
    """Return the first words of a phrase, each with a second; "" where none or any may follow.

    >>> sorted(_openings("(no|any) risk (for|of)")), sorted(_openings("(the |)risk *"))
    ([('any', 'risk'), ('no', 'risk')], [('risk', ''), ('the', 'risk')])
    """
    tokens = re.findall(r"[()|]|[^()|]+", phrase.replace("*", _ANY))[::-1]
    openings = set[tuple[str, str]]()

    def read(begun: set[str]) -> set[str]:
        """Return what is written up to the end of a bracket, where it has two words at most."""
        written, ended = begun, set[str]()
        while tokens and (token := tokens.pop()) != ")":
            if token == "|":
                written, ended = begun, ended | written
            elif token == "(":
                written = read(written)
            else:
                written = {text + token for text in written if not is_opened(text + token)}
        return ended | written

    def is_opened(text: str) -> bool:
        words = WORD.findall(text)
        are_two = len(words) > 2 or (len(words) == 2 and text[-1] == " ")
        openings.update([(words[0], words[1].strip(_ANY))] if are_two else ())
        return are_two

    for text in read({""}):
        first, second, *_ = (*WORD.findall(text), "", "")
        openings.update([(first, second.strip(_ANY))] if first else ())
    return openings


@functools.cache
def _both(first: Rule, second: Rule) -> Rule:
    """Join two rules of one phrase: "excluded" may stand on either side."""
    return Rule(
        tuple(dict.fromkeys((*first.flags, *second.flags))),
        first.before or second.before,
        first.after or second.after,
        tuple(
            side
            for side in SIDES
            if any(getattr(rule, side) and side in rule.in_lists for rule in (first, second))
        ),
        tuple(dict.fromkeys((*first.ends, *second.ends))),
    )


@remembered(32)  # several readers ask about a text, one after the other
def find_cues(text: str) -> Sequence[Cue]:
    """Return the cues of a text in order; none overlap, and the longest phrase counts.

    What hangs together with a word by a hyphen is none: *no-reflow*, *HER2-negative*.

    >>> [(cue.words, cue.rule.flags) for cue in find_cues("No h/o asthma, possible no-reflow")]
    [('no h/o', ('negated',)), ('possible', ('uncertain',))]
    """
    table, cues, end = _table(), list[Cue](), 0
    forms = [DIGIT.sub("0", word) for word in shape_of(text).words]
    for n, word in enumerate(WORD.finditer(text)):
        if (opened := table.get(forms[n])) is None or word.start() < end:
            continue
        second = forms[n + 1] if n + 1 < len(forms) else ""
        several = opened.before.get(second, opened.anyway)
        cue = _longest(text, word.start(), several) if several else None
        if cue is not None:
            cues.append(cue)
            end = cue.end
    return cues


def _longest(text: str, start: int, several: Iterable[_Phrase]) -> Cue | None:
    """Return the longest cue that begins at a place; a turn ends what shorter turns there end."""
    end, rule, ends = start, Rule(), dict[str, None]()
    before = text[max(start - _GAP, 0) : start].rstrip()
    for known in several:
        if known.rule.before == "comma" and before[-1:] != ",":
            continue
        match = known.expression.match(text, start)
        if match is None:
            continue
        ends.update(dict.fromkeys(known.rule.ends))
        if match.end() >= end:
            rule = _both(rule, known.rule) if match.end() == end else known.rule
            end = match.end()
    if end == start or _is_glued(text, start, end):
        return None
    rule = rule._replace(ends=tuple(ends)) if rule.ends else rule
    return Cue(start, end, " ".join(text[start:end].lower().split()), rule)


def _is_glued(text: str, start: int, end: int) -> bool:
    """Tell whether a hyphen ties a stretch to the word beside it."""
    if text[end : end + 1] == "-" and text[end + 1 : end + 2].isalnum():
        return True
    is_free = text[start:end].lower() == "free"  # "seizure-free"
    return not is_free and text[:start].endswith("-") and text[:start][-2:-1].isalnum()
