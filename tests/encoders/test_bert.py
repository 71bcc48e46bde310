"""The contextual encoder by NumPy alone: the vectors of ONNX Runtime, in the base install."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from math import erf
from pathlib import Path

import numpy as np
import pytest

import canonym
from canonym import Concept, Linker, Terminology
from canonym.encoders import bert, load_encoder, make_encoder, save_encoder
from canonym.encoders.bert import Bert
from canonym.encoders.onnx import OnnxTransformer
from canonym.errors import InvalidInput, ReadError

CONTEXTUAL = Path(canonym.__file__).parent / "models" / "contextual"
NAMES = [
    *("heart attack", "flu", "", "心 β", "\ud800a", "type 2 diabetes mellitus", "p53", "a" * 500),
    *("acute myocardial infarction of the anterior wall", "primary HPT", "pain " * 100, "fever"),
    *(f"{kind} of the {place}" for kind in ("cancer", "pain") for place in ("lung", "hip", "eye")),
]


@pytest.fixture(scope="module")
def quantised(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT with 8-bit weights; biases that are all 0 would be one constant."""
    torch = pytest.importorskip("torch")
    from canonym.encoders.transformer import Transformer
    from models.onnx_export import export_onnx, quantise_onnx

    encoder = Transformer(tiny_bert, pooling="mean", device="cpu")
    with torch.no_grad():
        for weights in encoder.model.parameters():
            if weights.ndim == 1:
                weights += 0.3 * torch.rand_like(weights)
    folder = tmp_path_factory.mktemp("small")
    export_onnx(encoder, folder / "exported")
    quantise_onnx(folder / "exported", folder / "quantised")
    return folder / "quantised"


@pytest.fixture(scope="module")
def contextual() -> Bert:
    encoder = make_encoder("contextual")
    assert isinstance(encoder, Bert)
    return encoder


def test_equals_onnx_runtime(contextual: Bert) -> None:
    cosines = (contextual.encode(NAMES) * OnnxTransformer(CONTEXTUAL).encode(NAMES)).sum(axis=1)
    # A number beside the edge of a rounding may fall on its other side.
    assert cosines.min() > 0.9993
    assert np.median(cosines) > 0.99999


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_another_model_equals_onnx_runtime(pooling: str, quantised: Path) -> None:
    ours, expected = Bert(quantised, pooling=pooling), OnnxTransformer(quantised, pooling=pooling)
    cosines = (ours.encode(NAMES) * expected.encode(NAMES)).sum(axis=1)
    assert cosines.min() > 0.999
    assert np.median(cosines) > 0.99999
    assert ours.n_columns == expected.n_columns == 16


def test_batch_mates_change_nothing(contextual: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [*NAMES, *(f"{name} {n}" for n in range(10) for name in NAMES[:12])]
    together = contextual.encode(many)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(contextual.encode(many[::-1])[::-1], together)
    for place in range(0, len(many), 7):
        np.testing.assert_array_equal(contextual.encode([many[place]])[0], together[place])
    monkeypatch.setattr(contextual, "_threads", 3)
    monkeypatch.setattr(bert, "_TOKENS", 40)
    np.testing.assert_array_equal(contextual.encode(many), together)


WORK = """
import hashlib, sys
for name in ("onnxruntime", "tokenizers", "torch", "transformers", "onnx"):
    sys.modules[name] = None
import numpy as np
from canonym.encoders import make_encoder
names = ["heart attack", *(f"type {n} diabetes of the left eye" for n in range(200)), "flu"]
vectors = make_encoder("contextual").encode(names)
print(hashlib.sha256(vectors.tobytes()).hexdigest())
"""
KERNELS = {
    "other products": {"OPENBLAS_CORETYPE": "Prescott"},
    "other functions": {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"},
    "two threads": {"OMP_NUM_THREADS": "2"},
}


def vectors_digest(**settings: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORK],
        env={**os.environ, "OMP_NUM_THREADS": "1", **settings},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_no_extra_is_needed_and_kernels_change_nothing() -> None:
    usual = vectors_digest()
    for settings in KERNELS.values():
        assert vectors_digest(**settings) == usual


def test_gelu() -> None:
    x = np.linspace(-12, 12, 20_001, dtype=np.float32)
    exact = np.array([value * (1 + erf(value / 2**0.5)) / 2 for value in x.tolist()])
    assert np.abs(bert._gelu(x) - exact).max() < 2e-6


def test_saved_and_opened(quantised: Path, tmp_path: Path) -> None:
    encoder = Bert(quantised, max_length=8, trained={"seed": 3})
    save_encoder(encoder, tmp_path / "saved")
    opened = load_encoder(tmp_path / "saved")
    assert isinstance(opened, Bert)
    assert opened.settings == {"pooling": "mean", "max_length": 8, "trained": {"seed": 3}}
    assert "max_length=8" in repr(opened)
    np.testing.assert_array_equal(opened.encode(NAMES), encoder.encode(NAMES))
    assert isinstance(make_encoder(f"bert:{tmp_path / 'saved'}"), Bert)


def test_large_sums_take_double_precision(quantised: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Bert(quantised).encode(NAMES)
    monkeypatch.setattr(bert, "_EXACT", 1)
    encoder = Bert(quantised)
    assert encoder._model._layers[0].wide.numbers.dtype == np.float64
    np.testing.assert_array_equal(encoder.encode(NAMES), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "sum"}, "pooling='sum' is not known"),
        ({"max_length": 2}, "max_length=2: a whole number of at least 3"),
        ({"max_length": 65}, "max_length=65: the model takes at most 64 tokens"),
    ],
)
def test_bad_options(options: dict[str, object], message: str, quantised: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        Bert(quantised, **options)  # type: ignore[arg-type]


def test_other_models(quantised: Path, exported_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such folder"):
        Bert(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=r"not a BERT with 8-bit weights .* quantise_onnx"):
        Bert(exported_bert)
    folder = shutil.copytree(quantised, tmp_path / "copy")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_act": "gelu_new"}))
    with pytest.raises(InvalidInput, match="it is a bert with gelu_new"):
        Bert(folder)
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["stroke"] = 9999
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(InvalidInput, match="are of two models"):
        Bert(folder).encode(["stroke"])
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ReadError, match="not a whole ONNX model"):
        Bert(folder)


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
