"""Triplet search: ontology, mentions beside it, and the loss of a batch."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from canonym import Concept, InvalidInput, Name, Terminology
from canonym.training import losses
from canonym.training.papers.triplet_search import BatchHard
from canonym.training.sampling.name_table import NameTable

NAMES = [(f"{concept}{i}", concept) for concept in "ABCDE" for i in range(6)]
MENTIONS = [("my A", ["A"]), ("A0", ["A"]), ("either", ["B", "C"]), ("gone", ["X"])]
TABLE = NameTable.from_pairs([*NAMES, ("lone", "F")])


def test_ontology_alone(small_table: Any) -> None:
    objective = BatchHard(TABLE, batch_size=12)
    plan = small_table.check_objective(objective, small_table.Table(TABLE.texts))
    assert objective.settings["trained_on"] == "O"
    counts = Counter(plan["names"].tolist())
    assert len(plan["names"]) == 30 * 2 + 1
    assert set(counts) == set(range(TABLE.n_names))
    assert plan["starts"][-1] == len(plan["names"])


def test_mentions_are_repeated_up_to_a_third_and_share_positives(small_table: Any) -> None:
    objective = BatchHard(TABLE, MENTIONS, batch_size=1500)
    strings = [*TABLE.texts, "my A", "either"]
    plan = small_table.check_objective(objective, small_table.Table(strings))
    assert objective.settings["trained_on"] == "O+D"
    assert objective.settings["n_left_out"] == 1
    assert objective.settings["n_mentions"] == 4  # one of two concepts counts for each
    # 31 names and round(31 / 3) mentions, all but the lone one with a positive.
    assert len(plan["names"]) == 2 * (31 + 10) - 1
    pairs = Counter(zip(plan["names"].tolist(), plan["concepts"].tolist(), strict=True))
    number = objective.table.number("either")
    assert number is not None
    assert pairs[number, TABLE.ids.index("B")] >= 2
    assert pairs[number, TABLE.ids.index("C")] >= 2
    # Names of the ontology keep their numbers, and a mention can be the positive of one.
    assert objective.table.texts[: TABLE.n_names] == TABLE.texts
    texts = [objective.table.texts[row] for row in plan["names"]]
    assert any(b == "my A" and a.startswith("A") for a, b in pairwise(texts))


def test_many_mentions_stay_as_they_are() -> None:
    mentions = [(f"m{i}", ["A"]) for i in range(30)]
    objective = BatchHard(TABLE, mentions)
    plan = objective.plan(np.asarray, 0, np.random.default_rng(0))
    assert len(plan["names"]) == 2 * (31 + 30) - 1
    none = BatchHard(TABLE, mentions[:1], share=0)
    plan = none.plan(np.asarray, 0, np.random.default_rng(0))
    assert len(plan["names"]) == 2 * 32 - 1


def test_the_loss_is_that_of_the_batch(small_table: Any) -> None:
    objective = BatchHard(TABLE, batch_size=12)
    table = small_table.Table(TABLE.texts)
    plan = small_table.check_objective(objective, table)
    for batch in range(objective.n_batches(plan)):
        part = slice(plan["starts"][batch], plan["starts"][batch + 1])
        vectors = torch.tensor(table.vectors([TABLE.texts[row] for row in plan["names"][part]]))
        expected = losses.batch_hard_soft_margin(vectors, torch.tensor(plan["concepts"][part]))
        found = objective.loss(table.embed, plan, batch)
        if expected is None:  # the lone name, left over
            assert batch == objective.n_batches(plan) - 1
            assert found is None
            continue
        assert found is not None
        assert found.item() == pytest.approx(expected.item())
        assert found > 0
    assert objective.extra_modules(8) == {}


def test_batches_without_a_positive_or_a_negative_are_not_encoded(small_table: Any) -> None:
    objective = BatchHard(TABLE, batch_size=12)
    table = small_table.Table(TABLE.texts)
    plan = {
        "names": np.array([0, 1, 30, 2, 8], dtype=np.int32),
        "concepts": np.array([0, 0, 5, 0, 1], dtype=np.int32),
        "starts": np.array([0, 2, 3, 5]),
    }
    assert [objective.loss(table.embed, plan, batch) for batch in range(3)] == [None] * 3
    assert table.embedded == []


def test_training_parts_the_concepts(small_table: Any) -> None:
    table = small_table.Table([*TABLE.texts, "my A", "either"], seed=1)
    objective = BatchHard(TABLE, MENTIONS, batch_size=24)
    means = small_table.train(objective, table, epochs=15)
    assert means[-1] < 0.3 * means[0]


def test_terminologies_without_synonyms_cannot_be_trained_on() -> None:
    terminology = Terminology.build([Concept("X:1", "flu"), Concept("X:2", "fever")])
    with pytest.raises(InvalidInput, match="none of 2 concepts has two different names"):
        BatchHard.from_terminology(terminology)
    # A training mention is another name.
    found = BatchHard.from_terminology(terminology, [("the flu", ["X:1"])])
    assert found.settings["n_mentions"] == 1
    more = Terminology.build([Concept("X:1", "Flu"), Name("flu", "X:1"), Name("grippe", "X:1")])
    assert BatchHard.from_terminology(more).table.texts == ("Flu", "flu", "grippe")
    assert BatchHard.from_terminology(more, preparation="biosyn").table.texts == ("flu", "grippe")


@pytest.mark.parametrize("options", [{"share": -1}, {"share": float("inf")}, {"batch_size": 1}])
def test_settings_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"(share|batch_size) is"):
        BatchHard(TABLE, **options)
