"""The softmax over all names of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from canonym.training.losses.distances import unit, wide

if TYPE_CHECKING:
    from torch import Tensor


def multi_positive_softmax(
    vectors: Tensor,
    labels: Tensor,
    texts: Tensor | None = None,
    *,
    temperature: float = 0.05,
    related: Tensor | None = None,
    related_share: float = 0.1,
) -> Tensor | None:
    """Return how far names of a batch are from choosing the other names of their concept.

    Parameters
    ----------
    vectors : Tensor, shape (b, d)
        Encoded names of a batch; their length does not matter.
    labels : Tensor of int, shape (b,)
        The concept of each.
    texts : Tensor of int, shape (b,), optional
        The text of each: equal texts of different concepts are left out of each other's sums. By
        default all differ.
    temperature : float
        Divides the cosines, above 0.
    related : Tensor of bool, shape (b, b), optional
        Which two names are of concepts that a relation joins.
    related_share : float
        Share of those in the loss of a name that has positives and related names, in [0, 1].

    Returns
    -------
    Tensor, scalar, or None
        Mean over the names that have a positive in the batch; None if none has.

    Notes
    -----
    With ``s_ij = cos(v_i, v_j) / τ`` and ``P(i)`` the other names of the concept of ``i``::

        L_i = −1/|P(i)| Σ_{j ∈ P(i)} log( exp s_ij / Σ_{k ≠ i} exp s_ik )

    Names ``R(i)`` of related concepts make it ``(1 − r) L_i + r M_i``, where ``M_i`` is the same
    with ``R(i)`` in the place of ``P(i)``. Without torch,
    `canonym.training.subword.losses.multi_positive_loss` is the same.

    References
    ----------
    Khosla et al. (2020), Supervised Contrastive Learning, eq. 2.

    Examples
    --------
    >>> import torch
    >>> vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> round(multi_positive_softmax(vectors, torch.tensor([0, 0, 1]), temperature=1.0).item(), 4)
    0.3133
    """
    import torch

    positive = labels[:, None] == labels[None]
    hidden = torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    if texts is not None:
        hidden = hidden | ((texts[:, None] == texts[None]) & ~positive)
    positive = positive & ~hidden
    counts = positive.sum(dim=1)
    used = counts > 0
    if not bool(used.any()):
        return None
    normal = unit(wide(vectors))
    logits = normal @ normal.T / temperature
    logits = logits.masked_fill(hidden, -torch.inf)
    # A name that has a positive has something to be compared with; the others are left out first.
    logs = logits[used].log_softmax(dim=1)
    likelihood = torch.where(positive[used], logs, 0).sum(dim=1) / counts[used]
    if related is not None:
        others = (related & ~positive & ~hidden)[used]
        n_others = others.sum(dim=1)
        of_others = torch.where(others, logs, 0).sum(dim=1) / n_others.clamp(min=1)
        share = torch.where(n_others > 0, related_share, 0.0)
        likelihood = (1 - share) * likelihood + share * of_others
    return -likelihood.mean()
