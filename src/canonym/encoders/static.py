"""Vectors of names from word vectors: the mean of the vectors of their words.

Files of word vectors may be compressed; the first bytes tell the format.

=======================  ==========================================================================
word2vec text, ``.vec``  first line ``n d``, then one line a word: the word and ``d`` numbers,
                         separated by spaces. GloVe's files have no first line.
word2vec binary          first line ``n d``, then for each word its bytes, a space, ``d``
                         little-endian float32 and, with some writers, a line feed.
fastText ``.bin``        model of fastText, version 12: options, dictionary, input matrix, output
                         matrix. The rows of the input matrix after the words' are those of hashed
                         character n-grams, from which any string gets a vector. Quantised models
                         (``.ftz``) are not read.
=======================  ==========================================================================

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

import struct
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from canonym.encoders.batches import normalised
from canonym.encoders.inputs import check_count, check_option, checked_names, distinct_names
from canonym.encoders.saved import load_arrays, reopen, write_encoder_manifest
from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import decompressed
from canonym.text.shape import WORD
from canonym.types import Float32Array

__all__ = ["StaticVectors"]

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
                yield from WORD.findall(piece)

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


# --- files of word vectors ------------------------------------------------------------------------

FASTTEXT_MAGIC = 793712314
_FASTTEXT_VERSION = 12
_FIRST_ROWS = 16_384
_FIRST_BYTES = 1 << 25  # at most: a header may promise rows of any width
_LONGEST_LINE = 1 << 20
_SAMPLE = 1 << 16
_WIDEST = 1 << 16
_DIGITS = 18  # of a number that is looked at: larger ones are refused all the same


class WordVectors(NamedTuple):
    """The content of a file of word vectors.

    ``words`` are distinct; ``vectors`` is ``(len(words), d)`` float32. A fastText model adds
    ``buckets``, ``(b, d)`` float32: the vectors of hashed character n-grams of ``n_min`` to
    ``n_max`` characters. Without them, b is 0.
    """

    words: list[str]
    vectors: Float32Array
    buckets: Float32Array
    n_min: int = 0
    n_max: int = 0


def read_word_vectors(
    path: str | Path, *, max_words: int | None = None, encoding_errors: str = "strict"
) -> WordVectors:
    """Read a file of word vectors in any of the formats above; see `StaticVectors.read`.

    A word that stands twice keeps its first vector.
    """
    path = Path(path)
    with decompressed(path) as source:
        sample = BufferedReader(source).read(_SAMPLE)
    if not sample:
        raise ReadError(path, "is empty; expected a file of word vectors")
    first, _, rest = sample.partition(b"\n")
    with decompressed(path) as source:
        reader = _Reader(BufferedReader(source), path, encoding_errors)
        if len(sample) >= 4 and struct.unpack_from("<i", sample)[0] == FASTTEXT_MAGIC:
            if max_words is not None:
                raise InvalidInput(f"{path}: a fastText model is read whole; leave out max_words")
            return reader.fasttext()
        if len(fields := first.split()) == 2 and all(field.isdigit() for field in fields):
            rows = reader.rows_with_header(max_words, text=_looks_like_text(rest))
        else:
            rows = reader.rows_without_header(max_words)
        words, vectors = _collected(rows)
    return WordVectors(words, vectors, np.empty((0, vectors.shape[1]), np.float32))


def _looks_like_text(sample: bytes) -> bool:
    """Tell whether a sample starts with a word and written numbers."""
    line, end, _ = sample.partition(b"\n")
    numbers = line.rstrip().split(b" ")[1:10]
    if not end:
        numbers = numbers[:-1]  # may be cut
    try:
        return bool([float(number) for number in numbers])
    except ValueError:
        return False


def _rows_at_once(width: int) -> int:
    return max(1, min(_FIRST_ROWS, _FIRST_BYTES // (4 * max(width, 1))))


def _collected(rows: Iterator[tuple[str, Float32Array]]) -> tuple[list[str], Float32Array]:
    """Gather rows into one array that grows, keeping the first of equal words."""
    places: dict[str, int] = {}
    vectors = np.empty((0, 0), np.float32)
    for word, vector in rows:
        place = len(places)
        if places.setdefault(word, place) != place:
            continue
        if place == len(vectors):
            # The header's count is not trusted with an allocation: it may be anything.
            grown = np.empty((max(_rows_at_once(len(vector)), 2 * place), len(vector)), np.float32)
            grown[:place] = vectors.reshape(place, len(vector))
            vectors = grown
        vectors[place] = vector
    return list(places), vectors[: len(places)]


class _Reader:
    """A stream of word vectors; its errors name the file."""

    def __init__(self, stream: BufferedReader, path: Path, encoding_errors: str) -> None:
        self.stream, self.path, self.encoding_errors = stream, path, encoding_errors

    def error(self, problem: str, line: int | None = None) -> ReadError:
        return ReadError(self.path, problem, line=line)

    def rows_with_header(
        self, max_words: int | None, *, text: bool
    ) -> Iterator[tuple[str, Float32Array]]:
        """Yield the rows of a word2vec file, text or binary, that starts with its size."""
        n, width = (int(field[:_DIGITS]) for field in self.stream.readline(_LONGEST_LINE).split())
        if not (n > 0 and 0 < width <= _WIDEST):
            raise self.error(f"{n} words of {width} dimensions cannot be", line=1)
        n_read = n if max_words is None else min(n, max_words)
        for number in range(1, n_read + 1):
            if not text:
                yield self.binary_row(number, width)
                continue
            row = self.stream.readline(_LONGEST_LINE)
            if not row:
                early = f"{n + 1 - number:,} of {n:,} words"
                raise self.error(f"ends {early} early; is it whole?", line=number + 1)
            yield self.text_row(row, number + 1, width)
        if n_read == n and self.stream.read(_SAMPLE).strip():
            raise self.error(f"goes on after the {n:,} words that its first line promises")

    def rows_without_header(self, max_words: int | None) -> Iterator[tuple[str, Float32Array]]:
        """Yield the rows of a file of GloVe."""
        width, line = 0, 1
        while (max_words is None or line <= max_words) and (
            row := self.stream.readline(_LONGEST_LINE)
        ):
            width = width or len(row.split()) - 1
            yield self.text_row(row, line, width)
            line += 1

    def text_row(self, row: bytes, line: int, width: int) -> tuple[str, Float32Array]:
        # Split from the right: GloVe has words with spaces in them.
        parts = row.rstrip().rsplit(b" ", width)
        try:
            with np.errstate(over="ignore"):  # overflow becomes infinite, and is refused below
                vector = np.array([float(part) for part in parts[1:]], np.float32)
        except ValueError:
            vector = np.empty(0, np.float32)
        if len(vector) != width or width < 1 or not np.isfinite(vector).all():
            expected = f"a word and {max(width, 1)} finite numbers are expected"
            raise self.error(f"{expected}, found {row[:60]!r}", line)
        return self.word(parts[0], line), vector

    def binary_row(self, number: int, width: int) -> tuple[str, Float32Array]:
        raw = self.until(b" ").lstrip(b"\n")
        vector = np.frombuffer(self.exactly(4 * width), "<f4")
        if not np.isfinite(vector).all():
            raise self.error(f"word {number:,} ({raw[:40]!r}) has NaN or infinity in it")
        return self.word(raw), vector

    def fasttext(self) -> WordVectors:
        """Read a model of fastText, after its magic number and version."""
        _, version = self.take("2i")
        if version != _FASTTEXT_VERSION:
            raise self.error(
                f"fastText model of version {version}; version {_FASTTEXT_VERSION} is expected"
            )
        options = self.take("12id")
        width, n_buckets, n_min, n_max = options[0], options[8], options[9], options[10]
        n_entries, n_words, _, _, n_pruned = self.take("3i2q")
        if n_pruned >= 0:
            raise self.error("is a pruned fastText model; give the full one, or its .vec file")
        words = []
        for entry in range(n_entries):
            raw = self.until(b"\0")
            self.take("qb")
            if entry < n_words:
                words.append(self.word(raw))
        (quantised,) = self.take("?")
        if quantised:
            raise self.error("is a quantised fastText model; give the full one, or its .vec file")
        n_rows, found_width = self.take("2q")
        if found_width != width or n_rows != n_words + n_buckets or not 0 < width <= _WIDEST:
            raise self.error(
                f"a matrix of {n_words:,} + {n_buckets:,} rows and {width} columns is expected, "
                f"found {n_rows:,} rows and {found_width} columns"
            )
        vectors = self.matrix(n_words, width)
        if n_max < 1:  # a model without character n-grams states a number of buckets nevertheless
            return WordVectors(words, vectors, np.empty((0, width), np.float32))
        return WordVectors(words, vectors, self.matrix(n_buckets, width), n_min, n_max)

    def matrix(self, n_rows: int, width: int) -> Float32Array:
        parts = [np.empty((0, width), np.float32)]
        at_once = _rows_at_once(width)
        for start in range(0, n_rows, at_once):
            size = 4 * width * min(at_once, n_rows - start)
            parts.append(np.frombuffer(self.exactly(size), "<f4").reshape(-1, width))
            if not np.isfinite(parts[-1]).all():
                raise self.error("the matrix holds NaN or infinity; the file is damaged")
        return np.concatenate(parts)

    def word(self, raw: bytes, line: int | None = None) -> str:
        try:
            return raw.decode("utf-8", self.encoding_errors)
        except UnicodeDecodeError as error:
            raise self.error(
                f"the word {raw[:40]!r} is not UTF-8; read the file with encoding_errors='replace'",
                line,
            ) from error

    def until(self, mark: bytes) -> bytes:
        """Read up to and including one byte, and return everything before it."""
        parts = bytearray()
        while (ahead := self.stream.peek(1)) and len(parts) < _LONGEST_LINE:
            at = ahead.find(mark)
            parts += self.stream.read(at + 1 if at >= 0 else len(ahead))
            if at >= 0:
                return bytes(parts[:-1])
        raise self.error("a word does not end; the file is truncated or not of this format")

    def exactly(self, size: int) -> bytes:
        content = self.stream.read(size)
        if len(content) < size:
            raise self.error(f"ends {size - len(content):,} bytes early; is it whole?")
        return content

    def take(self, form: str) -> tuple[Any, ...]:
        return struct.unpack("<" + form, self.exactly(struct.calcsize("<" + form)))
