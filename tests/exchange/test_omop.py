"""Links for OHDSI: Usagi and source_to_concept_map."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from canonym.errors import InvalidInput
from canonym.exchange.mappings import Codes
from canonym.exchange.omop import (
    MAP_COLUMNS,
    USAGI_COLUMNS,
    SourceMapWriter,
    Target,
    UsagiWriter,
    omop_number,
)
from canonym.types import Candidate, Link, Mention
from tests.exchange.linked import BOTH, EMPTY, FOUND, NARROW, NIL, ORIGIN, SIMILAR, SURE


def read(stream: io.StringIO) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(stream.getvalue())))


def test_usagi_gets_a_row_a_target_to_review() -> None:
    stream = io.StringIO()
    writer = UsagiWriter(stream, ORIGIN)
    for link in (FOUND, BOTH, NIL, FOUND, EMPTY):
        writer.write(link)
    writer.close()
    rows = read(stream)
    assert tuple(rows[0]) == USAGI_COLUMNS
    assert rows[0] == {
        "sourceCode": "Infarction",
        "sourceName": "Infarction",
        "sourceFrequency": "2",
        "sourceAutoAssignedConceptIds": "",
        "matchScore": "1",
        "mappingStatus": "UNCHECKED",
        "equivalence": "UNREVIEWED",
        "statusSetBy": "",
        "statusSetOn": "0",
        "conceptId": "1",
        "conceptName": "Infarction",
        "domainId": "Condition",
        "mappingType": "MAPS_TO",
        "comment": "verbatim: 'infarction', score 1, confidence 0.9 (canonym 1.2.3, index f00d)",
        "createdBy": "canonym 1.2.3",
        "createdOn": "1735603200000",
        "assignedReviewer": "",
    }
    assert [(row["sourceName"], row["conceptId"]) for row in rows[1:]] == [
        ("heart and hip", "1"),
        ("heart and hip", "2"),
        ("xyz", "0"),
    ]
    assert (rows[3]["conceptName"], rows[3]["mappingType"]) == ("Unmapped", "")


def test_usagi_keeps_codes_frequencies_and_further_columns() -> None:
    stream = io.StringIO()
    writer = UsagiWriter(stream, ORIGIN, columns={"ward": 3}, codes=Codes(1, 2))
    writer.write(FOUND, ["Infarction", "C 1", "7", "A"])
    writer.write(FOUND, ["Infarction", "C 1", "3", "B"])
    writer.write(SIMILAR, ["hip broken", "", "1", "C"])
    with pytest.raises(InvalidInput, match="'many'; a whole number is expected"):
        writer.write(FOUND, ["Infarction", "C 1", "many", "A"])
    writer.close()
    found = [
        (row["sourceCode"], row["sourceFrequency"], row["ADD_INFO:ward"]) for row in read(stream)
    ]
    assert found == [("C 1", "10", "A"), ("hip broken", "1", "C")]


def test_usagi_gets_the_surest_link_of_a_text() -> None:
    stream = io.StringIO()
    writer = UsagiWriter(stream, ORIGIN)
    for link in (NIL, replace(FOUND, mention=NIL.mention), NIL):
        writer.write(link)
    writer.close()
    found = [(row["sourceName"], row["conceptId"], row["sourceFrequency"]) for row in read(stream)]
    assert found == [("xyz", "1", "3")]


def test_a_concept_that_is_none_of_omop_is_refused() -> None:
    assert (omop_number("OMOP:12"), omop_number("12")) == (12, 12)
    for id_ in ("MESH:D1", "DOID:12"):  # a number of another terminology is none either
        with pytest.raises(InvalidInput, match=f"'{id_}' is no concept of OMOP"):
            omop_number(id_)
    writer = UsagiWriter(io.StringIO(), ORIGIN)
    foreign = Link(Mention("x"), (Candidate("MESH:D1", "X", 1.0, "x"),))
    with pytest.raises(InvalidInput, match="imported from Athena"):
        writer.write(foreign)


def source_map(*links: object, domains: tuple[str, ...] = ()) -> list[dict[str, str]]:
    standard = {
        "OMOP:1": [Target("OMOP:1", "SNOMED", ("Condition",))],
        "OMOP:2": [
            Target("OMOP:20", "SNOMED", ("Condition",)),
            Target("OMOP:21", "A vocabulary with a long name", ("Procedure",)),
        ],
        "X:3": [],
    }
    stream = io.StringIO()
    writer = SourceMapWriter(
        stream, ORIGIN, vocabulary="ward", standard=standard.__getitem__, domains=domains
    )
    for link in links:
        writer.write(link)  # type: ignore[arg-type]
    writer.close()
    return read(stream)


def test_a_source_map_has_the_standard_concepts_of_each_code() -> None:
    rows = source_map(FOUND, SURE, NARROW, NIL, FOUND, EMPTY)
    assert tuple(rows[0]) == MAP_COLUMNS
    assert rows[0] == {
        "source_code": "Infarction",
        "source_concept_id": "0",
        "source_vocabulary_id": "ward",
        "source_code_description": "Infarction",
        "target_concept_id": "1",
        "target_vocabulary_id": "SNOMED",
        "valid_start_date": "2024-12-31",
        "valid_end_date": "2099-12-31",
        "invalid_reason": "",
    }
    found = [(row["target_concept_id"], row["target_vocabulary_id"]) for row in rows[1:]]
    assert found == [
        ("20", "SNOMED"),
        ("21", "A vocabulary with a "),
        ("0", "None"),
        ("0", "None"),
    ]


def test_targets_of_other_domains_are_left_out() -> None:
    found = [row["target_concept_id"] for row in source_map(FOUND, SURE, domains=("procedure",))]
    assert found == ["0", "21"]


def test_a_text_has_the_target_0_only_where_no_link_of_it_has_another() -> None:
    for links in ([SIMILAR, SURE, NIL], [SURE, SIMILAR], [NIL, SURE]):
        mention = SURE.mention
        rows = source_map(*(replace(link, mention=mention) for link in links))
        assert [row["target_concept_id"] for row in rows] == ["20", "21"]
    assert [row["target_concept_id"] for row in source_map(SIMILAR, NIL)] == ["0", "0"]


def test_long_codes_are_cut_and_stay_different() -> None:
    long = [Link(Mention("x" * 300 + end)) for end in "ab"]
    rows = source_map(*long)
    assert [len(row["source_code"]) for row in rows] == [50, 50]
    assert [len(row["source_code_description"]) for row in rows] == [255, 255]
    assert rows[0]["source_code"] != rows[1]["source_code"]
