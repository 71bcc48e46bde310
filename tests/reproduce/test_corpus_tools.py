"""The tools `corpus` and `agreement`: what corpora hold, and how far two annotators agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reproduce.running import run_tool

TEST = """\
1|t|Hip pain and vitamin D3, hip pain
1\t0\t8\tHip pain\tDisease\tD1
1\t13\t23\tvitamin D3\tDrug\t-1
1\t25\t33\thip pain\tDisease\tD1
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("test.pubtator").write_text(TEST)
    Path("other.pubtator").write_text(TEST.replace("-1", "D7").replace("25\t33\thip", "29\t33\t"))
    Path("train.pubtator").write_text("2|t|HIP PAIN\n2\t0\t8\tHIP PAIN\tDisease\tD1\n")
    return tmp_path


@pytest.mark.usefixtures("files")
def test_show() -> None:
    shown = run_tool("corpus", "test.pubtator", "--training", "train.pubtator").stdout
    lines = {line[:18].strip(): line[18:] for line in shown.splitlines()}
    assert lines["mentions"] == "3 (2 with a concept), distinct 2 (1)"
    assert lines["types"] == "Disease: 2 (2 with a concept), distinct 1 (1)"
    assert lines["with a numeral"] == "33.33 %"
    assert lines["words"] == "mean 2, median 2, most 2"
    assert lines["new"] == "1, in training 2, repeated 0"
    assert "remarks" not in lines


@pytest.mark.usefixtures("files")
def test_show_as_json_of_one_type() -> None:
    found = json.loads(
        run_tool("corpus", "test.pubtator", "--mention-type", "Drug", "--json").stdout
    )
    assert found["types"] == {
        "Drug": {
            "mentions": 1,
            "with a concept": 0,
            "distinct": 1,
            "distinct with a concept": 0,
        }
    }
    assert (found["no concept"], found["with a numeral"]) == (1, 1.0)
    assert "new" not in found
    done = run_tool("corpus", "test.pubtator", "--mention-type", "X", code=2)
    assert "no mention of type X: it has Disease, Drug" in done.stderr


@pytest.mark.usefixtures("files")
def test_oddities_are_said_and_formats_can_be_given() -> None:
    Path("twice").write_text("1||0|3||D||hip||D1\n1||0|3||D||hip||D1\n")
    shown = run_tool("corpus", "twice", "--format", "concept").stdout
    assert "1 mentions repeat the span and type of another" in shown
    assert "document begins" in run_tool("corpus", "twice", "--format", "pubtator", code=2).stderr


@pytest.mark.usefixtures("files")
def test_agreement() -> None:
    shown = run_tool("agreement", "test.pubtator", "other.pubtator").stdout.splitlines()
    assert [line.split("  ")[-1].strip() for line in shown[:4]] == ["2", "1", "1", "50.00 %"]
    assert shown[-1].split(None, 1)[1].startswith("0.3333 [")
    found = json.loads(run_tool("agreement", "test.pubtator", "test.pubtator", "--json").stdout)
    assert (found["kappa"], found["low"], found["n"]) == (1.0, 1.0, 3)
    same = ("agreement", "test.pubtator", "test.pubtator", "--mention-type", "Drug")
    assert "kappa             undefined" in run_tool(*same).stdout
    assert json.loads(run_tool(*same, "--json").stdout)["kappa"] is None
    done = run_tool("agreement", "test.pubtator", "train.pubtator", code=2)
    assert "none are the same" in done.stderr
