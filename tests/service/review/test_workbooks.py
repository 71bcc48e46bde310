"""Reviews that begin from a workbook: it comes back as it was, with the decisions beside."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import python_calamine
from fastapi.testclient import TestClient
from openpyxl.styles import PatternFill

from canonym.review.export import COLUMNS, export_review
from canonym.review.store import Store
from tests.io.making import edited, make_ods, make_xlsx, ods_row
from tests.service.review.conftest import decide, items_of, linked

PROPERTIES = "docProps/custom.xml"
ADDED = [f"canonym_{name}" for name in COLUMNS]
SHEET = "xl/worksheets/sheet2.xml"


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    """A cover, then a sheet with a title, colours, widths, gaps, a formula and a note beside."""
    book = openpyxl.Workbook()
    book.active.title = "Cover"
    book.active["A1"] = "=COUNTA(Ward!B:B)"
    sheet = book.create_sheet("Ward")
    for row in (
        ["Ward 7"],
        ["no", "term", "twice"],
        [1, "heart attack", "=A3*2"],
        [],
        [2, "=cmd"],
        [3, None],
        [4, "broken hip"],
        [5, "heart attack"],
    ):
        sheet.append(row)
    sheet["B5"].data_type = "s"
    sheet["B2"].fill = sheet["C2"].fill = PatternFill("solid", fgColor="4472C4")
    sheet.column_dimensions["B"].width = 44
    sheet["R1"] = "a note"
    book.save(tmp_path / "ward.xlsx")
    return edited(tmp_path / "ward.xlsx", SHEET, ("<f>A3*2</f><v/>", "<f>A3*2</f><v>2</v>"))


def _begin(client: TestClient, path: Path, **query: Any) -> int:
    query = {"name": "a/b", "filename": path.name, "column": "term", **query}
    answer = client.post("/v1/reviews", params=query, content=path.read_bytes())
    assert answer.status_code == 201, answer.text
    return int(linked(client, answer.json()["id"])["id"])


def _export(client: TestClient, review: int, format: str, folder: Path) -> Path:
    answer = client.get(f"/v1/reviews/{review}/export", params={"format": format})
    assert answer.status_code == 200, answer.text
    path = folder / f"exported.{format}"
    path.write_bytes(answer.content)
    return path


def _cells(path: Path, sheet: str) -> list[list[Any]]:
    """Read a sheet with a second library."""
    return python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_name(sheet).to_python()


def test_a_workbook_comes_back_with_the_decisions_beside_its_rows(
    start: Callable[..., TestClient], ward: Path, tmp_path: Path
) -> None:
    client = start()
    review = _begin(client, ward, sheet="Ward", header_row=2)
    decide(
        client,
        review,
        items_of(client, review)["heart attack"],
        kind="link",
        concepts=[{"id": "X:1"}],
    )
    decide(client, review, items_of(client, review)["broken hip"], kind="nil", comment="=not here")
    path = _export(client, review, "xlsx", tmp_path)
    with zipfile.ZipFile(ward) as before, zipfile.ZipFile(path) as after:
        assert {*after.namelist()} - {*before.namelist()} == {PROPERTIES}  # which name the index
        changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
    assert changed == {SHEET, "[Content_Types].xml", "_rels/.rels"}
    cells = _cells(path, "Ward")
    assert cells[1][:3] == ["no", "term", "twice"]
    first = cells[1].index("canonym_mention")
    assert cells[1][first : first + len(ADDED)] == ADDED
    of = {name: first + at for at, name in enumerate(COLUMNS)}
    assert [[row[1], row[of["state"]], row[of["id"]]] for row in cells[2:]] == [
        ["heart attack", "linked", "X:1"],
        ["", "", ""],
        ["=cmd", "open", ""],
        ["", "", ""],
        ["broken hip", "nil", ""],
        ["heart attack", "linked", "X:1"],
    ]
    sheet = openpyxl.load_workbook(path)["Ward"]
    assert sheet["C3"].value == "=A3*2"
    assert sheet["R1"].value == "a note"
    assert sheet.column_dimensions["B"].width == 44
    assert sheet.cell(2, first + 1).fill.fgColor.rgb == "004472C4"
    comment = sheet.cell(7, of["comment"] + 1)
    assert (comment.value, comment.data_type) == ("=not here", "s")


@pytest.mark.parametrize("name", ["ward.ods", "ward.xlsm", "ward.csv"])
def test_from_a_table_of_another_kind_there_is_a_new_workbook(
    start: Callable[..., TestClient], tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    if name == "ward.csv":
        path.write_text("term\nheart attack\n")
    elif name == "ward.ods":
        make_ods(path, {"Ward": ods_row("term") + ods_row("heart attack"), "Codes": ods_row("x")})
    else:  # which a program refuses under another name
        make_xlsx(path, {"Ward": [["term"], ["heart attack"]], "Codes": [["x"]]})
        types = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
        macros = "application/vnd.ms-excel.sheet.macroEnabled.main+xml"
        edited(path, "[Content_Types].xml", (types, macros))
    client = start()
    exported = _export(client, _begin(client, path), "xlsx", tmp_path)
    assert python_calamine.CalamineWorkbook.from_path(exported).sheet_names == ["links"]
    assert [row[0] for row in _cells(exported, "links")] == ["term", "heart attack"]


def test_a_workbook_without_room_for_the_decisions_says_so(
    start: Callable[..., TestClient], tmp_path: Path
) -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["A2"], book.active["XFD1"] = "term", "cold", "the last column"
    book.save(tmp_path / "wide.xlsx")
    client = start()
    review = _begin(client, tmp_path / "wide.xlsx")
    answer = client.get(f"/v1/reviews/{review}/export", params={"format": "xlsx"})
    assert answer.status_code == 422
    assert "columns are needed on the right" in answer.json()["detail"]


def test_the_command_gives_the_workbook_back(
    start: Callable[..., TestClient], ward: Path, tmp_path: Path
) -> None:
    review = _begin(start(), ward, sheet="Ward", header_row=2)
    with Store(str(tmp_path / "reviews.db")) as store:
        content = b"".join(export_review(store, review, "xlsx"))
    sheets = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content)).sheet_names
    assert sheets == ["Cover", "Ward"]
