"""A transformer small enough to be trained in a test."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"

WORDS = ["heart", "attack", "flu", "pain", "chronic", "left", "hip", "fracture", "acute", "renal"]
NAMES = [f"{one} {other}" for one in WORDS for other in WORDS if one != other]


@pytest.fixture
def names() -> list[str]:
    """Ninety names of two words."""
    return list(NAMES)


@pytest.fixture
def make_module() -> Callable[..., Any]:
    """A function that makes the same tiny BERT each time."""
    from canonym.training.scratch import new_module

    def make(**options: Any) -> Any:
        small = {"width": 16, "layers": 1, "heads": 2, "vocabulary": 80, "max_length": 12}
        return new_module(NAMES, **small | options)

    return make
