"""The contract of every encoder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym.encoders import ENCODERS, encoder_class, load_encoder, make_encoder, save_encoder
from canonym.errors import InvalidInput, Mismatch
from canonym.indexes.vectors import join_vectors
from canonym.types import Encoder, SparseVectors

os.environ["HF_HUB_OFFLINE"] = "1"

NAMES = [
    "heart attack",
    "Heart attack",
    "type 2 diabetes mellitus",
    "flu",
    "broken hip, left",
    "β-thalassaemia",
    "heart attack",
    "attack heart",
]
ODD_NAMES = [
    "",
    " ",
    "\t\n\u3000",
    "\x00",
    "heart\x00attack",
    "\ud800",
    "flu \udfff\ud800",
    "!?;,.-",
    "心筋梗塞",
    "инфаркт миокарда",
    "احتشاء",
    "😀\u200d🩺",
    "e\u0301\u0301\u0301",
    "\U0010ffff",
    "0",
]
LONG_NAMES = ["heart " * 16_667, "a" * 100_000, "心" * 100_000]


# --- a small one of each kind ---------------------------------------------------------------------


def make_chargrams(_: Path) -> Encoder:
    return encoder_class("chargrams")().fit([*NAMES, *ODD_NAMES])


def make_subword(_: Path) -> Encoder:
    table = np.random.default_rng(0).normal(size=(256, 12)).astype(np.float32)
    return encoder_class("subword")(table)


def make_quantised_subword(_: Path) -> Encoder:
    return make_subword(_).quantised()  # type: ignore[attr-defined]


def make_static(_: Path) -> Encoder:
    words = ["heart", "attack", "flu", "diabetes", "2", "心筋梗塞", "0"]
    vectors = np.random.default_rng(0).normal(size=(len(words), 12)).astype(np.float32)
    return encoder_class("static")(words, vectors)


def make_static_with_ngrams(_: Path) -> Encoder:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(2, 12)).astype(np.float32)
    buckets = rng.normal(size=(64, 12)).astype(np.float32)
    options = {"buckets": buckets, "n_min": 3, "n_max": 5}
    return encoder_class("static")(["heart", "attack"], vectors, **options)


def make_transformer(folder: Path, pooling: str = "cls") -> Encoder:
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = [mark + letter for letter in "abdehiklmnoprstuy2,-β心" for mark in ("", "##")]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.5,
    )
    BertTokenizerFast(vocab={piece: n for n, piece in enumerate(pieces)}).save_pretrained(folder)
    BertModel(config).save_pretrained(folder)
    return encoder_class("transformer")(folder, pooling=pooling, batch_size=4, device="cpu")


def make_onnx(folder: Path) -> Encoder:
    """Write a model that looks token vectors up; it takes no torch to make."""
    from onnx import TensorProto, helper, save_model
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = {"[PAD]": 0, "[UNK]": 1, "heart": 2, "attack": 3, "Heart": 4, "flu": 5}
    tokenizer = Tokenizer(models.WordLevel(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text("{}")
    table = np.random.default_rng(0).normal(size=(len(pieces), 12)).ravel().tolist()
    inputs = ["input_ids", "attention_mask"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "lookup",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in inputs],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "t", 12])],
        [helper.make_tensor("table", TensorProto.FLOAT, [len(pieces), 12], table)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save_model(model, str(folder / "model.onnx"))
    return encoder_class("onnx")(folder, pooling="mean", batch_size=4, device="cpu")


def make_residual(_: Path) -> Encoder:
    return put_head_on(make_subword(_), n_columns=12, width=12)


def make_stacked_residual(_: Path) -> Encoder:
    return put_head_on(make_residual(_), n_columns=12, width=20)


def put_head_on(base: Encoder, *, n_columns: int, width: int) -> Encoder:
    rng = np.random.default_rng(1)
    shapes = {
        "hidden.weight": (40, width),
        "hidden.bias": (40,),
        "output.weight": (width, 40),
        "output.bias": (width,),
    }
    if width > n_columns:
        shapes["projection"] = (n_columns, width)
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return encoder_class("residual")(base, weights)


FACTORIES: dict[str, tuple[str, Callable[[Path], Encoder]]] = {
    "chargrams": ("chargrams", make_chargrams),
    "subword": ("subword", make_subword),
    "subword, quantised": ("subword", make_quantised_subword),
    "static": ("static", make_static),
    "static, n-grams": ("static", make_static_with_ngrams),
    "transformer, cls": ("transformer", make_transformer),
    "transformer, mean": ("transformer", lambda folder: make_transformer(folder, "mean")),
    "transformer, max": ("transformer", lambda folder: make_transformer(folder, "max")),
    "onnx": ("onnx", make_onnx),
    "contextual": ("onnx", lambda _: make_encoder("contextual")),
    "residual": ("residual", make_residual),
    "residual, stacked": ("residual", make_stacked_residual),
    "universal": ("universal", lambda _: make_encoder("universal")),
}


@pytest.fixture(scope="module", params=FACTORIES)
def made(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Encoder]:
    kind, make = FACTORIES[request.param]
    return kind, make(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def kind(made: tuple[str, Encoder]) -> str:
    return made[0]


@pytest.fixture
def encoder(made: tuple[str, Encoder]) -> Encoder:
    return made[1]


def dense(vectors: np.ndarray | SparseVectors) -> np.ndarray:
    """Check the form of what an encoder returns, and return it as one array."""
    if not isinstance(vectors, SparseVectors):
        assert vectors.ndim == 2
        assert vectors.dtype == np.float32
        return vectors
    assert vectors.indptr.dtype == np.int64
    assert vectors.indices.dtype == np.int32
    assert vectors.data.dtype == np.float32
    assert vectors.indptr[0] == 0
    assert vectors.indptr[-1] == len(vectors.indices) == len(vectors.data)
    whole = np.zeros((vectors.n_rows, vectors.n_columns), np.float32)
    for row, (start, stop) in enumerate(pairwise(vectors.indptr)):
        columns = vectors.indices[start:stop]
        assert (np.diff(columns) > 0).all()
        whole[row, columns] = vectors.data[start:stop]
    return whole


def parts(vectors: np.ndarray | SparseVectors) -> list[np.ndarray]:
    return list(vectors[:3]) if isinstance(vectors, SparseVectors) else [vectors]


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


# --- the contract ---------------------------------------------------------------------------------


def test_every_kind_is_here() -> None:
    assert {kind for kind, _ in FACTORIES.values()} == set(ENCODERS)


def test_it_is_an_encoder(kind: str, encoder: Encoder) -> None:
    assert isinstance(encoder, Encoder)
    assert isinstance(encoder, encoder_class(kind))
    settings = encoder.settings  # type: ignore[attr-defined]
    assert json.loads(json.dumps(settings)) == settings
    assert type(encoder).__name__ in repr(encoder)


def test_one_row_a_name_of_norm_one_or_zero(encoder: Encoder) -> None:
    found = dense(encoder.encode([*NAMES, *ODD_NAMES]))
    assert len(found) == len(NAMES) + len(ODD_NAMES)
    norms = np.linalg.norm(found.astype(np.float64), axis=1)
    assert (np.isclose(norms, 1, atol=1e-6) | (norms == 0)).all()
    assert norms[0] > 0


def test_nothing_in_nothing_out(encoder: Encoder) -> None:
    width = dense(encoder.encode(NAMES)).shape[1]
    for nothing in ([], (), np.array([], str)):
        assert dense(encoder.encode(nothing)).shape == (0, width)


@pytest.mark.parametrize("name", [*ODD_NAMES, *LONG_NAMES], ids=lambda name: ascii(name[:12]))
def test_any_string_has_a_vector(name: str, encoder: Encoder) -> None:
    found = dense(encoder.encode([name]))
    assert found.shape == dense(encoder.encode(["flu"])).shape
    assert np.isfinite(found).all()


def test_batch_mates_change_nothing(encoder: Encoder) -> None:
    names = [*NAMES, *ODD_NAMES, "heart " * 40]
    together = dense(encoder.encode(names))
    alone = np.concatenate([dense(encoder.encode([name])) for name in names])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    if getattr(encoder, "independent", False):  # to the last bit, then
        names += [f"flu {number}" for number in range(600)]
        whole = parts(encoder.encode(names))
        pieces = parts(join_vectors([encoder.encode([name]) for name in names]))
        assert [part.tobytes() for part in whole] == [part.tobytes() for part in pieces]


def test_order_is_kept(encoder: Encoder) -> None:
    names = [*NAMES, *ODD_NAMES]
    forwards, backwards = dense(encoder.encode(names)), dense(encoder.encode(names[::-1]))
    np.testing.assert_allclose(forwards, backwards[::-1], atol=1e-6)


def test_equal_names_have_equal_vectors(encoder: Encoder) -> None:
    found = dense(encoder.encode(["flu", *NAMES * 5, "flu"]))
    np.testing.assert_array_equal(found[0], found[-1])
    np.testing.assert_array_equal(found[1 : 1 + len(NAMES)], found[-1 - len(NAMES) : -1])


def test_different_names_differ(encoder: Encoder) -> None:
    heart, flu = dense(encoder.encode(["heart", "flu"]))
    assert not np.allclose(heart, flu)


def test_encoding_again_gives_the_same_bytes(encoder: Encoder) -> None:
    for one, other in zip(
        parts(encoder.encode(NAMES)), parts(encoder.encode(tuple(NAMES))), strict=True
    ):
        assert one.tobytes() == other.tobytes()


def test_vectors_are_the_callers_own(encoder: Encoder) -> None:
    found = encoder.encode(["heart", "flu"])
    before = [part.copy() for part in parts(found)]
    for part in parts(found):
        part[...] = 0
    for one, other in zip(parts(encoder.encode(["heart", "flu"])), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_threads_share_an_encoder(encoder: Encoder) -> None:
    names = [[*NAMES[n:], *ODD_NAMES[n:], "heart " * n] for n in range(8)]
    expected = [dense(encoder.encode(part)) for part in names]
    with ThreadPoolExecutor(4) as threads:
        for one, other in zip(threads.map(encoder.encode, names * 3), expected * 3, strict=True):
            np.testing.assert_allclose(dense(one), other, atol=1e-6)


@pytest.mark.parametrize(
    "names", ["abc", "", b"abc", None, 7, ["flu", None], ["flu", 3.5], [["flu"]], [b"flu"]]
)
def test_what_is_no_list_of_strings_is_refused(names: Any, encoder: Encoder) -> None:
    with pytest.raises(InvalidInput, match="expected"):
        encoder.encode(names)


def test_saved_and_opened_it_gives_the_same_bytes(
    kind: str, encoder: Encoder, tmp_path: Path
) -> None:
    names = [*NAMES, *ODD_NAMES]
    encoder.save(tmp_path / "by itself")  # type: ignore[attr-defined]
    save_encoder(encoder, tmp_path / "by the package")
    expected = parts(encoder.encode(names))
    for opened in (
        encoder_class(kind).load(tmp_path / "by itself"),
        load_encoder(tmp_path / "by itself"),
        load_encoder(tmp_path / "by the package"),
        make_encoder(tmp_path / "by the package"),
        make_encoder(f"{tmp_path / 'by itself'}"),
    ):
        assert type(opened) is type(encoder)
        assert opened.settings == encoder.settings
        for one, other in zip(parts(opened.encode(names)), expected, strict=True):
            assert one.tobytes() == other.tobytes()


def test_saved_again_it_is_the_same_on_disk(encoder: Encoder, tmp_path: Path) -> None:
    save_encoder(encoder, tmp_path / "first")
    encoder.encode(NAMES)
    save_encoder(encoder, tmp_path / "second")
    save_encoder(load_encoder(tmp_path / "first"), tmp_path / "third")
    first = contents(tmp_path / "first")
    assert contents(tmp_path / "second") == first
    assert contents(tmp_path / "third") == first
    assert str(tmp_path).encode() not in b"".join(first.values())


@pytest.mark.parametrize("name", FACTORIES)
def test_made_twice_it_is_the_same_on_disk(name: str, tmp_path: Path) -> None:
    for attempt in ("one", "two"):
        (tmp_path / "model" / attempt).mkdir(parents=True)
        encoder = FACTORIES[name][1](tmp_path / "model" / attempt)
        save_encoder(encoder, tmp_path / attempt)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_another_kind_or_a_newer_format_is_not_opened(
    kind: str, encoder: Encoder, tmp_path: Path
) -> None:
    encoder.save(tmp_path)  # type: ignore[attr-defined]
    manifest = tmp_path / "encoder.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    assert (content["kind"], content["format"]) == (kind, 1)
    for change, message in (({"format": 2}, "newer canonym"), ({"kind": "other"}, "kind 'other'")):
        manifest.write_text(json.dumps(content | change), encoding="utf-8")
        for opened in (load_encoder, encoder_class(kind).load):
            with pytest.raises(Mismatch, match=message):
                opened(tmp_path)
