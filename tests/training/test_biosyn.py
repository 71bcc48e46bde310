"""BioSyn: plans, scores and λ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from canonym import Concept, InvalidInput, Name, NotTrained, Terminology
from canonym.encoders import make_encoder
from canonym.encoders.chargrams import CharGrams
from canonym.training.papers.biosyn import LOSSES, BioSyn
from canonym.training.sampling.name_table import NameTable

NAMES = [
    *((text, "heart") for text in ("heart attack", "cardiac infarct", "mi")),
    *((text, "brain") for text in ("stroke", "brain attack", "apoplexy", "mi")),
    *((text, "skin") for text in ("rash", "eczema", "itch")),
    *((text, "lung") for text in ("asthma", "wheeze")),
]
MENTIONS = [
    ("heart attacks", ["heart"]),
    ("strokes", ["brain"]),
    ("itching", ["skin"]),
    ("wheezing", ["lung", "gone"]),
    ("strokes", ["brain"]),
    ("lost", ["gone"]),
]
TABLE = NameTable.from_pairs(NAMES, preparation="biosyn")


def strings() -> list[str]:
    return [*TABLE.texts, *(text for text, _ in MENTIONS)]


def by_hand(
    objective: BioSyn,
    vectors: Any,
    plan: Any,
    batch: int,
    weight: float,
    kind: str,
    middle: float = 0.0,
    grams: CharGrams | None = None,
) -> float:
    grams = grams or CharGrams().fit(list(objective.table.texts))

    def dense(text: str) -> Any:
        found, whole = grams.encode([text]), np.zeros(grams.n_columns)
        whole[found.indices] = found.data
        return whole

    size = objective.batch_size
    terms: list[float] = []
    for mention in plan["mentions"][batch * size : (batch + 1) * size]:
        place = objective.mentions.text_of[mention]
        text = objective.mentions.texts[place]
        ids = {TABLE.ids[c] for c in objective.mentions.concepts.of(mention)}
        scores, right = [], []
        for row in plan["candidates"][place]:
            name = objective.table.texts[row]
            owners = {TABLE.ids[c] for c in objective.table.concepts.of(row)}
            scores.append(
                float(vectors([text])[0] @ vectors([name])[0])
                - middle
                + weight * dense(text) @ dense(name)
            )
            right.append(bool(owners & ids))
        if kind == "pair-wise":
            terms += (
                math.log1p(math.exp(-s if r else s)) for s, r in zip(scores, right, strict=True)
            )
            continue
        total = sum(math.exp(s) for s in scores)
        masses = [math.exp(s) / total for s, r in zip(scores, right, strict=True) if r]
        if masses:
            terms.append(-math.log(sum(masses) if kind == "marginal" else max(masses)))
    return float(np.mean(terms))


@pytest.mark.parametrize("kind", ["marginal", "hard-em", "pair-wise"])
@pytest.mark.parametrize("batch", [0, 1])
def test_the_loss_is_that_of_a_loop(small_table: Any, kind: str, batch: int) -> None:
    objective = BioSyn(TABLE, MENTIONS, k=4, loss=kind, batch_size=3, sparse_weight=1.5)
    table = small_table.Table(strings())
    plan = small_table.check_objective(objective, table)
    assert objective.n_batches(plan) == 2
    (weight, rate) = objective.extra_modules(8)["sparse_weight"]
    assert rate == 0.01
    loss = objective.loss(table.embed, plan, batch)
    assert loss is not None
    expected = by_hand(objective, table.vectors, plan, batch, 1.5, kind)
    assert loss.item() == pytest.approx(expected, rel=1e-6)
    loss.backward()
    (only,) = weight.parameters()
    assert only.item() == 1.5
    assert only.grad is not None
    assert only.grad.abs() > 0


def test_the_loss_is_of_the_sparse_scores_that_are_asked_for(small_table: Any) -> None:
    objective = BioSyn(
        TABLE, MENTIONS, k=4, batch_size=3, sparse="chargrams:3-3", sparse_weight=2.0
    )
    assert objective.settings["sparse"] == "chargrams:3-3"
    table = small_table.Table(strings())
    plan = small_table.check_objective(objective, table)
    objective.extra_modules(8)
    loss = objective.loss(table.embed, plan, 0)
    assert loss is not None
    grams = CharGrams(n_min=3, n_max=3).fit(list(TABLE.texts))
    expected = by_hand(objective, table.vectors, plan, 0, 2.0, "marginal", grams=grams)
    assert loss.item() == pytest.approx(expected, rel=1e-6)
    usual = by_hand(objective, table.vectors, plan, 0, 2.0, "marginal")
    assert loss.item() != pytest.approx(usual, rel=1e-3)


def test_the_default_encoder_can_give_the_sparse_scores(small_table: Any) -> None:
    objective = BioSyn(TABLE, MENTIONS, k=4, batch_size=3, sparse="default", dense_ratio=0.0)
    plan = small_table.check_objective(objective, small_table.Table(strings()))
    for text, name in (("strokes", "stroke"), ("heart attacks", "heart attack")):
        place = objective.mentions.texts.index(text)
        best = plan["candidates"][place][0]
        assert TABLE.texts[best] == name
        a, b = make_encoder("default").encode([text, name])
        assert plan["sparse"][place][0] == pytest.approx(a @ b, abs=1e-3)


def test_the_loss_can_be_of_cosines(small_table: Any) -> None:
    objective = BioSyn(TABLE, MENTIONS, k=4, batch_size=3, cosine_scale=5.0)
    assert objective.settings["cosine_scale"] == 5.0
    table = small_table.Table(strings())
    plan = small_table.check_objective(objective, table)
    objective.extra_modules(8)
    loss = objective.loss(table.embed, plan, 0)
    assert loss is not None

    def scaled(texts: list[str]) -> Any:
        vectors = table.vectors(texts)
        return 5**0.5 * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    assert loss.item() == pytest.approx(
        by_hand(objective, scaled, plan, 0, 0.0, "marginal"), rel=1e-6
    )
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InvalidInput, match=r"cosine_scale is .*; expected a number above 0"):
            BioSyn(TABLE, MENTIONS, cosine_scale=wrong)


def test_a_middle_of_cosines_moves_the_pair_wise_loss_alone(small_table: Any) -> None:
    for kind in LOSSES:
        table = small_table.Table(strings())
        values = []
        for middle in (0.0, 0.8):
            objective = BioSyn(
                TABLE, MENTIONS, k=4, loss=kind, cosine_scale=5.0, cosine_middle=middle
            )
            plan = objective.plan(table.vectors, 0, np.random.default_rng(0))
            objective.extra_modules(8)
            loss = objective.loss(table.embed, plan, 0)
            assert loss is not None
            values.append(loss.item())
        if kind == "pair-wise":

            def scaled(texts: list[str], table: Any = table) -> Any:
                vectors = table.vectors(texts)
                return 5**0.5 * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

            expected = by_hand(objective, scaled, plan, 0, 0.0, kind, middle=5 * 0.8)
            assert values[1] == pytest.approx(expected, rel=1e-6)
            assert abs(values[1] - values[0]) > 0.01
        else:
            assert values[1] == pytest.approx(values[0], rel=1e-6)
    for wrong, problem in (
        ({"cosine_middle": 0.5}, "expected only with a cosine_scale"),
        ({"cosine_scale": 5.0, "cosine_middle": 1.5}, "cosine_middle is 1.5"),
    ):
        with pytest.raises(InvalidInput, match=problem):
            BioSyn(TABLE, MENTIONS, **wrong)  # type: ignore[arg-type]


def test_plans_have_candidates_of_every_string_and_every_known_mention(small_table: Any) -> None:
    objective = BioSyn(TABLE, MENTIONS)
    plan = small_table.check_objective(objective, small_table.Table(strings()))
    assert sorted(plan["mentions"]) == [0, 1, 2, 3, 4]
    assert plan["candidates"].shape == plan["sparse"].shape == (4, TABLE.n_names)
    assert objective.settings["n_left_out"] == 1
    assert objective.settings["k"] == 20
    assert objective.n_mentions == 5


def test_what_the_loss_leaves_out_is_not_encoded(small_table: Any) -> None:
    objective = BioSyn(TABLE, MENTIONS, k=1, dense_ratio=0.0, batch_size=9)
    table = small_table.Table(strings())
    plan = objective.plan(table.encode, 0, np.random.default_rng(0))
    plan = {**plan, "candidates": plan["candidates"].copy()}
    place = objective.mentions.texts.index("itching")
    plan["candidates"][place] = TABLE.number("asthma")
    objective.extra_modules(8)
    assert objective.loss(table.embed, plan, 0) is not None
    assert "itching" not in table.embedded[-1]
    assert "strokes" in table.embedded[-1]
    plan["candidates"][:] = TABLE.number("rash")
    plan["mentions"] = plan["mentions"][plan["mentions"] != 2]
    assert objective.loss(table.embed, plan, 0) is None
    pairs = BioSyn(TABLE, MENTIONS, k=1, loss="pair-wise", batch_size=9)
    pairs.extra_modules(8)
    assert pairs.loss(table.embed, plan, 0) is not None


def test_training_moves_right_names_up_and_the_weight_with_them(small_table: Any) -> None:
    objective = BioSyn(TABLE, MENTIONS, k=6, batch_size=2)
    table = small_table.Table(strings(), seed=3)
    means = small_table.train(objective, table, epochs=12)
    assert means[-1] < 0.3 * means[0]
    queries, names = table.vectors(objective.mentions.texts), table.vectors(TABLE.texts)
    best = (queries @ names.T).argmax(axis=1)
    owners = [{TABLE.ids[c] for c in TABLE.concepts.of(row)} for row in best]
    wanted = ["heart", "brain", "skin", "lung"]
    assert all(want in own for want, own in zip(wanted, owners, strict=True))
    assert objective._lambda().item() != 0


def test_training_mentions_are_candidates_only_where_that_is_wanted(small_table: Any) -> None:
    plain, merged = (BioSyn(TABLE, MENTIONS, merge=merge) for merge in (False, True))
    assert "strokes" not in plain.table.texts
    assert merged.table.texts[: TABLE.n_names] == TABLE.texts
    assert set(merged.table.texts[TABLE.n_names :]) == {text for text, _ in MENTIONS[:4]}
    number = merged.table.number("wheezing")
    assert number is not None
    assert [TABLE.ids[c] for c in merged.table.concepts.of(number)] == ["lung"]
    plan = small_table.check_objective(merged, small_table.Table(strings()))
    place = merged.mentions.texts.index("wheezing")
    assert plan["candidates"][place][0] == number


def test_names_of_a_terminology() -> None:
    terminology = Terminology.build([Concept("X:1", "Flu!"), Name("Influenza", "X:1")])
    objective = BioSyn.from_terminology(terminology, [("The Flu", {"X:1"})], k=2)
    assert objective.table.texts == ("flu", "influenza")
    assert objective.mentions.texts == ("the flu",)
    assert objective.settings["preparation"] == "biosyn"


def test_the_weight_has_to_be_made_first(small_table: Any) -> None:
    objective = BioSyn(TABLE, MENTIONS)
    table = small_table.Table(strings())
    plan = objective.plan(table.encode, 0, np.random.default_rng(0))
    with pytest.raises(NotTrained, match="call extra_modules"):
        objective.loss(table.embed, plan, 0)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"loss": "mml"}, "loss is 'mml'; expected one of 'marginal', 'hard-em', 'pair-wise'"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"k": 0}, "k is 0"),
        ({"dense_ratio": 1.5}, "dense_ratio is 1.5"),
        ({"sparse": "tf-idf"}, "'tf-idf'.*'chargrams'"),
    ],
)
def test_settings_out_of_range(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        BioSyn(TABLE, MENTIONS, **options)


def test_float32_vectors_are_enough() -> None:
    objective = BioSyn(TABLE, MENTIONS, k=4)
    objective.extra_modules(3)

    def encode(names: Any, *, normalise: bool = True) -> Any:
        assert not normalise  # what is trained by inner product is searched by it
        return np.tile(np.array([[0.6, 0.8, 0.0]], np.float32), (len(names), 1))

    plan = objective.plan(encode, 0, np.random.default_rng(0))
    loss = objective.loss(lambda names: torch.ones(len(names), 3, requires_grad=True), plan, 0)
    assert loss is not None
    assert loss.dtype == torch.float32
