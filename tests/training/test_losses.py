"""Every loss against plain loops over points placed by hand, and where batches have nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from canonym import InvalidInput
from canonym.training import losses

# Twelve points in the plane: two close groups, one that overlaps them, and a lone one.
POINTS = torch.tensor(
    [
        *([0.0, 1.0], [0.3, 1.1], [-0.2, 0.9], [0.4, 0.5]),
        *([1.0, 0.0], [1.2, 0.1], [0.9, -0.4]),
        *([0.6, 0.6], [-0.5, -0.5], [0.1, -0.9], [0.7, 0.2]),
        [-1.0, 0.3],
    ],
    dtype=torch.float64,
)
LABELS = torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3])


def distance(a: Any, b: Any) -> float:
    return math.dist(a, b)


def cosine(a: Any, b: Any) -> float:
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def gradient(loss: Callable[..., Any], *tensors: torch.Tensor, **options: Any) -> list[Any]:
    """Return the gradients by the tensors of floats, which have to be finite."""
    given = [t.clone().requires_grad_() if t.is_floating_point() else t for t in tensors]
    loss(*given, **options).backward()
    found = [t.grad for t in given if t.is_floating_point()]
    assert all(g is not None and torch.isfinite(g).all() for g in found)
    return found


# --- candidates -----------------------------------------------------------------------------------

SCORES = torch.tensor(
    [[2.0, 1.0, -1.0, 0.5], [0.0, 3.0, 1.0, 1.0], [5.0, 5.0, 5.0, 5.0], [1.0, 2.0, 3.0, 4.0]],
    dtype=torch.float64,
)
RIGHT = torch.tensor(
    [[True, False, True, False], [False, False, False, True], [False] * 4, [True] * 4]
)


def candidates_by_hand(hard: bool) -> float:
    found = []
    for scores, right in zip(SCORES.tolist(), RIGHT.tolist(), strict=True):
        total = sum(math.exp(s) for s in scores)
        masses = [math.exp(s) / total for s, r in zip(scores, right, strict=True) if r]
        if masses:
            found.append(-math.log(max(masses) if hard else sum(masses)))
    assert len(found) == 3
    return sum(found) / len(found)


@pytest.mark.parametrize("loss", [losses.marginal_likelihood, losses.hard_em])
def test_losses_of_candidates_are_those_of_a_loop(loss: Any) -> None:
    expected = candidates_by_hand(loss is losses.hard_em)
    assert loss(SCORES, RIGHT).item() == pytest.approx(expected, abs=1e-12)
    assert torch.autograd.gradcheck(lambda s: loss(s, RIGHT), SCORES.clone().requires_grad_())


def test_cross_entropy_of_pairs_is_that_of_a_loop() -> None:
    terms = [
        -math.log(1 / (1 + math.exp(-s if r else s)))
        for scores, right in zip(SCORES.tolist(), RIGHT.tolist(), strict=True)
        for s, r in zip(scores, right, strict=True)
    ]
    found = losses.pair_wise_cross_entropy(SCORES, RIGHT)
    assert found is not None
    assert found.item() == pytest.approx(sum(terms) / 16, abs=1e-12)
    assert torch.autograd.gradcheck(
        lambda s: losses.pair_wise_cross_entropy(s, RIGHT), SCORES.clone().requires_grad_()
    )


@pytest.mark.parametrize("loss", [losses.marginal_likelihood, losses.hard_em])
def test_mentions_without_a_right_candidate_change_nothing(loss: Any) -> None:
    known = [0, 1, 3]
    assert loss(SCORES, RIGHT) == loss(SCORES[known], RIGHT[known])
    (found,) = gradient(lambda s: loss(s, RIGHT), SCORES)
    assert not found[2].any()
    assert found[0].any()
    assert loss(SCORES, torch.zeros_like(RIGHT)) is None
    assert loss(SCORES[:0], RIGHT[:0]) is None


@pytest.mark.parametrize(
    "loss", [losses.marginal_likelihood, losses.hard_em, losses.pair_wise_cross_entropy]
)
def test_places_without_a_candidate_do_not_count(loss: Any) -> None:
    wider = torch.cat([SCORES, torch.full((4, 2), -torch.inf)], dim=1)
    # Not even where they are marked as right.
    right = torch.cat([RIGHT, torch.ones(4, 2, dtype=torch.bool)], dim=1)
    assert loss(wider, right).item() == pytest.approx(loss(SCORES, RIGHT).item(), abs=1e-12)
    (found,) = gradient(lambda s: loss(s, right), wider)
    assert not found[:, 4:].any()
    assert loss(torch.full((2, 3), -torch.inf), torch.ones(2, 3, dtype=torch.bool)) is None


@pytest.mark.parametrize(
    "loss", [losses.marginal_likelihood, losses.hard_em, losses.pair_wise_cross_entropy]
)
def test_scores_of_any_size_are_safe(loss: Any) -> None:
    scores = torch.tensor([[1e6, -1e6, 0.0], [-1e30, 1e30, 1.0]])
    right = torch.tensor([[False, True, False], [True, False, False]])
    gradient(lambda s: loss(s, right), scores)
    assert math.isfinite(loss(scores, right).item())


def test_all_candidates_right_is_no_loss() -> None:
    found = losses.marginal_likelihood(SCORES, torch.ones_like(RIGHT))
    assert found is not None
    assert abs(found.item()) < 1e-12


# --- triplets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "margin"), [("euclidean", 1.0), ("cosine", 0.1)])
def test_the_hinge_is_that_of_a_loop(name: str, margin: float) -> None:
    triplets = [(0, 1, 4), (0, 3, 7), (4, 6, 10), (7, 8, 0), (9, 10, 11), (5, 4, 9)]
    anchors, positives, negatives = (POINTS[list(part)] for part in zip(*triplets, strict=True))

    def between(i: int, j: int) -> float:
        a, b = POINTS[i].tolist(), POINTS[j].tolist()
        return distance(a, b) if name == "euclidean" else 1 - cosine(a, b)

    by_hand = [max(between(a, p) - between(a, n) + margin, 0) for a, p, n in triplets]
    assert any(by_hand)
    assert not all(by_hand)
    found = losses.triplet_hinge(anchors, positives, negatives, distance=name, margin=margin)
    assert found.item() == pytest.approx(sum(by_hand) / len(by_hand), abs=1e-12)
    assert torch.autograd.gradcheck(
        lambda *given: losses.triplet_hinge(*given, distance=name, margin=margin),
        [t.clone().requires_grad_() for t in (anchors, positives, negatives)],
    )


@pytest.mark.parametrize("name", ["euclidean", "cosine"])
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e9])
def test_the_hinge_is_safe_for_equal_and_for_distant_vectors(name: str, scale: float) -> None:
    one = scale * torch.tensor([[1.0, 2.0]])
    found = gradient(losses.triplet_hinge, one, one, one, distance=name, margin=0.5)
    assert losses.triplet_hinge(one, one, one, distance=name, margin=0.5).item() == 0.5
    assert all(g.shape == one.shape for g in found)
    gradient(losses.triplet_hinge, one, -one, 2 * one, distance=name)


def test_an_unknown_distance_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"'manhattan'.*'euclidean' and 'cosine'"):
        losses.triplet_hinge(POINTS, POINTS, POINTS, distance="manhattan")


def batch_hard_by_hand(points: Any, labels: list[int]) -> float:
    found = []
    for i, here in enumerate(labels):
        positives = [
            distance(points[i], points[j])
            for j, there in enumerate(labels)
            if j != i and there == here
        ]
        negatives = [
            distance(points[i], points[j]) for j, there in enumerate(labels) if there != here
        ]
        if positives and negatives:
            found.append(math.log(1 + math.exp(max(positives) - min(negatives))))
    return sum(found) / len(found)


def test_batch_hard_is_that_of_a_double_loop() -> None:
    found = losses.batch_hard_soft_margin(POINTS, LABELS)
    assert found is not None
    expected = batch_hard_by_hand(POINTS.tolist(), LABELS.tolist())
    assert found.item() == pytest.approx(expected, abs=1e-12)
    assert torch.autograd.gradcheck(
        lambda p: losses.batch_hard_soft_margin(p, LABELS), POINTS.clone().requires_grad_()
    )


def test_batch_hard_does_not_count_names_without_a_positive() -> None:
    # The last point is alone in its concept: it is a negative of others, and no anchor.
    far = torch.cat([POINTS[:-1], torch.tensor([[90.0, 90.0]], dtype=torch.float64)])
    found = losses.batch_hard_soft_margin(far, LABELS)
    assert found == losses.batch_hard_soft_margin(POINTS[:-1], LABELS[:-1])
    (slope,) = gradient(lambda p: losses.batch_hard_soft_margin(p, LABELS), far)
    assert not slope[-1].any()


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param([0, 1, 2], id="no positive"),
        pytest.param([0, 0, 0], id="no negative"),
        pytest.param([0], id="one"),
    ],
)
def test_batch_hard_with_nothing_to_learn_is_none(labels: list[int]) -> None:
    assert losses.batch_hard_soft_margin(POINTS[: len(labels)], torch.tensor(labels)) is None


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e4, 1e15])
def test_batch_hard_is_safe(scale: float) -> None:
    vectors = scale * torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [-1.0, 3.0]])
    labels = torch.tensor([0, 0, 1, 1])
    found = losses.batch_hard_soft_margin(vectors, labels)
    assert found is not None
    assert math.isfinite(found.item())
    gradient(lambda v: losses.batch_hard_soft_margin(v, labels), vectors)
    if scale == 0:
        assert found.item() == pytest.approx(math.log(2))


def test_small_distances_between_long_vectors_are_not_lost() -> None:
    # A matrix product in float32 sees distances of about 30 here, or 0.
    base = torch.full((4, 8), 3e4)
    base[:, 0] += torch.tensor([0.0, 1.0, 2.0, 4.0])
    found = losses.batch_hard_soft_margin(base, torch.tensor([0, 0, 1, 1]))
    assert found is not None
    expected = batch_hard_by_hand([[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1])
    assert found.item() == pytest.approx(expected, abs=1e-6)


# --- multi-similarity -----------------------------------------------------------------------------


def multi_similarity_by_hand(
    similarities: list[list[float]],
    positives: list[list[bool]],
    negatives: list[list[bool]],
    alpha: float = 2.0,
    beta: float = 50.0,
    threshold: float = 0.5,
    margin: float = 0.1,
) -> float:
    total = 0.0
    for row, right, wrong in zip(similarities, positives, negatives, strict=True):
        mine = [s for s, r in zip(row, right, strict=True) if r]
        others = [s for s, w in zip(row, wrong, strict=True) if w]
        pulled = [s for s in mine if others and s < max(others) + margin]
        pushed = [s for s in others if mine and s > min(mine) - margin]
        total += math.log(1 + sum(math.exp(-alpha * (s - threshold)) for s in pulled)) / alpha
        total += math.log(1 + sum(math.exp(beta * (s - threshold)) for s in pushed)) / beta
    return total / len(similarities)


def masks(labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    same = labels[:, None] == labels[None]
    return same & ~torch.eye(len(labels), dtype=torch.bool), ~same


def between_terms(points: torch.Tensor, labels: torch.Tensor = LABELS, **options: Any) -> Any:
    return losses.multi_similarity(
        losses.cosine_similarities(points, points), *masks(labels), **options
    )


@pytest.mark.parametrize(
    "options", [{}, {"alpha": 0.2, "beta": 5.0, "threshold": -0.2, "margin": 0.4}]
)
def test_multi_similarity_is_that_of_a_double_loop(options: dict[str, float]) -> None:
    points = POINTS.tolist()
    similarities = [[cosine(a, b) for b in points] for a in points]
    positives, negatives = (mask.tolist() for mask in masks(LABELS))
    expected = multi_similarity_by_hand(similarities, positives, negatives, **options)
    everything = multi_similarity_by_hand(
        similarities, positives, negatives, **{**options, "margin": 9.0}
    )
    assert expected != pytest.approx(everything)  # the miner leaves pairs out
    assert between_terms(POINTS, **options).item() == pytest.approx(expected, abs=1e-9)
    assert torch.autograd.gradcheck(
        lambda p: between_terms(p, **options), POINTS.clone().requires_grad_()
    )


MATRICES = torch.tensor(
    [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-1.0, 0.5]], [[2.0, 0.3], [0.1, -1.0]]],
    dtype=torch.float64,
)
RELATIONS = torch.tensor([0, 1, 1, 0, 2])
TAIL_LABELS = torch.tensor([4, 4, 5, 6, 5])


def through_relations(heads: Any, tails: Any, matrices: Any) -> Any:
    right = TAIL_LABELS[:, None] == TAIL_LABELS[None]
    similarities = losses.relation_similarities(heads, tails, RELATIONS, matrices)
    return losses.multi_similarity(similarities, right, ~right)


def test_similarity_through_relations_is_that_of_a_double_loop() -> None:
    heads, tails = POINTS[:5], POINTS[5:10]
    similarities = []
    for head, relation in zip(heads.tolist(), RELATIONS.tolist(), strict=True):
        matrix = MATRICES[relation].tolist()
        # Mᵀ e: the columns of M against e.
        sent = [sum(matrix[i][j] * head[i] for i in range(2)) for j in range(2)]
        similarities.append([cosine(sent, tail) for tail in tails.tolist()])
    found = losses.relation_similarities(heads, tails, RELATIONS, MATRICES)
    assert torch.allclose(found, torch.tensor(similarities, dtype=torch.float64), atol=1e-12)
    right = [[a == b for b in TAIL_LABELS.tolist()] for a in TAIL_LABELS.tolist()]
    wrong = [[not r for r in row] for row in right]
    expected = multi_similarity_by_hand(similarities, right, wrong)
    assert through_relations(heads, tails, MATRICES).item() == pytest.approx(expected, abs=1e-9)
    given = [t.clone().requires_grad_() for t in (heads, tails, MATRICES)]
    assert torch.autograd.gradcheck(through_relations, given)


def test_identity_matrices_give_the_similarity_of_the_terms() -> None:
    same = torch.eye(2, dtype=torch.float64).repeat(3, 1, 1)
    found = losses.relation_similarities(POINTS[:5], POINTS[5:], RELATIONS, same)
    assert torch.allclose(found, losses.cosine_similarities(POINTS[:5], POINTS[5:]))


def test_translations_are_those_of_a_double_loop() -> None:
    heads, tails, shifts = POINTS[:5], POINTS[5:9], POINTS[3:8]
    found = losses.translation_similarities(heads, tails, shifts)
    expected = [
        [-distance([h + s for h, s in zip(head, shift, strict=True)], tail) for tail in tails]
        for head, shift in zip(heads.tolist(), shifts.tolist(), strict=True)
    ]
    assert torch.allclose(found, torch.tensor(expected, dtype=torch.float64))
    given = [t.clone().requires_grad_() for t in (heads, tails, shifts)]
    assert torch.autograd.gradcheck(losses.translation_similarities, given)
    nowhere = torch.zeros(3, 2)
    gradient(lambda h, t, s: losses.translation_similarities(h, t, s).sum(), *[nowhere] * 3)


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param([0, 1, 2], id="no positive"),
        pytest.param([0, 0, 0], id="no negative"),
        pytest.param([0], id="one"),
    ],
)
def test_multi_similarity_with_nothing_to_learn_is_zero(labels: list[int]) -> None:
    points = POINTS[: len(labels)]
    assert between_terms(points, torch.tensor(labels)).item() == 0
    (slope,) = gradient(lambda p: between_terms(p, torch.tensor(labels)), points)
    assert not slope.any()


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e9])
def test_multi_similarity_is_safe(scale: float) -> None:
    vectors = scale * torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [-1.0, 3.0]])
    labels = torch.tensor([0, 0, 1, 1])
    gradient(lambda v: between_terms(v, labels), vectors)
    positives, negatives = masks(labels)
    moved = losses.translation_similarities(vectors, vectors, vectors)
    found = losses.multi_similarity(moved, positives, negatives)
    assert math.isfinite(found.item())
    assert found > 0


# --- grounding, and what all share ----------------------------------------------------------------


def test_grounding_is_that_of_a_loop() -> None:
    vectors, targets = POINTS[:6], POINTS[6:]
    by_hand = [1 - cosine(a, b) for a, b in zip(vectors.tolist(), targets.tolist(), strict=True)]
    assert losses.grounding(vectors, targets).item() == pytest.approx(sum(by_hand) / 6, abs=1e-12)
    assert torch.autograd.gradcheck(losses.grounding, [vectors.clone().requires_grad_(), targets])
    assert losses.grounding(vectors, 7 * vectors).item() == pytest.approx(0, abs=1e-12)
    gradient(losses.grounding, torch.zeros(2, 3), torch.ones(2, 3))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype: torch.dtype) -> None:
    points = POINTS.to(dtype)
    exact = points.double()
    pairs = [
        (
            losses.batch_hard_soft_margin(points, LABELS),
            losses.batch_hard_soft_margin(exact, LABELS),
        ),
        (between_terms(points), between_terms(exact)),
        (losses.grounding(points, points.flip(0)), losses.grounding(exact, exact.flip(0))),
        (
            losses.marginal_likelihood(SCORES.to(dtype), RIGHT),
            losses.marginal_likelihood(SCORES, RIGHT),
        ),
    ]
    for found, expected in pairs:
        assert found is not None
        assert expected is not None
        assert found.dtype == torch.float32
        assert found.item() == pytest.approx(expected.item(), rel=1e-5)


def test_mixed_precision_around_a_loss_costs_no_digits() -> None:
    points, matrices = POINTS.float(), MATRICES.float()
    expected = between_terms(points), through_relations(points[:5], points[5:10], matrices)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = between_terms(points), through_relations(points[:5], points[5:10], matrices)
    assert found == expected


# --- other libraries ------------------------------------------------------------------------------


def test_pytorch_metric_learning_agrees() -> None:
    from pytorch_metric_learning import distances, miners
    from pytorch_metric_learning import losses as theirs

    terms = theirs.MultiSimilarityLoss(alpha=2, beta=50, base=0.5)
    mined = miners.MultiSimilarityMiner(epsilon=0.1)(POINTS, LABELS)
    assert between_terms(POINTS).item() == pytest.approx(
        terms(POINTS, LABELS, mined).item(), abs=1e-9
    )
    hard = miners.BatchHardMiner(
        distance=distances.LpDistance(normalize_embeddings=False, collect_stats=False)
    )
    kept = [i for i, label in enumerate(LABELS.tolist()) if label != 3]
    points, labels = POINTS[kept], LABELS[kept]
    anchors, positives, negatives = hard(points, labels)
    hinge = theirs.TripletMarginLoss(
        margin=1.0, distance=distances.LpDistance(normalize_embeddings=False)
    )
    # Theirs is the mean over the triplets that are not 0 yet.
    found = [
        losses.triplet_hinge(points[a : a + 1], points[p : p + 1], points[n : n + 1]).item()
        for a, p, n in zip(anchors, positives, negatives, strict=True)
    ]
    above = [each for each in found if each > 0]
    assert hinge(points, labels, (anchors, positives, negatives)).item() == pytest.approx(
        sum(above) / len(above), abs=1e-9
    )
    soft = torch.nn.functional.softplus(
        losses.euclidean_distances(points[anchors], points[positives])
        - losses.euclidean_distances(points[anchors], points[negatives])
    )
    ours = losses.batch_hard_soft_margin(points, labels)
    assert ours is not None
    assert ours.item() == pytest.approx(soft.mean().item(), abs=1e-8)


@pytest.mark.slow
def test_sentence_transformers_agrees_where_every_name_has_a_positive() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers.losses import BatchHardSoftMarginTripletLoss
    theirs = BatchHardSoftMarginTripletLoss(model=None)  # type: ignore[arg-type]
    kept = [i for i, label in enumerate(LABELS.tolist()) if label != 3]
    ours = losses.batch_hard_soft_margin(POINTS[kept], LABELS[kept])
    assert ours is not None
    found = theirs.batch_hard_triplet_soft_margin_loss(LABELS[kept], POINTS[kept])
    assert ours.item() == pytest.approx(found.item(), abs=1e-9)
    # A lone name counts there as its own positive.
    lone = losses.batch_hard_soft_margin(POINTS, LABELS)
    assert lone is not None
    other = theirs.batch_hard_triplet_soft_margin_loss(LABELS, POINTS)
    assert lone.item() != pytest.approx(other.item(), abs=1e-4)
