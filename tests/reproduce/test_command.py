"""``python benchmarks/reproduce``: the table, its JSON, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reproduce.command import main
from tests.tables import tables

FILES = tables(__file__)["files"]


@pytest.fixture
def experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.obo").write_text(FILES["terminology"])
    for folder in ("c", "x"):
        Path(folder).mkdir()
    for part in ("train", "test"):
        Path("c", f"{part}.txt").write_text(
            FILES["corpus"] if part == "test" else FILES["corpus"].split("\n\n")[0]
        )
    Path("x", "table.toml").write_text(FILES["experiment"])


def reproduced(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), env={"CANONYM_DATA": ""})


@pytest.mark.usefixtures("experiments")
def test_reproduce_puts_ours_beside_the_paper() -> None:
    result = reproduced("table", "--folder", "x", "--data", ".", "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("A table\n")
    first, second, other = result.stdout.splitlines()[3:6]
    ours = r"TF-IDF +accuracy@1 +lenient +3 +66\.5 +66\.7 +\[20\.8, 93\.9\] +\+0\.2 +0\.519 +yes"
    assert re.match(ours, first), first
    theirs = r"TF-IDF +accuracy@5 +lenient +3 +– +100\.0 .* +– +– +–$"
    assert re.match(theirs, second.rstrip()), second
    assert re.match(r"Other +accuracy@1 +– +– +10\.0 +not run +– +– +– +–$", other.rstrip()), other
    assert "Published: Somebody (2020), table 1." in result.stderr
    assert "Note: Other: no strict comparison." in result.stderr
    assert "the encoder 'm' cannot be opened" in result.stderr
    text = Path("out.json").read_text()
    assert len(text.splitlines()) == 2 + len(json.loads(text)["rows"]) + 1
    assert json.loads(text)["machine"]["system"]
    rows = json.loads(text)["rows"]
    assert rows[0]["difference"] == pytest.approx(200 / 3 - 66.5)
    only = reproduced("table", "--folder", "x", "--data", ".", "--row", "Other", "-q")
    assert "TF-IDF" not in only.stdout
    assert only.stderr == ""
    model = reproduced("table", "--folder", "x", "--data", ".", "--model", "m=chargrams")
    assert re.search(r"Other .* 10\.0 +66\.7 .* \+56\.7 +0\.\d+ +no", model.stdout)


@pytest.mark.usefixtures("experiments")
def test_a_run_that_is_cut_off_keeps_the_rows_it_has_measured() -> None:
    stop = '[[row]]\nname = "Bad"\nprotocol = "none"\npublished = { "accuracy@1" = 1 }\n'
    last = '[[row]]\nname = "Last"\nlike = "TF-IDF"\nagainst = "TF-IDF"\n'
    Path("x", "cut.toml").write_text(f"{FILES['experiment']}{stop}{last}")
    arguments = ("cut", "--folder", "x", "--data", ".", "--json", "out.json")
    result = reproduced(*arguments)
    assert result.exit_code == 2
    assert "none" in result.stderr
    kept = json.loads(Path("out.json").read_text())
    assert [row["name"] for row in kept["rows"]] == ["TF-IDF", "TF-IDF", "Other"]
    assert kept["left"] == ["Bad", "Last"]
    rows = [option for name in ("TF-IDF", "Other", "Last") for option in ("--row", name)]
    assert reproduced(*arguments, *rows).exit_code == 0
    whole = json.loads(Path("out.json").read_text())
    assert whole["rows"][:3] == kept["rows"]
    assert "left" not in whole


@pytest.mark.usefixtures("experiments")
def test_reproduce_lists_what_there_is() -> None:
    result = reproduced("--list", "--folder", "x")
    assert result.exit_code == 0
    assert re.search(r"^table +2 +A table", result.stdout, re.MULTILINE)


@pytest.mark.usefixtures("experiments")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "say --list"),
        (("table", "--folder", "x"), "set CANONYM_DATA"),
        (("none", "--folder", "x", "--data", "."), "there is no experiment 'none'; x has table"),
        (("table", "--folder", "x", "--data", ".", "--row", "z"), "there is no row 'z'"),
        (("table", "--model", "m"), "NAME=FOLDER is expected"),
        (("table", "--json", "no/x.json"), "there is no such folder"),
        (("--list", "--folder", "c"), "holds no experiments"),
    ],
)
def test_reproduce_refuses(arguments: tuple[str, ...], said: str) -> None:
    result = reproduced(*arguments)
    assert result.exit_code == 2, result.stdout
    assert said in result.stderr
