"""Links written as rows, objects and files."""

from __future__ import annotations

import csv
import dataclasses
import importlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from canonym import export
from canonym.errors import InvalidInput, MissingExtra
from canonym.export import (
    COLUMNS,
    DelimitedWriter,
    JsonLinesWriter,
    ParquetWriter,
    format_of,
    guarded,
    link_to_json,
    links_to_arrow,
    links_to_rows,
    write_links,
)
from canonym.io.tables import Row, TableStyle
from canonym.types import Against, Candidate, Link, Mention, Step

HIP = Candidate(
    "X:1", "Hip fracture", 0.123456789, "broken hip", "exact", ("T1", "T2"), "search", {"a": 1 / 3}
)
KNEE = Candidate("X:2", "Knee fracture", 0.1, "broken knee")
FOUND = Link(
    Mention("broken hip", 2, 12, "Disease", document_id="d"),
    (HIP, KNEE),
    searched="broken hip",
    steps=(Step("case", "Broken", "broken"),),
    confidence=0.9,
)
NIL = Link(Mention("xyz"), (KNEE,), nil=True, reason="too far", searched="xyz")
BOTH = Link(
    Mention("hip and knee fracture"),
    parts=(
        Link(Mention("hip fracture"), (HIP,), searched="hip fracture"),
        Link(Mention("knee fracture"), (KNEE, HIP), searched="knee fracture"),
    ),
)
LINKS = [FOUND, NIL, BOTH]


def test_a_row_is_a_candidate() -> None:
    rows = links_to_rows([FOUND])
    assert rows == [
        {
            "row": 1,
            "document": "d",
            "start": 2,
            "end": 12,
            "type": "Disease",
            "mention": "broken hip",
            "part": "",
            "rank": 1,
            "id": "X:1",
            "label": "Hip fracture",
            "score": 0.123457,
            "name": "broken hip",
            "scope": "exact",
            "sieve": "search",
            "types": ["T1", "T2"],
            "margin": 0.023457,
            "confidence": 0.9,
            "nil": False,
            "reason": "",
            "searched": "broken hip",
            "status": "",
            "code": "1",
            "left_over": "",
        },
        {**rows[1]},
    ]
    assert tuple(rows[0]) == COLUMNS
    assert (rows[1]["rank"], rows[1]["id"], rows[1]["margin"]) == (2, "X:2", None)
    assert rows[1]["confidence"] is None


def test_candidates_that_were_turned_down_are_no_rows() -> None:
    (row,) = links_to_rows([NIL])
    assert (row["rank"], row["id"], row["label"], row["score"]) == (None, None, None, None)
    assert (row["nil"], row["reason"], row["types"]) == (True, "too far", [])


def test_a_composite_mention_has_rows_for_each_part() -> None:
    rows = links_to_rows([FOUND, BOTH], k=1)
    assert [(row["row"], row["part"], row["id"]) for row in rows] == [
        (1, "", "X:1"),
        (2, "hip fracture", "X:1"),
        (2, "knee fracture", "X:2"),
    ]
    assert rows[2]["mention"] == "hip and knee fracture"


def test_what_a_concept_does_not_account_for_is_left_over() -> None:
    knee = dataclasses.replace(KNEE, against=Against(left_over=("left",)))
    cut = Step("broader", "severe knee fracture left", "knee fracture left")
    one = Link(Mention("severe knee fracture left"), (knee, HIP), steps=(cut,))
    assert one.left_over == ("severe", "left")
    assert [row["left_over"] for row in links_to_rows([one])] == ["severe left", ""]
    nil = Link(Mention("bad"), nil=True)
    parts = Link(Mention("a, bad"), parts=(one, nil))
    assert parts.left_over == ("severe", "left", "bad")
    assert Link(Mention("bad, bad"), nil=True, parts=(nil, nil)).left_over == nil.left_over == ()


def test_an_object_is_a_mention() -> None:
    content = link_to_json(FOUND)
    assert content["margin"] == 0.023457
    assert [c["score"] for c in content["candidates"]] == [0.123457, 0.1]
    assert content["candidates"][0]["parts"] == {"a": 0.333333}
    assert content["ids"] == ["X:1"]
    assert set(content) == {*FOUND.to_dict(), "margin"}
    assert len(link_to_json(FOUND, k=1)["candidates"]) == 1
    parts = link_to_json(BOTH, k=1)["parts"]
    assert [part["candidates"][0]["id"] for part in parts] == ["X:1", "X:2"]
    assert [len(part["candidates"]) for part in parts] == [1, 1]


def test_tsv_escapes_what_would_break_a_row() -> None:
    stream = io.StringIO()
    writer = DelimitedWriter(stream)
    writer.write(Link(Mention('a\tb\nc\rd "e" \\ \ud800')))
    writer.close()
    lines = stream.getvalue().split("\n")
    assert lines[0].split("\t") == list(COLUMNS)
    cells = dict(zip(COLUMNS, lines[1].split("\t"), strict=True))
    assert cells["mention"] == 'a\\tb\\nc\\rd "e" \\ \ufffd'
    assert (cells["row"], cells["nil"], cells["start"], cells["types"]) == ("1", "false", "", "")
    assert lines[2:] == [""]


def test_csv_is_quoted_and_read_back() -> None:
    stream = io.StringIO()
    writer = DelimitedWriter(stream, style=TableStyle(","), k=1, explain=True)
    for link in (FOUND, Link(Mention('a,"b"\nc\ud800'))):
        writer.write(link, explanation="why, oh why")
    first, second = csv.DictReader(io.StringIO(stream.getvalue()))
    assert (first["score"], first["types"], first["nil"]) == ("0.123457", "T1|T2", "false")
    assert first["explanation"] == "why, oh why"
    assert second["mention"] == 'a,"b"\nc\ufffd'


def test_columns_of_the_input_come_first() -> None:
    stream = io.StringIO()
    writer = DelimitedWriter(stream, columns=["n", "id"], k=1)
    writer.write(FOUND, ["1", "p7"])
    (row,) = csv.DictReader(io.StringIO(stream.getvalue()), delimiter="\t")
    assert list(row)[:4] == ["n", "id", "canonym_row", "canonym_part"]
    assert (row["id"], row["canonym_id"], row["canonym_label"]) == ("p7", "X:1", "Hip fracture")
    assert "canonym_mention" not in row


def test_a_later_part_of_the_output_goes_on_counting() -> None:
    stream = io.StringIO()
    writer = DelimitedWriter(stream, number=8, header=False, k=1)
    writer.write(FOUND)
    assert stream.getvalue().startswith("8\td\t2\t12\t")


def test_a_column_of_the_result_must_be_free() -> None:
    with pytest.raises(InvalidInput, match="'canonym_id' already"):
        DelimitedWriter(io.StringIO(), columns=["canonym_id"])


def test_names_that_are_keys_must_be_different() -> None:
    with pytest.raises(InvalidInput, match="several columns named 'n'"):
        JsonLinesWriter(io.StringIO(), columns=["n", "n"])
    with pytest.raises(InvalidInput, match="several columns named 'n'"):
        ParquetWriter(io.BytesIO(), columns=["n", "n"])


def test_json_lines_hold_everything() -> None:
    stream = io.StringIO()
    writer = JsonLinesWriter(stream, columns=["n"], explain=True)
    writer.write(FOUND, ["é"], explanation="why")
    writer.close()
    content = json.loads(stream.getvalue())
    assert content == {**link_to_json(FOUND), "input": {"n": "é"}, "explanation": "why"}
    assert "é" in stream.getvalue()


def test_lone_surrogates_become_u_fffd_in_json_too() -> None:
    stream = io.StringIO()
    JsonLinesWriter(stream).write(Link(Mention("é\ud800")))
    assert json.loads(stream.getvalue().encode())["mention"] == "é\ufffd"


def test_arrow_has_the_rows_and_their_types() -> None:
    table = links_to_arrow(LINKS)
    assert table.column_names == list(COLUMNS)
    assert table.to_pylist() == links_to_rows(LINKS)
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["row"], types["rank"], types["score"]) == ("int64", "int32", "double")
    assert (types["nil"], types["id"]) == ("bool", "string")
    assert types["types"].startswith("list<")
    assert links_to_arrow(LINKS, k=1).num_rows == 4
    assert links_to_arrow([]).num_rows == 0
    assert links_to_arrow([Link(Mention("\ud800"))])["mention"].to_pylist() == ["\ufffd"]


def test_parquet_is_written_in_groups_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyarrow import parquet

    arrow = importlib.import_module("canonym.export.arrow")
    monkeypatch.setattr(arrow, "_ROW_GROUP", 2)
    file = tmp_path / "x.parquet"
    with file.open("wb") as stream:
        writer = ParquetWriter(stream, columns=["id"], explain=True, k=1)
        for link in LINKS:
            writer.write(link, ["p"], explanation="why")
        writer.close()
    rows = parquet.read_table(file).to_pylist()
    assert parquet.ParquetFile(file).num_row_groups == 2
    assert [row["canonym_id"] for row in rows] == ["X:1", None, "X:1", "X:2"]
    assert {row["id"] for row in rows} == {"p"}
    assert rows[0]["canonym_explanation"] == "why"
    assert rows[0]["canonym_types"] == ["T1", "T2"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x.tsv", "tsv"),
        ("x.TAB", "tsv"),
        ("x.csv", "csv"),
        ("x.jsonl", "jsonl"),
        ("x.ndjson", "jsonl"),
        ("x.parquet", "parquet"),
    ],
)
def test_the_suffix_names_the_format(name: str, expected: str) -> None:
    assert format_of(name) == expected


def test_other_suffixes_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"x.txt: the suffix names no format; use one of .tsv"):
        format_of("x.txt")


@pytest.mark.parametrize("name", ["x.tsv", "x.csv", "x.jsonl", "x.parquet"])
def test_every_format_is_written_to_a_file(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    assert write_links(iter(LINKS), file, k=1) == 3
    if name == "x.parquet":
        from pyarrow import parquet

        ids = parquet.read_table(file)["id"].to_pylist()
    elif name == "x.jsonl":
        found = [json.loads(line) for line in file.read_text().splitlines()]
        ids = [id_ for one in found for id_ in one["ids"] or [None]]
    else:
        delimiter = "," if name == "x.csv" else "\t"
        with file.open(newline="") as stream:
            ids = [row["id"] or None for row in csv.DictReader(stream, delimiter=delimiter)]
    assert ids == ["X:1", None, "X:1", "X:2"]


def test_a_failure_leaves_no_file(tmp_path: Path) -> None:
    def failing() -> Any:
        yield FOUND
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_links(failing(), tmp_path / "x.tsv")
    assert not list(tmp_path.iterdir())


def test_a_stream_needs_a_format() -> None:
    stream = io.StringIO()
    write_links([FOUND], stream, format="jsonl")
    assert json.loads(stream.getvalue())["mention"] == "broken hip"
    with pytest.raises(InvalidInput, match="name the format"):
        write_links([FOUND], stream)
    with pytest.raises(InvalidInput, match="format='xml' is unknown"):
        write_links([FOUND], stream, format="xml")


def test_parquet_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"canonym\[tables\]"):
        links_to_arrow([FOUND])


def test_every_column_and_key_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats" / "links.md").read_text()
    rows, objects = page.split("## JSON lines")
    for name in (*COLUMNS, "explanation"):
        assert f"`{name}`" in rows
    for name in (*link_to_json(FOUND), *link_to_json(FOUND)["candidates"][0], "input"):
        assert f"`{name}`" in objects


def test_the_public_names_are_there() -> None:
    assert all(hasattr(export, name) for name in export.__all__)


# --- for spreadsheets -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["=1+1", "+hip", "-itis", "@x", "\tx", "\rx", "\nx"])
def test_what_may_be_a_formula_is_guarded(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "hip", "1-2", "'-itis", " =1"])
def test_other_texts_are_not_guarded(text: str) -> None:
    assert guarded(text) == text


def test_numbers_below_zero_are_no_formulas() -> None:
    worse = Candidate("X:3", "-osis", 0.9, "x")  # another order may put a lower score first
    link = Link(Mention("x"), (HIP, worse))
    stream = io.StringIO()
    write_links([link], stream, format="csv", k=1)
    (row,) = csv.DictReader(io.StringIO(stream.getvalue()))
    assert row["margin"] == "-0.776543"
    plain = io.StringIO()
    write_links([Link(Mention("-x"), (worse,))], plain, format="tsv", formula_guard=False)
    assert "\t-osis\t" in plain.getvalue()


def test_parts_share_a_row_where_that_is_asked_for() -> None:
    stream = io.StringIO()
    write_links([BOTH], stream, format="csv", one_row=True)
    (row,) = csv.DictReader(io.StringIO(stream.getvalue()))
    assert (row["part"], row["id"]) == ("hip fracture|knee fracture", "X:1|X:2")
    assert (row["score"], row["types"]) == ("0.1", "T1|T2")


def test_a_row_is_written_as_it_was_where_the_delimiter_is_the_same() -> None:
    row = Row(["1", "hip; x"], '"1";"hip; x"\r\n', ";")
    for delimiter, expected in ((";", '"1";"hip; x";1;'), (",", "1,hip; x,1,")):
        stream = io.StringIO(newline="")
        style = TableStyle(delimiter, "\r\n")
        writer = DelimitedWriter(stream, style=style, columns=["n", "dx"], header=False, k=1)
        writer.write(FOUND, row)
        assert stream.getvalue().startswith(expected)
        assert stream.getvalue().endswith("\r\n")
