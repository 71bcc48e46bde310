"""How vectors are compared: what folders say, what options say, what is saved."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym.encoders import load_encoder, make_encoder, path_of, save_encoder
from canonym.encoders.transformer import Transformer
from canonym.errors import InvalidInput, ReadError
from tests.encoders.conftest import describe_pooling

NAMES = ["heart attack", "flu", "pain in the hip"]


@pytest.fixture
def folder(tiny_bert: Path, tmp_path: Path) -> Path:
    """A copy of the random BERT to write to."""
    return Path(shutil.copytree(tiny_bert, tmp_path / "bert"))


def released(folder: Path, weight: Any) -> Path:
    """Turn a folder into one as BioSyn's code writes it."""
    import torch

    torch.save(torch.nn.Parameter(torch.tensor([weight])), folder / "sparse_weight.pt")
    (folder / "sparse_encoder.pk").write_bytes(b"this is never opened")
    return folder


def of(encoder: Any) -> tuple[str, bool, float]:
    return encoder.similarity, encoder.normalise, encoder.sparse_weight


def test_a_plain_folder_is_for_cosines(folder: Path) -> None:
    encoder: Any = make_encoder(folder)
    assert of(encoder) == ("cosine", True, 0.0)
    assert not {"similarity", "sparse_weight"} & encoder.settings.keys()


@pytest.mark.parametrize("similarity", ["inner", "euclidean"])
def test_other_similarities_keep_the_lengths(folder: Path, similarity: str) -> None:
    encoder: Any = Transformer(folder, similarity=similarity)
    assert of(encoder) == (similarity, False, 0.0)
    lengths = np.linalg.norm(encoder.encode(NAMES), axis=1)
    assert (np.abs(lengths - 1) > 0.1).all()
    assert of(Transformer(folder, similarity=similarity, normalise=True))[1]


def test_a_released_biosyn_folder(folder: Path) -> None:
    encoder: Any = make_encoder(released(folder, 2.5))
    assert of(encoder) == ("inner", False, 2.5)
    assert encoder.pooling == "cls"
    # The weight was trained beside inner products.
    assert of(make_encoder(folder, similarity="cosine")) == ("cosine", True, 0.0)
    assert of(make_encoder(folder, sparse_weight=0)) == ("inner", False, 0.0)
    assert of(make_encoder(folder, sparse_weight=4)) == ("inner", False, 4.0)


def test_a_weight_below_0_is_left_out(folder: Path) -> None:
    assert of(make_encoder(released(folder, -0.5))) == ("inner", False, 0.0)


class Hostile:
    """Unpickled, it would make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("what", ["code", "words", "nan", "two"])
def test_nothing_but_one_number_is_read(folder: Path, what: str) -> None:
    import torch

    touched, place = folder / "touched", folder / "sparse_weight.pt"
    content = {"nan": torch.tensor([float("nan")]), "two": torch.tensor([1.0, 2.0])}
    if what in content:
        torch.save(content[what], place)
    else:
        place.write_bytes(pickle.dumps(Hostile(touched)) if what == "code" else b"no tensor")
    with pytest.raises(ReadError, match="expected a tensor of one number"):
        make_encoder(folder)
    assert not touched.exists()


def test_what_is_saved_is_what_is_opened(folder: Path, tmp_path: Path) -> None:
    encoder = make_encoder(released(folder, 3.0), pooling="mean")
    save_encoder(encoder, tmp_path / "saved")
    saved: Any = load_encoder(tmp_path / "saved")
    assert of(saved) == ("inner", False, 3.0)
    np.testing.assert_array_equal(saved.encode(NAMES), encoder.encode(NAMES))
    settings = json.loads((tmp_path / "saved" / "encoder.json").read_text())["settings"]
    assert settings["similarity"] == "inner"
    assert settings["sparse_weight"] == 3.0
    # Options replace settings; another similarity has no use for the weight.
    assert of(make_encoder(f"{tmp_path / 'saved'},similarity=inner")) == ("inner", False, 3.0)
    assert of(make_encoder(f"{tmp_path / 'saved'},similarity=cosine")) == ("cosine", True, 0.0)
    assert make_encoder(f"{tmp_path / 'saved'},pooling=max").pooling == "max"  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match="pooling='best' is not known"):
        make_encoder(f"{tmp_path / 'saved'},pooling=best")
    with pytest.raises(InvalidInput, match="unexpected keyword argument 'colour'"):
        make_encoder(f"{tmp_path / 'saved'},colour=red")


def test_settings_of_before_are_for_cosines(folder: Path, tmp_path: Path) -> None:
    save_encoder(make_encoder(folder), tmp_path / "saved")
    manifest = json.loads((tmp_path / "saved" / "encoder.json").read_text())
    assert sorted(manifest["settings"]) == [
        "batch_size",
        "dtype",
        "max_length",
        "normalise",
        "pooling",
    ]
    assert of(load_encoder(tmp_path / "saved")) == ("cosine", True, 0.0)


@pytest.mark.parametrize("similarity", ["inner", "euclidean"])
def test_sentence_transformers_agrees(folder: Path, tmp_path: Path, similarity: str) -> None:
    from sentence_transformers import SentenceTransformer

    encoder: Any = Transformer(folder, similarity=similarity, pooling="mean")
    save_encoder(encoder, tmp_path / "saved")
    foreign = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    assert foreign.similarity_fn_name == {"inner": "dot", "euclidean": "euclidean"}[similarity]
    np.testing.assert_allclose(foreign.encode(NAMES), encoder.encode(NAMES), atol=1e-5)


@pytest.mark.parametrize(
    ("named", "normalise", "expected"),
    [
        ("dot", False, "inner"),
        ("euclidean", False, "euclidean"),
        ("cosine", False, "cosine"),
        (None, False, "cosine"),
        ("dot", True, "cosine"),  # the same order, for vectors of length one
    ],
)
def test_a_foreign_folder_names_its_similarity(
    folder: Path, named: str | None, normalise: bool, expected: str
) -> None:
    describe_pooling(folder, normalise=normalise)
    place = folder / "config_sentence_transformers.json"
    place.write_text(json.dumps({"similarity_fn_name": named}))
    assert of(make_encoder(folder))[0] == expected
    assert of(make_encoder(folder, similarity="cosine"))[0] == "cosine"


def test_a_similarity_that_is_none_of_the_three(folder: Path) -> None:
    (folder / "config_sentence_transformers.json").write_text('{"similarity_fn_name": "manhattan"}')
    with pytest.raises(InvalidInput, match="'manhattan'; canonym has cosine, inner, euclidean"):
        make_encoder(folder)
    assert of(make_encoder(folder, similarity="euclidean"))[0] == "euclidean"
    with pytest.raises(InvalidInput, match="similarity='dot' is not known"):
        make_encoder(folder, similarity="dot")
    with pytest.raises(InvalidInput, match=r"sparse_weight is -1; expected a number, at least 0"):
        make_encoder(folder, similarity="inner", sparse_weight=-1)


def test_options_of_a_description(folder: Path) -> None:
    encoder: Any = make_encoder(f"transformer:{folder},pooling=mean,max_length=12,normalise=false")
    assert (encoder.pooling, encoder.max_length, encoder.normalise) == ("mean", 12, False)
    assert make_encoder(f"{folder},pooling=mean", pooling="max").pooling == "max"  # type: ignore[attr-defined]
    assert path_of(f"{folder},pooling=mean,similarity=inner") == str(folder)
    assert repr(make_encoder("chargrams:1-3,lowercase=false")).endswith("lowercase=False)")
    with pytest.raises(InvalidInput, match="normalise='maybe': 'true' or 'false' is expected"):
        make_encoder(f"{folder},normalise=maybe")
    with pytest.raises(InvalidInput, match="leave out pooling"):
        make_encoder("default,pooling=mean")
    odd = folder.rename(folder.with_name("bert,pooling=mean"))
    assert make_encoder(odd).pooling == "cls"  # type: ignore[attr-defined]


def test_without_torch_it_is_the_same(exported_bert: Path, tmp_path: Path) -> None:
    from canonym.encoders.onnx import OnnxTransformer

    encoder = OnnxTransformer(exported_bert, similarity="inner", sparse_weight=2.0)
    save_encoder(encoder, tmp_path / "saved")
    assert of(load_encoder(tmp_path / "saved")) == ("inner", False, 2.0)
    assert of(make_encoder(f"{tmp_path / 'saved'},similarity=euclidean"))[0] == "euclidean"


@pytest.mark.slow
def test_an_export_keeps_it(folder: Path, tmp_path: Path) -> None:
    from models.onnx_export import export_onnx

    encoder: Any = make_encoder(released(folder, 3.0))
    export_onnx(encoder, tmp_path / "onnx")
    exported: Any = make_encoder(tmp_path / "onnx")
    assert of(exported) == ("inner", False, 3.0)
    np.testing.assert_allclose(exported.encode(NAMES), encoder.encode(NAMES), atol=1e-4)
