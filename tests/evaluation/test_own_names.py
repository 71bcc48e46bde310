"""Encoders and orders compared by names that are taken out of a terminology."""

from __future__ import annotations

import math

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.evaluation.own_names import compare_by_names, rows_to_ask
from canonym.terminology import Terminology
from canonym.types import Concept, Name, Record, Relation

N = 300


def terminology(n: int = N, *, deprecated: bool = False) -> Terminology:
    """Concepts whose two synonyms have the letters of their label, but of every tenth."""
    records: list[Record] = []
    for number in range(n):
        word = "".join(
            "bdfglmnprs"[int(digit)] + "aeiou"[int(digit) % 5] for digit in f"{number:03}"
        )
        records.append(Concept(f"X:{number}", f"{word} disease", deprecated=deprecated))
        for extra in ("old", "bad"):
            text = (
                f"{word}s {extra}" if number % 10 else f"morbus {number * 7 + len(extra)} {extra}"
            )
            records.append(Name(text, f"X:{number}"))
        records.append(Relation(f"X:{number}", "is_a", "X:0"))
    return Terminology.build(records)


def test_alternatives_are_in_order_and_compared_with_the_first() -> None:
    done: list[tuple[int, int]] = []
    found = compare_by_names(
        terminology(),
        [["chargrams"], ["default"], ["chargrams", "default"]],
        orders=["nearest", "marginal"],
        progress=lambda *report: done.append(report),
    )
    assert [(one.encoders, one.order) for one in found] == [
        (encoders, order)
        for encoders in (("chargrams",), ("default",), ("chargrams", "default"))
        for order in ("nearest", "marginal")
    ]
    assert math.isnan(found[0].p)
    assert all(0 <= one.p <= 1 for one in found[1:])
    assert {one.n for one in found} == {N // 10}
    for one in found:
        assert one.first.low <= one.first.value <= one.first.high
        assert one.first.value <= one.among.value
    assert found[0].first.value > 0.5
    assert done == [(number, 6) for number in range(1, 7)]


def test_the_same_seed_asks_the_same() -> None:
    names = terminology()
    one, same, other = (
        compare_by_names(names, [["chargrams"]], n=25, seed=seed) for seed in (0, 0, 1)
    )
    assert str(one) == str(same)
    assert one[0].n == 25
    assert str(one) != str(other)


def test_what_is_taken_out_is_not_there() -> None:
    names = ["flu", "influenza", "grippe", "Flu", "asthma", "wheezing", "cough"]
    concepts = np.array([0, 0, 0, 1, 1, 1, 2], dtype=np.int32)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        (row,) = rows_to_ask(names, concepts, rng, n=5, least=2)
        assert names[row] not in {"flu", "Flu", "cough"}  # the name of two, and one alone
    allowed = np.array([name == "wheezing" for name in names])
    rng = np.random.default_rng(0)
    assert rows_to_ask(names, concepts, rng, n=5, least=2, allowed=allowed).tolist() == [5]


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ({"encoders": []}, "nothing to compare"),
        ({"encoders": [[]]}, "nothing to compare"),
        ({"orders": []}, "nothing to compare"),
        ({"n": 3}, "at least 20"),
        ({"orders": ["nearest", "best"]}, "the order is 'best'"),
        ({"encoders": [["chargrams"], ["nonsense"]]}, "'nonsense' is neither"),
    ],
)
def test_what_cannot_be_compared_is_told(made: dict, problem: str) -> None:
    given = {"encoders": [["chargrams"]], **made}
    with pytest.raises(InvalidInput, match=problem):
        compare_by_names(terminology(), given.pop("encoders"), **given)


@pytest.mark.parametrize("few", [terminology(50), terminology(deprecated=True)])
def test_few_names_are_told(few: Terminology) -> None:
    with pytest.raises(InvalidInput, match="at least 20 are expected"):
        compare_by_names(few, [["chargrams"]])
