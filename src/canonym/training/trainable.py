"""What the training loop asks of an encoder: vectors with gradients, and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from canonym.types import Encoder, Float32Array

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Trainable"]


@runtime_checkable
class Trainable(Protocol):
    """What `canonym.training.fit.fit` trains: an encoder whose weights are in a torch module.

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
