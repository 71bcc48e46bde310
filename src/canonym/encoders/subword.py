"""Hashed subwords: a name is the sum of the vectors of its words, word pairs and n-grams.

This is the default encoder; `canonym.training.subword.fit_subword` fits one to any terminology in
minutes. It needs NumPy only and encodes tens of thousands of names a second on a CPU. An unseen
word still has n-grams, as in fastText [1]_. Unlike fastText, training lets the names of a concept
meet.

Notes
-----
With ``F(x)`` the features of a name (`canonym.encoders.hashing`), ``T`` the table and ``s`` the
scale of its columns::

    v(x) = s ⊙ Σ_{f ∈ F(x)} T[hash(f)],    encode(x) = v(x) / ‖v(x)‖₂

A quantised table holds 8-bit integers with one scale for each column. Their sums are exact, so a
vector does not depend on the order of the sum, on the number of names encoded together, on threads
or on the instruction set.

With a `rarity` r, an index fits its encoder to the names of the terminology. A word w and its
n-grams then count ``(idf(w) / mean)^r`` times, with ``idf(w) = ln((N + 1) / (df(w) + 1))`` over N
names and the mean over all their words. So what many names share counts less, and a code counts
more. The weights are rounded to twelfths and at most 2. Before that, words count as they stand.

References
----------
.. [1] P. Bojanowski et al., "Enriching Word Vectors with Subword Information", TACL 2017.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from numbers import Real
from pathlib import Path
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from canonym.encoders.hashing import (
    UNIT,
    WordSums,
    blocks,
    hash_features,
    sum_by_words,
    sum_rows,
    sum_whole_rows,
    word_buckets,
)
from canonym.encoders.inputs import check_count, check_grams, checked_names, distinct_names
from canonym.encoders.saved import (
    checksum,
    map_tensors,
    reopen,
    write_encoder_manifest,
    write_tensors,
)
from canonym.errors import InvalidInput, ReadError
from canonym.io.numbers import exp, log
from canonym.text import PLAIN
from canonym.text.memo import MemoNormaliser
from canonym.text.transliterate import latin
from canonym.types import Float32Array, Int32Array

__all__ = ["NORMAL_STEPS", "Subword"]

NORMAL_STEPS: tuple[str, ...] = (*PLAIN, "possessive", "spelling", "plural", "numerals")
"""Normalisation of names: variants that change every hash, at a few microseconds a name."""

_TENSORS = "model.safetensors"
_WORDS = "words.safetensors"
# From so many names on, words are summed for all of them together.
_MANY = 512
# From so many names on, SciPy and a table of floats pay for import and making.
_VERY_MANY = 8192
_LEAST_IDF = 0.3
# Sums of more features of 8 bits than this would leave the integers that float32 holds exactly.
_MAX_CHARACTERS = 8192
_MAX_BITS = 26

_TABLES: WeakValueDictionary[str, npt.NDArray[Any]] = WeakValueDictionary()
"""Tables that are mapped, by shape, type and checksum."""


class Subword:
    """Encode names as sums of hashed feature vectors.

    Parameters
    ----------
    table : (n_buckets, d) int8 or float32
        Vectors of the buckets; the number of buckets is a power of two.
    scale : (d,) float32, optional
        Worth of a unit of each column; needed with an int8 table, refused with another.
    n_min, n_max : int
        Shortest and longest character n-gram, the marks of word boundaries counted.
    characters : int
        Characters of a name that are used; the rest of a longer one is left out.
    steps : sequence of str
        Normalisation of the names, steps of `canonym.text.STEPS`.
    trained : mapping, optional
        Facts about the training of the table, kept in the manifest.
    rarity : float
        From 0 to 1: how much more rare words of a terminology count than frequent ones, once
        `fit` has counted them. A table of float32 keeps it for `quantised`.
    word_weights : (n_buckets,) int8, optional
        What `fit` found: how many twelfths a word counts, by its bucket.

    Raises
    ------
    InvalidInput
        If the table or the options cannot be used.

    Examples
    --------
    >>> encoder = Subword(np.eye(4, dtype=np.float32).repeat(2, axis=0))
    >>> encoder.encode(["flu", ""]).shape
    (2, 4)
    """

    independent = True  # of the names encoded together, to the last bit
    enough_names = 100_000  # of a large terminology, spread evenly: they show how rare words are

    def __init__(
        self,
        table: npt.NDArray[Any],
        *,
        scale: npt.NDArray[Any] | None = None,
        n_min: int = 2,
        n_max: int = 5,
        characters: int = 1000,
        steps: Sequence[str] = NORMAL_STEPS,
        trained: Mapping[str, Any] | None = None,
        rarity: float = 0.0,
        word_weights: npt.NDArray[np.int8] | None = None,
    ) -> None:
        check_grams(n_min, n_max, least=2)
        check_count("characters", characters)
        if characters > _MAX_CHARACTERS:
            raise InvalidInput(f"characters={characters}: at most {_MAX_CHARACTERS} are expected")
        self.table, self.scale = _checked_table(table, scale)
        self.n_min, self.n_max = int(n_min), int(n_max)
        self.characters = int(characters)
        self.steps, self.trained = tuple(steps), dict(trained or {})
        self.rarity = _checked_rarity(rarity)
        self.word_weights = self._checked_weights(word_weights)
        self._normalise = MemoNormaliser(self.steps)
        self._sums = WordSums(self.table, grams=self._grams, word_weights=self.word_weights)

    def __repr__(self) -> str:
        n_buckets, dimensions = self.table.shape
        return f"Subword({n_buckets} buckets, {dimensions} dimensions, {self.table.dtype})"

    @property
    def settings(self) -> dict[str, Any]:
        """Content of the manifest: options, shape and type of the table, its training."""
        buckets, dimensions = self.table.shape
        described = {"buckets": buckets, "dimensions": dimensions, "dtype": str(self.table.dtype)}
        return self.options() | described | {"steps": list(self.steps)}

    @property
    def _grams(self) -> tuple[int, int]:
        return self.n_min, self.n_max

    @property
    def _n_bits(self) -> int:
        return int(self.table.shape[0].bit_length() - 1)

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return int(self.table.shape[1])

    @property
    def waits_for_names(self) -> bool:
        """Whether `fit` can weigh the words, and has not yet."""
        return self.rarity > 0 and self.scale is not None and self.word_weights is None

    def features(self, names: Sequence[str]) -> tuple[npt.NDArray[np.int64], Int32Array]:
        """Return ``indptr`` and ``buckets``, rows of `table`: the features of each name.

        Those of name i are ``buckets[indptr[i]:indptr[i + 1]]``.
        """
        texts = self.texts(checked_names(names))
        return hash_features(texts, grams=self._grams, n_bits=self._n_bits)

    def fit(self, names: Iterable[str]) -> Self:
        """Learn how rare the words of `names` are, those of a terminology.

        Without a rarity, or with a table of float32, nothing is learned.
        """
        if not self.rarity or self.scale is None:
            return self
        counts: Counter[str] = Counter()
        n_names, stream = 0, iter(names)
        while block := checked_names(list(islice(stream, _VERY_MANY))):
            n_names += len(block)
            counts.update(chain.from_iterable({*text.split()} for text in self.texts(block)))
        words = list(counts)
        buckets = word_buckets(words, n_bits=self._n_bits)
        frequency = np.fromiter(counts.values(), np.float64, len(words))
        together = np.zeros(len(self.table))
        np.add.at(together, buckets, frequency)
        idf = np.maximum(log((n_names + 1) / (together + 1)), _LEAST_IDF)
        mean = (idf[buckets] * frequency).sum() / frequency.sum() if words else 1.0
        weights = exp(self.rarity * log(idf / mean))
        self.word_weights = np.clip(np.rint(UNIT * weights), 1, 2 * UNIT).astype(np.int8)
        self._sums = WordSums(self.table, grams=self._grams, word_weights=self.word_weights)
        return self

    def encode(self, names: Sequence[str]) -> Float32Array:
        """Encode `names`; equal ones are encoded once.

        Returns
        -------
        (n, d) float32
            Vectors of L2 norm 1, zero where a name has no letter or digit.
        """
        distinct, place_of = distinct_names(checked_names(names))
        vectors = np.zeros((len(distinct), self.dimensions), dtype=np.float32)
        if len(distinct) >= _MANY or self.scale is None:
            self._encode_many(distinct, vectors)
        elif distinct:
            vectors += self._sums(self.texts(distinct))
            self._finish(vectors)
        return vectors if len(distinct) == len(place_of) else vectors[place_of]

    def quantised(self) -> Subword:
        """Return this encoder with a table of 8-bit integers, a quarter of the size.

        Each column is scaled so that its largest absolute value becomes 127.
        """
        if self.scale is not None:
            return self
        scale = np.abs(self.table).max(axis=0) / np.float32(127)
        scale[scale == 0] = 1
        table = np.rint(self.table / scale).astype(np.int8)
        return Subword(table, scale=scale, **self.options())

    def save(self, folder: Path) -> None:
        """Write the encoder into `folder`, which is made if it is missing.

        ``model.safetensors`` holds ``table`` and for 8 bits ``scale``, ``encoder.json`` the
        settings and a checksum, ``words.safetensors`` what `fit` found. Equal encoders give equal
        bytes.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {"table": self.table}
        if self.scale is not None:
            tensors["scale"] = self.scale
        write_tensors(folder / _TENSORS, tensors)
        if self.word_weights is not None:
            write_tensors(folder / _WORDS, {"word_weights": self.word_weights})
        settings = self.settings | {"crc32": checksum(tensors)}
        write_encoder_manifest(folder, kind="subword", settings=settings)

    @classmethod
    def load(cls, folder: Path, *, rarity: float | None = None) -> Self:
        """Open an encoder that `save` wrote; its table is mapped into memory.

        With a `rarity` it forgets its own, and the names that it was fitted to.
        """
        folder = Path(folder)
        encoder = reopen(cls, folder, "subword", lambda settings: _with_tensors(folder, settings))
        if rarity is None:
            return encoder
        return cls(encoder.table, scale=encoder.scale, **encoder.options() | {"rarity": rarity})

    def options(self) -> dict[str, Any]:
        """Keyword arguments, beside the table and its scale, that make this encoder again."""
        names = ("n_min", "n_max", "characters", "steps", "trained")
        rarity = {"rarity": self.rarity} if self.rarity else {}
        return {name: getattr(self, name) for name in names} | rarity

    def texts(self, names: Sequence[str]) -> list[str]:
        """Return the names as `features` takes them: cut off, in Latin letters, normalised."""
        return self._normalise(latin(name[: self.characters]) for name in names)

    def _checked_weights(self, weights: npt.NDArray[np.int8] | None) -> npt.NDArray[np.int8] | None:
        if weights is None:
            return None
        shaped = weights.shape == (len(self.table),) and weights.dtype == np.int8
        if not shaped or not self.rarity or self.scale is None:
            raise InvalidInput(
                "weights of words need a table of int8, a rarity, and one of int8 for each of "
                f"{len(self.table)} buckets"
            )
        return weights

    def _encode_many(self, names: list[str], vectors: Float32Array) -> None:
        if self.scale is not None:
            very_many = len(names) >= _VERY_MANY
            vectors += sum_by_words(
                self.texts(names),
                self._float_table if very_many else self.table,
                grams=self._grams,
                n_bits=self._n_bits,
                characters=self.characters,
                add=sum_rows if very_many else sum_whole_rows,
                word_weights=self.word_weights,
            )
            self._finish(vectors)
            return

        def encode_block(place: slice) -> None:
            indptr, buckets = self.features(names[place])
            vectors[place] = sum_rows(self.table, indptr, buckets)
            self._finish(vectors[place])

        places = list(blocks(names, self.characters))
        if len(places) < 2:
            for place in places:
                encode_block(place)
            return
        with ThreadPoolExecutor(min(len(places), os.cpu_count() or 1)) as threads:
            list(threads.map(encode_block, places))

    @functools.cached_property
    def _float_table(self) -> Float32Array:
        return self.table.astype(np.float32)

    def _finish(self, sums: Float32Array) -> None:
        if self.scale is not None:
            sums *= self.scale
        norms = np.sqrt(np.square(sums).sum(axis=1))
        norms[norms == 0] = 1
        sums /= norms[:, None]


def _with_tensors(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with the arrays that they describe."""
    path = folder / _TENSORS
    tensors = map_tensors(path)
    if not {"table"} <= set(tensors) <= {"table", "scale"}:
        raise ReadError(
            path, f"it holds {sorted(tensors)}, expected a table and its scale; save it again"
        )
    options = dict(settings)
    shape = [options.pop("buckets", None), options.pop("dimensions", None)]
    described = (shape, options.pop("dtype", None), options.pop("crc32", None))
    table = tensors["table"]
    if described != (list(table.shape), str(table.dtype), checksum(tensors)):
        raise ReadError(
            path,
            "the arrays are not those that encoder.json describes: a file is damaged, or of "
            "another encoder; save it again",
        )
    # An index has the table of the encoder that comes with canonym: mapped once, it counts once.
    tensors["table"] = _TABLES.setdefault(str(described), table)
    words = folder / _WORDS
    return options | tensors | (map_tensors(words) if words.exists() else {})


def _checked_rarity(rarity: float) -> float:
    if isinstance(rarity, bool) or not isinstance(rarity, Real) or not 0 <= rarity <= 1:
        raise InvalidInput(f"rarity={rarity!r}; a number from 0 to 1 is expected")
    return float(rarity)


def _checked_table(
    table: npt.NDArray[Any], scale: npt.NDArray[Any] | None
) -> tuple[npt.NDArray[Any], Float32Array | None]:
    """Check the shapes and types of a table and its scale; return them."""
    n_buckets = len(table) if table.ndim == 2 else 0
    if n_buckets < 2 or n_buckets & (n_buckets - 1) or n_buckets.bit_length() > _MAX_BITS + 1:
        raise InvalidInput(
            f"a table of shape {table.shape} was given; two dimensions are expected, the first a "
            f"power of two from 2 to 2**{_MAX_BITS}"
        )
    if table.shape[1] < 1 or table.dtype not in (np.int8, np.float32):
        raise InvalidInput(
            f"a table of shape {table.shape} and type {table.dtype} was given; at least one column "
            "of int8 or float32 is expected"
        )
    if (scale is None) != (table.dtype == np.float32) or (
        scale is not None and scale.shape != table.shape[1:]
    ):
        state = "no scale" if scale is None else f"a scale of shape {scale.shape}"
        raise InvalidInput(
            f"{state} was given with a table of {table.dtype}; an int8 table needs one value for "
            f"each of its {table.shape[1]} columns, a float32 table none"
        )
    return table, None if scale is None else np.asarray(scale, dtype=np.float32)
