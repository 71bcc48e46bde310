"""Products of 16 bits propose rows; what is found is the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.indexes import exact
from canonym.indexes.exact import Exact
from canonym.training import half_products
from canonym.training.half_products import HalfProducts, nearest_index

pytest.importorskip("torch")


def unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def crowded(n: int) -> np.ndarray:
    """Vectors of which many are hardly apart, some equal, some zero."""
    rng = np.random.default_rng(n)
    vectors = rng.standard_normal((n // 50 + 1, 24))[rng.integers(n // 50 + 1, size=n)]
    vectors += rng.standard_normal((n, 24)) * 10.0 ** rng.integers(-9, -1, (n, 1))
    vectors[rng.random(n) < 0.02] = 0
    return unit(vectors)


@pytest.mark.parametrize("n", [3, 700, 9000])
@pytest.mark.parametrize("k", [1, 20])
def test_answers_are_those_of_single_precision(
    n: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "_ROW_BLOCK", 4000)
    vectors = crowded(n)
    queries = np.concatenate([vectors[:40], crowded(90)])
    for allowed in (None, np.arange(n) % 3 > 0, np.arange(n) % 20 == 1):
        one = Exact(vectors).search(queries, k, allowed=allowed)
        other = HalfProducts(vectors).search(queries, k, allowed=allowed)
        assert one.rows.tobytes() == other.rows.tobytes()
        assert one.scores.tobytes() == other.scores.tobytes()


def test_the_error_is_below_what_is_allowed_for() -> None:
    rng = np.random.default_rng(2)
    # Numbers in the middle between two that 8 bits have are off the most.
    middle = np.full(60, (1 + 2.0**-8) / 8)
    rest = np.full(4, np.sqrt((1 - middle @ middle) / 4))
    worst = np.concatenate([middle, rest])[None].astype(np.float32)
    for vectors in (worst, unit(rng.standard_normal((500, 64)))):
        off = np.abs(HalfProducts(vectors).product(vectors, slice(None)) - vectors @ vectors.T)
        assert off.max() <= HalfProducts.slack / 2
        assert off.max() > 1e-4  # it is another number


def test_the_faster_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(nearest_index(crowded(50))) is Exact
    monkeypatch.setattr(half_products, "_TRIED", 100)
    for faster in (Exact, HalfProducts):
        monkeypatch.setattr(
            half_products, "_seconds", lambda index, _, kind=faster: float(type(index) is not kind)
        )
        found = nearest_index(crowded(200))
        assert type(found) is faster
        assert found.n_rows == 200
