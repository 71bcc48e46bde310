"""Names set aside: which ones, and whether they are found."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.encoders.chargrams import CharGrams
from canonym.errors import InvalidInput
from canonym.training.subword.held_out import HeldOut, accuracy, hold_out

NAMES = [f"{word} {i}" for i in range(40) for word in ("pain", "ache", "sore")] + ["a", "b"]
CONCEPTS = np.array([i for i in range(40) for _ in range(3)] + [40, 41], dtype=np.int32)


class Planted:
    """Gives each name the vector it is told."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def encode(self, names: list[str]) -> np.ndarray:
        return np.array([self.vectors[name] for name in names], dtype=np.float32)


def test_one_name_of_a_tenth_of_the_concepts_is_set_aside() -> None:
    held = hold_out(NAMES, CONCEPTS, n=1000, seed=3)
    assert len(held.names) == 4
    assert len(set(held.concepts.tolist())) == 4
    assert sorted([*held.names, *(NAMES[row] for row in held.rest)]) == sorted(NAMES)
    assert held.searched.tolist() == held.rest.tolist()
    assert all(
        CONCEPTS[NAMES.index(n)] == c for n, c in zip(held.names, held.concepts, strict=True)
    )
    again, other = hold_out(NAMES, CONCEPTS, seed=3), hold_out(NAMES, CONCEPTS, seed=4)
    assert again.names == held.names
    assert other.names != held.names
    assert len(hold_out(NAMES, CONCEPTS, n=2).names) == 2


def test_what_is_searched_has_the_concepts_concerned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonym.training.subword.held_out._SEARCHED", 10)
    held = hold_out(NAMES, CONCEPTS, n=2)
    assert len(held.searched) == 10
    assert set(held.searched.tolist()) <= set(held.rest.tolist())
    for concept in held.concepts:
        assert (CONCEPTS[held.searched] == concept).sum() == 2
    monkeypatch.setattr("canonym.training.subword.held_out._SEARCHED", 1)
    assert len(hold_out(NAMES, CONCEPTS, n=2).searched) == 4


def test_names_that_are_left_elsewhere_are_not_set_aside() -> None:
    names = ["Hip Fracture", "hip-fracture", "broken hip", "x"]
    concepts = np.array([0, 1, 0, 0], dtype=np.int32)
    found = {hold_out(names, concepts, seed=seed).names[0] for seed in range(20)}
    assert found == {"broken hip", "x"}


def test_a_concept_has_to_keep_two_names() -> None:
    with pytest.raises(InvalidInput, match="no concept has three names"):
        hold_out(["a", "b", "c"], np.array([0, 0, 1], dtype=np.int32))


def test_accuracy_is_the_share_whose_nearest_name_is_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("canonym.training.subword.held_out._BLOCK", 2)
    names = ["q one", "q two", "near one", "far", "near two", "tie"]
    concepts = np.array([0, 1, 0, 1, 2, 2], dtype=np.int32)
    vectors = {
        "q one": [1.0, 0.0],
        "q two": [0.0, 1.0],
        "near one": [0.9, 0.1],
        "far": [0.0, 0.5],
        "near two": [0.0, 0.9],
        "tie": [0.9, 0.9],
    }
    rows = np.arange(2, 6)
    held = HeldOut(names[:2], concepts[:2], rows, rows)
    assert accuracy(Planted(vectors), held, names, concepts) == 0.5


def test_sparse_encoders_are_refused() -> None:
    encoder = CharGrams()
    encoder.fit(NAMES)
    held = hold_out(NAMES, CONCEPTS)
    with pytest.raises(InvalidInput, match="dense vectors"):
        accuracy(encoder, held, NAMES, CONCEPTS)
