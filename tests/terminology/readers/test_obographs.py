"""The reader of OBO Graphs in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from canonym.errors import ReadError
from canonym.terminology.formats import recognise
from canonym.terminology.readers.obo import read_obo
from canonym.terminology.readers.obographs import read_obographs
from canonym.types import Concept, Name, Record, Relation, Xref

OBO = "http://purl.obolibrary.org/obo/"
OIO = "http://www.geneontology.org/formats/oboInOwl#"
GRAPH = json.loads((Path(__file__).with_name("sources") / "hp.json").read_text())
RECORDS = [
    Concept(
        "HP:0001658", "Myocardial infarction", "Necrosis of the myocardium.", ("human_phenotype",),
        "HP", "2024-04-26",
    ),
    Name("Heart attack", "HP:0001658"),
    Name("MI", "HP:0001658", "abbreviation"),
    Name('the "big" one', "HP:0001658", "narrow"),
    Name("Infarct", "HP:0001658", "broad"),
    Xref("HP:0001658", "HP:9", "alternative"),
    Xref("HP:0001658", "UMLS:C0027051"),
    Concept("HP:0000002", "old one", "", (), "HP", "2024-04-26", True, ("HP:0001658",)),
    Relation("HP:0000002", "consider", "HP:0001677"),
    Relation("HP:0001658", "is_a", "HP:0001677"),
    Relation("HP:0001658", "part_of", "UBERON:1"),
]  # fmt: skip


def read(path: Path, content: Any) -> list[Record]:
    path.write_text(json.dumps(content))
    return list(read_obographs(path))


def test_a_graph(tmp_path: Path) -> None:
    path = tmp_path / "hp.json"
    assert read(path, {"graphs": [GRAPH]}) == RECORDS
    assert recognise(path) == "obographs"
    path.write_text(json.dumps({"meta": {}, "graphs": [GRAPH]}, indent=2))
    assert recognise(path) == "obographs"


def test_it_says_what_the_obo_file_says(tmp_path: Path) -> None:
    other = tmp_path / "hp.obo"
    other.write_text(
        "format-version: 1.2\nontology: hp\ndata-version: hp/releases/2024-04-26\n"
        "default-namespace: human_phenotype\n\n[Term]\nid: HP:1\nname: hip\n"
        'synonym: "hips" EXACT []\nis_a: HP:2\n'
    )
    nodes = [
        {
            "id": f"{OBO}HP_1", "lbl": "hip",
            "meta": {
                "synonyms": [{"pred": "hasExactSynonym", "val": "hips"}],
                "basicPropertyValues": [
                    {"pred": f"{OIO}hasOBONamespace", "val": "human_phenotype"}
                ],
            },
        }
    ]  # fmt: skip
    edges = [{"sub": f"{OBO}HP_1", "pred": "is_a", "obj": f"{OBO}HP_2"}]
    graph = {**GRAPH, "nodes": nodes, "edges": edges}
    assert read(tmp_path / "a", {"graphs": [graph]}) == list(read_obo(other))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"graphs": []}, "holds no graph with classes"),
        ({"graphs": "x"}, "holds no graph with classes"),
        ([1], "holds no graph with classes"),
        ({"graphs": [{"id": "g", "nodes": [{"id": "a", "lbl": "b", "meta": [1]}]}]}, "'g' is dam"),
        ({"graphs": [{"id": "g", "nodes": [{"id": [1], "lbl": "b"}]}]}, "'g' is damaged"),
    ],
)
def test_what_is_no_graph_is_refused(tmp_path: Path, content: Any, problem: str) -> None:
    with pytest.raises(ReadError, match=problem):
        read(tmp_path / "a", content)
