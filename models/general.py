"""Words and phrases that the default encoder learns of a general sentence encoder.

Terminologies have few of the words in which people write. A sentence encoder knows these, and its
vectors of words and short phrases are where training begins.
"""

from __future__ import annotations

import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from canonym.errors import InvalidInput, ReadError
from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.types import Encoder, Float32Array

TEXTS: tuple[str, ...] = ("text/ctgov.txt.xz", "text/medquad.txt.xz")
"""Running text in the data folder: descriptions of trials, and answers to consumers."""

_WORD = re.compile(r"[a-z]{2,}")
_IN_NAMES, _IN_TEXTS, _PHRASES = 3, 4, 15  # how often a word or phrase has to be seen
_MOST_PHRASES, _MOST_NAMES = 40_000, 60_000
_LONGEST = 45  # characters
_BLOCK = 8192


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
    short = [name.lower() for name in names if len(name) <= _LONGEST]
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


def vectors_of(
    teacher: Encoder, texts: Sequence[str], *, log: Callable[[str], None] = lambda _: None
) -> Float32Array:
    """Return the dense vectors of texts by an encoder: ``(n, d)``."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    found: list[Float32Array] = []
    for first in range(0, len(order), _BLOCK):
        log(f"asking the teacher about {len(texts):,} texts, {first:,} done")
        vectors = teacher.encode([texts[place] for place in order[first : first + _BLOCK]])
        if not isinstance(vectors, np.ndarray):
            raise InvalidInput("a teacher gives dense vectors; one with sparse vectors was given")
        found.append(vectors)
    vectors = np.concatenate(found) if found else np.zeros((0, 1), np.float32)
    whole: Float32Array = np.empty_like(vectors)
    whole[order] = vectors
    return whole
