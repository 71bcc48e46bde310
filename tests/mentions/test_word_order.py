"""Words that mean something else in another order, and dimensions in two ways of saying them."""

from __future__ import annotations

from canonym.mentions.contrasts import against, differs_in_meaning
from tests.tables import cases


@cases("mention", "name")
def test_another_order_is_another_thing(mention: str, name: str) -> None:
    assert differs_in_meaning(mention, name)
    assert against(mention, name).contradictions


@cases("mention", "name")
def test_another_order_may_be_the_same_thing(mention: str, name: str) -> None:
    assert not differs_in_meaning(mention, name)
    assert not against(mention, name).contradictions


@cases("mention", "name", "contradicts")
def test_a_dimension_excludes_the_opposite_adjective(
    mention: str, name: str, contradicts: bool
) -> None:
    assert bool(against(mention, name).contradictions) is contradicts


@cases("mention", "name")
def test_what_excludes_each_other(mention: str, name: str) -> None:
    assert against(mention, name).contradictions
