"""``canonym synonyms``, and folding what it wrote into the next index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from canonym import Linker
from tests.cli.running import run

TABLE = "id,name,language\nD:1,Myocardial infarction,en\nD:1,Heart attack,en\nD:2,Migraine,en\n"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    (tmp_path / "x.csv").write_text(TABLE)
    folder = tmp_path / "index"
    run("index", tmp_path / "x.csv", "-o", folder, "-e", "chargrams", "--quiet")
    return folder


def synonyms(index: Path, *arguments: str, input: str | None = None, code: int = 0) -> Result:
    return run("synonyms", *arguments, "--index", index, input=input, code=code)


def linked(index: Path, mention: str) -> str:
    text = run("link", "--index", index, mention, "--format", "jsonl").stdout
    return ",".join(json.loads(text)["ids"])


def test_each_command_does_what_it_says(index: Path) -> None:
    synonyms(index, "add", "widow maker", "D:1")
    assert "already" in synonyms(index, "add", "widow maker", "D:1").stderr
    synonyms(index, "add", "Kopfweh", "D:2", "--language", "de")
    assert (linked(index, "Widow makers"), linked(index, "kopfweh")) == ("D:1", "D:2")
    synonyms(index, "forbid", "heart attack", "D:1")
    assert "already" in synonyms(index, "forbid", "Heart attacks", "D:1").stderr
    assert linked(index, "heart attack") != "D:1"
    assert synonyms(index, "list").stdout == (
        "kind\tname\tid\tlanguage\tlabel\tnote\n"
        "synonym\twidow maker\tD:1\ten\tMyocardial infarction\t\n"
        "synonym\tKopfweh\tD:2\tde\tMigraine\t\n"
        "forbidden\theart attack\tD:1\t\tMyocardial infarction\t\n"
    )
    info = json.loads(run("info", index, "--format", "json").stdout)
    assert info["added"] == {"synonyms": 2, "forbidden pairs": 1}
    synonyms(index, "remove", "widow maker", "D:1")
    synonyms(index, "allow", "heart attack", "D:1")
    assert linked(index, "heart attack") == "D:1"
    assert [name.text for name in Linker.load(index).synonyms] == ["Kopfweh"]


def test_what_is_listed_can_be_imported(index: Path, tmp_path: Path) -> None:
    synonyms(index, "add", "Kopfweh", "D:2", "--language", "de")
    synonyms(index, "forbid", "cold", "D:1")
    text = synonyms(index, "list").stdout.replace("de\tMigraine\t", "de\tMigraine\tby Ann")
    other = tmp_path / "other"
    run("index", tmp_path / "x.csv", "-o", other, "-e", "chargrams", "--quiet")
    report = synonyms(other, "import", "-", input=text).stderr
    assert "1 of 1 names and 1 of 1 forbidden pairs are new." in report
    assert synonyms(other, "list").stdout == text
    assert "0 of 1 names and 0 of 1" in synonyms(other, "import", "-", input=text).stderr
    assert synonyms(other, "import", "-", "--quiet", input=text).stderr == ""


def test_two_columns_are_names_and_ids(index: Path, tmp_path: Path) -> None:
    file = tmp_path / "names.tsv"
    file.write_text("widow maker\tD:1\n\nKopfweh\tD:2\n")
    synonyms(index, "import", str(file), "--language", "de")
    found = [(n.text, n.concept_id, n.language) for n in Linker.load(index).synonyms]
    assert found == [("widow maker", "D:1", "de"), ("Kopfweh", "D:2", "de")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("b\tD:9", "line 2: no concept has the id 'D:9'"),
        ("b", "line 2: 2 cells are expected (name, id)"),
        ("b\tD:1\tD:2", "line 2: 2 cells are expected"),
        ("...\tD:1", "line 2: the name '...' has no letter"),
    ],
)
def test_a_file_is_imported_whole_or_not_at_all(index: Path, line: str, problem: str) -> None:
    assert problem in synonyms(index, "import", "-", input=f"a\tD:1\n{line}\n", code=2).stderr
    assert not len(Linker.load(index).synonyms)


def test_unknown_kinds_are_refused(index: Path) -> None:
    text = "kind\tname\tid\nsynonyms\ta\tD:1\n"
    assert "the kind is 'synonyms'" in synonyms(index, "import", "-", input=text, code=2).stderr


def test_failures_are_messages(index: Path, tmp_path: Path) -> None:
    problem = synonyms(index, "remove", "heart attack", "D:1", code=2).stderr
    assert "was not added" in problem
    problem = synonyms(index, "remove", "Heart attack", "D:1", code=2).stderr
    assert "canonym synonyms forbid" in problem
    assert "not forbidden" in synonyms(index, "allow", "x", "D:1", code=2).stderr
    assert "no such folder" in synonyms(tmp_path / "none", "list", code=2).stderr
    assert "--index" in run("synonyms", "list", code=2).stderr


def test_folding_keeps_what_was_added(index: Path, tmp_path: Path) -> None:
    synonyms(index, "add", "widow maker", "D:1")
    synonyms(index, "add", "Kopfweh", "D:2")
    synonyms(index, "forbid", "migraines", "D:2")
    again = ("index", str(tmp_path / "x.csv"), "-o", str(index), "-e", "chargrams", "--overwrite")
    assert "would be lost" in run(*again, code=2).stderr
    (tmp_path / "x.csv").write_text(TABLE.rsplit("\n", 2)[0] + "\n")  # migraine is gone
    done = run(*again, "--fold", index)
    assert "does not have are kept beside the index, and not found: 1, 'Kopfweh' (D:2)." in (
        done.stderr
    )
    assert "names        3" in done.stdout
    assert linked(index, "widow makers") == "D:1"
    assert synonyms(index, "list").stdout.splitlines()[1:] == [
        "synonym\tKopfweh\tD:2\ten\t\t",
        "forbidden\tmigraines\tD:2\t\t\t",
    ]
