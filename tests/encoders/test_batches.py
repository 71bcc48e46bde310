"""Batches hide nothing: order and duplicates, against naive loops."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.encoders.batches import encode_in_batches, normalised
from canonym.errors import InvalidInput


def test_normalised() -> None:
    vectors = np.array([[3, 4], [0, 0], [1e-30, 0], [3e30, 4e30]], np.float32)
    found = normalised(vectors)
    np.testing.assert_allclose(found, [[0.6, 0.8], [0, 0], [1, 0], [0.6, 0.8]], atol=1e-6)
    assert found.dtype == np.float32


def encode(names: list[str], batch_size: int, seen: list[list[str]], **options: bool) -> np.ndarray:
    def embed(texts: list[str]) -> np.ndarray:
        seen.append(texts)
        return np.array([[len(text), text.count("a")] for text in texts], np.float32)

    settings = {"lowercase": False, "normalise": False} | options
    return encode_in_batches(names, embed, width=2, batch_size=batch_size, **settings)


def test_order_is_restored_and_equal_names_are_encoded_once() -> None:
    seen: list[list[str]] = []
    names = ["a", "aaa", "bb", "a", "", "aaa", "\ud800"]
    found = encode(names, 2, seen)
    assert found.tolist() == [[1, 1], [3, 3], [2, 0], [1, 1], [0, 0], [3, 3], [1, 0]]
    assert seen == [["aaa", "bb"], ["a", "\ufffd"], [""]]


def test_options() -> None:
    seen: list[list[str]] = []
    assert encode(["AA", "aa"], 9, seen, lowercase=True).tolist() == [[2, 2], [2, 2]]
    np.testing.assert_allclose(encode(["ab"], 9, seen, normalise=True), [[0.8944272, 0.4472136]])
    assert encode([], 9, seen).shape == (0, 2)


def test_a_model_that_yields_nonsense_is_refused() -> None:
    def embed(texts: list[str]) -> np.ndarray:
        return np.full((len(texts), 2), np.inf, np.float32)

    with pytest.raises(InvalidInput, match="NaN or infinity"):
        encode_in_batches(["a"], embed, width=2, batch_size=1, lowercase=False, normalise=True)
