"""Sparse character n-gram vectors: TF-IDF over the characters of a name.

The strongest cheap encoder for names: it sees typing errors, word order changes and shared word
stems, needs no training beyond document frequencies, and every similarity can be explained by the
n-grams two names share. BioSyn uses it with 1- and 2-grams beside its dense encoder [1]_.

Notes
-----
With ``tf(t, x)`` the number of times n-gram ``t`` stands in name ``x``, ``n`` names fitted and
``df(t)`` the number of them that hold ``t``::

    idf(t) = ln((1 + n) / (1 + df(t))) + 1
    x_t    = tf(t, x) · idf(t) / ‖tf(·, x) · idf(·)‖₂

which is scikit-learn's ``TfidfVectorizer(analyzer="char")``, or ``"char_wb"`` with
``word_boundaries=True``. N-grams that were not seen in fitting are left out. For n-grams of up to
three characters the columns stand in the order of scikit-learn's as well.

Names are laid end to end as code points; an n-gram is a start in that array, and nothing loops over
characters in Python. An n-gram of up to three characters is its own key: three times 21 bits hold
any code points. A longer one is a 63-bit hash; two of ten million distinct n-grams share a key with
a probability of about 5e-6.

References
----------
.. [1] M. Sung et al., "Biomedical Entity Representations with Synonym Marginalization", ACL 2020.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from canonym.encoders.inputs import check_grams, checked_names
from canonym.encoders.saved import load_arrays, reopen, write_encoder_manifest
from canonym.errors import InvalidInput, NotTrained, ReadError
from canonym.io.numbers import log, scattered
from canonym.types import SparseVectors

__all__ = ["CharGrams"]

_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]
_UInt32 = npt.NDArray[np.uint32]
_UInt64 = npt.NDArray[np.uint64]

_FIT_NAMES = 65_536
_BLOCK_NAMES = 8_192
_BLOCK_CHARACTERS = 1 << 18
_PACKED = 3  # characters that fit a key exactly
_BITS = 21  # a code point plus one, so that 0 stands for "no character"
_TABLE_CELLS = 1 << 22
_SPACE = 0x20
_IS_SPACE = np.array([chr(code).isspace() for code in range(0x3001)] + [False])
_HASHED = np.uint64(1 << 63)


class CharGrams:
    """Encode names as L2-normalised TF-IDF vectors of their character n-grams.

    Parameters
    ----------
    n_min, n_max : int
        Shortest and longest n-gram, in code points.
    word_boundaries : bool
        Whether n-grams stay inside words, each padded with a space at either end.
    lowercase : bool
        Whether names are lower-cased first.

    Raises
    ------
    InvalidInput
        If not ``1 <= n_min <= n_max``.

    Examples
    --------
    >>> vectors = CharGrams().fit(["flu", "influenza"]).encode(["flu", "xyz"])
    >>> vectors.n_rows, vectors.indptr.tolist()
    (2, [0, 5, 6])
    """

    independent = True  # of the names encoded together, to the last bit

    def __init__(
        self,
        *,
        n_min: int = 1,
        n_max: int = 2,
        word_boundaries: bool = False,
        lowercase: bool = True,
    ) -> None:
        check_grams(n_min, n_max)
        self.n_min, self.n_max = int(n_min), int(n_max)
        self.word_boundaries, self.lowercase = bool(word_boundaries), bool(lowercase)
        self._vocabulary: Vocabulary | None = None
        self._idf = np.empty(0)

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return f"CharGrams({options})"

    @property
    def settings(self) -> dict[str, Any]:
        """Keyword arguments that make this encoder again."""
        names = ("n_min", "n_max", "word_boundaries", "lowercase")
        return {name: getattr(self, name) for name in names}

    @property
    def n_columns(self) -> int:
        """Number of n-grams seen in fitting, the width of the vectors."""
        return len(self._fitted().keys)

    def fit(self, names: Iterable[str]) -> Self:
        """Learn the n-grams of `names` and their document frequencies.

        `names` is read once, in blocks; an iterator over millions of names takes the memory of one
        block and of the distinct n-grams. An earlier fit is forgotten.

        Raises
        ------
        InvalidInput
            If there are no names, or none of them holds an n-gram.
        """
        if isinstance(names, str | bytes):
            checked_names(names)
        frequencies = Frequencies()
        n_names = 0
        stream = iter(names)
        while block := checked_names(islice(stream, _FIT_NAMES)):
            n_names += len(block)
            for part in blocks(block):
                self._count_block(part, frequencies)
        keys, counts = frequencies.total()
        if not len(keys):
            raise InvalidInput(
                f"{n_names:,} names hold no n-gram of {self.n_min} to {self.n_max} characters; "
                "give the names of a terminology"
            )
        idf = log((1 + n_names) / (1 + counts)) + 1
        self._vocabulary, self._idf = Vocabulary(keys), idf
        return self

    def encode(self, names: Sequence[str]) -> SparseVectors:
        """Encode `names`.

        Returns
        -------
        SparseVectors
            ``len(names)`` rows of width `n_columns`, of L2 norm 1, or without values where a name
            holds no known n-gram. Columns rise within a row.

        Raises
        ------
        NotTrained
            Before `fit`.
        InvalidInput
            If `names` is not a collection of strings.
        """
        vocabulary = self._fitted()
        parts = [self._encode_block(block, vocabulary) for block in blocks(checked_names(names))]
        counts = [np.zeros(1, np.int64), *(part[0] for part in parts)]
        return SparseVectors(
            indptr=np.cumsum(np.concatenate(counts)),
            indices=np.concatenate([np.empty(0, np.int32), *(part[1] for part in parts)]),
            data=np.concatenate([np.empty(0, np.float32), *(part[2] for part in parts)]),
            n_columns=len(vocabulary.keys),
        )

    def save(self, folder: Path) -> None:
        """Write the fitted encoder into `folder`, which is made if it is missing."""
        vocabulary = self._fitted()
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "keys.npy", vocabulary.keys)
        np.save(folder / "idf.npy", self._idf)
        write_encoder_manifest(folder, kind="chargrams", settings=self.settings)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open an encoder that `save` wrote; its arrays are mapped into memory."""
        folder = Path(folder)
        encoder = reopen(cls, folder, "chargrams")
        keys, idf = load_arrays(folder, ndim=1, keys=np.uint64, idf=np.float64)
        if len(keys) != len(idf):
            raise ReadError(
                folder, f"keys.npy holds {len(keys)} n-grams and idf.npy {len(idf)}; save it again"
            )
        encoder._vocabulary, encoder._idf = Vocabulary(keys), idf
        return encoder

    def _fitted(self) -> Vocabulary:
        if self._vocabulary is None:
            raise NotTrained(
                "character n-grams are weighed by the names of a terminology, and these have read "
                "none: name the encoder of an index, INDEX/encoder-0; in Python call fit(names)"
            )
        return self._vocabulary

    def _segments(self, names: list[str]) -> Segments:
        if self.lowercase:
            names = [name.lower() for name in names]
        return segments(names, words=self.word_boundaries)

    def _starts(self, where: Segments, n: int) -> _Int64:
        """Return where the n-grams of length `n` start.

        A padded word shorter than `n_min` counts whole, once.
        """
        if n >= self.n_min:
            return np.flatnonzero(where.left >= n)
        if not self.word_boundaries:
            return np.empty(0, np.int64)
        return np.flatnonzero((where.left == n) & (where.length == n))

    def _count_block(self, names: list[str], frequencies: Frequencies) -> None:
        where = self._segments(names)
        columns = dict(frequencies.known.in_tables(where.codes, self.n_max))
        for n, key in keys(where.codes, self.n_max):
            begins = self._starts(where, n)
            if n in columns:
                column = columns[n][begins]
                known = column >= 0
                frequencies.add_known(column[known], where.row[begins[known]])
                begins = begins[~known]
            if len(begins):
                frequencies.add(key[begins], where.row[begins])
        frequencies.settle()

    def _encode_block(
        self, names: list[str], vocabulary: Vocabulary
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return the number of values of each row, and their columns and values."""
        where = self._segments(names)
        rows, columns = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for n, column in vocabulary.columns(where.codes, self.n_max):
            begins = self._starts(where, n)
            column = column[begins]
            known = column >= 0
            rows.append(where.row[begins[known]])
            columns.append(column[known])
        row, column, count = counted(
            np.concatenate(rows), np.concatenate(columns), len(names), len(vocabulary.keys)
        )
        value = count * self._idf[column]
        value /= np.sqrt(np.bincount(row, value * value, minlength=len(names)))[row]
        return np.bincount(row, minlength=len(names)), column, value.astype(np.float32)


def blocks(names: list[str]) -> Iterator[list[str]]:
    """Cut `names` into runs that are small enough to be worked on in one go."""
    lengths = np.fromiter(map(len, names), np.int64, count=len(names))
    # A name of length 0 still takes a row, hence the one character more for each.
    ends = np.cumsum(lengths + 1)
    start = 0
    while start < len(names):
        reach = (ends[start - 1] if start else 0) + _BLOCK_CHARACTERS
        stop = int(np.searchsorted(ends, reach, side="right"))
        stop = min(max(stop, start + 1), start + _BLOCK_NAMES)
        yield names[start:stop]
        start = stop


class Segments(NamedTuple):
    """Characters in runs that n-grams do not cross: names, or words with a space at either end.

    ``codes`` are code points; ``left`` counts the characters from each one to the end of its
    segment, itself included; ``length`` is the length of its segment; ``row`` its name.
    """

    codes: _UInt32
    left: _Int32
    length: _Int32
    row: _Int32


def segments(names: list[str], *, words: bool) -> Segments:
    """Lay a block of names end to end, or with `words` their words; white space is one space."""
    codes = np.frombuffer("".join(names).encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))
    lengths = np.fromiter(map(len, names), np.int32, count=len(names))
    row = np.repeat(np.arange(len(names), dtype=np.int32), lengths)
    space = _IS_SPACE[np.minimum(codes, len(_IS_SPACE) - 1)]
    if words:
        return _padded_words(codes, row, space)
    codes, row, removed = _collapsed(codes, row, space)
    if removed:
        lengths = np.bincount(row, minlength=len(names)).astype(np.int32)
    return _measured(codes, row, lengths)


def _collapsed(
    codes: _UInt32, row: _Int32, space: npt.NDArray[np.bool_]
) -> tuple[_UInt32, _Int32, bool]:
    """Replace runs of two or more white-space characters by one space; a single one stays."""
    again = np.zeros(len(codes), bool)
    again[1:] = space[1:] & space[:-1] & (row[1:] == row[:-1])
    if not again.any():
        return codes, row, False
    first = np.zeros(len(codes), bool)
    first[:-1] = again[1:] & ~again[:-1]
    codes = np.where(first, np.uint32(_SPACE), codes)
    return codes[~again], row[~again], True


def _padded_words(codes: _UInt32, row: _Int32, space: npt.NDArray[np.bool_]) -> Segments:
    inside = ~space
    begins = inside.copy()
    begins[1:] &= space[:-1] | (row[1:] != row[:-1])
    codes, row, begins = codes[inside], row[inside], begins[inside]
    first = np.flatnonzero(begins)
    length: _Int32 = np.diff(first, append=len(codes)).astype(np.int32) + np.int32(2)
    padded = np.full(len(codes) + 2 * len(first), _SPACE, np.uint32)
    # Word w is moved on by a space before it and two for every earlier word.
    word = np.cumsum(begins) - 1
    padded[np.arange(len(codes)) + 2 * word + 1] = codes
    return _measured(padded, np.repeat(row[first], length), length)


def _measured(codes: _UInt32, row: _Int32, lengths: _Int32) -> Segments:
    ends = np.repeat(np.cumsum(lengths, dtype=np.int32), lengths)
    left: _Int32 = np.subtract(ends, np.arange(len(codes)), dtype=np.int32, casting="same_kind")
    return Segments(codes, left, np.repeat(lengths, lengths), row)


def keys(codes: _UInt32, n_max: int) -> Iterator[tuple[int, _UInt64]]:
    """Yield, for n = 1 … `n_max`, the key of the n-gram at every start that has n characters left.

    Up to three characters are packed, the first one highest, so that keys sort as strings do;
    longer n-grams are hashed into the upper half of the range.
    """
    plain = codes.astype(np.uint64) + np.uint64(1)
    key = np.empty(0, np.uint64)
    for n in range(1, min(n_max, len(codes)) + 1):
        last = plain[n - 1 :]
        if n <= _PACKED:
            shifted = last << np.uint64(_BITS * (_PACKED - n))
            key = shifted if n == 1 else key[:-1] | shifted
            yield n, key
        else:
            key = scattered(key[:-1] * np.uint64(0x9E3779B97F4A7C15) + last)
            yield n, key | _HASHED


def counted(
    row: _Int32, column: _Int32, n_rows: int, n_columns: int
) -> tuple[_Int32, _Int32, _Int32]:
    """Count equal (row, column) pairs; return the rows, columns and counts, sorted."""
    # Sorting is most of the work, and numbers half as wide sort twice as fast.
    narrow = n_rows * n_columns <= np.iinfo(np.int32).max
    wide: np.dtype[Any] = np.dtype(np.int32 if narrow else np.int64)
    pairs = row.astype(wide) * n_columns + column.astype(wide)
    pairs.sort()
    first = _firsts(pairs)
    count = np.diff(first, append=len(pairs)).astype(np.int32)
    row, column = (part.astype(np.int32) for part in np.divmod(pairs[first], n_columns))
    return row, column, count


def _firsts(ordered: npt.NDArray[Any]) -> _Int64:
    """Return where each run of equal values starts."""
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(new)


class Vocabulary:
    """N-grams with a column, found by table where they are short.

    `keys` are distinct and rise; the place of a key is its column.
    """

    def __init__(self, keys: _UInt64) -> None:
        self.keys = keys
        packed = keys[: np.searchsorted(keys, _HASHED)]
        mask = np.uint64((1 << _BITS) - 1)
        first, second, third = ((packed >> np.uint64(_BITS * (2 - at))) & mask for at in range(3))
        letters = np.unique(np.concatenate([first, second]))
        letters = letters[letters > 0]
        n_letters = len(letters) + 1  # 0 stands for a letter that was not seen
        self._letter = np.zeros(int(letters[-1]) + 1 if len(letters) else 1, np.int32)
        self._letter[letters.astype(np.int64) - 1] = np.arange(1, n_letters)
        self._n_letters = np.int32(n_letters)
        self._tables: list[_Int32] = []  # of n = 1, 2
        for n, cells in ((1, n_letters), (2, n_letters**2)):
            if cells > _TABLE_CELLS:
                break
            grams = np.flatnonzero((third == 0) & ((second == 0) == (n == 1)))
            cell = np.searchsorted(letters, first[grams]) + 1
            if n == 2:
                cell = cell * n_letters + np.searchsorted(letters, second[grams]) + 1
            table = np.full(cells, -1, np.int32)
            table[cell] = grams
            self._tables.append(table)

    def in_tables(self, codes: _UInt32, n_max: int) -> Iterator[tuple[int, _Int32]]:
        """Yield, for n = 1, 2 as far as there are tables, the column at every start (−1: none)."""
        letter = self._letter[np.minimum(codes, np.uint32(len(self._letter) - 1))]
        for n in range(1, min(len(self._tables), n_max, len(codes)) + 1):
            cell = letter if n == 1 else letter[:-1] * self._n_letters + letter[1:]
            yield n, self._tables[n - 1][cell]

    def columns(self, codes: _UInt32, n_max: int) -> Iterator[tuple[int, _Int32]]:
        """Yield, for n = 1 … `n_max`, the column of the n-gram at every start (−1: unknown)."""
        yield from self.in_tables(codes, n_max)
        if n_max <= len(self._tables):
            return
        for n, key in keys(codes, n_max):
            if n > len(self._tables):
                place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
                yield n, np.where(self.keys[place] == key, place, -1).astype(np.int32)


class Frequencies:
    """Number of rows that hold each key, counted block by block."""

    def __init__(self) -> None:
        self.known = Vocabulary(np.empty(0, np.uint64))
        self._counts = np.empty(0, np.int64)
        self._waiting: list[tuple[_UInt64, _Int64]] = []
        self._n_waiting = 0

    def add(self, keys: _UInt64, rows: _Int32) -> None:
        """Add n-grams of one block of rows by their keys."""
        distinct = np.unique(keys)
        places = np.searchsorted(distinct, keys).astype(np.int32)
        n_rows = int(rows[-1]) + 1 if len(rows) else 0
        _, column, _ = counted(rows, places, n_rows, len(distinct))
        self._waiting.append((distinct, np.bincount(column, minlength=len(distinct))))
        self._n_waiting += len(distinct)

    def add_known(self, columns: _Int32, rows: _Int32) -> None:
        """Add n-grams of one block of rows by their columns in `known`, which is much faster."""
        n_columns = len(self._counts)
        _, column, _ = counted(rows, columns, int(rows[-1]) + 1 if len(rows) else 0, n_columns)
        self._counts += np.bincount(column, minlength=n_columns)

    def settle(self) -> None:
        """Move added n-grams to `known` once that pays; columns may change."""
        # Merging costs as much as all keys so far: doing it when they double keeps that linear.
        if self._n_waiting > len(self._counts):
            self._merge()

    def total(self) -> tuple[_UInt64, _Int64]:
        """Return the distinct keys, rising, and the number of rows that hold each."""
        self._merge()
        return self.known.keys, self._counts

    def _merge(self) -> None:
        keys = np.concatenate([self.known.keys, *(keys for keys, _ in self._waiting)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._waiting)])
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        first = _firsts(keys)
        self._counts = np.add.reduceat(counts, first) if len(first) else counts
        self.known = Vocabulary(keys[first])
        self._waiting, self._n_waiting = [], 0
