"""Rows of names beside the terminology's: made again as names come and go."""

from __future__ import annotations

import numpy as np

from canonym.encoders.static import StaticVectors
from canonym.linking.extra_names import ExtraNames, ExtraNamesBuilder
from canonym.linking.search import WeightedEncoder
from canonym.linking.settings import SIEVES
from canonym.types import Name

WORDS = [f"w{number}" for number in range(2500)]


class Counting:
    """An encoder that counts the names it encodes."""

    def __init__(self) -> None:
        vectors = np.random.default_rng(0).standard_normal((len(WORDS), 4)).astype(np.float32)
        self.inner = StaticVectors(WORDS, vectors)
        self.n = 0

    def encode(self, names: list[str]) -> np.ndarray:
        self.n += len(names)
        return self.inner.encode(names)


def builder_with(encoder: Counting) -> ExtraNamesBuilder:
    return ExtraNamesBuilder(
        SIEVES, [WeightedEncoder("static", encoder, (), 1.0).encode], ["exact"]
    )


def named(*texts: str) -> list[Name]:
    return [Name(text, "X:1") for text in texts]


def same(first: ExtraNames, second: ExtraNames) -> None:
    for one, other in zip(first.indexes, second.indexes, strict=True):
        assert np.array_equal(one.vectors, other.vectors)
    for mine, theirs in zip(first.sieves, second.sieves, strict=True):
        assert mine.keys.tolist() == theirs.keys.tolist()
        assert mine.rows.tolist() == theirs.rows.tolist()


def test_only_new_names_are_encoded() -> None:
    encoder = Counting()
    builder = builder_with(encoder)
    builder.build(named("w1", "w2 w3"), [0, 1])
    assert encoder.n == 2
    names = builder.build(named("w2 w3", "w4", "w1", "w4"), [1, 2, 0, 3])
    assert encoder.n == 3
    fresh = builder_with(Counting())
    same(names, fresh.build(named("w2 w3", "w4", "w1", "w4"), [1, 2, 0, 3]))
    assert names.concepts.tolist() == [1, 2, 0, 3]
    assert names.scopes.tolist() == [1, 1, 1, 1]
    assert names.repeated.tolist() == [False] * 4
    same(names, builder.build(named("w2 w3", "w4", "w1", "w4"), [1, 2, 0, 3]))
    assert encoder.n == 3


def test_removed_names_are_forgotten() -> None:
    encoder = Counting()
    builder = builder_with(encoder)
    builder.build(named(*WORDS[:1500]), [0] * 1500)
    names = builder.build(named("w3", "w2000"), [0, 0])
    assert encoder.n == 1502
    same(names, builder_with(Counting()).build(named("w3", "w2000"), [0, 0]))


def test_without_encoders_and_sieves_there_are_only_names() -> None:
    names = ExtraNamesBuilder((), (), ()).build(named("w1"), [4])
    assert (names.sieves, names.indexes, names.concepts.tolist()) == ((), (), [4])


def test_names_without_a_letter_are_in_no_sieve() -> None:
    names = builder_with(Counting()).build(named("w1", "!?"), [0, 1])
    assert [sieve.rows.tolist() for sieve in names.sieves] == [
        [] if sieve.bare else [0] for sieve in SIEVES
    ]
