"""Coded rows only save time: with them and without, every answer is the same to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import ReadError
from canonym.indexes import exact, int8
from canonym.indexes.exact import Exact
from canonym.indexes.int8 import DenseInt8
from tests.indexes.answers import near_rows, same, saved

pytest.importorskip("onnxruntime")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8, "_BLOCK", 256)
    monkeypatch.setattr(int8, "FEWEST", 1)
    monkeypatch.setattr(exact, "FEWEST", 1)
    monkeypatch.setattr(int8, "_WARM", 0)
    monkeypatch.setattr(Exact, "_at_once", 5)


@settings(max_examples=30, deadline=None)
@given(
    n=st.sampled_from([1, 255, 256, 257, 1000, 3000]),
    width=st.sampled_from([1, 3, 64]),
    k=st.sampled_from([1, 7, 50, 4000]),
    seed=st.integers(0, 2**31),
    share=st.sampled_from([None, 0.05, 0.5, 0.99]),
    spread=st.sampled_from([1e-3, 1.0]),
)
def test_codes_change_no_answer(
    tmp_path_factory: pytest.TempPathFactory,
    n: int,
    width: int,
    k: int,
    seed: int,
    share: float | None,
    spread: float,
) -> None:
    rng = np.random.default_rng(seed)
    rows = near_rows(rng, n, width, spread)
    queries = np.concatenate([rows[:4], rng.standard_normal((9, width)).astype(np.float32)])
    queries[-2] = 0
    allowed = None if share is None else rng.random(n) < share
    coded = saved(rows, tmp_path_factory.mktemp("index"))
    assert same(
        coded.search(queries, k, allowed=allowed),
        Exact(coded.vectors).search(queries, k, allowed=allowed),
    )


def test_codes_are_used_and_leave_few_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    index = saved(rng.standard_normal((5000, 64)).astype(np.float32), tmp_path)
    counts = []
    promising = DenseInt8.promising

    def counted(*arguments: object) -> tuple[np.ndarray, np.ndarray]:
        found = promising(*arguments)  # type: ignore[arg-type]
        counts.append(len(found[0]))
        return found

    monkeypatch.setattr(DenseInt8, "promising", counted)
    index.search(rng.standard_normal((20, 64)).astype(np.float32), 10)
    assert len(counts) == 4  # of five queries each
    assert 20 * 10 <= sum(counts) < 20 * 200


def test_the_error_of_a_coded_product_stays_within_its_bound(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    index = saved(rng.standard_normal((300, 32)).astype(np.float32), tmp_path)
    queries = exact.unit(rng.standard_normal((50, 32)).astype(np.float32))
    coded = DenseInt8.load(tmp_path, *index.vectors.shape)
    numbers, slack = coded.coded(queries)
    step = np.abs(queries.astype(np.float64)).max(axis=1) / 63 * coded.bounds[0]
    products = np.concatenate(
        [coded.products(int8.multiplier(True), numbers, block) for block in range(2)], axis=1
    )
    errors = np.abs(products - (queries.astype(np.float64) @ index.vectors.T) / step[:, None])
    assert (2 * errors <= slack[:, None]).all()
    assert errors.max() > 0.05 * slack.min()  # and the bound says something


@pytest.mark.parametrize("multiply", [int8.multiplier(True), int8.multiplier(False)])
@pytest.mark.parametrize("width", [384, 3000])
def test_products_are_whole_numbers_without_overflow(multiply: int8.Multiply, width: int) -> None:
    most = np.full((2, width), 126, dtype=np.uint8)
    rows = np.full((width, 3), 127, dtype=np.int8)
    rows[:, 1] = -127
    product = multiply(most, rows)
    assert product.dtype == np.int32
    assert product.tolist() == [[126 * 127 * width, -126 * 127 * width, 126 * 127 * width]] * 2


def test_the_model_is_what_onnx_would_write() -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(int8._MODEL)
    onnx.checker.check_model(model)
    assert [node.op_type for node in model.graph.node] == ["MatMulInteger"]
    assert model.opset_import[0].version == 10


def test_an_import_waits_until_there_is_work_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8, "_WARM", 1000)
    monkeypatch.setattr(int8._Work, "done", 0)
    assert [int8.worth_it(1, 40, 10) for _ in range(4)] == [False, False, True, True]


def test_without_onnx_runtime_vectors_are_multiplied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    index = saved(rng.standard_normal((600, 16)).astype(np.float32), tmp_path)
    queries = rng.standard_normal((7, 16)).astype(np.float32)
    with_it = index.search(queries, 5)
    monkeypatch.setattr(int8, "_is_installed", lambda: False)
    monkeypatch.setattr(DenseInt8, "promising", None)
    assert same(index.search(queries, 5), with_it)


def test_an_index_without_codes_is_opened_as_before(tmp_path: Path) -> None:
    rows = np.random.default_rng(3).standard_normal((600, 16)).astype(np.float32)
    with_codes = saved(rows, tmp_path).search(rows[:5], 5)
    (tmp_path / "codes.npy").unlink()
    assert same(Exact.load(tmp_path).search(rows[:5], 5), with_codes)


def test_blocks_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    rows = np.random.default_rng(3).standard_normal((600, 16)).astype(np.float32)
    saved(rows, tmp_path)
    np.save(tmp_path / "blocks.npy", np.array([0, 256, 512, 599]))
    with pytest.raises(ReadError, match="does not rise from 0 to 600"):
        Exact.load(tmp_path)
    (tmp_path / "blocks.npy").unlink()
    with pytest.raises(ReadError, match=r"blocks\.npy"):
        Exact.load(tmp_path)


@pytest.mark.parametrize("bounds", [[0, 0, 1], [np.nan, 0, 1], [0.01, -1, 1]])
def test_bounds_that_mean_nothing_are_refused(tmp_path: Path, bounds: list[float]) -> None:
    saved(np.eye(20, dtype=np.float32), tmp_path)
    np.save(tmp_path / "bounds.npy", np.array(bounds, dtype=np.float64))
    with pytest.raises(ReadError, match=r"bounds\.npy"):
        Exact.load(tmp_path)


def test_two_builds_write_the_same_bytes(tmp_path: Path) -> None:
    rows = np.random.default_rng(4).standard_normal((700, 24)).astype(np.float32)
    for name in ("one", "two"):
        saved(rows, tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
