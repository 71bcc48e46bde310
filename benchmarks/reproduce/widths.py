"""The width of a head, chosen by the score of its validation names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from canonym.training.loop.fit import Fitted

_T = TypeVar("_T")


def fit_widths(
    widths: Sequence[int], train: Callable[[int], tuple[_T, Fitted]]
) -> tuple[_T, Fitted, dict[str, float]]:
    """Train a head of every width, and return the one of the best score with the scores of all.

    `train` makes a head with so many columns in its hidden layer and trains it with a dev score. Of
    equal scores the first counts.

    References
    ----------
    Fivez et al. (2021), Scalable few-shot learning of robust biomedical name representations,
    section 3.2: the loss of the validation names decides the size of the network.
    """
    scores: dict[int, float] = {}
    best: tuple[_T, Fitted] | None = None
    for width in dict.fromkeys(widths):
        parts, fitted = train(width)
        score = fitted.epochs[-1 if fitted.kept is None else fitted.kept].dev
        if score is None:
            raise ValueError("a width is chosen by a dev score, and there is none")
        if best is None or score > max(scores.values()):
            best = parts, fitted
        scores[width] = score
    if best is None:
        raise ValueError("there is no width to try")
    return *best, {f"{width}": score for width, score in scores.items()}
