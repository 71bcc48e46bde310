"""What the small files of a model folder say, in the writing of every version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from canonym.encoders.checkpoint import read_checkpoint, write_pooling
from canonym.errors import InvalidInput, ReadError

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
    assert found == (tmp_path, "cls", False, 512)
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
    assert found == (tmp_path / "0_Transformer", "mean", True, None)


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
    for text in ("{", "[{}]", "[3]", "7"):
        (tmp_path / "modules.json").write_text(text)
        with pytest.raises(ReadError, match="the list of modules is damaged"):
            read_checkpoint(tmp_path)


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
@pytest.mark.parametrize("normalise", [True, False])
def test_written_and_read(pooling: str, normalise: bool, tmp_path: Path) -> None:
    make(tmp_path)
    write_pooling(
        tmp_path, pooling=pooling, width=4, max_length=9, lowercase=True, normalise=normalise
    )
    assert read_checkpoint(tmp_path) == (tmp_path, pooling, True, None)
    kinds = [step["type"] for step in json.loads((tmp_path / "modules.json").read_text())]
    assert (kinds[-1] == f"{OLD}Normalize") == normalise
