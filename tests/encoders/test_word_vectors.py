"""Word-vector files of every format are read value by value, and damage is located."""

from __future__ import annotations

import gzip
import lzma
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from canonym.encoders import static as word_vectors
from canonym.encoders.static import FASTTEXT_MAGIC, read_word_vectors
from canonym.errors import InvalidInput, ReadError

WORDS = ["heart", "attack", "naïve", "心"]
VECTORS = np.array([[1, -2.5, 3e-5], [0, 0.25, 7], [1, 1, 1], [-1, 0, 1e20]], np.float32)


def text_form(*, header: bool = True, end: str = "\n") -> bytes:
    lines = [f"{len(WORDS)} 3"] if header else []
    for word, vector in zip(WORDS, VECTORS, strict=True):
        lines.append(" ".join([word, *(repr(float(value)) for value in vector)]))
    return (end.join(lines) + end).encode()


def binary_form(*, line_feeds: bool = True) -> bytes:
    content = f"{len(WORDS)} 3\n".encode()
    for word, vector in zip(WORDS, VECTORS, strict=True):
        content += word.encode() + b" " + vector.tobytes() + (b"\n" if line_feeds else b"")
    return content


def fasttext_form(
    words: list[str],
    matrix: np.ndarray,
    *,
    n_buckets: int,
    n_min: int = 3,
    n_max: int = 4,
    labels: tuple[str, ...] = (),
    version: int = 12,
    pruned: int = -1,
    quantised: bool = False,
    rows: int | None = None,
) -> bytes:
    width = matrix.shape[1]
    options = (width, 5, 5, 1, 5, 1, 1, 2, n_buckets, n_min, n_max, 100)
    content = struct.pack("<2i", FASTTEXT_MAGIC, version)
    content += struct.pack("<12id", *options, 1e-4)
    entries = [*words, *labels]
    content += struct.pack("<3i2q", len(entries), len(words), len(labels), 99, pruned)
    for number, entry in enumerate(entries):
        content += entry.encode() + b"\0" + struct.pack("<qb", 10, int(number >= len(words)))
    content += struct.pack("<?", quantised)
    content += struct.pack("<2q", len(matrix) if rows is None else rows, width)
    return content + matrix.astype("<f4").tobytes() + b"the output matrix is not read"


def write(folder: Path, content: bytes, name: str = "vectors") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize(
    "content",
    [
        text_form(),
        text_form(end="\r\n"),
        text_form(end=" \n"),
        text_form(header=False),
        binary_form(),
        binary_form(line_feeds=False),
    ],
    ids=["text", "text, CRLF", "text, trailing space", "no header", "binary", "binary, packed"],
)
def test_every_word2vec_form(content: bytes, pack: object, tmp_path: Path) -> None:
    found = read_word_vectors(write(tmp_path, pack(content)))  # type: ignore[operator]
    assert found.words == WORDS
    assert found.vectors.dtype == np.float32
    np.testing.assert_array_equal(found.vectors, VECTORS)
    assert found.buckets.shape == (0, 3)


@pytest.mark.parametrize("content", [text_form(), text_form(header=False), binary_form()])
def test_max_words_reads_the_first_ones(content: bytes, tmp_path: Path) -> None:
    path = write(tmp_path, content)
    assert read_word_vectors(path, max_words=2).words == WORDS[:2]
    assert read_word_vectors(path, max_words=9).words == WORDS


def test_a_word_may_hold_spaces_and_the_first_of_equal_words_stays(tmp_path: Path) -> None:
    path = write(tmp_path, b"4 2\na 1 2\nat a b 3 4\nc 5 6\nc 7 8\n")
    found = read_word_vectors(path)
    assert found.words == ["a", "at a b", "c"]
    assert found.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_the_array_grows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(word_vectors, "_FIRST_ROWS", 2)
    rows = [f"w{n} {n} {-n}" for n in range(9)]
    path = write(tmp_path, "\n".join(["9 2", *rows]).encode())
    np.testing.assert_array_equal(read_word_vectors(path).vectors[:, 0], np.arange(9))


def test_a_header_does_not_reserve_memory(tmp_path: Path) -> None:
    path = write(tmp_path, b"999999999999 60000\nheart 1 2\n")
    with pytest.raises(ReadError, match="line 2: a word and 60000 finite numbers"):
        read_word_vectors(path)


def test_the_header_of_a_model_does_not_reserve_memory(tmp_path: Path) -> None:
    empty = np.empty((0, 60_000), np.float32)
    path = write(tmp_path, fasttext_form([], empty, n_buckets=1 << 30, rows=1 << 30))
    tracemalloc.start()
    try:
        with pytest.raises(ReadError, match=r"ends .* bytes early"):
            read_word_vectors(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 28
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"\n", "line 1: a word and 1 finite numbers are expected"),
        (b"0 3\n", "line 1: 0 words of 3 dimensions cannot be"),
        (b"3 0\n", "line 1: 3 words of 0 dimensions cannot be"),
        (b"1 99999999\n", "line 1: 1 words of 99999999 dimensions"),
        (b"1 " + b"9" * 5000 + b"\n", "line 1: 1 words of 9{18} dimensions"),
        (b"word\n", "line 1: a word and 1 finite numbers"),
        (b"3 2\na 1 2\nb 1 2\n", r"line 4: ends 1 of 3 words early"),
        (b"3 2\na 1 2\nb 1\nc 1 2\n", r"line 3: .* found b'b 1\\n'"),
        (b"2 2\na 1 2\nb 1 x\n", "line 3: a word and 2 finite numbers"),
        (b"2 2\na 1 2\nb 1 nan\n", "line 3: a word and 2 finite numbers"),
        (b"2 2\na 1 2\nb 1e39 0\n", "line 3: a word and 2 finite numbers"),
        (b"a 1 2\nb 1\n", "line 2: a word and 2 finite numbers"),
        (b"1 2\na 1 2\nb 3 4\n", "goes on after the 1 words"),
        (b"1 2\n\xff\xfe 1 2\n", "line 2: the word .* is not UTF-8"),
        (binary_form()[:-8], "ends 7 bytes early"),
        (binary_form()[:20], "ends [0-9]+ bytes early"),
        (b"2 3\nheart " + bytes(12) + b"attack", "a word does not end"),
        (b"1 3\nheart " + struct.pack("<3f", 1, np.inf, 1), r"word 1 \(b'heart'\) has NaN"),
        (binary_form() + b"more", "goes on after the 4 words"),
        (gzip.compress(text_form(), mtime=0)[:-9], "end too early"),
        (gzip.compress(text_form(), mtime=0)[:20] + b"\0" * 30, "cannot be read"),
        (lzma.compress(text_form())[:-9], "end too early"),
        (b"\xfd7zXZ\x00garbage garbage", "cannot be read"),
    ],
)
def test_damage_is_located(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=message):
        read_word_vectors(write(tmp_path, content))


def test_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no such file"):
        read_word_vectors(tmp_path / "nowhere")
    with pytest.raises(ReadError, match="is a folder"):
        read_word_vectors(tmp_path)


def test_an_endless_word_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(word_vectors, "_LONGEST_LINE", 20_000)
    path = write(tmp_path, b"2 3\na " + b"\1" * 12 + b"\2" * 60_000)
    with pytest.raises(ReadError, match="a word does not end"):
        read_word_vectors(path)


def test_words_that_are_not_utf_8_can_be_mended(tmp_path: Path) -> None:
    path = write(tmp_path, b"2 1\n\xffa 1\nb\xff 2\n")
    assert read_word_vectors(path, encoding_errors="replace").words == ["\ufffda", "b\ufffd"]
    assert read_word_vectors(path, encoding_errors="ignore").words == ["a", "b"]


def test_fasttext_model(tmp_path: Path) -> None:
    matrix = np.arange(14, dtype=np.float32).reshape(7, 2)
    content = fasttext_form(["a", "心"], matrix, n_buckets=5, labels=("__label__x",))
    found = read_word_vectors(write(tmp_path, content))
    assert found.words == ["a", "心"]
    np.testing.assert_array_equal(found.vectors, matrix[:2])
    np.testing.assert_array_equal(found.buckets, matrix[2:])
    assert (found.n_min, found.n_max) == (3, 4)


def test_fasttext_model_without_character_grams(tmp_path: Path) -> None:
    matrix = np.arange(14, dtype=np.float32).reshape(7, 2)
    content = fasttext_form(["a", "b"], matrix, n_buckets=5, n_min=0, n_max=0)
    found = read_word_vectors(write(tmp_path, content))
    np.testing.assert_array_equal(found.vectors, matrix[:2])
    assert found.buckets.shape == (0, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"version": 11}, "version 11; version 12 is expected"),
        ({"pruned": 3}, "pruned"),
        ({"quantised": True}, "quantised"),
        ({"rows": 9}, r"2 \+ 5 rows and 2 columns is expected, found 9 rows"),
    ],
)
def test_other_fasttext_models(options: dict[str, int], message: str, tmp_path: Path) -> None:
    matrix = np.zeros((7, 2), np.float32)
    content = fasttext_form(["a", "b"], matrix, n_buckets=5, **options)  # type: ignore[arg-type]
    with pytest.raises(ReadError, match=message):
        read_word_vectors(write(tmp_path, content))


def test_damaged_fasttext_model(tmp_path: Path) -> None:
    matrix = np.zeros((7, 2), np.float32)
    whole = fasttext_form(["a", "b"], matrix, n_buckets=5)
    for size in (6, 30, 95, len(whole) - 40):
        with pytest.raises(ReadError, match=r"early|does not end"):
            read_word_vectors(write(tmp_path, whole[:size]))
    matrix[3, 1] = np.nan
    with pytest.raises(ReadError, match="NaN or infinity"):
        read_word_vectors(write(tmp_path, fasttext_form(["a", "b"], matrix, n_buckets=5)))
    with pytest.raises(InvalidInput, match="leave out max_words"):
        read_word_vectors(write(tmp_path, whole), max_words=1)
