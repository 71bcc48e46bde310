"""Vectors of another encoder, moved by a small network: the few-shot head.

Notes
-----
With the vector ``u`` of a name by the encoder underneath, brought to more columns by a fixed random
matrix where the head wants more::

    enc(u) = W₂ max(W₁ u + b₁, 0) + b₂
    f(n)   = (enc(u) + u) / 2

divided by its L2 norm. Torch trains the network (`canonym.training.modules.residual_head`); here it
needs NumPy alone. The encoder underneath may have such a head itself: so the paper goes on learning
from a second hierarchy. A zero vector of the encoder underneath stays zero.

References
----------
P. Fivez, S. Suster and W. Daelemans, "Scalable Few-Shot Learning of Robust Biomedical Name
Representations", BioNLP 2021, section 2.1, eq. 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from canonym.encoders.batches import normalised
from canonym.encoders.inputs import checked_names, distinct_names
from canonym.encoders.saved import map_tensors, reopen, write_encoder_manifest, write_tensors
from canonym.errors import InvalidInput, Mismatch
from canonym.io.arrays import spans
from canonym.types import Encoder, Float32Array

__all__ = ["Residual", "random_projection"]

_NAMES = ("hidden.weight", "hidden.bias", "output.weight", "output.bias")
HEADS: tuple[str, ...] = ("residual", "dan")
"""``(enc(u) + u) / 2``, or ``enc(u)`` alone: a deep averaging network where ``u`` is a mean."""

_BLOCK = 1024  # names: their hidden layer of 9,600 columns takes 40 MB


def random_projection(n_columns: int, width: int, *, seed: int) -> Float32Array:
    """Return a random matrix ``(n_columns, width)`` that brings vectors to more columns.

    Values are independent and normal, of variance ``1 / width``: lengths are kept on average.
    """
    if width < n_columns:
        raise InvalidInput(
            f"width={width} is less than the {n_columns} columns of the encoder underneath; a "
            "random projection goes up only"
        )
    draws = np.random.default_rng(seed).standard_normal((n_columns, width))
    return np.asarray(draws / np.sqrt(width), np.float32)


class Residual:
    """Encode names with another encoder and a trained head on top of it.

    Parameters
    ----------
    base : Encoder
        Gives the vectors ``u``: any encoder of dense vectors, another `Residual` included.
    weights : mapping of str to float32 array
        ``hidden.weight`` (h, w), ``hidden.bias`` (h,), ``output.weight`` (w, h), ``output.bias``
        (w,), and where `base` has d < w columns ``projection`` (d, w).
    head : str
        One of `HEADS`.

    Raises
    ------
    InvalidInput
        If `base` gives sparse vectors, or the weights are incomplete or do not fit each other.
    Mismatch
        If the head was made for another number of columns than `base` has.

    Examples
    --------
    >>> import numpy as np
    >>> from canonym.encoders.static import StaticVectors
    >>> base = StaticVectors(["heart", "flu"], np.eye(2, dtype=np.float32))
    >>> weights = {
    ...     "hidden.weight": np.array([[1, 0]], np.float32),
    ...     "hidden.bias": np.zeros(1, np.float32),
    ...     "output.weight": np.array([[0], [1]], np.float32),
    ...     "output.bias": np.zeros(2, np.float32),
    ... }
    >>> Residual(base, weights).encode(["heart", "flu"]).round(3).tolist()
    [[0.7070000171661377, 0.7070000171661377], [0.0, 1.0]]
    """

    def __init__(
        self, base: Encoder, weights: Mapping[str, Float32Array], head: str = "residual"
    ) -> None:
        if head not in HEADS:
            raise InvalidInput(f"there is no head {head!r}; there are {', '.join(HEADS)}")
        self.base, self.head = base, head
        self.weights = {name: weights[name] for name in sorted(weights)}
        if hasattr(base, "steps"):
            # An encoder that normalises for itself wants names as written, so with a head as well.
            self.steps: tuple[str, ...] = tuple(base.steps)
        n_columns = dense(base.encode(["a"])).shape[1]
        _check(self.weights)
        projection = self.weights.get("projection")
        expected = self.n_columns if projection is None else len(projection)
        if expected != n_columns:
            raise Mismatch(
                f"the head takes vectors of {expected} columns, the encoder underneath has "
                f"{n_columns}; give the encoder that the head was trained on"
            )

    def __repr__(self) -> str:
        hidden = len(self.weights["hidden.bias"])
        head = "" if self.head == "residual" else f"{self.head}, "
        return f"Residual({self.base!r}, {head}{hidden:,} hidden, {self.n_columns} dimensions)"

    @property
    def settings(self) -> dict[str, Any]:
        """Empty for a residual head: the arrays and the encoder underneath describe it."""
        return {} if self.head == "residual" else {"head": self.head}

    @property
    def n_columns(self) -> int:
        """Dimensions of a vector."""
        return int(self.weights["hidden.weight"].shape[1])

    def encode(self, names: Sequence[str]) -> Float32Array:
        """Encode `names`.

        Returns
        -------
        (n, w) float32 array
            Of L2 norm 1, or 0 where the encoder underneath has 0.
        """
        texts, place_of = distinct_names(checked_names(names))
        return self.transform(dense(self.base.encode(texts)))[place_of]

    def transform(self, inputs: Float32Array) -> Float32Array:
        """Apply the head to vectors ``(n, d)`` of `base`: ``(n, w)`` float32, see `encode`."""
        projection = self.weights.get("projection")
        vectors = np.empty((len(inputs), self.n_columns), np.float32)
        into, into_bias, out, out_bias = (self.weights[name] for name in _NAMES)
        for span in spans(len(inputs), _BLOCK):
            u = inputs[span]
            if projection is not None:
                u = u @ projection
            hidden = np.maximum(u @ into.T + into_bias, 0)
            moved = hidden @ out.T + out_bias
            if self.head == "residual":
                # Half of it or all of it: the same direction, and only that is left.
                moved += u
            vectors[span] = np.where(u.any(axis=1, keepdims=True), moved, 0)
        return normalised(vectors)

    def save(self, folder: Path) -> None:
        """Write the head into `folder` and the encoder underneath into ``base`` within it."""
        from canonym.encoders import save_encoder

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_tensors(folder / "head.safetensors", self.weights)
        save_encoder(self.base, folder / "base", overwrite=True)
        write_encoder_manifest(folder, kind="residual", settings=self.settings)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open an encoder that `save` wrote; its arrays are mapped into memory."""
        from canonym.encoders import load_encoder

        folder = Path(folder)

        def complete(settings: dict[str, Any]) -> dict[str, Any]:
            weights = map_tensors(folder / "head.safetensors")
            return settings | {"base": load_encoder(folder / "base"), "weights": weights}

        return reopen(cls, folder, "residual", complete)


def _check(weights: Mapping[str, Float32Array]) -> None:
    missing = [name for name in _NAMES if name not in weights]
    unknown = [name for name in weights if name not in {*_NAMES, "projection"}]
    if missing or unknown:
        raise InvalidInput(
            f"the weights of a head are {', '.join(_NAMES)} and perhaps projection; found "
            f"{', '.join(weights) or 'none'}"
        )
    hidden, width = weights["hidden.weight"].shape if weights["hidden.weight"].ndim == 2 else (0, 0)
    shapes = dict(zip(_NAMES, [(hidden, width), (hidden,), (width, hidden), (width,)], strict=True))
    if "projection" in weights:
        shapes["projection"] = (len(weights["projection"]), width)
    for name, shape in shapes.items():
        array = weights[name]
        if array.shape != shape or array.dtype != np.float32 or not array.size:
            raise InvalidInput(
                f"{name}: float32 of shape {shape} is expected, found {array.dtype} of shape "
                f"{array.shape}"
            )
        if not np.isfinite(array).all():
            raise InvalidInput(f"{name} holds NaN or infinity; train the head again")


def dense(vectors: Any) -> Float32Array:
    """Return vectors that a head goes on, or refuse sparse ones."""
    if not isinstance(vectors, np.ndarray):
        raise InvalidInput(
            "a head goes on an encoder of dense vectors; character n-grams give sparse ones"
        )
    return vectors
