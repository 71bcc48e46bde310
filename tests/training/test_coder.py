"""CODER: the loss on terms and through relations, and its variants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from canonym import Concept, InvalidInput, Name, NotTrained, Terminology
from canonym.training import losses
from canonym.training.papers.coder import VARIANTS, Coder, Weighing
from canonym.training.sampling.name_table import NameTable
from canonym.types import Relation

TABLE = NameTable.from_pairs([(f"{c}{i}", c) for c in "ABCDEFGH" for i in range(3)])
RELATIONS = [
    *(Relation(head, "treats", tail) for head, tail in ("AB", "CD", "EB", "GH")),
    *(Relation(head, "is_a", tail) for head, tail in ("BH", "DH", "FH")),
]


def objective(**options: Any) -> Coder:
    return Coder(TABLE, RELATIONS, **{"batch_size": 16, "repeats": 4, **options})


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_loss_is_the_sum_of_both(small_table: Any, variant: str) -> None:
    made = objective(variant=variant, relation_share=0.5)
    table = small_table.Table(TABLE.texts)
    plan = small_table.check_objective(made, table)
    assert made.n_batches(plan) == 2
    torch.manual_seed(0)
    extra = made.extra_modules(8)
    weight = extra["relations"][0]["weight"] if extra else None
    if weight is not None:
        weight.data += 0.3 * torch.randn(weight.shape)
    for batch in range(2):
        triplets, heads, tails = made.batches.batch(plan, batch)
        texts = [TABLE.texts[row] for row in (*heads, *tails)]
        vectors = torch.tensor(table.vectors(texts))
        concepts = [*triplets[:, 0], *triplets[:, 2]]
        n, k = len(concepts), len(heads)
        # τ_ij by a double loop.
        same = torch.tensor([[concepts[i] == concepts[j] for j in range(n)] for i in range(n)])
        others = torch.tensor(
            [[i != j and concepts[i] == concepts[j] for j in range(n)] for i in range(n)]
        )
        cosines = torch.nn.functional.normalize(vectors) @ torch.nn.functional.normalize(vectors).T
        expected = losses.multi_similarity(cosines, others, ~same)
        if weight is not None:
            right = torch.tensor(
                [[triplets[i, 2] == triplets[j, 2] for j in range(k)] for i in range(k)]
            )
            rows: list[Any] = []
            for i in range(k):
                own = weight[triplets[i, 1]].double()
                if variant == "matrix":
                    sent = own.T @ vectors[i]
                    rows.append([torch.cosine_similarity(sent, v, dim=0) for v in vectors[k:]])
                else:
                    rows.append([-(vectors[i] + own - v).norm() for v in vectors[k:]])
            similarities = torch.stack([torch.stack(row) for row in rows])
            weighing = VARIANTS[variant][0]._asdict()
            expected = expected + 0.5 * losses.multi_similarity(
                similarities, right, ~right, **weighing
            )
        found = made.loss(table.embed, plan, batch)
        assert found.item() == pytest.approx(expected.item(), rel=1e-5)
        found.backward()
        if weight is not None:
            used = sorted(set(triplets[:, 1].tolist()))
            assert weight.grad[used].abs().sum() > 0
            weight.grad = None


def test_the_settings_of_the_paper_are_the_defaults() -> None:
    made = Coder(TABLE, RELATIONS)
    assert made.weighing == made.relation_weighing == Weighing(2.0, 50.0, 0.5, 0.1)
    assert made.relation_share == 1.0
    assert (made.settings["batch_size"], made.settings["repeats"]) == (128, 8)
    assert made.settings["relations"] == ["treats", "is_a"]
    moved = Coder(TABLE, RELATIONS, variant="translation")
    assert moved.relation_share == 0.1
    assert moved.relation_weighing == Weighing(0.2, 5.0, -28.0, 0.1)
    own = Coder(TABLE, RELATIONS, relation_weighing=Weighing(beta=9.0))
    assert own.settings["relation_weighing"] == {**Weighing()._asdict(), "beta": 9.0}


def test_every_relation_has_a_matrix_or_a_vector_of_its_own() -> None:
    matrices, rate = objective().extra_modules(5)["relations"]
    assert rate is None
    (weight,) = matrices.parameters()
    assert weight.shape == (2, 5, 5)
    assert all(torch.equal(each, torch.eye(5)) for each in weight)
    assert objective(relation_rate=0.003).extra_modules(5)["relations"][1] == 0.003
    vectors, _ = objective(variant="translation").extra_modules(768)["relations"]
    (weight,) = vectors.parameters()
    assert weight.shape == (2, 768)
    assert weight.norm(dim=1).tolist() == pytest.approx([28, 28], abs=3)
    assert objective(variant="none").extra_modules(5) == {}


@pytest.mark.parametrize("variant", VARIANTS)
def test_training_brings_terms_of_a_concept_together(small_table: Any, variant: str) -> None:
    table = small_table.Table(TABLE.texts, seed=1)
    made = objective(variant=variant)
    if variant == "translation":
        made.relation_weighing = Weighing(0.2, 5.0, -4.0, 0.1)  # 8 columns and not 768
    means = small_table.train(made, table, epochs=25)
    assert means[-1] < 0.6 * means[0]
    vectors = table.encode(TABLE.texts)
    cosines = vectors @ vectors.T
    own = np.arange(24)[:, None] // 3 == np.arange(24)[None] // 3
    assert cosines[own].mean() > cosines[~own].mean() + 0.4


def test_matrices_learn_where_a_relation_leads(small_table: Any) -> None:
    table = small_table.Table(TABLE.texts, seed=1)
    made = objective()
    small_table.train(made, table, epochs=25)
    assert made._module is not None
    matrix = made._module["weight"][1].double()  # is_a leads to H
    heads = torch.tensor(table.vectors(["B0", "D0", "F0"]))
    found = losses.cosine_similarities(heads @ matrix, torch.tensor(table.vectors(TABLE.texts)))
    best = [TABLE.texts[i] for i in found.argmax(dim=1)]
    assert [name[0] for name in best] == ["H", "H", "H"]


def test_relations_of_a_terminology_or_others() -> None:
    terminology = Terminology.build(
        [
            *(Concept(f"X:{i}", f"Thing {i}") for i in range(3)),
            Name("chose", "X:1", language="fr"),
            Relation("X:1", "is_a", "X:0"),
            Relation("X:1", "is_a", "Y:7"),
        ]
    )
    made = Coder.from_terminology(terminology)
    assert made.settings["n_triplets"] == 1
    assert made.settings["n_left_out"] == 1
    assert "chose" in made.table.texts
    given = [Relation("X:2", "part_of", "X:1")]
    assert Coder.from_terminology(terminology, given).settings["relations"] == ["part_of"]
    with pytest.raises(InvalidInput, match=r"relations name 1 concepts .*'Z:1'"):
        Coder.from_terminology(terminology, [Relation("Z:1", "is_a", "X:1")])


def test_the_matrices_have_to_be_made_first(small_table: Any) -> None:
    made, table = objective(), small_table.Table(TABLE.texts)
    plan = made.plan(table.encode, 0, np.random.default_rng(0))
    with pytest.raises(NotTrained, match="call extra_modules"):
        made.loss(table.embed, plan, 0)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"variant": "TransE"}, "variant is 'TransE'; expected one of 'matrix', 'translation'"),
        ({"relation_share": -1.0}, "relation_share is -1"),
        ({"repeats": 1}, "repeats is 1"),
    ],
)
def test_settings_out_of_range(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        objective(**options)
