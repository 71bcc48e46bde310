"""Sum hashed features by way of the words: each different word is summed once.

`sum_by_words` does it for a batch, `WordSums` from one call to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.encoders.hashing import WordHash, hash_features, hash_pair, hash_word
from canonym.encoders.tables import blocks, sum_rows
from canonym.types import Float32Array

__all__ = ["WordSums", "sum_by_words"]

# Spans that no stretch fits: words and pairs of words alone.
_NO_GRAMS = (2, 1)
# Words and pairs that are remembered: 8 MB of sums in 128 dimensions. Then all are forgotten.
_KEPT = 1 << 14


def sum_by_words(
    texts: Sequence[str],
    table: Float32Array,
    *,
    grams: tuple[int, int],
    n_bits: int,
    characters: int,
) -> Float32Array:
    """Return the sum of the features of each text.

    The n-grams of a name lie within its words, and terminologies use the same words over and over:
    a name is the sum of its words, each summed once for the whole batch, and of its pairs of words.

    Parameters
    ----------
    texts : sequence of str
        Normalised texts; see `canonym.encoders.hashing.hash_features`.
    table : (2**n_bits, d) float32
        Whole numbers, small enough for every partial sum to be exact. Only then is the order of
        the sum, and so this short cut, without effect on the result.
    grams : tuple of int
        Shortest and longest n-gram.
    n_bits : int
        Binary logarithm of the number of buckets.
    characters : int
        At most so many characters of a text are there.

    Returns
    -------
    (n, d) float32
        Zero where a text is empty.
    """
    n_words = np.fromiter(
        (text.count(" ") + 1 if text else 0 for text in texts), dtype=np.int64, count=len(texts)
    )
    tokens = " ".join(filter(None, texts)).split(" ")[: int(n_words.sum())]
    words = list(dict.fromkeys(tokens))
    places = dict(zip(words, range(len(words)), strict=True))
    owned = np.fromiter(map(places.__getitem__, tokens), dtype=np.int32, count=len(tokens))
    of_words = np.empty((len(words), table.shape[1]), dtype=np.float32)
    for block in blocks(words, characters):
        indptr, buckets = hash_features(words[block], grams=grams, n_bits=n_bits)
        of_words[block] = sum_rows(table, indptr, buckets)
    word_ends = np.concatenate(([0], np.cumsum(n_words)))
    sums = sum_rows(of_words, word_ends, owned)
    for block in blocks(texts, characters):
        indptr, buckets = hash_features(texts[block], grams=_NO_GRAMS, n_bits=n_bits)
        counts = np.diff(indptr)
        here = n_words[block]
        # The words of a text come before its pairs.
        within = np.arange(len(buckets)) - np.repeat(indptr[:-1], counts)
        pairs = buckets[within >= np.repeat(here, counts)]
        pair_ends = np.concatenate(([0], np.cumsum(counts - here)))
        sums[block] += sum_rows(table, pair_ends, pairs)
    return sums


class WordSums:
    """Sums of the features of texts, one or a few at a time, that remember the words.

    Parameters
    ----------
    table : (2**n_bits, d) int8
        What is summed.
    grams : tuple of int
        Shortest and longest n-gram.

    Notes
    -----
    People who look names up use the same words over and over: a word that was met before costs an
    addition.
    """

    def __init__(self, table: npt.NDArray[Any], *, grams: tuple[int, int]) -> None:
        self._table = table
        self._grams = grams
        self._n_bits = table.shape[0].bit_length() - 1
        self._words: dict[str, tuple[Float32Array, WordHash]] = {}
        self._pairs: dict[tuple[str, str], int] = {}

    def __call__(self, texts: Sequence[str]) -> Float32Array:
        """Return the sum of the features of each text, ``(n, d)`` float32.

        Texts are as `canonym.encoders.hashing.hash_features` takes them; see `sum_by_words`.
        """
        words, pairs = self._words, self._pairs
        if max(len(words), len(pairs)) > _KEPT:
            # Another thread may still read the old ones.
            words, pairs = self._words, self._pairs = {}, {}
        sums = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        for row, text in zip(sums, texts, strict=True):
            # Two spaces in a row part words that are no neighbours; there is no empty word.
            before, ahead = "", None
            for word in text.split(" "):
                found = None
                if word:
                    found = words.get(word) or self._learn(word, words)
                    row += found[0]
                    if ahead:
                        pair = before, word
                        bucket = pairs.get(pair)
                        if bucket is None:
                            bucket = hash_pair(ahead[1], found[1], n_bits=self._n_bits)
                            pairs[pair] = bucket
                        row += self._table[bucket]
                before, ahead = word, found
        return sums

    def _learn(
        self, word: str, words: dict[str, tuple[Float32Array, WordHash]]
    ) -> tuple[Float32Array, WordHash]:
        buckets, whole = hash_word(word, grams=self._grams, n_bits=self._n_bits)
        found = words[word] = (self._table[buckets].sum(axis=0, dtype=np.float32), whole)
        return found
