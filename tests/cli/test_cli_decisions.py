"""``canonym review import``: reviews make a round trip."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from canonym import Linker
from tests.cli.running import run
from tests.files import written

TABLE = (
    "id,name\nOMOP:1,Myocardial infarction\nOMOP:1,Heart attack\nOMOP:2,Migraine\nOMOP:3,Hip pain\n"
)
SURE = ("--min-score", "0.6")
HEAD = "subject_label\tpredicate_modifier\tpredicate_id\tobject_id\tmapping_justification\n"
CURATED = "skos:exactMatch\t{}\tsemapv:ManualMappingCuration\n"


@pytest.fixture
def index(tmp_path: Path) -> str:
    (tmp_path / "x.csv").write_text(TABLE)
    folder = tmp_path / "index"
    run("index", tmp_path / "x.csv", "-o", folder, "-e", "chargrams", "--quiet")
    return str(folder)


def sssom(path: Path, *rows: str) -> str:
    path.write_text(HEAD + "".join(rows))
    return str(path)


def linked(index: str, mention: str) -> str:
    found = run("link", "--index", index, mention, "--format", "jsonl", *SURE).stdout
    return ",".join(json.loads(found)["ids"])


def edited(text: str, mention: str, name: str, **cells: str) -> str:
    """Return a table with cells of one mention's row changed, as a reviewer does it."""
    head = "".join(line for line in text.splitlines(True) if line.startswith("#"))
    delimiter = "\t" if head else ","
    rows = list(csv.DictReader(io.StringIO(text[len(head) :]), delimiter=delimiter))
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row | cells if row[name] == mention else row for row in rows)
    return head + out.getvalue()


def test_a_review_in_sssom_makes_a_round_trip(index: str, tmp_path: Path) -> None:
    file = tmp_path / "links.sssom.tsv"
    link = ("link", "--index", index, *SURE, "widow maker", "Hip pains", "migraine")
    run(*link, "-o", file)
    text = edited(
        file.read_text(), "widow maker", "subject_label", object_id="OMOP:1",
        mapping_justification="semapv:ManualMappingCuration", predicate_id="skos:exactMatch",
    )  # fmt: skip
    file.write_text(edited(text, "Hip pains", "subject_label", predicate_modifier="Not"))
    before = Path(index, "overlay.db").exists()
    dry = run("review", "import", file, "--index", index, "--dry-run")
    assert dry.stdout == (
        "names               1  accepted, 1 new\n"
        "forbidden           1  rejected, 1 new\n"
        "passed over         1\n"
        "                    1  not reviewed\n"
    )
    assert (before, Path(index, "overlay.db").exists()) == (False, False)
    assert linked(index, "widow maker") != "OMOP:1"
    done = run("review", "import", file, "--index", index)
    assert done.stdout == dry.stdout
    assert (linked(index, "widow makers"), linked(index, "hip pain")) == ("OMOP:1", "")
    listed = run("synonyms", "list", "--index", index).stdout.splitlines()[1:]
    assert listed == [
        "synonym\twidow maker\tOMOP:1\ten\tMyocardial infarction\treviewed in SSSOM",
        "forbidden\tHip pains\tOMOP:3\t\tHip pain\treviewed in SSSOM",
    ]
    again = run("review", "import", file, "--index", index)
    assert "1  accepted, 0 new\n" in again.stdout
    assert "was made by another index, or before this one was changed" in again.stderr
    run(*link, "-o", file, "--overwrite")
    assert "semapv:ManualMappingCuration" in file.read_text()


def test_a_review_in_usagi_makes_a_round_trip(index: str, tmp_path: Path) -> None:
    mentions = ("widow maker", "sore hip", "migraine and hip pain", "aura")
    file = tmp_path / "usagi.csv"
    run("link", "--index", index, *mentions, "--format", "usagi", "-o", file)
    approved = {"mappingStatus": "APPROVED", "statusSetBy": "Ann"}
    text = edited(file.read_text(), "widow maker", "sourceName", conceptId="1", **approved)
    text = edited(
        text, "sore hip", "sourceName", conceptId="3", equivalence="UNMATCHED", **approved
    )
    text = edited(text, "migraine and hip pain", "sourceName", **approved)
    file.write_text(edited(text, "aura", "sourceName", conceptId="2", mappingStatus="FLAGGED"))
    done = run("review", "import", file, "--index", index)
    assert done.stdout.splitlines() == [
        "names               1  accepted, 1 new",
        "forbidden           1  rejected, 1 new",
        "passed over         3",
        "                    2  the text has several concepts together",
        "                    1  the status is FLAGGED",
    ]
    assert linked(index, "widow maker") == "OMOP:1"
    assert Linker.load(index).synonyms.forbidden == (("sore hip", "OMOP:3"),)
    assert Linker.load(index).pipeline.names.overlay.notes()["widow maker", "OMOP:1"] == (
        "reviewed in Usagi, Ann"
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a\t\tskos:exactMatch\tOMOP:1\tsemapv:LexicalMatching\n", "not reviewed"),
        ("a\t\tskos:broadMatch\tOMOP:1\tsemapv:ManualMappingCuration\n", "not exact"),
        ("a\t\tskos:exactMatch\tsssom:NoTermFound\tsemapv:ManualMappingCuration\n", "no concept"),
        ("a\t\tskos:exactMatch\t\tsemapv:ManualMappingCuration\n", "no concept"),
    ],
)
def test_what_is_passed_over_is_counted_with_its_reason(
    index: str, tmp_path: Path, row: str, reason: str
) -> None:
    text = run("review", "import", sssom(tmp_path / "a.tsv", row), "--index", index).stdout
    assert "passed over         1\n" in text
    assert reason in text
    assert not len(Linker.load(index).synonyms)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (("a\t\t" + CURATED.format("OMOP:9"),), "line 2: 'OMOP:9' is no concept of"),
        (("\t\t" + CURATED.format("OMOP:1"),), "line 2: the row is reviewed, and lacks"),
        (("a\t\tskos:exactMatch\n",), "line 2: 3 cells where the header names 5 columns"),
        (("...\t\t" + CURATED.format("OMOP:1"),), "line 2: the name '...' has no letter"),
        (
            ("a\t\t" + CURATED.format("OMOP:1"), "A\tNot\t" + CURATED.format("OMOP:1")),
            "line 3: 'A' is accepted and rejected for OMOP:1 (the other row is in line 2)",
        ),
    ],
)
def test_a_file_is_taken_over_whole_or_not_at_all(
    index: str, tmp_path: Path, rows: tuple[str, ...], problem: str
) -> None:
    good = "fine\t\t" + CURATED.format("OMOP:2")
    file = sssom(tmp_path / "a.tsv", *rows, good)
    assert problem in run("review", "import", file, "--index", index, code=2).stderr
    assert not len(Linker.load(index).synonyms)


def test_unknown_concepts_are_refused_or_passed_over(index: str, tmp_path: Path) -> None:
    rows = [f"{name}\t\t" + CURATED.format(id_) for name, id_ in (("a", "X:9"), ("b", "OMOP:1"))]
    file = sssom(tmp_path / "a.tsv", *rows)
    refused = run("review", "import", file, "--index", index, code=2).stderr
    assert "in 1 of 2 reviewed rows: pass over such rows with --skip-unknown" in refused
    done = run("review", "import", file, "--index", index, "--skip-unknown").stdout
    assert "1  the concept is not in the terminology" in done
    assert [name.text for name in Linker.load(index).synonyms] == ["b"]
    other = sssom(tmp_path / "b.tsv", rows[0])
    refused = run("review", "import", other, "--index", index, code=2).stderr
    assert "the file is of another terminology" in refused


def test_other_files_are_refused(index: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", "a,b\n1,2\n")
    problem = run("review", "import", file, "--index", index, code=2).stderr
    assert "is neither SSSOM" in problem
    assert "the columns are 'a', 'b'" in problem
    missing = run("review", "import", tmp_path / "none", "--index", index, code=2).stderr
    assert "none" in missing


def test_prefixes_and_addresses_are_read_by_their_meaning(index: str, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    head = '#curie_map:\n#  ohdsi: "https://bioregistry.io/OMOP:"\n'
    rows = ["a\t\t" + CURATED.format("ohdsi:2"), "b\t\t" + CURATED.format("local:OMOP:3")]
    file.write_text(head + HEAD + "".join(rows))
    run("review", "import", file, "--index", index)
    found = [(name.text, name.concept_id) for name in Linker.load(index).synonyms]
    assert found == [("a", "OMOP:2"), ("b", "OMOP:3")]


def test_lines_are_counted_with_the_head(index: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.tsv", '#license: "x"\n\n' + HEAD + "a\t\t" + CURATED.format("X:9"))
    problem = run("review", "import", file, "--index", index, code=2).stderr
    assert "a.tsv, line 4: 'X:9' is no concept of" in problem


def test_a_decision_that_another_name_overrules_is_named(index: str, tmp_path: Path) -> None:
    file = sssom(tmp_path / "a.tsv", "Migraine\t\t" + CURATED.format("OMOP:3"))
    done = run("review", "import", file, "--index", index)
    assert "'Migraine' was accepted for OMOP:3, and OMOP:2 is still found" in done.stderr
    assert "canonym synonyms forbid 'Migraine' OMOP:2" in done.stderr


def test_a_pair_that_is_forbidden_stays_so(index: str, tmp_path: Path) -> None:
    run("synonyms", "forbid", "sore hip", "OMOP:3", "--index", index)
    file = sssom(tmp_path / "a.tsv", "Sore hip\t\t" + CURATED.format("OMOP:3"))
    assert "1  the pair is forbidden" in run("review", "import", file, "--index", index).stdout
    assert not len(Linker.load(index).synonyms)
