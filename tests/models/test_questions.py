"""Questions with a known answer."""

from __future__ import annotations

import random

from canonym.mentions.contrasts import against
from models.questions import misspelt, phrases, sibling_of, unrelated_phrases, word_pairs


def test_a_misspelt_name_differs_by_one_edit_behind_its_first_letter() -> None:
    rng = random.Random(0)
    edits = {misspelt("abcdefgh", rng) for _ in range(300)}
    assert {len(text) for text in edits} == {7, 8}
    assert {"abdcefgh", "abcdefh"} <= edits
    assert all(text[0] == "a" for text in edits)


def test_strangers_are_the_same_every_time_and_not_repeated() -> None:
    strange = unrelated_phrases(5, seed=1)
    assert strange == unrelated_phrases(5, seed=1) != unrelated_phrases(5, seed=2)
    known = [*phrases("everyday"), *phrases("foreign")]
    assert len({*known}) == len(known) > 200
    assert all(text == text.strip() and text for text in strange)
    assert all(len(word) >= 4 for pair in word_pairs(50) for word in pair.split())


def test_a_sibling_contradicts_its_name() -> None:
    rng = random.Random(0)
    for text in ("type 2 diabetes", "Left ventricle", "mucolipidosis III", "acute pain"):
        sibling = sibling_of(text, rng)
        assert sibling is not None
        assert against(sibling, text).contradictions
    assert sibling_of("gout", rng) is None
