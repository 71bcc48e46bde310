"""Reliability, calibration error, and risk against coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.evaluation.certainty import ece, reliability, risk_coverage

RELAXED = settings(deadline=None, max_examples=60)

MENTIONS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 0.9, 1.0]), st.booleans()),
    min_size=1,
    max_size=30,
)


def test_bins_of_equal_width_by_hand() -> None:
    found = reliability([0.0, 0.2, 0.7, 0.7, 0.71, 1.0], [0, 1, 1, 0, 1, 1])
    assert found.edges.tolist() == [i / 10 for i in range(11)]
    # 0.7 is the upper edge of its bin, whatever floating point makes of 7 · 0.1.
    assert found.counts.tolist() == [1, 1, 0, 0, 0, 0, 2, 1, 0, 1]
    assert found.accuracy[[0, 1, 6, 7, 9]].tolist() == [0, 1, 0.5, 1, 1]
    assert found.confidence[[0, 1, 6, 7, 9]].tolist() == [0, 0.2, 0.7, 0.71, 1]
    assert np.isnan(found.accuracy[2])
    expected = (0 + 0.8 + 2 * 0.2 + 0.29 + 0) / 6
    assert ece([0.0, 0.2, 0.7, 0.7, 0.71, 1.0], [0, 1, 1, 0, 1, 1]) == pytest.approx(expected)


def test_bins_of_equal_mass_by_hand() -> None:
    confidence = [0.1, 0.2, 0.3, 0.4, 0.9, 0.95]
    found = reliability(confidence, [0, 0, 1, 0, 1, 1], n_bins=3, binning="mass")
    assert found.edges.tolist() == [0, 0.2, 0.4, 1]
    assert found.counts.tolist() == [2, 2, 2]
    assert found.accuracy.tolist() == [0, 0.5, 1]
    value = ece(confidence, [0, 0, 1, 0, 1, 1], n_bins=3, binning="mass")
    assert value == pytest.approx((0.15 + 0.15 + 0.075) / 3)


def test_equal_confidences_share_a_bin() -> None:
    found = reliability([0.5] * 7 + [0.9], [1, 1, 0, 0, 0, 0, 0, 1], n_bins=4, binning="mass")
    assert found.counts.tolist() == [7, 1]
    assert found.edges.tolist() == [0, 0.5, 1]
    zeros = reliability([0.0, 0.0, 0.4], [0, 1, 1], n_bins=3, binning="mass")
    assert zeros.edges.tolist() == [0, 0, 1]
    assert zeros.counts.tolist() == [2, 1]


@RELAXED
@given(MENTIONS, st.integers(1, 12), st.sampled_from(["width", "mass"]))
def test_ece_is_its_definition(mentions: list[tuple[float, bool]], n: int, binning: str) -> None:
    sure, right = (np.array(side, dtype=float) for side in zip(*mentions, strict=True))
    found = reliability(sure, right, n_bins=n, binning=binning)
    assert found.counts.sum() == len(sure)
    total = 0.0
    for i, (low, high) in enumerate(zip(found.edges, found.edges[1:], strict=False)):
        inside = (sure <= high) & ((sure > low) if i else (sure >= low))
        assert inside.sum() == found.counts[i]
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - sure[inside].mean())
        else:
            assert binning == "width"
    assert ece(sure, right, n_bins=n, binning=binning) == pytest.approx(total)
    turned = ece(sure[::-1], right[::-1], n_bins=n, binning=binning)
    assert turned == pytest.approx(total, abs=1e-12)


def test_calibrated_confidence_has_a_small_error() -> None:
    rng = np.random.default_rng(0)
    sure = rng.random(50_000)
    right = rng.random(50_000) < sure
    for binning in ("width", "mass"):
        assert ece(sure, right, binning=binning) < 0.01
        assert ece(sure**0.5, right, binning=binning) > 0.1


def test_risk_and_coverage_by_hand() -> None:
    found = risk_coverage([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 0])
    assert found.coverage.tolist() == [0.25, 0.5, 0.75, 1]
    assert found.risk.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert found.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert found.excess == pytest.approx(found.area - (0 + 0 + 1 / 3 + 1 / 2) / 4)


def test_the_best_order_has_no_excess_and_a_constant_score_the_overall_risk() -> None:
    right = np.array([1, 1, 1, 0, 0])
    assert risk_coverage([5, 4, 3, 2, 1], right).excess == 0
    flat = risk_coverage(np.zeros(5), right)
    assert flat.risk.tolist() == pytest.approx([0.4] * 5)
    assert flat.area == pytest.approx(0.4)
    assert risk_coverage([-3.0, 2.0], [1, 1])[2:] == (0, 0)
    assert risk_coverage([1, 2], [0, 0])[2:] == (1, 0)


@RELAXED
@given(MENTIONS, st.randoms(use_true_random=False))
def test_the_area_is_the_mean_over_orders_of_ties(
    mentions: list[tuple[float, bool]], random: object
) -> None:
    sure, right = (np.array(side, dtype=float) for side in zip(*mentions, strict=True))
    found = risk_coverage(sure, right)
    shuffled = random.sample(mentions, len(mentions))  # type: ignore[attr-defined]
    again = risk_coverage(*zip(*shuffled, strict=True))
    assert found.area == pytest.approx(again.area)
    assert found.risk[-1] == pytest.approx(1 - right.mean())
    rng = np.random.default_rng(0)
    areas = []
    for _ in range(300):
        order = np.lexsort((rng.random(len(sure)), -sure))
        areas.append((np.cumsum(1 - right[order]) / np.arange(1, len(sure) + 1)).mean())
    assert found.area == pytest.approx(np.mean(areas), abs=0.08)
    assert found.excess >= 0


@RELAXED
@given(MENTIONS, st.data())
def test_a_mention_turned_wrong_never_lowers_the_area(
    mentions: list[tuple[float, bool]], data: st.DataObject
) -> None:
    i = data.draw(st.integers(0, len(mentions) - 1))
    worse = [*mentions]
    worse[i] = (mentions[i][0], False)
    before = risk_coverage(*zip(*mentions, strict=True))
    after = risk_coverage(*zip(*worse, strict=True))
    assert after.area >= before.area - 1e-12
    if mentions[i][1]:
        assert after.area > before.area


@pytest.mark.parametrize(
    ("confidence", "right", "options", "said"),
    [
        ([], [], {}, "no mentions to evaluate"),
        ([0.1], [1, 0], {}, r"shape \(1,\) and what is right \(2,\)"),
        ([[0.1]], [[1]], {}, "one number per mention"),
        ([0.1, np.nan], [1, 0], {}, "score 1 is nan"),
        ([0.1], [2], {}, "outside 0 to 1"),
        ([0.1], [np.nan], {}, "outside 0 to 1"),
        ([0.1, 1.2], [1, 0], {}, "confidence goes from 0.1 to 1.2"),
        ([-0.1], [1], {}, "calibrate the scores first"),
        ([0.1], [1], {"n_bins": 0}, "n_bins is 0"),
        ([0.1], [1], {"binning": "depth"}, "no binning 'depth'"),
    ],
)
def test_what_is_refused(
    confidence: list[float], right: list[float], options: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        reliability(confidence, right, **options)  # type: ignore[arg-type]
