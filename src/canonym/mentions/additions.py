"""Names that say so much beyond a mention that they are names of something else.

*Fibrinogen* is no "Fibrinogen deficiency", an *ECG* no "Abnormal ECG", a *snake* no "snake bite",
and a *hypotonia* need not be a "Congenital hypotonia". No word of the mention is against such a
name, so that an encoder finds it near. The other way round, *ketamine* is more than *S-ketamine*.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from canonym.mentions.opposites import KINDS, PRIVATION, QUALIFIERS, SMALL, TAGS, UNSPECIFIED
from canonym.regex import regex
from canonym.text.memo import strong_forms
from canonym.text.short_forms import spelt_by
from canonym.text.words import forms_of, inversion, words_of_kind
from canonym.types import Against, Contradiction

_FINDINGS = words_of_kind("word of a finding")
_SAYS_MORE = (QUALIFIERS | PRIVATION | _FINDINGS) - {"negative"}  # a sign of many molecules
# What the name of a molecule may have more, or a catalogue of genes.
_SAYS_NOTHING = frozenset({"acid", "anhydrous", "complex", "human", "included", "salt"})
_MALIGNANT = frozenset({"cancer", "carcinoma", "malignancy", "malignant", "sarcoma"})
_BENIGN = frozenset({"benign", "nonmalignant", "noncancerous"})
_SEVERAL = frozenset({"bilateral", "multiple", "numerous", "several"})
_OF_LABELS = regex(
    rf"\b(?:(?P<several>{'|'.join(sorted(_SEVERAL))}|[a-z]{{2,}}[^isu\W\d_]s)"
    r"|(?P<event>anaphyla\w+|allergic reaction|displaced|dislodged|infect\w+|leak\w*|malfunction\w*"
    r"|thrombosis))\b",
    re.IGNORECASE,
)
_SINGLE = regex(r"\b(?:one|single|solitary)\b", re.IGNORECASE)
_STATUS = regex(r"\b(?:allergy status|presence of|status)\b", re.IGNORECASE)
_MALIGNANT_ENDS = tuple(words_of_kind("ending of a malignancy"))
_GROWTHS = frozenset({"growth", "lesion", "mass", "neoplasm", "tumor"})
_NAMED = words_of_kind("word for an ill")
_INJURIES = frozenset({"bite", "cyst", "dislocation", "fracture", "injury", "poisoning", "sting"})
_BEFORE_ILL = frozenset({"carrier", "predisposition", "resistance", "susceptibility"})
_ILLS = PRIVATION | _FINDINGS | _MALIGNANT | _GROWTHS | _NAMED
# An ending that makes a disease or an act of a thing; a pair of them may mean the same.
_OF_DISEASE = regex(rf"(?:{forms_of('ending of an ill')})\Z")
_SAME = frozenset({"iasis", "osis"})
_WRONG = frozenset({"abnormality", "anomaly", "disease", "disorder", "malformation"})
_SICK = ("algia", "emia", "iasis", "itis", "oma", "osis", "opathy", "uria")
_BAD = ("dys", "hyper", "hypo", "mal")
_ADJECTIVE = ("al", "ar", "ary", "ic", "oid", "ous")
_DESIGNATOR = regex(r"\d+[a-z]?|[a-z]\d*|\d+[a-z]\d+", re.IGNORECASE)
_COUNTED = frozenset({"class", "factor", "grade", "group", "level", "phase", "stage", "type"})
_JOINT = regex(rf"\b(?:{forms_of('joint of a name')})\b", re.IGNORECASE)
_BRACKET = regex(r"[(\[]([^)\]]+)[)\]]")
_LED = regex(r"(?:by|due|for|from|in|on|to|with)\s", re.IGNORECASE)  # "on insulin"
# What is said of something is no word that any name may have: "Diseases of inner ear".
_OF_A_KIND = regex(
    r"\b(?:abnormalit(?:y|ies)|finding|procedure|structure|disease|disorder|syndrome|condition)s?"
    r"\s+(?:affecting|in|of)\b|\b(?:conditions|diseases|disorders)$",
    re.IGNORECASE,
)
_LEAST = 4  # letters before an ending
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
        is_more = missing and not left and (_OF_A_KIND.search(name) or _LED.match(name))
        return "narrower" if is_more else "equal"
    if not more:
        return "broader" if {"and", "or"} & set(missing) else "narrower"
    if not fewer:
        return "broader"
    qualified, qualifying = (not QUALIFIERS.isdisjoint(words) for words in (more, fewer))
    if qualified == qualifying:
        return "close"
    return "broader" if qualified else "narrower"


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
    numbers = [word for word in left if _DESIGNATOR.fullmatch(word)]
    own = [word for word in left if word not in numbers and not (numbers and word in _COUNTED)]
    missing = [word for word in against.missing if word not in SMALL]
    if not own and not missing:
        led = _LED.match(name)  # *coumadin* is no "on Coumadin"
        return bool(numbers) or (led is not None and led[0].strip().lower() in against.missing)
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
    return _OF_LABELS.search(text) is not None or behavior_of(text) != ""


def label_contrasts(mention: str, label: str) -> Iterator[Contradiction]:
    """Yield what contradicts the label of a concept: the behavior of a growth, a number, an event.

    "Lung nodule" is a name of "Solitary pulmonary nodule", and *lung nodules* are several. An
    *anaphylaxis* is no "Allergy status", and an infected pacemaker more than the "Presence of" it.

    >>> [*label_contrasts("lung nodules", "Solitary pulmonary nodule")]
    [Contradiction(kind='opposite', mention='nodules', name='solitary')]
    """
    yield from behavior_contrasts(mention, label)
    single, status = _SINGLE.search(label), _STATUS.search(label)
    if not (single or status):
        return
    for match in _OF_LABELS.finditer(mention):
        if match["event"] and status and match["event"].lower() not in label.lower():
            yield Contradiction("opposite", match["event"].lower(), status[0].lower())
        elif match["several"] and single and not _SINGLE.search(mention):
            several = match["several"].lower()
            if several in _SEVERAL or several[:-1] in label.lower():
                yield Contradiction("opposite", several, single[0].lower())


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
    for bracket in _BRACKET.finditer(name, 0, _last_bracket(name)):
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


def _last_bracket(name: str) -> int:
    """Return where the last bracket ends: one that nothing closes is looked for no further."""
    return max(name.rfind(")"), name.rfind("]")) + 1


def _head(name: str) -> str:
    """Return the word that a name is about, "" for a kind of thing that any name may have more.

    >>> _head("Deficiency of factor X"), _head("Fracture, Ankle"), _head("Crohn disease")
    ('deficiency', 'fracture', '')
    """
    last = _last_bracket(name)
    phrase = inversion(_BRACKET.sub(" ", name[:last]) + name[last:])
    joint = _JOINT.search(phrase, 1)
    words = strong_forms([phrase[: joint.start()] if joint else phrase])[0].split()
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
    own = _OF_DISEASE.search(word)
    for other in missing:
        end = _OF_DISEASE.search(other)
        if end is None or end.start() < _LEAST or word.endswith(_ADJECTIVE):
            continue
        stem, rest = word[: end.start()], word[end.start() :]
        # Where the ending itself begins alike, it may be misspelt.
        if other.startswith(stem) and len(rest) <= len(end[0]) + 2 and rest[:2] != end[0][:2]:
            return own is None or not _SAME.issuperset((own[0], end[0]))
    return False
