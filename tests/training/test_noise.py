"""Names changed as people write them: each way by itself, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.mentions.slips import is_one_edit
from canonym.training.sampling.noise import NOISE, disturb


def changed(way: str, text: str, n: int = 200) -> set[str]:
    rng = np.random.default_rng(0)
    return {" ".join(NOISE[way](text.split(" "), rng)) for _ in range(n)}


def test_a_slip_is_one_letter_of_a_long_word() -> None:
    found = changed("slip", "acute nephritis of 12345 hip")
    assert len(found) > 100
    for text in found - {"acute nephritis of 12345 hip"}:
        assert is_one_edit(text, "acute nephritis of 12345 hip")
        assert text.endswith(" of 12345 hip")
        assert text.startswith("a")
    lengths = {len(text) for text in found}
    assert lengths == {27, 28, 29}
    assert changed("slip", "hip of 12345") == {"hip of 12345"}


def test_parts_change_places() -> None:
    assert changed("order", "carcinoma of breast") == {"breast carcinoma"}
    assert changed("order", "acute renal failure") == {
        "renal failure acute",
        "failure acute renal",
    }
    assert changed("order", "fever") == {"fever"}
    assert changed("order", "of breast") == {"breast of"}


def test_heads_come_and_go() -> None:
    assert changed("head", "kidney disease") == {"kidney"}
    assert changed("head", "kidney") == {f"kidney {x}" for x in ("disease", "disorder", "syndrome")}
    assert changed("head", "disease") == {
        *("disease disease", "disease disorder", "disease syndrome")
    }


def test_sides_are_put_in_front() -> None:
    found = changed("side", "hip pain")
    assert "left hip pain" in found
    assert "right sided hip pain" in found
    assert all(text.endswith(" hip pain") for text in found)


def test_a_word_of_several_is_shortened() -> None:
    assert changed("short", "acute nephritis") == {"acute nep"}
    assert changed("short", "nephritis") == {"nephritis"}
    assert changed("short", "bone pain") == {"bone pain"}


@pytest.mark.parametrize("text", ["", "a", "hip", "x y", "of", "type 2 diabetes mellitus"])
def test_any_name_can_be_disturbed(text: str) -> None:
    rng = np.random.default_rng(1)
    found = {disturb(text, rng) for _ in range(100)}
    assert len(found) > 1  # a head or a side fits every name
    assert all(isinstance(one, str) and one for one in found if text)


def test_equal_seeds_disturb_alike() -> None:
    one, other = (
        [disturb("chronic kidney disease", np.random.default_rng(seed)) for seed in range(50)]
        for _ in range(2)
    )
    assert one == other
