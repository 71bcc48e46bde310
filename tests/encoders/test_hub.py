"""Models on disk, in the cache and on the hub, and the small files of a model folder."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import transformers

from canonym.encoders.hub import find_model, read_checkpoint, read_model
from canonym.errors import InvalidInput, MissingExtra, ReadError
from tests.encoders.conftest import describe_pooling


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


OLD = "sentence_transformers.models."
NEW = "sentence_transformers.sentence_transformer.modules.pooling."


def make(
    folder: Path,
    *,
    config: object = None,
    pooling: dict[str, Any] | None = None,
    steps: tuple[tuple[str, str], ...] = (
        (f"{OLD}Transformer", ""),
        (f"{OLD}Pooling", "1_Pooling"),
    ),
    sentence: dict[str, Any] | None = None,
) -> Path:
    weights = folder / (steps[0][1] if pooling is not None else "")
    weights.mkdir(parents=True, exist_ok=True)
    (weights / "config.json").write_text(json.dumps({} if config is None else config))
    if sentence is not None:
        (weights / "sentence_bert_config.json").write_text(json.dumps(sentence))
    if pooling is not None:
        listed = [{"idx": n, "path": path, "type": kind} for n, (kind, path) in enumerate(steps)]
        (folder / "modules.json").write_text(json.dumps(listed))
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder


def test_a_plain_folder_takes_the_first_token(tmp_path: Path) -> None:
    found = read_checkpoint(make(tmp_path, config={"max_position_embeddings": 512}))
    assert found == (tmp_path, "cls", False, 512, False)
    assert read_checkpoint(tmp_path, pooling="max").pooling == "max"


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ({"pooling_mode": "mean", "embedding_dimension": 4}, "mean"),
        ({"pooling_mode": ["max"]}, "max"),
        ({"pooling_mode": "cls", "pooling_mode_mean_tokens": True}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_cls_token": True}, "cls"),
        ({"pooling_mode_max_tokens": True, "word_embedding_dimension": 3}, "max"),
    ],
)
def test_pooling_of_every_version(pooling: dict[str, Any], expected: str, tmp_path: Path) -> None:
    assert read_checkpoint(make(tmp_path, pooling=pooling)).pooling == expected


@pytest.mark.parametrize(
    "pooling",
    [
        {"pooling_mode": "lasttoken"},
        {"pooling_mode": ["cls", "mean"]},
        {"pooling_mode": 3},
        {"pooling_mode_mean_sqrt_len_tokens": True},
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
        {},
    ],
)
def test_other_poolings_have_to_be_overruled(pooling: dict[str, Any], tmp_path: Path) -> None:
    folder = make(tmp_path, pooling=pooling)
    with pytest.raises(InvalidInput, match="canonym has cls, mean, max, one at a time"):
        read_checkpoint(folder)
    assert read_checkpoint(folder, pooling="mean").pooling == "mean"


def test_weights_in_a_folder_of_their_own_and_lower_case(tmp_path: Path) -> None:
    steps = (
        (f"{OLD}Transformer", "0_Transformer"),
        (f"{NEW}Pooling", "1_Pooling"),
        (f"{OLD}Normalize", "2_Normalize"),
    )
    sentence = {"do_lower_case": True, "max_seq_length": 128}
    make(tmp_path, pooling={"pooling_mode": "mean"}, steps=steps, sentence=sentence)
    found = read_checkpoint(tmp_path)
    assert found == (tmp_path / "0_Transformer", "mean", True, None, True)


def test_a_step_that_is_not_taken_is_an_error(tmp_path: Path) -> None:
    steps = ((f"{OLD}Transformer", ""), (f"{OLD}Pooling", "1_Pooling"), (f"{OLD}Dense", "2_Dense"))
    make(tmp_path, pooling={"pooling_mode": "mean"}, steps=steps)
    with pytest.raises(InvalidInput, match="has a Dense step, which canonym does not take"):
        read_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("config", "longest"),
    [
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 512),
        ({"model_type": "roberta", "max_position_embeddings": 514}, 513),
        ({"model_type": "roberta"}, None),
        ({"max_position_embeddings": "512"}, None),
        ({"model_type": ["roberta"], "max_position_embeddings": 514}, 514),
    ],
)
def test_longest(config: dict[str, Any], longest: int | None, tmp_path: Path) -> None:
    assert read_checkpoint(make(tmp_path, config=config)).longest == longest


def test_damage(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"there is no config\.json in it"):
        read_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ReadError, match="expected JSON"):
        read_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(ReadError, match="expected a JSON object, found list"):
        read_checkpoint(tmp_path)
    config = {"model_type": "roberta", "max_position_embeddings": 9, "pad_token_id": "1"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ReadError, match="'pad_token_id' is '1'; a number is expected"):
        read_checkpoint(tmp_path)
    for layers in (201, 2**63, 10**400):
        (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": layers}))
        with pytest.raises(ReadError, match="at most 200 are expected"):
            read_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    modules = [{"type": "a.Transformer", "path": "x" * 5000}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ReadError, match=r"there is no config\.json in it"):
        read_checkpoint(tmp_path)
    for text in ("{", "[{}]", "[3]", "7", "[" * 5000):
        (tmp_path / "modules.json").write_text(text)
        with pytest.raises(ReadError, match="the list of modules is damaged"):
            read_checkpoint(tmp_path)


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
@pytest.mark.parametrize("normalise", [True, False])
def test_written_and_read(pooling: str, normalise: bool, tmp_path: Path) -> None:
    make(tmp_path)
    facts = {"n_columns": 4, "max_length": 9, "lowercase": True}
    describe_pooling(tmp_path, pooling=pooling, normalise=normalise, **facts)
    assert read_checkpoint(tmp_path) == (tmp_path, pooling, True, None, normalise)
    kinds = [step["type"] for step in json.loads((tmp_path / "modules.json").read_text())]
    assert (kinds[-1] == f"{OLD}Normalize") == normalise
