"""Weights of 8 bits: close to float32, and the same vector whatever stands beside a name."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from canonym.encoders import load_encoder
from canonym.encoders.onnx import OnnxTransformer
from canonym.errors import InvalidInput, ReadError
from canonym.io.files import read_manifest
from models.onnx_export import quantise_onnx, rounded_rows

NAMES = ["heart attack", "flu", "", "heart attack, flus - pain pain pain", "pain", "心 β", "flus"]
RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(120, 6)).astype(np.float32)
FIRST, SECOND = (RNG.normal(size=size).astype(np.float32) for size in ((6, 8), (8, 4)))


@pytest.fixture(scope="module")
def quantised(exported_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "quantised"
    quantise_onnx(exported_bert, folder, trained={"seed": 3})
    return folder


def make_layers(
    folder: Path, exported_bert: Path, *, opset: int = 20, float16: bool = False
) -> Path:
    """Write an encoder of a table, a matrix, a GELU and a matrix, with another's tokenizer."""
    shutil.copytree(exported_bert, folder)
    dtype = np.float16 if float16 else np.float32
    constants = [
        numpy_helper.from_array(array.astype(dtype), name)
        for array, name in ((TABLE, "table"), (FIRST, "first"), (SECOND, "second"))
    ]
    kind = TensorProto.FLOAT16 if float16 else TensorProto.FLOAT
    middle = "Gelu" if opset >= 20 else "Relu"
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["x"]),
            helper.make_node("MatMul", ["x", "first"], ["y"]),
            helper.make_node(middle, ["y"], ["z"]),
            helper.make_node("MatMul", ["z", "second"], ["last_hidden_state"]),
        ],
        "layers",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "t"])],
        [helper.make_tensor_value_info("last_hidden_state", kind, ["n", "t", 4])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


def run(folder: Path, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    (found,) = session.run(None, {"input_ids": ids})
    return np.asarray(found)


def product(
    x: npt.NDArray[np.float32], weights: npt.NDArray[np.float32], *, after_gelu: bool
) -> npt.NDArray[np.float64]:
    """Multiply one token as `quantise_onnx` says, in whole numbers."""
    zero = 32 if after_gelu else 128
    scale = max(x.max() / 223, 0.1701 / 32) if after_gelu else np.abs(x).max() / 127
    whole = np.clip(np.rint(x / np.float32(scale)) + zero, 0, 255).astype(np.int64) - zero
    sizes = np.abs(weights).max(axis=0) / 64
    return (whole @ np.rint(weights / sizes).astype(np.int64)) * float(scale) * sizes


def gelu(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    from math import erf

    return np.array([value * (1 + erf(value / 2**0.5)) / 2 for value in x])


def test_values_by_hand(exported_bert: Path, tmp_path: Path) -> None:
    quantise_onnx(make_layers(tmp_path / "layers", exported_bert), tmp_path / "small")
    found = run(tmp_path / "small", np.array([[3, 77, 3], [119, 0, 50]]))
    numbers, scales = rounded_rows(TABLE)
    for row, column, token in ((0, 0, 3), (0, 1, 77), (0, 2, 3), (1, 0, 119), (1, 2, 50)):
        x = numbers[token] * scales[token]
        y = product(x, FIRST, after_gelu=False)
        expected = product(gelu(y).astype(np.float32), SECOND, after_gelu=True)
        np.testing.assert_allclose(found[row, column], expected, rtol=1e-4, atol=1e-5)
    exact = run(tmp_path / "layers", np.array([[3, 77, 3]]))
    assert 0 < np.abs(found[:1] - exact).max() < 0.1 * np.abs(exact).max()


def test_a_graph_of_another_activation(exported_bert: Path, tmp_path: Path) -> None:
    folder = make_layers(tmp_path / "layers", exported_bert, opset=18)
    quantise_onnx(folder, tmp_path / "small")
    ids = np.array([[3, 77, 3]])
    exact = run(folder, ids)
    assert np.abs(run(tmp_path / "small", ids) - exact).max() < 0.1 * np.abs(exact).max()


def test_rounding_a_row() -> None:
    numbers, scales = rounded_rows(np.array([[1, -2, 0.5], [0, 0, 0]], np.float32), largest=64)
    np.testing.assert_array_equal(numbers, [[32, -64, 16], [0, 0, 0]])
    np.testing.assert_array_equal(scales, np.array([2 / 64, 1], np.float32))
    assert (numbers.dtype, scales.dtype) == (np.int8, np.float32)


def test_close_to_float32(exported_bert: Path, quantised: Path) -> None:
    exact, small = (load_encoder(folder).encode(NAMES) for folder in (exported_bert, quantised))
    assert isinstance(exact, np.ndarray)
    assert isinstance(small, np.ndarray)
    cosines = np.einsum("ij,ij->i", exact, small)
    assert cosines.min() > 0.99
    assert not np.array_equal(exact, small)


def test_the_weights_are_small(quantised: Path) -> None:
    model = onnx.load(str(quantised / "model.onnx"))
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    kinds = [array.dtype for array in constants.values() if array.ndim == 2 and array.size >= 256]
    assert kinds
    # The tables of the tiny model are too short for scales of their own to save anything.
    matrices = [array for name, array in constants.items() if name.endswith(".numbers")]
    assert len(matrices) == 6
    assert {array.dtype for array in matrices} == {np.dtype(np.int8)}
    assert max(np.abs(array).max() for array in matrices) == 64
    assert not any(node.op_type == "DynamicQuantizeLinear" for node in model.graph.node)


def test_neither_batch_nor_threads_change_a_vector(
    quantised: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = OnnxTransformer.load(quantised).encode(NAMES)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    many = OnnxTransformer.load(quantised)
    assert many._threads == 3
    np.testing.assert_array_equal(many.encode(NAMES), together)
    for place, name in enumerate(NAMES):
        np.testing.assert_array_equal(many.encode([name])[0], together[place])
    np.testing.assert_array_equal(many.encode(NAMES[::-1] * 20)[: len(NAMES)], together[::-1])


def test_the_folder_is_whole(exported_bert: Path, quantised: Path, tmp_path: Path) -> None:
    assert read_manifest(quantised, kind="encoder", newest=1)["encoder"] == "onnx"
    opened = OnnxTransformer.load(quantised)
    assert opened.trained == {"seed": 3}
    assert opened.settings == OnnxTransformer.load(exported_bert).settings | {
        "trained": {"seed": 3}
    }
    before, after = (folder / "tokenizer.json" for folder in (exported_bert, quantised))
    assert after.stat().st_size < before.stat().st_size
    assert json.loads(after.read_text()) == json.loads(before.read_text())
    with pytest.raises(InvalidInput, match="exists already"):
        quantise_onnx(exported_bert, quantised)
    quantise_onnx(exported_bert, tmp_path / "again", trained={"seed": 3})
    for file in sorted(quantised.rglob("*")):
        if file.is_file():
            copy = tmp_path / "again" / file.relative_to(quantised)
            assert copy.read_bytes() == file.read_bytes(), file.name


def test_a_folder_without_a_manifest(exported_bert: Path, tmp_path: Path) -> None:
    shutil.copytree(exported_bert, tmp_path / "bare")
    (tmp_path / "bare" / "encoder.json").unlink()
    quantise_onnx(tmp_path / "bare", tmp_path / "small")
    assert OnnxTransformer.load(tmp_path / "small").settings == {
        "pooling": "mean",
        "max_length": 32,
        "batch_size": 64,
        "normalise": True,
    }


def test_what_cannot_be_quantised(exported_bert: Path, quantised: Path, tmp_path: Path) -> None:
    def refused(folder: Path, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            quantise_onnx(folder, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    old = make_layers(tmp_path / "old", exported_bert, opset=17)
    refused(old, InvalidInput, "is of opset 17, at least 18 is expected")
    half = make_layers(tmp_path / "half", exported_bert, float16=True)
    refused(half, InvalidInput, "no weights to quantise")
    refused(quantised, InvalidInput, "no weights to quantise")
    refused(tmp_path / "nowhere", ReadError, "no such folder")


def test_a_model_that_onnx_cannot_read(
    exported_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(_: str) -> Any:
        raise ValueError("cut short")

    monkeypatch.setattr(onnx, "load", load)
    with pytest.raises(ReadError, match="onnx cannot read it"):
        quantise_onnx(exported_bert, tmp_path / "out")


def test_without_the_extra(
    exported_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InvalidInput, match="quantising an ONNX encoder needs onnx"):
        quantise_onnx(exported_bert, tmp_path / "out")
