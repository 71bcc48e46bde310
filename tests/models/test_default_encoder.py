"""Making the default encoder, from small files in place of the real ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from canonym.encoders import load_encoder
from canonym.encoders.chargrams import CharGrams
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.training.subword.fit_subword import fit_subword
from models import make_default
from models.make_default import main, make_default_encoder
from models.mixture import check_data


@pytest.fixture(autouse=True)
def small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {**make_default.OPTIONS, "n_bits": 10, "dimensions": 16, "batch": 16}
    monkeypatch.setattr(make_default, "OPTIONS", small)
    for stage in ("WORDS", "FINISH", "ASKED"):
        given = getattr(make_default, stage)
        monkeypatch.setattr(make_default, stage, {**given, "batch": 16})


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


def test_nothing_is_learned_of_concepts_held_out(mixed: Path) -> None:
    whole = make_default_encoder(mixed, steps=5)
    less = make_default_encoder(mixed, steps=5, held_out={"MESH:D009203"})
    assert less.trained["mentioned"] < whole.trained["mentioned"]
    assert less.trained["concepts"] < whole.trained["concepts"]
    assert less.trained["held_out"] == 1
    assert "held_out" not in whole.trained


class Teacher:
    """Takes texts with the same first letter for the same."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.settings = {"files": ["one"]}

    def encode(self, names: Sequence[str]) -> Any:
        self.asked += names
        firsts = [ord(name[0].lower()) % 32 for name in names]
        return 7 * np.eye(32, dtype=np.float32)[firsts]


def test_a_teacher_is_asked_about_words_and_heard(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    teacher, lines = Teacher(), list[str]()
    steps: list[tuple[int, int]] = []
    starts: list[Subword] = []

    def watched(*given: Any, **options: Any) -> Subword:
        starts.append(options["start"])
        return fit_subword(*given, **options)

    monkeypatch.setattr(make_default, "fit_subword", watched)
    taught = make_default_encoder(
        mixed,
        steps=200,
        teacher=teacher,
        progress=lambda *done: steps.append(done),
        log=lines.append,
    )
    # A word of the texts, a phrase of theirs, a name: but no phrase with a function word.
    assert {"patients", "heart failure", "coronary event"} <= set(teacher.asked)
    assert not {"to walk", "asked to"} & set(teacher.asked)
    assert any(line.startswith("asking the teacher about") for line in lines)
    assert steps == [(step, 312) for step in range(1, 313)]
    patients, hurts, heart = starts[0].encode(["patients", "hurts", "heart"])
    assert hurts @ heart > patients @ heart + 0.2
    assert len(taught.trained["data"]["text/ctgov.txt.xz"]) == 64
    assert len(taught.trained["teacher"]) == 64
    assert list(taught.trained["options"]) == ["words", "names", "mentions too", "mentions ask"]
    assert "n_bits" not in taught.trained["options"]["names"]


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
    arguments = ["--data", str(mixed), "-o", str(place), "--steps", "5"]
    done = runner.invoke(main, [*arguments, "--part", "train"])
    assert done.exit_code == 0, done.output
    assert "mentioned" in done.stdout
    assert "1 mentions, 1 distinct" in done.stderr
    encoder = load_encoder(place)
    assert isinstance(encoder, Subword)
    assert encoder.trained["parts"] == ["train"]
    place = tmp_path / "held-out"
    done = runner.invoke(main, [*arguments, "-o", str(place), "--hold-out"])
    assert done.exit_code == 0, done.output
    for more, said in (
        ([], "exists already"),
        (["-o", str(tmp_path / "no" / "encoder")], "does not exist"),
        (["--overwrite", "--part", "none", "--part", "dev"], "one or the other"),
        (["--overwrite", "--teacher", "nowhere"], "nowhere"),
        (["--overwrite", "--data", str(tmp_path / "medquad-synonyms")], "lacks"),
    ):
        failed = runner.invoke(main, [*arguments, *more])
        assert failed.exit_code == 2
        assert said in failed.stderr


def test_command_without_mentions_and_quietly(mixed: Path, tmp_path: Path) -> None:
    place = tmp_path / "encoder"
    arguments = ["--data", str(mixed), "-o", str(place), "--steps", "2"]
    done = CliRunner().invoke(main, [*arguments, "--part", "none", "--quiet"])
    assert (done.exit_code, done.output) == (0, "")
    assert load_encoder(place).trained["mentioned"] == 0  # type: ignore[attr-defined]
