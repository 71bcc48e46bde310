"""Hard neighbours against a search by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from canonym.training.sampling import groups as neighbours
from canonym.training.sampling.groups import find_hard_neighbours


def unit(n: int, seed: int) -> Any:
    vectors = np.random.default_rng(seed).normal(size=(n, 6)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


VECTORS = unit(60, 0)
CONCEPTS = (np.arange(60) % 11).astype(np.int32)
SOURCES = np.array([1, 2, 3])[np.arange(60) % 3]


@pytest.mark.parametrize("with_sources", [True, False])
@pytest.mark.parametrize("block", [7, 1024])
def test_each_part_gives_its_nearest_allowed_name(
    monkeypatch: pytest.MonkeyPatch, with_sources: bool, block: int
) -> None:
    monkeypatch.setattr(neighbours, "_BLOCK", block)
    rows = np.arange(0, 60, 3)
    found = find_hard_neighbours(
        VECTORS[rows],
        CONCEPTS[rows],
        VECTORS,
        CONCEPTS,
        np.random.default_rng(5),
        k=4,
        query_sources=SOURCES[rows] if with_sources else None,
        sources=SOURCES if with_sources else None,
    )
    parts = np.array_split(np.random.default_rng(5).permutation(60), 4)
    for place, row in enumerate(rows):
        for column, part in enumerate(parts):
            allowed = [
                other
                for other in part
                if CONCEPTS[other] != CONCEPTS[row]
                and (not with_sources or SOURCES[other] & SOURCES[row])
            ]
            best = max(allowed, key=lambda other: float(VECTORS[row] @ VECTORS[other]))
            assert found[place, column] == best


def test_minus_one_where_there_is_none() -> None:
    one = np.zeros(3, np.int32)
    found = find_hard_neighbours(VECTORS[:3], one, VECTORS[:3], one, np.random.default_rng(0), k=5)
    assert found.tolist() == [[-1] * 5] * 3
