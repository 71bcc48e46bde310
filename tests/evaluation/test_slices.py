"""Slices of mentions, by hand and by property."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.evaluation.metrics import evaluate
from canonym.evaluation.outcomes import ScoredMention
from canonym.evaluation.slices import evaluate_slices, slices

RELAXED = settings(deadline=None, max_examples=60)

A, B = frozenset({"A"}), frozenset({"B"})
CASES = [
    ScoredMention(
        (A,), (("A",),), seen_mention=True, homonym=False, type="Disease", length=1, frequency=0
    ),
    ScoredMention((A,), (("B",),), seen_mention=False, type="Disease", length=4, frequency=1),
    ScoredMention((A, B), (("A",),), type="Chemical", length=5, frequency=5),
    ScoredMention((A,), (("A",),), seen_mention=False, composite=True, length=0, frequency=21),
    ScoredMention((), (), abbreviation=True, length=2),
]


def test_slices_by_hand() -> None:
    found = {part.name: part.rows.tolist() for part in slices(CASES)}
    assert found == {
        "all": [0, 1, 2, 3, 4],
        "seen mention": [0],
        "unseen mention": [1, 3],
        "homonym": [],
        "no homonym": [0],
        "abbreviation": [4],
        "no abbreviation": [],
        "composite": [2, 3],
        "no composite": [0, 1, 4],
        "NIL": [4],
        "not NIL": [0, 1, 2, 3],
        "type Chemical": [2],
        "type Disease": [0, 1],
        "length ≤1": [0, 3],
        "length 2": [4],
        "length 3": [],
        "length 4": [1],
        "length ≥5": [2],
        "frequency 0": [0],
        "frequency 1": [1],
        "frequency 2–5": [2],
        "frequency 6–20": [],
        "frequency ≥21": [3],
    }
    assert all(part.n == len(part.rows) for part in slices(CASES))


def test_the_scores_of_a_slice_are_those_of_its_mentions() -> None:
    names = ["accuracy@1", "set-f1", "nil-f1"]
    scores = evaluate_slices(CASES, names, rule="any")
    for part, score in zip(slices(CASES), scores, strict=True):
        assert (score.name, score.n) == (part.name, part.n)
        if part.n:
            alone = evaluate([CASES[i] for i in part.rows], names, rule="any")
            assert list(score.values.values()) == pytest.approx(list(alone.values()), nan_ok=True)
        else:
            assert all(math.isnan(value) for value in score.values.values())


@RELAXED
@given(
    st.lists(
        st.builds(
            ScoredMention,
            gold=st.sampled_from([(), (A,), (A, B)]),
            ranked=st.just(()),
            seen_concept=st.sampled_from([None, True, False]),
            type=st.sampled_from(["", "x", "y"]),
            frequency=st.none() | st.integers(0, 30),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_the_slices_of_an_attribute_divide_the_mentions(mentions: list[ScoredMention]) -> None:
    found = slices(mentions)
    for stem, n_known in {
        "frequency ": sum(mention.frequency is not None for mention in mentions),
        "type ": sum(bool(mention.type) for mention in mentions),
    }.items():
        rows = [part.rows for part in found if part.name.startswith(stem)]
        joined = np.concatenate(rows) if rows else np.array([])
        assert len(joined) == len(set(joined.tolist())) == n_known
    both = [part.n for part in found if part.name.endswith("seen concept")]
    assert sum(both) == sum(mention.seen_concept is not None for mention in mentions)
    assert len(both) in (0, 2)


def test_bins_are_between_their_bounds() -> None:
    lengths = [ScoredMention((), (), length=length) for length in range(9)]
    found = {part.name: part.rows.tolist() for part in slices(lengths)}
    names = ["length ≤1", "length 2", "length 3", "length 4", "length ≥5"]
    assert list(found)[-5:] == names
    assert [found[name] for name in names] == [[0, 1], [2], [3], [4], [5, 6, 7, 8]]
    counts = [ScoredMention((), (), frequency=n) for n in (0, 1, 2, 5, 6, 20, 21, 500)]
    found = {part.name: part.rows.tolist() for part in slices(counts)}
    names = [f"frequency {span}" for span in ("0", "1", "2–5", "6–20", "≥21")]
    assert [found[name] for name in names] == [[0], [1], [2, 3], [4, 5], [6, 7]]


def test_no_mentions_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="no mentions to evaluate"):
        slices([])
    with pytest.raises(InvalidInput, match="no mentions to evaluate"):
        evaluate_slices([])
