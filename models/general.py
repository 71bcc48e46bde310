"""What the default encoder learns of a general sentence encoder: words, and names outside medicine.

Terminologies have few of the words in which people write. A sentence encoder knows these, and its
vectors of words and short phrases are where training begins. Later its similarities of names are
learned as well, where a general encoder knows them better than one of diseases: procedures,
organisms, behaviour, society.
"""

from __future__ import annotations

import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.types import Concept, Encoder, Float32Array, Name
from models.sources import read_mesh

TEXTS: tuple[str, ...] = ("text/ctgov.txt.xz", "text/medquad.txt.xz")
"""Running text in the data folder: descriptions of trials, and answers to consumers."""

_WORD = re.compile(r"[a-z]{2,}")
_IN_NAMES, _IN_TEXTS, _PHRASES = 3, 4, 15  # how often a word or phrase has to be seen
_MOST_PHRASES, _MOST_NAMES = 40_000, 60_000
_LONGEST_TEXT, _LONGEST_NAME = 45, 70  # characters
_BLOCK = 8192
_LETTERS = frozenset("BEFGHIJKLMNVZ")  # MeSH's trees but anatomy, diseases and chemicals


def words_and_phrases(data: Path, names: Sequence[str], *, seed: int = 0) -> list[str]:
    """Return the words of names and texts, pairs of neighbouring words, and some short names."""
    in_names: Counter[str] = Counter()
    for name in names:
        in_names.update(list(dict.fromkeys(_WORD.findall(name.lower()))))
    in_texts: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for line in _lines(data):
        words = _WORD.findall(line.lower())
        in_texts.update(words)
        pairs.update(pair for pair in pairwise(words) if not FUNCTION_WORDS & {*pair})
    words = [
        word
        for word, _ in (in_names + in_texts).most_common()
        if in_names[word] >= _IN_NAMES or in_texts[word] >= _IN_TEXTS
    ]
    phrases = [" ".join(pair) for pair, n in pairs.most_common(_MOST_PHRASES) if n >= _PHRASES]
    short = [name.lower() for name in names if len(name) <= _LONGEST_TEXT]
    drawn = np.random.default_rng(seed).permutation(len(short))[:_MOST_NAMES]
    some = [short[place] for place in np.sort(drawn)]
    return list(dict.fromkeys((*words, *phrases, *some)))


def _lines(data: Path) -> Iterator[str]:
    for name in TEXTS:
        path = data / name
        try:
            with lzma.open(path, "rt", encoding="utf-8") as stream:
                yield from stream
        except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
            raise ReadError(path, f"lines of text packed with xz are expected ({error})") from error


def general_names(data: Path) -> set[str]:
    """Return the names of MeSH that are no anatomy, disease or chemical."""
    found: set[str] = set()
    kept: set[str] = set()
    for record in read_mesh(data):
        if isinstance(record, Concept) and _LETTERS & {*record.types}:
            kept.add(record.id)
            found.add(record.label)
        elif isinstance(record, Name) and record.concept_id in kept:
            found.add(record.text)
    return {name for name in found if len(name) <= _LONGEST_NAME}


class General(NamedTuple):
    """What a sentence encoder says of words and phrases, and of names outside of medicine."""

    texts: list[str]
    vectors: Float32Array  # of the texts
    names: dict[str, int]  # places in `of_names`
    of_names: npt.NDArray[np.float16]

    @classmethod
    def ask(
        cls,
        teacher: Encoder,
        data: Path,
        names: Sequence[str],
        *,
        log: Callable[[str], None] = lambda _: None,
    ) -> General:
        """Ask an encoder about the words of `names` and of the texts under `data`."""
        texts, general = words_and_phrases(data, names), sorted(general_names(data))
        of_texts = _vectors(teacher, texts, log)
        places = {name: place for place, name in enumerate(general)}
        return cls(texts, of_texts, places, _vectors(teacher, general, log).astype(np.float16))

    def similarities(self, names: Sequence[str]) -> npt.NDArray[np.float16]:
        """Return vectors whose products are similarities, zero for other names: ``(n, d)``."""
        found = np.zeros((len(names), self.of_names.shape[1]), np.float16)
        for row, name in enumerate(names):
            place = self.names.get(name)
            if place is not None:
                found[row] = self.of_names[place]
        return found


def _vectors(teacher: Encoder, texts: Sequence[str], log: Callable[[str], None]) -> Float32Array:
    """Return the dense vectors of texts, of length one: ``(n, d)``."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    found: list[Float32Array] = []
    for first in range(0, len(order), _BLOCK):
        log(f"asking the teacher about {len(texts):,} texts, {first:,} done")
        vectors = teacher.encode([texts[place] for place in order[first : first + _BLOCK]])
        if not isinstance(vectors, np.ndarray):
            raise InvalidInput("a teacher gives dense vectors; one with sparse vectors was given")
        lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        lengths[lengths == 0] = 1
        found.append(vectors / lengths)
    vectors = np.concatenate(found) if found else np.zeros((0, 1), np.float32)
    whole: Float32Array = np.empty_like(vectors)
    whole[order] = vectors
    return whole
