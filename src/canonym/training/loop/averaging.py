"""Two encoders of one architecture, averaged weight by weight."""

from __future__ import annotations

from canonym.errors import InvalidInput, Mismatch
from canonym.training.modules.transformer import NameModule

__all__ = ["average_weights"]


def average_weights(one: NameModule, other: NameModule, *, share: float) -> None:
    """Move the weights of one encoder towards those of another, in place.

    Fine-tuning on a few thousand mentions makes an encoder forget some of what it knew. The average
    of the fine-tuned weights and those it began with keeps more of that, at no cost when encoding.

    Parameters
    ----------
    one : NameModule
        The encoder that is changed.
    other : NameModule
        Such as the one that it was trained from.
    share : float
        Weight of the other, in [0, 1].

    Raises
    ------
    InvalidInput
        If the share is out of range.
    Mismatch
        If the two are not of one architecture and vocabulary.

    Notes
    -----
    ``θ = (1 − share) θ_one + share θ_other`` for every number that is no count.

    References
    ----------
    Wortsman et al. (2022), Robust fine-tuning of zero-shot models.
    """
    if not 0 <= share <= 1:
        raise InvalidInput(f"share is {share}; expected a number between 0 and 1")
    mine, theirs = one.network.state_dict(), other.network.state_dict()
    shapes = [{name: tuple(v.shape) for name, v in state.items()} for state in (mine, theirs)]
    if shapes[0] != shapes[1]:
        first = next(
            name
            for name in {**shapes[0], **shapes[1]}
            if shapes[0].get(name) != shapes[1].get(name)
        )
        raise Mismatch(
            f"the weights cannot be averaged: {first} is {shapes[0].get(first, 'not there')} in "
            f"one and {shapes[1].get(first, 'not there')} in the other; take two encoders of one "
            "architecture and vocabulary"
        )
    one.network.load_state_dict(
        {
            name: value.lerp(theirs[name].to(value), share) if value.is_floating_point() else value
            for name, value in mine.items()
        }
    )
