"""Dense vectors on a torch device, a GPU as a rule: multiplied and selected there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from canonym.errors import InvalidInput, require
from canonym.indexes import BoolArray
from canonym.indexes.selection import LOWEST, Pairs
from canonym.io.arrays import spans
from canonym.io.devices import torch_device
from canonym.types import Float32Array

_BLOCK = 1 << 18  # rows


class GpuVectors:
    """Vectors on a device, block by block, as float32."""

    def __init__(self, vectors: Float32Array, device: str) -> None:
        torch = require("torch", f"device={device!r}", "torch")
        self._device = torch_device(device)
        try:
            self._blocks = [
                torch.from_numpy(np.array(vectors[span], dtype=np.float32)).to(self._device)
                for span in spans(len(vectors), _BLOCK)
            ]
        except torch.OutOfMemoryError as error:
            raise InvalidInput(
                f"{len(vectors):,} vectors of width {vectors.shape[1]} do not fit into the memory "
                f"of device={device!r}; search on the 'cpu', or with kind='ivf'"
            ) from error

    def promising(
        self, queries: Float32Array, k: int, allowed: BoolArray | None, slack: Float32Array
    ) -> Pairs:
        """Return every (query, row) that may be among the `k` best of a query, ties included.

        What `Promising` does, with the k-th best score itself as the bound. Rows of a query rise.
        Products are good to half of `slack`, ``(n,)``.
        """
        import torch

        asked = torch.from_numpy(queries).to(self._device)
        spare = torch.from_numpy(slack).to(self._device)
        best = torch.full((len(queries), k), float(LOWEST), device=self._device)
        blocks, first = [], 0
        with _whole_precision():
            for block in self._blocks:
                scores = asked @ block.T
                if allowed is not None:
                    there = torch.from_numpy(allowed[first : first + len(block)])
                    scores[:, ~there.to(self._device)] = LOWEST
                top = scores.topk(min(k, len(block))).values
                best = torch.cat([best, top], dim=1).topk(k).values
                # A row that is not allowed never reaches the floor.
                floor = (best[:, -1] - spare).clamp(min=LOWEST / 2)
                near, rows = (scores >= floor[:, None]).nonzero(as_tuple=True)
                blocks.append((near, rows + first, scores[near, rows]))
                first += len(block)
        near, rows, values = (torch.cat(column) for column in zip(*blocks, strict=True))
        high = values >= floor[near]
        queries_, rows_ = near[high].cpu().numpy(), rows[high].cpu().numpy()
        order = np.argsort(queries_, kind="stable")
        return queries_[order], rows_[order]


@contextlib.contextmanager
def _whole_precision() -> Iterator[None]:
    """Let no product be rounded more than float32 is, as TF32 of a GPU would."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
