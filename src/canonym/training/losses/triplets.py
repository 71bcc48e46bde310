"""Losses over triplets: an anchor, a name of its concept, a name of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from canonym.errors import InvalidInput
from canonym.training.losses.distances import cosine_distances, euclidean_distances, wide

if TYPE_CHECKING:
    from torch import Tensor

DISTANCES = {"euclidean": euclidean_distances, "cosine": cosine_distances}
"""Distances of vectors in pairs, by name."""


def triplet_hinge(
    anchors: Tensor,
    positives: Tensor,
    negatives: Tensor,
    *,
    distance: str = "euclidean",
    margin: float = 1.0,
) -> Tensor:
    """Return by how much positives fail to be nearer than negatives by a margin.

    Parameters
    ----------
    anchors, positives, negatives : Tensor, shape (n, d)
        The vectors of `n` triplets, at least one.
    distance : str
        ``"euclidean"``, or ``"cosine"`` for 1 − cosine.
    margin : float
        ``ε``.

    Returns
    -------
    Tensor, scalar
        0 or more, the mean over the triplets.

    Raises
    ------
    InvalidInput
        If there is no such distance.

    Notes
    -----
    ::

        L = max(s(m, c_g) − s(m, c_n) + ε, 0)

    References
    ----------
    Miftahutdinov et al. (2021), Drug and Disease Interpretation Learning with Biomedical Entity
    Representation Transformer, eq. 3. Fivez et al. (2021), Scalable few-shot learning of robust
    biomedical name representations, eq. 2, with the cosine.

    Examples
    --------
    >>> import torch
    >>> anchor, near, far = torch.tensor([[[0.0]], [[1.0]], [[1.5]]])
    >>> triplet_hinge(anchor, near, far).item()
    0.5
    """
    if distance not in DISTANCES:
        raise InvalidInput(
            f"there is no distance {distance!r}; there are {' and '.join(map(repr, DISTANCES))}"
        )
    between = DISTANCES[distance]
    losses = between(anchors, positives) - between(anchors, negatives) + margin
    return losses.clamp(min=0).mean()


def batch_hard_soft_margin(vectors: Tensor, labels: Tensor) -> Tensor | None:
    """Return the soft margin between the farthest positive and the nearest negative of each name.

    Parameters
    ----------
    vectors : Tensor, shape (b, d)
        Encoded names of a batch.
    labels : Tensor of int, shape (b,)
        The concept of each.

    Returns
    -------
    Tensor, scalar, or None
        Above 0, the mean over the names that have a positive and a negative in the batch; None if
        none has.

    Notes
    -----
    With ``S_ij = −‖v_i − v_j‖``::

        p = argmin_{j ≠ i, C(j) = C(i)} S_ij
        n = argmax_{k ≠ i, C(k) ≠ C(i)} S_ik
        L(i) = ln(1 + exp(S_in − S_ip))

    Distances are taken as differences and not through a matrix product, which loses all digits of
    small distances between long vectors. Only the two that are picked carry gradients.

    Differences
    -----------
    The implementation that the paper builds on takes a name for its own positive, at distance 0,
    where the batch has no other; such names do not count here.

    References
    ----------
    Xu and Bethard (2021), Triplet-Trained Vector Space and Sieve-Based Search Improve Biomedical
    Concept Normalization, eqs. 3–6.
    """
    import torch

    vectors = wide(vectors)
    same = labels[:, None] == labels[None, :]
    positive = same.clone()
    positive.fill_diagonal_(False)
    used = (positive.any(dim=1) & ~same.all(dim=1)).nonzero()[:, 0]
    if not len(used):
        return None
    with torch.no_grad():
        fixed = vectors.detach()
        distances = torch.cdist(fixed[used], fixed, compute_mode="donot_use_mm_for_euclid_dist")
        farthest = distances.masked_fill(~positive[used], -torch.inf).argmax(dim=1)
        nearest = distances.masked_fill(same[used], torch.inf).argmin(dim=1)
    anchors = vectors[used]
    gap = euclidean_distances(anchors, vectors[farthest]) - euclidean_distances(
        anchors, vectors[nearest]
    )
    return -torch.nn.functional.logsigmoid(-gap).mean()
