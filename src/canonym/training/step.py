"""One step of training as a torch module, and its optimizer.

Everything that a loss touches is inside one module with one forward pass, so that several
processes exchange the gradients of the encoder and of what an objective trains besides it alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from canonym.errors import InvalidInput, require
from canonym.training.fit_settings import FitSettings
from canonym.training.objective import Objective, Plan
from canonym.training.trainable import Trainable
from canonym.types import Float32Array

__all__ = ["make_optimizer", "make_step"]

_EXTRA = "extra"


def make_step(
    trainable: Trainable, objective: Objective, settings: FitSettings, *, several: bool = False
) -> Any:
    """Return the module whose forward pass is the loss of a batch.

    Parameters
    ----------
    trainable : Trainable
        The encoder; its network becomes part of the module.
    objective : Objective
        Its extra modules, made here, do so as well.
    settings : FitSettings
        The seed of the extra modules, and the precision.
    several : bool
        Whether several processes train together: they wait for the gradients of each other, also of
        a batch that gives none.

    Returns
    -------
    torch.nn.Module
        Called with a plan and the number of a batch, or without a plan for no batch; returns a
        scalar, None where the objective does, or with `several` a 0 that every weight takes part
        in. ``taught`` says whether the last batch had a loss, ``n_names`` counts the names that
        went through the encoder, ``rates`` are the learning rates of the extra modules.

    Notes
    -----
    The encoder computes in ``settings.precision``; the loss itself is float32.
    """
    require("torch", "training an encoder", "torch")
    import torch

    half = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(settings.precision)

    class Step(torch.nn.Module):  # type: ignore[misc]
        """The encoder, what is trained besides it, and the loss of both."""

        def __init__(self) -> None:
            super().__init__()
            self.encoder = trainable.network
            torch.manual_seed(settings.seed)
            made = objective.extra_modules(trainable.width)
            self.extra = torch.nn.ModuleDict({name: module for name, (module, _) in made.items()})
            self.rates: dict[str, float | None] = {name: rate for name, (_, rate) in made.items()}
            self.n_names = 0
            self.taught = False

        def embed(self, names: Sequence[str]) -> Any:
            self.n_names += len(names)
            if half is None:
                return trainable.embed(names)
            device = next(self.encoder.parameters()).device.type
            with torch.autocast(device, dtype=half):
                return trainable.embed(names).float()

        def encode(self, names: Sequence[str]) -> Float32Array:
            """Encode names to be searched between epochs, in the precision of the training."""
            if half is None:
                return trainable.encode(names)
            device = next(self.encoder.parameters()).device.type
            with torch.autocast(device, dtype=half):
                return trainable.encode(names)

        def forward(self, plan: Plan | None, batch: int) -> Any:
            found = None
            if plan is not None:
                device = next(self.encoder.parameters()).device.type
                # A loss of distances or exponentials needs more digits than half of a float has.
                plain = contextlib.nullcontext() if half is None else torch.autocast(
                    device, enabled=False
                )  # fmt: skip
                with plain:
                    found = objective.loss(self.embed, plan, batch)
            if found is not None and (found.ndim or not found.requires_grad):
                raise InvalidInput(
                    f"the objective {objective.name!r} gives a loss that cannot be followed: a "
                    f"scalar with gradients is expected, found {tuple(found.shape)}"
                )
            self.taught = found is not None
            if found is None and several:
                return sum((p * 0).sum() for p in self.parameters() if p.requires_grad)
            return found

    return Step()


def make_optimizer(step: Any, settings: FitSettings) -> Any:
    """Return the optimizer of a step, with one group for each learning rate and weight decay.

    Notes
    -----
    ``"adam"`` adds the decay of all weights of the encoder to the gradient, as BioSyn does.
    ``"adamw"`` takes it off the matrices directly, and leaves biases and norms as they are.
    """
    torch = require("torch", "training an encoder", "torch")
    encoder = [p for p in step.encoder.parameters() if p.requires_grad]
    decayed = [p for p in encoder if settings.optimizer == "adam" or p.ndim > 1]
    rest = [p for p in encoder if settings.optimizer != "adam" and p.ndim <= 1]
    groups = [
        {"params": decayed, "rate": settings.learning_rate, "weight_decay": settings.weight_decay},
        {"params": rest, "rate": settings.learning_rate, "weight_decay": 0.0},
    ]
    for name, module in step.extra.items():
        rate = step.rates[name]
        rate = settings.learning_rate if rate is None else rate
        groups.append({"params": list(module.parameters()), "rate": rate, "weight_decay": 0.0})
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    return kind([group for group in groups if group["params"]], lr=settings.learning_rate)
