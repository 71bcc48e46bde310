"""``canonym link`` for other programs: SSSOM, Usagi, OMOP, FHIR, BioC."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from canonym.corpora import read_bioc
from tests.cli.running import rows, run

TABLE = "id,name,type\nX:1,Myocardial infarction,Heart\nX:1,Heart attack,Heart\nX:2,Migraine,Head\n"
CONCEPTS = """\
concept_id|concept_name|domain_id|vocabulary_id|concept_class_id|standard_concept|concept_code|\
invalid_reason
1|Myocardial infarction|Condition|SNOMED|Disorder|S|22298006|
2|Heart attack|Condition|ICD10CM|Code||I21|
3|Migraine|Condition|ICD10CM|Code||G43|
4|Migraine with aura|Observation|SNOMED|Disorder|S|4473006|
"""
RELATIONS = """\
concept_id_1|concept_id_2|relationship_id|invalid_reason
1|1|Maps to|
2|1|Maps to|
2|4|Maps to|
4|4|Maps to|
"""
PUBTATOR = (
    "1|t|Heart attack\n1|a|and qq\n1\t0\t12\tHeart attack\tDisease\tX:1\n1\t17\t19\tqq\tT\t-1\n"
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("exchange")
    (folder / "x.csv").write_text(TABLE)
    run("index", folder / "x.csv", "-o", folder / "index", "-e", "chargrams", "--quiet")
    return str(folder / "index")


@pytest.fixture(scope="module")
def omop(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An index of concepts that are standard and of others that map to these."""
    folder = tmp_path_factory.mktemp("omop")
    synonyms = "concept_id|concept_synonym_name|language_concept_id\n"
    tables = {"CONCEPT": CONCEPTS, "CONCEPT_RELATIONSHIP": RELATIONS, "CONCEPT_SYNONYM": synonyms}
    for name, table in tables.items():
        (folder / f"{name}.csv").write_text(table.replace("|", "\t"))
    database = str(folder / "omop.db")
    run("import", folder, "-o", database, "--option", "standard_only=no", "--quiet")
    run("index", database, "-o", folder / "index", "-e", "chargrams", "--quiet")
    return str(folder / "index")


def link(index: str, *arguments: str | Path, input: str | None = None, code: int = 0) -> Result:
    return run("link", "--index", index, *arguments, input=input, code=code)


def test_a_suffix_chooses_sssom_and_the_same_input_gives_the_same_bytes(
    index: str, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        link(index, "heart attacks", "qq", "-o", tmp_path / f"{name}.sssom.tsv")
    text = (tmp_path / "a.sssom.tsv").read_text()
    assert (tmp_path / "b.sssom.tsv").read_text() == text
    head, _, table = text.partition("subject_label")
    fingerprint = json.loads(run("info", index, "--format", "json").stdout)["fingerprint"]
    assert f"canonym_index={fingerprint}" in head
    assert "mapping_date" not in head
    found = [
        (row["object_id"], row["mapping_justification"]) for row in rows("subject_label" + table)
    ]
    assert found == [
        ("X:1", "semapv:LexicalMatching"),
        ("sssom:NoTermFound", "semapv:SemanticSimilarityThresholdMatching"),
    ]


def test_the_day_is_an_option_or_that_of_the_source(
    index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sssom = ("migraine", "--format", "sssom")
    assert '#mapping_date: "2024-12-31"' in link(index, *sssom, "--date", "2024-12-31").stdout
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert '#mapping_date: "1970-01-02"' in link(index, *sssom).stdout
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "tomorrow")
    assert "SOURCE_DATE_EPOCH is 'tomorrow'" in link(index, *sssom, code=2).stderr


def test_addresses_of_set_and_licence_are_written(index: str) -> None:
    text = link(
        index, "migraine", "--format", "sssom", "--license", "https://l", "--mapping-set-id", "u:1"
    ).stdout
    assert '#license: "https://l"\n' in text
    assert '#mapping_set_id: "u:1"\n' in text


def test_an_added_name_is_a_curated_mapping(index: str) -> None:
    run("synonyms", "add", "widow maker", "X:1", "--index", index)
    text = link(index, "Widow Maker", "--format", "sssom").stdout
    run("synonyms", "remove", "widow maker", "X:1", "--index", index)
    assert "\tsemapv:ManualMappingCuration\t" in text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--format", "sssom", "--explain"), "has no place for explanations"),
        (("--format", "sssom", "-k", "3"), "leave out -k"),
        (("--format", "tsv", "--license", "x"), "license goes with --format sssom, not tsv"),
        (("--format", "sssom", "--domain", "x"), "domain goes with --format omop, not sssom"),
        (("--format", "omop"), "needs --format-option source-vocabulary=ID, a name of 1 to 20"),
        (("--format", "omop", "--source-vocabulary", "v" * 21), "1 to 20 characters"),
        (("--format", "usagi"), "the ids of the terminology begin with X"),
        (("--format", "fhir", "--code-column", "a"), "there is no table: give --column"),
        (("--format", "bioc"), "--format bioc goes with documents"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    index: str, arguments: tuple[str, ...], problem: str
) -> None:
    assert problem in link(index, "hip", *arguments, code=2).stderr


def test_usagi_gets_codes_frequencies_and_the_other_columns(omop: str) -> None:
    table = "code,dx,n,ward\nA,heart attack,5,W1\nB,qq,1,W2\n"
    text = link(
        omop, "--file", "-", "--column", "dx", "--format", "usagi", "--code-column", "code",
        "--frequency-column", "n", input=table,
    ).stdout  # fmt: skip
    found = [
        (row["sourceCode"], row["sourceFrequency"], row["ADD_INFO:ward"], row["conceptId"])
        for row in rows(text, ",")
    ]
    assert found == [("A", "5", "W1", "2"), ("B", "1", "W2", "0")]
    bad = ("--file", "-", "--column", "dx", "--format", "usagi", "--code-column", "kode")
    assert "code-column=kode: the input has no such column; it has 'code', 'dx'" in (
        link(omop, *bad, input=table, code=2).stderr
    )


def test_usagi_has_no_place_for_two_columns_of_one_name(omop: str) -> None:
    table = ("--file", "-", "--column", "dx", "--format", "usagi")
    refused = link(omop, *table, input="dx,a,a\nhip,1,2\n", code=2)
    assert "several columns named 'a'" in refused.stderr


def test_a_source_map_follows_maps_to_standard_concepts(omop: str) -> None:
    arguments = ("heart attack", "Migraine", "Migraine with aura", "qq", "--format", "omop")
    text = link(omop, *arguments, "--source-vocabulary", "ward").stdout
    found = [
        (row["source_code"], row["target_concept_id"], row["target_vocabulary_id"])
        for row in rows(text, ",")
    ]
    assert found == [
        ("heart attack", "1", "SNOMED"),
        ("heart attack", "4", "SNOMED"),
        ("Migraine", "0", "None"),  # it maps to nothing
        ("Migraine with aura", "4", "SNOMED"),
        ("qq", "0", "None"),
    ]
    text = link(omop, *arguments, "--source-vocabulary", "ward", "--domain", "condition").stdout
    assert [row["target_concept_id"] for row in rows(text, ",")] == ["1", "0", "0", "0"]
    unknown = (*arguments, "--source-vocabulary", "ward", "--domain", "Conditon")
    refused = link(omop, *unknown, code=2).stderr
    assert "--format-option domain: 'Conditon' does not occur in" in refused
    assert "did you mean 'Condition'?" in refused


def test_fhir_of_two_versions(index: str) -> None:
    found = json.loads(link(index, "heart attack", "--format", "fhir").stdout)
    assert found["group"][0]["element"][0]["target"][0]["equivalence"] == "equivalent"
    found = json.loads(
        link(index, "heart attack", "--format", "fhir", "--fhir-version", "R5").stdout
    )
    assert found["group"][0]["element"][0]["target"][0]["relationship"] == "equivalent"


@pytest.mark.parametrize("suffix", ["xml", "json"])
def test_bioc_keeps_documents_with_ids_scores_and_the_index(
    index: str, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"out.{suffix}"
    (tmp_path / "in.pubtator").write_text(PUBTATOR)
    link(index, "--file", tmp_path / "in.pubtator", "--format", "bioc", "-o", out)
    (document,) = read_bioc(out)
    assert document.text == "Heart attack\nand qq"
    assert [(m.text, m.ids, m.rule) for m in document.mentions] == [
        ("Heart attack", ("X:1",), "any"),
        ("qq", (), "nil"),
    ]
    text = out.read_text()
    assert json.loads(run("info", index, "--format", "json").stdout)["fingerprint"] in text
    assert ("score" in text, "verbatim" in text) == (True, True)
