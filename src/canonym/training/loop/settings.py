"""Settings of the training loop, and the learning rate of each step."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from canonym.errors import InvalidInput
from canonym.training.keys import Count, Key, Rate, Share, Weight, check_keys

OPTIMIZERS: tuple[str, ...] = ("adamw", "adam")
"""Decoupled weight decay on matrices only; weight decay as part of the gradient, on everything."""
SCHEDULES: tuple[str, ...] = ("linear", "constant")
"""The learning rate after the warm-up: it falls to 0 in a line, or is constant."""
PRECISIONS: tuple[str, ...] = ("float32", "bf16", "fp16")
"""What the encoder computes in; losses and weights are float32 always."""
KEPT: tuple[str, ...] = ("best", "last")
"""Which weights stay: the best by the dev score, if there is one, or the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSettings:
    """Settings of the training loop.

    Parameters
    ----------
    epochs : int, optional
        Times to sample and train; without it, until another bound is met.
    max_steps : int, optional
        Stop after so many steps.
    max_names : int, optional
        Stop after so many names through the encoder: a budget for any recipe, in place of epochs.
    learning_rate : float
        The peak rate of the encoder.
    weight_decay : float
        Of the encoder; extra modules have none.
    optimizer : str
        With decoupled weight decay on matrices only, or with weight decay as part of the gradient.
    schedule : str
        Whether the rate falls to 0 in a line after the warm-up, or stays.
    warm_up : float
        Share of the steps in which the rate rises from 0.
    accumulation : int
        Batches of a step, of each process.
    clip : float, optional
        Scale longer gradients down to this L2 norm over all weights.
    precision : str
        What the encoder computes in; losses and weights are float32 always.
    patience : int, optional
        Stop after so many epochs in a row without a better score.
    keep : str
        Which weights to keep, where there is a score to choose by.
    seed : int
        Of all random numbers.

    Raises
    ------
    InvalidInput
        If a setting is out of range.
    """

    epochs: Count | None = 10
    max_steps: Count | None = None
    max_names: Count | None = None
    learning_rate: Rate = 1e-5
    weight_decay: Weight = 0.01
    optimizer: Annotated[str, Key(choices=OPTIMIZERS)] = "adamw"
    schedule: Annotated[str, Key(choices=SCHEDULES)] = "linear"
    warm_up: Share = 0.0
    accumulation: Count = 1
    clip: Rate | None = None
    precision: Annotated[str, Key(choices=PRECISIONS)] = "float32"
    patience: Annotated[int, Key(least=1, key="early_stopping")] | None = None
    keep: Annotated[str, Key(choices=KEPT)] = "best"
    seed: Annotated[int, Key(least=0)] = 0

    def __post_init__(self) -> None:
        if self.epochs is None:
            most = self.max_steps or self.max_names
            if most is None:
                raise InvalidInput(
                    "neither epochs nor max_steps nor max_names is given; training needs an end"
                )
            object.__setattr__(self, "epochs", most)
        check_keys(FitSettings, asdict(self))

    @property
    def n_epochs(self) -> int:
        """The epochs at most: those given, or as many as the steps allow."""
        return self.epochs or 0

    def shaping(self) -> dict[str, object]:
        """Return the settings that a resumed run has to share: all that its weights depend on.

        At a constant rate more epochs can follow; a linear schedule depends on the number of steps.
        """
        left_out = {"patience", "keep"}
        if self.schedule == "constant" and not self.warm_up:
            left_out |= {"epochs"}
        return {name: value for name, value in asdict(self).items() if name not in left_out}


def rate_factor(settings: FitSettings, step: float, total: int) -> float:
    """Return the factor of the learning rate of a step, in [0, 1].

    With ``max_names``, `step` and `total` are names that the encoder has seen.

    With ``w = round(warm_up · total)``: ``(step + 1) / (w + 1)`` while ``step < w``, then 1, or
    ``(total − step) / (total − w)`` under a linear schedule, which is above 0 in the last step.
    """
    rising = round(settings.warm_up * total)
    if step < rising:
        return (step + 1) / (rising + 1)
    if settings.schedule == "constant":
        return 1.0
    return max(total - step, 0) / max(total - rising, 1)
