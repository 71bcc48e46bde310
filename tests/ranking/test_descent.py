"""Least values, against those that SciPy finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as reference
from scipy.optimize import rosen, rosen_der

from canonym.ranking.descent import minimise


@given(st.integers(0, 1000), st.integers(1, 30))
def test_the_least_value_is_that_of_scipy(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    table, aim = rng.normal(size=(2 * width, width)), rng.normal(size=2 * width)

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        away = table @ x - aim
        value = float(np.sqrt(1 + away**2).sum() + (x**2).sum() / 20)
        return value, table.T @ (away / np.sqrt(1 + away**2)) + x / 10

    ours = minimise(loss, np.zeros(width), iterations=500)
    theirs = reference(loss, np.zeros(width), jac=True, method="L-BFGS-B")
    assert loss(ours)[0] == pytest.approx(theirs.fun, rel=1e-6)


def test_a_bent_valley_is_followed_to_its_end() -> None:
    end = minimise(lambda x: (float(rosen(x)), rosen_der(x)), np.full(4, -1.2), iterations=1000)
    assert rosen(end) < 1e-6 or rosen(end) == pytest.approx(3.7014, abs=1e-3)  # another valley


def test_a_start_at_the_end_stays() -> None:
    def bowl(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float((x**2).sum()), 2 * x

    assert minimise(bowl, np.zeros(3), iterations=9).tolist() == [0, 0, 0]
    assert np.abs(minimise(bowl, np.full(3, 5.0), iterations=1)).max() < 5


def test_a_function_that_never_falls_ends_at_once() -> None:
    # The gradient points the wrong way: no step is good.
    start = np.ones(2)
    end = minimise(lambda x: (float((x**2).sum()), -2 * x), start, iterations=9)
    assert end.tolist() == [1, 1]
