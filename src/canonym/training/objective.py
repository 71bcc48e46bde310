"""The two interfaces of the training loop: an objective, and an encoder that can be trained.

An objective samples an epoch as a plan of plain arrays. Every checkpoint keeps the plan: BioSyn and
DILBERT search with the current encoder, so a run that stopped in the middle of an epoch could not
sample it again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from canonym.types import Encoder, Float32Array

if TYPE_CHECKING:
    from torch import Tensor, nn

Plan = Mapping[str, np.ndarray[Any, Any]]
"""The sampling of an epoch: named arrays of numbers, row numbers into what the objective holds."""

Encode = Callable[..., Float32Array]
"""Names to vectors ``(n, d)`` without gradients, for searching between epochs.

They have norm 1; with ``normalise=False`` they are as the encoder pools them.
"""

Embed = Callable[[Sequence[str]], "Tensor"]
"""Names to vectors ``(n, d)`` with gradients, as the encoder pools them, not normalised."""


@runtime_checkable
class Objective(Protocol):
    """One way of training an encoder of names.

    Attributes
    ----------
    name : str
        Its name in manifests.
    settings : mapping of str to object
        All that its results depend on, as JSON can hold it, for ``canonym.json``.

    Notes
    -----
    An objective may have a method `measure(plan, epoch)`: what it returns for the plan of an epoch,
    as JSON can hold it, is in the manifest, see `canonym.training.watched`.

    It may have a number `collapsed_loss`: the loss of an encoder that gives all names one
    vector. The loop warns of an epoch that comes near it.
    """

    name: str
    settings: Mapping[str, object]

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Sample epoch number `epoch` (from 0). The same arguments give the same plan."""

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan, at least 1."""

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor | None:
        """Return the loss of one batch, a scalar; None where a batch has nothing to learn from."""

    def extra_modules(self, width: int) -> Mapping[str, tuple[nn.Module, float | None]]:
        """Return further modules to train, for an encoder of `width` columns; called once.

        Each has its learning rate, None for that of the encoder. They are saved with every
        checkpoint and, as ``extra.safetensors``, with the encoder. By default there are none.
        """
        del width
        return {}


@runtime_checkable
class Trainable(Protocol):
    """An encoder that `canonym.training.loop.fit.fit` trains, with its weights in a torch module.

    Attributes
    ----------
    network : torch.nn.Module
        Holds every weight that is trained.
    width : int
        Columns of a vector.
    """

    network: nn.Module
    width: int

    @property
    def settings(self) -> Mapping[str, object]:
        """The settings of its vectors, as JSON can hold them."""

    def embed(self, names: Sequence[str]) -> Tensor:
        """Return vectors ``(n, width)`` with gradients, not normalised."""

    def encode(self, names: Sequence[str]) -> Float32Array:
        """Return vectors ``(n, width)`` of norm 1, or 0, without gradients and without dropout."""

    def to_encoder(self) -> Encoder:
        """Return the trained encoder; it may share the weights."""


def comparable(encode: Encode, similarity: str) -> Encode:
    """Return what encodes for a similarity: only cosines are of vectors of norm 1."""
    return encode if similarity == "cosine" else functools.partial(encode, normalise=False)
