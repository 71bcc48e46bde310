"""Conceptual similarity against a naive loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from canonym.errors import InvalidInput
from reproduce.measures import mcsm as module
from reproduce.measures.mcsm import mcsm


def _naive(
    vectors: np.ndarray, types: list[set[str]], k: int
) -> tuple[dict[str, float], dict[str, int]]:
    names = sorted(set().union(*types))
    lengths = np.linalg.norm(vectors, axis=1)
    sums, counts = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0)
    for v in range(len(vectors)):
        others = [u for u in range(len(vectors)) if u != v and lengths[u] > 0]
        cosines = {u: vectors[u] @ vectors[v] / (lengths[u] * lengths[v] or 1) for u in others}
        nearest = sorted(others, key=lambda u: (-round(float(cosines[u]), 6), u))[:k]
        for name in types[v]:
            counts[name] += 1
            if lengths[v] > 0:
                sums[name] += sum(
                    (name in types[u]) / math.log2(i + 1) for i, u in enumerate(nearest, start=1)
                )
    return {name: sums[name] / counts[name] for name in names}, counts


@pytest.mark.parametrize("k", [1, 5, 40, 300])
@pytest.mark.parametrize("block", [7, 4096])
def test_agrees_with_the_naive_loop(k: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    rng = np.random.default_rng(k)
    vectors = rng.normal(size=(90, 6)).astype(np.float32)
    vectors[[3, 30]] = 0
    types = [
        set(rng.choice(["a", "b", "c"], size=rng.integers(0, 3), replace=False).tolist())
        for _ in vectors
    ]
    found = mcsm(vectors, types, k=k)
    scores, counts = _naive(vectors.astype(np.float64), types, k)
    assert found.scores == pytest.approx(scores)
    assert found.n == counts
    assert found.missing == {name: sum(name in types[v] for v in (3, 30)) for name in "abc"}
    assert found.maximum == pytest.approx(sum(1 / math.log2(i + 1) for i in range(1, k + 1)))
    assert all(0 <= score <= found.maximum for score in found.scores.values())


def test_points_by_hand() -> None:
    # Along a quarter circle: a a b a.
    angles = np.radians([0, 10, 25, 45])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1) * [[1], [5], [2], [0.1]]
    found = mcsm(vectors, ["a", "a", "b", "a"], k=2)
    second = 1 / math.log2(3)
    # 0° sees 10° (a), 25° (b); 10° sees 0° (a), 25° (b); 45° sees 25° (b), 10° (a); 25° sees none.
    assert found.scores == pytest.approx({"a": (1 + 1 + second) / 3, "b": 0})
    assert found.n == {"a": 3, "b": 1}


def test_the_maximum_of_forty_neighbours() -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 3))
    found = mcsm(vectors, ["one"] * 50)
    assert found.k == 40
    assert found.scores["one"] == pytest.approx(found.maximum)
    assert found.maximum == pytest.approx(11.09, abs=0.01)


def test_equal_vectors_are_neighbours_by_row() -> None:
    # More equal vectors than places: the concept itself may not be among its nearest rows.
    vectors = np.ones((6, 2))
    types = ["a", "a", "b", "b", "b", "b"]
    found = mcsm(vectors, types, k=2)
    assert found.scores == pytest.approx(_naive(vectors, [{t} for t in types], 2)[0])
    assert found.scores["b"] == 0


def test_types_that_are_not_wanted_are_neighbours_all_the_same() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(40, 4))
    types = [("a", "b", "c")[i % 3] for i in range(40)]
    everything = mcsm(vectors, types, k=7)
    some = mcsm(vectors, types, k=7, of=["c", "a"])
    assert list(some.scores) == ["a", "c"]
    assert all(some.scores[name] == pytest.approx(everything.scores[name]) for name in "ac")


def test_one_concept_has_no_neighbours() -> None:
    assert mcsm(np.ones((1, 2)), ["a"], k=3).scores == {"a": 0}
    assert mcsm(np.ones((2, 2)), [set(), []], k=3).scores == {}


@pytest.mark.parametrize(
    ("vectors", "types", "options", "said"),
    [
        (np.ones((0, 2)), [], {}, "no concepts to evaluate"),
        (np.ones((2, 2)), ["a"], {}, "types for 1 concepts"),
        (np.ones(2), ["a", "b"], {}, r"shape \(2,\)"),
        (np.ones((2, 2)), ["a", "b"], {"k": 0}, "k is 0"),
        (np.ones((2, 2)), ["a", "b"], {"of": ["c"]}, "no concept has the type 'c'"),
        (np.full((2, 2), np.nan), ["a", "b"], {}, "not finite"),
    ],
)
def test_what_is_refused(
    vectors: np.ndarray, types: list[str], options: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        mcsm(vectors, types, **options)  # type: ignore[arg-type]
