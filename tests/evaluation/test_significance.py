from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.evaluation import statistics as resampling
from canonym.evaluation.statistics import (
    aggregate,
    bootstrap,
    bootstrap_test,
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
def test_mcnemar_agrees_with_scipy(pairs: list[tuple[bool, bool]]) -> None:
    from scipy.stats import binomtest, chi2

    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    b, c = int((first & ~second).sum()), int((second & ~first).sum())
    exact = mcnemar(first, second)
    assert (exact.only_first, exact.only_second) == (b, c)
    if not b + c:
        assert exact.p == mcnemar(first, second, method="chi2").p == 1
        assert mcnemar(first, second, method="corrected").p == 1
        return
    assert exact.p == pytest.approx(binomtest(b, b + c).pvalue)
    for method, gap in (("chi2", abs(b - c)), ("corrected", max(abs(b - c) - 1, 0))):
        found = mcnemar(first.astype(int), second.astype(float), method=method)
        assert found.statistic == pytest.approx(gap**2 / (b + c))
        assert found.p == pytest.approx(chi2.sf(gap**2 / (b + c), 1))
    swapped = mcnemar(second, first)
    assert (swapped.only_first, swapped.only_second, swapped.p) == (c, b, exact.p)


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


@RELAXED
@given(st.integers(1, 500), st.data(), st.floats(0.5, 0.999))
def test_wilson_agrees_with_scipy(n: int, data: st.DataObject, level: float) -> None:
    from scipy.stats import binomtest

    n_right = data.draw(st.integers(0, n))
    theirs = binomtest(n_right, n).proportion_ci(level, method="wilson")
    value, low, high = wilson(n_right, n, level=level)
    assert value == n_right / n
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert 0 <= low <= value <= high <= 1


@pytest.mark.parametrize(("n_right", "n"), [(0, 0), (3, 2), (-1, 5)])
def test_wilson_refuses(n_right: int, n: int) -> None:
    with pytest.raises(InvalidInput, match=f"{n_right} right of {n}"):
        wilson(n_right, n)


def test_runs_are_aggregated_by_t() -> None:
    from scipy.stats import t

    folds = [58.1, 59.0, 57.2, 60.3, 58.8]
    found = aggregate(folds, level=0.9)
    low, high = t.interval(0.9, 4, np.mean(folds), np.std(folds, ddof=1) / math.sqrt(5))
    assert found == pytest.approx((np.mean(folds), np.std(folds, ddof=1), low, high, 5))
    assert aggregate([1, 1]) == (1, 0, 1, 1, 2)


@pytest.mark.parametrize(
    ("values", "said"),
    [([1.0], "1 values have no spread"), ([], "0 values"), ([1, math.inf], "not all finite")],
)
def test_aggregate_refuses(values: list[float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        aggregate(values)
