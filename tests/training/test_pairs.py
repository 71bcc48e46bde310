"""Batches of anchors and positives, and the draws that samplers share."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from canonym import InvalidInput
from canonym.encoders.inputs import check_count
from canonym.training.sampling.name_table import NameTable
from canonym.training.sampling.pairs import PairBatches, repeat_to_share
from canonym.training.sampling.random import draw_apart, draw_some, n_batches_of

TABLE = NameTable.from_pairs(
    [
        *((f"a{i}", "A") for i in range(4)),
        *((f"b{i}", "B") for i in range(3)),
        ("shared", "A"),
        ("shared", "B"),
        ("alone", "C"),
    ]
)


def batches(batch_size: int = 5, seed: int = 0) -> tuple[PairBatches, dict[str, list[int]]]:
    pairs = PairBatches(TABLE.names, *TABLE.pairs(), batch_size=batch_size)
    return pairs, {k: v.tolist() for k, v in pairs.draw(np.random.default_rng(seed)).items()}


def test_every_name_is_an_anchor_once_with_another_name_of_its_concept() -> None:
    _, plan = batches()
    owned = {(n, c) for n, c in zip(*(part.tolist() for part in TABLE.pairs()), strict=True)}
    items = list(zip(plan["names"], plan["concepts"], strict=True))
    assert set(items) <= owned
    anchors = []
    while items:
        name, concept = items.pop(0)
        anchors.append((name, concept))
        if concept != 2:
            positive, same = items.pop(0)
            assert same == concept
            assert positive != name
    assert sorted(anchors) == sorted(owned)


@pytest.mark.parametrize("size", [2, 3, 5, 100])
def test_batches_are_full_and_keep_pairs_together(size: int) -> None:
    _, plan = batches(size)
    starts = plan["starts"]
    assert starts[0] == 0
    assert starts[-1] == len(plan["names"]) == 9 * 2 + 1
    for first, last in pairwise(starts):
        assert 0 < last - first <= size
        counts = Counter(plan["concepts"][first:last])
        assert all(count > 1 for concept, count in counts.items() if concept != 2)
    assert len(starts) - 1 <= 2 + 19 / max(size - 1, 1)


def test_positives_are_drawn_alike() -> None:
    drawn: Counter[int] = Counter()
    for seed in range(400):
        _, plan = batches(100, seed)
        for anchor, positive in pairwise(plan["names"]):
            if TABLE.texts[anchor] == "b0" and TABLE.texts[positive] in {"b1", "b2", "shared"}:
                drawn[positive] += 1
    counts = sorted(drawn.values())
    assert len(counts) == 3
    assert counts[0] > 0.7 * counts[-1]


def test_the_same_seed_draws_the_same() -> None:
    assert batches(5, 1)[1] == batches(5, 1)[1]
    assert batches(5, 1)[1] != batches(5, 2)[1]


def test_concepts_of_one_name_have_no_positives() -> None:
    single = NameTable.from_pairs([("a", "A"), ("b", "B")])
    with pytest.raises(InvalidInput, match="none of 2 concepts has two different names"):
        PairBatches(single.names, *single.pairs(), batch_size=4)


def test_items_are_repeated_up_to_their_share() -> None:
    found = repeat_to_share(4, 30, 1 / 3, np.random.default_rng(0))
    counts = Counter(found.tolist())
    assert len(found) == 10
    assert set(counts) == set(range(4))
    assert set(counts.values()) == {2, 3}
    many = repeat_to_share(12, 30, 1 / 3, np.random.default_rng(0))
    assert many.tolist() == list(range(12))


def test_draws_apart_are_uniform_over_what_is_left() -> None:
    rng = np.random.default_rng(0)
    counts = Counter(
        row for _ in range(2000) for row in draw_apart(8, [0, 3, 4, 7], 2, rng).tolist()
    )
    assert set(counts) == {1, 2, 5, 6}
    assert min(counts.values()) > 0.9 * 1000
    assert draw_apart(3, [0, 1, 2], 5, rng).tolist() == []
    assert sorted(draw_apart(3, [], 5, rng).tolist()) == [0, 1, 2]


def test_some_of_some() -> None:
    rng = np.random.default_rng(0)
    assert sorted(draw_some([4, 7, 9], 5, rng).tolist()) == [4, 7, 9]
    assert len(set(draw_some([4, 7, 9], 2, rng).tolist())) == 2
    assert draw_some([], 2, rng).tolist() == []
    assert [n_batches_of(n, 3) for n in (0, 1, 3, 4)] == [1, 1, 1, 2]
    check_count("n", 1)
    with pytest.raises(InvalidInput, match="n=0: a whole number of at least 1"):
        check_count("n", 0)
