"""Cohen's kappa of two annotators."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from canonym.errors import InvalidInput
from canonym.types import Document, Mention
from reproduce.measures.agreement import annotator_agreement, cohen_kappa

metrics = pytest.importorskip("sklearn.metrics")


def by_the_formula(first: list[str], second: list[str]) -> tuple[float, float]:
    """Return kappa and its standard error from the whole table, as the papers print them."""
    names = sorted({*first, *second})
    table = np.zeros((len(names), len(names)))
    for one, other in zip(first, second, strict=True):
        table[names.index(one), names.index(other)] += 1 / len(first)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    chance = float(rows @ columns)
    kappa = (float(np.trace(table)) - chance) / (1 - chance)
    total = 0.0
    for i in range(len(names)):
        for j in range(len(names)):
            if i == j:
                total += table[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2
            else:
                total += (1 - kappa) ** 2 * table[i, j] * (columns[i] + rows[j]) ** 2
    total -= (kappa - chance * (1 - kappa)) ** 2
    return kappa, math.sqrt(total / len(first)) / (1 - chance)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_that_of_the_papers_and_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = [f"D{n}" for n in rng.integers(0, 6, 80)]
    second = [one if rng.random() < 0.7 else f"D{rng.integers(0, 7)}" for one in first]
    found = cohen_kappa(first, second, level=0.9)
    kappa, error = by_the_formula(first, second)
    assert found.kappa.value == pytest.approx(kappa)
    assert found.kappa.value == pytest.approx(metrics.cohen_kappa_score(first, second))
    assert found.kappa.high - found.kappa.low == pytest.approx(2 * ndtri(0.95) * error)


def test_the_ends_of_the_scale() -> None:
    assert cohen_kappa(["a", "b"], ["a", "b"]).kappa == (1, 1, 1)
    assert cohen_kappa(["a", "b"], ["b", "a"]).kappa.value == -1
    assert math.isnan(cohen_kappa(["a", "a"], ["a", "a"]).kappa.value)
    assert cohen_kappa(["a", "a", "b", "b"], ["a", "b", "a", "b"]).kappa.value == 0


@pytest.mark.parametrize(("first", "second"), [([], []), (["a"], ["a", "b"])])
def test_bad_sequences(first: list[str], second: list[str]) -> None:
    with pytest.raises(InvalidInput, match="equally long"):
        cohen_kappa(first, second)
    with pytest.raises(InvalidInput, match="level"):
        cohen_kappa(["a"], ["a"], level=1)


def mention(start: int, *ids: str, rule: str = "any") -> Mention:
    return Mention("x", start, start + 1, "", ids, rule, "1")


def test_two_annotations_of_the_same_documents() -> None:
    first = [
        mention(0, "D1", "D2", rule="all"),
        mention(2, "D1", "D2", rule="any"),
        mention(4, rule="nil"),
        mention(6, "D3", rule="all"),
        mention(6, "D4"),
        mention(8, "D5"),
    ]
    second = [
        mention(6, "D3"),
        mention(6, "D9"),
        mention(4),
        mention(0, "D2", "D1", rule="all"),
        mention(2, "D1", "D2", rule="all"),
        mention(10, "D5"),
        mention(12, "D5"),
    ]
    found = annotator_agreement([Document("1", "x" * 20, tuple(first))], second)
    assert (found.n, found.n_first, found.n_second) == (5, 1, 2)
    assert found.agreement == 2 / 5
    with pytest.raises(InvalidInput, match="of 1 and 1 mentions none are the same"):
        annotator_agreement([mention(0)], [mention(1)])
