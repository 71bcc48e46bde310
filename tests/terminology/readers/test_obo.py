"""The OBO reader."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from canonym.errors import ReadError
from canonym.terminology.readers.obo import read_obo
from canonym.types import Concept, Name, Relation, Xref
from tests.files import written
from tests.tables import cases

ONTOLOGY = (Path(__file__).with_name("sources") / "demo.obo").read_text(encoding="utf-8")


def test_everything_of_a_term(tmp_path: Path) -> None:
    assert list(read_obo(written(tmp_path / "demo.obo", ONTOLOGY)))[:-2] == [
        Concept(
            "DEMO:1",
            "heart attack, acute",
            'Death of "heart" muscle\nfrom lack of blood\\oxygen.',
            ("demo_disease",),
            "DEMO",
            "2024-03-05",
        ),
        Xref("DEMO:1", "DEMO:11", "alternative"),
        Name("MI", "DEMO:1", "abbreviation"),
        Name("AMI", "DEMO:1", "abbreviation"),
        Name("heart stroke", "DEMO:1", "broad"),
        Name("coronary", "DEMO:1", "related"),
        Name("infarct", "DEMO:1", "narrow"),
        Name("cardiac event", "DEMO:1", "broad"),
        Name("bare", "DEMO:1", "related"),
        Name("old exact", "DEMO:1", "exact"),
        Name("old related", "DEMO:1", "related"),
        Xref("DEMO:1", "MESH:D009203"),
        Xref("DEMO:1", "url:http://x.org/1"),
        Xref("DEMO:1", "ICD:I21"),
        Relation("DEMO:1", "is_a", "DEMO:2"),
        Relation("DEMO:1", "part_of", "DEMO:3"),
    ]


@pytest.mark.parametrize("property_", ["has_relational_adjective", "UBPROP:0000007"])
def test_the_relational_adjective_of_an_organ_is_a_name(tmp_path: Path, property_: str) -> None:
    path = tmp_path / "organs.obo"
    path.write_text(
        "[Term]\nid: U:1\nname: kidney\n"
        f'property_value: {property_} "renal" xsd:string {{source="x"}}\n'
        'property_value: another "nephric" xsd:string\n'
        f"property_value: {property_} unquoted\n"
    )
    names = [one for one in read_obo(path) if isinstance(one, Name)]
    assert names == [Name("renal", "U:1", scope="related")]


def test_synonyms_that_are_properties_are_names(tmp_path: Path) -> None:
    path = tmp_path / "a.obo"
    path.write_text(
        "[Term]\nid: T:1\nname: one\n"
        'has_exact_synonym: "first" []\n'
        'property_value: has_exact_synonym "uno" xsd:string\n'
        'property_value: http://www.geneontology.org/formats/oboInOwl#hasNarrowSynonym "a "b"" '
        "xsd:string\n"
        'property_value: has_synonym_note "no" xsd:string\n'
    )
    assert [record for record in read_obo(path) if isinstance(record, Name)] == [
        Name("first", "T:1"), Name("uno", "T:1"), Name('a "b"', "T:1", "narrow"),
    ]  # fmt: skip


def test_an_obsolete_term_is_yielded_as_deprecated(tmp_path: Path) -> None:
    records = list(read_obo(written(tmp_path / "demo.obo", ONTOLOGY)))
    assert records[-2:] == [
        Concept(
            "DEMO:2",
            "2-{[(acid) heart disease]}",
            "",
            ("demo",),
            "DEMO",
            "2024-03-05",
            True,
            ("DEMO:1",),
        ),
        Relation("DEMO:2", "consider", "DEMO:3"),
    ]
    assert len(records) == 18


@cases("header", "version", "source")
def test_version_and_source_from_the_header(
    tmp_path: Path, header: str, version: str, source: str
) -> None:
    path = written(tmp_path / "a.obo", header + "[Term]\nid: X:1\nname: a\n")
    (concept,) = read_obo(path)
    assert isinstance(concept, Concept)
    assert (concept.version, concept.source) == (version, source)
    (concept,) = read_obo(path, version="mine")
    assert isinstance(concept, Concept)
    assert concept.version == "mine"


def test_a_continued_line_at_the_end_of_the_file_and_other_stanzas(tmp_path: Path) -> None:
    text = "[Term]\nid: X:1\nname: a\\\n b\n\n[Instance]\nid: X:2\nname: c\\"
    assert list(read_obo(written(tmp_path / "a.obo", text))) == [Concept("X:1", "ab")]


def test_a_term_may_lack_a_name_and_an_id_may_be_odd(tmp_path: Path) -> None:
    path = written(tmp_path / "a.obo", "[Term]\nid: X 1|2\nxref:\n")
    assert list(read_obo(path)) == [Concept("X 1|2")]


@cases("text", "phrase", "line")
def test_malformed_files(tmp_path: Path, text: str, phrase: str, line: int) -> None:
    with pytest.raises(ReadError, match=phrase) as caught:
        list(read_obo(written(tmp_path / "a.obo", text)))
    assert caught.value.line == line


def test_the_human_disease_ontology(data: Path) -> None:
    path = data / "doid" / "HumanDO-2015-05-14.obo.gz"
    records = list(read_obo(path))
    concepts = [record for record in records if isinstance(record, Concept)]
    assert Counter(concept.deprecated for concept in concepts) == {False: 6574, True: 2374}
    assert {concept.version for concept in concepts} == {"2015-05-14"}
    # Against a count of the lines themselves, one by one.
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        body = lines.read().split("[Typedef]")[0]
    tags = Counter(line.split(":")[0] for line in body.splitlines())
    kinds = Counter(
        record.kind if isinstance(record, Xref) else type(record).__name__ for record in records
    )
    assert kinds["Name"] == tags["synonym"] == 16035
    assert kinds["Relation"] == tags["is_a"] == 6921
    assert kinds["xref"] == tags["xref"]
    assert kinds["alternative"] == tags["alt_id"] == 1596


def test_the_human_phenotype_ontology(data: Path) -> None:
    records = list(read_obo(data / "hpo" / "hp-2014-11-14.obo.gz"))
    concepts = {record.id: record for record in records if isinstance(record, Concept)}
    assert Counter(concept.deprecated for concept in concepts.values()) == {False: 10775, True: 54}
    assert sum(isinstance(record, Name) for record in records) == 6949
    assert concepts["HP:0000003"].label == "Multicystic kidney dysplasia"
    assert Xref("HP:0000003", "MeSH:D021782") in records
    assert Relation("HP:0000003", "is_a", "HP:0000107") in records


# --- quotes that are not escaped ------------------------------------------------------------------

"""What follows the tag of a synonym, the name and its scope."""


@cases("value", "text", "scope")
def test_quotes_inside_a_text_belong_to_it(
    tmp_path: Path, value: str, text: str, scope: str
) -> None:
    file = tmp_path / "q.obo"
    file.write_text(
        'format-version: 1.2\nsynonymtypedef: SHORT "abbreviation" EXACT\n'
        f'synonymtypedef: LAY "lay" BROAD\n\n[Term]\nid: T:1\nname: one\nsynonym: {value}\n'
    )
    assert list(read_obo(file)) == [Concept("T:1", "one"), Name(text, "T:1", scope)]


def test_quotes_inside_definitions_and_old_tags(tmp_path: Path) -> None:
    file = tmp_path / "q.obo"
    file.write_text(
        '[Term]\nid: T:1\nname: the "first" one\ndef: "A "quoted" thing." [X:1]\n'
        'exact_synonym: "the "big" one" []\n'
        'property_value: has_relational_adjective "the "B" one" xsd:string {source="X"}\n'
    )
    assert list(read_obo(file)) == [
        Concept("T:1", 'the "first" one', 'A "quoted" thing.'),
        Name('the "big" one', "T:1"),
        Name('the "B" one', "T:1", "related"),
    ]


@pytest.mark.parametrize("value", ['"a "b" c EXACT []', '"never closed', '"a "b"c" d', 'bare "a"'])
def test_a_text_without_an_end_names_the_line(tmp_path: Path, value: str) -> None:
    file = tmp_path / "q.obo"
    file.write_text(f"[Term]\nid: T:1\nname: one\nsynonym: {value}\n")
    with pytest.raises(ReadError, match=r"line 4: synonym: .*double quotes"):
        list(read_obo(file))
