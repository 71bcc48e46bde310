"""Marginalization over all names: the loss by a loop, what asks, and what is left out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from canonym import InvalidInput
from canonym.training import losses
from canonym.training.all_names import AllNames
from canonym.training.names import NameTable
from canonym.training.noise import disturb

NAMES = [
    *((text, "heart") for text in ("heart attack", "cardiac infarct", "mi")),
    *((text, "brain") for text in ("stroke", "brain attack", "apoplexy", "mi")),
    *((text, "skin") for text in ("rash", "eczema", "itch")),
    ("asthma", "lung"),
    ("gout", "joint"),
]
MENTIONS = [
    ("heart attacks", ["heart"]),
    ("stroke", ["brain"]),
    ("an attack", ["heart", "brain"]),
    *[("itching", ["skin"])] * 9,
    ("lost", ["gone"]),
]
TABLE = NameTable.from_pairs(NAMES, preparation="biosyn")


def small(**options: Any) -> AllNames:
    return AllNames(TABLE, MENTIONS, **{"n_batches": 6, "batch_size": 8, **options})


def table_for(objective: AllNames, small_table: Any) -> Any:
    return small_table.Table([*objective.table.texts, *(text for text, _ in MENTIONS)])


def one_query(query: Any, names: Any, right: set[int], hidden: set[int], scale: float) -> float:
    scores = [scale * float(query @ name) / math.hypot(*query.tolist()) for name in names]
    there = [s for j, s in enumerate(scores) if j not in hidden]
    mass = sum(math.exp(s - max(there)) for s in there)
    return -math.log(sum(math.exp(scores[j] - max(there)) for j in right) / mass)


# --- the loss -------------------------------------------------------------------------------------


def made(n: int = 5, m: int = 20) -> tuple[Any, Any, Any, Any]:
    generator = torch.Generator().manual_seed(3)
    queries = torch.randn(n, 4, generator=generator, dtype=torch.float64)
    names = losses.unit(torch.randn(m, 4, generator=generator, dtype=torch.float64))
    right = torch.tensor([[0, 0, 1, 3, 4, 4, 4], [2, 19, 7, 0, 1, 2, 3]])
    hidden = torch.tensor([[0, 1, 3, 3], [0, 19, 1, 2]])
    return queries, names, right, hidden


@pytest.mark.parametrize("block", [3, 20, 8192])
def test_the_loss_over_all_names_is_that_of_a_loop(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonym.training.losses.synonyms._BLOCK", block)
    queries, names, right, hidden = made()
    loss = losses.marginal_over_all(queries, names, right, hidden, scale=7.0)
    pairs, left = right.T.tolist(), hidden.T.tolist()
    terms = [
        one_query(
            queries[i], names, {j for q, j in pairs if q == i}, {j for q, j in left if q == i}, 7.0
        )
        for i in (0, 1, 3, 4)  # the third has no right name
    ]
    assert loss is not None
    assert loss.item() == pytest.approx(np.mean(terms), abs=1e-12)
    queries.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda q: losses.marginal_over_all(q, names, right, hidden, scale=7.0), queries
    )


def test_all_names_as_candidates_are_the_candidates_of_the_plain_loss() -> None:
    queries, names, right, hidden = made()
    queries.requires_grad_()
    is_right = torch.zeros(5, 20, dtype=torch.bool)
    is_right[right[0], right[1]] = True
    scores = 20 * losses.cosine_similarities(queries, names)
    scores = scores.index_put((hidden[0], hidden[1]), torch.tensor(-torch.inf).double())
    plain = losses.marginal_likelihood(scores, is_right)
    loss = losses.marginal_over_all(queries, names, right, hidden)
    assert plain is not None
    assert loss is not None
    assert loss.item() == pytest.approx(plain.item(), abs=1e-12)
    (expected,) = torch.autograd.grad(plain, queries)
    (found,) = torch.autograd.grad(loss, queries)
    torch.testing.assert_close(found, expected)


def test_the_loss_over_all_names_is_safe_at_the_edges() -> None:
    queries, names, right, hidden = made()
    nothing = torch.empty(2, 0, dtype=torch.long)
    assert losses.marginal_over_all(queries, names, nothing, hidden) is None
    assert losses.marginal_over_all(queries[:0], names, nothing, nothing) is None
    # Everything but the right name hidden: nothing is left to learn.
    others = torch.tensor([[0] * 19, list(range(1, 20))])
    only = losses.marginal_over_all(queries, names, torch.tensor([[0], [0]]), others)
    assert only is not None
    assert only.item() == pytest.approx(0, abs=1e-12)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        for scale in (1e-3, 1e4):
            given = torch.cat([queries, torch.zeros(1, 4)]).to(dtype).requires_grad_()
            pairs = torch.cat([right, torch.tensor([[5], [0]])], dim=1)
            loss = losses.marginal_over_all(given, names.half(), pairs, hidden, scale=scale)
            assert loss is not None
            assert loss.dtype == torch.float32
            assert torch.isfinite(loss)
            loss.backward()
            assert given.grad is not None
            assert torch.isfinite(given.grad).all()


# --- the objective --------------------------------------------------------------------------------


def test_the_loss_is_that_of_a_loop_over_what_asks(small_table: Any) -> None:
    objective = small(kept=1.0)
    table = table_for(objective, small_table)
    plan = small_table.check_objective(objective, table)
    assert objective.n_batches(plan) == 6
    names = plan["vectors"].astype(np.float64)
    for batch in range(6):
        terms = [
            one_query(
                table.vectors([text])[0], names, set(right.tolist()), {own} if own >= 0 else set(),
                20.0,
            )
            for text, right, own in objective.questions(plan, batch)
        ]  # fmt: skip
        loss = objective.loss(table.embed, plan, batch)
        assert loss is not None
        assert loss.item() == pytest.approx(np.mean(terms), rel=1e-6)


def test_mentions_and_names_ask_for_the_other_names_of_their_concepts(small_table: Any) -> None:
    objective = small()
    plan = objective.plan(table_for(objective, small_table).encode, 0, np.random.default_rng(0))
    assert plan["mentions"].shape == plan["names"].shape == (6, 4)
    texts = objective.table.texts
    assert texts[TABLE.n_names :] == ("heart attacks", "itching")
    asked = {
        text: ({texts[row] for row in right}, own)
        for batch in range(6)
        for text, right, own in objective.questions(plan, batch)
    }
    hearts = {"heart attack", "cardiac infarct", "mi", "heart attacks"}
    brains = {"stroke", "brain attack", "apoplexy", "mi"}
    assert asked["an attack"] == (hearts | brains, -1)
    assert asked["stroke"] == (brains - {"stroke"}, texts.index("stroke"))
    assert asked["itching"] == ({"rash", "eczema", "itch"}, texts.index("itching"))
    assert asked["mi"] == ((hearts | brains) - {"mi"}, texts.index("mi"))
    # A concept of one name asks nothing.
    assert not {"asthma", "gout", "lost"} & set(asked)
    assert objective.settings["n_left_out"] == 1
    assert objective.settings["n_mentions"] == 4


@pytest.mark.parametrize("size", [1, 3, 5])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_batch_is_as_large_as_it_was_asked_to_be(
    size: int, share: float, small_table: Any
) -> None:
    objective = small(batch_size=size, mention_share=share)
    table = table_for(objective, small_table)
    plan = objective.plan(table.encode, 0, np.random.default_rng(0))
    assert plan["mentions"].shape[1] + plan["names"].shape[1] == size
    assert objective.loss(table.embed, plan, 0) is not None


def test_frequent_mentions_ask_more_often_by_the_root(small_table: Any) -> None:
    objective = small(n_batches=400, mention_share=1.0)
    plan = objective.plan(table_for(objective, small_table).encode, 0, np.random.default_rng(0))
    assert plan["names"].shape == (400, 0)
    asked = [text for batch in range(400) for text, _, _ in objective.questions(plan, batch)]
    assert asked.count("itching") / len(asked) == pytest.approx(3 / 6, abs=0.03)


def test_right_names_are_left_out_by_chance_and_one_stays(small_table: Any) -> None:
    def pairs(kept: float) -> tuple[Any, Any]:
        objective = small(kept=kept, n_batches=60)
        table = table_for(objective, small_table)
        plan = objective.plan(table.encode, 0, np.random.default_rng(0))
        seen: list[Any] = []

        def loss(_: Any, __: Any, right: Any, hidden: Any, **___: Any) -> Any:
            seen.append((right, hidden))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(losses, "marginal_over_all", loss)
            for batch in range(60):
                objective.loss(table.embed, plan, batch)
        questions = [objective.questions(plan, batch) for batch in range(60)]
        for asked, (right, hidden) in zip(questions, seen, strict=True):
            for query, (_, names, own) in enumerate(asked):
                kept_here = right[1][right[0] == query].tolist()
                left_here = hidden[1][hidden[0] == query].tolist()
                assert kept_here
                itself = [own] if own >= 0 else []
                assert sorted(kept_here + left_here) == sorted([*names.tolist(), *itself])
        n = sum(len(names) for asked in questions for _, names, _ in asked)
        return sum(right.shape[1] for right, _ in seen) / n, len(seen)

    assert pairs(1.0)[0] == 1
    share = pairs(0.5)[0]
    assert 0.45 < share < 0.65
    assert pairs(1e-9)[0] < share - 0.1


def test_what_asks_may_be_disturbed(small_table: Any) -> None:
    objective = small(disturbed=1.0)
    table = table_for(objective, small_table)
    plan = objective.plan(table.encode, 0, np.random.default_rng(0))
    embedded: list[str] = []

    def embed(texts: Any) -> Any:
        embedded.extend(texts)
        return table.weight[: len(texts)]

    assert objective.loss(embed, plan, 0) is not None
    asked = [text for text, _, _ in objective.questions(plan, 0)]
    assert len(embedded) == len(asked)
    changed = [(a, b) for a, b in zip(asked, embedded, strict=True) if a != b]
    assert len(changed) >= 4
    rng = np.random.default_rng(0)
    reachable = {disturb("heart attack", rng) for _ in range(3000)}
    assert all(b in reachable for a, b in changed if a == "heart attack")
    first = list(embedded)
    embedded.clear()
    objective.loss(embed, plan, 0)
    assert embedded == first  # the seed is in the plan


def test_training_makes_mentions_and_names_find_their_concept(small_table: Any) -> None:
    objective = small(n_batches=40, kept=0.5)
    table = table_for(objective, small_table)
    means = small_table.train(objective, table, epochs=6, rate=0.05)
    assert means[-1] < means[0] / 2
    vectors = table.encode(list(TABLE.texts))
    nearest = vectors @ table.encode(["an attack", "itching"]).T
    best = [TABLE.ids[TABLE.concepts.of(int(row))[0]] for row in nearest.argmax(axis=0)]
    assert best[1] == "skin"
    assert best[0] in {"heart", "brain"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kept": 0.0}, "kept is 0.0; a chance above 0"),
        ({"kept": 1.5}, "kept is 1.5"),
        ({"mention_share": -0.1}, "mention_share is -0.1; a share between 0 and 1"),
        ({"disturbed": 2.0}, "disturbed is 2.0"),
        ({"cosine_scale": 0.0}, "cosine_scale is 0.0; a number above 0"),
        ({"n_batches": 0}, "n_batches is 0; at least 1"),
        ({"batch_size": 0}, "batch_size is 0; at least 1"),
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        small(**options)


def test_a_terminology_without_synonyms_can_only_be_asked_by_mentions(small_table: Any) -> None:
    lone = NameTable.from_pairs([("asthma", "lung"), ("gout", "joint")])
    mentions = [("asthmas", ["lung"]), ("wheeze", ["lung"])]
    with pytest.raises(InvalidInput, match="set mention_share to 1"):
        AllNames(NameTable.from_pairs([("gout", "joint")]), [("gout", ["joint"])])
    itself = [("gout", ["joint"]), ("asthma", ["lung"])]
    with pytest.raises(InvalidInput, match="every mention is the only name of its concept"):
        AllNames(lone, itself, mention_share=1.0)
    some = AllNames(lone, [*itself, ("wheeze", ["lung"])], mention_share=1.0)
    assert some.settings["n_without_another_name"] == 1  # gout
    objective = AllNames(lone, mentions, n_batches=3, batch_size=2, mention_share=1.0)
    table = small_table.Table(objective.table.texts)
    plan = objective.plan(table.encode, 0, np.random.default_rng(0))
    assert objective.loss(table.embed, plan, 0) is not None
