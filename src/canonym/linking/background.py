"""The similarity that an encoder gives to what has nothing in common: each has its own scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from canonym.indexes.vectors import index_of
from canonym.linking.hits import LOOKED_AT
from canonym.linking.search import WeightedEncoder
from canonym.rules import shipped
from canonym.types import Name

_N_NAMES = 500


def background_of(encoder: WeightedEncoder, kind: str) -> float:
    """Return the similarity that phrases of other things have to names, in hundredths.

    It is the median of that to the eighth of 500 everyday names of biomedicine, over 152 phrases
    such as *tax return*. `kind` is that of the index.
    """
    names = _everyday_names()
    phrases = [rule.form for rule in shipped().of_kind("everyday phrase")]
    index: Any = index_of(encoder.encode(names), kind)
    eighth = index.search(encoder.encode(phrases), LOOKED_AT).scores[:, -1]
    return round(min(max(float(np.median(eighth)), 0.0), 0.99), 2)


@lru_cache(maxsize=1)
def _everyday_names() -> list[str]:
    """Return 500 everyday names; their file takes as long to read as a small index to build."""
    from canonym.terminology.readers.everyday import read_everyday

    every = [record.text for record in read_everyday() if isinstance(record, Name)]
    return every[:: len(every) // _N_NAMES][:_N_NAMES]


def described_with(encoder: WeightedEncoder, index: Mapping[str, Any]) -> dict[str, Any]:
    """Describe an encoder for a manifest, with the index of its vectors."""
    rarity = getattr(encoder.encoder, "rarity", 0.0)
    return {
        "name": encoder.name,
        "weight": encoder.weight,
        **({"rarity": rarity} if rarity else {}),
        **index,
        "steps": list(encoder.steps),
        "background": background_of(encoder, index["index"]),
    }


def together(encoders: Sequence[Mapping[str, Any]]) -> float:
    """Return the background of the weighted mean of encoders, as a manifest describes them."""
    weight = sum(encoder["weight"] for encoder in encoders)
    parts = (encoder["weight"] * encoder["background"] for encoder in encoders)
    return sum(parts) / weight if weight else 0.0
