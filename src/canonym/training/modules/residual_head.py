"""The few-shot head as a trainable module; `canonym.encoders.residual` is its trained form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from canonym.encoders.inputs import checked_names
from canonym.encoders.residual import HEADS, Residual, dense, random_projection
from canonym.errors import require
from canonym.training.keys import Count, Key, check_keys
from canonym.types import Encoder, Float32Array

if TYPE_CHECKING:
    from torch import Tensor

# Vectors of the frozen encoder that are kept: batches are drawn from a few names.
_MOST_KEPT = 100_000


class ResidualModule:
    """A head on the vectors of `base`, which is frozen, to be trained.

    A second head on an encoder with a head is the paper's continual learning.

    Parameters
    ----------
    base : Encoder
        Of dense vectors ``u``.
    hidden : int
        Columns of the hidden layer.
    dropout : float
        Share of them that is dropped in training.
    width : int, optional
        Columns of a vector, reached by a fixed random projection; without it those of `base`.
    seed : int
        Of the projection and of the first weights.
    head : str
        ``residual`` moves a vector half of the way; ``dan`` replaces it, a deep averaging network.

    Notes
    -----
    ``u`` has norm 1, as all vectors of canonym do; the paper's are not normalised. The rows of a
    projected ``u`` have norm 1 on average.

    References
    ----------
    Fivez et al. (2021), section 2.1 and 3.2. The other head is the network of Fivez et al. (2021),
    Conceptual grounding constraints for truly robust biomedical name representations.
    """

    def __init__(
        self,
        base: Encoder,
        *,
        hidden: Count = 9600,
        dropout: Annotated[float, Key(least=0, below=1)] = 0.5,
        width: Count | None = None,
        seed: int = 0,
        head: Annotated[str, Key(choices=HEADS)] = "residual",
    ) -> None:
        torch = require("torch", "training an encoder", "torch")
        check_keys(ResidualModule, locals())
        n_columns = dense(base.encode(["a"])).shape[1]
        self.base, self.head = base, head
        self.width = n_columns if width is None else int(width)
        self.projection = (
            None if self.width == n_columns else random_projection(n_columns, self.width, seed=seed)
        )
        self.dropout = float(dropout)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.network = torch.nn.ModuleDict(
                {
                    "hidden": torch.nn.Linear(self.width, hidden),
                    "dropout": torch.nn.Dropout(dropout),
                    "output": torch.nn.Linear(hidden, self.width),
                }
            )
        self._kept: dict[str, Float32Array] = {}

    def __repr__(self) -> str:
        return f"ResidualModule({self.base!r}, {', '.join(f'{k}={v}' for k, v in self._sizes())})"

    def _sizes(self) -> list[tuple[str, object]]:
        hidden = self.network["hidden"].out_features
        sizes = [("hidden", hidden), ("dropout", self.dropout), ("width", self.width)]
        return sizes if self.head == "residual" else [("head", self.head), *sizes]

    @property
    def settings(self) -> dict[str, object]:
        """The settings of its vectors, as JSON can hold them."""
        return {"kind": "residual", **dict(self._sizes()), "base": type(self.base).__name__}

    def inputs(self, names: Sequence[str]) -> Float32Array:
        """Return the frozen vectors ``u``, projected where the head is wider."""
        listed = checked_names(names)
        unknown = [name for name in dict.fromkeys(listed) if name not in self._kept]
        if len(self._kept) + len(unknown) > _MOST_KEPT:
            self._kept.clear()
            unknown = list(dict.fromkeys(listed))
        if unknown:
            vectors: Any = self.base.encode(unknown)
            if self.projection is not None:
                vectors = vectors @ self.projection
            self._kept.update(zip(unknown, vectors, strict=True))
        vectors_of = [self._kept[name] for name in listed]
        return np.array(vectors_of, np.float32).reshape(-1, self.width)

    def embed(self, names: Sequence[str]) -> Tensor:
        """Return ``f(n) = (enc(u) + u) / 2``, or ``enc(u)`` of another head, with gradients."""
        import torch

        layers = self.network
        u = torch.from_numpy(self.inputs(names)).to(layers["hidden"].weight.device)
        inner = torch.relu(layers["hidden"](u))
        moved: Tensor = layers["output"](layers["dropout"](inner))
        return (moved + u) / 2 if self.head == "residual" else moved

    def encode(self, names: Sequence[str]) -> Float32Array:
        """Return the vectors ``(n, width)`` of norm 1, without gradients and without dropout."""
        return self.to_encoder().encode(names)

    def to_encoder(self) -> Residual:
        """Return the encoder so far, with a copy of the weights."""
        weights = {
            f"{layer}.{name}": parameter.detach().float().cpu().numpy().copy()
            for layer in ("hidden", "output")
            for name, parameter in self.network[layer].named_parameters()
        }
        if self.projection is not None:
            weights["projection"] = self.projection
        return Residual(self.base, weights, self.head)
