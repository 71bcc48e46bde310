"""Hashed words, word pairs and character n-grams of names, and the sums of their vectors.

The text of a batch becomes one array of code points; every feature is a stretch of that array. A
prefix hash gives the hash of any stretch in one subtraction and one product, so no Python loop
touches a character. Names share words: the sum of a word is computed once and used again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.types import Float32Array, Int32Array

_UInt64Array = npt.NDArray[np.uint64]

AddRows = Callable[[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[Any]], Float32Array]
"""Adds up rows of a table, as `sum_rows` does."""

# Any odd base has an inverse modulo 2**64, by which a stretch moves to the front.
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)
_SPREAD = np.uint64(0xD6E8FEB86659FD93)
_MIX = np.uint64(0x94D049BB133111EB)
# Added to the hash of a word and of a pair of words; an n-gram gets its length.
_WORD, _PAIR = np.uint64(0x2545F4914F6CDD1D), np.uint64(0x7FB5D329728EA185)
_32, _31, _29 = np.uint64(32), np.uint64(31), np.uint64(29)
_SPACE = 32
_KEPT_POWERS = 1 << 18  # characters of the power tables that stay in memory
_ALL = (1 << 64) - 1
_BLOCK_NAMES, _BLOCK_CHARACTERS, _BLOCK_ROWS = 2048, 1 << 16, 1 << 12
# Spans that no stretch fits: words and pairs of words alone.
_NO_GRAMS = (2, 1)
# Words and pairs that are remembered: 8 MB of sums in 128 dimensions. Then all are forgotten.
_KEPT_WORDS = 1 << 14

UNIT = 12
"""The weight of a word that counts as it stands; others are weighed in whole numbers around it."""

_tables: tuple[_UInt64Array, _UInt64Array] | None = None


class WordHash(NamedTuple):
    """Hash of a word with its marks, before mixing, and its number of characters."""

    value: int
    length: int


def _powers(base: int, n: int) -> _UInt64Array:
    values = np.full(n, base, dtype=np.uint64)
    values[0] = 1
    return np.cumprod(values, dtype=np.uint64)


def _power_tables(n: int) -> tuple[_UInt64Array, _UInt64Array]:
    """Return base**i and base**-i modulo 2**64 for at least i < n, kept for the next batch."""
    global _tables
    tables = _tables
    if tables is None or len(tables[0]) < n:
        size = max(1 << 12, 1 << (n - 1).bit_length())
        tables = (_powers(_BASE, size), _powers(_INVERSE, size))
        if size <= _KEPT_POWERS:
            _tables = tables
    return tables


def _prefix_hashes(codes: npt.NDArray[np.uint32], powers: _UInt64Array) -> _UInt64Array:
    values = codes.astype(np.uint64)
    values *= _SPREAD
    values ^= values >> _32
    values *= powers[: len(codes)]
    prefix = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum(values, out=prefix[1:])
    return prefix


def _buckets(hashes: _UInt64Array, n_bits: int) -> Int32Array:
    # The low bits of a polynomial hash depend on the low bits of the characters only: fold the high
    # half in, multiply, and take the top bits.
    hashes ^= hashes >> _31
    hashes *= _MIX
    hashes ^= hashes >> _29
    hashes *= _SPREAD
    hashes >>= np.uint64(64 - n_bits)
    return hashes.astype(np.int32)


# The hash of the mark at the start of a word.
_MARK = int(_prefix_hashes(np.array([_SPACE], dtype=np.uint32), _powers(_BASE, 1))[-1])


def hash_features(
    texts: Sequence[str], *, grams: tuple[int, int], n_bits: int
) -> tuple[npt.NDArray[np.int64], Int32Array]:
    """Hash the features of normalised texts; return ``indptr`` (n + 1,) and ``buckets``.

    Texts have single spaces between words and none at the ends. Features are words, pairs of
    neighbouring words, and the character n-grams of each word with a mark at its start and its end,
    from ``grams[0]``, at least 2, to ``grams[1]`` characters. Those of text i are
    ``buckets[indptr[i]:indptr[i + 1]]``, in [0, 2**n_bits): words, pairs, n-grams by length, each
    in the order of the text and as often as they occur.

    Notes
    -----
    With ``P[j] = Σ_{i<j} c_i b^i`` the stretch from ``i`` to ``j`` hashes to ``(P[j] − P[i]) b^−i``
    modulo 2^64, wherever it stands. A salt for each kind of feature is added and the sum is mixed.
    In unsigned 64-bit arithmetic on code points, buckets depend neither on the platform nor on the
    process.
    """
    n = len(texts)
    indptr = np.zeros(n + 1, dtype=np.int64)
    # Two spaces between texts: a stretch with spaces at its ends only cannot cross from one text to
    # the next.
    joined = f" {'  '.join(texts)} "
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    m = len(codes)
    space = codes == _SPACE
    # Words: the space before the first letter, and the last letter.
    first, last = np.flatnonzero(space[:-1] != space[1:]).reshape(-1, 2).T
    if not len(first):
        return indptr, np.empty(0, dtype=np.int32)
    # Neighbours in the array are neighbours in a text unless two spaces lie between them.
    near = np.flatnonzero(first[1:] == last[:-1] + 1)

    # n-grams: no space inside, and not two spaces side by side.
    shortest, longest = grams
    n_lengths = longest - shortest + 1
    clear = np.zeros((n_lengths, m), dtype=bool)
    spaces = np.zeros(m + 1, dtype=np.int32)
    np.cumsum(space, out=spaces[1:])
    for i, length in enumerate(range(shortest, min(longest, m) + 1)):
        n_starts = m - length + 1
        if length == 2:
            np.logical_not(space[:-1] & space[1:], out=clear[i, :n_starts])
        else:
            np.equal(spaces[length - 1 : m], spaces[1 : n_starts + 1], out=clear[i, :n_starts])
    lengths, at = np.nonzero(clear)
    lengths += shortest

    n_words = len(first)
    n_other = n_words + len(near)
    starts = np.concatenate((first, first[near], at))
    ends = np.concatenate((last + 2, last[near + 1] + 2, at + lengths))
    powers, inverses = _power_tables(m)
    prefix = _prefix_hashes(codes, powers)
    hashes = prefix[ends]
    hashes -= prefix[starts]
    hashes *= inverses[starts]
    hashes[:n_words] += _WORD
    hashes[n_words:n_other] += _PAIR
    hashes[n_other:] += lengths.astype(np.uint64)
    columns = _buckets(hashes, n_bits)
    if n == 1:
        indptr[1] = len(columns)
        return indptr, columns

    # Bring the features of a text together, its kinds in order.
    text_lengths = np.fromiter(map(len, texts), dtype=np.int64, count=n)
    groups = np.repeat(np.arange(n, dtype=np.int64), text_lengths + 2)[starts]
    groups[n_words:n_other] += n
    groups[n_other:] += (lengths - (shortest - 2)) * n
    counts = np.bincount(groups, minlength=(n_lengths + 2) * n)
    table = counts.reshape(-1, n)
    np.cumsum(table.sum(axis=0), out=indptr[1:])
    # A group moves as a whole from its place by kind to its place by text.
    places = indptr[:-1] + np.cumsum(table, axis=0) - table
    shift = (places.ravel() - (np.cumsum(counts) - counts))[groups]
    shift += np.arange(len(columns))
    buckets = np.empty(len(columns), dtype=np.int32)
    buckets[shift] = columns
    return indptr, buckets


def hash_word(word: str, *, grams: tuple[int, int], n_bits: int) -> tuple[Int32Array, WordHash]:
    """Hash a text of one word as `hash_features` does, in a fraction of its time.

    Returns the buckets, the word's before its n-grams', and the hash that `hash_pair` needs.
    """
    codes = np.frombuffer(f" {word} ".encode("utf-32-le", "surrogatepass"), dtype="<u4")
    prefix = _prefix_hashes(codes, _power_tables(len(word) + 2)[0])
    starts, ends, inverses, salts = _stretches(len(word) + 2, grams)
    buckets = _buckets((prefix[ends] - prefix[starts]) * inverses + salts, n_bits)
    return buckets, WordHash(int(prefix[-1]), len(word))


def hash_pair(first: WordHash, second: WordHash, *, n_bits: int) -> int:
    """Return the bucket of two neighbouring words; see `hash_features`.

    The pair is the first word, with a mark at either end, and the second behind it, whose first
    mark is the last of the first. Plain integers: arrays of one number take ten times as long.
    """
    value = first.value + (second.value - _MARK) * _power(first.length + 1)
    value = (value + int(_PAIR)) & _ALL
    value = (value ^ value >> 31) * int(_MIX) & _ALL
    value = (value ^ value >> 29) * int(_SPREAD) & _ALL
    return value >> (64 - n_bits)


@lru_cache(maxsize=256)
def _power(n: int) -> int:
    return pow(_BASE, n, 1 << 64)


@lru_cache(maxsize=64)
def _stretches(
    m: int, grams: tuple[int, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], _UInt64Array, _UInt64Array]:
    """Return where the features of a word of `m` characters, marks included, begin and end."""
    lengths = range(grams[0], min(grams[1], m) + 1)
    at = [np.arange(m - length + 1) for length in lengths]
    starts = np.concatenate([[0], *at])
    sizes = np.concatenate([[m], *(np.full(len(a), n) for a, n in zip(at, lengths, strict=True))])
    salts = sizes.astype(np.uint64)
    salts[0] = _WORD
    return starts, starts + sizes, _power_tables(m)[1][starts], salts


def float_table(table: npt.NDArray[Any], scale: Float32Array | None) -> Float32Array:
    """Return a copy of a table in float32, its columns multiplied by their scale."""
    unpacked = table.astype(np.float32)
    return unpacked if scale is None else unpacked * scale


def sum_rows(
    table: Float32Array, indptr: npt.NDArray[np.int64], rows: npt.NDArray[Any]
) -> npt.NDArray[np.float32]:
    """Sum the rows ``rows[indptr[i]:indptr[i + 1]]`` of a table for every i; 0 for no rows."""
    from scipy.sparse import csr_array

    ones = np.ones(len(rows), dtype=np.float32)
    matrix = csr_array((ones, rows, indptr), shape=(len(indptr) - 1, len(table)))
    sums: npt.NDArray[np.float32] = matrix @ table
    return sums


def sum_whole_rows(
    table: npt.NDArray[Any], indptr: npt.NDArray[np.int64], rows: npt.NDArray[Any]
) -> Float32Array:
    """Return what `sum_rows` does for a table of whole numbers, whose sums are exact.

    It takes twice the time, but not SciPy, whose import takes that of many thousand names.
    """
    sums = np.zeros((len(indptr) - 1, table.shape[1]), dtype=np.float32)
    filled = np.flatnonzero(np.diff(indptr))
    starts = indptr[filled]
    # Blocks of rows that stay in the cache, each from the start of a sum.
    cuts = np.unique(np.searchsorted(starts, np.arange(0, len(rows), _BLOCK_ROWS)))
    bounds = np.append(starts, len(rows))
    for first, last in itertools.pairwise([*cuts.tolist(), len(filled)]):
        taken = table[rows[bounds[first] : bounds[last]]]
        places = starts[first:last] - bounds[first]
        sums[filled[first:last]] = np.add.reduceat(taken, places, axis=0, dtype=np.float32)
    return sums


def blocks(names: Sequence[str], characters: int) -> Iterator[slice]:
    """Cut names into blocks of bounded work, counting at most `characters` of each."""
    start = n_characters = 0
    for place, name in enumerate(names):
        n_characters += min(len(name), characters)
        if place - start == _BLOCK_NAMES or n_characters > _BLOCK_CHARACTERS:
            if place > start:
                yield slice(start, place)
            start, n_characters = place, min(len(name), characters)
    if start < len(names):
        yield slice(start, len(names))


def sum_by_words(
    texts: Sequence[str],
    table: npt.NDArray[Any],
    *,
    grams: tuple[int, int],
    n_bits: int,
    characters: int,
    add: AddRows = sum_whole_rows,
    word_weights: npt.NDArray[np.int8] | None = None,
) -> Float32Array:
    """Return the sum of the features of each text, ``(n, d)`` float32.

    The n-grams of a name lie within its words, and terminologies repeat words. So each word is
    summed once for the batch, and a name is the sum of its words and of its pairs of words. `table`
    holds whole numbers, small enough for every partial sum to be exact: the order of sums changes
    nothing. With `word_weights` by bucket, a word counts so many times, and a pair `UNIT` times.
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
        of_words[block] = add(table, indptr, buckets)
        if word_weights is not None:  # the bucket of a word is the first of its features
            of_words[block] *= word_weights[buckets[indptr[:-1]]][:, None]
    word_ends = np.concatenate(([0], np.cumsum(n_words)))
    sums = add(of_words, word_ends, owned)
    for block in blocks(texts, characters):
        indptr, buckets = hash_features(texts[block], grams=_NO_GRAMS, n_bits=n_bits)
        counts = np.diff(indptr)
        here = n_words[block]
        # The words of a text come before its pairs.
        within = np.arange(len(buckets)) - np.repeat(indptr[:-1], counts)
        pairs = buckets[within >= np.repeat(here, counts)]
        pair_ends = np.concatenate(([0], np.cumsum(counts - here)))
        of_pairs = add(table, pair_ends, pairs)
        sums[block] += of_pairs if word_weights is None else UNIT * of_pairs
    return sums


def word_buckets(words: Sequence[str], *, n_bits: int) -> Int32Array:
    """Return the bucket of each word, ``(n,)``; none is empty or has a space."""
    return hash_features(words, grams=_NO_GRAMS, n_bits=n_bits)[1]


class WordSums:
    """Sums of the features of a few texts at a time; words are remembered between calls.

    A word that was met before costs one addition. `table` is ``(2**n_bits, d)`` int8, and
    `word_weights` are as in `sum_by_words`.
    """

    def __init__(
        self,
        table: npt.NDArray[Any],
        *,
        grams: tuple[int, int],
        word_weights: npt.NDArray[np.int8] | None = None,
    ) -> None:
        self._table, self._weights, self._grams = table, word_weights, grams
        self._n_bits = table.shape[0].bit_length() - 1
        self._words: dict[str, tuple[Float32Array, WordHash]] = {}
        self._pairs: dict[tuple[str, str], int] = {}

    def __call__(self, texts: Sequence[str]) -> Float32Array:
        """Return the sum of the features of each text, ``(n, d)`` float32; see `sum_by_words`."""
        words, pairs = self._words, self._pairs
        if max(len(words), len(pairs)) > _KEPT_WORDS:
            # Another thread may still read the old ones.
            words, pairs = self._words, self._pairs = {}, {}
        sums = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        for row, text in zip(sums, texts, strict=True):
            # Two spaces in a row part words that are no neighbours; there is no empty word.
            before, ahead = "", None
            for word in text.split(" "):
                known = None
                if word:
                    known = words.get(word) or self._learn(word, words)
                    row += known[0]
                    if ahead:
                        pair = before, word
                        bucket = pairs.get(pair)
                        if bucket is None:
                            bucket = hash_pair(ahead[1], known[1], n_bits=self._n_bits)
                            pairs[pair] = bucket
                        both = self._table[bucket]
                        row += both if self._weights is None else UNIT * both.astype(np.float32)
                before, ahead = word, known
        return sums

    def _learn(
        self, word: str, words: dict[str, tuple[Float32Array, WordHash]]
    ) -> tuple[Float32Array, WordHash]:
        buckets, whole = hash_word(word, grams=self._grams, n_bits=self._n_bits)
        total = self._table[buckets].sum(axis=0, dtype=np.float32)
        if self._weights is not None:
            total *= self._weights[buckets[0]]
        known = words[word] = (total, whole)
        return known
