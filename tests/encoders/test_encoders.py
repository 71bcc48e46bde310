"""Encoders are made from short descriptions, kept in folders, and joined by other packages."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import canonym.encoders as encoders
from canonym.encoders import (
    ENCODERS,
    encoder_class,
    encoder_kinds,
    load_encoder,
    make_encoder,
    save_encoder,
)
from canonym.encoders.chargrams import CharGrams
from canonym.encoders.saved import write_encoder_manifest
from canonym.encoders.static import StaticVectors
from canonym.encoders.transformer import Transformer
from canonym.errors import InvalidInput, Mismatch, MissingExtra, ReadError


class Lengths:
    """An encoder of another package: the length of a name, and always 1."""

    settings: dict[str, Any] = {"unit": "characters"}  # noqa: RUF012

    def encode(self, names: list[str]) -> np.ndarray:
        return np.array([[len(name), 1] for name in names], np.float32).reshape(-1, 2)

    def save(self, folder: Path) -> None:
        (folder / "lengths.txt").write_text("nothing to keep")

    @classmethod
    def load(cls, folder: Path) -> Lengths:
        assert (folder / "lengths.txt").is_file()
        return cls()


@pytest.fixture
def other_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that brings the encoder `lengths`, and a broken one."""
    module = ModuleType("other_package")
    module.Lengths = Lengths  # type: ignore[attr-defined]
    monkeypatch.setattr(Lengths, "__module__", "other_package")
    monkeypatch.setitem(sys.modules, "other_package", module)
    found = importlib.metadata.EntryPoints(
        importlib.metadata.EntryPoint(name, value, "canonym.encoders")
        for name, value in {
            "broken": "no_such_package:Encoder",
            "lengths": "other_package:Lengths",
        }.items()
    )

    def entry_points(**chosen: str) -> importlib.metadata.EntryPoints:
        return found.select(**chosen)

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


def test_kinds_are_resolved_on_use() -> None:
    for kind in ENCODERS:
        cls = encoder_class(kind)
        assert f"{cls.__module__}:{cls.__qualname__}" == ENCODERS[kind]
        assert all(hasattr(cls, name) for name in ("encode", "save", "load", "settings"))
    with pytest.raises(InvalidInput, match=r"of kind 'word2vec'; there are chargrams,"):
        encoder_class("word2vec")


@pytest.mark.usefixtures("other_package")
def test_other_packages_bring_encoders(tmp_path: Path) -> None:
    assert encoder_kinds() == sorted([*ENCODERS, "broken", "lengths"])
    assert encoder_class("lengths") is Lengths
    save_encoder(Lengths(), tmp_path / "saved")
    content = json.loads((tmp_path / "saved" / "encoder.json").read_text())
    assert content == {"format": 1, "kind": "lengths", "settings": {"unit": "characters"}}
    for opened in (
        load_encoder(tmp_path / "saved"),
        make_encoder(tmp_path / "saved"),
        make_encoder(f"lengths:{tmp_path / 'saved'}"),
    ):
        assert isinstance(opened, Lengths)
    with pytest.raises(InvalidInput, match="'broken' of another package cannot be loaded"):
        encoder_class("broken")


def test_an_unknown_kind_is_not_opened_and_not_saved(tmp_path: Path) -> None:
    write_encoder_manifest(tmp_path, kind="lengths", settings={})
    with pytest.raises(Mismatch, match=r"'lengths', which is not known here \(chargrams,"):
        load_encoder(tmp_path)
    with pytest.raises(InvalidInput, match="Lengths is no known encoder"):
        save_encoder(Lengths(), tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_a_saved_folder_is_checked_and_replaced_only_if_asked(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    save_encoder(CharGrams().fit(["one"]), folder)
    with pytest.raises(InvalidInput, match="exists already"):
        save_encoder(CharGrams().fit(["two"]), folder)
    save_encoder(CharGrams().fit(["three"]), folder, overwrite=True)
    assert load_encoder(folder).encode(["n"]).indptr.tolist() == [0, 0]
    with (folder / "keys.npy").open("ab") as stream:
        stream.write(b"more")
    with pytest.raises(ReadError, match=r"keys\.npy: has [0-9,]+ bytes where"):
        load_encoder(folder)
    with pytest.raises(ReadError, match="no such folder"):
        load_encoder(tmp_path / "nowhere")


def test_chargrams() -> None:
    encoder = make_encoder("chargrams")
    assert isinstance(encoder, CharGrams)
    assert (encoder.n_min, encoder.n_max) == (1, 2)
    encoder = make_encoder("chargrams:2-4", word_boundaries=True)
    assert (encoder.n_min, encoder.n_max, encoder.word_boundaries) == (2, 4, True)
    for spec in ("chargrams:", "chargrams:3", "chargrams:1-x"):
        with pytest.raises(InvalidInput, match=r"as in 'chargrams:1-3'"):
            make_encoder(spec)
    with pytest.raises(InvalidInput, match="larger than"):
        make_encoder("chargrams:3-1")
    with pytest.raises(InvalidInput, match="chargrams: got an unexpected keyword argument 'pool'"):
        make_encoder("chargrams", pool="mean")


def test_a_folder_called_chargrams_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    StaticVectors(["a"], np.ones((1, 2), np.float32)).save(Path("chargrams"))
    assert isinstance(make_encoder("chargrams"), StaticVectors)


def test_word_vectors(tmp_path: Path) -> None:
    path = tmp_path / "words.vec"
    path.write_text("Flu 1 0\n")
    for spec in (path, str(path), f"static:{path}"):
        encoder = make_encoder(spec, lowercase=False)
        assert encoder.encode(["Flu"]).tolist() == [[1, 0]]
    encoder.save(tmp_path / "saved")
    opened = make_encoder(f"static:{tmp_path / 'saved'}")
    assert opened.encode(["Flu"]).tolist() == [[1, 0]]
    with pytest.raises(Mismatch, match="kind 'static'; 'subword' is expected"):
        make_encoder(f"subword:{tmp_path / 'saved'}")
    with pytest.raises(InvalidInput, match="leave out lowercase, max_words"):
        make_encoder(tmp_path / "saved", max_words=1, lowercase=True)


def test_transformers(tiny_bert: Path) -> None:
    for spec in (tiny_bert, str(tiny_bert), f"transformer:{tiny_bert}", f"hf:{tiny_bert}"):
        encoder = make_encoder(spec, pooling="max")
        assert isinstance(encoder, Transformer)
        assert encoder.pooling == "max"
    with pytest.raises(ReadError, match=r"there is no model\.onnx"):
        make_encoder(f"onnx:{tiny_bert}")


def test_a_folder_with_nothing_but_onnx_needs_no_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def find_class(kind: str) -> Any:
        asked.append(kind)
        return lambda folder: folder

    monkeypatch.setattr(encoders, "encoder_class", find_class)
    (tmp_path / "onnx").mkdir()
    for file in ("config.json", "onnx/model.onnx", "model.safetensors"):
        (tmp_path / file).touch()
        make_encoder(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    make_encoder(tmp_path)
    assert asked == ["transformer", "onnx", "transformer", "transformer"]


def test_only_hf_goes_online(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def find_model(name: str, *, local_files_only: bool) -> None:
        asked.append((name, local_files_only))
        raise InvalidInput("not here")

    monkeypatch.setattr("canonym.encoders.transformer.find_model", find_model)
    for spec in ("owner/model", "transformer:model", "hf:owner/model"):
        with pytest.raises(InvalidInput, match="not here"):
            make_encoder(spec)
    assert asked == [("owner/model", True), ("model", True), ("owner/model", False)]


def test_the_default_comes_with_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "canonym"
    CharGrams().fit(["flu"]).save(package / "models" / "default")
    monkeypatch.setattr(encoders, "__file__", str(package / "encoders" / "__init__.py"))
    assert isinstance(make_encoder("default"), CharGrams)
    with pytest.raises(InvalidInput, match="leave out n_min"):
        make_encoder("default", n_min=2)


@pytest.mark.parametrize("spec", ["", "chargram", "nowhere/at/all", "/nowhere", "hf:", "tfidf:1-2"])
def test_what_fits_nothing(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="neither a file or folder here nor a kind of encoder"):
        make_encoder(spec)
    with pytest.raises(InvalidInput, match="neither a file or folder"):
        make_encoder(Path("owner/model"))


def test_without_torch_a_folder_says_what_to_install(
    tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'canonym\[torch\]'"):
        make_encoder(tiny_bert)
