"""What an objective is: how an epoch is sampled, and the loss of one of its batches.

`canonym.training.loop.fit` knows nothing else of a paper. The sampling of an epoch is a plan made of
plain arrays, kept with every checkpoint: an objective that searches with the encoder of the moment
(BioSyn's candidates, DILBERT's re-sampling) could not repeat it in the middle of an epoch, and a
run that was stopped there could not go on to the same weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from canonym.types import Encoder, Float32Array

if TYPE_CHECKING:
    from torch import Tensor, nn

# --- objective ---

Plan = Mapping[str, np.ndarray[Any, Any]]
"""The sampling of an epoch: named arrays of numbers, row numbers into what the objective holds."""

Encode = Callable[[Sequence[str]], Float32Array]
"""Names to vectors ``(n, d)`` of norm 1, without gradients: for searching between epochs."""

Embed = Callable[[Sequence[str]], "Tensor"]
"""Names to vectors ``(n, d)`` with gradients, as the encoder pools them, not normalised."""


@runtime_checkable
class Objective(Protocol):
    """One way of training an encoder of names.

    Attributes
    ----------
    name : str
        What `canonym train` calls it.
    settings : mapping of str to object
        Everything that shapes the result, as JSON can hold it: goes into ``canonym.json``.
    """

    name: str
    settings: Mapping[str, object]

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Sample epoch number `epoch` (from 0). The same arguments give the same plan."""
        ...

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan, at least 1."""
        ...

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor | None:
        """Return the loss of one batch, a scalar; None where nothing in it can be learned from."""
        ...

    def extra_modules(self, width: int) -> Mapping[str, tuple[nn.Module, float | None]]:
        """Return what is trained besides the encoder of `width` columns, made once.

        Each module comes with its learning rate, None for that of the encoder; it is saved with
        every checkpoint and, as ``extra.safetensors``, with the encoder.
        """
        ...


# --- trainable ---
# MODULE: What the training loop asks of an encoder: vectors with gradients, and without.


@runtime_checkable
class Trainable(Protocol):
    """What `canonym.training.loop.fit.fit` trains: an encoder whose weights are in a torch module.

    Attributes
    ----------
    network : torch.nn.Module
        Holds every weight that is trained.
    width : int
        Columns of a vector.
    settings : mapping of str to object
        How vectors are made, as JSON can hold it.
    """

    network: nn.Module
    width: int

    @property
    def settings(self) -> Mapping[str, object]:
        """How vectors are made, as JSON can hold it."""
        ...

    def embed(self, names: Sequence[str]) -> Tensor:
        """Return vectors ``(n, width)`` with gradients, not normalised."""
        ...

    def encode(self, names: Sequence[str]) -> Float32Array:
        """Return vectors ``(n, width)`` of norm 1, or 0, without gradients and without dropout."""
        ...

    def to_encoder(self) -> Encoder:
        """Return the encoder that was trained; it shares the weights as long as they stay."""
        ...
