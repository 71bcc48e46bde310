"""Making the default encoder, from small files in place of the real ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from canonym.cli import main
from canonym.encoders import load_encoder
from canonym.encoders.chargrams import CharGrams
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from models import make_default as default_encoder
from models.make_default import check_data, make_default_encoder


@pytest.fixture(autouse=True)
def small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {**default_encoder.OPTIONS, "n_bits": 10, "dimensions": 16, "batch": 16}
    monkeypatch.setattr(default_encoder, "OPTIONS", small)
    for stage in ("FINISH", "ASKED"):
        given = getattr(default_encoder, stage)
        monkeypatch.setattr(default_encoder, stage, {**given, "batch": 16})


def test_mentions_come_near_their_concept(mixed: Path) -> None:
    with_mentions = make_default_encoder(mixed, steps=60)
    without = make_default_encoder(mixed, steps=60, parts=[])

    def similarity(encoder: Subword) -> float:
        one, other = encoder.encode(["cardiac death", "heart attack"])
        return float(one @ other)

    assert similarity(with_mentions) > similarity(without) + 0.1
    trained = with_mentions.trained
    assert trained["parts"] == ["train", "dev"]
    assert trained["mentioned"] >= 4
    assert len(trained["data"]["bc5cdr dev"]) == 64
    assert without.trained["mentioned"] == 0
    assert "bc5cdr dev" not in without.trained["data"]


def test_equal_seeds_give_equal_bytes(mixed: Path) -> None:
    steps: list[tuple[int, int]] = []
    one, same, other = (
        make_default_encoder(mixed, steps=5, seed=seed, progress=lambda *done: steps.append(done))
        for seed in (1, 1, 2)
    )
    assert steps[:7] == [(step, 7) for step in range(1, 8)]
    np.testing.assert_array_equal(one.table, same.table)
    assert (one.table != other.table).any()


def test_mentions_ask_at_the_end_if_they_are_let(mixed: Path) -> None:
    lines: list[str] = []
    asked = make_default_encoder(mixed, steps=32, log=lines.append)
    silent = make_default_encoder(mixed, steps=32, questions=False)
    assert any("candidates searched, mentions with a right one first" in line for line in lines)
    assert (asked.table != silent.table).any()
    assert list(asked.trained["options"]) == ["names", "mentions too", "mentions ask"]
    assert asked.trained["asking"]["diseases"] == 48
    assert list(silent.trained["options"]) == ["names", "mentions too"]
    assert "asking" not in silent.trained


class Teacher:
    """Takes names with the same first letter for the same."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.settings = {"files": ["one"]}

    def encode(self, names: Sequence[str]) -> Any:
        self.asked += names
        firsts = [ord(name[0].lower()) for name in names]
        return 7 * np.eye(256, dtype=np.float32)[firsts]


def test_a_teacher_is_asked_about_diseases_and_heard(mixed: Path) -> None:
    teacher, lines = Teacher(), list[str]()
    taught = make_default_encoder(mixed, steps=60, teacher=teacher, log=lines.append)
    alone = make_default_encoder(mixed, steps=60)
    assert {"Heart Attack", "coronary infarct", "Fever"} <= set(teacher.asked)
    assert not {"Temefos", "bevonium", "abate tablets"} & set(teacher.asked)
    assert any(line.startswith("asking the teacher about") for line in lines)

    def similarity(encoder: Subword) -> float:
        one, other = encoder.encode(["Fever", "Fever of other origin"])
        return float(one @ other)

    assert (taught.table != alone.table).any()
    assert similarity(taught) > 0.5
    assert len(taught.trained["teacher"]) == 64
    assert "teacher" not in alone.trained


def test_a_teacher_with_sparse_vectors_is_told(mixed: Path) -> None:
    sparse = CharGrams().fit(["fever"])
    with pytest.raises(InvalidInput, match="sparse"):
        make_default_encoder(mixed, steps=4, teacher=sparse)


def test_a_missing_file_is_told_at_once(mixed: Path) -> None:
    check_data(mixed)
    (mixed / "bc5cdr" / "dev.pubtator").unlink()
    with pytest.raises(InvalidInput, match=r"lacks 1 of the files .*bc5cdr/dev\.pubtator"):
        make_default_encoder(mixed)
    check_data(mixed, parts=["train"])


def test_command(mixed: Path, tmp_path: Path) -> None:
    runner, place = CliRunner(), tmp_path / "encoder"
    arguments = ["train", "default", "--data", str(mixed), "-o", str(place), "--steps", "5"]
    done = runner.invoke(main, [*arguments, "--part", "train"])
    assert done.exit_code == 0, done.output
    assert "mentioned" in done.stdout
    assert "1 mentions, 1 distinct" in done.stderr
    encoder = load_encoder(place)
    assert isinstance(encoder, Subword)
    assert encoder.trained["parts"] == ["train"]
    for more, said in (
        ([], "exists already"),
        (["-o", str(tmp_path / "no" / "encoder")], "does not exist"),
        (["--overwrite", "--part", "none", "--part", "dev"], "one or the other"),
        (["--overwrite", "--part", "dev", "--teacher", "contextual"], "would tell of them"),
        (["--overwrite", "--teacher", "nowhere"], "nowhere"),
        (["--overwrite", "--data", str(tmp_path / "medquad-synonyms")], "lacks"),
    ):
        failed = runner.invoke(main, [*arguments, *more])
        assert failed.exit_code == 2
        assert said in failed.stderr


def test_command_without_mentions_and_quietly(mixed: Path, tmp_path: Path) -> None:
    place = tmp_path / "encoder"
    arguments = ["train", "default", "--data", str(mixed), "-o", str(place), "--steps", "2"]
    done = CliRunner().invoke(main, [*arguments, "--part", "none", "--quiet"])
    assert (done.exit_code, done.output) == (0, "")
    assert load_encoder(place).trained["mentioned"] == 0  # type: ignore[attr-defined]
