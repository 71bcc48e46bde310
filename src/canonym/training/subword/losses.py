"""Loss of the subword encoder with its gradient: a softmax over the names of a batch.

Names of related concepts can have a share in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def multi_positive_loss(
    vectors: npt.NDArray[Any],
    concepts: npt.NDArray[Any],
    texts: npt.NDArray[Any] | None = None,
    *,
    temperature: float = 0.05,
    related: npt.NDArray[np.bool_] | None = None,
    related_share: float = 0.1,
) -> tuple[float, npt.NDArray[Any]]:
    """Return the multi-positive softmax loss of a batch of names, and its gradient by `vectors`.

    Names of equal `texts` and different concepts are left out of each other's sums. Names without a
    positive do not count.

    Notes
    -----
    With ``s_ij = v_i · v_j / τ``, ``q_i`` the softmax of ``s_i`` over the names ``k ≠ i``, and
    ``P(i)`` the other names of the concept of ``i``::

        L_i = −1/|P(i)| Σ_{j ∈ P(i)} log q_ij

    This is the supervised contrastive loss with the sum outside of the logarithm [1]_. Names
    ``R(i)`` of related concepts make it ``(1 − r) L_i − r/|R(i)| Σ_{j ∈ R(i)} log q_ij``: nearer
    than others, less near than synonyms; CODER [2]_ has a loss for each relation instead.

    References
    ----------
    .. [1] P. Khosla et al., "Supervised Contrastive Learning", NeurIPS 2020, eq. 2.
    .. [2] Yuan et al. (2020), CODER, section 3.3.
    """
    positive = concepts[:, None] == concepts[None]
    hidden = np.zeros_like(positive)
    if texts is not None:
        np.logical_and(texts[:, None] == texts[None], ~positive, out=hidden)
    np.fill_diagonal(hidden, True)
    np.fill_diagonal(positive, False)
    counts = positive.sum(axis=1)
    used = counts > 0
    if not used.any():
        return 0.0, np.zeros_like(vectors)
    logits = vectors @ vectors.T
    logits /= temperature
    logits[hidden] = -np.inf
    masses, logs = softmax(logits)
    shares = used / int(used.sum())
    # What is wanted of the softmax is the same for all positives of a name: a number a row.
    terms = [(positive, 1 / np.maximum(counts, 1))]
    if related is not None:
        others = related & ~positive & ~hidden
        n_others = others.sum(axis=1)
        part = np.where(n_others > 0, related_share, 0.0)
        terms = [(positive, (1 - part) * terms[0][1])]
        terms.append((others, part / np.maximum(n_others, 1)))
    loss = 0.0
    for those, factors in terms:
        loss -= float(shares @ (factors * np.where(those, logs, 0).sum(axis=1)))
        # By the logits: the softmax minus what is wanted of it.
        np.subtract(masses, factors.astype(masses.dtype)[:, None], out=masses, where=those)
    np.multiply(masses, shares[:, None], out=masses, casting="same_kind")
    masses /= temperature
    return loss, (masses + masses.T) @ vectors


def softmax(logits: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the softmax of each row, zero where it is −inf alone; and its logarithm, in place."""
    largest = logits.max(axis=1, keepdims=True)
    largest[np.isneginf(largest)] = 0
    logits -= largest
    masses = np.exp(logits)
    totals = masses.sum(axis=1, keepdims=True)
    totals[totals == 0] = 1
    masses /= totals
    logits -= np.log(totals)
    return masses, logits
