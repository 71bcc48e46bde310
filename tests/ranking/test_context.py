"""What surroundings say of concepts of one name: the sum, the order, nearness in a hierarchy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.linking.homonyms import ANYWAY, EVIDENCE, TRUSTED, WEIGHTS, kinship, weigh

NONE = [0.0] * len(EVIDENCE)


def only(kind: str, value: float) -> list[float]:
    return [value if kind == one else 0.0 for one in EVIDENCE]


@pytest.mark.parametrize("kind", EVIDENCE)
def test_every_kind_of_evidence_can_put_another_concept_first(kind: str) -> None:
    enough = (ANYWAY + 0.01) / WEIGHTS[EVIDENCE.index(kind)]
    found = weigh([NONE, only(kind, enough), NONE])
    assert found is not None
    worth, order = found
    assert order == [1, 0, 2]
    assert worth.shape == (3, len(EVIDENCE) + 2)
    assert worth[1].sum() == pytest.approx(ANYWAY + 0.01 + TRUSTED)
    assert worth[0].tolist() == [*NONE, TRUSTED, ANYWAY]
    little = weigh([NONE, only(kind, 0.9 * ANYWAY / WEIGHTS[EVIDENCE.index(kind)]), NONE])
    assert little is not None
    assert little[1] == [0, 1, 2]


def test_a_less_trusted_scope_needs_more() -> None:
    evidence = [NONE, only("types", (ANYWAY + TRUSTED / 2) / WEIGHTS[EVIDENCE.index("types")])]
    alike, other = weigh(evidence), weigh(evidence, trusted=[True, False])
    assert alike is not None
    assert other is not None
    assert (alike[1], other[1]) == ([1, 0], [0, 1])


def test_nothing_is_said_where_all_evidence_is_the_same() -> None:
    assert weigh([NONE, NONE], trusted=[True, False]) is None
    assert weigh([[0.3, math.nan, 0, 1]] * 3) is None
    assert weigh([only("types", 1)]) is None
    assert weigh(np.empty((0, len(EVIDENCE)))) is None


def test_what_is_not_known_is_the_mean_of_what_is() -> None:
    found = weigh([[math.nan, 0, 0, 0], [0.2, 0, 0, 0], [0.6, 0, 0, 0]], weights=[1, 1, 1, 1])
    assert found is not None
    assert found[0][:, 0] == pytest.approx([0.4, 0.2, 0.6])
    # Of one concept alone it is known: then it tells it from nothing.
    assert weigh([[math.nan, 0, 0, 0], [0.6, 0, 0, 0]]) is None


def test_equal_scores_keep_their_order() -> None:
    found = weigh([NONE, only("types", 0.5), only("types", 0.5 + 1e-9), only("types", 1)])
    assert found is not None
    assert found[1] == [3, 1, 2, 0]


def test_evidence_of_another_shape_is_refused() -> None:
    for evidence, trusted in (([[0.0, 1.0]], None), ([0.0] * 4, None), ([NONE, NONE], [True])):
        with pytest.raises(InvalidInput, match="a row for each concept"):
            weigh(evidence, trusted=trusted)


def test_the_nearest_of_others_counts() -> None:
    above = {"a": 0, "b": 1, "c": 2}
    assert kinship(above, [{"a": 0, "b": 1}]) == 1
    assert kinship(above, [{"b": 0, "c": 1}]) == 1 / 2
    assert kinship(above, [{"z": 0}, {"x": 0, "y": 1, "c": 2}, {"w": 0, "b": 3}]) == 1 / 5
    assert kinship(above, [{"z": 0}]) == 0
    assert kinship(above, []) == 0
