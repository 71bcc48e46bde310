from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from canonym.errors import InvalidInput
from reproduce.measures.logistic import fit_logistic, solve_definite


@given(st.integers(0, 1000), st.sampled_from([0.01, 1.0, 30.0]))
def test_a_logistic_regression_is_that_of_scikit_learn(seed: int, ridge: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(80, 3)) * [1, 5, 0.2]
    y = rng.random(80) < 1 / (1 + np.exp(-(x[:, 0] + 0.5)))
    y[:2] = True, False
    theirs = LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=10_000).fit(x, y)
    ours = fit_logistic(x, y, ridge=ridge)
    np.testing.assert_allclose(ours.predict(x), theirs.predict_proba(x)[:, 1], atol=2e-5)
    np.testing.assert_allclose(ours.weights, theirs.coef_[0], atol=1e-3)
    np.testing.assert_allclose(ours.logit(x), theirs.decision_function(x), atol=1e-3)


def test_targets_may_lie_between() -> None:
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(60, 2)), rng.random(60)
    # The same as every observation twice, as 1 and as 0, with weights.
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(
        np.vstack([x, x]), np.repeat([1, 0], 60), sample_weight=np.concatenate([t, 1 - t])
    )
    ours = fit_logistic(x, t)
    np.testing.assert_allclose(ours.predict(x), theirs.predict_proba(x)[:, 1], atol=2e-5)


def test_separable_and_one_sided_data_have_a_solution() -> None:
    x = np.linspace(-1, 1, 40)[:, None] * 1000
    fitted = fit_logistic(x, x[:, 0] > 0, ridge=1e-6)
    assert np.isfinite(fitted.weights).all()
    assert fitted.predict([[-1000], [1000]]) == pytest.approx([0, 1], abs=1e-6)
    assert fit_logistic([[1.0], [2.0]], [1, 1]).predict([[5.0]])[0] > 0.99


def test_what_cannot_be_fitted_is_refused() -> None:
    for x, t in (([1.0], [1]), ([[1.0]], [1, 0]), (np.empty((0, 2)), [])):
        with pytest.raises(InvalidInput, match="features have the shape"):
            fit_logistic(x, t)
    for x, t in (([[np.inf]], [1]), ([[1.0]], [2])):
        with pytest.raises(InvalidInput, match="finite features"):
            fit_logistic(x, t)
    with pytest.raises(InvalidInput, match="ridge is 0"):
        fit_logistic([[1.0]], [1], ridge=0)


@given(st.integers(0, 1000), st.integers(1, 20))
def test_a_definite_system_is_solved(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(2 * width, width))
    matrix, right = table.T @ table + np.eye(width), rng.normal(size=width)
    np.testing.assert_allclose(
        solve_definite(matrix, right), np.linalg.solve(matrix, right), rtol=1e-6, atol=1e-9
    )
