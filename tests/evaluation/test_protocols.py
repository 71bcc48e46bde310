"""Protocols and their variants."""

from __future__ import annotations

import re
from typing import Any

import pytest

from canonym import InvalidInput
from canonym.evaluation import protocols
from canonym.evaluation.protocols import PROTOCOLS, SPLITS, choose_protocol


def test_every_protocol_says_its_rules() -> None:
    for name, protocol in PROTOCOLS.items():
        assert protocol.name == name
        assert protocol.rules
        assert protocol.to_dict()["rules"] == list(protocol.rules)
        assert f"``{name}``" in str(protocols.__doc__)


def test_the_rules_follow_the_variant() -> None:
    assert SPLITS["gold"] in choose_protocol("biosyn").rules
    assert SPLITS["text"] in choose_protocol("biosyn", split="text").rules
    prepared = choose_protocol("biosyn", split="file").rules
    assert not any("written out" in rule for rule in prepared)
    assert any("train and dev for test" in rule for rule in prepared)
    assert any("without training" in rule for rule in choose_protocol("zero-shot").rules)
    assert PROTOCOLS["refined"].same == "pair"
    assert any("their concepts are" in r for r in choose_protocol("refined").rules)
    assert not any("and their" in r for r in choose_protocol("refined", same="text").rules)
    plain = choose_protocol("plain").rules
    assert SPLITS["none"] in plain
    assert not any("written out" in rule for rule in plain)
    raw = choose_protocol("raw")
    assert not any(re.search("lenient|strict|sieves", rule) for rule in raw.rules)
    assert any("NIL" in rule for rule in raw.rules)


def test_a_protocol_itself_is_taken_as_it_is() -> None:
    chosen = choose_protocol("biosyn", split="text")
    assert choose_protocol(chosen) is chosen
    assert choose_protocol(chosen, split="gold") == PROTOCOLS["biosyn"]
    assert choose_protocol("raw", split="linker") is PROTOCOLS["raw"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"protocol": "biosin"}, "no protocol 'biosin'; there are biosyn"),
        ({"protocol": "biosyn", "split": "linker"}, "can by gold, text, file"),
        ({"protocol": "raw", "split": "gold"}, "the linker does it"),
        ({"protocol": "biosyn", "same": "pair"}, "only 'refined'"),
        ({"protocol": "refined", "same": "id"}, "'text' or 'pair'"),
        ({"protocol": "raw", "glosses": True}, "leaves that to the linker"),
        ({"protocol": "plain", "glosses": True}, "takes them as is"),
        ({"protocol": "biosyn", "split": "file", "glosses": True}, "takes them as is"),
    ],
)
def test_variants_that_there_are_not(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        choose_protocol(**arguments)
