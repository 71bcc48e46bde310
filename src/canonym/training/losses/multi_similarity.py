"""The multi-similarity loss with its miner, between terms and through relations (CODER)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from canonym.training.losses.distances import cosine_similarities, exactly, wide

if TYPE_CHECKING:
    from torch import Tensor


def multi_similarity(
    similarities: Tensor,
    positives: Tensor,
    negatives: Tensor,
    *,
    alpha: float = 2.0,
    beta: float = 50.0,
    threshold: float = 0.5,
    margin: float = 0.1,
) -> Tensor:
    """Return the multi-similarity loss over the pairs that its miner keeps.

    Parameters
    ----------
    similarities : Tensor, shape (n, m)
        ``S_ij`` of `n` anchors, at least one, with `m` others.
    positives, negatives : Tensor of bool, shape (n, m)
        Which pairs belong together and which do not; a pair that is neither, as an anchor with
        itself, does not count.
    alpha, beta : float
        How sharply positives and negatives are weighed.
    threshold : float
        ``λ``, the similarity on which both are centred.
    margin : float
        ``ε`` of the miner.

    Returns
    -------
    Tensor, scalar
        0 or more: the mean over all anchors, of which those without a mined pair add nothing. It is
        0 with a zero gradient where no anchor has one.

    Notes
    -----
    ::

        N_i = { j negative | S_ij > min_{k positive} S_ik − ε }
        G_i = { j positive | S_ij < max_{k negative} S_ik + ε }
        L = 1/n Σ_i ( log(1 + Σ_{j ∈ G_i} exp(−α (S_ij − λ))) / α
                    + log(1 + Σ_{j ∈ N_i} exp(β (S_ij − λ))) / β )

    Both sets are empty for an anchor that lacks positives or negatives: the minimum over nothing is
    +∞, the maximum −∞. The logarithms are log-sum-exps with a zero added.

    References
    ----------
    Yuan et al. (2020), CODER: Knowledge infused cross-lingual medical term embedding for term
    normalization, section 3.3. Wang et al. (2019), Multi-Similarity Loss with General Pair
    Weighting for Deep Metric Learning.
    """
    import torch

    similarities = wide(similarities)
    fixed = similarities.detach()
    hardest_positive = fixed.masked_fill(~positives, torch.inf).amin(dim=1, keepdim=True)
    hardest_negative = fixed.masked_fill(~negatives, -torch.inf).amax(dim=1, keepdim=True)
    pulled = positives & (fixed < hardest_negative + margin)
    pushed = negatives & (fixed > hardest_positive - margin)
    away = similarities - threshold
    losses = (
        _log_one_plus(-alpha * away, pulled) / alpha + _log_one_plus(beta * away, pushed) / beta
    )
    return losses.mean()


def _log_one_plus(exponents: Tensor, counted: Tensor) -> Tensor:
    """Return ``log(1 + Σ exp)`` over the chosen exponents of each row."""
    import torch

    exponents = exponents.masked_fill(~counted, -torch.inf)
    return torch.cat([torch.zeros_like(exponents[:, :1]), exponents], dim=1).logsumexp(dim=1)


def relation_similarities(
    heads: Tensor, tails: Tensor, relations: Tensor, matrices: Tensor
) -> Tensor:
    """Return the cosine of every head, sent through its relation, with every tail.

    Parameters
    ----------
    heads, tails : Tensor, shapes (n, d) and (m, d)
        Encoded terms.
    relations : Tensor of int, shape (n,)
        The relation of each head.
    matrices : Tensor, shape (n_relations, d, d)
        ``M_r`` of every relation.

    Returns
    -------
    Tensor, shape (n, m)
        ``cos(M_rᵀ e_h, e_t)``, in [−1, 1].

    Notes
    -----
    Heads are sent through the matrix of their relation together, so that no matrix is copied for
    each of them.

    References
    ----------
    Yuan et al. (2020), CODER, section 3.3.
    """
    import torch

    heads = wide(heads)
    sent = torch.zeros_like(heads)
    with exactly(heads):
        for relation in relations.unique():
            rows = (relations == relation).nonzero()[:, 0]
            # Rows times M_r are the columns M_rᵀ e.
            sent = sent.index_copy(0, rows, heads[rows] @ matrices[relation].to(heads.dtype))
    return cosine_similarities(sent, tails)


def translation_similarities(heads: Tensor, tails: Tensor, shifts: Tensor) -> Tensor:
    """Return the negative distance of every head, moved by its relation, from every tail.

    Parameters
    ----------
    heads, tails : Tensor, shapes (n, d) and (m, d)
        Encoded terms.
    shifts : Tensor, shape (n, d)
        The vector of each head's relation.

    Returns
    -------
    Tensor, shape (n, m)
        ``−‖e_h + r − e_t‖``, 0 or less; the gradient at 0 is taken to be 0.

    References
    ----------
    Yuan et al. (2020), CODER, section 5.1, after TransE.
    """
    import torch

    heads, tails = wide(heads), wide(tails)
    moved = heads + shifts.to(heads.dtype)
    return -torch.cdist(moved, tails, compute_mode="donot_use_mm_for_euclid_dist")
