"""Other words for a whole phrase: *decreased width of face* is a narrow face.

These are the rules of the kind "wording" of the book (`canonym.rules`). The form of one is a phrase
with choices in round brackets, read as a whole text, where `X`, `Y` and `Z` stand for any words,
`N` for a number and *-itis* for any word that ends so. What it means has these letters again,
choices that are all made, and ``\\1`` for what stood in the first brackets that lie in no others.
Commas, brackets and *the* are passed over.

With `DETAIL` a wording says less, as a text does without its details. With `LESS` the first says
all and each after it less. What is made here counts only where it is, as a whole, a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from canonym.errors import InvalidInput
from canonym.mentions.cues import find_cues
from canonym.regex import regex
from canonym.rules import Rule, current, once_a_book
from canonym.text.qualifiers import BROADER
from canonym.text.shape import BRACKETED, shape_of
from canonym.text.words import words_of_kind
from canonym.types import Step

WORDING = "wording"
"""Name of the kind of rule, and of the step to a phrase that says the same in other words."""

LESS, DETAIL = "broader", "detail"
"""Where the wordings of a rule say less than the text."""

_Phrase = list["str | list[_Phrase]"]  # words, and the phrases between which one may choose

_TOKEN = regex(r"[()|]|(?<![^\s()|])(?!the[\s()|])[^\s()|]+")
_SLOTS = ("X", "Y", "Z")
_NUMBER = "N"
_BRACKETS = frozenset("()[]")
_PLACE = regex(r"\\(\d)|\b([XYZ])\b")
_ANY = r"(?:\S+ ){1,9}?"  # the words of a slot; no pattern may take the square of a text
_ENDS = words_of_kind("end of a remark")
_FIGURE = r"[<>~=\u2191\u2193]{0,2}(?!\d+(?:st|nd|rd|th) )\d\S* "  # 600, >95%, 180/100, 5mg
_JOINT = regex(r"[,;&]|(?<!\w)\+|\+(?=\w)|\band\b", re.IGNORECASE)
_COMMON = frozenset([*_SLOTS, _NUMBER, "of", "history"])  # a slot, or words of many rules
_LONGEST = 200  # letters; longer texts are descriptions


class _Wording(NamedTuple):
    """A rule with its form as an expression, and what it means in all ways."""

    rule: Rule
    expression: re.Pattern[str]
    means: list[str]


def phrasings(text: str) -> tuple[Step, ...]:
    """Return the steps to what a text may be called instead, the likelier first; mostly none.

    >>> [step.after for step in phrasings("Decreased width of the face")][:2]
    ['narrow face', 'narrowed face']
    >>> [step.after for step in phrasings("Failure of development of the eyelid")][:2]
    ['absent eyelid', 'missing eyelid']
    >>> phrasings("heart attack")
    ()
    """
    steps = {text.lower(): Step(WORDING, text, text)}
    for rule, said in rephrased(text):
        name, before = (BROADER if rule.where == DETAIL else WORDING), text
        if rule.where == DETAIL and not all(_is_remark(text, other) for other in said):
            continue
        for other in said:
            steps.setdefault(other.lower(), Step(name, before, other))
            if rule.where == LESS:
                name, before = BROADER, said[0]
    return tuple(steps.values())[1:]


def _is_remark(text: str, name: str) -> bool:
    """Tell whether a remark is all that stands behind the name that a text may begin with.

    It is not where a list goes on, or where something is denied or doubted.
    """
    if "?" in text:
        return False
    if not text.lower().startswith(name.lower()):
        return True
    behind = text[len(name) :]
    if _JOINT.search(BRACKETED.sub("", behind.strip(" ,;-\u2013"))):
        return False
    # Some wordings deny what they leave out themselves: *asthma without exacerbation*.
    words, denials = shape_of(behind).words, words_of_kind("beginning of a denial")
    is_denied = not denials.isdisjoint((*words[:1], " ".join(words[:2])))
    return is_denied or not any(cue.rule.flags for cue in find_cues(behind))


def rephrased(text: str) -> Iterator[tuple[Rule, list[str]]]:
    """Yield the rules that have other words for a text, each with these."""
    if len(text) > _LONGEST or shape_of(text).there.isdisjoint(_first_words()):
        return
    bare = map(_bare, text.split())
    words = [word for word in bare if word and word.lower() != "the"]
    lower, table = {word.lower() for word in words}, _table()
    places = {place for word in lower & table.keys() for place in table[word]}
    if not places or len(words) < 2:
        return
    plain = " ".join(words).lower()
    for wording in (_wordings()[place] for place in sorted(places)):
        match = wording.expression.fullmatch("".join(f"{word} " for word in words))
        if match is None or not lower.isdisjoint(wording.rule.unless.split()):
            continue
        if wording.rule.where == DETAIL and _says_more(match):
            continue
        if any(cue.rule.flags for rest in _lost(wording, match) for cue in find_cues(rest)):
            continue  # "h/o flu shot declined"
        said = dict.fromkeys(_filled(form, match) for form in wording.means)
        if any(other.lower() != plain for other in said):
            yield wording.rule, [*said]


def _says_more(match: re.Match[str]) -> bool:
    """Tell whether what a wording leaves out tells of something else: *on oxygen with sepsis*."""
    rests = (text for name, text in match.groupdict().items() if name[0] == "Y" and text)
    return any(not _ENDS.isdisjoint(text.lower().split()) for text in rests)


def _lost(wording: _Wording, match: re.Match[str]) -> Iterator[str]:
    """Yield what stood in places that what a wording means lacks, unless it is a remark."""
    means = {place for _, place in _PLACE.findall(wording.rule.means)}
    if wording.rule.where != DETAIL:
        yield from (
            text
            for name, text in match.groupdict().items()
            if name[0] not in {"_", *means} and text
        )


def _bare(word: str) -> str:
    """Return a word without the comma behind it and the brackets around it."""
    inner = word.strip("()[],")
    return word.rstrip(",") if not _BRACKETS.isdisjoint(inner) else inner


@once_a_book
def _wordings() -> list[_Wording]:
    return [
        _Wording(rule, regex(_expression(rule.form), re.IGNORECASE), _ways([_parsed(rule.means)]))
        for rule in current().of_kind(WORDING)
    ]


@once_a_book
def _table() -> dict[str, list[int]]:
    """Return which rules may speak of a text that has a word, by their places."""
    table: dict[str, list[int]] = {}
    for place, (rule, *_) in enumerate(_wordings()):
        for word in _triggers([_parsed(rule.form)]) or _refused(rule.form):
            table.setdefault(word.lower(), []).append(place)
    return table


@once_a_book
def _first_words() -> frozenset[str]:
    """Return the first word of each key of the table; a key may have several, with hyphens."""
    return frozenset(shape_of(key).words[0] for key in _table())


def _refused(form: str) -> set[str]:
    """Refuse a form that cannot be found in a text, or what it means if it holds other places."""
    raise InvalidInput(f"{form!r} lacks a word that is always there, a bracket, or a place")


def _parsed(form: str) -> list[_Phrase]:
    """Return the phrases of a form, between bars."""
    phrases: list[_Phrase] = [[]]
    open_ = [phrases]
    for token in _TOKEN.findall(form):
        if token == "(":
            choices: list[_Phrase] = [[]]
            open_[-1][-1].append(choices)
            open_.append(choices)
        elif token == ")":
            open_.pop()
        elif token == "|":
            open_[-1].append([])
        else:
            open_[-1][-1].append(token)
        if not open_:
            break
    return phrases if open_ == [phrases] else [[*_refused(form)]]


def _triggers(phrase: _Phrase) -> set[str]:
    """Return words of which one stands in every text of a phrase, the longest; none where none."""
    most: set[str] = set()
    for item in phrase:
        if isinstance(item, str):
            words = set() if item in _COMMON or item[0] == "-" else {item}
        else:
            choices = [_triggers(choice) for choice in item]
            words = set().union(*choices) if all(choices) else set()
        if words and (not most or min(map(len, words)) > min(map(len, most))):
            most = words
    return most


def _expression(form: str) -> str:
    """Return the expression of a form, for words with a space behind each."""
    names: list[str] = []
    depth = 0

    def written(token: str) -> str:
        nonlocal depth
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "(" and depth == 1:
            names.append(f"_{sum(name[0] == '_' for name in names) + 1}")
            return f"(?P<{names[-1]}>"
        if token in "(|)":
            return token.replace("(", "(?:")
        if token == _NUMBER:
            return _FIGURE
        if token in _SLOTS:  # it may stand in several choices
            names.append(f"{token}{len(names)}")
            return f"(?P<{names[-1]}>{_ANY})"
        return rf"\S+{re.escape(token[1:])} " if token[0] == "-" else f"{re.escape(token)} "

    return "".join(map(written, _TOKEN.findall(form)))


def _ways(phrase: _Phrase) -> list[str]:
    """Return a phrase with each of its choices made, in all ways."""
    ways = [""]
    for item in phrase:
        ends = [item] if isinstance(item, str) else [*chain.from_iterable(map(_ways, item))]
        ways = [f"{way} {end}".strip() for way in ways for end in ends]
    return ways


def _filled(form: str, match: re.Match[str]) -> str:
    """Return a wording with what stood in its places."""
    said = match.groupdict()

    def stood(place: re.Match[str]) -> str:
        slot = f"_{place[1]}" if place[1] else place[2]
        held = [said[name] for name in said if slot in (name, name.rstrip("0123456789"))]
        return next(filter(None, held), "") if held else "".join(_refused(form))

    return " ".join(_PLACE.sub(stood, form).split())
