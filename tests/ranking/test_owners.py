from __future__ import annotations

import numpy as np

from canonym.ranking.owners import RowsByConcept


def test_rows_come_by_concept_and_rise() -> None:
    rows = RowsByConcept(np.array([2, 0, 2, 3, 0], dtype=np.int32))
    assert [rows.of(concept).tolist() for concept in range(5)] == [[1, 4], [], [0, 2], [3], []]
    assert RowsByConcept(np.zeros(0, dtype=np.int32)).of(0).tolist() == []
