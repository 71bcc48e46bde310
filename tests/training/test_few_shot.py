"""Few-shot names: triplets, grounding and the score of the validation names."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from canonym import InvalidInput
from canonym.training.papers.few_shot import FewShot
from canonym.training.sampling.few_names import FewNames, sample_few_names

GROUPS = {c: [f"{c}{i}" for i in range(10)] for c in "ABC"}
NAMES = sample_few_names(GROUPS, 4, np.random.default_rng(0))
STRINGS = [name for names in GROUPS.values() for name in names]


def inputs(names: Any) -> Any:
    """Frozen vectors that depend on the name alone."""
    seeds = [STRINGS.index(name) for name in names]
    return np.array([np.random.default_rng(seed).normal(size=8) for seed in seeds], np.float32)


def cosine_distance(a: Any, b: Any) -> float:
    return 1 - float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def centre(concept: int) -> Any:
    return inputs(NAMES.training)[NAMES.training_concepts == concept].mean(axis=0)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 2.0)])
def test_the_loss_is_that_of_a_loop(small_table: Any, alpha: float, beta: float) -> None:
    made = FewShot(NAMES, inputs, alpha=alpha, beta=beta, batch_size=5)
    table = small_table.Table(STRINGS)
    plan = small_table.check_objective(made, table)
    assert made.n_batches(plan) == 3
    assert sorted(plan["anchors"]) == list(range(12))
    concepts = NAMES.training_concepts
    assert (concepts[plan["anchors"]] != concepts[plan["negatives"]]).all()
    for batch in range(3):
        part = slice(5 * batch, 5 * batch + 5)
        hinges, grounds = [], []
        for anchor, negative in zip(plan["anchors"][part], plan["negatives"][part], strict=True):
            own = table.vectors([NAMES.training[anchor]])[0]
            far = cosine_distance(own, table.vectors([NAMES.training[negative]])[0])
            others = [r for r in range(12) if r != anchor and concepts[r] == concepts[anchor]]
            assert len(others) == 3
            for other in others:
                near = cosine_distance(own, table.vectors([NAMES.training[other]])[0])
                hinges.append(max(near - far + 0.1, 0))
            target = (centre(concepts[anchor]) + inputs([NAMES.training[anchor]])[0]) / 2
            grounds.append(cosine_distance(own, target))
        expected = alpha * np.mean(hinges) + beta * np.mean(grounds)
        assert made.loss(table.embed, plan, batch).item() == pytest.approx(expected, rel=1e-5)
    assert made.extra_modules(8) == {}


def test_a_single_name_is_its_own_positive(small_table: Any) -> None:
    names = FewNames(("A", "B", "C"), STRINGS[:3], np.arange(3), STRINGS[3:6], np.arange(3))
    made = FewShot(names, inputs, margin=2.5)
    table = small_table.Table(STRINGS)
    plan = made.plan(table.encode, 0, np.random.default_rng(0))
    vectors, frozen = table.vectors(names.training), inputs(names.training)
    expected = np.mean(
        [
            2.5 - cosine_distance(vectors[anchor], vectors[negative])
            for anchor, negative in zip(plan["anchors"], plan["negatives"], strict=True)
        ]
    ) + np.mean([cosine_distance(v, u) for v, u in zip(vectors, frozen, strict=True)])
    assert made.loss(table.embed, plan, 0).item() == pytest.approx(expected, rel=1e-5)


def test_validation_names_are_compared_with_training_names(small_table: Any) -> None:
    from canonym.training.sampling.few_names import distance_weights

    made = FewShot(NAMES, inputs, alpha=0.7, beta=1.3)
    table = small_table.Table(STRINGS)
    hinges, grounds = [], []
    for name, concept in zip(NAMES.validation, NAMES.validation_concepts, strict=True):
        own = table.vectors([name])[0]
        distances = [cosine_distance(own, v) for v in table.vectors(NAMES.training)]
        away = [
            np.nan if c == concept else np.sqrt(2 * d)
            for c, d in zip(NAMES.training_concepts, distances, strict=True)
        ]
        weights = distance_weights(np.array([away]), 8)[0]
        for c, near in zip(NAMES.training_concepts, distances, strict=True):
            if c == concept:
                hinges.append(
                    sum(
                        w * max(near - far + 0.1, 0)
                        for w, far in zip(weights, distances, strict=True)
                    )
                )
        grounds.append(cosine_distance(own, (centre(concept) + inputs([name])[0]) / 2))
    expected = -(0.7 * np.mean(hinges) + 1.3 * np.mean(grounds))
    found = made.validation_score(table.encode)
    assert found == pytest.approx(expected, rel=1e-5)
    assert found == made.validation_score(table.encode)


def test_training_groups_names_and_keeps_them_near_their_inputs(small_table: Any) -> None:
    made = FewShot(NAMES, inputs)
    table = small_table.Table(STRINGS)
    means = small_table.train(made, table, epochs=40)
    assert means[-1] < 0.4 * means[0]
    vectors = table.encode(NAMES.training)
    assert (
        np.mean(
            [
                1 - cosine_distance(v, u)
                for v, u in zip(vectors, inputs(NAMES.training), strict=True)
            ]
        )
        > 0.5
    )


def test_a_real_head_on_frozen_vectors_learns_from_groups(small_table: Any) -> None:
    from canonym.encoders.static import StaticVectors
    from canonym.training.modules.residual_head import ResidualModule

    rng = np.random.default_rng(1)
    centres = {c: rng.normal(size=16) for c in GROUPS}
    vectors = np.array([centres[name[0]] + 3 * rng.normal(size=16) for name in STRINGS], np.float32)
    words = [name.lower() for name in STRINGS]
    base = StaticVectors(words, vectors)
    head = ResidualModule(base, hidden=64, dropout=0.1)
    groups = {c: [name.lower() for name in names] for c, names in GROUPS.items()}
    made = FewShot.from_groups(
        groups, head.inputs, np.random.default_rng(0), n=5, weighting="inverse"
    )
    before = made.validation_score(head.encode)
    adam = small_table.Adam(dict.fromkeys(head.network.parameters(), 1e-3))
    torch.manual_seed(0)
    for epoch in range(15):
        plan = made.plan(head.encode, epoch, np.random.default_rng(epoch))
        for batch in range(made.n_batches(plan)):
            made.loss(head.embed, plan, batch).backward()
            adam.step()
    assert made.validation_score(head.encode) > before
    assert made.settings["n_names"] == made.settings["n_validation"] == 15


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"weighting": "hard"}, "weighting is 'hard'"),
        ({"alpha": -1.0}, "alpha is -1.0; expected a number at least 0"),
        ({"alpha": 0.0, "beta": 0.0}, "a number above 0 is expected for one"),
        ({"batch_size": 0}, "batch_size is 0"),
    ],
)
def test_settings_out_of_range(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        FewShot(NAMES, inputs, **options)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda names: inputs(names)[1:],
        lambda names: np.full((len(names), 3), np.nan, np.float32),
        lambda names: np.zeros(len(names), np.float32),
    ],
)
def test_frozen_vectors_have_to_fit_the_names(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="one finite vector a name is expected"):
        FewShot(NAMES, wrong)


def test_the_validation_score_takes_no_cube_of_the_names() -> None:
    names = sample_few_names(
        {f"concept {c}": [f"name {n} of {c}" for n in range(10)] for c in range(400)},
        5,
        np.random.default_rng(0),
    )

    def encode(texts: Sequence[str]) -> Any:
        vectors = np.random.default_rng(0).standard_normal((len(texts), 8)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    objective = FewShot(names, encode)
    tracemalloc.start()
    objective.validation_score(encode)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500e6  # 64 GB for all triplets at once


def test_concepts_with_too_few_names_are_left_out_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rng = np.random.default_rng(0)
    made = FewShot.from_groups({**GROUPS, "D": ["D0", "D1", "D1"]}, inputs, rng, n=4)
    assert made.names.concepts == ("A", "B", "C")
    assert "left out, with fewer than 8 names (4 to train on, 4 to validate): D" in caplog.text
    caplog.clear()
    FewShot.from_groups(GROUPS, inputs, rng, n=5)
    assert not caplog.text
    with pytest.raises(InvalidInput, match="'B' has 2 names, and 8 are needed"):
        FewShot.from_groups({"A": GROUPS["A"], "B": ["B0", "B1"]}, inputs, rng, n=4)
