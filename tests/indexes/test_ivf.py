"""An index of lists finds what an exact one finds, within the lists that it looks at."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import indexes
from canonym.errors import ReadError
from canonym.indexes import int8, ivf, kmeans
from canonym.indexes.concatenated import Concatenated
from canonym.indexes.exact import Exact, unit
from canonym.indexes.ivf import Ivf, make_lists, write_lists
from canonym.types import Float32Array
from tests.indexes.answers import same

WIDTH = 16


def clustered(n: int, seed: int, *, spread: float = 0.5, groups: int = 60) -> Float32Array:
    """Vectors of length one around the same points, whatever the seed."""
    points = np.random.default_rng(0).standard_normal((groups, WIDTH))
    rng = np.random.default_rng(seed)
    noise = spread * rng.standard_normal((n, WIDTH))
    return unit((points[rng.integers(groups, size=n)] + noise).astype(np.float32))


VECTORS = clustered(6000, 1)
QUERIES = clustered(300, 2)


@pytest.fixture(scope="module")
def index() -> Ivf:
    return Ivf.build(VECTORS)


def test_it_looks_at_few_lists_and_misses_few(index: Ivf) -> None:
    assert index.n_lists == 155  # twice the square root of 6,000
    assert 1 <= index.recall.probes < 30
    assert 0.99 <= index.recall.at_1 < 1
    found, expected = index.search(QUERIES, 10), Exact(index.vectors).search(QUERIES, 10)
    assert 0.97 < (found.rows[:, 0] == expected.rows[:, 0]).mean() <= 1
    both = (found.rows[:, :, None] == expected.rows[:, None]).any(axis=1).mean()
    assert 0.9 < both < 1  # some are missed: it is no exact search in disguise
    assert abs(both - index.recall.at_10) < 0.05


def test_scores_are_those_of_the_exact_index(index: Ivf) -> None:
    found = index.search(QUERIES, 10)
    assert found.scores.tobytes() == Exact(index.vectors).score(QUERIES, found.rows).tobytes()
    assert all(len(set(rows)) == 10 for rows in found.rows.tolist())  # each row but once


def test_batch_mates_and_threads_change_nothing(
    index: Ivf, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = index.search(QUERIES, 10)
    monkeypatch.setattr(Ivf, "_at_once", 40)
    monkeypatch.setattr(ivf, "_SCORES", 2000)
    assert same(index.search(QUERIES, 10), together)
    alone = [index.search(QUERIES[i : i + 1], 10) for i in range(20)]
    assert b"".join(one.rows.tobytes() for one in alone) == together.rows[:20].tobytes()


def test_without_onnx_runtime_lists_and_answers_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(int8, "_WARM", 0)
    with_it = Ivf.build(VECTORS)
    found = with_it.search(QUERIES, 10)
    monkeypatch.setattr(int8, "_is_installed", lambda: False)
    monkeypatch.setattr(int8, "_with_onnx", None)
    without = Ivf.build(VECTORS)
    assert without._rows.tobytes() == with_it._rows.tobytes()
    assert without._centres.vectors.tobytes() == with_it._centres.vectors.tobytes()
    assert same(without.search(QUERIES, 10), found)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1])
def test_a_narrow_filter_is_exact(index: Ivf, share: float) -> None:
    allowed = np.random.default_rng(3).permutation(len(VECTORS)) < share * len(VECTORS)
    expected = Exact(index.vectors).search(QUERIES, 10, allowed=allowed)
    assert same(index.search(QUERIES, 10, allowed=allowed), expected)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_behind_a_wide_filter_as_many_rows_are_seen_as_without_it(index: Ivf, share: float) -> None:
    allowed = np.random.default_rng(4).random(len(VECTORS)) < share
    found = index.search(QUERIES, 10, allowed=allowed)
    assert allowed[found.rows].all()
    expected = Exact(index.vectors).search(QUERIES, 10, allowed=allowed)
    assert (found.rows[:, 0] == expected.rows[:, 0]).mean() > 0.97
    counts = np.add.reduceat(allowed[index._rows], index._starts[:-1])
    lists, looked_at = index._nearest_lists(QUERIES, 1, counts)
    seen = np.where(looked_at, counts[lists], 0).sum(axis=1)
    before, looked_at = index._nearest_lists(QUERIES, 1, index._sizes)
    assert (seen >= np.where(looked_at, index._sizes[before], 0).sum(axis=1)).all()


def test_a_filter_of_one_region_still_fills_the_answer(index: Ivf) -> None:
    # All allowed rows lie far from the queries: their lists come last.
    allowed = VECTORS @ QUERIES[0] < 0
    found = index.search(QUERIES[:1], 10, allowed=allowed)
    assert same(found, Exact(index.vectors).search(QUERIES[:1], 10, allowed=allowed))


def test_as_many_rows_come_as_are_wanted(index: Ivf) -> None:
    found = index.search(QUERIES[:3], 5000)
    assert same(found, Exact(index.vectors).search(QUERIES[:3], 5000))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10])
def test_few_rows_are_all_found(n: int, tmp_path: Path) -> None:
    rows = VECTORS[:n]
    small = Ivf.build(rows)
    assert small.n_lists == min(n, int(np.ceil(2 * np.sqrt(n))))
    assert same(small.search(QUERIES, 4), Exact(small.vectors).search(QUERIES, 4))
    small.save(tmp_path)
    assert same(Ivf.load(tmp_path, n_rows=n).search(QUERIES, 4), small.search(QUERIES, 4))


def test_equal_rows_and_zeros_leave_lists_empty_and_are_found() -> None:
    rows = np.zeros((400, WIDTH), dtype=np.float32)
    rows[100:] = VECTORS[0]
    rows[399] = VECTORS[1]
    few = Ivf.build(rows)
    assert (few._sizes == 0).any()
    assert same(few.search(QUERIES[:9], 7), Exact(few.vectors).search(QUERIES[:9], 7))
    assert few.search(VECTORS[1:2], 1).rows.tolist() == [[399]]


def test_mapped_vectors_give_the_bytes_of_those_in_memory(tmp_path: Path, index: Ivf) -> None:
    (tmp_path / "memory").mkdir()
    index.save(tmp_path / "memory")
    told: list[tuple[str, int, int]] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shutil.copy(tmp_path / "memory" / "vectors.npy", tmp_path / name)
        mapped = np.load(tmp_path / name / "vectors.npy", mmap_mode="r")
        write_lists(mapped, tmp_path / name, lambda *now: told.append(now))
    for file in sorted((tmp_path / "memory").iterdir()):
        for name in ("one", "two"):
            assert (tmp_path / name / file.name).read_bytes() == file.read_bytes(), file.name
    assert {stage for stage, _, _ in told} == {"centres", "lists", "recall"}
    assert all(0 <= done <= total for _, done, total in told)


def test_every_row_stands_in_the_lists_of_its_two_nearest_centres() -> None:
    lists = make_lists(VECTORS, lambda *_: None)
    assert np.bincount(lists.rows).tolist() == [2] * len(VECTORS)
    order = np.argsort(-(VECTORS @ lists.centres.T), axis=1)[:, :2]
    of_row: list[set[int]] = [set() for _ in VECTORS]
    for number in range(len(lists.centres)):
        rows = lists.rows[lists.starts[number] : lists.starts[number + 1]]
        assert (np.diff(rows) > 0).all()
        for row in rows.tolist():
            of_row[row].add(number)
    agree = [found == set(wanted) for found, wanted in zip(of_row, order.tolist(), strict=True)]
    assert np.mean(agree) > 0.93  # whole numbers decide, and rarely otherwise


def test_centres_are_nearer_to_their_rows_than_where_they_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fit() -> float:
        centres = kmeans.centres_of(VECTORS, 60, lambda *_: None)
        np.testing.assert_allclose(np.linalg.norm(centres, axis=1), 1, atol=1e-6)
        return float((VECTORS @ centres.T).max(axis=1).mean())

    after = fit()
    monkeypatch.setattr(kmeans, "_ROUNDS", 0)
    assert after > fit() + 0.03


def test_the_measured_recall_is_that_of_searching_without_the_own_row(index: Ivf) -> None:
    sample = np.sort(np.random.default_rng(0).choice(len(VECTORS), 1000, replace=False))
    found, expected = (one.search(VECTORS[sample], 2) for one in (index, Exact(index.vectors)))
    right = (found.scores[:, 1] == expected.scores[:, 1]).mean()
    assert right == pytest.approx(index.recall.at_1, abs=1e-4)


def test_names_beside_it_are_found_as_in_one_index(index: Ivf) -> None:
    more = clustered(50, 5)
    stacked = Concatenated([index, Exact(more)])
    found = stacked.search(QUERIES, 5)
    whole = Exact(np.concatenate([VECTORS, more])).search(QUERIES, 5)
    assert (found.rows[:, 0] == whole.rows[:, 0]).mean() > 0.97
    added = whole.rows[:, 0] >= len(VECTORS)
    assert added.any()
    assert (found.rows[added, 0] == whole.rows[added, 0]).all()


def _broken(name: str, content: Any) -> Any:
    return pytest.param(name, content, id=f"{name} {str(content)[:20]}")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        _broken("starts.npy", [0] * 156),
        _broken("starts.npy", [0, 1]),
        _broken("rows.npy", np.full(12000, 6000, np.int32)),
        _broken("rows.npy", np.zeros(3, np.int32)),
        _broken("centres.npy", np.zeros((155, 3), np.float32)),
        _broken("codes.npy", np.zeros(9, np.int8)),
        _broken("sums.npy", np.zeros(9, np.int32)),
        _broken("bounds.npy", np.zeros(3)),
        _broken("recall.json", {"probes": 0, "at_1": 1.0, "at_10": 1.0}),
        _broken("recall.json", {"probes": 156, "at_1": 1.0, "at_10": 1.0}),
        _broken("recall.json", {"probes": 5, "at_1": 7.0, "at_10": 1.0}),
        _broken("recall.json", {"probes": 5}),
        _broken("recall.json", []),
        _broken("recall.json", None),
    ],
)
def test_a_damaged_file_is_refused(index: Ivf, tmp_path: Path, name: str, content: Any) -> None:
    index.save(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    elif name == "recall.json":
        (tmp_path / name).write_text(json.dumps(content))
    else:
        np.save(tmp_path / name, np.asarray(content))
    with pytest.raises(ReadError, match=f"{name}.*build the index again"):
        Ivf.load(tmp_path)


def test_of_many_rows_those_in_the_lists_looked_at_are_looked_at(
    index: Ivf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "LOOKED_AT", 9)
    index.save(tmp_path)
    expected = index.search(VECTORS[:3], 5)
    assert Ivf.load(tmp_path).search(VECTORS[:3], 5).rows.tolist() == expected.rows.tolist()
    np.save(tmp_path / "rows.npy", np.load(tmp_path / "rows.npy") + len(VECTORS))
    for allowed in (None, np.arange(len(VECTORS)) > 0):
        with pytest.raises(ReadError, match=r"rows\.npy.*expected from 0 to"):
            Ivf.load(tmp_path).search(VECTORS[:3], 5, allowed=allowed)


def test_where_no_other_row_is_known_all_lists_are_looked_at() -> None:
    rows = np.tile(VECTORS[:1], (30, 1))
    centres = Exact(VECTORS[:4])
    nowhere = ivf.measure_recall(rows, centres, np.zeros((30, 2), np.int32), lambda *_: None)
    assert nowhere == (4, 1.0, 1.0)
