"""Reviewed lists in every format, and back again: nothing that was decided is lost."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from canonym import Concept, Linker, Name
from canonym.errors import InvalidInput
from canonym.exchange.decisions import read_reviews
from canonym.exchange.writers import Choices
from canonym.review.database import Unreachable
from canonym.review.export import FORMATS, export_review
from canonym.review.lessons import Lessons, lessons_of
from canonym.review.proposals import snapshot
from canonym.review.store import Given, Store
from canonym.review.table import as_table
from tests.cli.running import run
from tests.files import written
from tests.review.conftest import link, make_linker

RECORDS = [
    Concept("OMOP:1", "Myocardial infarction", types=("Condition",), source="SNOMED"),
    Name("heart attack", "OMOP:1"),
    Concept("OMOP:2", "Diabetes mellitus", types=("Condition",), source="SNOMED"),
    Concept("OMOP:3", "Hip fracture", types=("Condition",), source="SNOMED"),
    Name("broken hip", "OMOP:3"),
    Concept("OMOP:4", "Common cold", types=("Condition",), source="SNOMED"),
    Name("cold", "OMOP:4"),
]
TABLE = [
    ["A1", "heart attack", "", "ward 1"],
    ["A2", "widow maker", "", "=1+1"],
    ["A3", "sugar thing", "", ""],
    ["A4", "broken hip", "", ""],
    ["A5", "cold", "a cold nose", ""],
    ["A6", "cold", "a cold day", ""],
    ["A7", "sniffles", "", ""],
    ["A8", "heart attack", "", ""],
    ["A9", "hip and heart", "", ""],
    ["B1", "odd one", "", ""],
    ["B2", "left over", "", ""],
]
RELATIONS = ("equal", "equivalent", "broader", "narrower", "close", "related")


class Made(NamedTuple):
    """A store with a review, and the linker of it."""

    store: Store
    review: int
    linker: Linker

    @property
    def place(self) -> str:
        return str(self.store._engine.url.database)

    def text(self, format: str, **choices: Any) -> str:
        pieces = export_review(
            self.store, self.review, format, self.linker.terminology, Choices(**choices)
        )
        return b"".join(pieces).decode()

    def rows(self, format: str, **choices: Any) -> list[dict[str, str]]:
        lines = [one for one in self.text(format, **choices).splitlines() if one[:1] != "#"]
        delimiter = "\t" if format in ("sssom", "tsv", "corpus") else ","
        return list(csv.DictReader(lines, delimiter=delimiter))

    def decide(self, place: int, kind: str, *concepts: tuple[str, str], comment: str = "") -> None:
        item = list(self.store.entries(self.review))[place].item
        given = tuple(snapshot(self.linker.terminology, *one) for one in concepts)
        who = "Ann|Bär"
        self.store.decide(item.id, Given(kind, given, comment), version=item.version, who=who)


@pytest.fixture(scope="module")
def omop() -> Linker:
    """An index of concepts that all formats can hold."""
    return make_linker(RECORDS)


@contextlib.contextmanager
def reviewed(folder: Path, omop: Linker) -> Iterator[Made]:
    """Make a review with a decision of each kind."""
    with Store(str(folder / "reviews.db")) as store:
        columns = ["code", "term", "near", "ward"]
        table = as_table(columns, TABLE, column="term", context_column="near")
        made = Made(store, store.create("Wards", "small", table, who="ann"), omop)
        link(store, made.review, omop)
        made.decide(0, "link", ("OMOP:1", "equal"))
        made.decide(1, "link", ("OMOP:1", "equivalent"), comment="a | bar, (and) more")
        made.decide(2, "link", ("OMOP:2", "broader"), comment="which type?")
        made.decide(3, "nil", comment="not here")
        made.decide(4, "link", ("OMOP:4", "equal"))
        made.decide(5, "nil")
        made.decide(6, "link", ("OMOP:4", "close"))
        made.decide(7, "link", ("OMOP:3", "equal"), ("OMOP:1", "equal"))
        made.decide(8, "flag", comment="ask the ward")
        made.decide(1, "comment", comment="I agree")
        made.decide(9, "comment", comment="who knows?")
        yield made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, omop: Linker) -> Iterator[Made]:
    """A review that tests read, and leave as it is."""
    with reviewed(tmp_path_factory.mktemp("reviewed"), omop) as made:
        yield made


@pytest.fixture
def own(tmp_path: Path, omop: Linker) -> Iterator[Made]:
    """A review of one test."""
    with reviewed(tmp_path, omop) as made:
        yield made


def _learned(path: Path) -> dict[str, set[tuple[str, str]]]:
    found = read_reviews(path).reviews
    return {
        "names": {(one.text, one.id) for one in found if not one.reason and one.accepted},
        "forbidden": {(one.text, one.id) for one in found if not one.reason and not one.accepted},
        "over": {(one.text, one.id or "") for one in found if one.reason and one.id},
    }


def test_a_table_names_the_index_once(made: Made, tmp_path: Path) -> None:
    first, *others = made.rows("csv")
    assert made.linker.fingerprint in first["canonym_made_by"]
    assert {row["canonym_made_by"] for row in others} == {""}
    (tmp_path / "made.csv").write_text(made.text("csv"), encoding="utf-8")
    assert read_reviews(tmp_path / "made.csv").made_by == made.linker.fingerprint


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_is_whole_where_the_database_goes_away(own: Made, format: str) -> None:
    choices = Choices(source_vocabulary="WARDS")
    whole = b"".join(export_review(own.store, own.review, format, own.linker.terminology, choices))
    pieces = export_review(own.store, own.review, format, own.linker.terminology, choices)
    path = Path(own.place)
    path.rename(path.with_suffix(".gone"))
    with pytest.raises(Unreachable):
        own.store.review(own.review)
    assert b"".join(pieces) == whole


def test_few_rows_are_in_memory_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonym.review.store._READ", 50)
    alive: list[weakref.ref[Any]] = []
    most = 0
    with Store(str(tmp_path / "reviews.db")) as store:
        table = as_table(["term"], [[f"name {n}"] for n in range(1000)])
        review = store.create("long", "small", table, who="ann")
        for row, entry in store.rows(review):
            assert entry is not None
            alive += [weakref.ref(row), weakref.ref(entry.item)]
            alive = [one for one in alive if one() is not None]
            most = max(most, len(alive))
        items = sum(1 for _ in store.entries(review))
    assert items == 1000
    assert most <= 4 * 50 + 10


@pytest.mark.parametrize("format", ["csv", "tsv", "xlsx", "sssom", "usagi", "fhir"])
def test_what_was_decided_comes_back_from_every_format(
    made: Made, tmp_path: Path, format: str
) -> None:
    if format == "xlsx":
        pytest.importorskip("openpyxl")
    path = tmp_path / f"out{FORMATS[format].suffix}"
    terminology = made.linker.terminology
    path.write_bytes(b"".join(export_review(made.store, made.review, format, terminology)))
    found = _learned(path)
    assert found["names"] == {
        ("heart attack", "OMOP:1"),
        ("widow maker", "OMOP:1"),
        ("cold", "OMOP:4"),
    }
    # "cold" means the concept in its other context, so the pair is not forbidden.
    assert ("broken hip", "OMOP:3") in found["forbidden"]
    assert not any(text in ("cold", "heart attack") for text, _ in found["forbidden"])
    assert {("sugar thing", "OMOP:2"), ("sniffles", "OMOP:4")} <= found["over"]
    notes = {one.text: one.note for one in read_reviews(path).reviews if one.accepted}
    assert "Ann" in notes["widow maker"]
    assert "a | bar, (and) more; Ann|Bär: I agree" in notes["widow maker"]


def test_usagi_gets_every_mention_with_its_status(made: Made) -> None:
    rows = made.rows("usagi")
    found = {
        row["sourceCode"]: (row["mappingStatus"], row["equivalence"], row["conceptId"])
        for row in rows
    }
    assert found["heart attack"] == ("APPROVED", "EQUAL", "1")
    assert found["widow maker"] == ("APPROVED", "EQUIVALENT", "1")
    assert found["sugar thing"] == ("APPROVED", "WIDER", "2")
    assert found["sniffles"] == ("APPROVED", "INEXACT", "4")
    assert found["broken hip"] == ("APPROVED", "UNMATCHED", "0")
    assert found["cold [a cold nose]"] == ("APPROVED", "EQUAL", "4")
    assert found["cold [a cold day]"] == ("APPROVED", "UNMATCHED", "0")
    assert found["odd one"][:2] == ("FLAGGED", "UNREVIEWED")
    assert found["left over"][:2] == ("UNCHECKED", "UNREVIEWED")
    assert rows[-1]["comment"].startswith("Ann|Bär: who knows? [canonym ")
    (widow,) = (row for row in rows if row["sourceName"] == "widow maker")
    assert widow["statusSetBy"] == "Ann|Bär"
    assert int(widow["statusSetOn"]) > 1_700_000_000_000
    assert widow["domainId"] == "Condition"
    assert re.fullmatch(
        r"a \| bar, \(and\) more; Ann\|Bär: I agree \[canonym \S+, index \w+\]", widow["comment"]
    )
    assert (rows[0]["sourceFrequency"], rows[0]["ADD_INFO:ward"]) == ("2", "ward 1")
    coded = made.rows("usagi", code_column="code")
    assert [row["sourceCode"] for row in coded][:2] == ["A1", "A2"]
    assert {row["sourceFrequency"] for row in coded} == {"1"}
    (hip,) = (row for row in rows if row["sourceName"] == "broken hip")
    assert hip["sourceAutoAssignedConceptIds"] == "3"


def test_omop_maps_to_what_is_the_same_or_broader(made: Made) -> None:
    rows = made.rows("omop", source_vocabulary="WARDS", code_column="code", date="2024-12-31")
    assert [(row["source_code"], row["target_concept_id"]) for row in rows] == [
        ("A1", "1"), ("A2", "1"), ("A3", "2"), ("A4", "0"), ("A5 [a cold nose]", "4"),
        ("A6 [a cold day]", "0"), ("A7", "0"), ("A8", "1"), ("A9", "3"), ("A9", "1"),
    ]  # fmt: skip
    assert {row["valid_start_date"] for row in rows} == {"2024-12-31"}
    with pytest.raises(InvalidInput, match="omop needs a source vocabulary"):
        made.text("omop")
    choices = Choices(source_vocabulary="W")
    with pytest.raises(InvalidInput, match="pass --index"):
        export_review(made.store, made.review, "omop", None, choices)
    with pytest.raises(InvalidInput, match="no such column, or several: 'kode'"):
        made.text("fhir", code_column="kode")


@pytest.mark.parametrize(
    ("version", "key", "words"),
    [
        ("R4", "equivalence", ["equal", "equivalent", "wider", "equal", "inexact", "relatedto"]),
        (
            "R5",
            "relationship",
            ["equivalent", "equivalent", "source-is-narrower-than-target", "equivalent",
             "related-to", "related-to"],
        ),
    ],
)  # fmt: skip
def test_fhir_has_the_relation_in_its_words(
    made: Made, version: str, key: str, words: list[str]
) -> None:
    whole = json.loads(made.text("fhir", fhir_version=version))
    assert whole["title"] == "Wards"
    elements = [one for group in whole["group"] for one in group["element"]]
    linked = (
        [one for one in elements if one["target"][0].get("code")]
        if version == "R4"
        else [one for one in elements if "target" in one]
    )
    assert [one["target"][0][key] for one in linked] == words
    (hip,) = (one for one in elements if one["display"] == "broken hip")
    assert hip.get("noMap") or hip["target"] == [{"equivalence": "unmatched"}]
    facts = [
        {part["url"]: part["valueString"] for part in one["extension"]} for one in hip["extension"]
    ]
    assert [(one["kind"], one.get("id"), one["comment"]) for one in facts] == [
        ("nil", None, "not here"),
        ("nil", "OMOP:3", "not here"),
    ]
    assert facts[0]["by"] == "Ann|Bär"
    assert facts[1]["relation"] == "refused"


@pytest.mark.parametrize("version", ["R4", "R5"])
def test_the_models_of_fhir_accept_decisions(made: Made, version: str) -> None:
    pytest.importorskip("fhir.resources")
    import importlib

    name = "fhir.resources.R4B.conceptmap" if version == "R4" else "fhir.resources.conceptmap"
    model = importlib.import_module(name).ConceptMap
    model.model_validate(json.loads(made.text("fhir", fhir_version=version)))


def test_sssom_says_who_decided_what_when_and_on_which_proposal(made: Made) -> None:
    rows = {(row["subject_label"], row["predicate_modifier"]): row for row in made.rows("sssom")}
    widow = rows["widow maker", ""]
    assert widow["predicate_id"] == "skos:exactMatch"
    assert widow["mapping_justification"] == "semapv:ManualMappingCuration"
    assert widow["reviewer_label"] == r"Ann\|Bär"
    other = dict(part.split("=", 1) for part in widow["other"].split("|"))
    assert other["canonym_index"] == made.linker.fingerprint
    assert other["canonym_relation"] == "equivalent"
    assert other["canonym_time"].startswith(widow["mapping_date"])
    assert rows["sugar thing", ""]["predicate_id"] == "skos:broadMatch"
    assert rows["sniffles", ""]["predicate_id"] == "skos:closeMatch"
    assert rows["broken hip", ""]["object_id"] == "sssom:NoTermFound"
    assert rows["broken hip", "Not"]["object_id"] == "OMOP:3"
    assert rows["hip and heart", ""]["predicate_id"] == "skos:relatedMatch"
    assert ("odd one", "") not in rows
    cold = [row for row in made.rows("sssom") if row["subject_label"] == "cold"]
    assert ["canonym_context=a cold nose" in row["other"] for row in cold] == [True, False]


def test_the_validator_of_the_standard_finds_nothing(made: Made, tmp_path: Path) -> None:
    pytest.importorskip("sssom", reason="needs the package sssom, which is not in the extra dev")
    from sssom.parsers import parse_sssom_table
    from sssom.validators import validate

    validate(parse_sssom_table(str(written(tmp_path / "a.sssom.tsv", made.text("sssom")))))


def test_the_corpus_is_read_by_what_learns_and_measures(made: Made, tmp_path: Path) -> None:
    from canonym.cli.annotated import open_corpus

    path = written(tmp_path / "mentions.corpus.tsv", made.text("corpus"))
    corpus = open_corpus(str(path))
    assert corpus.format == "columns"
    found = [mention for document in corpus.documents for mention in document.mentions]
    assert [(one.text, one.ids, one.rule, one.context) for one in found] == [
        ("heart attack", ("OMOP:1",), "any", ""),
        ("widow maker", ("OMOP:1",), "any", ""),
        ("broken hip", (), "nil", ""),
        ("cold", ("OMOP:4",), "any", "a cold nose"),
        ("cold", (), "nil", "a cold day"),
        ("hip and heart", ("OMOP:3", "OMOP:1"), "all", ""),
    ]
    assert len(corpus.documents) == len(found)


def test_encoders_learn_from_the_corpus(made: Made, tmp_path: Path) -> None:
    names = [name for name in RECORDS if isinstance(name, Name)]
    labels = [Name(one.label, one.id) for one in RECORDS if isinstance(one, Concept)]
    table = "".join(f"{name.concept_id},{name.text}\n" for name in [*labels, *names])
    (tmp_path / "x.csv").write_text(f"id,name\n{table}")
    corpus, source = tmp_path / "a.corpus.tsv", str(tmp_path / "x.csv")
    corpus.write_text(made.text("corpus"), encoding="utf-8")
    fit = ("train", "subword", source, "--corpus", corpus, "-o", tmp_path / "fitted")
    small = ("--start", "none", "--dimensions", "8", "--steps", "5", "--batch", "8")
    learned = run(*fit, *small, "--held-out", "0").stdout
    assert re.search(r"^mentions +3$", learned, re.MULTILINE)
    assert "of no concept (NIL)" in learned
    pytest.importorskip("torch", reason="needs the extra torch")
    train = ("train", "dilbert", "-e", "scratch", "--terminology", source, "--corpus", corpus)
    done = run(*train, "-o", tmp_path / "trained", "--dry-run")
    assert re.search(r"^mentions +3$", done.stdout, re.MULTILINE)


def test_a_workbook_has_the_rows_and_the_decisions(made: Made, tmp_path: Path) -> None:
    from canonym.io.tables import open_table

    openpyxl = pytest.importorskip("openpyxl")
    path = written(tmp_path / "a.xlsx", b"".join(export_review(made.store, made.review, "xlsx")))
    with open_table(path) as table:
        rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert [row["code"] for row in rows] == [row[0] for row in TABLE]
    assert rows[1]["ward"] == "=1+1"  # as a text: a workbook needs no guard
    assert rows[2]["canonym_relation"] == "broader"
    assert rows[7]["canonym_id"] == rows[0]["canonym_id"] == "OMOP:1"
    assert rows[-1]["canonym_comment"] == "Ann|Bär: who knows?"
    assert rows[0]["canonym_code"] == "1"
    assert "canonym_made_by" not in rows[0]
    assert read_reviews(path).made_by == made.linker.fingerprint
    sheet = openpyxl.load_workbook(path).active
    at = table.header.index("canonym_confidence")
    assert isinstance([*sheet.values][1][at], float)


def test_every_relation_is_in_every_format(tmp_path: Path, omop: Linker) -> None:
    with Store(str(tmp_path / "reviews.db")) as store:
        table = as_table(["term"], [[one] for one in RELATIONS])
        made = Made(store, store.create("All", "small", table, who="ann"), omop)
        link(store, made.review, omop)
        for place, relation in enumerate(RELATIONS):
            made.decide(place, "link", ("OMOP:1", relation))
        kept = [row["canonym_relation"] for row in made.rows("csv")]
        sssom = [
            re.search(r"canonym_relation=(\w+)", row["other"])[1]  # type: ignore[index]
            for row in made.rows("sssom")
            if not row["predicate_modifier"]
        ]
        usagi = [row["equivalence"] for row in made.rows("usagi")]
    assert kept == sssom == list(RELATIONS)
    assert usagi == ["EQUAL", "EQUIVALENT", "WIDER", "NARROWER", "INEXACT", "INEXACT"]


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csv", "sssom", "usagi", "fhir", "corpus"])
def test_the_command_writes_what_the_page_does(made: Made, tmp_path: Path, format: str) -> None:
    path = tmp_path / f"out{FORMATS[format].suffix}"
    arguments = ("review", "export", "Wards", "--reviews", made.place, "-o", path)
    done = run(*arguments, *(("--format", "fhir") if format == "fhir" else ()))
    assert "Wards: 8 of 10 mentions are decided" in done.stderr
    whole = b"".join(export_review(made.store, made.review, format))
    assert path.read_bytes() == whole
    assert "replace it with --overwrite" in run(*arguments, code=2).stderr
    run(*arguments, "--overwrite")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("9", "-o", "x.csv"), "there is no review '9'; there are 1 'Wards'"),
        (("1", "-o", "x.doc"), "x.doc does not say in which format"),
        (
            ("1", "-o", "x.csv", "--license", "u"),
            "license goes with --format sssom, not csv",
        ),
        (("1", "-o", "x.omop.csv"), "omop needs a source vocabulary"),
        (("1", "-o", "x.omop.csv", "--source-vocabulary", "W"), "pass --index"),
    ],
)
def test_the_command_refuses_what_it_cannot_write(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in run("review", "export", *arguments, "--reviews", made.place, code=2).stderr
    assert not list(tmp_path.glob("x.*"))


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    place = tmp_path / "none.db"
    out = str(tmp_path / "x.csv")
    done = run("review", "export", "1", "--reviews", str(place), "-o", out, code=2)
    assert "there is no such database of reviews" in done.stderr
    assert not place.exists()


def test_a_code_that_was_changed_beside_its_decision_is_an_error(
    made: Made, tmp_path: Path
) -> None:
    path = tmp_path / "a.fhir.json"
    path.write_text(made.text("fhir").replace('"code": "4"', '"code": "2"'), encoding="utf-8")
    with pytest.raises(Exception, match="has the code '2', and was decided as OMOP:4"):
        read_reviews(path)


def test_a_table_may_come_back_from_a_spreadsheet(made: Made, tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(made.text("csv"))))
    out = io.StringIO()
    csv.writer(out, delimiter=";").writerows(rows)
    path = written(tmp_path / "a.csv", "\ufeff" + out.getvalue())
    assert ("widow maker", "OMOP:1") in _learned(path)["names"]


# --- what nobody looked at ------------------------------------------------------------------------


@pytest.fixture
def accepted(tmp_path: Path, omop: Linker) -> Iterator[Made]:
    """A review of which two of three were accepted at once, and one is decided by a person."""
    mentions = ["heart attack", "hip fractures", "cold"]
    with Store(str(tmp_path / "reviews.db")) as store:
        table = as_table(["mention"], [[one] for one in mentions])
        review = store.create("a list", "small", table, who="ann")
        link(store, review, omop)
        made = Made(store, review, omop)
        made.decide(2, "link", ("OMOP:4", "equal"))
        n = store.acceptable(review, 0.1)["items"]
        assert store.accept_above(review, 0.1, expected=n, who="Ann") == n == 2
        yield made


def test_what_was_accepted_unseen_is_exported_as_no_curation_of_a_person(accepted: Made) -> None:
    heart, hips, cold = accepted.rows("sssom")
    assert cold["mapping_justification"] == "semapv:ManualMappingCuration"
    assert heart["mapping_justification"] == "semapv:LexicalMatching"
    for row in (heart, hips):
        assert "Manual" not in row["mapping_justification"]
        assert row["author_label"] == row["reviewer_label"] == ""
        assert "canonym_accepted_by=Ann" in row["other"]
        assert row["comment"].startswith("accepted with all of at least 0.1; ")
    assert heart["predicate_id"] == "skos:exactMatch"  # it is verbatim a name
    assert {row["mappingStatus"] for row in accepted.rows("usagi")[:2]} == {"AUTO_MAPPED"}
    states = [row["canonym_state"] for row in accepted.rows("csv")]
    assert states == ["accepted", "accepted", "linked"]
    assert [row["mention"] for row in accepted.rows("corpus")] == ["cold"]
    fhir = json.loads(accepted.text("fhir"))["group"][0]["element"]
    words = {one["display"]: one["target"][0]["equivalence"] for one in fhir}
    assert (words["cold"], words["heart attack"]) == ("equal", "equivalent")


def test_what_was_accepted_unseen_is_the_same_only_as_far_as_the_evidence_goes(
    tmp_path: Path, omop: Linker
) -> None:
    with Store(str(tmp_path / "reviews.db")) as store:
        table = as_table(["mention"], [["left sided hip fractures"]])
        review = store.create("a list", "small", table, who="ann")
        link(store, review, omop)
        store.accept_above(review, 0.01, expected=1, who="Ann")
        made = Made(store, review, omop)
        (row,) = made.rows("sssom")
        assert row["predicate_id"] not in ("skos:exactMatch", "")
        assert made.rows("csv")[0]["canonym_relation"] != "equal"
        assert made.rows("omop", source_vocabulary="W")[0]["target_concept_id"] == "0"


@pytest.mark.parametrize("format", ["sssom", "usagi", "fhir", "csv", "xlsx"])
def test_what_was_accepted_unseen_teaches_no_index(
    accepted: Made, format: str, tmp_path: Path
) -> None:
    path = tmp_path / f"out{FORMATS[format].suffix}"
    terminology = accepted.linker.terminology
    pieces = export_review(accepted.store, accepted.review, format, terminology, Choices())
    path.write_bytes(b"".join(pieces))
    taken = [one.text for one in read_reviews(path).reviews if not one.reason]
    assert taken == ["cold"]


def test_lessons_are_of_what_people_looked_at(accepted: Made) -> None:
    entries = accepted.store.entries(accepted.review)
    assert lessons_of(entries, accepted.linker.terminology) == Lessons([], [])
    accepted.decide(1, "link", ("OMOP:3", "equal"))
    entries = accepted.store.entries(accepted.review)
    names = lessons_of(entries, accepted.linker.terminology).names
    assert [name.text for name in names] == ["hip fractures"]


def test_what_was_accepted_unseen_opens_again_when_its_concept_is_gone(accepted: Made) -> None:
    link_again = make_linker(RECORDS[2:])
    accepted.store.aim(accepted.review, link_again.fingerprint)
    link(accepted.store, accepted.review, link_again)
    states = [one.item.state for one in accepted.store.entries(accepted.review)]
    assert states == ["reopened", "accepted", "linked"]
