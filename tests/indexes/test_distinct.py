"""Distinct columns only save time: with them and without, answers are the same to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import ReadError
from canonym.indexes import distinct, exact, int8
from canonym.indexes.distinct import Distinct
from canonym.indexes.exact import Exact
from canonym.indexes.unnormalised import Inner
from tests.indexes.answers import near_rows, same, saved


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "FEWEST", 1)
    monkeypatch.setattr(int8, "_is_installed", lambda: False)
    monkeypatch.setattr(distinct, "_SPAN", 300)
    monkeypatch.setattr(exact, "_ROW_BLOCK", 256)
    monkeypatch.setattr(exact, "_PRODUCTS", 256)
    monkeypatch.setattr(Exact, "_at_once", 11)


@settings(max_examples=60, deadline=None)
@given(
    n=st.sampled_from([1, 255, 257, 1000, 3000]),
    width=st.sampled_from([1, 3, 64]),
    k=st.sampled_from([1, 7, 50, 4000]),
    seed=st.integers(0, 2**31),
    share=st.sampled_from([None, 0.11, 0.5, 0.99]),
    spread=st.sampled_from([1e-3, 1.0]),
    repeated=st.sampled_from([0.0, 0.5, 1.0]),
    kind=st.sampled_from([Exact, Inner]),
    n_queries=st.sampled_from([1, 13]),
)
def test_columns_change_no_answer(
    tmp_path_factory: pytest.TempPathFactory,
    n: int,
    width: int,
    k: int,
    seed: int,
    share: float | None,
    spread: float,
    repeated: float,
    kind: type[Exact],
    n_queries: int,
) -> None:
    rng = np.random.default_rng(seed)
    rows = near_rows(rng, n, width, spread, repeated=repeated)
    queries = np.concatenate([rows[:4], rng.standard_normal((9, width)).astype(np.float32)])
    queries[-2] = 0
    queries = queries[-n_queries:]
    allowed = None if share is None else rng.random(n) < share
    index = saved(rows, tmp_path_factory.mktemp("index"), kind)
    assert same(
        index.search(queries, k, allowed=allowed),
        kind(index.vectors).search(queries, k, allowed=allowed),
    )


def test_each_vector_stands_once_in_the_order_of_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((20, 8)).astype(np.float32)
    drawn = np.concatenate([np.arange(20), rng.integers(20, size=980)])
    index = saved(vectors[drawn], tmp_path)
    columns = np.load(tmp_path / "columns.npy")
    assert (index.vectors[:20] == columns.T).all()
    found, rows = Distinct.load(tmp_path, index.vectors).rows_of(
        (np.array([0, 0, 1]), np.array([3, 5, 3])), None
    )
    three, five = np.flatnonzero(drawn == 3), np.flatnonzero(drawn == 5)
    assert rows.tolist() == [*three, *five, *three]
    assert found.tolist() == [0] * (len(three) + len(five)) + [1] * len(three)


def test_equal_keys_are_no_proof(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(distinct, "_keys_of", lambda block: np.zeros(len(block), np.uint64))
    vectors = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
    index = saved(np.repeat(vectors, 25, axis=0), tmp_path)
    assert index.search(vectors, 25).rows.tolist() == np.arange(1000).reshape(40, 25).tolist()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("columns.npy", np.zeros((15, 900), np.float32)),
        ("columns.npy", np.zeros((16, 899), np.float32)),
        ("columns.npy", np.zeros((16, 900), np.float64)),
        ("equal_rows.npy", np.full(900, 900, np.int32)),
        ("equal_starts.npy", np.arange(901)[::-1]),
    ],
)
def test_damage_is_told(tmp_path: Path, name: str, content: np.ndarray) -> None:
    saved(np.random.default_rng(0).standard_normal((900, 16)).astype(np.float32), tmp_path)
    np.save(tmp_path / name, content)
    with pytest.raises(ReadError, match="build the index again"):
        Exact.load(tmp_path)
