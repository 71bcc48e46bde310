"""Dense vectors of many names, batch by batch, for the transformer encoders.

How token vectors are pooled stands here too, and what memory and precision of torch devices allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from canonym.encoders.hub import Comparison
from canonym.encoders.inputs import checked_names, distinct_names
from canonym.errors import InvalidInput
from canonym.io.encodings import without_surrogates
from canonym.types import Float32Array

if TYPE_CHECKING:
    import torch


class TokenEncoder:
    """What encoders have in common that pool the vectors of tokens, at most `max_length` a name."""

    pooling: str
    max_length: int
    lowercase: bool
    normalise = True
    similarity = "cosine"
    n_columns: int  # dimensions of a vector
    _together: int  # names that `_embed` takes at once

    def compare_by(self, comparison: Comparison) -> None:
        """Let vectors be compared in another way from now on."""
        self._comparison = comparison
        self.similarity, self.normalise, self.sparse_weight = comparison

    def _embed(self, texts: list[str]) -> Float32Array:
        raise NotImplementedError

    def encode(self, names: Sequence[str]) -> Float32Array:
        """Encode names: ``(n, d)`` float32, of L2 norm 1 unless `normalise` is off.

        Raises `InvalidInput` if `names` is not a collection of strings, or a batch does not fit the
        memory.
        """
        return encode_in_batches(
            names,
            self._embed,
            width=self.n_columns,
            batch_size=self._together,
            lowercase=self.lowercase,
            normalise=self.normalise,
        )


def encode_in_batches(
    names: Sequence[str],
    embed: Callable[[list[str]], Float32Array],
    *,
    width: int,
    batch_size: int,
    lowercase: bool,
    normalise: bool,
) -> Float32Array:
    """Encode each distinct name once, in batches of similar length; ``(n, width)`` float32.

    `embed` turns at most `batch_size` names, free of lone surrogates, into ``(b, width)`` float32.
    The longest names come first, so that a batch too large for the memory fails at once.
    """
    texts, place_of = distinct_names(checked_names(names))
    texts = [without_surrogates(text.lower() if lowercase else text) for text in texts]
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    vectors = np.empty((len(texts), width), np.float32)
    for start in range(0, len(order), batch_size):
        places = order[start : start + batch_size]
        vectors[places] = embed([texts[place] for place in places])
    if not np.isfinite(vectors).all():
        raise InvalidInput(
            "the model yields NaN or infinity for some names; with dtype='float16' choose "
            "'bfloat16' or 'float32', otherwise the checkpoint is damaged"
        )
    return (normalised(vectors) if normalise else vectors)[place_of]


def embed_by_length(
    lengths: Sequence[int],
    embed: Callable[[list[int]], Float32Array],
    *,
    width: int,
    n_alike: int,
    n_threads: int,
) -> Float32Array:
    """Embed names of equal length together, so that nothing is padded; ``(n, width)`` float32.

    `lengths` counts the tokens of each name; a name without any becomes zeros. `embed` takes places
    of at most `n_alike` names. The longest come first, on up to `n_threads` threads.
    """
    places: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        places.setdefault(length, []).append(place)
    batches = [
        places[length][start : start + n_alike]
        for length in sorted(places.keys() - {0}, reverse=True)
        for start in range(0, len(places[length]), n_alike)
    ]
    vectors = np.zeros((len(lengths), width), np.float32)

    def fill(batch: list[int]) -> None:
        vectors[batch] = embed(batch)

    if min(n_threads, len(batches)) < 2:
        for batch in batches:
            fill(batch)
        return vectors
    with ThreadPoolExecutor(min(n_threads, len(batches))) as threads:
        list(threads.map(fill, batches))
    return vectors


def normalised(vectors: Float32Array) -> Float32Array:
    """Bring each row to L2 norm 1; rows of zeros stay."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    norms[norms == 0] = 1
    return np.asarray(vectors / norms[:, None], np.float32)


# --- vectors of tokens ----------------------------------------------------------------------------


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Turn token vectors ``(n, t, d)`` into one vector each, with gradients.

    `mask` has at least one token a row; the result has the type of `hidden`.
    """
    if pooling == "cls":
        return hidden[range(len(hidden)), mask.argmax(dim=1)]
    inside = mask.unsqueeze(-1).bool()
    if pooling == "mean":
        # Sums of many half-precision values lose digits; they are taken in float32 at least.
        wide = hidden.float() if hidden.itemsize < 4 else hidden
        total = wide.masked_fill(~inside, 0).sum(dim=1)
        return (total / inside.sum(dim=1)).to(hidden.dtype)
    return hidden.masked_fill(~inside, -float("inf")).amax(dim=1)


def bf16_pays(device: torch.device) -> bool:
    """Tell whether `device` computes in bfloat16 faster than in float32.

    A CPU without instructions for it takes fifty times as long and more.
    """
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    known = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    return device.type == "cpu" and known is not None and bool(known())


def out_of_memory(error: RuntimeError) -> bool:
    """Tell whether `error` means that memory ran out, on a GPU or not."""
    import torch

    # On a CPU torch raises a plain RuntimeError whose only mark is its text.
    return isinstance(error, torch.cuda.OutOfMemoryError) or "allocate memory" in str(error)
