"""Strings of the same words: which mean the same, and in which words stand beside others."""

from __future__ import annotations

import pytest

from canonym import Concept, Linker, Terminology
from canonym.exchange.mappings import mappings_of
from canonym.mentions.contrasts import against, differs_in_meaning
from tests.tables import cases, tables

MOVED = tables(__file__)["moved"]


@pytest.mark.parametrize(("mention", "name"), MOVED)
def test_what_was_moved_means_something_else(mention: str, name: str) -> None:
    for pair in ((mention, name), (name, mention)):
        assert differs_in_meaning(*pair)
        assert against(*pair).contradictions


@cases("mention", "name")
def test_what_is_in_another_order_means_the_same(mention: str, name: str) -> None:
    for pair in ((mention, name), (name, mention)):
        assert not differs_in_meaning(*pair)
        assert not against(*pair).contradictions


@pytest.mark.parametrize(("mention", "name"), [*MOVED[:8], *MOVED[20:26]])
def test_it_is_never_stated_as_the_same(mention: str, name: str) -> None:
    linker = Linker.build(Terminology.build([Concept("X:1", name), Concept("X:2", "gout")]))
    (link,) = linker.link([mention])
    assert all(mapping.relation != "equal" for mapping in mappings_of(link))
    assert (link.confidence or 0) < 0.85 or link.nil
