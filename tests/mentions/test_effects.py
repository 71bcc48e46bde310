"""Rules of the book do what their examples say, and leave their counter-examples alone."""

from __future__ import annotations

import pytest

from canonym.errors import InvalidInput
from canonym.mentions.effects import acts
from canonym.rules import Rule, shipped

RULES = list(shipped().rules)
KINDS = list(dict.fromkeys(rule.kind for rule in RULES))


@pytest.mark.parametrize("kind", KINDS)
def test_every_example_shows_its_rule(kind: str) -> None:
    assert [rule.id for rule in shipped().of_kind(kind) if not acts(rule, rule.example)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_counter_example_does(kind: str) -> None:
    rules = shipped().of_kind(kind)
    assert [rule.id for rule in rules if not rule.counter or acts(rule, rule.counter)] == []


def test_ids_are_of_one_rule_each_and_say_their_table() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert all(rule.source and "." in rule.id for rule in RULES)


def test_an_example_of_a_cue_has_a_mention_in_brackets() -> None:
    with pytest.raises(InvalidInput, match="has no mention in brackets"):
        acts(Rule("own.nope", "cue", "nope", "negated", example="nope asthma"), "nope asthma")
