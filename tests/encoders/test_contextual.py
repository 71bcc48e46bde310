"""The contextual encoder that comes with canonym: in ONNX Runtime, alone and among others."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import canonym
from canonym import Concept, Linker, Terminology
from canonym.encoders import load_encoder, make_encoder, save_encoder
from canonym.encoders.onnx import OnnxTransformer
from canonym.errors import InvalidInput, MissingExtra
from tests.cli.running import run

onnxruntime = pytest.importorskip("onnxruntime")

CONTEXTUAL = Path(canonym.__file__).parent / "models" / "contextual"
NAMES = [
    *("heart attack", "flu", "", "心 β", "\ud800a", "type 2 diabetes mellitus", "p53", "a" * 500),
    *("acute myocardial infarction of the anterior wall", "primary HPT", "pain " * 100, "fever"),
    *("[CLS] a[MASK]b[SEP]", "\0", "e" + "\u0301" * 200, "心筋梗塞 x心y", "👩‍⚕️ flu", "ǖ İ ß ΑΣ ς"),
    *(f"{kind} of the {place}" for kind in ("cancer", "pain") for place in ("lung", "hip", "eye")),
]


@pytest.fixture(scope="module")
def contextual() -> OnnxTransformer:
    encoder = make_encoder("contextual")
    assert isinstance(encoder, OnnxTransformer)
    return encoder


def test_batch_mates_and_threads_change_nothing(
    contextual: OnnxTransformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [*NAMES, *(f"{name} {n}" for n in range(10) for name in NAMES[:12])]
    together = contextual.encode(many)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(contextual.encode(many[::-1])[::-1], together)
    for place in range(0, len(many), 7):
        np.testing.assert_array_equal(contextual.encode([many[place]])[0], together[place])
    monkeypatch.setattr(contextual, "_threads", 3)
    monkeypatch.setattr(contextual, "batch_size", 5)
    np.testing.assert_array_equal(contextual.encode(many), together)


def test_one_thread_a_batch(contextual: OnnxTransformer) -> None:
    assert contextual._session.get_session_options().intra_op_num_threads == 1


def test_other_kernels_are_near(
    contextual: OnnxTransformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number beside the edge of a rounding may fall on its other side, as on a processor."""
    usual = contextual.encode(NAMES)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    plain = onnxruntime.InferenceSession(
        str(contextual.model_file), options, providers=["CPUExecutionProvider"]
    )
    monkeypatch.setattr(contextual, "_session", plain)
    cosines = (contextual.encode(NAMES) * usual).sum(axis=1)
    assert cosines.min() > 0.9993
    assert np.median(cosines) > 0.99999


def test_a_forked_child_gets_the_same_vectors(contextual: OnnxTransformer) -> None:
    expected = contextual.encode(NAMES)
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, pickle.dumps(bool(np.array_equal(contextual.encode(NAMES), expected))))
        os._exit(0)
    os.waitpid(child, 0)
    assert pickle.loads(os.read(read, 100))


def test_saved_and_opened(contextual: OnnxTransformer, tmp_path: Path) -> None:
    save_encoder(contextual, tmp_path / "saved")
    opened = load_encoder(tmp_path / "saved")
    assert isinstance(opened, OnnxTransformer)
    assert opened.settings == contextual.settings
    assert repr(opened).endswith("pooling='mean', max_length=32, batch_size=64, normalise=True)")
    np.testing.assert_array_equal(opened.encode(NAMES), contextual.encode(NAMES))


def test_an_index_calls_it_by_its_name() -> None:
    with pytest.raises(InvalidInput, match="leave out pooling"):
        make_encoder("contextual", pooling="cls")
    concepts = [Concept("X:1", "heart attack"), Concept("X:2", "flu")]
    linker = Linker.build(Terminology.build(concepts), encoders=["contextual", "chargrams"])
    assert [one["name"] for one in linker.info()["encoders"]] == ["contextual", "chargrams"]
    assert linker.link(["heart attacks"])[0].id == "X:1"


def test_a_copy_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonym.encoders.__file__", str(tmp_path / "encoders" / "__init__.py"))
    with pytest.raises(InvalidInput, match="comes without the encoder 'contextual'"):
        make_encoder("contextual")


WITHOUT = """
import sys
sys.modules["onnxruntime"] = None
from canonym.cli import main
main(sys.argv[1:])
"""


def test_where_there_is_no_onnx_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("id,name\nX:1,heart attack\nX:2,hip fracture\n")

    def apart(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITHOUT, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert apart("index", "-q", "x.csv", "-o", "ix").returncode == 0
    assert "X:1" in apart("link", "--index", "ix", "heart attck").stdout
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    failed = run("index", "-q", "x.csv", "-o", "cx", "-e", "contextual", code=2)
    looked = run("link", "--index", "ix", "--second-look", "contextual", "heart attck", code=2)
    for done in (failed, looked):
        said = " ".join(done.stderr.split())
        assert "needs onnxruntime, which is not installed: pip install onnxruntime" in said
        assert "elsewhere (a Mac with an Intel processor, Alpine Linux) use the encoder" in said
        assert "Traceback" not in said
    assert not (tmp_path / "cx").exists()


def test_an_error_is_the_same_in_another_process() -> None:
    error = MissingExtra("it", "", "onnxruntime", "Else do that")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert str(error).endswith("pip install onnxruntime. Else do that")
