"""Readers of word-vector files: word2vec text and binary, fastText ``.vec`` and ``.bin``.

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

All may be compressed; the first bytes tell the format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import decompressed
from canonym.types import Float32Array

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
        fields = self.stream.readline(_LONGEST_LINE).split()
        n, width = (int(field[:_DIGITS]) for field in fields)
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
