"""Links as a FHIR ConceptMap."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest

from canonym.exchange.fhir import ConceptMapWriter, code_system
from tests.exchange.linked import BOTH, EMPTY, FOUND, NARROW, NIL, ORIGIN, SIMILAR


def concept_map(version: str = "R4", url: str = "") -> dict[str, Any]:
    stream = io.StringIO()
    writer = ConceptMapWriter(stream, ORIGIN, version=version, url=url)
    for link in (FOUND, SIMILAR, NARROW, BOTH, NIL, FOUND, EMPTY):
        writer.write(link)
    writer.close()
    found: dict[str, Any] = json.loads(stream.getvalue())
    return found


def test_texts_are_elements_and_code_systems_groups() -> None:
    whole = concept_map()
    assert (whole["url"], whole["date"]) == ("urn:canonym:links:f00d", "2024-12-31")
    assert whole["description"] == "Links made by canonym 1.2.3, index f00d"
    omop, other = whole["group"]
    assert (omop["target"], omop["targetVersion"]) == ("https://fhir-terminology.ohdsi.org", "2024")
    assert (other["target"], "targetVersion" in other) == ("https://bioregistry.io/X", False)
    texts = [element["display"] for element in omop["element"]]
    assert texts == ["Infarction", "hip broken", "heart and hip", "xyz"]
    assert omop["element"][0]["target"] == [
        {
            "code": "1",
            "display": "Infarction",
            "equivalence": "equivalent",
            "comment": "verbatim: 'infarction', score 1, confidence 0.9",
        }
    ]
    assert [target["code"] for target in omop["element"][2]["target"]] == ["1", "2"]


def test_the_relation_is_said_in_the_words_of_the_version() -> None:
    def relations(version: str, key: str) -> list[str]:
        groups = concept_map(version)["group"]
        elements = [element for group in groups for element in group["element"]]
        return [one[key] for each in elements for one in each.get("target", [])]

    assert relations("R4", "equivalence") == [
        *("equivalent", "relatedto", "equivalent", "relatedto", "unmatched", "wider"),
    ]
    assert relations("R5", "relationship") == [
        *("equivalent", "related-to", "equivalent", "related-to"),
        "source-is-narrower-than-target",
    ]
    nil = concept_map("R5")["group"][0]["element"][-1]
    assert nil == {"code": "xyz", "display": "xyz", "noMap": True}
    assert concept_map("R5")["group"][0]["target"] == "https://fhir-terminology.ohdsi.org|2024"


def test_the_surest_link_of_a_text_to_a_concept_is_written() -> None:
    stream = io.StringIO()
    writer = ConceptMapWriter(stream, ORIGIN, version="R5")
    for link in (
        NIL,
        SIMILAR,
        replace(SIMILAR, confidence=0.8),
        replace(FOUND, mention=NIL.mention),
    ):
        writer.write(link)
    writer.close()
    xyz, hip = json.loads(stream.getvalue())["group"][0]["element"]
    assert [target["code"] for target in xyz["target"]] == ["1"]
    assert "noMap" not in xyz
    assert ["confidence 0.8" in target["comment"] for target in hip["target"]] == [True]


@pytest.mark.parametrize("version", ["R4", "R5"])
def test_the_models_of_fhir_accept_it(version: str) -> None:
    fhir = pytest.importorskip("fhir.resources")
    import importlib

    name = "fhir.resources.R4B.conceptmap" if version == "R4" else "fhir.resources.conceptmap"
    model = importlib.import_module(name).ConceptMap
    whole = model.model_validate(concept_map(version, url="https://example.org/map"))
    assert fhir is not None
    assert json.loads(whole.model_dump_json())["url"] == "https://example.org/map"


@pytest.mark.parametrize(
    ("prefix", "address"),
    [
        ("SNOMEDCT", "http://snomed.info/sct"),
        ("DOID", "http://purl.obolibrary.org/obo/doid.owl"),
        ("MESH", "http://id.nlm.nih.gov/mesh"),
        ("", "urn:canonym:local"),
    ],
)
def test_a_code_system_has_an_address(prefix: str, address: str) -> None:
    assert code_system(prefix) == address
