"""Codes among mentions: an id in the place of a name is looked up as an id, before all names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from canonym.linking.hits import ConceptHit, StringHits
from canonym.linking.search import BatchHits, Sifted, sift
from canonym.linking.settings import IDS
from canonym.terminology.codes import CodeHit
from canonym.terminology.hierarchy import edges_up
from canonym.text import PLAIN, UNORDERED, normalise_all
from canonym.text.words import words_of_kind
from canonym.types import Step

AGREED = 1.0
"""Score of a concept whose id a mention is, or has beside one of its names."""

UNCONFIRMED = 0.75
"""Score of a concept whose id a mention has beside words that are no name of it."""

DOUBTED = 0.5
"""Score of the concepts of a mention whose code means one and whose words mean another."""

_MOST_NAMES = 64  # of a concept, laid beside a label
_IN_CATEGORY = 3  # characters of a code that may be a word
_SMALL = words_of_kind("small word of a label")
_NEGATIONS = frozenset(("no", "not", "non", "absent", "absence", "negative", "denies", "never"))
_OPPOSITES = [frozenset(group.split()) for group in words_of_kind("opposites of labels")]


class _Read(NamedTuple):
    """A string that is read as a code, and the ordinals of its concepts that may be found."""

    string: str
    code: CodeHit
    concepts: tuple[int, ...]


def find_coded(
    codes: Mapping[str, CodeHit],
    sifted: Sifted,
    batch: BatchHits,
    forbidden: frozenset[int],
    k: int,
) -> dict[str, StringHits]:
    """Return the hits of strings that are codes, or have one beside a label.

    A code with its prefix is an id, whatever names there are. One without it is a name where a name
    is verbatim that, and not a code where it is a word of other names: "B12" is a vitamin. Of a
    code and a label the code decides, if the label says nothing else.
    """
    hits: dict[str, StringHits] = {}
    labelled: list[_Read] = []
    labels = {code.reading.beside for code in codes.values() if code.reading.beside}
    ids = {
        text
        for text, code in batch.concepts.terminology.find_codes(labels).items()
        if code.concepts
    }
    for string, code in codes.items():
        if code.reading.beside in ids:
            continue  # two ids are a list
        concepts = tuple(
            concept for concept in code.concepts if _may_be_found(concept, batch, forbidden)
        )
        if not _is_meant(string, code, concepts, sifted, batch):
            continue
        if code.reading.beside and concepts:
            labelled.append(_Read(string, code, concepts))
        elif concepts:
            hits[string] = _hits(code, concepts, batch, AGREED, k)
        elif not code.reading.beside:
            hits[string] = StringHits((), IDS, code.missing or _left_out(code))
    return hits | _with_labels(labelled, batch, forbidden, k)


def _may_be_found(concept: int, batch: BatchHits, forbidden: frozenset[int]) -> bool:
    """Tell whether the filter of a call leaves a concept any name."""
    if concept in forbidden:
        return False
    allowed = batch.filter.allowed
    if allowed is None:
        return True
    owners = np.array([concept], dtype=np.int32)
    rows, _ = batch.names.base.rows.of(owners, len(allowed))
    return bool(allowed[rows].any())


def _is_meant(
    string: str,
    code: CodeHit,
    concepts: tuple[int, ...],
    sifted: Sifted,
    batch: BatchHits,
) -> bool:
    """Tell whether a string is a code rather than a name, or a word of one."""
    known = sifted.get(string)
    if code.prefixed and (concepts or code.replaced):
        return True
    if known is not None:
        # What is missing, or has more beside it, is a name wherever a sieve knows it.
        return bool(concepts) and not code.reading.beside and known[0].name != "verbatim"
    if code.prefixed or code.distinct:
        return True
    if not concepts and code.reading.beside:
        return False
    ids = {batch.concepts[concept].id for concept in concepts} or {""}
    terminology = batch.concepts.terminology
    return not all(terminology.is_word_of_others(code.reading.code, id_) for id_ in ids)


def _left_out(code: CodeHit) -> str:
    return f"the concept with the id {code.reading.code} is left out by a filter, or forbidden"


def _hits(
    code: CodeHit, concepts: Sequence[int], batch: BatchHits, score: float, k: int
) -> StringHits:
    hits = [ConceptHit(concept, -1, score, {IDS: score}, IDS) for concept in concepts]
    tied = tuple(hits) if len(hits) > 1 else ()
    return StringHits(tuple(hits[:k]), IDS, tied=tied, steps=_steps(code, concepts, batch))


def _steps(code: CodeHit, concepts: Sequence[int], batch: BatchHits) -> tuple[Step, ...]:
    """Return the steps from a code as it is written to the id of its concept."""
    written, id_ = code.reading.code, batch.concepts[concepts[0]].id
    steps = [Step("code", written, code.replaced or id_)] if written != id_ else []
    if code.replaced:
        steps.append(Step("replaced", code.replaced, id_))
    return tuple(step for step in steps if step.before != step.after)


# --- a code and a label ---------------------------------------------------------------------------


def _with_labels(
    labelled: Sequence[_Read], batch: BatchHits, forbidden: frozenset[int], k: int
) -> dict[str, StringHits]:
    """Decide for codes with something beside them, which may agree, say more, or something else."""
    if not labelled:
        return {}
    names = _names_of([read.concepts[0] for read in labelled], batch)
    labels = [read.code.reading.beside for read in labelled]
    meant = _known_labels(labels, batch, forbidden)
    hits = {}
    for read, label, own, known in zip(labelled, labels, names, meant, strict=True):
        agreement = agreement_of(label, own)
        others = [] if set(known) & set(read.concepts) else known
        if others and agreement != "within" and _is_below(read.concepts[0], others, batch):
            agreement = "within"  # the label is less exact, as "breast cancer" of a part
        decided = _decide(read, agreement, others, batch, k)
        if decided is not None:
            hits[read.string] = decided
    return hits


def _names_of(concepts: Sequence[int], batch: BatchHits) -> list[list[str]]:
    """Return the names of each concept, read together."""
    distinct = list(dict.fromkeys(concepts))
    rows, places = batch.names.rows_of(np.array(distinct, dtype=np.int32), _MOST_NAMES)
    hits = [
        ConceptHit(distinct[place], row, 0.0, {}, "")
        for row, place in zip(rows.tolist(), places.tolist(), strict=True)
    ]
    batch.concepts.read_ahead(hits)
    texts: dict[int, list[str]] = {concept: [batch.concepts[concept].label] for concept in distinct}
    for hit in hits:
        texts[hit.concept].append(batch.name(hit).text)
    return [texts[concept] for concept in concepts]


def _known_labels(
    labels: Sequence[str], batch: BatchHits, forbidden: frozenset[int]
) -> list[list[int]]:
    """Return the concepts of which each label is a name, by the sieves."""
    plain = dict(zip(labels, normalise_all(labels, PLAIN), strict=True))
    filters = [
        batch.names.filter(batch.filter, step, forbidden, by_name=True)
        for step in batch.search.steps
    ]
    sifted = sift(plain, batch.sieves, batch.names, filters, batch.concepts)
    return [
        [concept for concept, _ in sifted[label][1]] if label in sifted else [] for label in labels
    ]


def _decide(
    read: _Read, agreement: str, others: Sequence[int], batch: BatchHits, k: int
) -> StringHits | None:
    """Return the hits of a code with a label; None where it is none.

    `others` are the concepts of which the label is a name, where it is none of the code's.
    """
    code = read.code
    is_strong = code.prefixed or code.distinct
    if agreement == "within" or (agreement == "more" and not others):
        return _hits(code, read.concepts, batch, AGREED, k)
    if agreement == "contradicts" or (others and agreement != "more"):
        if not (is_strong or (code.reading.marked and len(code.reading.code) >= _IN_CATEGORY)):
            return None
        both = _hits(code, [*read.concepts[:1], *others], batch, DOUBTED, max(k, 2))
        return both._replace(reason=_disagreement(read, others, batch), tied=(), steps=())
    if is_strong and (code.reading.marked or code.prefixed or agreement):
        return _hits(code, read.concepts, batch, UNCONFIRMED, k)
    is_likely = agreement != "" and code.reading.marked
    return _hits(code, read.concepts, batch, UNCONFIRMED, k) if is_likely else None


def _is_below(concept: int, others: Sequence[int], batch: BatchHits) -> bool:
    """Tell whether a concept stands below one of others, however far."""
    above = edges_up(batch.concepts[concept].id, batch.concepts.terminology.parents)
    return any(batch.concepts[other].id in above for other in others)


def _disagreement(read: _Read, others: Sequence[int], batch: BatchHits) -> str:
    concept, label = batch.concepts[read.concepts[0]], read.code.reading.beside
    reason = f"the code {read.code.reading.code} is {concept.label!r}, and {label!r} "
    if not others:
        return reason + "contradicts that"
    other = batch.concepts[others[0]]
    return reason + f"is {other.id} ({other.label})"


def agreement_of(label: str, names: Sequence[str]) -> str:
    """Return how far a label says what a name says.

    ``"within"``: all its words are in a name. ``"more"``: it has all words of a name. ``"part"``:
    at least half of its words are in one, or it has a number more. ``"contradicts"``: words that it
    shares stand beside others that exclude each other, as *acute* and *chronic* or two numbers do.
    Else an empty string.

    >>> agreement_of("gout", ["Gout, unspecified"]), agreement_of("asthma", ["Gout, unspecified"])
    ('within', '')
    >>> agreement_of("type 1 diabetes mellitus", ["Type 2 diabetes mellitus"])
    'contradicts'
    """
    forms = [set(form.split()) for form in normalise_all([label, *names], UNORDERED)]
    words, *of_names = (form - _SMALL or form for form in forms)
    agreements = {_agreement(words, name) for name in of_names}
    return next(
        (
            agreement
            for agreement in ("within", "more", "contradicts", "part")
            if agreement in agreements
        ),
        "",
    )


def _agreement(words: set[str], name: set[str]) -> str:
    left, missing = words - name, name - words
    if not left:
        return "" if _NEGATIONS & missing else "within"
    n_shared = len(words) - len(left)
    if _exclude(left, missing):
        return "contradicts" if n_shared else ""
    if not missing:
        return "part" if any(map(_is_number, left)) else "more"
    return "part" if 2 * n_shared >= len(words) else ""


def _is_number(word: str) -> bool:
    """Tell whether a word is a number, one with a letter such as "2b", or a letter."""
    number = word[:-1] if "a" <= word[-1:] <= "z" else word
    return number.isdecimal() or (word != "" and not number)


def _exclude(left: set[str], missing: set[str]) -> bool:
    """Tell whether words of two names exclude each other."""
    if _NEGATIONS & (left ^ missing):
        return True
    numbers = [any(map(_is_number, words)) for words in (left, missing)]
    return all(numbers) or any(left & group and missing & group for group in _OPPOSITES)
