"""Functions and sums of fixed operations, against those of `math` and NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.io.numbers import (
    exp,
    first_largest,
    largest_product,
    log,
    rounded,
    weighted_sum,
)


def units_apart(ours: np.ndarray, exact: list[float]) -> float:
    """Return the largest difference in units in the last place."""
    return float((np.abs(ours - exact) / np.spacing(np.abs(exact))).max())


@given(st.lists(st.floats(-700, 700), min_size=1))
def test_exponentials_are_those_of_math(values: list[float]) -> None:
    assert units_apart(exp(values), [math.exp(value) for value in values]) <= 2


@given(st.lists(st.floats(1e-300, 1e300), min_size=1))
def test_logarithms_are_those_of_math(values: list[float]) -> None:
    exact = [math.log(value) for value in values]
    far = [place for place, value in enumerate(exact) if value]
    assert log(values)[[place for place in range(len(exact)) if place not in far]].tolist() == [
        0.0
    ] * (len(exact) - len(far))
    if far:
        assert units_apart(log(values)[far], [exact[place] for place in far]) <= 4


def test_what_lies_beyond() -> None:
    assert exp([-math.inf, -800.0, -746.0, 0.0]).tolist() == [0, 0, 0, 1]
    assert exp(-745.0) == pytest.approx(math.exp(-745), rel=0.5)  # few bits are left
    assert np.isnan(log([math.nan, 1.0])).tolist() == [True, False]
    assert log(np.array([[1, 2], [4, 8]])).shape == (2, 2)
    assert exp(np.empty((0, 3))).shape == (0, 3)


def test_logarithms_and_exponentials_rise() -> None:
    places = np.linspace(0.4, 3, 100_001)
    assert (np.diff(log(places)) >= 0).all()
    assert (np.diff(exp(-places)) <= 0).all()


@given(st.integers(0, 1000), st.integers(1, 9))
def test_a_weighted_sum_is_the_product_row_by_row(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    table, weights = rng.normal(size=(40, width)), rng.normal(size=width)
    whole = weighted_sum(table, weights)
    np.testing.assert_allclose(whole, table @ weights, atol=1e-12)
    assert [weighted_sum(row[None], weights)[0] for row in table] == whole.tolist()
    assert weighted_sum(np.asfortranarray(table), weights).tolist() == whole.tolist()


def test_the_largest_product() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(4, 9)), rng.normal(size=(5, 9))
    assert largest_product(one, other) == round(float((one @ other.T).max()), 6)
    assert math.isnan(largest_product(one, np.empty((0, 9))))


def test_of_equal_vectors_the_first_is_the_largest() -> None:
    rng = np.random.default_rng(0)
    queries = rng.normal(size=(40, 64)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    names = np.concatenate([queries[::-1], queries, queries])  # each of them three times
    nearly = queries @ names.T + rng.choice([-2e-7, 0, 2e-7], size=(40, 120)).astype(np.float32)
    assert first_largest(nearly).tolist() == list(range(39, -1, -1))
    assert first_largest(np.array([[0.1, 0.3, 0.2]])).tolist() == [1]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.12344, "0.1234"), (0.12346, "0.1235"), (-0.00004, "0.0"), (0.0, "0.0"),
        (-0.0, "0.0"), (1.0, "1.0"), (math.nan, "nan"), (-math.inf, "-inf"), (-2.00006, "-2.0001"),
    ],
)  # fmt: skip
def test_rounded_numbers(value: float, expected: str) -> None:
    assert str(rounded([value], 4)[0].item()) == expected
