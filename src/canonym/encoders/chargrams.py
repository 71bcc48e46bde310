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

An n-gram of up to three characters is its own key: three times 21 bits hold any code points. A
longer one is a 63-bit hash; two of ten million distinct n-grams share a key with a probability of
about 5e-6.

References
----------
.. [1] M. Sung et al., "Biomedical Entity Representations with Synonym Marginalization", ACL 2020.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from canonym.encoders.grams import (
    Frequencies,
    Segments,
    Vocabulary,
    blocks,
    counted,
    keys,
    segments,
    starts,
)
from canonym.encoders.inputs import check_count, checked_names
from canonym.encoders.manifest import load_array, read_encoder_manifest, write_encoder_manifest
from canonym.errors import InvalidInput, NotTrained, ReadError
from canonym.types import SparseVectors

__all__ = ["CharGrams"]

_FIT_NAMES = 65_536


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

    def __init__(
        self,
        *,
        n_min: int = 1,
        n_max: int = 2,
        word_boundaries: bool = False,
        lowercase: bool = True,
    ) -> None:
        check_count("n_min", n_min)
        check_count("n_max", n_max)
        if n_min > n_max:
            raise InvalidInput(f"n_min={n_min} is larger than n_max={n_max}; swap them")
        self.n_min = int(n_min)
        self.n_max = int(n_max)
        self.word_boundaries = bool(word_boundaries)
        self.lowercase = bool(lowercase)
        self._vocabulary: Vocabulary | None = None
        self._idf = np.empty(0)

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return f"CharGrams({options})"

    @property
    def settings(self) -> dict[str, Any]:
        """Keyword arguments that make this encoder again."""
        return {
            "n_min": self.n_min,
            "n_max": self.n_max,
            "word_boundaries": self.word_boundaries,
            "lowercase": self.lowercase,
        }

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
        found, counts = frequencies.total()
        if not len(found):
            raise InvalidInput(
                f"{n_names:,} names hold no n-gram of {self.n_min} to {self.n_max} characters; "
                "give the names of a terminology"
            )
        idf = np.log((1 + n_names) / (1 + counts)) + 1
        self._vocabulary, self._idf = Vocabulary(found), idf
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
        listed = checked_names(names)
        parts = [self._encode_block(block, vocabulary) for block in blocks(listed)]
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
        """Open an encoder that `save` wrote; its arrays are mapped into memory.

        Raises
        ------
        ReadError
            If a file is missing or damaged.
        Mismatch
            If the folder holds another kind of encoder, or one of a newer canonym.
        """
        folder = Path(folder)
        _, settings = read_encoder_manifest(folder, kind="chargrams")
        try:
            encoder = cls(**settings)
        except (TypeError, InvalidInput) as error:
            raise ReadError(folder, f"the settings are damaged ({error}); save it again") from error
        found = load_array(folder / "keys.npy", dtype=np.uint64, ndim=1)
        idf = load_array(folder / "idf.npy", dtype=np.float64, ndim=1)
        if len(found) != len(idf):
            raise ReadError(
                folder,
                f"keys.npy holds {len(found)} n-grams and idf.npy {len(idf)}; save it again",
            )
        encoder._vocabulary, encoder._idf = Vocabulary(found), idf
        return encoder

    def _fitted(self) -> Vocabulary:
        if self._vocabulary is None:
            raise NotTrained(
                "this CharGrams has no document frequencies yet; call fit(names) with the names of "
                "the terminology, or load a saved one"
            )
        return self._vocabulary

    def _segments(self, names: list[str]) -> Segments:
        if self.lowercase:
            names = [name.lower() for name in names]
        return segments(names, words=self.word_boundaries)

    def _starts(self, where: Segments, n: int) -> npt.NDArray[np.int64]:
        return starts(where, n, self.n_min, words=self.word_boundaries)

    def _count_block(self, names: list[str], frequencies: Frequencies) -> None:
        where = self._segments(names)
        columns = dict(frequencies.known.in_tables(where.codes, self.n_max))
        for n, key in keys(where.codes, self.n_max):
            chosen = self._starts(where, n)
            if n in columns:
                column = columns[n][chosen]
                known = column >= 0
                frequencies.add_known(column[known], where.row[chosen[known]])
                chosen = chosen[~known]
            if len(chosen):
                frequencies.add(key[chosen], where.row[chosen])
        frequencies.settle()

    def _encode_block(
        self, names: list[str], vocabulary: Vocabulary
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return the number of values of each row, and their columns and values."""
        where = self._segments(names)
        rows, columns = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for n, column in vocabulary.columns(where.codes, self.n_max):
            chosen = self._starts(where, n)
            column = column[chosen]
            known = column >= 0
            rows.append(where.row[chosen[known]])
            columns.append(column[known])
        row, column, count = counted(
            np.concatenate(rows), np.concatenate(columns), len(names), len(vocabulary.keys)
        )
        value = count * self._idf[column]
        value /= np.sqrt(np.bincount(row, value * value, minlength=len(names)))[row]
        per_row = np.bincount(row, minlength=len(names))
        return per_row, column, value.astype(np.float32)
