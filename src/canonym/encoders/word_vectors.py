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

All may be compressed with gzip or xz, recognised by their first bytes.
"""

from __future__ import annotations

import gzip
import lzma
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from canonym.errors import InvalidInput, ReadError
from canonym.types import Float32Array

FASTTEXT_MAGIC = 793712314
_FASTTEXT_VERSION = 12
_FIRST_ROWS = 16_384
_LONGEST_LINE = 1 << 20
_SAMPLE = 1 << 16
_WIDEST = 1 << 16


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
    with _opened(path) as stream:
        sample = stream.read(_SAMPLE)
    first, _, rest = sample.partition(b"\n")
    with _opened(path) as stream:
        if len(sample) >= 4 and struct.unpack_from("<i", sample)[0] == FASTTEXT_MAGIC:
            if max_words is not None:
                raise InvalidInput(f"{path}: a fastText model is read whole; leave out max_words")
            return _read_fasttext(stream, path, encoding_errors)
        if len(fields := first.split()) == 2 and all(field.isdigit() for field in fields):
            text = _looks_like_text(rest)
            rows = _rows_with_header(stream, path, encoding_errors, max_words, text=text)
        else:
            rows = _rows_without_header(stream, path, encoding_errors, max_words)
        words, vectors = _collected(rows)
    return WordVectors(words, vectors, np.empty((0, vectors.shape[1]), np.float32))


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a plain, gzip or xz file; turn errors of reading into a `ReadError`."""
    try:
        with path.open("rb") as plain:
            magic = plain.peek(6)
            if magic.startswith(b"\x1f\x8b"):
                with gzip.open(plain) as unpacked:
                    yield cast(BinaryIO, unpacked)
            elif magic.startswith(b"\xfd7zXZ\x00"):
                with lzma.open(plain) as unpacked_xz:
                    yield cast(BinaryIO, unpacked_xz)
            else:
                yield plain
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ReadError(
            path, f"cannot be read ({error}); expected a file of word vectors"
        ) from error


def _word(raw: bytes, path: Path, encoding_errors: str, line: int | None = None) -> str:
    try:
        return raw.decode("utf-8", encoding_errors)
    except UnicodeDecodeError as error:
        raise ReadError(
            path,
            f"the word {raw[:40]!r} is not UTF-8; read the file with encoding_errors='replace'",
            line=line,
        ) from error


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
            grown = np.empty((max(_FIRST_ROWS, 2 * place), len(vector)), np.float32)
            grown[:place] = vectors.reshape(place, len(vector))
            vectors = grown
        vectors[place] = vector
    return list(places), vectors[: len(places)]


# --- word2vec -------------------------------------------------------------------------------------


def _rows_with_header(
    stream: BinaryIO, path: Path, encoding_errors: str, max_words: int | None, *, text: bool
) -> Iterator[tuple[str, Float32Array]]:
    n, width = map(int, stream.readline(_LONGEST_LINE).split())
    if not (n > 0 and 0 < width <= _WIDEST):
        raise ReadError(path, f"{n} words of {width} dimensions cannot be", line=1)
    wanted = n if max_words is None else min(n, max_words)
    if text:
        for line in range(2, wanted + 2):
            row = stream.readline(_LONGEST_LINE)
            if not row:
                early = f"{n + 2 - line:,} of {n:,} words"
                raise ReadError(path, f"ends {early} early; is it whole?", line=line)
            yield _text_row(row, path, encoding_errors, line, width)
    else:
        for number in range(1, wanted + 1):
            yield _binary_row(stream, path, encoding_errors, number, width)
    if wanted == n and stream.read(_SAMPLE).strip():
        raise ReadError(path, f"goes on after the {n:,} words that its first line promises")


def _rows_without_header(
    stream: BinaryIO, path: Path, encoding_errors: str, max_words: int | None
) -> Iterator[tuple[str, Float32Array]]:
    width, line = 0, 1
    while (max_words is None or line <= max_words) and (row := stream.readline(_LONGEST_LINE)):
        width = width or len(row.split()) - 1
        yield _text_row(row, path, encoding_errors, line, width)
        line += 1
    if line == 1:
        raise ReadError(path, "is empty; expected a file of word vectors")


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


def _text_row(
    row: bytes, path: Path, encoding_errors: str, line: int, width: int
) -> tuple[str, Float32Array]:
    # Split from the right: GloVe has words with spaces in them.
    parts = row.rstrip().rsplit(b" ", width)
    try:
        with np.errstate(over="ignore"):  # overflow becomes infinite, and is refused below
            vector = np.array([float(part) for part in parts[1:]], np.float32)
    except ValueError:
        vector = np.empty(0, np.float32)
    if len(vector) != width or width < 1 or not np.isfinite(vector).all():
        raise ReadError(
            path,
            f"a word and {max(width, 1)} finite numbers are expected, found {row[:60]!r}",
            line=line,
        )
    return _word(parts[0], path, encoding_errors, line=line), vector


def _binary_row(
    stream: BinaryIO, path: Path, encoding_errors: str, number: int, width: int
) -> tuple[str, Float32Array]:
    raw = _until(stream, b" ", path).lstrip(b"\n")
    vector = np.frombuffer(_exactly(stream, 4 * width, path), "<f4")
    if not np.isfinite(vector).all():
        raise ReadError(path, f"word {number:,} ({raw[:40]!r}) has NaN or infinity in it")
    return _word(raw, path, encoding_errors), vector


def _until(stream: Any, mark: bytes, path: Path) -> bytes:
    """Read up to and including one byte, and return everything before it."""
    parts = bytearray()
    while (ahead := stream.peek(1)) and len(parts) < _LONGEST_LINE:
        at = ahead.find(mark)
        parts += stream.read(at + 1 if at >= 0 else len(ahead))
        if at >= 0:
            return bytes(parts[:-1])
    raise ReadError(path, "a word does not end; the file is truncated or not of this format")


def _exactly(stream: BinaryIO, size: int, path: Path) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise ReadError(path, f"ends {size - len(content):,} bytes early; is it whole?")
    return content


# --- fastText -------------------------------------------------------------------------------------


def _read_fasttext(stream: BinaryIO, path: Path, encoding_errors: str) -> WordVectors:
    def take(form: str) -> tuple[int, ...]:
        return struct.unpack("<" + form, _exactly(stream, struct.calcsize("<" + form), path))

    _, version = take("2i")
    if version != _FASTTEXT_VERSION:
        raise ReadError(
            path, f"fastText model of version {version}; version {_FASTTEXT_VERSION} is expected"
        )
    options = take("12id")
    width, n_buckets, n_min, n_max = options[0], options[8], options[9], options[10]
    n_entries, n_words, _, _, n_pruned = take("3i2q")
    if n_pruned >= 0:
        raise ReadError(path, "is a pruned fastText model; give the full one, or its .vec file")
    words = []
    for entry in range(n_entries):
        raw = _until(stream, b"\0", path)
        take("qb")
        if entry < n_words:
            words.append(_word(raw, path, encoding_errors))
    (quantised,) = take("?")
    if quantised:
        raise ReadError(path, "is a quantised fastText model; give the full one, or its .vec file")
    n_rows, found_width = take("2q")
    if found_width != width or n_rows != n_words + n_buckets or not 0 < width <= _WIDEST:
        raise ReadError(
            path,
            f"a matrix of {n_words:,} + {n_buckets:,} rows and {width} columns is expected, found "
            f"{n_rows:,} rows and {found_width} columns",
        )
    vectors = _matrix(stream, path, n_words, width)
    if n_max < 1:  # a model without character n-grams states a number of buckets nevertheless
        return WordVectors(words, vectors, np.empty((0, width), np.float32))
    return WordVectors(words, vectors, _matrix(stream, path, n_buckets, width), n_min, n_max)


def _matrix(stream: BinaryIO, path: Path, n_rows: int, width: int) -> Float32Array:
    parts = [np.empty((0, width), np.float32)]
    for start in range(0, n_rows, _FIRST_ROWS):
        size = 4 * width * min(_FIRST_ROWS, n_rows - start)
        parts.append(np.frombuffer(_exactly(stream, size, path), "<f4").reshape(-1, width))
        if not np.isfinite(parts[-1]).all():
            raise ReadError(path, "the matrix holds NaN or infinity; the file is damaged")
    return np.concatenate(parts)
