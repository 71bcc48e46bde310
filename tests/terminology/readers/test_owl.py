"""The reader of OWL and SKOS, and the compaction of addresses."""

from __future__ import annotations

import gzip
import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from canonym.errors import InvalidInput, MissingExtra, ReadError
from canonym.io.curies import compact
from canonym.terminology.formats import recognise
from canonym.terminology.readers.owl import read_owl
from canonym.types import Concept, Name, Record, Relation, Xref
from tests.logs import Log
from tests.tables import cases

pytest.importorskip("rdflib")

PREFIXES = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix umls: <http://bioportal.bioontology.org/ontologies/umls/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ex: <http://example.org/t#> .
"""
SOURCES = Path(__file__).with_name("sources")
OWL = PREFIXES + (SOURCES / "hp.ttl").read_text(encoding="utf-8")
OWL_RECORDS = [
    Concept(
        "HP:0001658",
        "Myocardial infarction",
        "Necrosis of the myocardium.",
        ("human_phenotype",),
        "HP",
        "2024-04-26",
    ),
    Name("Myokardinfarkt", "HP:0001658", "label", "de"),
    Name("Herzinfarkt", "HP:0001658", "exact", "de"),
    Name("Heart attack", "HP:0001658"),
    Name("MI", "HP:0001658", "abbreviation"),
    Name("STEMI", "HP:0001658", "narrow"),
    Name("Infarct", "HP:0001658", "broad"),
    Name("Coronary", "HP:0001658", "related"),
    Name("Cardiac infarction", "HP:0001658"),
    Relation("HP:0001658", "is_a", "HP:0001677"),
    Relation("HP:0001658", "part_of", "UBERON:1"),
    Relation("HP:0001658", "located_in", "UBERON:2"),
    Relation("HP:0001658", "http://example.org/t#p2", "UBERON:3"),
    Xref("HP:0001658", "HP:9", "alternative"),
    Xref("HP:0001658", "UMLS:C0027051"),
    Concept("HP:0000002", "old one", "", (), "HP", "2024-04-26", True, ("HP:0001658",)),
    Relation("HP:0000002", "consider", "HP:0001677"),
]
SKOS = PREFIXES + (SOURCES / "scheme.ttl").read_text(encoding="utf-8")


def read(path: Path, text: str | bytes, **options: object) -> list[Record]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_owl(path, **options))  # type: ignore[arg-type]


def test_an_ontology_in_turtle(tmp_path: Path) -> None:
    assert read(tmp_path / "a.ttl", OWL) == OWL_RECORDS


@pytest.mark.parametrize("format", ["xml", "json-ld", "nt"])
def test_the_other_syntaxes_say_the_same(tmp_path: Path, format: str) -> None:
    import rdflib

    graph = rdflib.Graph().parse(data=OWL, format="turtle")
    path = tmp_path / "a.gz"
    text = graph.serialize(format=format)
    path.write_bytes(gzip.compress(text.encode()))

    def key(record: Record) -> str:
        return repr(record)

    # A serialisation may put labels of one language in another order: scopes of those two differ.
    def loose(records: list[Record]) -> list[str]:
        kept = [r for r in records if not (isinstance(r, Name) and r.language == "de")]
        return sorted(map(key, kept))

    assert loose(list(read_owl(path))) == loose(OWL_RECORDS)
    named = None if format == "nt" else format
    assert loose(list(read_owl(path, syntax=named))) == loose(OWL_RECORDS)


def test_a_thesaurus(tmp_path: Path) -> None:
    base = "http://example.org/t#"
    assert read(tmp_path / "a.ttl", SKOS) == [
        Concept(
            f"{base}1",
            "",
            "Pain in the head.",
            ("STY:T184", "Demo", f"{base}other"),
            "scheme",
            "v3",
        ),
        Name("Kopfschmerz", f"{base}1", "label", "de"),
        Name("Cephalalgia", f"{base}1", "label", "la"),
        Name("Kopfweh", f"{base}1", "exact", "de"),
        Name("Kopfschmertz", f"{base}1", "related", "de"),
        Relation(f"{base}1", "is_a", f"{base}0"),
        Relation(f"{base}1", "related", f"{base}2"),
        Xref(f"{base}1", "R51", "alternative"),
        Xref(f"{base}1", "MESH:D006261"),
        Concept(f"{base}0", "pain", source="scheme", version="v3"),
        Relation(f"{base}2", "is_a", f"{base}0"),
    ]


def test_language_prefixes_and_version_are_the_callers(tmp_path: Path) -> None:
    records = read(
        tmp_path / "a.ttl",
        SKOS,
        language="de",
        prefixes={"http://example.org/": "NO", "http://example.org/t#": "EX"},
        version="9",
    )
    assert records[0] == Concept(
        "EX:1", "", "Schmerz im Kopf.", ("STY:T184", "Demo", "EX:other"), "scheme", "9"
    )
    assert Name("Kopfschmerz", "EX:1", "label", "de") in records
    assert Concept("EX:0", "pain", source="scheme", version="9") in records
    untagged = read(tmp_path / "b.ttl", OWL, untagged="fr")
    assert Name("Myocardial infarction", "HP:0001658", "label", "fr") in untagged
    assert Name("Heart attack", "HP:0001658", "exact", "fr") in untagged


def test_properties_of_names_are_known_however_they_are_spelt(tmp_path: Path, caplog: Log) -> None:
    text = (
        PREFIXES
        + """
        @prefix dc: <http://purl.org/dc/elements/1.1/> .
        ex:s a skos:ConceptScheme ; dc:title "Toes" .
        ex:1 a skos:Concept ; skos:prefLabel "one" ; skos:inScheme ex:s ;
            ex:has_exact_synonym "uno" ; ex:HasBroadSynonym "number" ; ex:brandSynonym "einz" .
    """
    )
    concept, *names = read(tmp_path / "a.ttl", text)
    assert isinstance(concept, Concept)
    assert concept.types == ("Toes",)
    assert {(name.text, name.scope) for name in names if isinstance(name, Name)} == {
        ("uno", "exact"), ("number", "broad"),
    }  # fmt: skip
    remark = "http://example.org/t#brandSynonym may hold names, and are not read"
    assert [record.message for record in caplog.records] == [f"the properties {remark}"]


def test_the_name_of_an_ontology_is_no_part_of_it(tmp_path: Path) -> None:
    text = PREFIXES + "obo:uberon\\/basic.owl a owl:Ontology . ex:1 a owl:Class ."
    (concept,) = read(tmp_path / "a.ttl", text)
    assert isinstance(concept, Concept)
    assert concept.source == "UBERON"


def test_a_graph_without_a_header(tmp_path: Path) -> None:
    text = PREFIXES + "[] a owl:Ontology . ex:1 a owl:Class, skos:Concept ; rdfs:label 'a' . "
    text += "ex:2 a owl:Class . [] a owl:Class ; rdfs:label 'nobody' ."
    assert read(tmp_path / "a.ttl", text) == [
        Concept("http://example.org/t#1", "a"),
        Concept("http://example.org/t#2"),
    ]
    named = PREFIXES + "ex:o a owl:Ontology . ex:1 a owl:Class ; rdfs:label 'a' ."
    assert read(tmp_path / "b.ttl", named)[0] == Concept("http://example.org/t#1", "a", source="o")


def test_the_order_does_not_depend_on_hashes(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text(OWL)
    script = (
        "import sys; from canonym.terminology.readers.owl import read_owl; "
        "print(*read_owl(sys.argv[1]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_ill_typed_values_are_not_logged(tmp_path: Path, caplog: Log) -> None:
    before = logging.getLogger("rdflib").level
    read(tmp_path / "a.ttl", OWL)
    assert not caplog.records
    assert logging.getLogger("rdflib").level == before


@pytest.mark.parametrize(
    ("text", "phrase", "line"),
    [
        ("id,name\nX:1,a\n", "not well-formed turtle", 1),
        (PREFIXES + "ex:1 a owl:Class ;\n  rdfs:label 'open .\n", "not well-formed turtle", 13),
        ("<?xml version='1.0'?>\n<rdf:RDF><a>", "not well-formed xml", 2),
        ('{"a": \n', "not JSON", 2),
        ("[" * 200_000, "not JSON", None),
        ('{"@context": "https://schema.org/", "a": 1}', "not fetched", None),
        ('[{"b": [{"@context": [{"@import": "http://x.org/c"}]}]}]', "'http://x.org/c'", None),
        ("<?xml version='1.0'?>\n<Ontology xmlns='x'/>", "OWL/XML", None),
        ("Prefix(:=<http://x.org/>)\nOntology(<http://x.org/>)", "functional", None),
        (PREFIXES + "ex:1 a rdfs:Class .", "1 statements, but no owl:Class", None),
    ],
)
def test_malformed_files(tmp_path: Path, text: str, phrase: str, line: int | None) -> None:
    with pytest.raises(ReadError, match=phrase) as caught:
        read(tmp_path / "a", text)
    assert caught.value.line == line


def test_a_local_json_ld_context_is_fine(tmp_path: Path) -> None:
    document = {
        "@context": {"skos": "http://www.w3.org/2004/02/skos/core#"},
        "@graph": [{"@id": "http://x.org/1", "@type": "skos:Concept", "skos:prefLabel": "a"}],
    }
    assert read(tmp_path / "a", json.dumps(document)) == [Concept("http://x.org/1", "a")]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda address: [[address]],
        lambda address: [[[{"@import": address}]]],
        lambda address: {"x": {"@id": "a:x", "@context": [[address]]}},
        lambda address: {"@context": [[address], None]},
    ],
)
def test_a_context_in_a_nested_list_is_not_fetched(tmp_path: Path, wrap: Any) -> None:
    context = {"@context": {"name": "http://www.w3.org/2004/02/skos/core#prefLabel"}}
    (tmp_path / "context").write_text(json.dumps(context))
    document = {
        "@context": wrap((tmp_path / "context").as_uri()),
        "@id": "a:1", "@type": "http://www.w3.org/2004/02/skos/core#Concept", "name": "fetched",
    }  # fmt: skip
    with pytest.raises(ReadError, match=r"refers to the context 'file:.*, which is not fetched"):
        read(tmp_path / "a", json.dumps(document))


XML = ' rdf:parseType="Literal"'
ROOT = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" '
    'xmlns:owl="http://www.w3.org/2002/07/owl#">'
)


def test_the_entities_of_protege_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.owl"
    text = (
        '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [<!ENTITY owl "http://www.w3.org/2002/07/owl#">'
        f'<!ENTITY auml "&#228;">]>\n{ROOT}<rdf:Description rdf:about="a:1"><rdf:type '
        'rdf:resource="&owl;Class"/><rdfs:label>F&auml;rbung</rdfs:label></rdf:Description>'
        "</rdf:RDF>"
    )
    assert read(path, text) == [Concept("a:1", "Färbung")]
    assert recognise(path) == "owl"


@pytest.mark.parametrize(
    ("declared", "used", "problem"),
    [
        ('<!ENTITY a "haha"><!ENTITY b "&a;&a;">', "&b;", "declares the entity 'b'"),
        (f'<!ENTITY a "{"x" * 201}">', "&a;", "declares the entity 'a'"),
        ('<!ENTITY a SYSTEM "file:///etc/hostname">', "&a;", "declares the entity 'a'"),
        ('<!ENTITY % a SYSTEM "file:///etc/hostname"> %a;', "", "declares the entity 'a'"),
        ('<!ENTITY a "<rdfs:label>x</rdfs:label>">', "&a;", "declares the entity 'a'"),
        ("", "&eacute;", "undefined entity"),
    ],
)
def test_other_entities_are_refused(tmp_path: Path, declared: str, used: str, problem: str) -> None:
    bomb = (
        f'<!DOCTYPE rdf:RDF [{declared}]>{ROOT}<owl:Class rdf:about="a:1"><rdfs:label>x{used}'
        "</rdfs:label></owl:Class></rdf:RDF>"
    )
    for syntax in (None, "xml"):
        with pytest.raises(ReadError, match=problem):
            read(tmp_path / "a", bomb, syntax=syntax)


def test_an_entity_of_a_definition_elsewhere_is_not_left_out(tmp_path: Path) -> None:
    text = (
        f'<!DOCTYPE rdf:RDF SYSTEM "other.dtd">{ROOT}<owl:Class rdf:about="a:1"><rdfs:label>'
        "caf&eacute;</rdfs:label></owl:Class></rdf:RDF>"
    )
    with pytest.raises(ReadError, match="uses the entity 'eacute', which it does not declare"):
        read(tmp_path / "a", text)


def test_xml_in_a_property_is_its_text(tmp_path: Path) -> None:
    text = (
        f'{ROOT}<owl:Class rdf:about="a:1"><rdfs:label rdf:parseType="Literal" xml:lang="en">'
        "H<sub>2</sub>O &lt; <b>5<i>&amp;</i></b></rdfs:label></owl:Class></rdf:RDF>"
    )
    assert read(tmp_path / "a", text) == [Concept("a:1", "H2O < 5&")]


@cases("kind", "piece")
def test_time_grows_with_a_text_and_not_with_its_square(
    tmp_path: Path, kind: str, piece: str
) -> None:
    path = tmp_path / "a"
    path.write_text(
        f'{ROOT}<owl:Class rdf:about="a:1"><rdfs:label{kind}>{piece * 200_000}</rdfs:label>'
        "</owl:Class></rdf:RDF>"
    )
    began = time.process_time()
    (concept,) = read_owl(path)
    assert isinstance(concept, Concept)
    assert len(concept.label) >= 200_000
    assert time.process_time() - began < 5


def test_an_unknown_format_and_a_missing_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="'n3' is unknown"):
        read(tmp_path / "a", OWL, syntax="n3")
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingExtra, match=r"canonym\[owl\]"):
        read(tmp_path / "a", OWL)


@cases("address", "short")
def test_compaction(address: str, short: str | None) -> None:
    assert compact(address) == (short or address)


def test_deep_nesting_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "deep.owl"
    head = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" '
        'xmlns:owl="http://www.w3.org/2002/07/owl#">\n'
    )
    n = 100_000
    inner = "<owl:Class><rdfs:subClassOf>" * n + "</rdfs:subClassOf></owl:Class>" * n
    path.write_text(f"{head}{inner}</rdf:RDF>")
    began = time.process_time()
    with pytest.raises(ReadError, match=r"line 2: .* at most 2,000 were expected: save .* Turtle"):
        list(read_owl(path))
    assert time.process_time() - began < 2
