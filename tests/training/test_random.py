"""Random orders that are never made."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.training.sampling.random import shuffled


@pytest.mark.parametrize("n", [1, 2, 5, 4096, 4097, 20_000])
def test_every_number_has_one_place(n: int) -> None:
    assert sorted(shuffled(np.arange(n), n, 3).tolist()) == list(range(n))


def test_a_part_is_a_part_of_the_whole_order() -> None:
    whole = shuffled(np.arange(9000), 9000, 7)
    assert (shuffled(np.arange(400, 432), 9000, 7) == whole[400:432]).all()
    assert (shuffled(np.arange(9000), 9000, 8) != whole).any()
    assert shuffled(np.arange(0), 9000, 7).tolist() == []


@pytest.mark.parametrize("n", [5000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_every_order_is_about_as_frequent(n: int) -> None:
    """By chi-squared over 50 parts, of the number at the first place and of the way to the next."""
    orders = np.array([shuffled(np.arange(2), n, seed) for seed in range(5000)])
    for found in (orders[:, 0], (orders[:, 1] - orders[:, 0] - 1) % n * n // (n - 1)):
        counts = np.bincount(found * 50 // n, minlength=50)
        statistic = ((counts - 100) ** 2 / 100).sum()
        assert statistic < 49 + 4 * (2 * 49) ** 0.5


def test_neighbours_come_apart_in_a_large_order() -> None:
    found = shuffled(np.arange(2000), 88_000_000, 1)
    assert len(set(found.tolist())) == 2000
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.1
    assert abs(found.mean() / 44_000_000 - 1) < 0.06
