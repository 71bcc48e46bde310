"""Losses over the candidates of a mention, some of which are names of its concept (BioSyn)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from canonym.training.losses.distances import wide

if TYPE_CHECKING:
    from torch import Tensor


def marginal_likelihood(scores: Tensor, positives: Tensor) -> Tensor | None:
    """Return the negative log of the probability mass on the right candidates.

    Parameters
    ----------
    scores : Tensor, shape (n, k)
        ``S(m, n)`` of `n` mentions with `k` candidates each; −inf where there is no candidate.
    positives : Tensor of bool, shape (n, k)
        Which candidates are names of a concept of the mention.

    Returns
    -------
    Tensor, scalar, or None
        0 or more; None if no mention has a right candidate.

    Notes
    -----
    ::

        P(n|m)   = exp S(m, n) / Σ_{n' ∈ N_1:k} exp S(m, n')
        P'(m)    = Σ_{n ∈ N_1:k, n right} P(n|m)
        L        = −1/M Σ_m log P'(m)

    computed as a difference of two log-sum-exps, which no score can make overflow.

    Differences
    -----------
    A mention without a right candidate has ``P' = 0`` and an infinite loss in eq. 8. It drops out
    of the mean, as in the released code.

    References
    ----------
    Sung et al. (2020), Biomedical Entity Representations with Synonym Marginalization, eqs. 6–8.

    Examples
    --------
    >>> import torch
    >>> marginal_likelihood(torch.zeros(1, 4), torch.tensor([[True, True, False, False]])).item()
    0.6931471824645996
    """
    return _mean_over_known(scores, positives, hard=False)


def hard_em(scores: Tensor, positives: Tensor) -> Tensor | None:
    """Return the negative log of the probability of the best right candidate.

    Parameters and returns are those of `marginal_likelihood`.

    Notes
    -----
    ::

        ñ = argmax_{n right} P(n|m),   L = −1/M Σ_m log P(ñ|m)

    Differences
    -----------
    Eq. 9 writes the maximum over all candidates; the text says "a single positive candidate", and
    only that can be learned from. Mentions without a right candidate drop out of the mean.

    References
    ----------
    Sung et al. (2020), Biomedical Entity Representations with Synonym Marginalization, eqs. 9–10.
    """
    return _mean_over_known(scores, positives, hard=True)


def pair_wise_cross_entropy(scores: Tensor, positives: Tensor) -> Tensor | None:
    """Return the binary cross-entropy of every pair of a mention and a candidate.

    Parameters
    ----------
    scores, positives
        As `marginal_likelihood` takes them; the score is the logit.

    Returns
    -------
    Tensor, scalar, or None
        0 or more; None if there is no candidate at all. Mentions without a right candidate count:
        their pairs are negatives.

    Notes
    -----
    ::

        L = −mean over pairs of  y log σ(S) + (1 − y) log(1 − σ(S))

    Differences
    -----------
    The paper leaves open what turns a score into a probability; here it is the sigmoid.

    References
    ----------
    Sung et al. (2020), Biomedical Entity Representations with Synonym Marginalization, section 5.4.
    """
    import torch

    there = scores > -torch.inf
    if not there.any():
        return None
    wide_scores = wide(scores)[there]
    return torch.nn.functional.binary_cross_entropy_with_logits(
        wide_scores, positives[there].to(wide_scores.dtype)
    )


def _mean_over_known(scores: Tensor, positives: Tensor, *, hard: bool) -> Tensor | None:
    import torch

    positives = positives & (scores > -torch.inf)
    known = positives.any(dim=-1)
    if not known.any():
        return None
    wide_scores = wide(scores)[known]
    right = wide_scores.masked_fill(~positives[known], -torch.inf)
    best = right.amax(dim=-1) if hard else right.logsumexp(dim=-1)
    return (wide_scores.logsumexp(dim=-1) - best).mean()
