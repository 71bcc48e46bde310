"""Exact match: a mention has the concepts of the name that equals it in lower case."""

from __future__ import annotations

from typing import Any

REQUIREMENTS: list[str] = []
PACKAGES: list[str] = []


def build(names: list[tuple[str, str]]) -> dict[str, str]:
    """Keep the first spelling of each name."""
    known: dict[str, str] = {}
    for text, _ in names:
        known.setdefault(text.lower(), text)
    return known


def candidates(index: dict[str, str], mentions: list[str]) -> list[Any]:
    """Return the equal name of each mention, if there is one."""
    found = (index.get(mention.lower()) for mention in mentions)
    return [[(name, None)] if name is not None else [] for name in found]
