"""A device only saves time: every answer is the same to the bit."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput, MissingExtra
from canonym.indexes import exact, gpu
from canonym.indexes.exact import Exact
from canonym.indexes.gpu import GpuVectors
from canonym.indexes.unnormalised import Inner
from canonym.io.devices import DEVICE
from canonym.types import Hits
from tests.indexes.answers import near_rows, same

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(gpu, "_BLOCK", 100)
    monkeypatch.setattr(exact, "FEWEST", 1)
    monkeypatch.setattr(Exact, "_at_once", 5)
    before = torch.get_float32_matmul_precision()
    yield
    assert torch.get_float32_matmul_precision() == before


def on_device(device: str, *arguments: object, **options: object) -> Hits:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "named_device", lambda: device)
        patch.setattr(Exact, "_promising", None)
        index, *rest = arguments
        return index.search(*rest, **options)  # type: ignore[attr-defined, no-any-return]


DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(
            not torch.cuda.is_available(), reason="this machine has no GPU for torch"
        ),
    ),
]


@pytest.mark.parametrize("device", DEVICES)
def test_nor_of_inner_products(device: str) -> None:
    rng = np.random.default_rng(0)
    rows = (rng.standard_normal((999, 32)) * rng.lognormal(sigma=2, size=(999, 1)) + 9).astype("f4")
    queries, index = rows[:40] + np.float32(0.5), Inner.build(rows)
    expected = index.search(queries, 7)
    assert same(on_device(device, index, queries, 7), expected)


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=40, deadline=None)
@given(
    n=st.sampled_from([1, 99, 100, 101, 1000]),
    width=st.sampled_from([1, 3, 64]),
    k=st.sampled_from([1, 7, 150, 1200]),
    seed=st.integers(0, 2**31),
    share=st.sampled_from([None, 0.5, 0.99]),
    spread=st.sampled_from([1e-3, 1.0]),
)
def test_a_device_changes_no_answer(
    device: str, n: int, width: int, k: int, seed: int, share: float | None, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = near_rows(rng, n, width, spread)
    queries = np.concatenate([rows[:4], rng.standard_normal((9, width)).astype(np.float32)])
    allowed = None
    if share is not None:
        allowed = rng.random(n) < share
        allowed[: n // 5 + 1] = True  # fewer would be searched among themselves
    index = Exact.build(rows)
    expected = index.search(queries, k, allowed=allowed)
    assert same(on_device(device, index, queries, k, allowed=allowed), expected)


def test_products_have_the_precision_of_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Exact.build(np.random.default_rng(0).standard_normal((300, 8)).astype(np.float32))
    used = []
    topk = torch.Tensor.topk

    def noted(self: torch.Tensor, k: int) -> object:
        used.append(torch.get_float32_matmul_precision())
        return topk(self, k)

    monkeypatch.setattr(torch.Tensor, "topk", noted)
    torch.set_float32_matmul_precision("high")
    try:
        on_device("cpu", index, np.eye(8, dtype=np.float32), 3)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert set(used) == {"highest"}


def test_vectors_are_moved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Exact.build(np.eye(30, dtype=np.float32))
    made: list[str] = []

    class Counted(GpuVectors):
        def __init__(self, vectors: np.ndarray, device: str) -> None:
            made.append(device)
            super().__init__(vectors, device)

    monkeypatch.setattr(exact, "GpuVectors", Counted)
    for _ in range(3):
        assert on_device("cpu", index, np.eye(30, dtype=np.float32), 1).rows.ravel().tolist() == (
            list(range(30))
        )
    assert made == ["cpu"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEVICE, "cuda:7")
    with pytest.raises(InvalidInput, match=r"device='cuda:7' cannot be used here"):
        Exact.build(np.eye(3, dtype=np.float32)).search(np.eye(3, dtype=np.float32), 1)


@pytest.mark.parametrize("name", ["", "auto", "cpu"])
def test_without_a_named_device_torch_is_not_used(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(DEVICE, name)
    monkeypatch.setattr(exact, "GpuVectors", None)
    hits = Exact.build(np.eye(3, dtype=np.float32)).search(np.eye(3, dtype=np.float32), 1)
    assert hits.rows.ravel().tolist() == [0, 1, 2]


def test_memory_that_does_not_suffice_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(torch.Tensor, "to", full)
    with pytest.raises(InvalidInput, match="7 vectors of width 7 do not fit into the memory"):
        GpuVectors(np.eye(7, dtype=np.float32), "cpu")


def test_a_device_without_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="torch"):
        GpuVectors(np.eye(7, dtype=np.float32), "cuda")
