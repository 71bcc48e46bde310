"""Evidence without annotations: an index asked for names as if it did not have them.

Five kinds of questions have known answers in every terminology. A name that is taken out is right
where its concept is found by its other names. A concept that is taken out cannot be found, whatever
comes first. Names are asked as they stand, some of them misspelt. A name with another number, side
or opposite word, which the terminology does not have, is no name of its neighbour. Strangers
(`unrelated_phrases`) are names of nothing.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.linking.judge import evidence_of
from canonym.linking.names import Filter
from canonym.mentions.contrasts import sibling_of
from canonym.rules import shipped
from canonym.terminology import Terminology
from canonym.text import normalise, normalise_all
from canonym.types import Document, Link, Mention

if TYPE_CHECKING:
    from canonym.linking.pipeline import Pipeline

HELD_OUT = 1500
"""Names that are taken out, at most; as many are asked that are there."""

# Misspelt names, pairs of words and siblings, for each name taken out.
_MISSPELT, _PAIRS, _SIBLINGS = 0.4, 0.5, 0.2
_SHORTEST = 7  # characters of a name that is misspelt
_ABSENT = 15  # of so many names that are taken out, one has its whole concept taken out
_SHARE = 10  # one concept of so many is touched, at most
_FEWEST = 20


class Observed(NamedTuple):
    """Evidence ``(n, d)`` of links, whether each is right, and the document of each."""

    evidence: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    document: npt.NDArray[np.int64]


class _Questions(NamedTuple):
    """Names to ask for: their texts, the ids that are right (none for ``""``), and the filter."""

    texts: list[str]
    ids: list[str]
    filter: Filter


def observe_terminology(pipeline: Pipeline, *, seed: int = 0) -> Observed:
    """Link the questions that a terminology answers itself; each is a document of its own.

    Raises
    ------
    InvalidInput
        If there are too few names.

    Notes
    -----
    At most 1,500 names are taken out, each of another concept that has others, and one concept
    for every fifteen of these. As many names are asked as they stand. For ten names taken out, four
    are asked again with one edit, and five pairs of everyday words: with more of these, the names
    that patients have for things are taken for nonsense too. Two are asked as a sibling that the
    terminology lacks (`canonym.mentions.contrasts.sibling_of`), where names have one. A tenth of
    the concepts is touched at most, so that a small terminology stays what it is.
    """
    rng = np.random.default_rng(seed)
    evidence: list[npt.NDArray[np.float64]] = []
    right: list[bool] = []
    number: list[int] = []
    asked, vocabulary = 0, pipeline.vocabulary
    for place, questions in enumerate(_questions(pipeline, rng, seed)):
        if place == 0 and (n := len(questions.texts)) < _FEWEST:
            raise InvalidInput(
                f"{n} concepts have a name that can be taken out and asked for, beside others; at "
                f"least {_FEWEST} are expected; let it learn how sure its links are from annotated "
                "mentions, `canonym train confidence CORPUS`"
            )
        for link, id_ in zip(_linked(pipeline, questions), questions.ids, strict=True):
            asked += 1
            for part in link.parts or (link,):
                if part.candidates:
                    evidence.append(evidence_of(part, vocabulary))
                    right.append(not link.parts and part.candidates[0].id == id_)
                    number.append(asked)
    return Observed(np.array(evidence), np.array(right), np.array(number))


def _questions(pipeline: Pipeline, rng: np.random.Generator, seed: int) -> Iterator[_Questions]:
    whole, terminology = pipeline.filters.choose(), pipeline.terminology
    taken_out = _held_out(terminology, whole, rng)
    yield taken_out
    n = len(taken_out.texts)
    rows = rng.permutation(_searched(whole))[:HELD_OUT]
    texts = [name.text for name in terminology.names_at(rows)]
    concepts = terminology.concepts_at(whole.ties.concept_of_row[rows])
    ids = [concept.id for concept in concepts]
    yield _Questions(texts, ids, whole)
    long = [pair for pair in zip(texts, ids, strict=True) if len(pair[0]) >= _SHORTEST]
    long, edits = long[: int(n * _MISSPELT)], random.Random(seed)
    yield _Questions([misspelt(text, edits) for text, _ in long], [id_ for _, id_ in long], whole)
    siblings = _absent_siblings(pipeline, texts, int(n * _SIBLINGS), edits)
    yield _Questions(siblings, [""] * len(siblings), whole)
    unknown = unrelated_phrases(int(n * _PAIRS), seed=seed)
    yield _Questions(unknown, [""] * len(unknown), whole)


def _absent_siblings(
    pipeline: Pipeline, texts: Sequence[str], n: int, rng: random.Random
) -> list[str]:
    """Return siblings of names, n at most, that are no names themselves."""
    siblings = [sibling for text in texts if (sibling := sibling_of(text, rng))]
    if not pipeline.sieves:
        return []
    last = max(n for n, sieve in enumerate(pipeline.sieves) if n == 0 or not sieve.bare)
    forms = list(normalise_all(siblings, pipeline.sieves[last].steps))
    rows = pipeline.names.snapshot().find(last, forms)
    return [text for text, own in zip(siblings, rows, strict=True) if not len(own)][:n]


def _searched(whole: Filter) -> npt.NDArray[np.intp]:
    """Return the rows that are found at all: not those of deprecated concepts."""
    if whole.allowed is None:
        return np.arange(whole.n_rows)
    return np.flatnonzero(whole.allowed)


def _held_out(terminology: Terminology, whole: Filter, rng: np.random.Generator) -> _Questions:
    """Take one name of each drawn concept out, or the whole concept."""
    owners, searched = whole.ties.concept_of_row, _searched(whole)
    most = min(HELD_OUT + HELD_OUT // _ABSENT, max(terminology.n_concepts // _SHARE, 1))
    drawn = rng.permutation(terminology.n_concepts)[:most]
    rows = searched[np.isin(owners[searched], drawn)]
    of_concept: dict[int, list[int]] = {}
    for row in rows.tolist():
        of_concept.setdefault(int(owners[row]), []).append(row)
    names = zip(rows.tolist(), terminology.names_at(rows), strict=True)
    forms = {row: normalise(name.text) for row, name in names}
    allowed = np.zeros(len(owners), dtype=np.bool_)
    allowed[searched] = True
    asked: list[int] = []
    absent: list[bool] = []
    for n, concept in enumerate(drawn.tolist()):
        own = of_concept.get(concept, [])
        if not own:
            continue
        row = own[int(rng.integers(len(own)))]
        whole_concept = n % (_ABSENT + 1) == 0
        out = own if whole_concept else [own_row for own_row in own if forms[own_row] == forms[row]]
        if len(out) == len(own) and not whole_concept:
            continue  # it has no other name
        allowed[out] = False
        asked.append(row)
        absent.append(whole_concept)
    texts = [name.text for name in terminology.names_at(asked)]
    concepts = terminology.concepts_at(owners[asked])
    ids = ["" if gone else concept.id for concept, gone in zip(concepts, absent, strict=True)]
    left = whole._replace(
        allowed=allowed, n_rows=int(allowed.sum()), n_concepts=whole.n_concepts - sum(absent)
    )
    return _Questions(texts, ids, left)


def misspelt(text: str, rng: random.Random) -> str:
    """Leave a character out, write another one, or swap it with the next; never the first."""
    place, kind = rng.randrange(1, len(text) - 1), rng.randrange(3)
    new = ("", rng.choice(string.ascii_lowercase), text[place + 1] + text[place])[kind]
    return text[:place] + new + text[place + (2 if kind == 2 else 1) :]


def _linked(pipeline: Pipeline, questions: _Questions) -> Iterator[Link]:
    request = pipeline.request(k=2, context=False)._replace(filter=questions.filter, judge=None)
    for first in range(0, len(questions.texts), request.batch):
        some: Sequence[str] = questions.texts[first : first + request.batch]
        documents = [Document(str(n), "", (Mention(text),)) for n, text in enumerate(some)]
        for _, links in pipeline.link_batch(documents, request, {}):
            yield from links


# --- phrases that name nothing --------------------------------------------------------------------


def phrases(language: str) -> list[str]:
    """Return phrases that name nothing, of everyday English or of other languages."""
    return [rule.form for rule in shipped().of_kind(f"{language} phrase")]


_LEAST = 4  # letters of a word of a pair
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SYLLABLES = tuple(
    """
    ba be bi bo bu ca ce da de di do fa fe ga go ha he ja ka la le li lo ma me mi mo na ne no pa pe
    po ra re ri ro sa se si so ta te ti to va ve wa we xo zu ton ster mund lark plo gri snof quen
    dral
    """.split()  # noqa: SIM905
)


def noise(n: int, *, seed: int = 0) -> list[str]:
    """Return `n` strings that nobody means: slips on a keyboard, letters, invented words."""
    rng = random.Random(seed)
    kinds = (_slip, _letters, _invented)
    return [kinds[i % len(kinds)](rng) for i in range(n)]


def word_pairs(n: int, *, seed: int = 0) -> list[str]:
    """Return `n` pairs of everyday words that do not belong together, such as *kitchen lease*."""
    rng = random.Random(seed)
    text = " ".join(phrases("everyday"))
    words = sorted({word for word in text.split() if len(word) >= _LEAST})
    return [f"{rng.choice(words)} {rng.choice(words)}" for _ in range(n)]


def unrelated_phrases(n_pairs: int, *, seed: int = 0) -> list[str]:
    """Return all phrases, as much noise as there are everyday ones, and pairs of words."""
    everyday = phrases("everyday")
    nonsense = noise(len(everyday), seed=seed)
    return [*everyday, *phrases("foreign"), *nonsense, *word_pairs(n_pairs, seed=seed)]


def _slip(rng: random.Random) -> str:
    row = rng.choice(_ROWS)
    first = rng.randrange(len(row) - 3)
    return row[first : first + rng.randint(4, 9)]


def _letters(rng: random.Random) -> str:
    words = range(rng.randint(1, 3))
    return " ".join(
        "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in words
    )


def _invented(rng: random.Random) -> str:
    words = range(rng.randint(1, 2))
    return " ".join("".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in words)
