"""Related concepts: found in both directions, brought along, and drawn nearer."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.training.sampling.groups import Relatives, SynonymGroups
from canonym.training.subword.fit_subword import fit_subword

NAMES = ["aa", "ab", "ba", "bb", "ca", "cb", "da", "db"]
CONCEPTS = np.array([0, 0, 1, 1, 2, 2, 4, 4], dtype=np.int32)
PAIRS = np.array([[0, 1], [1, 2], [3, 0], [4, 9], [2, 2], [0, 1], [-1, 0]])


def groups() -> SynonymGroups:
    return SynonymGroups(Subword(np.zeros((256, 2), np.float32)), NAMES, CONCEPTS, None, None)


def test_they_are_related_both_ways_if_they_have_names() -> None:
    relatives = Relatives(groups(), PAIRS)
    assert relatives.among(np.array([0, 1, 2, 4, 0])).tolist() == [
        [False, True, False, False, False],
        [True, False, True, False, True],
        [False, True, False, False, False],
        [False, False, False, False, False],
        [False, True, False, False, False],
    ]


def test_a_pair_may_be_repeated_any_number_of_times() -> None:
    relatives = Relatives(groups(), np.array([[0, 1]] * 256))
    assert relatives.among(np.array([0, 1])).tolist() == [[False, True], [True, False]]


def test_some_names_bring_one_of_a_related_concept() -> None:
    those, rng = groups(), np.random.default_rng(0)
    relatives = Relatives(those, PAIRS)
    rows = np.flatnonzero(those.concepts == 0)
    brought = [relatives.along(rows, rng)[len(rows) :] for _ in range(400)]
    assert {int(those.concepts[row]) for some in brought for row in some} == {1}
    assert {int(row) for some in brought for row in some} == {2, 3}
    assert np.mean([len(some) for some in brought]) == pytest.approx(0.5, abs=0.1)
    alone = np.flatnonzero(those.concepts == 4)
    np.testing.assert_array_equal(relatives.along(alone, rng), alone)


@pytest.mark.parametrize("pairs", [np.zeros((2, 3), int), np.zeros((2, 2)), np.zeros(4, int)])
def test_what_is_no_pair(pairs: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="pairs of whole numbers"):
        Relatives(groups(), pairs)


def test_a_fit_brings_related_concepts_nearer() -> None:
    words = [f"{one}{two}{one}" for one in "bdfgklmn" for two in "aeiou"]
    names = [f"{word} {kind}" for word in words for kind in ("one", "other")]
    concepts = np.repeat(np.arange(len(words)), 2)
    pairs = np.arange(len(words)).reshape(-1, 2)  # each with the next
    options = {"steps": 60, "batch": 32, "dimensions": 16, "n_bits": 11, "refresh": 0}
    alone, joined = (
        fit_subword(names, concepts, **options, related=related, related_share=0.3)
        for related in (None, pairs)
    )

    def nearness(encoder: Subword) -> float:
        vectors = encoder.encode([f"{word} one" for word in words])
        found = vectors @ vectors.T
        return float(found[pairs[:, 0], pairs[:, 1]].mean() - found.mean())

    assert nearness(joined) > nearness(alone) + 0.1
