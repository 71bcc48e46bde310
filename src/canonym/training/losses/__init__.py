"""Losses as pure functions of tensors, one equation each.

All of them take tensors of float16 to float64 on any device, compute in float32 at least, and give
finite gradients for equal vectors, zero vectors and vectors far apart. For a batch without anything
to learn from they return None, not a zero that would look like success.
"""

from canonym.training.losses.distances import (
    cosine_distances,
    cosine_similarities,
    euclidean_distances,
    exactly,
    grounding,
    unit,
    wide,
)
from canonym.training.losses.multi_similarity import (
    multi_similarity,
    relation_similarities,
    translation_similarities,
)
from canonym.training.losses.synonyms import hard_em, marginal_likelihood, pair_wise_cross_entropy
from canonym.training.losses.triplets import batch_hard_soft_margin, triplet_hinge

__all__ = [
    "batch_hard_soft_margin",
    "cosine_distances",
    "cosine_similarities",
    "euclidean_distances",
    "exactly",
    "grounding",
    "hard_em",
    "marginal_likelihood",
    "multi_similarity",
    "pair_wise_cross_entropy",
    "relation_similarities",
    "translation_similarities",
    "triplet_hinge",
    "unit",
    "wide",
]
