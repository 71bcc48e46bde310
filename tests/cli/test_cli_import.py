"""``canonym import`` and ``canonym terminology``: reports, options, failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from canonym.terminology import Terminology
from tests.cli.running import run
from tests.files import written

OBO = """\
format-version: 1.2
data-version: 2024-01-02
ontology: x

[Term]
id: X:1
name: Hip fracture
synonym: "Broken hip" EXACT []
synonym: "broken-hip" EXACT []

[Term]
id: X:2
name: Fracture

[Term]
id: X:3
name: Fracture of femur
def: "A broken thigh bone." []
is_a: X:2
xref: Y:9
"""


def facts(text: str) -> dict[str, str]:
    """The first line of each fact of a report."""
    lines = (line.split(maxsplit=1) for line in text.splitlines() if line[:1].strip())
    return {line[0]: line[1].strip() for line in lines if len(line) == 2}


@pytest.fixture
def obo(tmp_path: Path) -> Path:
    return written(tmp_path / "x.obo", OBO)


@pytest.fixture
def db(obo: Path) -> Path:
    run("import", obo, "-o", obo.with_suffix(".db"), "--quiet")
    return obo.with_suffix(".db")


# --- import ---------------------------------------------------------------------------------------


def test_an_import_reports_what_it_read(obo: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.db"
    text = run("import", obo, "-o", out).stdout
    found = facts(text)
    assert found["file"] == str(out)
    assert found["format"] == "obo"
    assert found["concepts"] == "3"
    assert found["names"] == "5"
    assert "distinct names    4  (after lower-casing and removing punctuation)" in text
    assert found["relations"] == "1"
    assert found["cross-references"] == "1"
    assert found["digest"] == Terminology(out).digest
    assert found["time"].endswith(" s")
    assert "remarks" not in found


def test_remarks_say_what_was_merged(tmp_path: Path) -> None:
    file = written(tmp_path / "x.csv", "id,name\n1,a\n1,a\n2,b\n")
    text = run("import", file, "-o", tmp_path / "x.db").stdout
    assert "remarks           1  repeated names stored once" in text


def test_quiet_says_nothing(obo: Path, tmp_path: Path) -> None:
    result = run("import", obo, "-o", tmp_path / "x.db", "-q")
    assert result.output == ""


def test_an_existing_file_is_kept_unless_overwrite(obo: Path, db: Path) -> None:
    before = db.read_bytes()
    assert "exists already" in run("import", obo, "-o", db, code=2).stderr
    obo.write_text(OBO.replace("Hip fracture", "Hip break"))
    assert db.read_bytes() == before
    run("import", obo, "-o", db, "--overwrite")
    assert Terminology(db).concept("X:1").label == "Hip break"


TABLE = "code;term;pref;syn;kind;lang;text;up;tree\n1;Hüfte;Hip;A/B;T;de;What;2;A01\n2;x;x;;;;;;A\n"


def test_every_flag_of_tables_is_heard(tmp_path: Path) -> None:
    file = written(tmp_path / "x.dat", TABLE.encode("latin-1"))
    out = tmp_path / "x.db"
    columns = (
        *("--id-column", "code", "--name-column", "term", "--label-column", "pref"),
        *("--synonym-column", "syn", "--type-column", "kind", "--language-column", "lang"),
        *("--definition-column", "text", "--parent-column", "up"),
    )
    run(
        *("import", file, "-o", out, "--encoding", "latin-1", "--delimiter", ";"),
        *("--separator", "/", "--prefix", "P:", "--version", "7", "--language", "fr"),
        *("--option", "source=S", *columns),
    )
    terminology = Terminology(out)
    concept = terminology.concept("P:1")
    assert (concept.label, concept.definition, concept.types) == ("Hip", "What", ("T",))
    assert (concept.source, concept.version) == ("S", "7")
    assert [name.text for name in terminology.names("P:1")] == ["Hip", "Hüfte", "A", "B"]
    assert {name.language for name in terminology.names("P:1")} >= {"de"}
    assert {name.language for name in terminology.names("P:2")} <= {"fr", "en"}
    assert terminology.parents("P:1") == ("P:2",)


def test_tree_numbers_in_the_table_or_beside_it(tmp_path: Path) -> None:
    names, trees, out = tmp_path / "n.tsv", tmp_path / "t.tsv", tmp_path / "x.db"
    names.write_text("id\tname\n1\tbone\n2\thip\n")
    trees.write_text("id\ttree\n1\tA01\n2\tA01.1\n")
    run("import", names, "-o", out, "--trees", trees)
    assert Terminology(out).parents("2") == ("1",)
    names.write_text("id\tname\tplace\n1\tbone\tA01\n2\thip\tA01.1\n")
    run("import", names, "-o", out, "--overwrite", "--tree-column", "place")
    assert Terminology(out).parents("2") == ("1",)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--format", "klingon"), "--format klingon is unknown; use one of obo"),
        (("--option", "nonsense"), "KEY=VALUE is expected"),
        (("--option", "nonsense=1"), "the format 'obo' has no option 'nonsense'; it has"),
        (("--id-column", "x"), "the format 'obo' has no option 'id-column'"),
        (("--format", "table"), "x.obo"),
        (("--encoding", "klingon"), "klingon"),
    ],
)
def test_what_an_import_cannot_use_is_refused(
    obo: Path, tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    failed = run("import", obo, "-o", tmp_path / "new.db", *arguments, code=2)
    assert problem in failed.stderr
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "no such file"),
        (b"", "is empty"),
        (b"\x1f\x8b\x08\x00", "x.obo"),
        (b"nothing that anybody knows", "not recognised"),
        (b"format-version: 1.2\n\n[Term]\nid: X:1\nname: a\xff\n", "not UTF-8"),
        (b"format-version: 1.2\n\n[Term]\nid: X:1\n", "no names"),
    ],
)
def test_sources_that_cannot_be_read_are_refused(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    file = tmp_path / "x.obo"
    if content is not None:
        file.write_bytes(content)
    failed = run("import", file, "-o", tmp_path / "x.db", code=2)
    assert problem in failed.stderr
    assert not (tmp_path / "x.db").exists()


def test_columns_make_a_table_of_what_is_not_recognised(tmp_path: Path) -> None:
    file = written(tmp_path / "x", "one,two\n1,hip\n")
    arguments = ("import", str(file), "-o", str(tmp_path / "x.db"))
    assert "not recognised" in run(*arguments, code=2).stderr
    text = run(*arguments, "--id-column", "one", "--name-column", "two").stdout
    assert facts(text)["format"] == "table"


def test_medic_has_the_known_counts(data: Path, tmp_path: Path) -> None:
    source = data / "medic-2012" / "medic_06Jul2012.txt"
    text = run("import", source, "-o", tmp_path / "medic.db").stdout
    found = facts(text)
    assert (found["format"], found["concepts"], found["names"]) == ("medic", "11,915", "76,237")
    assert "distinct names    71,924" in text


# --- terminology show -----------------------------------------------------------------------------


def test_show_finds_concepts_by_words(db: Path) -> None:
    assert run("terminology", "show", db, "femur").stdout == "X:3  Fracture of femur\n"
    both = run("terminology", "show", db, "fractures", "X:3").stdout
    assert both.splitlines()[:2] == ["X:2  Fracture", "X:1  Hip fracture"]
    assert "\nlabel" in both
    few = run("terminology", "show", db, "fractures", "--samples", "1", "--format", "json")
    assert json.loads(few.stdout) == [{"id": "X:2", "label": "Fracture", "name": ""}]
    assert "no concept has the id 'ague'" in run("terminology", "show", db, "ague", code=2).stderr


def test_columns_of_a_table_that_are_not_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,name,ward,bed\nX:1,Gout,7,2\n")
    told = run("import", tmp_path / "t.csv", "-o", tmp_path / "t.db").stderr
    assert "t.csv: not read are the columns 'ward', 'bed'" in told


def test_show_counts_and_samples(db: Path, obo: Path) -> None:
    text = run("terminology", "show", db).stdout
    assert facts(text)["concepts"] == "3"
    assert "  X:3  Fracture of femur" in text
    assert "X:3" not in run("terminology", "show", db, "--samples", "2").stdout
    assert "\nsamples" not in run("terminology", "show", db, "--samples", "0").stdout
    content = json.loads(run("terminology", "show", db, "--format", "json").stdout)
    assert (content["concepts"], content["names"]) == (3, 5)
    assert content["samples"]["X:1"] == "Hip fracture"
    from_source = json.loads(run("terminology", "show", obo, "--format", "json").stdout)
    assert from_source["digest"] == content["digest"]


def test_an_index_stands_for_its_terminology(db: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "index")
    run("index", db, "-o", folder, "-e", "chargrams", "--quiet")
    assert run("terminology", "show", folder, "X:3").stdout == (
        run("terminology", "show", db, "X:3").stdout
    )


@pytest.mark.parametrize("spelling", ["x:3", "X_3", " X:3", "https://bioregistry.io/X:3"])
def test_show_takes_an_id_in_any_spelling(db: Path, spelling: str) -> None:
    assert run("terminology", "show", db, spelling).stdout == (
        run("terminology", "show", db, "X:3").stdout
    )


def test_show_concepts(db: Path) -> None:
    text = run("terminology", "show", db, "X:3", "X:2").stdout
    assert facts(text)["definition"] == "A broken thigh bone."
    first, second = text.split("\n\n")
    assert facts(first)["parents"] == "X:2 Fracture"
    assert facts(first)["deprecated"] == "no"
    assert facts(second)["children"] == "X:3 Fracture of femur"
    assert "children" not in first
    (content,) = json.loads(run("terminology", "show", db, "X:1", "--format", "json").stdout)
    assert content["names"] == [
        "Hip fracture (label, en)",
        "Broken hip (exact, en)",
        "broken-hip (exact, en)",
    ]
    assert "no concept has the id 'X:9'" in run("terminology", "show", db, "X:9", code=2).stderr


def test_many_types_are_summed_up(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    rows = "".join(f"{i},name {i},type {i:02d}\n" for i in range(15))
    file.write_text("id,name,type\n" + rows)
    text = run("terminology", "show", file).stdout
    assert "1  type 11" in text
    assert "type 12" not in text
    assert "… and 3 more" in text


def test_a_missing_parent_is_marked(tmp_path: Path) -> None:
    file = written(tmp_path / "x.csv", "id,name,parent\n1,hip,9\n")
    text = run("terminology", "show", file, "1").stdout
    assert "9 (not in the terminology)" in text


# --- terminology lint and diff --------------------------------------------------------------------


def test_lint_reports_and_can_fail(db: Path, tmp_path: Path) -> None:
    bad = written(tmp_path / "bad.csv", "id,name\n1|2,a&apos;b\n3,c&apos;d\n")
    text = run("terminology", "lint", bad).stdout
    assert "error: encoding damage: 2" in text
    assert "a&apos;b" in text
    assert "a&apos;b" not in run("terminology", "lint", bad, "--samples", "0").stdout
    content = json.loads(run("terminology", "lint", bad, "--format", "json").stdout)
    assert {"kind", "severity", "count", "samples", "advice"} == set(content[0])
    assert "errors are in" in run("terminology", "lint", bad, "--strict", code=2).stderr
    run("terminology", "lint", db, "--strict")


def test_lint_says_when_there_is_nothing(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonym.terminology.lint.lint", lambda *_, **__: [])
    assert run("terminology", "lint", db).stdout == "Nothing found.\n"


def test_diff_reports_what_changed(db: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.obo"
    newer.write_text(
        OBO.replace("name: Fracture\n", "name: Break\n") + "\n[Term]\nid: X:4\nname: d\n"
    )
    text = run("terminology", "diff", db, newer).stdout
    assert "added                    1" in text
    assert "X:4 d" in text
    assert "(Fracture -> Break)" in text
    assert "X:4 d" not in run("terminology", "diff", db, newer, "--samples", "0").stdout
    content = json.loads(run("terminology", "diff", db, newer, "--format", "json").stdout)
    assert content["counts"]["renamed"] == 1
    out = tmp_path / "changes.tsv"
    run("terminology", "diff", db, newer, "-o", out)
    assert "X:4" in out.read_text()
    again = ("terminology", "diff", str(db), str(newer), "-o", str(out))
    assert "exists already" in run(*again, code=2).stderr
    run(*again, "--overwrite", "--quiet")


@pytest.mark.parametrize("command", [["terminology", "show"], ["terminology", "lint"], ["info"]])
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"SQLite format 3\x00garbage", "not a terminology"),
        (b"hello", ""),
    ],
)
def test_files_that_are_no_terminology_are_refused(
    tmp_path: Path, command: list[str], content: bytes, problem: str
) -> None:
    file = written(tmp_path / "x.db", content)
    failed = run(*command, file, code=2)
    assert problem in failed.stderr
    assert "x.db" in failed.stderr


def test_a_terminology_of_a_newer_version_is_refused(db: Path) -> None:
    import sqlite3

    with sqlite3.connect(db) as connection:
        connection.execute("UPDATE meta SET value = '999' WHERE key = 'format'")
    connection.close()
    assert "newer canonym" in run("terminology", "show", db, code=2).stderr
