"""Models are found on disk and in the cache, and fetched only when that was asked for."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import transformers

from canonym.encoders.hub import find_model, read_model
from canonym.errors import InvalidInput, MissingExtra, ReadError


def test_a_folder_is_itself(tmp_path: Path) -> None:
    assert find_model(tmp_path, local_files_only=True) == tmp_path
    assert find_model(str(tmp_path), local_files_only=False) == tmp_path


def test_what_is_no_folder_and_no_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such folder; give the folder of a model"):
        find_model(tmp_path / "nowhere", local_files_only=True)
    with pytest.raises(InvalidInput, match="no such folder; give the folder of a model"):
        find_model("a/b/c", local_files_only=True)
    (tmp_path / "file").touch()
    with pytest.raises(ReadError, match="a folder is expected, found a file"):
        find_model(tmp_path / "file", local_files_only=True)


def test_a_cached_name_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    revision = "0" * 40
    cached = tmp_path / "models--owner--model"
    (cached / "snapshots" / revision).mkdir(parents=True)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(revision)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    found = find_model("owner/model", local_files_only=True)
    assert found.samefile(cached / "snapshots" / revision)


def test_a_name_that_is_not_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        InvalidInput, match=r"not in the local Hugging Face cache .*'hf:owner/model'"
    ):
        find_model("owner/model", local_files_only=True)


@pytest.mark.parametrize("files", [["model.safetensors", "pytorch_model.bin"], ["a.bin"]])
def test_a_download_takes_one_form_of_the_weights(
    files: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {}

    def download(name: str, **options: Any) -> str:
        asked.update(options, name=name)
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "list_repo_files", lambda _: files)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert find_model("owner/model", local_files_only=False) == tmp_path
    assert asked["name"] == "owner/model"
    assert asked["local_files_only"] is False
    assert ("*.bin" in asked["ignore_patterns"]) == (len(files) == 2)


def test_a_download_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: Any, **__: Any) -> None:
        raise huggingface_hub.errors.OfflineModeIsEnabled("offline")

    monkeypatch.setattr(huggingface_hub, "list_repo_files", offline)
    with pytest.raises(InvalidInput, match=r"not to be had \(offline\); check the name"):
        find_model("owner/model", local_files_only=False)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"canonym\[torch\]"):
        find_model("owner/model", local_files_only=True)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"canonym\[torch\]"):
        read_model(tmp_path)


def test_reading_is_quiet_and_leaves_the_log_as_it_was(
    tiny_bert: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    logging = transformers.utils.logging
    logging.set_verbosity_info()
    try:
        read_model(tiny_bert)
        assert logging.get_verbosity() == logging.INFO
        assert logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        read_model(tiny_bert)
        assert not logging.is_progress_bar_enabled()
    finally:
        logging.set_verbosity_warning()
        logging.enable_progress_bar()
    assert capfd.readouterr() == ("", "")


def test_damaged_folders(tiny_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "truncated"
    shutil.copytree(tiny_bert, folder)
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(ReadError, match="transformers cannot read it"):
        read_model(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ReadError, match="transformers cannot read it"):
        read_model(folder)
    with pytest.raises(ReadError, match="transformers cannot read it"):
        read_model(tmp_path)


def test_weights_that_would_be_random_are_an_error(tiny_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deeper"
    shutil.copytree(tiny_bert, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    with pytest.raises(ReadError, match=r"weights of the model are not in it \(encoder\.layer\.1"):
        read_model(folder)
