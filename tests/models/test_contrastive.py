"""The softmax over a batch, and the batches of synonyms, mentions and hard neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from canonym import InvalidInput
from canonym.encoders import make_encoder
from canonym.training.subword.losses import multi_positive_loss
from models.mixture import Definition, Mixture
from models.objectives import Contrastive
from models.softmax import multi_positive_softmax

NAMES = [f"{word} {organ}" for organ in ("heart", "liver", "skin") for word in ("Sore", "Torn", "")]
CONCEPTS = np.repeat(np.arange(3, dtype=np.int32), 3)
MIXTURE = Mixture(
    NAMES,
    CONCEPTS,
    np.ones(3, dtype=np.int64),
    np.ones(3),
    np.array([1.0, 1, 1, 0, 0, 0, 1, 1, 1]),
    np.zeros((0, 2), dtype=np.int32),
    {},
)


def contrastive(**options: Any) -> Contrastive:
    return Contrastive(MIXTURE, make_encoder("default"), **options)  # type: ignore[arg-type]


def test_loss_is_that_without_torch() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((12, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    labels, texts = rng.integers(4, size=12), rng.integers(9, size=12)
    given = torch.tensor(vectors, requires_grad=True)
    loss = multi_positive_softmax(given, torch.tensor(labels), torch.tensor(texts), temperature=0.2)
    assert loss is not None
    loss.backward()
    expected, gradient = multi_positive_loss(vectors, labels, texts, temperature=0.2)
    assert loss.item() == pytest.approx(expected)
    # That of the other is by vectors of length one, which cannot grow here.
    gradient -= vectors * (gradient * vectors).sum(axis=1, keepdims=True)
    assert given.grad is not None
    np.testing.assert_allclose(given.grad.numpy(), gradient, atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_loss_with_related_names_is_that_without_torch(share: float) -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((14, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    labels, texts = rng.integers(5, size=14), rng.integers(12, size=14)
    related = rng.random((14, 14)) < 0.3
    given = torch.tensor(vectors)
    loss = multi_positive_softmax(
        given, torch.tensor(labels), torch.tensor(texts), temperature=0.2,
        related=torch.tensor(related), related_share=share,
    )  # fmt: skip
    expected, _ = multi_positive_loss(
        vectors, labels, texts, temperature=0.2, related=related, related_share=share
    )
    assert loss is not None
    assert loss.item() == pytest.approx(expected)
    alone, _ = multi_positive_loss(vectors, labels, texts, temperature=0.2)
    assert (loss.item() == pytest.approx(alone)) is (share == 0)


def test_loss_by_hand() -> None:
    vectors = torch.tensor([[2.0, 0.0], [5.0, 0.0], [0.0, 1.0]])
    loss = multi_positive_softmax(vectors, torch.tensor([7, 7, 8]), temperature=0.5)
    assert loss is not None
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-2)))
    assert multi_positive_softmax(vectors, torch.tensor([1, 2, 3])) is None
    # The third has the text of the first: neither is compared with the other.
    same = multi_positive_softmax(vectors, torch.tensor([7, 7, 8]), torch.tensor([0, 1, 0]))
    assert same is not None
    assert same.item() < math.log(2)
    assert bool(torch.isfinite(same))


def test_batches_hold_synonyms_and_neighbours(small_table: Any) -> None:
    objective = contrastive(drawn=3, batches=4)
    plan = small_table.check_objective(objective, small_table.Table(objective.texts))
    assert len(plan["starts"]) == 5
    assert objective.settings["n_names"] == 9
    assert {"sore heart", "heart"} <= {text.strip() for text in objective.texts}
    for start, end in zip(plan["starts"], plan["starts"][1:], strict=False):
        rows = plan["rows"][start:end]
        assert len(set(rows.tolist())) == len(rows)


def test_definitions_come_with_a_name_of_their_concept(small_table: Any) -> None:
    told = [Definition("What pumps.", 0), Definition("Of no name.", 9), Definition("A cover.", 2)]
    mixture = MIXTURE._replace(definitions=told)
    objective = Contrastive(
        mixture, make_encoder("default"), drawn=1, batches=9, definitions=1  # type: ignore[arg-type]
    )  # fmt: skip
    assert objective.texts[9:] == ["what pumps.", "a cover."]
    assert objective.settings["n_definitions"] == 2
    plan = small_table.check_objective(objective, small_table.Table(objective.texts))
    for start, end in zip(plan["starts"], plan["starts"][1:], strict=False):
        rows = plan["rows"][start:end]
        (defined,) = rows[rows >= 9]
        assert objective.concepts[defined] in objective.concepts[rows[rows < 9]]
    # None is drawn where none was asked for.
    assert len(contrastive().texts) == 9


def test_related_concepts_come_along(small_table: Any) -> None:
    mixture = MIXTURE._replace(related=np.array([[0, 2]], dtype=np.int32))
    miner: Any = make_encoder("default")
    found = []
    for share in (0.0, 0.5):
        objective = Contrastive(mixture, miner, drawn=8, batches=20, related_share=share)
        plan = small_table.check_objective(objective, small_table.Table(objective.texts))
        found.append(objective.loss(small_table.Table(objective.texts).embed, plan, 0))
        assert objective.settings["related_share"] == share
    assert found[0].item() != found[1].item()
    # The same names, without being told that they are related.
    objective._relatives = None
    alone = objective.loss(small_table.Table(objective.texts).embed, plan, 0)
    assert alone is not None
    assert alone.item() != found[1].item()


def test_names_of_no_weight_are_not_drawn() -> None:
    objective = contrastive(drawn=2, batches=50)
    rows = objective.groups.draw_names(500, np.random.default_rng(0))
    assert set(objective.groups.concepts[rows].tolist()) == {0, 2}


def test_learns(small_table: Any) -> None:
    objective = contrastive(drawn=4, batches=40)
    table = small_table.Table(objective.texts)
    small_table.train(objective, table, epochs=3)
    vectors = table.encode(objective.texts)
    likeness = vectors @ vectors.T
    same = objective.groups.concepts[:, None] == objective.groups.concepts[None]
    assert likeness[same].min() > likeness[~same].max()


def test_what_is_out_of_range() -> None:
    with pytest.raises(InvalidInput, match="batches=0"):
        contrastive(batches=0)
    with pytest.raises(InvalidInput, match="definitions=-1"):
        contrastive(definitions=-1)
    with pytest.raises(InvalidInput, match="related_share=2"):
        contrastive(related_share=2.0)
