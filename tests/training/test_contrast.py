"""The in-batch softmax against a double loop, and its gradient against differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from canonym.training.subword.losses import multi_positive_loss
from models.mention_search import marginal_loss


def naive_loss(vectors: Any, concepts: Any, texts: Any, temperature: float) -> float:
    n = len(vectors)
    losses = []
    for i in range(n):
        positives = [j for j in range(n) if j != i and concepts[j] == concepts[i]]
        if not positives:
            continue
        total = 0.0
        for k in range(n):
            hidden = texts is not None and texts[k] == texts[i] and concepts[k] != concepts[i]
            if k != i and not hidden:
                total += math.exp(float(vectors[i] @ vectors[k]) / temperature)
        losses.append(
            -sum(
                math.log(math.exp(float(vectors[i] @ vectors[j]) / temperature) / total)
                for j in positives
            )
            / len(positives)
        )
    return sum(losses) / len(losses) if losses else 0.0


def batch(n: int = 9) -> Any:
    vectors = np.random.default_rng(1).normal(size=(n, 4))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def assert_slope(gradient: Any, loss: Callable[[Any], float]) -> None:
    """Compare a gradient at the batch with the differences of a loss beside it."""
    expected = np.zeros_like(batch())
    for place in np.ndindex(expected.shape):
        step = np.zeros_like(expected)
        step[place] = 1e-6
        expected[place] = (loss(batch() + step) - loss(batch() - step)) / 2e-6
    np.testing.assert_allclose(gradient, expected, atol=1e-7)


CONCEPTS = np.array([0, 0, 0, 1, 1, 2, 3, 3, 4])
TEXTS = np.array([0, 1, 2, 3, 2, 0, 6, 7, 2])


@pytest.mark.parametrize("texts", [None, TEXTS])
@pytest.mark.parametrize("temperature", [0.05, 0.5])
def test_loss_is_that_of_a_double_loop(texts: Any, temperature: float) -> None:
    loss, _ = multi_positive_loss(batch(), CONCEPTS, texts, temperature=temperature)
    assert loss == pytest.approx(naive_loss(batch(), CONCEPTS, texts, temperature), rel=1e-10)


@pytest.mark.parametrize("texts", [None, TEXTS])
def test_gradient_is_that_of_differences(texts: Any) -> None:
    _, gradient = multi_positive_loss(batch(), CONCEPTS, texts, temperature=0.3)
    assert_slope(gradient, lambda vectors: naive_loss(vectors, CONCEPTS, texts, 0.3))


def test_by_hand() -> None:
    # Two names of one concept at right angles, a third name on the first: softmax of (0, 1).
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    loss, _ = multi_positive_loss(vectors, np.array([0, 0, 1]), temperature=1.0)
    first, second = math.log(1 + math.e), math.log(2)
    assert loss == pytest.approx((first + second) / 2)


def test_without_positives_there_is_nothing_to_learn() -> None:
    loss, gradient = multi_positive_loss(batch(3), np.array([0, 1, 2]))
    assert loss == 0
    assert not gradient.any()
    loss, gradient = multi_positive_loss(batch(1), np.array([0]))
    assert loss == 0
    assert not gradient.any()


def test_one_concept_alone_is_uniform_at_best() -> None:
    vectors = np.tile([[1.0, 0.0]], (3, 1))
    loss, gradient = multi_positive_loss(vectors, np.zeros(3, int))
    assert loss == pytest.approx(math.log(2))
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


def test_texts_of_several_concepts_are_no_negatives() -> None:
    vectors = batch(4)
    concepts = np.array([0, 0, 1, 1])
    everything_equal = np.zeros(4, int)
    loss, _ = multi_positive_loss(vectors, concepts, everything_equal)
    assert loss == pytest.approx(0)


def test_large_logits_stay_finite() -> None:
    vectors = np.array([[1, 0], [-1, 0], [1, 0]], dtype=np.float32)
    loss, gradient = multi_positive_loss(vectors, np.array([0, 0, 1]), temperature=1e-3)
    assert loss == pytest.approx((2000 + math.log(2)) / 2, rel=1e-4)
    assert np.isfinite(gradient).all()
    assert gradient.dtype == np.float32


# --- related names --------------------------------------------------------------------------------


def test_related_names_have_their_share() -> None:
    vectors = batch()
    joined = {(0, 1), (1, 0), (1, 3), (3, 1), (0, 2), (2, 0)}
    related = np.array([[(int(a), int(b)) in joined for b in CONCEPTS] for a in CONCEPTS])

    def naive(those: Any) -> float:
        total, n_used = 0.0, 0
        for i in range(9):
            seen = [
                k for k in range(9)
                if k != i and not (TEXTS[k] == TEXTS[i] and CONCEPTS[k] != CONCEPTS[i])
            ]  # fmt: skip
            masses = {k: math.exp(float(those[i] @ those[k]) / 0.3) for k in seen}
            logs = {k: math.log(mass / sum(masses.values())) for k, mass in masses.items()}
            own = [k for k in seen if CONCEPTS[k] == CONCEPTS[i]]
            others = [k for k in seen if related[i, k]]
            if not own:
                continue
            n_used += 1
            share = 0.25 if others else 0.0
            total -= (1 - share) * sum(logs[k] for k in own) / len(own)
            if others:
                total -= share * sum(logs[k] for k in others) / len(others)
        return total / n_used

    loss, gradient = multi_positive_loss(
        vectors, CONCEPTS, TEXTS, temperature=0.3, related=related, related_share=0.25
    )
    assert loss == pytest.approx(naive(vectors), rel=1e-9)
    assert_slope(gradient, naive)


# --- marginalization ------------------------------------------------------------------------------

MENTIONS = np.array([0, 4, 0])
CANDIDATES = np.array([[1, 2, 3], [2, -1, 6], [7, 8, -1]])
RIGHT = np.array([[True, False, True], [False, False, True], [True, True, False]])


def naive_marginal(vectors: Any, temperature: float) -> float:
    total = 0.0
    for mention, row, right in zip(MENTIONS, CANDIDATES, RIGHT, strict=True):
        masses = [
            math.exp(float(vectors[mention] @ vectors[one]) / temperature) if one >= 0 else 0.0
            for one in row
        ]
        total -= math.log(sum(np.array(masses)[right]) / sum(masses))
    return total / len(MENTIONS)


@pytest.mark.parametrize("temperature", [0.05, 0.5])
def test_marginal_loss_is_that_of_a_double_loop(temperature: float) -> None:
    loss, _ = marginal_loss(batch(), MENTIONS, CANDIDATES, RIGHT, temperature=temperature)
    assert loss == pytest.approx(naive_marginal(batch(), temperature), rel=1e-10)


def test_marginal_gradient_is_that_of_differences() -> None:
    _, gradient = marginal_loss(batch(), MENTIONS, CANDIDATES, RIGHT, temperature=0.3)
    assert_slope(gradient, lambda vectors: naive_marginal(vectors, 0.3))


def test_marginal_loss_is_that_of_the_torch_one() -> None:
    torch = pytest.importorskip("torch")
    from canonym.training.losses import marginal_likelihood

    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(12, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    candidates, right = np.arange(2, 12).reshape(2, 5), rng.random((2, 5)) < 0.5
    right[:, 0] = True
    loss, _ = marginal_loss(vectors, np.arange(2), candidates, right, temperature=0.1)
    scores = np.einsum("md,mkd->mk", vectors[:2], vectors[candidates]) / 0.1
    theirs = marginal_likelihood(torch.from_numpy(scores), torch.from_numpy(right))
    assert loss == pytest.approx(float(theirs), rel=1e-6)


def test_no_mention_has_no_loss() -> None:
    none = np.empty((0, 3), dtype=np.int64)
    loss, gradient = marginal_loss(batch(), none[:, 0], none, none.astype(bool))
    assert (loss, gradient.any()) == (0.0, False)
