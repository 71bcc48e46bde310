"""Names that a mention is a part of."""

from __future__ import annotations

import pytest

from canonym.ranking.letters import COUPLED, LETTERED, gain, most_gain


@pytest.mark.parametrize(
    ("mention", "name", "expected"),
    [
        ("syncope", "syncope and collapse", COUPLED),
        ("blindness", "blindness and low vision", COUPLED),
        ("hypernatremia", "hyperosmolality and hypernatremia", COUPLED),
        ("syncope", "heat syncope", 0.0),
        ("deafness", "congenital deafness and myopia", 0.0),
        ("alpha cell", "pancreatic alpha cell", LETTERED),
        ("a cell", "pancreatic a cell", LETTERED),
        ("delta cell", "gamma delta t cell", 0.0),
        ("alpha cell", "alpha beta t cell", 0.0),
        ("l glutamate", "l arginine l glutamate", 0.0),
        ("l threonate", "calcium l threonate", 0.0),
        ("stem cell", "embryonic stem cell", 0.0),
        ("", "gene", 0.0),
        ("gene", "", 0.0),
    ],
)
def test_what_a_name_gains(mention: str, name: str, expected: float) -> None:
    assert gain(mention, name) == expected
    assert gain(mention, name) <= most_gain(mention)
