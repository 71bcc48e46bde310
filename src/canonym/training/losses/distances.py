"""Distances and similarities whose gradients are finite everywhere, and the grounding loss."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def exactly(values: Tensor) -> AbstractContextManager[object]:
    """Return a context in which products keep all digits, within mixed precision too."""
    import torch

    context: AbstractContextManager[object] = torch.autocast(values.device.type, enabled=False)
    return context


def wide(values: Tensor) -> Tensor:
    """Return half-precision values as float32, others as they are: sums need the digits."""
    import torch

    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values


def unit(vectors: Tensor) -> Tensor:
    """Scale vectors ``(..., d)`` to length one; zero vectors stay zero."""
    import torch

    vectors = wide(vectors)
    lengths = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return vectors / lengths.masked_fill(lengths == 0, 1)


def cosine_similarities(left: Tensor, right: Tensor) -> Tensor:
    """Return the cosine of every left vector ``(n, d)`` with every right one ``(m, d)``.

    A zero vector has cosine 0 with every other.
    """
    with exactly(left):
        return unit(left) @ unit(right).T


def cosine_distances(left: Tensor, right: Tensor) -> Tensor:
    """Return 1 − cosine of vectors ``(n, d)`` in pairs, in [0, 2]."""
    return 1 - (unit(left) * unit(right)).sum(dim=-1)


def euclidean_distances(left: Tensor, right: Tensor) -> Tensor:
    """Return the Euclidean distance of vectors ``(n, d)`` in pairs.

    The gradient at 0, where the distance has none, is 0.
    """
    import torch

    return torch.linalg.vector_norm(wide(left) - wide(right), dim=-1)


def grounding(vectors: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cosine distance of name vectors from their targets.

    Targets keep an encoder near the vectors it started with: these know more than the few names of
    the training can teach.

    Parameters
    ----------
    vectors : Tensor, shape (n, d)
        Encoded names ``f(n)``.
    targets : Tensor, shape (n, d)
        ``(u_c + u_n) / 2``: the mean of the name's input vector and that of its concept.

    Returns
    -------
    Tensor, scalar
        In [0, 2].

    Notes
    -----
    ::

        L_ground = d(f(n), (u_c + u_n) / 2),   u_c = 1/|C_n| Σ_{n ∈ C_n} u_n,   d = 1 − cos

    References
    ----------
    Fivez et al. (2021), Scalable few-shot learning of robust biomedical name representations,
    eq. 3.
    """
    return cosine_distances(vectors, targets).mean()
