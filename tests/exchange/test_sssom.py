"""Links as literal mappings in SSSOM."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from canonym.exchange.mappings import Origin
from canonym.exchange.sssom import COLUMNS, SssomWriter, shielded
from canonym.types import Candidate, Link, Mention
from tests.exchange.linked import (
    BOTH,
    BY_HAND,
    EMPTY,
    FOUND,
    HIP,
    NARROW,
    NIL,
    ORIGIN,
    SIMILAR,
    link,
)

ALL = (FOUND, SIMILAR, NARROW, BY_HAND, NIL, BOTH, EMPTY)


def written(*links: Link, origin: Origin = ORIGIN, **options: str) -> str:
    stream = io.StringIO()
    writer = SssomWriter(stream, origin, **options)
    for one in links:
        writer.write(one)
    writer.close()
    return stream.getvalue()


def rows(*links: Link) -> list[dict[str, str]]:
    lines = [line for line in written(*links).splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def test_the_head_names_prefixes_tool_and_index() -> None:
    text = written(FOUND, license="https://example.org/l", mapping_set_id="https://example.org/s")
    assert text.splitlines()[:11] == [
        "#curie_map:",
        '#  OMOP: "https://bioregistry.io/OMOP:"',
        '#  X: "https://bioregistry.io/X:"',
        '#  registry: "https://bioregistry.io/registry/"',
        '#mapping_set_id: "https://example.org/s"',
        '#license: "https://example.org/l"',
        '#object_source_version: "2024"',
        '#mapping_tool: "canonym"',
        '#mapping_tool_version: "1.2.3"',
        '#mapping_date: "2024-12-31"',
        '#other: "canonym_index=f00d"',
    ]
    assert text.splitlines()[11].split("\t") == list(COLUMNS)
    assert "mapping_date" not in written(FOUND, origin=ORIGIN._replace(date=""))
    assert 'mapping_set_id: "urn:canonym:links:f00d"' in written()


def test_a_row_says_what_a_text_means_and_how_that_was_found() -> None:
    (row,) = rows(FOUND)
    assert {key: value for key, value in row.items() if value} == {
        "subject_label": "Infarction",
        "subject_type": "rdfs literal",
        "predicate_id": "skos:exactMatch",
        "object_id": "OMOP:1",
        "object_label": "Infarction",
        "object_source": "registry:omop",
        "mapping_justification": "semapv:LexicalMatching",
        "confidence": "0.9",
        "similarity_score": "1",
        "similarity_measure": "canonym",
        "match_string": "infarction",
        "subject_preprocessing": "semapv:CaseNormalization",
        "comment": "verbatim: 'infarction', score 1, confidence 0.9",
    }


def test_the_justification_is_how_it_was_found() -> None:
    found = [(row["mapping_justification"], row["match_string"]) for row in rows(SIMILAR, BY_HAND)]
    assert found == [
        ("semapv:SemanticSimilarityThresholdMatching", ""),
        ("semapv:ManualMappingCuration", "widow maker"),
    ]


@pytest.mark.parametrize(
    ("confidence", "scope", "predicate"),
    [
        (None, "exact", "skos:relatedMatch"),
        (0.3, "exact", "skos:relatedMatch"),
        (0.5, "exact", "skos:closeMatch"),
        (0.84, "narrow", "skos:closeMatch"),
        (0.85, "exact", "skos:exactMatch"),
        (0.85, "narrow", "skos:broadMatch"),
    ],
)
def test_similarity_alone_claims_no_more_than_it_is_sure_of(
    confidence: float | None, scope: str, predicate: str
) -> None:
    candidate = replace(HIP, score=0.249, scope=scope)
    (row,) = rows(link("xyzzy", candidate, confidence=confidence))
    assert (row["predicate_id"], row["object_id"]) == (predicate, "OMOP:2")


def test_an_id_is_exact_by_what_the_terminology_knows() -> None:
    by_id = Candidate("OMOP:1", "Infarction", 1.0, "Infarction", "label", (), "id")
    unsure = Candidate("OMOP:1", "Infarction", 0.75, "Infarction", "label", (), "id")
    sure, doubtful = rows(link("omop_1", by_id), link("omop_1 - x", unsure, confidence=0.75))
    assert sure["mapping_justification"] == "semapv:BackgroundKnowledgeBasedMatching"
    assert (sure["predicate_id"], sure["match_string"]) == ("skos:exactMatch", "")
    assert sure["comment"].startswith("id: OMOP:1, ")
    assert doubtful["predicate_id"] == "skos:closeMatch"


def test_a_narrow_name_has_a_broader_concept_and_bars_are_escaped() -> None:
    (row,) = rows(NARROW)
    assert (row["predicate_id"], row["object_id"]) == ("skos:broadMatch", "X:3")
    assert row["match_string"] == r"knee\|s"
    assert row["subject_preprocessing"] == "semapv:CaseNormalization"
    assert (row["subject_label"], row["object_label"]) == ("Knee|S", "Knee | fracture")


def test_no_concept_is_no_term_found_in_its_source() -> None:
    (row,) = rows(NIL)
    assert (row["object_id"], row["object_source"]) == ("sssom:NoTermFound", "registry:omop")
    assert (row["predicate_id"], row["comment"]) == (
        "skos:exactMatch",
        "no concept fits: too far",
    )


def test_each_part_of_a_composite_mention_is_a_row() -> None:
    found = [(row["subject_label"], row["object_id"]) for row in rows(BOTH)]
    assert found == [("heart", "OMOP:1"), ("hip", "OMOP:2")]
    assert rows(BOTH)[1]["comment"].endswith("part of 'heart and hip'")


def test_the_surest_of_equal_mappings_is_written_and_empty_mentions_never() -> None:
    sure = replace(SIMILAR, confidence=0.8)
    found = rows(SIMILAR, FOUND, sure, SIMILAR, EMPTY)
    assert [(row["subject_label"], row["confidence"]) for row in found] == [
        ("hip broken", "0.8"),
        ("Infarction", "0.9"),
    ]


def test_an_id_without_a_prefix_gets_one() -> None:
    bare = Link(FOUND.mention, (replace(FOUND.candidates[0], id="I21.0"),))
    assert rows(bare)[0]["object_id"] == "local:I21.0"
    assert '#  local: "https://bioregistry.io/local:"' in written(
        origin=ORIGIN._replace(prefixes=("",))
    )


def test_the_validator_of_the_standard_finds_nothing(tmp_path: Path) -> None:
    pytest.importorskip("sssom", reason="needs the package sssom, which is not in the extra dev")
    from sssom.parsers import parse_sssom_table
    from sssom.validators import validate

    file = tmp_path / "a.sssom.tsv"
    file.write_text(written(*ALL), encoding="utf-8")
    table = parse_sssom_table(str(file))
    assert len(table.df) == 7
    validate(table)


@pytest.mark.parametrize("text", ["=1+1", "+hip", "-itis", "@x", "\tx", "\rx", "'=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    stream = io.StringIO(newline="")
    writer = SssomWriter(stream, ORIGIN)
    writer.write(Link(Mention(text), (Candidate("X:1", text, 1.0, text, sieve="verbatim"),)))
    writer.close()
    lines = io.StringIO(stream.getvalue(), newline="\n")
    (row,) = csv.DictReader((x for x in lines if not x.startswith("#")), delimiter="\t")
    assert row["object_label"] == row["match_string"] == f"'{text}".replace("\r", "\n")
    assert row["subject_label"] == shielded(text.strip())
    assert row["similarity_score"] == "1"
