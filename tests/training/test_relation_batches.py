"""Batches of relation triplets."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
import pytest

from canonym import InvalidInput
from canonym.training.sampling.name_table import NameTable, distinct_rows
from canonym.training.sampling.relations import RelationBatches, RelationTable
from canonym.types import Relation

TABLE = NameTable.from_pairs(
    [(f"{concept}{i}", concept) for concept in "ABCDEFG" for i in range(1 + ord(concept) % 4)]
)
RELATIONS = [
    Relation("A", "treats", "B"),
    Relation("A", "treats", "C"),
    Relation("D", "is_a", "B"),
    Relation("A", "treats", "B"),
    Relation("E", "causes", "F"),
    Relation("F", "is_a", "G"),
]


def batches(**options: int) -> RelationBatches:
    table = RelationTable(TABLE, RELATIONS)
    return RelationBatches(
        TABLE.names, table.triplets, **{"batch_size": 9, "repeats": 3, **options}
    )


def test_relations_become_distinct_numbers() -> None:
    table = RelationTable(TABLE, RELATIONS)
    assert table.relations == ("treats", "is_a", "causes")
    named = [(TABLE.ids[h], table.relations[r], TABLE.ids[t]) for h, r, t in table.triplets]
    assert named == [
        ("A", "treats", "B"),
        ("A", "treats", "C"),
        ("D", "is_a", "B"),
        ("E", "causes", "F"),
        ("F", "is_a", "G"),
    ]
    assert table.n_left_out == 0


def test_distinct_rows_are_those_of_a_set() -> None:
    rng = np.random.default_rng(1)
    sizes = (4_500_000, 900, 4_500_000)  # of UMLS
    given = [rng.integers(size, size=300) for size in sizes]
    expected = sorted(set(zip(*(column.tolist() for column in given), strict=True)))
    twice = [array("i", [*column.tolist(), *column.tolist()]) for column in given]
    assert list(map(tuple, distinct_rows(twice, sizes).tolist())) == expected


def test_unknown_concepts_are_an_error_or_counted() -> None:
    given = [*RELATIONS, Relation("A", "treats", "X"), Relation("Y", "treats", "X")]
    with pytest.raises(InvalidInput, match=r"name 2 concepts .* such as 'X' \(ids look like 'A'\)"):
        RelationTable(TABLE, given)
    assert RelationTable(TABLE, given, strict=False).n_left_out == 2
    with pytest.raises(InvalidInput, match=r"no relation between named concepts is left \(1 were"):
        RelationTable(TABLE, [Relation("A", "treats", "X")], strict=False)
    nameless = NameTable(["A", "B"], ["a"], [0])
    with pytest.raises(InvalidInput, match="no relation between named concepts"):
        RelationTable(nameless, [Relation("A", "treats", "B")])


def test_every_triplet_comes_once_an_epoch_and_several_times_in_its_batch() -> None:
    sampled = batches()
    plan = sampled.draw(np.random.default_rng(0))
    assert sampled.count() == 2
    seen: Counter[tuple[int, ...]] = Counter()
    for number in range(2):
        triplets, heads, tails = sampled.batch(plan, number)
        counts = Counter(map(tuple, triplets.tolist()))
        assert set(counts.values()) == {3}
        seen += Counter(dict.fromkeys(counts, 1))
        for (head, _, tail), h, t in zip(triplets, heads, tails, strict=True):
            assert h in TABLE.names.of(head)
            assert t in TABLE.names.of(tail)
    assert set(seen.values()) == {1}
    assert len(seen) == 5
    assert len(sampled.batch(plan, 0)[0]) == 9


def test_names_are_drawn_anew_for_each_repetition() -> None:
    sampled = batches()
    _, heads, tails = sampled.batch(sampled.draw(np.random.default_rng(0)), 0)
    assert max(len(set(row)) for part in (heads, tails) for row in part.reshape(-1, 3)) > 1


def test_an_epoch_can_be_shorter_than_all_triplets() -> None:
    short = batches(n_batches=1)
    assert (short.n_drawn, short.count()) == (3, 1)
    assert batches(n_batches=9).count() == 2
    drawn = [short.batch(short.draw(np.random.default_rng(seed)), 0)[0] for seed in range(20)]
    assert {len(triplets) for triplets in drawn} == {9}
    assert {tuple(one) for triplets in drawn for one in triplets.tolist()} == {
        tuple(one) for one in short.triplets.tolist()
    }


def test_a_plan_stays_small_and_its_batches_do_not_depend_on_their_order() -> None:
    sampled = batches()
    plan = sampled.draw(np.random.default_rng(4))
    assert sum(part.nbytes for part in plan.values()) == 8
    assert plan == batches().draw(np.random.default_rng(4))
    later = sampled.batch(plan, 1)
    sampled.batch(plan, 0)
    for one, two in zip(later, batches().batch(plan, 1), strict=True):
        assert (one == two).all()


@pytest.mark.parametrize("options", [{"repeats": 1}, {"repeats": 4}, {"batch_size": 3}])
def test_repeats_out_of_range(options: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match="expected between 2 and the root of batch_size"):
        batches(**options)


def test_the_settings_of_the_paper_are_in_range() -> None:
    sampled = batches(batch_size=128, repeats=8)
    assert sampled.n_different == 16
