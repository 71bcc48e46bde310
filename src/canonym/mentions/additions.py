"""Names that say so much beyond a mention that they are names of something else.

*Fibrinogen* is no "Fibrinogen deficiency", an *ECG* no "Abnormal ECG", a *snake* no "snake bite",
and a *hypotonia* need not be a "Congenital hypotonia". No word of the mention is against such a
name, so that an encoder finds it near. The other way round, *ketamine* is more than *S-ketamine*.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

from canonym.mentions.opposites import KINDS, PRIVATION, QUALIFIERS, SMALL, TAGS, UNSPECIFIED
from canonym.regex import regex
from canonym.text.memo import strong_forms
from canonym.text.shape import WORD, shape_of
from canonym.text.short_forms import spelt_by
from canonym.text.words import inversion, words_of_kind
from canonym.types import Against, Contradiction

_FINDINGS = words_of_kind("word of a finding")
_SAYS_MORE = (QUALIFIERS | PRIVATION | _FINDINGS) - {"negative"}  # a sign of many molecules
# What the name of a molecule may have more, or a catalogue of genes.
_SAYS_NOTHING = words_of_kind("word that adds nothing")
_MALIGNANT = words_of_kind("word for a malignancy")
_BENIGN = words_of_kind("word for what is benign")
_SEVERAL, _SINGLE = words_of_kind("word for several"), words_of_kind("word for one")
_EVENTS, _STATUSES = words_of_kind("event"), words_of_kind("word of a status")
_MALIGNANT_ENDS = tuple(words_of_kind("ending of a malignancy"))
_GROWTHS = words_of_kind("word for a growth")
_NAMED = words_of_kind("word for an ill")
_INJURIES = words_of_kind("word for an injury")
_BEFORE_ILL = words_of_kind("word before an ill")
_ILLS = PRIVATION | _FINDINGS | _MALIGNANT | _GROWTHS | _NAMED
# An ending that makes a disease or an act of a thing; a pair of them may mean the same.
_OF_DISEASE = words_of_kind("ending of an ill")
_SAME = frozenset({"iasis", "osis"})
_WRONG = words_of_kind("word for what is wrong")
_SICK = tuple(words_of_kind("ending of a disease"))
_BAD = tuple(words_of_kind("beginning of a disease"))
_ADJECTIVE = tuple(words_of_kind("ending of an adjective"))
DESIGNATOR = regex(r"\d+[a-z]?|[a-z]\d*|\d+[a-z]\d+", re.IGNORECASE)
"""A number or a letter that tells one of a kind: the 2 of type 2, the b of stage 3b, a C7."""

_COUNTED = words_of_kind("word before a designator")
_JOINTS = words_of_kind("joint of a name")
_BRACKET = regex(r"[(\[]([^()\[\]]+)[)\]]")
_LEADING = words_of_kind("leading preposition")  # "on insulin"
_OF_A_KIND, _OF_SEVERAL = words_of_kind("word for a kind"), words_of_kind("word for a group")
_LEAST = 4  # letters before an ending, and of a word in the plural
_ADDED, _IMPLIED = SMALL | TAGS, SMALL | UNSPECIFIED | KINDS
_TAGGED = _ADDED | KINDS


def relation_of(left: Sequence[str], missing: Sequence[str], name: str) -> str:
    """Return what a concept is to a mention by the words that only one of them has."""
    more = [word for word in left if word not in _ADDED]
    # "(organism)" and "unspecified organism" say nothing, as no word in the middle does.
    has_tag = name.endswith((")", "]")) or not UNSPECIFIED.isdisjoint(missing)
    implied = _TAGGED if has_tag else _IMPLIED
    fewer = [word for word in missing if word not in implied]
    if not more and not fewer:
        is_more = missing and not left and (_is_of_a_kind(name) or _led_by(name))
        return "narrower" if is_more else "equal"
    if not more:
        return "broader" if {"and", "or"} & set(missing) else "narrower"
    if not fewer:
        return "broader"
    qualified, qualifying = (not QUALIFIERS.isdisjoint(words) for words in (more, fewer))
    if qualified == qualifying:
        return "close"
    return "broader" if qualified else "narrower"


def _is_of_a_kind(name: str) -> bool:
    """Tell whether a name says of what something is one: "Diseases of inner ear"."""
    words = shape_of(name).words
    is_of = any(
        word in _OF_A_KIND and behind in ("affecting", "in", "of")
        for word, behind in itertools.pairwise(words)
    )
    return is_of or not _OF_SEVERAL.isdisjoint(words[-1:])


def _led_by(name: str) -> str:
    """Return the preposition that a name begins with, "" where it begins with none."""
    first, space, _ = name.lower().partition(" ")
    return first if space and first in _LEADING else ""


def names_another(against: Against, name: str) -> bool:
    """Tell whether a name says more or less than a mention, and so much that it means another.

    >>> from canonym.mentions.contrasts import against
    >>> pairs = ("ECG", "Abnormal ECG"), ("snake", "snake bite"), ("wrist pain", "Pain in wrist")
    >>> [names_another(against(mention, name), name) for mention, name in pairs]
    [True, True, False]
    """
    if against.relation == "equal":
        return False
    left = [word for word in against.left_over if word not in SMALL]
    numbers = [word for word in left if DESIGNATOR.fullmatch(word)]
    own = [word for word in left if word not in numbers and not (numbers and word in _COUNTED)]
    missing = [word for word in against.missing if word not in SMALL]
    if not own and not missing:
        return bool(numbers) or _led_by(name) in against.missing  # *coumadin*, "on Coumadin"
    if not missing:
        return False
    if any(word in _BEFORE_ILL for word in missing) and _BEFORE_ILL.isdisjoint(left):
        return True
    if not own:
        return _says_more(missing, name)
    if KINDS.issuperset(own):  # a disease of the optic tract is no injury of it
        return _head(name) in _INJURIES.intersection(missing)
    return (
        _is_malignant(own, missing) or _is_of_disease(own, missing) or _is_ill(own, missing, name)
    )


@functools.lru_cache(maxsize=1_024)  # asked for a mention beside each of its hits
def behavior_of(text: str) -> str:
    """Return whether a text calls a growth benign, malignant or in situ, "" where it does not.

    A text that says benign and malignant says neither.

    >>> [behavior_of(text) for text in ("islet cell cancer", "benign growth", "carcinoma in situ")]
    ['malignant', 'benign', 'in situ']
    """
    words = strong_forms([text])[0].split()
    if "situ" in words:
        return "in situ"
    is_benign = not _BENIGN.isdisjoint(words)
    if any(word in _MALIGNANT or word.endswith(_MALIGNANT_ENDS) for word in words):
        return "" if is_benign else "malignant"
    return "benign" if is_benign else ""


@functools.lru_cache(maxsize=1_024)  # asked for a mention beside each of its hits
def asks_label(text: str) -> bool:
    """Tell whether the label of a concept may contradict a text, whichever of its names is near."""
    words = shape_of(text).words
    return any(map(_is_several, words)) or _events(words) != [] or behavior_of(text) != ""


def _events(words: Sequence[str]) -> list[str]:
    """Return what befell someone by the words of a text: *infected*, *allergic reaction*."""
    pairs = map(" ".join, itertools.pairwise(words))
    return [*filter(_EVENTS.__contains__, (*words, *pairs))]


def _is_several(word: str) -> bool:
    """Tell whether a word says of something that there are several, or is in the plural."""
    return word in _SEVERAL or (
        len(word) >= _LEAST and word[-1] == "s" and word[-2] not in "isu" and word.isalpha()
    )


def label_contrasts(mention: str, label: str) -> Iterator[Contradiction]:
    """Yield what contradicts the label of a concept: the behavior of a growth, a number, an event.

    "Lung nodule" is a name of "Solitary pulmonary nodule", and *lung nodules* are several. An
    *anaphylaxis* is no "Allergy status", and an infected pacemaker more than the "Presence of" it.

    >>> [*label_contrasts("lung nodules", "Solitary pulmonary nodule")]
    [Contradiction(kind='opposite', mention='nodules', name='solitary')]
    """
    yield from behavior_contrasts(mention, label)
    lower = label.lower()
    statuses = [status for status in _STATUSES if status in lower]
    singles = [word for word in _SINGLE if word in lower and word in shape_of(label).words]
    if not statuses and not singles:
        return
    words = shape_of(mention).words
    for event in _events(words) if statuses else ():
        if event not in lower:
            yield Contradiction("opposite", event, max(statuses, key=len))
    for word in filter(_is_several, words if singles and _SINGLE.isdisjoint(words) else ()):
        if word in _SEVERAL or word[:-1] in lower:
            yield Contradiction("opposite", word, max(singles))


def behavior_contrasts(mention: str, label: str) -> Iterator[Contradiction]:
    """Yield what contradicts where a growth behaves in one way, and in another by its label.

    A name may leave open what the label of its concept says: "Islet cell tumor" is a name of
    "Benign neoplasm of endocrine pancreas".
    """
    behavior = behavior_of(mention) if label else ""
    other = behavior_of(label) if behavior else ""
    if other and behavior != other:
        yield Contradiction("opposite", behavior, other)


def _says_more(missing: Sequence[str], name: str) -> bool:
    """Tell whether a name that has all words of a mention has others that make it another one."""
    words = strong_forms([name])[0].split()
    # "Helicobacter pylori [H. pylori]" has a word twice, and lacks it once.
    shared = {word for word in words if words.count(word) > missing.count(word)}
    missing = [word for word in missing if word not in shared]
    for bracket in _BRACKET.finditer(name):
        inside, before = strong_forms([bracket[1]])[0].split(), name[: bracket.start()]
        if bracket[1].isupper():  # "Multiple endocrine neoplasia [MEN]"
            inside = strong_forms([spelt_by(bracket[1], before) or ""])[0].split()
            if len(inside) > 2 * len(bracket[1]):
                continue  # so many words have these letters anyway
        elif shared and shared.issubset(inside):
            return False  # "Familial dysautonomia [Riley-Day]" is Riley-Day
        elif bracket[0][0] == "[":
            continue
        # What a short form stands for is said by it, and what is in round brackets is optional.
        missing = [word for word in missing if word not in inside]
    if any(word in _SAYS_MORE for word in missing):
        return True
    if "malignant" in missing and not any(word.endswith(_MALIGNANT_ENDS) for word in shared):
        return True
    head = _head(name)
    return head in missing and head not in _SAYS_NOTHING


def _head(name: str) -> str:
    """Return the word that a name is about, "" for a kind of thing that any name may have more.

    >>> _head("Deficiency of factor X"), _head("Fracture, Ankle"), _head("Crohn disease")
    ('deficiency', 'fracture', '')
    """
    phrase = inversion(_BRACKET.sub(" ", name))
    places = (word.start() for word in WORD.finditer(phrase) if word[0].lower() in _JOINTS)
    joint = next(filter(None, places), None)  # the first word joins nothing
    words = strong_forms([phrase[:joint]])[0].split()
    head = next((word for word in reversed(words) if word not in UNSPECIFIED), "")
    return "" if head in KINDS and joint is None else head


def _is_ill(left: Sequence[str], missing: Sequence[str], name: str) -> bool:
    """Tell whether a name says that something is wrong, and no word of a mention does.

    *Surface electromyography* is no "Abnormal electromyogram".
    """
    wrong = _WRONG.intersection(missing)
    if "abnormal" not in missing and not (wrong and _head(name) in wrong):
        return False
    return not any(word in _ILLS or word.endswith(_SICK) or word.startswith(_BAD) for word in left)


def _is_malignant(left: Sequence[str], missing: Sequence[str]) -> bool:
    """Tell whether a name says *cancer* where a mention says *tumor*."""
    return _GROWTHS.issuperset(left) and not _MALIGNANT.isdisjoint(missing)


def _is_of_disease(left: Sequence[str], missing: Sequence[str]) -> bool:
    """Tell whether a name has the disease of what a mention has: *dysferlin*, "Dysferlinopathy"."""
    left = [word for word in left if word not in _WRONG] or left
    if len(left) > 1:
        return False
    (word,) = left
    for other in missing:
        end = _ending(other)
        start = len(other) - len(end)
        if not end or start < _LEAST or word.endswith(_ADJECTIVE):
            continue
        stem, rest = word[:start], word[start:]
        # Where the ending itself begins alike, it may be misspelt.
        if other.startswith(stem) and len(rest) <= len(end) + 2 and rest[:2] != end[:2]:
            return not _SAME.issuperset((_ending(word), end))
    return False


def _ending(word: str) -> str:
    """Return the longest ending by which a word names a disease or an act, "" without one."""
    return max(filter(word.endswith, _OF_DISEASE), key=len, default="")
