"""The number of lists that a search looks at, measured on the rows of an index themselves.

A sample of rows is searched as if each were the name of a mention that the index does not know: its
own row, and rows equal to it, do not count. What is found is compared with the exact answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.indexes.exact import Exact
from canonym.types import Float32Array, Int32Array

GOAL = 0.99
"""Share of searches that have to find the nearest row."""

_SAMPLE = 1000
_BLOCK = 128
_FETCHED = 20  # rows, of which the first ten that count are looked for
_EQUAL = 1 - 1e-6


class Recall(NamedTuple):
    """How many lists a search looks at, and what share of rows it finds of the first, or ten."""

    probes: int
    at_1: float
    at_10: float

    def save(self, path: Path) -> None:
        """Write a JSON file."""
        path.write_text(json.dumps(self._asdict(), indent=2) + "\n", encoding="ascii")

    @classmethod
    def load(cls, path: Path, n_lists: int) -> Recall:
        """Read a JSON file; refuse numbers that cannot be."""
        try:
            content = json.loads(path.read_text(encoding="ascii"))
            recall = cls(**content)
        except (OSError, ValueError, TypeError) as error:
            raise ReadError(path, f"cannot be opened ({error}); build the index again") from error
        shares = all(isinstance(share, float) and 0 <= share <= 1 for share in recall[1:])
        if (
            type(recall.probes) is not int
            or not min(1, n_lists) <= recall.probes <= n_lists
            or not shares
        ):
            raise ReadError(
                path,
                f"holds {content}, expected 1 to {n_lists:,} probes and two shares; it is damaged, "
                "build the index again",
            )
        return recall


def measure_recall(
    vectors: Float32Array,
    centres: Exact,
    lists: Int32Array,
    report: Callable[[int, int], None],
) -> Recall:
    """Return the fewest lists with which a search reaches `GOAL`, and the recall with them.

    `lists` ``(n, copies)`` are the lists of every row. The sample is drawn with a fixed seed. Where
    nothing can be measured, a search looks at all lists.
    """
    rng = np.random.default_rng(0)
    sample = np.sort(rng.choice(len(vectors), min(_SAMPLE, len(vectors)), replace=False))
    firsts, further = [], []
    for start in range(0, len(sample), _BLOCK):
        report(start, len(sample))
        queries = np.asarray(vectors[sample[start : start + _BLOCK]], dtype=np.float32)
        first, ten = _probes_needed(queries[queries.any(axis=1)], Exact(vectors), centres, lists)
        firsts.append(first)
        further.append(ten)
    report(len(sample), len(sample))
    first, ten = np.concatenate(firsts), np.concatenate(further)
    if not len(first):
        return Recall(centres.n_rows, 1.0, 1.0)
    probes = int(np.sort(first)[math.ceil(GOAL * len(first)) - 1])
    at_1, at_10 = (round(float((needed <= probes).mean()), 4) for needed in (first, ten))
    return Recall(probes, at_1, at_10)


def _probes_needed(
    queries: Float32Array, index: Exact, centres: Exact, lists: Int32Array
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return how many lists find the nearest other row of each query, and each of the first ten."""
    n_lists = centres.n_rows
    hits = index.search(queries, min(_FETCHED, index.n_rows))
    order = centres.search(queries, n_lists).rows
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(1, n_lists + 1, dtype=np.int32)[None], axis=1)
    needed = rank[np.arange(len(queries))[:, None, None], lists[hits.rows]].min(axis=2)
    counts = hits.scores < _EQUAL
    place = np.cumsum(counts, axis=1)
    best = np.where(counts, hits.scores, -np.inf).max(axis=1, keepdims=True)
    nearest = np.where(counts & (hits.scores == best), needed, n_lists + 1).min(axis=1)
    return nearest[counts.any(axis=1)], needed[counts & (place <= 10)]
