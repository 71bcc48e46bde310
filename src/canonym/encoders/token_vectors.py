"""Pooling of token vectors, and what the memory and precision of torch devices allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Turn token vectors ``(n, t, d)`` into one vector each, with gradients.

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
