"""Encoders and orders compared by names that are taken out of a terminology."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from canonym.cli import main
from canonym.encoders import make_encoder
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.evaluation.own_names import compare_by_names, gain_by_rarity, rows_to_ask
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
        progress=lambda *report: done.append(report),
    )
    assert [one.encoders for one in found] == [
        ("chargrams",), ("default",), ("chargrams", "default"),
    ]  # fmt: skip
    assert {one.read for one in found} == {()}
    assert math.isnan(found[0].p)
    assert all(0 <= one.p <= 1 for one in found[1:])
    assert {one.n for one in found} == {N // 10}
    for one in found:
        assert one.first.low <= one.first.value <= one.first.high
        assert one.first.value <= one.among.value
    assert found[0].first.value > 0.5
    assert done == [(number, 3) for number in range(1, 4)]


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
        ({"n": 3}, "at least 20"),
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


# --- rare words -----------------------------------------------------------------------------------


def hopeless(n: int = N) -> Terminology:
    """Concepts whose names have nothing in common."""
    records: list[Record] = []
    for number in range(n):
        records.append(Concept(f"X:{number}", f"adult neuron {number}"))
        records.append(Name(f"cell {7 * number + 1000} of a larva", f"X:{number}"))
    return Terminology.build(records)


def test_rare_words_part_names_that_share_the_others() -> None:
    encoder = make_encoder("default,rarity=0")
    assert isinstance(encoder, Subword)
    gain = gain_by_rarity(terminology(), encoder, 0.5)
    assert gain.n == N // 10
    assert gain.with_it > gain.without + 0.2
    assert gain.p < 0.001
    assert gain == gain_by_rarity(terminology(), encoder, 0.5)
    assert not encoder.rarity  # is left as it was


def test_a_part_of_a_large_terminology_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = make_encoder("default,rarity=0")
    assert isinstance(encoder, Subword)
    whole = gain_by_rarity(terminology(), encoder, 0.5)
    monkeypatch.setattr("canonym.evaluation.own_names._PART", 50)
    part = gain_by_rarity(terminology(), encoder, 0.5)
    assert part.n == whole.n
    assert part.without >= whole.without  # among fewer names
    with pytest.raises(InvalidInput, match="at least 20 are expected"):
        gain_by_rarity(terminology(30), encoder, 0.5)


@pytest.mark.parametrize(
    ("make", "options", "told"),
    [
        (terminology, ["--encoder", "default,rarity=0"], True),
        (terminology, [], False),
        (terminology, ["--encoder", "default,rarity=1"], False),
        (terminology, ["--encoder", "chargrams"], False),
        (terminology, ["--quiet"], False),
        (hopeless, ["--encoder", "default,rarity=0"], False),
        (lambda: terminology(30), ["--encoder", "default,rarity=0"], False),
    ],
)
def test_an_index_tells_of_rare_words(
    make: Callable[[], Terminology], options: list[str], told: bool, tmp_path: Path
) -> None:
    given = make()
    (tmp_path / "t.db").write_bytes(given.path.read_bytes())
    command = ["index", str(tmp_path / "t.db"), "-o", str(tmp_path / "index"), *options]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert ("--encoder default,rarity=0.5" in result.stderr) == told
