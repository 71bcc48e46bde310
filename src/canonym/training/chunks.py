"""A batch of tokens in chunks of similar length, whose words are looked up once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["chunks", "look_up", "padded"]


def chunks(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Cut into even chunks of at most `size`."""
    n = -(-len(order) // size)
    for chunk in range(n):
        yield order[chunk * len(order) // n : (chunk + 1) * len(order) // n]


def padded(ids: Sequence[Sequence[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Return tokens as ``(n, t)`` int64, filled up with `pad`, and their mask: 1 for a token."""
    import torch

    longest = max(map(len, ids))
    filled = torch.full((len(ids), longest), pad, dtype=torch.long)
    mask = torch.zeros((len(ids), longest), dtype=torch.long)
    for row, tokens in enumerate(ids):
        filled[row, : len(tokens)] = torch.tensor(tokens, dtype=torch.long)
        mask[row, : len(tokens)] = 1
    return filled, mask


def look_up(network: Any, ids: Sequence[Sequence[int]], pad: int) -> tuple[list[list[int]], Tensor]:
    """Look up every token of a batch once.

    Parameters
    ----------
    network : torch.nn.Module
        A Hugging Face model.
    ids : sequence of sequence of int
        Tokens of each name.
    pad : int
        The token that fills up.

    Returns
    -------
    list of list of int
        The row of each token in the vectors; `pad` is row 0.
    (m, d) tensor
        The vectors, with gradients.

    Notes
    -----
    Every look-up makes a gradient of the whole vocabulary, which takes up to a tenth of the time
    of training in bfloat16 where each chunk has its own: chunks share this one.
    """
    import torch

    tokens = list(dict.fromkeys(itertools.chain([pad], *ids)))
    places = {token: place for place, token in enumerate(tokens)}
    table = network.get_input_embeddings()
    vectors = table(torch.tensor(tokens, device=table.weight.device))
    return [[places[token] for token in row] for row in ids], vectors
