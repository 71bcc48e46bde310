"""The examples in docstrings of the workshop are run."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["mixture", "sources", "synonyms"])
def test_examples_give_what_they_say(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"models.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
