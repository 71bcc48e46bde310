"""Two strings of the same words, in which words stand beside others.

*ER-positive, HER2-negative* is the opposite of *HER2-positive, ER-negative*, though both have the
same words. A text is cut into its phrases, at commas and at words such as *and* or *with*. A word
of an exclusion group (*left*, *low*, *positive*), or a number, belongs to the other words of its
phrase. Where two of one group are there, and one has none of its companions in the other string,
it was **moved**. Without a parser this cannot tell all; what it cannot tell is not said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from canonym.mentions.opposites import SMALL
from canonym.regex import regex
from canonym.text.characters import dashes, signs
from canonym.text.memo import strong_forms
from canonym.text.words import words_of_kind
from canonym.types import Contradiction

_TOKEN = regex(r"[^\W_]+(?:\.\d+)?|[,;:/()]")
_JOINING = words_of_kind("joining word")
_BREAKS = frozenset(",;:/()") | _JOINING
_BEHIND = words_of_kind("word about the one before it")
"""Words that speak of the word before them."""

GroupsOf = Callable[[str], frozenset[object]]
"""Gives the exclusion groups of a word."""


def moved(mention: str, name: str, groups_of: GroupsOf) -> Iterator[Contradiction]:
    """Yield what words of an exclusion group speak of, where another of them does in a name.

    >>> groups = {"left": frozenset([1]), "right": frozenset([1])}
    >>> ask = lambda word: groups.get(word, frozenset())
    >>> next(moved("left cataract, right glaucoma", "right cataract with left glaucoma", ask))
    Contradiction(kind='order', mention='left cataract', name='left glaucoma')
    >>> [*moved("pain in left and right knee", "right and left knee pain", ask)]
    []
    """
    here, there = _companions(mention, groups_of), _companions(name, groups_of)
    for word in sorted(here.keys() & there.keys()):
        own, others = here[word], there[word]
        rivals = frozenset[str]().union(
            *(there[rival] for rival in there if groups_of(word) & groups_of(rival))
        )
        if own and others and own.isdisjoint(others) and own & rivals:
            pair = (" ".join((word, *sorted(companions))) for companions in (own, others))
            yield Contradiction("order", *pair)


def _companions(text: str, groups_of: GroupsOf) -> Mapping[str, frozenset[str]]:
    """Return the words that each contrasted word of a text speaks of, and no other of its group.

    A word that stands twice is left out: it cannot be told which of the two is meant.
    """
    phrases = strong_forms([" ".join(phrase) for phrase in _phrases(text, groups_of)])
    owners = [owner for form in phrases for owner in _owners(form.split(), groups_of)]
    counts = Counter(word for word, _ in owners)
    single = {word: companions for word, companions in owners if counts[word] == 1}
    companions: dict[str, frozenset[str]] = {}
    for word, own in single.items():
        groups = groups_of(word)
        rivals = [of for other, of in single.items() if other != word and groups & groups_of(other)]
        if rivals:
            companions[word] = own.difference(*rivals)
    return companions


def _owners(phrase: Sequence[str], groups_of: GroupsOf) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the contrasted words of a phrase, each with the words that it speaks of.

    Of two in one phrase each speaks of what follows: *unspecified injury of other muscles*.
    """
    content = frozenset(phrase) - SMALL - _JOINING
    groups = [groups_of(word) for word in phrase]
    for place, (word, own) in enumerate(zip(phrase, groups, strict=True)):
        if word in _BEHIND:
            yield word, frozenset(phrase[max(place - 1, 0) : place])
        elif own and any(own & other for at, other in enumerate(groups) if at != place):
            rivals = (at for at in range(place + 1, len(phrase)) if own & groups[at])
            yield word, content & frozenset(phrase[place + 1 : next(rivals, len(phrase))])
        elif own:
            yield word, content - {word}


def _phrases(text: str, groups_of: GroupsOf) -> Iterator[list[str]]:
    """Yield the phrases of a text as words; words of one group joined by *and* are in one."""
    tokens = _TOKEN.findall(signs(dashes(text)).lower())
    phrase: list[str] = []
    for place, token in enumerate(tokens):
        if token not in _BREAKS:
            phrase.append(token)
        elif not _couples(tokens, place, groups_of):
            yield phrase
            phrase = [token] if groups_of(token) else []
    yield phrase


def _couples(tokens: Sequence[str], place: int, groups_of: GroupsOf) -> bool:
    """Tell whether a break stands between two words of a group: *sensory and motor*."""
    before, behind = tokens[max(place - 1, 0)], tokens[min(place + 1, len(tokens) - 1)]
    return bool(groups_of(before) & groups_of(behind)) and behind not in _BEHIND
