"""Intervals and tests against naive formulas and the enumeration of all samples."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.evaluation import ScoredMention, columns
from canonym.evaluation import statistics as resampling
from canonym.evaluation.slices import figures
from canonym.evaluation.statistics import (
    SMALL,
    bootstrap,
    bootstrap_test,
    bound,
    mcnemar,
    paired_bootstrap,
    ratios,
    resample_counts,
    resample_sums,
    wilson,
)

RELAXED = settings(deadline=None, max_examples=60)

BINARY = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


# --- McNemar --------------------------------------------------------------------------------------


@RELAXED
@given(BINARY)
def test_mcnemar_counts_what_only_one_has_right(pairs: list[tuple[bool, bool]]) -> None:
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    b, c = int((first & ~second).sum()), int((second & ~first).sum())
    exact = mcnemar(first, second)
    assert (exact.only_first, exact.only_second, exact.statistic) == (b, c, min(b, c))
    swapped = mcnemar(second, first)
    assert (swapped.only_first, swapped.only_second, swapped.p) == (c, b, exact.p)


@pytest.mark.parametrize("b", [0, 1, 2, 7, 30, 91, 400])
@pytest.mark.parametrize("c", [0, 1, 3, 8, 31, 90, 1024])
def test_mcnemar_is_the_sum_of_binomials(b: int, c: int) -> None:
    first = np.repeat([1, 0, 1, 0], [b, c, 5, 5])
    second = np.repeat([0, 1, 1, 0], [b, c, 5, 5])
    n = b + c
    tail = Fraction(sum(math.comb(n, i) for i in range(min(b, c) + 1)), 2**n)
    expected = min(1.0, float(2 * tail))
    assert mcnemar(first, second).p == pytest.approx(expected, rel=1e-12, abs=1e-300)
    for method, gap in (("chi2", abs(b - c)), ("corrected", max(abs(b - c) - 1, 0))):
        found = mcnemar(first, second, method=method)
        assert found.statistic == pytest.approx(gap**2 / n if n else 0.0, rel=1e-12)
        # χ² of one degree of freedom is the square of a normal number.
        normal = math.erfc(math.sqrt(found.statistic / 2))
        assert found.p == pytest.approx(normal, rel=1e-12, abs=1e-300)


def test_mcnemar_by_hand() -> None:
    # 1 against 6: p = 2 (C(7,0) + C(7,1)) / 2^7.
    first = np.array([1] * 1 + [0] * 6 + [1] * 20)
    second = np.array([0] * 1 + [1] * 6 + [1] * 20)
    assert mcnemar(first, second) == (1, 6, 1, pytest.approx(16 / 128))
    assert mcnemar(first, second, method="chi2").statistic == pytest.approx(25 / 7)
    assert mcnemar(first, second, method="corrected").statistic == pytest.approx(16 / 7)


def test_mcnemar_keeps_its_level() -> None:
    rng = np.random.default_rng(3)
    rejected = {"exact": 0, "corrected": 0, "chi2": 0}
    for _ in range(400):
        first, second = rng.random((2, 150)) < 0.7
        for method in rejected:
            rejected[method] += mcnemar(first, second, method=method).p < 0.05
    assert rejected["exact"] <= 30  # 20 expected at most, five standard deviations above 20 is 42
    assert rejected["corrected"] <= 30
    assert 5 <= rejected["chi2"] <= 42


@pytest.mark.parametrize(
    ("first", "second", "method", "said"),
    [
        ([1, 0], [1], "exact", "the first system has 2 mentions and the second 1"),
        ([], [], "exact", "no mentions to compare"),
        ([0.5], [1], "exact", "first holds something else than right"),
        ([1], [[1]], "exact", "second holds something else"),
        ([1], [0], "fisher", "no method 'fisher'"),
    ],
)
def test_mcnemar_refuses(first: list[float], second: list[float], method: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        mcnemar(first, second, method=method)


# --- bootstrap ------------------------------------------------------------------------------------

TINY = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 2.0], [0.0, 0.0]])


def _enumerated(table: np.ndarray) -> np.ndarray:
    """The metric of each of the n^n samples, NaN where it is not defined."""
    n = len(table)
    sums = [table[list(rows)].sum(axis=0) for rows in itertools.product(range(n), repeat=n)]
    return np.array([num / den if den else np.nan for num, den in sums])


@pytest.mark.parametrize("few", [64, 0])
def test_draws_have_the_distribution_of_all_samples(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scipy.stats import chisquare

    monkeypatch.setattr(resampling, "_FEW", few)
    exact = np.round(_enumerated(TINY), 9)
    drawn = np.round(ratios(resample_sums(TINY, 20_000, 5)), 9)
    values, counts = np.unique(exact, return_counts=True)
    seen = [
        int((np.isnan(drawn) if math.isnan(value) else drawn == value).sum()) for value in values
    ]
    assert sum(seen) == 20_000  # nothing else occurs
    assert chisquare(seen, 20_000 * counts / counts.sum()).pvalue > 0.001


@pytest.mark.parametrize("few", [64, 0])
def test_interval_and_test_agree_with_the_enumeration(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resampling, "_FEW", few)
    values = np.array([0.1, 0.9, 0.4, 0.7, 0.3])
    exact = _enumerated(np.stack([values, np.ones(5)], axis=1))
    found = bootstrap(values, draws=50_000, level=0.8)
    assert found.value == pytest.approx(values.mean())
    assert found[1:] == pytest.approx(np.quantile(exact, [0.1, 0.9]).tolist(), abs=0.005)
    against = bootstrap_test(values, 0.7, draws=50_000, level=0.8)
    assert against.p == pytest.approx(2 * (exact >= 0.7 - 1e-12).mean(), abs=0.01)
    assert against[:3] == pytest.approx(tuple(number - 0.7 for number in found), abs=1e-12)


def test_paired_draws_take_the_same_mentions() -> None:
    first = np.array([0.9, 0.2, 0.6, 0.4])
    second = np.array([0.5, 0.3, 0.1, 0.4])
    exact = _enumerated(np.stack([first - second, np.ones(4)], axis=1))
    found = paired_bootstrap(first, second, draws=50_000)
    assert found.value == pytest.approx((first - second).mean())
    assert found[1:3] == pytest.approx(np.quantile(exact, [0.025, 0.975]).tolist(), abs=0.01)
    assert found.p == pytest.approx(min(1, 2 * (exact <= 1e-12).mean()), abs=0.01)
    # A constant lead is certain, however far mentions are apart.
    lead = paired_bootstrap(first + 0.1, first, draws=999)
    assert lead[:3] == pytest.approx((0.1, 0.1, 0.1))
    assert lead.p == pytest.approx(2 / 1000)
    assert paired_bootstrap(first, first) == (0, 0, 0, 1)


def test_paired_ratios_are_those_of_each_side() -> None:
    first = np.array([[1, 2], [1, 1], [0, 1], [2, 2]], dtype=float)
    second = np.array([[1, 1], [0, 2], [0, 0], [1, 2]], dtype=float)
    exact = _enumerated(first) - _enumerated(second)
    found = paired_bootstrap(first, second, draws=50_000, level=0.5)
    assert found.value == pytest.approx(4 / 6 - 2 / 5)
    assert found[1:3] == pytest.approx(np.nanquantile(exact, [0.25, 0.75]).tolist(), abs=0.02)


def test_seeds_and_orders() -> None:
    rng = np.random.default_rng(0)
    for values in (rng.random(300), rng.random(300) < 0.8):
        one = bootstrap(values, draws=500, rng=1)
        assert one == bootstrap(values, draws=500, rng=np.random.default_rng(1))
        assert one == pytest.approx(bootstrap(rng.permutation(values), draws=500, rng=1), abs=1e-12)
        assert one != bootstrap(values, draws=500, rng=2)


def test_memory_is_bounded_and_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(resample_counts(50, 200, 4)))
    assert whole.shape == (200, 50)
    assert (whole.sum(axis=1) == 50).all()
    monkeypatch.setattr(resampling, "_CHUNK", 7 * 50)
    parts = list(resample_counts(50, 200, 4))
    assert max(len(part) for part in parts) == 7
    assert (np.concatenate(parts) == whole).all()
    monkeypatch.setattr(resampling, "_CHUNK", 1)
    assert {len(part) for part in resample_counts(50, 20, 4)} == {1}


def test_intervals_cover_as_often_as_they_say() -> None:
    rng = np.random.default_rng(11)
    truth, n, runs = 0.7, 120, 400
    covered = {"bootstrap": 0, "wilson": 0}
    for seed in range(runs):
        right = rng.random(n) < truth
        low, high = bootstrap(right, draws=400, level=0.9, rng=seed)[1:]
        covered["bootstrap"] += low <= truth <= high
        low, high = wilson(int(right.sum()), n, level=0.9)[1:]
        covered["wilson"] += low <= truth <= high
    for count in covered.values():
        assert count / runs == pytest.approx(0.9, abs=0.06)


def test_the_bootstrap_test_keeps_its_level() -> None:
    rng = np.random.default_rng(2)
    samples = rng.random((300, 100)) < 0.6
    ps = [bootstrap_test(right, 0.6, draws=300, rng=i).p for i, right in enumerate(samples)]
    assert np.mean(np.array(ps) < 0.05) == pytest.approx(0.05, abs=0.05)


def test_what_is_not_defined_is_not_a_number() -> None:
    nothing = np.zeros((3, 2))
    assert all(math.isnan(number) for number in bootstrap(nothing))
    assert all(math.isnan(number) for number in bootstrap_test(nothing, 0.5))
    assert all(math.isnan(number) for number in paired_bootstrap(nothing, [1, 0, 1]))
    rare = np.array([[1.0, 1.0], [0.0, 0.0]])
    assert bootstrap(rare) == (1, 1, 1)  # draws without the first mention are left out


@pytest.mark.parametrize(
    ("values", "options", "said"),
    [
        ([], {}, "no mentions to evaluate"),
        ([[1, 2, 3]], {}, r"values have shape \(1, 3\)"),
        (0.5, {}, r"values have shape \(\)"),
        ([1, math.nan], {}, "value 1 is not finite"),
        ([1], {"draws": 0}, "draws is 0"),
        ([1], {"level": 1}, "level is 1"),
        ([1], {"level": 0}, "level is 0"),
    ],
)
def test_bootstrap_refuses(values: object, options: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        bootstrap(values, **options)  # type: ignore[arg-type]


def test_comparisons_refuse() -> None:
    with pytest.raises(InvalidInput, match="the published number is nan"):
        bootstrap_test([1], math.nan)
    with pytest.raises(InvalidInput, match="the same mentions in the same order"):
        paired_bootstrap([1, 0], [1])
    with pytest.raises(InvalidInput, match="draws is 0"):
        list(resample_counts(3, 0, 0))


# --- without resampling ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 29, 30, 100, 787, 4424])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_wilson_is_the_formula(n: int, level: float) -> None:
    z = NormalDist().inv_cdf((1 + level) / 2)
    for n_right in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        share = n_right / n
        middle, scale = share + z * z / (2 * n), 1 + z * z / n
        half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        found = wilson(n_right, n, level=level)
        expected = (share, (middle - half) / scale, (middle + half) / scale)
        assert found == pytest.approx(expected, abs=1e-12)
        assert 0 <= found.low <= share <= found.high <= 1


@pytest.mark.parametrize(("n_right", "n"), [(0, 0), (3, 2), (-1, 5)])
def test_wilson_refuses(n_right: int, n: int) -> None:
    with pytest.raises(InvalidInput, match=f"{n_right} right of {n}"):
        wilson(n_right, n)


# --- the interval of a figure ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "right", "n"),
    [
        (np.ones(200), 200, 200),
        (np.zeros(200), 0, 200),
        ([1.0] * 7 + [0.0] * 5, 7, 12),
        ([1.0] * 20 + [0.0] * (SMALL - 21), 20, SMALL - 1),
        ([[0, 0], [0, 0], [1, 1]], 1, 1),  # what does not count is no trial
        ([[0, 0], [1, 1], [0, 1]], 1, 2),
        ([[3, 3], [1, 1]], 2, 2),  # two mentions, not four parts
        ([[0, 2], [0, 3]], 0, 2),
        ([[2, 2], [2, 2]], 2, 2),  # an F1 of 1
        ([1.0], 1, 1),
    ],
)
def test_small_and_one_sided_samples_are_bounded_by_wilson(
    values: object, right: int, n: int
) -> None:
    found = bound(values)  # type: ignore[arg-type]
    assert found == wilson(right, n)
    assert found.low < found.high


@pytest.mark.parametrize(
    "values",
    [
        [1.0] * 20 + [0.0] * (SMALL - 20),
        [0.5, 0.0, 1.0],  # reciprocal ranks are no proportion
        [[2, 3], [1, 1]],
        [[1, 2], [1, 1]],
    ],
)
def test_everything_else_is_resampled(values: object) -> None:
    assert bound(values, rng=4) == bootstrap(values, rng=4)  # type: ignore[arg-type]


def test_level_draws_and_errors_are_handed_on() -> None:
    assert bound([1.0] * 5, level=0.5) == wilson(5, 5, level=0.5)
    values = [1.0] * 30 + [0.0] * 30
    assert bound(values, draws=50, level=0.8) == bootstrap(values, draws=50, level=0.8)
    with pytest.raises(InvalidInput, match="no mentions"):
        bound([])
    with pytest.raises(InvalidInput, match="level"):
        bound([1.0], level=2)


def test_what_is_not_defined_has_no_interval() -> None:
    assert all(np.isnan(number) for number in bound([[0, 0], [0, 0]]))


def test_the_figures_of_a_report_are_bounded_so() -> None:
    right = ScoredMention(gold=(frozenset({"A"}),), ranked=(("A",),))
    nil = ScoredMention(gold=(), ranked=())
    found = {
        figure.metric: figure
        for figure in figures({"strict": [right] * 3 + [nil]}, metrics=["accuracy@1", "nil-recall"])
        if figure.slice == "all"
    }
    assert found["accuracy@1"][4:] == wilson(4, 4)
    assert found["nil-recall"][4:] == wilson(1, 1)
    assert columns([right, nil], "nil-recall").tolist() == [[0, 0], [1, 1]]


# --- what is imported -----------------------------------------------------------------------------


def test_figures_are_those_of_scipy_stats_and_do_not_load_it() -> None:
    found = subprocess.run([sys.executable, "-c", WITHOUT_STATS], capture_output=True, check=True)
    intervals = np.array([wilson(k, 40)[1:] for k in range(41)])
    assert np.array_equal(np.frombuffer(found.stdout), intervals.ravel())

    from scipy.stats import binomtest

    expected = [binomtest(k, 40).proportion_ci(0.95, "wilson") for k in range(41)]
    assert np.array_equal(intervals, expected)
    assert mcnemar([1] * 3 + [0] * 9, [0] * 3 + [1] * 9).p == pytest.approx(binomtest(3, 12).pvalue)


WITHOUT_STATS = """
import sys
sys.modules["scipy.stats"] = None  # an import of it fails
import numpy as np
from canonym.evaluation.statistics import mcnemar, wilson
mcnemar([1], [0]), mcnemar([1], [0], method="chi2")
sys.stdout.buffer.write(np.array([wilson(k, 40)[1:] for k in range(41)]).tobytes())
"""
