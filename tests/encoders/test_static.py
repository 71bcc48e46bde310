"""Static vectors are means of word vectors, against a naive loop."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

import numpy as np
import pytest

from canonym.encoders import static
from canonym.encoders.static import StaticVectors
from canonym.errors import InvalidInput, Mismatch, ReadError

WORDS = ["heart", "attack", "covid-19", "Covid", "ß", "19"]
VECTORS = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
BUCKETS = np.random.default_rng(1).normal(size=(11, 4)).astype(np.float32)


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_mean_of_known_words() -> None:
    encoder = StaticVectors(WORDS, VECTORS)
    found = encoder.encode(["Heart-Attack!", "heart unknown", "heart heart attack", "unknown", ""])
    assert found.dtype == np.float32
    heart, attack = VECTORS[:2]
    np.testing.assert_allclose(found[0], unit(heart + attack), atol=1e-6)
    np.testing.assert_allclose(found[1], unit(heart), atol=1e-6)
    np.testing.assert_allclose(found[2], unit(2 * heart + attack), atol=1e-6)
    np.testing.assert_array_equal(found[3:], np.zeros((2, 4)))


def test_a_piece_the_file_knows_is_not_cut() -> None:
    encoder = StaticVectors(WORDS, VECTORS)
    whole, cut = encoder.encode(["COVID-19", "covid/19"])
    np.testing.assert_allclose(whole, unit(VECTORS[2]), atol=1e-6)
    np.testing.assert_allclose(cut, unit(VECTORS[5]), atol=1e-6)


def test_lowercase_is_an_option() -> None:
    encoder = StaticVectors(WORDS, VECTORS, lowercase=False)
    found = encoder.encode(["Covid", "covid", "Heart"])
    np.testing.assert_allclose(found[0], unit(VECTORS[3]), atol=1e-6)
    np.testing.assert_array_equal(found[1:], np.zeros((2, 4)))


def fasttext_vector(word: str, n_min: int, n_max: int) -> np.ndarray:
    """Follow the paper's definition letter by letter."""
    rows = [VECTORS[WORDS.index(word)]] if word in WORDS else []
    framed = f"<{word}>"
    for start in range(len(framed)):
        for stop in range(start + 1, len(framed) + 1):
            gram = framed[start:stop]
            if not n_min <= len(gram) <= n_max or gram in "<>":
                continue
            value = np.uint32(2166136261)
            with np.errstate(over="ignore"):
                for (byte,) in struct.iter_unpack("b", gram.encode()):
                    value = (value ^ np.int32(byte).astype(np.uint32)) * np.uint32(16777619)
            rows.append(BUCKETS[int(value) % len(BUCKETS)])
    return np.mean(rows, axis=0) if rows else np.zeros(4)


@pytest.mark.parametrize(("n_min", "n_max"), [(1, 2), (3, 6), (5, 5)])
def test_a_fasttext_model_knows_every_word(n_min: int, n_max: int) -> None:
    encoder = StaticVectors(WORDS, VECTORS, buckets=BUCKETS, n_min=n_min, n_max=n_max)
    found = encoder.encode(["heart infarction", "ß", "心筋梗塞 λ", "covid-19"])
    for row, words in enumerate([["heart", "infarction"], ["ß"], ["心筋梗塞", "λ"], ["covid-19"]]):
        expected = sum(fasttext_vector(word, n_min, n_max) for word in words)
        np.testing.assert_allclose(found[row], unit(expected), atol=1e-6)


def test_forgetting_words_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = StaticVectors(WORDS, VECTORS, buckets=BUCKETS, n_min=2, n_max=3)
    names = ["heart attack", "unknown heart", "attack unknown"]
    expected = encoder.encode(names)
    monkeypatch.setattr(static, "_MOST_SEEN", 1)
    np.testing.assert_array_equal(encoder.encode(names), expected)


def test_a_word_too_short_for_an_ngram_has_no_vector() -> None:
    encoder = StaticVectors(WORDS, VECTORS, buckets=BUCKETS, n_min=5, n_max=5)
    np.testing.assert_array_equal(encoder.encode(["ab", "!"]), np.zeros((2, 4)))


def test_hash_of_known_strings() -> None:
    # FNV-1a's published values for "a" and "foobar"; fastText agrees with it on ASCII.
    from canonym.encoders.static import _ngram_hashes

    assert list(_ngram_hashes("a", 1, 1)) == [0xE40C292C]
    assert 0xBF9CF968 in list(_ngram_hashes("foobar", 6, 6))


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "words.vec"
    path.write_text("2 2\nHeart 3 4\nattack 0 1\n", encoding="utf-8")
    encoder = StaticVectors.read(path, lowercase=False, max_words=1)
    assert repr(encoder) == "StaticVectors(1 words, 2 dimensions)"
    np.testing.assert_allclose(encoder.encode(["Heart"]), [[0.6, 0.8]], atol=1e-7)
    with pytest.raises(InvalidInput, match="encoding_errors='skip'"):
        StaticVectors.read(path, encoding_errors="skip")
    with pytest.raises(InvalidInput, match="max_words=0"):
        StaticVectors.read(path, max_words=0)


@pytest.mark.parametrize(
    ("words", "vectors", "options", "message"),
    [
        (["a"], np.zeros((2, 3), np.float32), {}, "1 words and 2 vectors"),
        ([], np.zeros((0, 3), np.float32), {}, "0 words and 0 vectors"),
        (["a"], np.zeros((1, 3)), {}, "vectors: float32 .* found float64"),
        (["a"], np.zeros(3, np.float32), {}, r"found float32 of shape \(3,\)"),
        (["a", "a"], np.zeros((2, 3), np.float32), {}, "twice"),
        (["a\nb"], np.zeros((1, 3), np.float32), {}, "line feed"),
        (
            ["a"],
            np.zeros((1, 3), np.float32),
            {"buckets": np.zeros((5, 2), np.float32), "n_min": 3, "n_max": 6},
            "buckets: float32",
        ),
        (
            ["a"],
            np.zeros((1, 3), np.float32),
            {"buckets": np.zeros((5, 3), np.float32), "n_min": 3, "n_max": 2},
            "n_max=2: a whole number of at least 3",
        ),
        (
            ["a"],
            np.zeros((1, 3), np.float32),
            {"buckets": np.zeros((5, 3), np.float32)},
            "n_min=0",
        ),
    ],
)
def test_bad_parts(
    words: list[str], vectors: np.ndarray, options: dict[str, int], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        StaticVectors(words, vectors, **options)  # type: ignore[arg-type]


def test_saved_and_opened(tmp_path: Path) -> None:
    words = ["heart", "a b", "\u2028", "\ud800", "\r", ""]
    encoder = StaticVectors(words, VECTORS, lowercase=False, buckets=BUCKETS, n_min=2, n_max=3)
    encoder.save(tmp_path / "saved")
    loaded = StaticVectors.load(tmp_path / "saved")
    assert loaded.words == words
    assert loaded.settings == {"lowercase": False, "n_min": 2, "n_max": 3}
    assert isinstance(loaded.vectors.base, mmap.mmap | np.memmap)
    names = ["heart", "attack on heart"]
    np.testing.assert_array_equal(loaded.encode(names), encoder.encode(names))


def test_a_damaged_folder(tmp_path: Path) -> None:
    encoder = StaticVectors(WORDS, VECTORS)
    encoder.save(tmp_path)
    (tmp_path / "words.txt").write_text("one\ntwo\n")
    with pytest.raises(ReadError, match="2 words and 6 vectors"):
        StaticVectors.load(tmp_path)
    (tmp_path / "words.txt").unlink()
    with pytest.raises(ReadError, match="the encoder is damaged"):
        StaticVectors.load(tmp_path)
    encoder.save(tmp_path)
    (tmp_path / "encoder.json").write_text('{"format": 1, "kind": "static", "settings": {"x": 1}}')
    with pytest.raises(ReadError, match="the encoder is damaged"):
        StaticVectors.load(tmp_path)
    (tmp_path / "encoder.json").write_text('{"format": 1, "kind": "onnx", "settings": {}}')
    with pytest.raises(Mismatch):
        StaticVectors.load(tmp_path)
