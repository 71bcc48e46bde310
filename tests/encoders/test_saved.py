"""The manifest of a saved encoder says what it is, and refuses what it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from canonym.encoders.saved import read_encoder_manifest, write_encoder_manifest
from canonym.errors import Mismatch, ReadError


def test_written_and_read(tmp_path: Path) -> None:
    write_encoder_manifest(tmp_path, kind="chargrams", settings={"n_min": 1, "name": "β"})
    text = (tmp_path / "encoder.json").read_text(encoding="utf-8")
    assert json.loads(text) == {
        "format": 1,
        "kind": "chargrams",
        "settings": {"n_min": 1, "name": "β"},
    }
    assert text.endswith("}\n")
    assert read_encoder_manifest(tmp_path) == ("chargrams", {"n_min": 1, "name": "β"})
    assert read_encoder_manifest(tmp_path, kind="chargrams")[0] == "chargrams"


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such folder"):
        read_encoder_manifest(tmp_path / "nowhere")
    with pytest.raises(ReadError, match=r"there is no encoder\.json in it"):
        read_encoder_manifest(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": 1}',
        '{"format": "1", "kind": "static", "settings": {}}',
        '{"format": true, "kind": "static", "settings": {}}',
        '{"format": 1, "kind": 3, "settings": {}}',
        '{"format": 1, "kind": "static", "settings": []}',
        "[" * 5000,
    ],
)
def test_damaged(text: str, tmp_path: Path) -> None:
    (tmp_path / "encoder.json").write_text(text)
    with pytest.raises(ReadError, match="the manifest is damaged"):
        read_encoder_manifest(tmp_path)


def test_newer_or_other(tmp_path: Path) -> None:
    (tmp_path / "encoder.json").write_text('{"format": 2, "kind": "static", "settings": {}}')
    with pytest.raises(Mismatch, match=r"newer canonym \(format 2, this version reads up to 1\)"):
        read_encoder_manifest(tmp_path)
    write_encoder_manifest(tmp_path, kind="static", settings={})
    with pytest.raises(Mismatch, match="holds an encoder of kind 'static'; 'onnx' is expected"):
        read_encoder_manifest(tmp_path, kind="onnx")
