"""What every format says of relatives, doubts, absence and likeness: never that it is the same."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

import pytest

from canonym import Concept, Linker, Name, Terminology
from canonym.exchange.fhir import ConceptMapWriter
from canonym.exchange.mappings import origin_of
from canonym.exchange.omop import SourceMapWriter, StandardConcepts, UsagiWriter
from canonym.exchange.sssom import SssomWriter
from canonym.mentions.flags import FLAGS
from canonym.types import Mention

NAMES = {
    "OMOP:1": "Migraine",
    "OMOP:2": "Type 2 diabetes mellitus",
    "OMOP:3": "Right knee pain",
    "OMOP:4": "Benign neoplasm of breast",
    "OMOP:5": "Gout",
    "OMOP:6": "Asthma",
    "OMOP:7": "Acute pancreatitis",
    "OMOP:8": "Hypothyroidism",
    "OMOP:9": "Hepatitis B",
    "OMOP:10": "Ankle pain",
    "OMOP:11": "Fracture of femur",
    "OMOP:12": "Left otitis media",
    "OMOP:13": "Primary hypertension",
}
OF_OTHERS = {
    "relatives": (
        "sister with migraine", "father - migraine", "gout in father", "FHx of asthma",
        "mother with gout and migraine", "family history of asthma", "brother has gout",
        "maternal aunt with asthma", "migraine in her mother", "fhx: gout", "dad had gout",
    ),
    "doubts": (
        "possible migraine", "?gout", "migraine?", "r/o asthma", "suspected gout",
        "probable asthma", "query migraine", "cannot exclude gout", "consistent with asthma",
        "likely gout", "possible severe gout", "gout vs asthma",
    ),
    "absence": (
        "no migraine", "denies asthma", "without gout", "negative for asthma", "gout ruled out",
        "no evidence of gout", "absence of migraine", "asthma: none", "not asthma",
        "free of gout",
    ),
    "what may come": (
        "at risk for gout", "screening for asthma", "prevention of migraine", "in case of asthma",
        "fear of migraine", "risk of gout", "screening for gout", "at risk of asthma",
        "prevention of gout", "at risk for migraine",
    ),
    "the past": (
        "history of migraine", "h/o gout", "past asthma", "resolved gout", "previous migraine",
        "asthma in 2009", "PMH asthma", "hx of gout", "prior migraine", "gout 3 years ago",
    ),
    "contradictions": (
        "type 1 diabetes mellitus", "left knee pain", "malignant neoplasm of breast",
        "chronic pancreatitis", "hyperthyroidism", "hepatitis C", "right otitis media",
        "secondary hypertension", "severe left knee pain", "type 1 diabetes mellitus for 3 years",
    ),
    "likeness": (
        "migraine diet", "asthma medication", "asthma camp", "gout clinic visit", "femur",
        "if migraine returns", "asthma prevention", "gout prophylaxis", "return if asthma worsens",
        "pancreatitis", "hypertension", "left ankle pain", "R ankle pain", "ankle pain, bilateral",
        "diabetes mellitus", "neoplasm of breast",
    ),
}  # fmt: skip
SAME = (
    "migraine", "Migraines", "GOUT", "asthma (disorder)", "right knee pain", "hepatitis B",
    "type II diabetes mellitus", "asthma, unspecified", "patient with gout", "dx: asthma",
)  # fmt: skip
DETAILED = (
    "severe migraine", "moderate asthma", "mild persistent asthma", "asthma (mild)",
    "gout since 2019", "gout for 3 weeks", "severe, recurrent migraine", "ankle pain x3 days",
    "constant ankle pain", "well-controlled asthma",
)  # fmt: skip


@pytest.fixture(scope="module")
def linker() -> Linker:
    """An index of a small vocabulary of OMOP."""
    names = [Name("Femur fracture", "OMOP:11")]
    return Linker.build(Terminology.build([*(Concept(*pair) for pair in NAMES.items()), *names]))


def written(linker: Linker, texts: Iterable[str | Mention], **options: bool) -> dict[str, Any]:
    """Return what each format says of texts: its rows, or for FHIR its elements."""
    terminology = linker.terminology
    origin = origin_of(terminology, linker.fingerprint)
    streams = {name: io.StringIO() for name in ("omop", "sssom", "usagi", "fhir")}
    standard = StandardConcepts(terminology)
    writers = (
        SourceMapWriter(streams["omop"], origin, vocabulary="X", standard=standard),
        SssomWriter(streams["sssom"], origin),
        UsagiWriter(streams["usagi"], origin),
        ConceptMapWriter(streams["fhir"], origin),
    )
    links = linker.link([*texts], **options)
    for writer in writers:
        for link in links:
            writer.write(link)
        writer.close()
    lines = {name: stream.getvalue().splitlines() for name, stream in streams.items()}
    groups = json.loads(streams["fhir"].getvalue())["group"]
    return {
        "omop": [*csv.DictReader(lines["omop"])],
        "sssom": [
            *csv.DictReader((x for x in lines["sssom"] if not x.startswith("#")), delimiter="\t")
        ],
        "usagi": [*csv.DictReader(lines["usagi"])],
        "fhir": [element for group in groups for element in group["element"]],
    }


@pytest.mark.parametrize("sort", OF_OTHERS)
def test_what_is_not_meant_is_never_a_target(linker: Linker, sort: str) -> None:
    formats = written(linker, OF_OTHERS[sort])
    targets = {row["source_code"]: row["target_concept_id"] for row in formats["omop"]}
    assert targets == dict.fromkeys(OF_OTHERS[sort], "0")
    weak = {"skos:relatedMatch"}
    if sort == "likeness":
        weak |= {"skos:closeMatch", "skos:broadMatch", "skos:narrowMatch"}
    claimed = [row for row in formats["sssom"] if row["object_id"] != "sssom:NoTermFound"]
    assert not [row["subject_label"] for row in claimed if row["predicate_id"] not in weak]
    statuses = {(row["mappingStatus"], row["equivalence"]) for row in formats["usagi"]}
    assert statuses == {("UNCHECKED", "UNREVIEWED")}
    said = {target["equivalence"] for each in formats["fhir"] for target in each["target"]}
    assert not said & {"equal", "equivalent"}
    assert sort == "likeness" or said <= {"relatedto", "unmatched"}


def test_flags_of_mentions_and_negated_ones_that_are_kept_are_obeyed(linker: Linker) -> None:
    for flag in FLAGS:
        formats = written(linker, [Mention("Migraine", flags=(flag,))], keep_negated=True)
        assert formats["omop"][0]["target_concept_id"] == "0"
        assert formats["sssom"][0]["object_id"] == "OMOP:1"
        assert formats["sssom"][0]["predicate_id"] == "skos:relatedMatch"
        assert formats["fhir"][0]["target"][0]["equivalence"] == "relatedto"


def test_what_is_meant_is_a_target_even_without_its_details(linker: Linker) -> None:
    for texts, predicate, equivalence in (
        (SAME, "skos:exactMatch", "equivalent"),
        (DETAILED, "skos:broadMatch", "wider"),
    ):
        formats = written(linker, texts)
        assert [row["source_code"] for row in formats["omop"]] == [*texts]
        assert "0" not in {row["target_concept_id"] for row in formats["omop"]}
        assert {row["predicate_id"] for row in formats["sssom"]} == {predicate}
        said = {target["equivalence"] for each in formats["fhir"] for target in each["target"]}
        assert said == {equivalence}
