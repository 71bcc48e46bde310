"""rapidfuzz: the name with the best ratio, by the scorer that its documentation starts with."""

from __future__ import annotations

from typing import Any

REQUIREMENTS = ["rapidfuzz==3.14.6"]
PACKAGES = ["rapidfuzz"]


def build(names: list[tuple[str, str]]) -> list[str]:
    """Keep distinct names."""
    return list(dict.fromkeys(text for text, _ in names))


def candidates(index: list[str], mentions: list[str]) -> list[Any]:
    """Return the five best names of each mention."""
    from rapidfuzz import fuzz, process

    return [
        [(name, None) for name, _, _ in process.extract(mention, index, scorer=fuzz.ratio, limit=5)]
        for mention in mentions
    ]
