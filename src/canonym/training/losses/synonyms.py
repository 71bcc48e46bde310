"""Losses over the candidates of a mention, some of which are names of its concept (BioSyn)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from canonym.training.losses.distances import exactly, unit, wide

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["hard_em", "marginal_likelihood", "marginal_over_all", "pair_wise_cross_entropy"]

# Names whose scores are held at once: some megabytes for a batch of hundreds of queries.
_BLOCK = 8192


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


def marginal_over_all(
    queries: Tensor, names: Tensor, right: Tensor, hidden: Tensor, *, scale: float = 20.0
) -> Tensor | None:
    """Return `marginal_likelihood` with every name of a terminology for a candidate.

    Parameters
    ----------
    queries : Tensor, shape (n, d)
        Encoded mentions; their length does not matter.
    names : Tensor, shape (m, d)
        Vectors of norm 1 that stay as they are: no gradient flows into them.
    right : Tensor of int, shape (2, r)
        Pairs of a query and a name of its concept, each once.
    hidden : Tensor of int, shape (2, h)
        Pairs that are as if they were not there, none of them in `right`.
    scale : float
        What cosines are multiplied by, above 0.

    Returns
    -------
    Tensor, scalar, or None
        0 or more, up to rounding; None if no query has a right name. It can be derived once.

    Notes
    -----
    The mean over queries that have a right name of::

        log Σ_{j not hidden} exp(s · cos(q, n_j)) − log Σ_{j right} exp(s · cos(q, n_j))

    Loss and gradient are summed up over blocks of names, as in attention that is never written
    down as a whole: memory does not grow with ``n · m``.

    References
    ----------
    Sung et al. (2020), Biomedical Entity Representations with Synonym Marginalization, eqs. 6–8;
    Dao et al. (2022), FlashAttention, for sums of exponentials by blocks.

    Examples
    --------
    >>> import torch
    >>> names, nothing = torch.eye(2), torch.empty(2, 0, dtype=torch.long)
    >>> right = torch.tensor([[0], [0]])
    >>> loss = marginal_over_all(torch.tensor([[1.0, 1.0]]), names, right, nothing)
    >>> round(loss.item(), 4)
    0.6931
    """
    import torch

    asked = unit(queries)
    with torch.no_grad(), exactly(asked):
        given = asked.detach()
        all_best, all_mass, all_mean = _over_blocks(given, names, hidden, scale)
        of, name = right
        chosen = names[name].to(given.dtype)
        scores = (given[of] * chosen).sum(dim=1) * scale
        best = torch.full_like(all_best, -torch.inf).scatter_reduce(0, of, scores, "amax")
        known = best > -torch.inf
        n_known = int(known.sum())
        if not n_known:
            return None
        shares = (scores - best[of]).exp()
        mass = torch.zeros_like(best).index_add(0, of, shares)
        mean = torch.zeros_like(given).index_add(0, of, (shares / mass[of])[:, None] * chosen)
        losses = (all_best - best) + (all_mass.log() - mass.log())
        value = losses[known].mean()
        slope = ((all_mean - mean) * (scale / n_known)).masked_fill(~known[:, None], 0)
    # Of the sum only the slope is left: what it amounts to is taken off again.
    followed = (asked * slope).sum()
    result: Tensor = value + (followed - followed.detach())
    return result


def _over_blocks(
    queries: Tensor, names: Tensor, hidden: Tensor, scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best score of each query, Σ exp(score − best), and the mean name under those."""
    import torch

    best = queries.new_full((len(queries),), -torch.inf)
    mass = torch.zeros_like(best)
    total = torch.zeros_like(queries)
    for start in range(0, len(names), _BLOCK):
        block = names[start : start + _BLOCK].to(queries.dtype)
        scores = queries @ block.T * scale
        here = (hidden[1] >= start) & (hidden[1] < start + len(block))
        scores[hidden[0, here], hidden[1, here] - start] = -torch.inf
        higher = torch.maximum(best, scores.amax(dim=1))
        base = higher.masked_fill(higher == -torch.inf, 0)  # of a query that has met no name yet
        before = (best - base).exp()
        scores.sub_(base[:, None]).exp_()
        mass = mass * before + scores.sum(dim=1)
        total = total * before[:, None] + scores @ block
        best = higher
    return best, mass, total / mass[:, None]


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
    chosen = wide(scores)[there]
    return torch.nn.functional.binary_cross_entropy_with_logits(
        chosen, positives[there].to(chosen.dtype)
    )


def _mean_over_known(scores: Tensor, positives: Tensor, *, hard: bool) -> Tensor | None:
    import torch

    positives = positives & (scores > -torch.inf)
    known = positives.any(dim=-1)
    if not known.any():
        return None
    chosen = wide(scores)[known]
    right = chosen.masked_fill(~positives[known], -torch.inf)
    best = right.amax(dim=-1) if hard else right.logsumexp(dim=-1)
    return (chosen.logsumexp(dim=-1) - best).mean()
