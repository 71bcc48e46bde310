"""``canonym terminology encoders``: its table, its JSON and its failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli import running
from tests.evaluation.test_own_names import N, terminology


def compare(*arguments: str, code: int = 0) -> Result:
    return running.run("terminology", "encoders", *arguments, code=code)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("terms") / "terms.db"
    with terminology() as made:
        records = [*made.iter_concepts(), *made.iter_names()]
    type(made).build(records, path).close()
    return str(path)


def test_a_table_for_people(names: str) -> None:
    done = running.run(
        "terminology", "encoders", names, "-e", "chargrams", "-e", "chargrams+default"
    )
    assert "chargrams + default" in done.stdout
    assert done.stdout.count("best") >= 1
    assert f"{N // 10} names were taken out" in done.stderr


def test_json_for_programs(names: str) -> None:
    done = running.run(
        "terminology", "encoders", names, "-e", "chargrams", "-e", "default", "--format", "json"
    )
    found = json.loads(done.stdout)
    assert [one["encoders"] for one in found] == [["chargrams"], ["default"]]
    assert [one["has read the names"] for one in found] == [[], []]
    assert found[0]["p"] is None
    assert 0 <= found[1]["p"] <= 1
    assert set(found[0]["accuracy@1"]) == {"value", "low", "high"}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("-e", "default+"), "an encoder is missing beside the +"),
        (("-e", "nonsense"), "'nonsense' is neither"),
        (("-n", "5"), "x>=20"),
    ],
)
def test_failures(names: str, arguments: tuple[str, ...], problem: str) -> None:
    assert problem in compare(names, *arguments, code=2).stderr


def test_an_encoder_that_has_read_the_names_is_told(names: str, tmp_path: Path) -> None:
    own = str(tmp_path / "own")
    running.run("train", "subword", names, "-o", own, "--steps", "20", "--held-out", "0")
    done = compare(names, "-e", "chargrams", "-e", own)
    assert f"{own} was fitted to this terminology and has read the names" in done.stderr
    facts = json.loads(compare(names, "-e", own, "--format", "json").stdout)
    assert facts[0]["has read the names"] == [own]


def test_options_of_before_have_no_effect_and_say_so(names: str, tmp_path: Path) -> None:
    done = compare(names, "-e", "chargrams", "--order", "marginal")
    assert "--order has no effect any more" in done.stderr
    index = str(tmp_path / "index")
    done = running.run("index", names, "-o", index, "--no-confidence", "--order", "fitted")
    assert "--order has no effect any more" in done.stderr
    assert "--no-confidence has no effect any more" in done.stderr
    done = running.run("train", "confidence", "--index", index, "--method", "platt")
    assert "--method has no effect any more" in done.stderr
    assert "--no-confidence" not in running.run("index", "--help").stdout
    quiet = running.run("index", names, "-o", str(tmp_path / "b"), "--no-confidence", "--quiet")
    assert not quiet.stderr


def test_a_missing_file() -> None:
    assert "no such file" in compare("missing.db", code=2).stderr
