"""Torch devices, pooling of token vectors, and errors of memory, for transformers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from canonym.errors import InvalidInput

if TYPE_CHECKING:
    import torch


DEVICE = "CANONYM_DEVICE"
"""Variable of the environment: the device that ``"auto"`` stands for, if it is set."""


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Turn token vectors ``(n, t, d)`` into one vector each, as `batches.pooled`, with gradients.

    `mask` has at least one token a row; the result has the type of `hidden`.
    """
    if pooling == "cls":
        first = mask.argmax(dim=1)
        return hidden[range(len(hidden)), first]
    inside = mask.unsqueeze(-1).bool()
    if pooling == "mean":
        # Sums of many half-precision values lose digits; they are taken in float32 at least.
        wide = hidden.float() if hidden.itemsize < 4 else hidden
        total = wide.masked_fill(~inside, 0).sum(dim=1)
        return (total / inside.sum(dim=1)).to(hidden.dtype)
    return hidden.masked_fill(~inside, -float("inf")).amax(dim=1)


def torch_device(name: str) -> torch.device:
    """Return a device by its name; for ``"auto"`` that of `DEVICE`, or the best one."""
    import torch

    if name == "auto":
        name = os.environ.get(DEVICE) or "auto"
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InvalidInput(
            f"device={name!r} cannot be used here ({str(error).splitlines()[0]}); try 'cpu'"
        ) from error
    return device


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
