"""Evidence against a name: words too many, words too few, and what contradicts.

Letters and vectors of *hyperkalemia* and *hypokalemia*, or of *type 1* and *type 2*, are alike, and
they mean different things. Here a mention is laid beside a name, and what neither shares is told
apart: words that only one of them has, and pairs that exclude each other, by kind. The rules are of
English and of the signs of all languages.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from canonym.mentions.additions import DESIGNATOR, label_contrasts, relation_of
from canonym.mentions.compare import moved
from canonym.mentions.dimensions import HIGH, LOW, dimension_contrasts
from canonym.mentions.inflection import are_inflected
from canonym.mentions.letter_case import (
    VOWELS,
    case_contrasts,
    last_capital_contrasts,
    symbol_contrasts,
)
from canonym.mentions.marks import mark_contrasts, marks, opposed_signs, with_arrows_spelt
from canonym.mentions.opposites import (
    GREEK,
    KINDS,
    NEGATIONS,
    NUMBER_WORDS,
    PRIVATION,
    PRIVATIVE,
    QUALIFIERS,
    SMALL,
)
from canonym.mentions.specimens import specimen_of
from canonym.mentions.word_order import RELATING, may_be_moved, order_contrasts
from canonym.rules import current, once_a_book, remembered, shipped
from canonym.text import normalise
from canonym.text.characters import dashes, signs
from canonym.text.memo import Remembered, strong_forms
from canonym.text.qualifiers import without_brackets
from canonym.text.shape import LETTERS, NUMBER, shape_of
from canonym.text.short_forms import as_meant
from canonym.text.words import FILLERS, words_of_kind
from canonym.types import Against, Contradiction

NOTHING = Against()
"""Nothing speaks against a name that says what the mention says."""

_SUFFIXES, _STATES = ("penia", "cytosis", "philia"), ("ous", "ic")
_LEAST_REST = 4  # letters of a word behind a prefix
_GLANDS = {rule.form: rule.means for rule in shipped().of_kind("gland that is acted on")}
_ROMAN = {"i": "1", "v": "5", "x": "10"}
# Prefixes that a hyphen may tie to a word: "Pre-eclampsia".
_PREFIXES = frozenset(prefix for prefix in PRIVATIVE if len(prefix) > 2) - NEGATIONS - {"non"}
_TIMES = frozenset({"after", "before", "following"})
# Prefixes that may be written apart: "post partum" is no *antepartum*.
_APART = words_of_kind("prefix written apart")
_METALS = words_of_kind("metal")
_KARYOTYPES = {"xo", *(n * "x" + n_too * "y" for n in range(1, 6) for n_too in range(4))}
# Words that deny something, or relate what stands on their sides, and signs that do.
_TURNS, _COMPARING = words_of_kind("denying word") | RELATING, frozenset("<>")

_NEGATING = frozenset(tuple(form.split()) for form in words_of_kind("negating phrase"))
_NEGATED_BEHIND = [tuple(form.split()) for form in words_of_kind("negating phrase at the end")]
_CUES = NEGATIONS | {"non", *(words[0] for words in (*_NEGATING, *_NEGATED_BEHIND))}
_NEGATION_ENDS = words_of_kind("word behind what is negated")


def differs_in_meaning(mention: str, name: str) -> bool:
    """Tell whether strings of equal normal forms mean different things by a sign or a negation.

    >>> differs_in_meaning("CD4- T cell", "CD4+ T cell")
    True
    >>> differs_in_meaning("absence of seizures", "Absence seizures")
    True
    """
    if (meant := as_meant(name, mention)) != name:
        # In small letters it may be another word: "all" is no leukemia.
        return mention != meant and not VOWELS.isdisjoint(meant)
    if marks(mention) != marks(name) or opposed_signs(mention, name):
        return True
    if mention.casefold() == name.casefold():
        return False
    if _is_plural_of_symbol(mention, name) or _ends_small(mention) is not _ends_small(name):
        return True
    turns = _is_turned(mention) or _is_turned(name)
    if not turns and not may_be_moved(mention, name) and not _is_contrasted(mention):
        return False
    words, others = (form.split() for form in strong_forms([mention, name]))
    against = (*_of_negation(words, others), *_of_order(mention, name, words, others))
    return next(iter(against), None) is not None


def _of_order(
    mention: str, name: str, words: Sequence[str], others: Sequence[str]
) -> Iterator[Contradiction]:
    yield from order_contrasts(mention, name, words, others)
    if _is_contrasted(mention) and _is_contrasted(name):
        yield from moved(mention, name, _groups().__getitem__)


@remembered(1 << 14)
def _is_contrasted(text: str) -> bool:
    """Tell whether a text has two words of one exclusion group."""
    words = LETTERS.findall(signs(dashes(text)).lower())
    groups_of = _groups()
    groups = [group for word in words for group in groups_of[word]]
    return len(set(groups)) < len(groups)


def _ends_small(text: str) -> bool:
    """Tell whether a text ends with a word that ends no phrase: the second form of "SD/THE"."""
    end = next(filter(text.lower().endswith, FILLERS), "")
    before = text[: -len(end)] if end else ""
    is_apart = before != "" and not before[-1].isalnum() and before[-1] != "_"
    return is_apart and ", " not in text


def _is_plural_of_symbol(mention: str, name: str) -> bool:
    """Tell whether a mention is a symbol of capitals and a capital S: no *SMDS* is an "SMD"."""
    return mention == f"{name}S" and name.isupper() and VOWELS.isdisjoint(name)


def _is_turned(text: str) -> bool:
    shape = shape_of(text)
    return not (_TURNS.isdisjoint(shape.there) and _COMPARING.isdisjoint(shape.signs))


# --- a mention beside a name ----------------------------------------------------------------------


def against(mention: str, name: str, *, label: str = "", case_counts: bool = False) -> Against:
    """Return what speaks against a name as the meaning of a mention.

    With `case_counts` the case of a symbol says what it stands for, as for genes of several
    species; else only that of very short symbols does, and of acronyms that are spelt like words
    of everyday English; the `label` of the concept tells them from words in capitals, and may say
    that a growth is benign.

    >>> against("mild hypokalemia", "Hyperkalemia").contradictions
    (Contradiction(kind='prefix', mention='hypokalemia', name='hyperkalemia'),)
    >>> against("severe asthma", "Asthma").left_over, against("severe asthma", "Asthma").relation
    (('severe',), 'broader')
    """
    name = as_meant(name, mention)
    if " [" in name:
        name = without_brackets(name, mention)
    if mention == name:
        return NOTHING
    left, missing, contradictions = mark_contrasts(mention, name)
    is_one_form = normalise(mention) == normalise(name)
    form, other = (
        ("", "")
        if is_one_form
        else strong_forms([with_arrows_spelt(mention), with_arrows_spelt(name)])
    )
    is_inflected = False
    words, others = form.split(), other.split()
    words, others = _glued(words, others, mention), _glued(others, words, name)
    left = [sign for sign in left if sign not in words]  # those in words come with the words
    missing = [sign for sign in missing if sign not in others]
    if form == other or form.replace(" ", "") == other.replace(" ", ""):
        contradictions += case_contrasts(mention, name, label, case_counts=case_counts)
    else:
        left_words, missing_words = _unshared(words, others)
        is_inflected = len(left_words) < len(_without(words, others))
        shared = len(words) > len(left_words)
        is_timed = _TIMES.isdisjoint(words) != _TIMES.isdisjoint(others)
        contrasts = _of_words(left_words, missing_words, shared)
        contradictions += [pair for pair in contrasts if not (is_timed and _is_timed(pair))]
        contradictions += _of_negation(words, others)
        contradictions += _of_specimens(mention, name)
        contradictions += _of_order(mention, name, words, others)
        contradictions += _of_head(left_words, others)
        contradictions += dimension_contrasts(words, others)
        contradictions += case_contrasts(mention, name, label)
        contradictions += symbol_contrasts(mention, name, left_words, missing_words)
        small = frozenset() if _ends_small(mention) else FILLERS
        left += [word for word in _lettered(left_words, words) if word not in small]
        missing += [word for word in _lettered(missing_words, others) if word not in FILLERS]
    if (is_like := _is_like(mention)) != _is_like(name):
        contradictions += [Contradiction("prefix", *(("like", "") if is_like else ("", "like")))]
    contradictions += last_capital_contrasts(mention, name)
    contradictions += label_contrasts(mention, label) if label else ()
    if not (left or missing or contradictions or is_inflected):
        return NOTHING
    relation = "related" if contradictions else relation_of(left, missing, name)
    if is_inflected and relation == "equal":
        relation = "close"  # a prednisone is no prednisolone
    return Against(tuple(left), tuple(missing), tuple(dict.fromkeys(contradictions)), relation)


def _is_like(text: str) -> bool:
    """Tell whether something is like another: a *Marfan-like syndrome* is no Marfan syndrome."""
    before, like, behind = text.lower().partition("-like")
    return like != "" and before[-1:].isalpha() and not behind[:1].isalnum()


def _is_timed(contrast: Contradiction) -> bool:
    """Tell whether a prefix says what a preposition may: *post-stroke* is after a stroke."""
    short, long = sorted((contrast.mention, contrast.name), key=len)
    return long in (f"post{short}", f"pre{short}")


def _glued(words: list[str], others: Sequence[str], text: str) -> list[str]:
    """Return the words of a text as the other side writes them: *non toxic* as "Nontoxic goiter".

    What a hyphen ties to a word that the other side has alone is one with it: "Pre-eclampsia".
    """
    if len(words) < 2:
        return words
    known = set(others)
    tied = {first for first in _PREFIXES.intersection(words) if f"{first}-" in text.lower()} - known

    are_apart = known.isdisjoint(map(operator.add, words, words[1:]))
    if are_apart and not tied and _APART.isdisjoint(words):
        return words

    def is_one(first: str, second: str) -> bool:
        if first + second in known:
            return True
        if first in tied and second in known:
            return True
        return first in _APART and any(word.endswith(second) and word != second for word in known)

    if not any(itertools.starmap(is_one, itertools.pairwise(words))):
        return words
    glued: list[str] = []
    for word in words:
        if glued and is_one(glued[-1], word) and glued[-1].isalpha() and word.isalpha():
            glued[-1] += word
        else:
            glued.append(word)
    return glued


def _lettered(unshared: list[str], words: Sequence[str]) -> list[str]:
    """Return words that the other side lacks; an *a* at the end is a letter, and no article."""
    if words[-1:] != ["a"] or "a" not in unshared:
        return unshared
    return [word for word in unshared if word != "a"] + ["A"]


def _unshared(words: Sequence[str], others: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of each side that the other does not account for, in their order."""
    left = _without(words, others)
    missing = _without(others, words)
    heads = {word[:_LEAST_REST] for word in missing} if left else set()
    for word in [word for word in left if word[:_LEAST_REST] in heads]:
        same = next((other for other in missing if _is_inflected(word, other)), None)
        if same is not None:
            left.remove(word)
            missing.remove(same)
    return left, missing


def _without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    if len(set(words)) == len(words):
        known = set(others)
        return [word for word in words if word not in known]
    rest = Counter(others)
    left = []
    for word in words:
        if rest[word]:
            rest[word] -= 1
        else:
            left.append(word)
    return left


def _is_inflected(word: str, other: str) -> bool:
    """Tell whether two words are likely to be forms of one that do not exclude each other."""
    if not are_inflected(word, other):
        return False
    return _group_contrast(word, other) is None and affix_contrast(word, other) is None


def apart_by(words: Iterable[str], others: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two words that exclude each other, one of each side; None without such.

    >>> apart_by(["traumatic", "nos"], ["nontraumatic"]), apart_by(["renal"], ["hepatic"])
    (('traumatic', 'nontraumatic'), None)
    """
    pairs = itertools.product(words, others)
    return next((pair for pair in pairs if _contrast(*pair, True) is not None), None)


# --- contradictions of words ----------------------------------------------------------------------


def _of_words(left: Sequence[str], missing: Sequence[str], shared: bool) -> list[Contradiction]:
    if not left or not missing:
        return []
    marks_of = _marks_of_words()
    marked = [word for word in missing if marks_of[word]]
    ends = {end for word in missing for end in _ends(word)}
    contradictions: list[Contradiction] = []
    for word in left:
        # Two ordinary words exclude each other by a prefix or an ending only.
        ends_alike = not ends.isdisjoint(_ends(word))
        others = missing if ends_alike else marked if marks_of[word] else ()
        contradictions += [
            Contradiction(kind, word, other)
            for other in others
            if (kind := _contrast(word, other, shared)) is not None
        ]
    return contradictions


def _ends(word: str) -> tuple[str, ...]:
    return word[:_LEAST_REST], word[-_LEAST_REST:], word.removeprefix("non")[:_LEAST_REST]


@once_a_book
def _marks_of_words() -> Remembered[bool]:
    return Remembered(_is_marked)


def _is_marked(word: str) -> bool:
    """Tell whether a word says a sense, a direction or a symbol that may exclude another one."""
    return (
        word in _senses()
        or word in LOW
        or word in HIGH
        or word.startswith(_LEVELS)
        or NUMBER.search(word) is not None
        or bool(_designated(word))
        or word in _KARYOTYPES
    )


@remembered(1 << 16)
def _contrast(word: str, other: str, shared: bool) -> str | None:
    """Return by what a word of a mention excludes a word of a name, None where it does not."""
    return (
        _group_contrast(word, other)
        or affix_contrast(word, other)
        or _symbol_contrast(word, other, shared)
    )


@once_a_book
def _senses() -> dict[str, list[tuple[str, str, str]]]:
    """Return the kind, the exclusion group and the sense of each word that has any."""
    senses: dict[str, list[tuple[str, str, str]]] = {}
    for rule in (*current().of_kind("opposite"), *current().of_kind("species of a name")):
        for word in rule.form.split("/"):
            senses.setdefault(word, []).append((rule.kind.split()[0], rule.means, rule.form))
    return senses


_SIDES = frozenset({"left", "right", "bilateral", "unilateral"})
_SIGN_SENSES = frozenset({"positive", "pos", "negative", "neg"})
_LEVELS = ("hyper", "hypo")
_HEADLESS = QUALIFIERS | SMALL | KINDS | words_of_kind("what is qualified")

_SPEAKING = ("with without", "other unspecified")  # of what follows, and of no thing themselves
_MORE_GROUPS = {word: frozenset([words]) for words in _SPEAKING for word in words.split()}


@once_a_book
def _groups() -> Remembered[frozenset[object]]:
    return Remembered(_groups_of)


def _groups_of(word: str) -> frozenset[object]:
    """Return the exclusion groups of a word."""
    groups = ((kind, line) for kind, line, _ in _senses().get(word, ()))
    return frozenset((*groups, *_MORE_GROUPS.get(word, ())))


def _group_contrast(word: str, other: str) -> str | None:
    for kind, line, sense in _senses().get(word, ()):
        for kind_too, line_too, sense_too in _senses().get(other, ()):
            if (kind, line) == (kind_too, line_too) and sense != sense_too:
                return _kind_of(kind, word, other)
    for level, state in ((word, other), (other, word)):
        if state.startswith(_LEVELS) and level in (LOW if state.startswith("hyper") else HIGH):
            return "opposite"
    return None


def _kind_of(kind: str, word: str, other: str) -> str:
    pair = {word, other}
    return "side" if pair <= _SIDES else "sign" if pair <= _SIGN_SENSES else kind


@once_a_book
def _prefix_groups() -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for rule in current().of_kind("prefix"):
        groups.setdefault(rule.form, set()).add(rule.means)
    return groups


def affix_contrast(word: str, other: str) -> str | None:
    """Return ``"prefix"`` where words differ by prefixes or endings that exclude each other."""
    for denial, name in ((word, other), (other, word)):  # *nonmigrainous* is not of migraine
        stem = name[: max(_LEAST_REST, len(name) - _LEAST_REST) + 1]
        if len(stem) > _LEAST_REST and denial.startswith(f"non{stem}"):
            return "prefix"
    if word[-_LEAST_REST:] != other[-_LEAST_REST:] and word[:_LEAST_REST] != other[:_LEAST_REST]:
        return None
    if word != other and _stem(word) and _stem(word) == _stem(other):
        return "prefix"
    # What acts on a gland, or comes from the pituitary, is no part of the gland.
    for tropic, part in ((word, other), (other, word)):
        gland = _GLANDS.get(tropic.partition("trop")[0]) if "trop" in tropic else None
        if gland and part.startswith(gland) and not part.startswith(f"{gland}ot"):
            return "prefix"
    groups = _prefix_groups()
    for stop in range(1, len(word) - _LEAST_REST + 1):
        lines, rest = groups.get(word[:stop]), word[stop:]
        if not lines or word == other or not other.endswith(rest):
            continue
        if not lines.isdisjoint(groups.get(other[: -len(rest)], ())):
            return "prefix"
    shorter, longer = sorted((word, other), key=len)
    # The sinuses of the nose are beside it.
    denied = len(shorter) >= _LEAST_REST and longer.endswith(shorter) and longer != "paranasal"
    return "prefix" if denied and longer[: -len(shorter)] in PRIVATIVE else None


def _stem(word: str) -> str:
    """Return a word without one of `_SUFFIXES`, the metal of *mercurous*, "" for any other word."""
    for end in (*_SUFFIXES, *_STATES):
        stem = word.removesuffix(end)
        if stem != word and (end in _SUFFIXES or stem in _METALS):
            return stem
    return ""


def _symbol_contrast(word: str, other: str, shared: bool) -> str | None:
    """Return the kind in which symbols differ: karyotypes, numbers, or letters of a type."""
    if word in _KARYOTYPES and other in _KARYOTYPES:
        return "karyotype"
    value, value_too = _designated(word), _designated(other)
    if value and value_too:
        same = value == value_too or _ROMAN.get(value) == value_too
        if same or not shared or _ROMAN.get(value_too) == value:
            return None
        return "number" if value[0].isdigit() or value_too[0].isdigit() else "letter"
    if word[:-1] == other[:-1] and word[-2:-1].isdigit() and (word[-1] + other[-1]).isalpha():
        return "letter"  # HT2A and HT2C, V600E and V600K
    if NUMBER.search(word) and NUMBER.search(other):
        same = NUMBER.sub("#", word) == NUMBER.sub("#", other)
        return "number" if same else None
    return None


def _designated(word: str) -> str:
    """Return the number or letter that a word is, "" for any other word."""
    value = NUMBER_WORDS.get(word) or GREEK.get(word) or word
    return value if DESIGNATOR.fullmatch(value) else ""


# --- negation and case ----------------------------------------------------------------------------


def _of_negation(words: Sequence[str], others: Sequence[str]) -> Iterator[Contradiction]:
    """Yield what one side denies and the other says."""
    if _CUES.isdisjoint(words) and _CUES.isdisjoint(others):
        return
    denied, denied_too = _denied(words), _denied(others)
    if not denied and not denied_too:
        return
    said, said_too = set(words) - denied - SMALL, set(others) - denied_too - SMALL
    if _meet(denied, said_too) and PRIVATION.isdisjoint(said_too - set(words)):
        yield Contradiction("negation", "no " + " ".join(w for w in words if w in denied), "")
    elif _meet(denied_too, said) and PRIVATION.isdisjoint(said - set(others)):
        yield Contradiction("negation", "", "no " + " ".join(w for w in others if w in denied_too))


def _meet(denied: Iterable[str], said: Iterable[str]) -> bool:
    """Tell whether a word that one side denies is said by the other, in one of its forms."""
    pairs = itertools.product(denied, said)
    return any(word == other or are_inflected(word, other) for word, other in pairs)


def _of_head(left: Sequence[str], others: Sequence[str]) -> Iterator[Contradiction]:
    """Yield a name of qualifiers alone, beside what a mention qualifies: *mild ID* and "Mild"."""
    if not others or not _HEADLESS.issuperset(others):
        return
    starts = tuple(others)
    rest = [word for word in left if word not in _HEADLESS and not word.startswith(starts)]
    if rest:
        yield Contradiction("head", " ".join(rest), " ".join(others))


def _of_specimens(mention: str, name: str) -> Iterator[Contradiction]:
    """Yield the specimens of two laboratory tests, if both have one and they differ."""
    specimen = specimen_of(mention)
    other = specimen_of(name) if specimen else ""
    if other and specimen != other:
        yield Contradiction("specimen", specimen, other)


def _denied(words: Sequence[str]) -> set[str]:
    """Return the words of a phrase that stand behind a negation, or before "absent"."""
    denied: set[str] = set()
    reach = 0  # of the negations so far: one more inside of it adds nothing
    for place, word in enumerate(words):
        pair = (word, *words[place + 1 : place + 2])
        if word == "non":
            denied.update(words[place + 1 : place + 2])
        elif place >= reach and (word in NEGATIONS or pair in _NEGATING or word == "absent"):
            rest = words[place + (2 if pair in _NEGATING else 1) :]
            # "not in remission"
            behind = [*_up_to_end(rest[1:] if rest[:1] in (["in"], ["with"]) else rest)]
            denied.update(behind)
            reach = place + len(behind)
    for ending in _NEGATED_BEHIND:
        if tuple(words[-len(ending) :]) == ending:
            denied.update(_up_to_end(words[: -len(ending)][::-1]))
    return denied - SMALL


def _up_to_end(words: Sequence[str]) -> Iterator[str]:
    return itertools.takewhile(lambda word: word not in _NEGATION_ENDS, words)
