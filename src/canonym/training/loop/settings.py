"""What shapes a training run whatever its objective, and the learning rate of each step."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from canonym.encoders.inputs import check_count, check_option
from canonym.errors import InvalidInput

__all__ = ["OPTIMIZERS", "PRECISIONS", "SCHEDULES", "FitSettings", "rate_factor"]

OPTIMIZERS: tuple[str, ...] = ("adamw", "adam")
"""Decoupled weight decay on matrices only; weight decay as part of the gradient, on everything."""
SCHEDULES: tuple[str, ...] = ("linear", "constant")
"""What the learning rate does after the warm-up: fall to 0 in a line, or stay."""
PRECISIONS: tuple[str, ...] = ("float32", "bf16", "fp16")
"""What the encoder computes in; losses and weights are float32 always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSettings:
    """Settings of the training loop.

    Parameters
    ----------
    epochs : int
        Plans that are sampled and gone through.
    max_steps : int, optional
        Most steps; training ends there if the epochs have not ended it before.
    learning_rate : float
        Peak rate of the encoder, above 0.
    weight_decay : float
        At least 0; extra modules of an objective have none.
    optimizer : str
        One of `OPTIMIZERS`.
    schedule : str
        One of `SCHEDULES`.
    warm_up : float
        Share of the steps, in [0, 1], in which the rate rises from 0 in a line.
    accumulation : int
        Batches of a step, of each process: their mean loss is followed.
    clip : float, optional
        Longest gradient, by its L2 norm over all weights; a longer one is scaled down to it.
    precision : str
        One of `PRECISIONS`.
    seed : int
        Of every draw.
    patience : int, optional
        Early stopping: epochs in a row without a better dev score after which training ends.
    keep : str
        Which weights are kept in the end: ``"best"`` by the dev score, if there is one, or
        ``"last"``.

    Raises
    ------
    InvalidInput
        If a setting is out of range.
    """

    epochs: int = 10
    max_steps: int | None = None
    learning_rate: float = 1e-5
    weight_decay: float = 0.01
    optimizer: str = "adamw"
    schedule: str = "linear"
    warm_up: float = 0.0
    accumulation: int = 1
    clip: float | None = None
    precision: str = "float32"
    seed: int = 0
    patience: int | None = None
    keep: str = "best"

    def __post_init__(self) -> None:
        for name in ("epochs", "accumulation"):
            check_count(name, getattr(self, name))
        for name in ("max_steps", "patience"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        check_count("seed", self.seed, least=0)
        check_option("optimizer", self.optimizer, OPTIMIZERS)
        check_option("schedule", self.schedule, SCHEDULES)
        check_option("precision", self.precision, PRECISIONS)
        check_option("keep", self.keep, ("best", "last"))
        _check_number("learning_rate", self.learning_rate, above=0)
        _check_number("weight_decay", self.weight_decay, least=0)
        _check_number("warm_up", self.warm_up, least=0, most=1)
        if self.clip is not None:
            _check_number("clip", self.clip, above=0)

    def shaping(self) -> dict[str, object]:
        """Return what has to be the same for a run to go on: everything that its weights show.

        At a constant rate more epochs can follow; a linear schedule is laid out for a number of
        steps from the first on. How long to wait for a better score may change.
        """
        left_out = {"patience", "keep"}
        if self.schedule == "constant" and not self.warm_up:
            left_out |= {"epochs"}
        return {name: value for name, value in asdict(self).items() if name not in left_out}


def rate_factor(settings: FitSettings, step: int, total: int) -> float:
    """Return what the learning rate of a step is multiplied by, in [0, 1].

    Parameters
    ----------
    settings : FitSettings
        Schedule and warm-up.
    step : int
        From 0.
    total : int
        Steps the schedule is laid out for.

    Notes
    -----
    With ``w = round(warm_up · total)``: ``(step + 1) / (w + 1)`` while ``step < w``, then 1, or
    ``(total − step) / (total − w)`` under a linear schedule, which is above 0 in the last step.

    Examples
    --------
    >>> settings = FitSettings(warm_up=0.25)
    >>> [round(rate_factor(settings, step, 8), 2) for step in range(8)]
    [0.33, 0.67, 1.0, 0.83, 0.67, 0.5, 0.33, 0.17]
    """
    rising = round(settings.warm_up * total)
    if step < rising:
        return (step + 1) / (rising + 1)
    if settings.schedule == "constant":
        return 1.0
    return max(total - step, 0) / max(total - rising, 1)


def _check_number(
    name: str,
    value: float,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
) -> None:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not (fits and math.isfinite(value) and value >= least and value > above and value <= most):
        bounds = [f"at least {least:g}"] if least > -math.inf else []
        bounds += [f"above {above:g}"] if above > -math.inf else []
        bounds += [f"at most {most:g}"] if most < math.inf else []
        raise InvalidInput(f"{name}={value!r}: a number {' and '.join(bounds)} is expected")
