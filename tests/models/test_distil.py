"""Fitting a subword encoder to the vectors of another encoder."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from models.distil import distil_subword, principal_vectors

WORDS = [f"{first}{last}" for first in ("card", "ren", "hepat", "neur") for last in "abcdefghij"]


def teacher(n: int = 40, m: int = 12) -> np.ndarray:
    """Vectors of the words: near each other where the beginnings are the same."""
    rng = np.random.default_rng(0)
    of_beginning = rng.standard_normal((4, m)).repeat(10, axis=0)
    return (of_beginning + 0.3 * rng.standard_normal((40, m)))[:n].astype(np.float32)


def test_the_vectors_are_those_of_the_teacher_on_its_main_axes() -> None:
    steps: list[int] = []
    lines: list[str] = []
    encoder = distil_subword(
        WORDS,
        teacher(),
        steps=600,
        batch=32,
        dimensions=8,
        n_bits=10,
        progress=lambda step, _: steps.append(step),
        log=lines.append,
    )
    wanted = principal_vectors(teacher(), 8)
    assert float((encoder.encode(WORDS) * wanted).sum(axis=1).mean()) > 0.95
    assert steps[-1] == 600
    assert lines[0].startswith("step 500: mean distance 0.")
    untrained = Subword(np.zeros((1 << 10, 8), np.float32))
    assert abs(float((untrained.encode(WORDS) * wanted).sum(axis=1).mean())) < 0.1


def test_equal_seeds_give_equal_bytes() -> None:
    options = {"steps": 5, "batch": 8, "dimensions": 8, "n_bits": 8}
    one, other, third = (
        distil_subword(WORDS, teacher(), seed=seed, **options) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.table, other.table)
    assert not np.array_equal(one.table, third.table)


def test_main_axes_keep_the_similarities() -> None:
    vectors = teacher()
    centred = vectors - vectors.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    found = principal_vectors(vectors, 12)
    assert np.allclose(found @ found.T, centred @ centred.T, atol=1e-5)
    assert not principal_vectors(np.ones((3, 4), np.float32), 2).any()


@pytest.mark.parametrize("vectors", [teacher(39), teacher()[:, :7], teacher()[0]])
def test_vectors_of_another_shape(vectors: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="40 texts were given with vectors of shape"):
        distil_subword(WORDS, vectors, dimensions=8, n_bits=8)
