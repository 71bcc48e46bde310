"""DILBERT: strategies over epochs, and the loss of a batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from canonym import Concept, InvalidInput, Name, Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.training.papers.dilbert import STRATEGIES, Dilbert
from canonym.training.sampling.name_table import NameTable
from canonym.types import Relation

NAMES = [(f"{concept}{i}", concept) for concept in "ABCDE" for i in range(4)]
MENTIONS = [("my A", ["A"]), ("a B", ["B", "C"]), ("the D", ["D"]), ("gone", ["X"])]
TABLE = NameTable.from_pairs(NAMES)
HIERARCHY = Hierarchy.from_edges([("A", "E"), ("B", "E"), ("D", "E")])
STRINGS = [*TABLE.texts, *(text for text, _ in MENTIONS)]


def objective(strategy: str = "random", **options: Any) -> Dilbert:
    return Dilbert(TABLE, MENTIONS, strategy=strategy, hierarchy=HIERARCHY, **options)


def owner(name: str) -> str:
    return name[0]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_triplets_are_strings_that_say_how_they_were_chosen(
    small_table: Any, strategy: str
) -> None:
    made = objective(strategy)
    table = small_table.Table(STRINGS)
    plan = small_table.check_objective(made, table)
    first = list(made.triplets(plan))
    expected = strategy if strategy.startswith("random") else "random"
    assert {one.strategy for one in first} == {expected}
    assert all(one.mention in STRINGS[-4:-1] for one in first)
    assert all(owner(one.negative) not in one.ids for one in first)
    assert len(first) == len(plan["mentions"])
    second = list(made.triplets(made.plan(table.encode, 1, np.random.default_rng(0))))
    assert {one.strategy for one in second} == {strategy}
    parents = {one.positive for one in [*first, *second] if owner(one.positive) not in one.ids}
    assert {owner(name) for name in parents} == ({"E"} if strategy == "random+parents" else set())
    siblings = [one for one in second if one.mention == "my A" and owner(one.negative) in "BD"]
    assert siblings or strategy != "re-sampling+siblings"


def test_the_settings_of_the_paper_are_the_defaults() -> None:
    settings = objective().settings
    assert (settings["n_positives"], settings["n_negatives"]) == (30, 5)
    assert (settings["distance"], settings["margin"], settings["batch_size"]) == (
        "euclidean",
        1.0,
        48,
    )
    assert settings["n_left_out"] == 1


def test_resampling_can_start_at_once_or_search_everything(small_table: Any) -> None:
    table = small_table.Table(STRINGS, seed=4)
    for searched, names in [("training", "ABCD"), ("all", "ABCDE")]:
        made = objective(
            "re-sampling", random_epochs=0, searched=searched, n_negatives=20, hard="above"
        )
        found = list(made.triplets(made.plan(table.encode, 0, np.random.default_rng(0))))
        assert {one.strategy for one in found} == {"re-sampling"}
        assert {owner(one.negative) for one in found} <= set(names)
        for one in found:
            query = table.encode([one.mention], normalise=False)
            right = [name for name, id_ in NAMES if id_ in one.ids]
            far = np.linalg.norm(
                table.encode([one.negative, *right], normalise=False) - query, axis=1
            )
            assert far[0] < far[1:].min()


def test_resampling_that_finds_nothing_is_an_error_at_first_and_an_empty_epoch_later(
    small_table: Any,
) -> None:
    table = small_table.Table(STRINGS)
    with_right = [table.places[name] for name in ("A0", "B0", "D0")]
    mentions = [table.places[text] for text, _ in MENTIONS[:3]]
    table.weight.data[with_right] = table.weight.data[mentions]
    made = objective("re-sampling", hard="above")
    with pytest.raises(InvalidInput, match="a right name is the nearest for every mention"):
        made.plan(table.encode, 1, np.random.default_rng(0))
    plan = made.plan(table.encode, 2, np.random.default_rng(0))
    assert made.n_batches(plan) == 1
    assert made.loss(table.embed, plan, 0) is None


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_the_loss_is_that_of_a_loop(small_table: Any, distance: str) -> None:
    made = objective(distance=distance, margin=0.7, batch_size=7)
    table = small_table.Table(STRINGS)
    plan = small_table.check_objective(made, table)
    triplets = list(made.triplets(plan))
    assert made.n_batches(plan) == math.ceil(len(triplets) / 7)

    def between(a: str, b: str) -> float:
        u, v = table.vectors([a, b])
        if distance == "euclidean":
            return math.dist(u, v)
        return 1 - float(u @ v / np.linalg.norm(u) / np.linalg.norm(v))

    for batch in (0, made.n_batches(plan) - 1):
        part = triplets[7 * batch : 7 * batch + 7]
        by_hand = [
            max(between(t.mention, t.positive) - between(t.mention, t.negative) + 0.7, 0)
            for t in part
        ]
        loss = made.loss(table.embed, plan, batch)
        assert loss is not None
        assert loss.item() == pytest.approx(sum(by_hand) / len(part))
        assert len(table.embedded[-1]) == len(set(table.embedded[-1]))
    assert made.extra_modules(8) == {}


@pytest.mark.parametrize("strategy", ["random", "re-sampling+siblings"])
def test_training_brings_mentions_to_their_names(small_table: Any, strategy: str) -> None:
    table = small_table.Table(STRINGS, seed=2)
    means = small_table.train(
        objective(strategy, distance="cosine", searched="all"), table, epochs=12
    )
    assert means[-1] < 0.5 * means[0]
    queries, names = table.encode([text for text, _ in MENTIONS[:3]]), table.encode(TABLE.texts)
    best = [TABLE.texts[i] for i in (queries @ names.T).argmax(axis=1)]
    assert all(owner(name) in ids for name, (_, ids) in zip(best, MENTIONS, strict=False))


def test_a_terminology_brings_its_hierarchy(small_table: Any) -> None:
    terminology = Terminology.build(
        [
            Concept("X:1", "Disease"),
            *(Concept(f"X:{i}", f"Kind {i}") for i in (2, 3)),
            Name("Other kind", "X:2"),
            *(Relation(f"X:{i}", "is_a", "X:1") for i in (2, 3)),
        ]
    )
    mentions = [("my kind", ["X:2"])]
    made = Dilbert.from_terminology(terminology, mentions, strategy="random+parents")
    plan = made.plan(np.asarray, 0, np.random.default_rng(0))
    assert {one.positive for one in made.triplets(plan)} == {"kind 2", "other kind", "disease"}
    assert Dilbert.from_terminology(terminology, mentions).sampler.related is None
    around = [Relation("X:2", "is_a", "X:3"), Relation("X:3", "is_a", "X:2")]
    circle = Terminology.build([*terminology.iter_concepts(), *terminology.iter_names(), *around])
    with pytest.raises(InvalidInput, match="the hierarchy has cycles"):
        Dilbert.from_terminology(circle, mentions, strategy="re-sampling+siblings")
    small_table.check_objective(
        Dilbert.from_terminology(circle, mentions, strategy="random+parents", allow_cycles=True),
        small_table.Table(["kind 2"]),
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"strategy": "hard"}, "strategy is 'hard'; expected one of 'random'"),
        ({"searched": "some"}, "searched is 'some'"),
        ({"hard": "soft"}, "hard is 'soft'"),
        ({"random_epochs": -1}, "random_epochs is -1"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"distance": "l1"}, "distance is 'l1'"),
        ({"strategy": "random+parents"}, "no hierarchy was given"),
        ({"strategy": "random+parents", "n_relatives": 0}, "n_relatives is 0"),
    ],
)
def test_settings_that_cannot_be(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Dilbert(TABLE, MENTIONS, **options)
