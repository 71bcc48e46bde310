"""Constants and operations of an ONNX file are what the onnx package reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from canonym.encoders.onnx_graph import Operation, read_graph
from canonym.errors import ReadError

onnx = pytest.importorskip("onnx")


def write_model(path: Path) -> Path:
    arrays = {
        "matrix": np.arange(6, dtype=np.float32).reshape(2, 3),
        "bytes": np.array([-128, 0, 127], np.int8),
        "levels": np.array([0, 255], np.uint8),
        "number": np.array(1 << 40, np.int64),
        "switch": np.array(True),
        "nothing": np.zeros((0, 4), np.float32),
    }
    helper = onnx.helper
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "matrix"], ["y"], name="sum"),
            helper.make_node("Softmax", ["y"], ["z"], axis=-1),
        ],
        "two steps",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, ["n", 3])],
        [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    onnx.save_model(helper.make_model(graph), str(path))
    return path


def test_equals_the_library(tmp_path: Path) -> None:
    path = write_model(tmp_path / "model.onnx")
    graph = read_graph(path)
    assert graph.operations == [
        Operation("Add", ("x", "matrix"), ("y",)),
        Operation("Softmax", ("y",), ("z",)),
    ]
    constants = {one.name: one for one in onnx.load(str(path)).graph.initializer}
    assert graph.constants.keys() == constants.keys()
    for name, tensor in constants.items():
        expected = onnx.numpy_helper.to_array(tensor)
        assert graph.constants[name].dtype == expected.dtype
        np.testing.assert_array_equal(graph.constants[name], expected)
        assert not graph.constants[name].flags.writeable


def test_a_file_cut_anywhere_is_damaged(tmp_path: Path) -> None:
    content = write_model(tmp_path / "model.onnx").read_bytes()
    path = tmp_path / "cut.onnx"
    for length in range(0, len(content) - 4, 3):
        path.write_bytes(content[:length])
        with pytest.raises(ReadError, match="not a whole ONNX model"):
            read_graph(path)


@pytest.mark.parametrize("content", [b"not a model", b"\xff" * 40, b"\x3a\x02\x0b\x0b", b""])
def test_other_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ReadError, match="not a whole ONNX model"):
        read_graph(tmp_path / "x")
    with pytest.raises(ReadError):
        read_graph(tmp_path / "nowhere")
