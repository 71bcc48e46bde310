"""Mentions that ask which name they mean: which of them, among which names, and what it brings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.training.subword.fit_subword import _loss, fit_subword
from models.asking import make_query_set
from models.mention_search import MentionQueries, QuerySet, marginal_loss

NAMES = [
    ("Migraine", "D1"),
    ("sick headache", "D1"),
    ("MIGRAINE", "D1"),
    ("Fever", "D2"),
    ("pyrexia", "D2"),
    ("Oedema", "D3"),
]


def test_names_do_not_ask_nor_do_unknown_concepts() -> None:
    pairs = [("fever", "D1"), ("megrim", "D1"), ("dropsy", "D9"), ("", "D1"), ("?!", "D2")]
    found = make_query_set(pairs, NAMES)
    assert found.texts == ["megrim"]
    assert found.names == ["migraine", "sick headache", "fever", "pyrexia", "edema"]
    assert found.concepts.tolist() == [0, 0, 1, 1, 2]
    assert found.gold.tolist() == [0]


def test_what_is_common_asks_more_often_and_what_is_doubtful_less() -> None:
    pairs = [("hot head", "D2")] * 4 + [("head", "D1")] * 3 + [("head", "D3")] * 1
    found = make_query_set(pairs, NAMES)
    of = dict(zip(zip(found.texts, found.gold.tolist(), strict=True), found.chances, strict=True))
    expected = {("hot head", 1): 4**0.5, ("head", 0): 3**0.5 * 3 / 4, ("head", 2): 1 / 4}
    total = sum(expected.values())
    assert of == {key: pytest.approx(chance / total) for key, chance in expected.items()}


def flat(texts: Any) -> Any:
    """Lay strings on a quarter of a circle by their first letter, a at its beginning."""
    angles = np.array([(ord(text[0]) - ord("a")) / 26 * np.pi / 2 for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def letters() -> QuerySet:
    names = [("b1", "B"), ("z1", "B"), ("c1", "C"), ("d1", "D"), ("y1", "Y")]
    return make_query_set([("a", "B"), ("e", "Y")], names, normalisation=("case",))


def test_candidates_are_the_nearest_right_and_wrong_names() -> None:
    questions = letters()
    asking = MentionQueries(questions, n=50, wrong=2, right=3)
    assert asking.refresh(flat) == 0.5  # of "a" the nearest is b1; of "e" it is d1, and y1 is meant
    batch = asking.draw(np.random.default_rng(0))
    found = set()
    for mention, candidates, right in zip(
        batch.mentions, batch.candidates, batch.right, strict=True
    ):
        those = tuple(batch.texts[place] if place >= 0 else "" for place in candidates)
        found.add((batch.texts[mention], those, tuple(right.tolist())))
    assert found == {
        ("a", ("b1", "z1", "", "c1", "d1"), (True, True, False, False, False)),
        ("e", ("y1", "", "", "d1", "c1"), (True, False, False, False, False)),
    }
    assert len(batch.texts) == 1 + max(batch.candidates.max(), batch.mentions.max())


@pytest.mark.parametrize("given", [{"n": 0}, {"n": 1, "wrong": 0}, {"n": 1, "right": 0}])
def test_numbers_out_of_range_are_told(given: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        MentionQueries(letters(), **given)


def test_without_a_question_there_is_nothing_to_ask() -> None:
    with pytest.raises(InvalidInput, match="no mention is left to ask about"):
        MentionQueries(make_query_set([("fever", "D2")], NAMES), n=1)


def test_what_asked_is_found_afterwards_and_the_seed_decides() -> None:
    # The string alone says the contrary: "blue house" is to mean the tree, not the house.
    names = [("red house", 0), ("blue houses", 0), ("green tree", 1), ("old tree", 1), ("fish", 2)]
    texts, concepts = [name for name, _ in names], np.array([owner for _, owner in names])
    questions = make_query_set(
        [("blue house now", "1")], [(text, str(owner)) for text, owner in names]
    )
    options: dict[str, Any] = {
        "steps": 60, "batch": 8, "dimensions": 16, "n_bits": 10, "learning_rate": 0.02,
        "hard_neighbours": 0, "quantise": False,
    }  # fmt: skip

    def nearest(encoder: Subword) -> int:
        scores = encoder.encode(["blue house now"]) @ encoder.encode(texts).T
        return int(concepts[scores[0].argmax()])

    lines: list[str] = []
    first, same = (
        fit_subword(
            texts, concepts, **options, log=lines.append,
            mention_queries=[MentionQueries(questions, n=4, wrong=2, right=2)],
        )
        for _ in range(2)
    )  # fmt: skip
    assert nearest(fit_subword(texts, concepts, **options)) == 0
    assert nearest(first) == 1
    assert (first.table == same.table).all()
    assert sum("mentions with a right one first" in line for line in lines) == 2 * 5
    assert lines[0].endswith("0.0 %")


def test_every_mention_of_a_batch_counts_alike() -> None:
    rng = np.random.default_rng(0)
    kinds = []
    for n in (1, 3):
        asking = MentionQueries(letters(), n=n, wrong=2, right=3)
        asking.refresh(flat)
        kinds.append(asking.draw(rng))
    n_texts = 2 + sum(len(one.texts) for one in kinds)
    vectors = rng.normal(size=(n_texts, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    def no_synonyms(those: Any) -> tuple[float, Any]:
        return 0.0, np.zeros_like(those)

    value, gradient = _loss(no_synonyms, 2, kinds, 0.1, vectors)
    first, second = vectors[2 : 2 + len(kinds[0].texts)], vectors[2 + len(kinds[0].texts) :]
    apart = [
        marginal_loss(those, one.mentions, one.candidates, one.right, temperature=0.1)
        for those, one in zip((first, second), kinds, strict=True)
    ]
    assert value == pytest.approx((apart[0][0] + 3 * apart[1][0]) / 4)
    expected = np.concatenate([np.zeros((2, 4)), apart[0][1] / 4, 3 * apart[1][1] / 4])
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_dropout_of_what_is_asked_is_checked() -> None:
    with pytest.raises(InvalidInput, match="asked_dropout"):
        fit_subword(["a", "b"], [0, 0], asked_dropout=1.0)
