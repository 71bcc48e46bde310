"""A few names of each concept, and negatives by distance."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from canonym import InvalidInput, ReadError
from canonym.training.sampling.few_names import (
    distance_weights,
    draw_negatives,
    read_groups,
    sample_few_names,
)

GROUPS = {c: [f"{c}{i}" for i in range(n)] for c, n in [("A", 6), ("B", 9), ("C", 4)]}


def test_training_and_validation_names_are_distinct_and_as_many() -> None:
    found = sample_few_names(GROUPS, 2, np.random.default_rng(0))
    assert found.concepts == ("A", "B", "C")
    assert (
        found.training_concepts.tolist() == found.validation_concepts.tolist() == [0, 0, 1, 1, 2, 2]
    )
    for names, concepts in [
        (found.training, found.training_concepts),
        (found.validation, found.validation_concepts),
    ]:
        assert all(n in GROUPS[found.concepts[c]] for n, c in zip(names, concepts, strict=True))
    assert len({*found.training, *found.validation}) == 12
    assert found.training == sample_few_names(GROUPS, 2, np.random.default_rng(0)).training
    assert found.training != sample_few_names(GROUPS, 2, np.random.default_rng(1)).training


@pytest.mark.parametrize(
    ("groups", "n", "problem"),
    [
        (GROUPS, 0, "n is 0; at least 1 name"),
        (GROUPS, 3, "'C' has 4 names, and 6 are needed"),
        ({"A": GROUPS["A"]}, 2, "there are 1 concepts"),
        ({**GROUPS, "D": ["D0", "D1", "D2", "A0"]}, 2, "'A0' is a name of 'A' and of 'D'"),
        ({**GROUPS, "D": ["D0"] * 4}, 2, "'D' has 1 names, and 4 are needed"),
    ],
)
def test_too_few_names(groups: dict[str, list[str]], n: int, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        sample_few_names(groups, n, np.random.default_rng(0))


def test_weights_are_one_over_the_density_of_distances() -> None:
    distances = np.array([[0.2, 0.7, 1.1, 1.3, math.nan, 1.9]])
    found = distance_weights(distances, 8)[0]
    by_hand = [
        1 / (max(d, 0.5) ** 6 * (1 - max(d, 0.5) ** 2 / 4) ** 2.5) if d <= 1.4 else 0.0
        for d in (0.2, 0.7, 1.1, 1.3)
    ]
    expected = [*(w / sum(by_hand) for w in by_hand), 0, 0]
    assert np.allclose(found, expected)


def test_inverse_weights_are_one_over_the_cosine_distance() -> None:
    distances = np.array([[0.5, 1.0, math.nan, 2.0]])
    found = distance_weights(distances, 300, weighting="inverse")[0]
    raw = [1 / (d * d / 2) for d in (0.5, 1.0, 2.0)]
    assert np.allclose(found, [raw[0] / sum(raw), raw[1] / sum(raw), 0, raw[2] / sum(raw)])
    assert np.isfinite(distance_weights(np.zeros((1, 3)), 300, weighting="inverse")).all()


def test_rows_with_distant_or_with_no_negatives() -> None:
    distances = np.array([[1.5, 1.9, math.nan], [2.0, 2.0, 2.0], [math.nan] * 3, [0.0, 0.0, 1.0]])
    found = distance_weights(distances, 768)
    assert found[0].tolist() == [0.5, 0.5, 0.0]
    assert np.allclose(found[1], 1 / 3)
    assert found[2].tolist() == [0, 0, 0]
    assert np.allclose(found[3][:2], 0.5)
    assert np.isfinite(found).all()


def unit(angles: list[float]) -> np.ndarray:
    return np.stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))], axis=1).astype(
        np.float32
    )


def test_negatives_are_of_other_concepts_and_drawn_by_weight() -> None:
    vectors, concepts = unit([0.0, 0.1, 0.8, 1.3, 3.0]), np.array([0, 0, 1, 2, 1], dtype=np.int32)
    anchors, own = unit([0.0] * 4000), np.zeros(4000, dtype=np.int32)
    found = draw_negatives(anchors, own, vectors, concepts, np.random.default_rng(0))
    counts = Counter(found.tolist())
    assert set(counts) == {2, 3}
    distances = np.array([[math.dist(vectors[0], vectors[i]) for i in (2, 3)]])
    near, far = distance_weights(distances, 3)[0]
    assert counts[2] / 4000 == pytest.approx(near, abs=0.03)
    assert counts[3] / 4000 == pytest.approx(far, abs=0.03)
    with pytest.raises(InvalidInput, match="all names are of one concept"):
        draw_negatives(anchors, own, vectors[:2], concepts[:2], np.random.default_rng(0))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_lists_of_names_are_read(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_bytes(pack(b'{"D1": ["hip", "leg"]}'))
    assert read_groups(path) == {"D1": ["hip", "leg"]}
    for content in (b"[1]", b'{"D1": [1]}', b"[" * 5000, b"\xff"):
        path.write_bytes(pack(content))
        with pytest.raises(ReadError, match="an object of lists of names by concept is expected"):
            read_groups(path)
    path.write_bytes(gzip.compress(b'{"D1": ["hip", "leg"]}', mtime=0)[:12] + b"damage, damage")
    with pytest.raises(ReadError, match="cannot be read to its end"):
        read_groups(path)


def test_the_published_counts_of_icd_10(data: Path) -> None:
    """Table 2 of Fivez et al. (2021): names by chapter."""
    groups = read_groups(data / "icd10-chapters" / "icd10.json.gz")
    counts = [len(names) for names in groups.values()]
    assert (len(counts), max(counts), min(counts)) == (21, 40_519, 247)
    assert (round(np.mean(counts)), round(np.std(counts, ddof=1))) == (3_414, 8_693)
