"""Vectors of names from word vectors: the mean of the vectors of their words.

Reads word2vec and fastText files (see `canonym.encoders.word_vectors` for the formats).

Notes
-----
A name is cut at white space; a piece that the file knows is one word (``covid-19``),
any other is cut into runs of letters and digits. With ``v_1 … v_t`` the vectors of the words the
file knows, the name's vector is ``(v_1 + … + v_t) / t``, divided by its L2 norm. Words it does not
know are left out; a name of nothing else has the zero vector.

With a fastText model, every word ``w`` has a vector: the mean of the rows of the character n-grams
of ``<w>`` and, if the model knows the word, of the word's own row [1]_.

References
----------
.. [1] P. Bojanowski et al., "Enriching Word Vectors with Subword Information", TACL 2017.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from canonym.encoders.batches import normalised
from canonym.encoders.inputs import check_count, check_option, checked_names, distinct_names
from canonym.encoders.saved import load_arrays, reopen, write_encoder_manifest
from canonym.encoders.word_vectors import read_word_vectors
from canonym.errors import InvalidInput
from canonym.regex import regex
from canonym.types import Float32Array

__all__ = ["StaticVectors"]

_RUNS = regex(r"\w+")
_MOST_SEEN = 50_000
_LONGEST_WORD = 1_000  # characters; a longer run of letters is no word and would cost n-grams


class StaticVectors:
    """Encode names as the mean of the vectors of their words.

    Parameters
    ----------
    words : sequence of str
        ``n`` distinct words.
    vectors : (n, d) float32 array
        Their vectors, of any norm.
    lowercase : bool
        Whether names are lower-cased first; switch it off for files with capital letters.
    buckets : (b, d) float32 array, optional
        Vectors of hashed character n-grams, of a fastText model.
    n_min, n_max : int
        Shortest and longest character n-gram, 0 without `buckets`.

    Raises
    ------
    InvalidInput
        If the shapes do not fit each other, there are no words, or a word stands twice or holds a
        line feed.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = StaticVectors(["heart", "attack"], np.eye(2, dtype=np.float32))
    >>> encoder.encode(["Heart failure", "flu"]).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """

    independent = True  # of the names encoded together, to the last bit

    def __init__(
        self,
        words: Sequence[str],
        vectors: Float32Array,
        *,
        lowercase: bool = True,
        buckets: Float32Array | None = None,
        n_min: int = 0,
        n_max: int = 0,
    ) -> None:
        self.words = checked_names(words)
        self.vectors = vectors
        self.buckets = np.empty((0, vectors.shape[-1]), np.float32) if buckets is None else buckets
        self.lowercase = bool(lowercase)
        self.n_min, self.n_max = int(n_min), int(n_max)
        for what, array in (("vectors", self.vectors), ("buckets", self.buckets)):
            if array.ndim != 2 or array.dtype != np.float32 or array.shape[1] != vectors.shape[-1]:
                raise InvalidInput(
                    f"{what}: float32 of shape (n, d) is expected, found {array.dtype} of shape "
                    f"{array.shape}"
                )
        if not self.words or len(self.words) != len(vectors):
            raise InvalidInput(
                f"{len(self.words)} words and {len(vectors)} vectors; one each is expected"
            )
        if len(self.buckets):
            check_count("n_min", n_min)
            check_count("n_max", n_max, least=n_min)
        self._row_of = {word: row for row, word in enumerate(self.words)}
        if len(self._row_of) != len(self.words):
            raise InvalidInput("a word stands twice; give each once")
        if any("\n" in word for word in self.words):
            raise InvalidInput("a word holds a line feed; replace it")

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        lowercase: bool = True,
        max_words: int | None = None,
        encoding_errors: str = "strict",
    ) -> Self:
        """Read a word2vec or fastText file, plain or compressed with gzip or xz.

        Parameters
        ----------
        path : str or Path
            The file.
        lowercase : bool
            Whether names are lower-cased before words are looked up.
        max_words : int, optional
            Read the first so many words of a word2vec file only; they are its most frequent ones.
        encoding_errors : str
            Treatment of words that are not UTF-8: ``"strict"``, ``"replace"`` or ``"ignore"``.

        Raises
        ------
        ReadError
            If the file is missing, empty, truncated, wrongly encoded or in no known format.
        """
        check_option("encoding_errors", encoding_errors, ("strict", "replace", "ignore"))
        if max_words is not None:
            check_count("max_words", max_words)
        words = read_word_vectors(path, max_words=max_words, encoding_errors=encoding_errors)
        return cls(**words._asdict(), lowercase=lowercase)

    def __repr__(self) -> str:
        return f"StaticVectors({len(self.words):,} words, {self.n_columns} dimensions)"

    @property
    def settings(self) -> dict[str, Any]:
        """Keyword arguments that, with the arrays, make this encoder again."""
        return {"lowercase": self.lowercase, "n_min": self.n_min, "n_max": self.n_max}

    @property
    def n_columns(self) -> int:
        """Dimensions of a vector."""
        return int(self.vectors.shape[1])

    def encode(self, names: Sequence[str]) -> Float32Array:
        """Encode `names`.

        Returns
        -------
        (n, d) float32 array
            Of L2 norm 1, or 0 where no word of a name is known.
        """
        texts, place_of = distinct_names(checked_names(names))
        vectors = np.zeros((len(texts), self.n_columns), np.float32)
        seen: dict[str, Float32Array] = {}  # names share words, and n-grams are slow to add up
        for place, text in enumerate(texts):
            self._add_words(text, vectors[place], seen)
            if len(seen) > _MOST_SEEN:
                seen.clear()
        # The mean and the sum point the same way, and only the direction is left.
        return normalised(vectors)[place_of]

    def word_vector(self, word: str) -> Float32Array:
        """Return the vector ``(d,)`` of one word as names are made of it, 0 where it has none."""
        if len(self.buckets):
            return self._subword_mean(word)
        row = self._row_of.get(word)
        return np.zeros(self.n_columns, np.float32) if row is None else self.vectors[row]

    def _add_words(self, text: str, total: Float32Array, seen: dict[str, Float32Array]) -> None:
        """Add the vectors of the words of `text` to `total`, in place."""
        words = self._words(text)
        if len(self.buckets):
            for word in words:
                if word not in seen:
                    seen[word] = self._subword_mean(word)
                total += seen[word]
            return
        rows = [row for word in words if (row := self._row_of.get(word)) is not None]
        if rows:
            total += self.vectors[rows].sum(axis=0)

    def _words(self, text: str) -> Iterator[str]:
        for piece in (text.lower() if self.lowercase else text).split():
            if piece in self._row_of:
                yield piece
            else:
                yield from _RUNS.findall(piece)

    def _subword_mean(self, word: str) -> Float32Array:
        row = self._row_of.get(word)
        hashed = list(_ngram_hashes(word[:_LONGEST_WORD], self.n_min, self.n_max))
        gathered = self.buckets[np.array(hashed, np.int64) % len(self.buckets)]
        if row is not None:
            gathered = np.concatenate([self.vectors[row : row + 1], gathered])
        if not len(gathered):
            return np.zeros(self.n_columns, np.float32)
        return np.asarray(gathered.mean(axis=0, dtype=np.float32))

    def save(self, folder: Path) -> None:
        """Write the encoder into `folder`, which is made if it is missing."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "vectors.npy", self.vectors)
        np.save(folder / "buckets.npy", self.buckets)
        text = "".join(f"{word}\n" for word in self.words)
        (folder / "words.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
        write_encoder_manifest(folder, kind="static", settings=self.settings)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open an encoder that `save` wrote; its arrays are mapped into memory."""
        folder = Path(folder)

        def complete(settings: dict[str, Any]) -> dict[str, Any]:
            vectors, buckets = load_arrays(folder, ndim=2, vectors=np.float32, buckets=np.float32)
            text = (folder / "words.txt").read_bytes().decode("utf-8", "surrogatepass")
            words = text.split("\n")[:-1]
            return settings | {"words": words, "vectors": vectors, "buckets": buckets}

        return reopen(cls, folder, "static", complete)


def _ngram_hashes(word: str, n_min: int, n_max: int) -> Iterator[int]:
    """Yield fastText's hash of each character n-gram of ``<word>``.

    The hash is 32-bit FNV-1a over UTF-8 with each byte widened as a signed number; a lone ``<`` or
    ``>`` is left out.
    """
    letters = [letter.encode("utf-8", "replace") for letter in f"<{word}>"]
    for start in range(len(letters)):
        value = 2166136261
        for stop in range(start + 1, min(start + n_max, len(letters)) + 1):
            for byte in letters[stop - 1]:
                value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) % 2**32
            at_edge = stop - start == 1 and (start == 0 or stop == len(letters))
            if stop - start >= n_min and not at_edge:
                yield value
