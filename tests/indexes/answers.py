"""Answers that have to be the same to the bit, and rows that only exact scores tell apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from canonym.indexes.exact import Exact
from canonym.types import Hits


def same(one: Hits, other: Hits) -> bool:
    """Tell whether two answers are equal to the bit."""
    return one.rows.tobytes() == other.rows.tobytes() and (
        one.scores.tobytes() == other.scores.tobytes()
    )


def saved(vectors: np.ndarray, folder: Path, kind: type[Exact] = Exact) -> Exact:
    """Return an index that was saved and opened again."""
    folder.mkdir(exist_ok=True)
    kind.build(vectors).save(folder)
    return kind.load(folder)


def near_rows(
    rng: np.random.Generator, n: int, width: int, spread: float, *, repeated: float | None = None
) -> np.ndarray:
    """Draw rows, the nearer to each other the smaller the spread; some equal and one of zeros."""
    rows = (1 + spread * rng.standard_normal((n, width))).astype(np.float32)
    if repeated is None:
        rows[rng.integers(n)] = rows[rng.integers(n)]
    else:
        of_another = rng.random(n) < repeated
        rows[of_another] = rows[rng.integers(n, size=np.count_nonzero(of_another))]
    rows[rng.integers(n)] = 0
    return rows
