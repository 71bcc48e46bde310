"""Workbooks in and out of ``canonym link``, ``import`` and ``evaluate``."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import python_calamine
from openpyxl.chart import BarChart, Reference
from openpyxl.packaging.custom import StringProperty
from openpyxl.styles import Font, PatternFill

from canonym import __version__
from canonym.export.rows import RESULT_COLUMNS
from canonym.terminology import Terminology
from tests.cli.running import link, rows, run
from tests.cli.test_cli_link import Linker, linker  # noqa: F401 - a fixture
from tests.files import written
from tests.io.making import edited, make_ods, make_xlsx, ods_row, part_of

PROPERTIES = "docProps/custom.xml"
SHEET = "xl/worksheets/sheet1.xml"
ADDED = [f"canonym_{name}" for name in ("row", *RESULT_COLUMNS)]
VISITS = [
    ["visit", "dx", "note"],
    [1, "heart attack", "=1+1"],
    [2, "broken hip and heart attack", None],
    [3, None, None],
    [],
    [4, "=cmd", None],
]

pytestmark = pytest.mark.usefixtures("linker")


ALL = ("--columns", "all")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Two sheets, a coloured header, a chart, a formula with its value, a text with =."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Visits"
    for row in VISITS:
        sheet.append(row)
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="4472C4")
    sheet["B6"].data_type = "s"
    sheet["G3"].fill = PatternFill("solid", fgColor="FF0000")  # of a column that is free
    sheet.add_chart(_chart(sheet), "Z1")
    book.create_sheet("Codes").append(["code"])
    book.save(tmp_path / "visits.xlsx")
    return edited(tmp_path / "visits.xlsx", SHEET, ("<f>1+1</f><v/>", "<f>1+1</f><v>2</v>"))


def _chart(sheet: Any) -> BarChart:
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=4))
    return chart


@pytest.fixture
def spreadsheet(tmp_path: Path) -> Path:
    """As `visits`, with rows and cells that stand for many."""
    header = (
        '<table:table-cell table:style-name="bold" office:value-type="string"><text:p>dx</text:p>'
        '</table:table-cell><table:table-cell table:number-columns-repeated="16383"/>'
    )
    content = (
        f"<table:table-row>{header}</table:table-row>"
        + ods_row("heart attack", repeated=2)
        + ods_row("", repeated=3)
        + ods_row("=1+1", more='<table:table-cell table:number-columns-repeated="20"/>')
        + ods_row("", repeated=1048569)
    )
    return make_ods(tmp_path / "visits.ods", {"Visits": content, "Codes": ods_row("x")})


def cells(path: Path, sheet: str = "Visits") -> list[list[Any]]:
    """Read a sheet with a second library."""
    return python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_name(sheet).to_python()


# --- a copy of a workbook -------------------------------------------------------------------------


def test_a_workbook_gets_the_links_beside_its_table(visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "linked.xlsx"
    result = link("--file", visits, "--column", "dx", "-o", out, *ALL)
    assert "sheet 'Visits' is read, the first of 'Visits', 'Codes'" in result.stderr
    assert "4 mentions are in" in result.stderr
    found = cells(out)
    assert found[0] == ["visit", "dx", "note", *ADDED]
    assert [row[:3] for row in found[1:]] == [
        [1, "heart attack", 2],
        [2, "broken hip and heart attack", ""],
        [3, "", ""],
        ["", "", ""],
        [4, "=cmd", ""],
    ]
    picked = [found[0].index(f"canonym_{name}") for name in ("row", "part", "id", "score", "nil")]
    assert [[row[at] for at in picked] for row in found[1:]] == [
        [1, "", "I21", 1, False],
        [2, "broken hip|heart attack", "S72|I21", 0.9, False],
        [3, "", "", "", True],
        ["", "", "", "", ""],
        [4, "", "", "", True],
    ]


def test_all_else_in_a_workbook_stays(visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "linked.xlsx"
    link("--file", visits, "--column", "dx", "-o", out)
    with zipfile.ZipFile(visits) as before, zipfile.ZipFile(out) as after:
        assert after.namelist() == [*before.namelist(), PROPERTIES]
        changed = [name for name in before.namelist() if before.read(name) != after.read(name)]
        types = after.read("[Content_Types].xml").replace(b"</Types>", b"")
        assert types.startswith(before.read("[Content_Types].xml").replace(b"</Types>", b""))
    assert sorted(changed) == ["[Content_Types].xml", "_rels/.rels", SHEET]
    book = openpyxl.load_workbook(out)
    assert len(book["Visits"]._charts) == 1
    assert book["Visits"]["C2"].value == "=1+1"
    header = book["Visits"]["D1"]
    assert (header.font.b, header.fill.fgColor.rgb) == (True, "004472C4")
    assert not book["Visits"]["D2"].font.b
    assert book["Visits"].dimensions == "A1:J6"


def test_a_sheet_of_libreoffice_becomes_a_new_workbook(spreadsheet: Path, tmp_path: Path) -> None:
    out = tmp_path / "linked.xlsx"
    link("--file", spreadsheet, "--column", "dx", "-o", out, *ALL)
    found = cells(out, "links")
    at = found[0].index("canonym_id")
    assert found[0] == ["dx", *ADDED]
    assert [(row[0], row[1], row[at]) for row in found[1:]] == [
        ("heart attack", 1, "I21"),
        ("heart attack", 2, "I21"),
        ("=1+1", 3, ""),
    ]


def test_ods_is_not_written(spreadsheet: Path, tmp_path: Path) -> None:
    out = tmp_path / "linked.ods"
    for given in (["hip"], ["--file", str(spreadsheet), "--column", "dx"]):
        refused = link(*given, "-o", out, code=2).stderr.replace("\n", " ")
        assert ".ods is read and not written; name a file *.xlsx" in refused
    assert "'ods' is not one of" in link("hip", "--format", "ods", code=2).stderr
    assert not out.exists()


def test_nothing_that_stands_beside_a_table_is_replaced(tmp_path: Path) -> None:
    rows_ = [["Title", None, None, None, None, "x"], ["dx"], ["heart attack"], [None, None, "sum"]]
    book = make_xlsx(tmp_path / "a.xlsx", {"S": rows_})
    loaded = openpyxl.load_workbook(book)
    loaded["S"].merge_cells("C4:D4")
    loaded.save(book)
    link("--file", book, "--header-row", "2", "--column", "dx", "-o", tmp_path / "b.xlsx")
    found = cells(tmp_path / "b.xlsx", "S")
    assert found[0][:6] == ["Title", "", "", "", "", "x"]
    assert found[1][:6] == ["dx", "", "", "", "canonym_id", "canonym_code"]
    assert found[2][:5] == ["heart attack", "", "", "", "I21"]
    assert found[3][:5] == ["", "", "sum", "", ""]


def test_prefixes_and_spans_of_other_programs_are_kept_in_order(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx"], ["heart attack"]]})
    text = part_of(book, SHEET)
    tags = ("worksheet", "dimension", "sheetData", "row", "c", "v", "is", "t")
    edits = [(f"{mark}{tag}{end}", f"{mark}x:{tag}{end}") for tag in tags for mark in ("<", "</")
             for end in (" ", ">", "/>") if f"{mark}{tag}{end}" in text]  # fmt: skip
    edited(
        book, SHEET, *edits, ("xmlns=", "xmlns:x="), ('<x:row r="1"', '<x:row spans="1:1" r="1"')
    )
    link("--file", book, "--column", "dx", "-o", tmp_path / "b.xlsx")
    assert openpyxl.load_workbook(tmp_path / "b.xlsx")["S"]["B2"].value == "I21"
    assert "spans" not in part_of(tmp_path / "b.xlsx", SHEET)


def test_a_workbook_with_macros_keeps_them(visits: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(visits, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"macros")
    edit = (
        "vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
        "vnd.ms-excel.sheet.macroEnabled.main+xml",
    )
    given = edited(visits, "[Content_Types].xml", edit).rename(tmp_path / "visits.xlsm")
    refused = link("--file", given, "--column", "dx", "-o", f"{tmp_path}/a.xlsx", code=2)
    assert "a copy of the workbook, which is .xlsm: name a file *.xlsm" in refused.stderr
    link("--file", given, "--column", "dx", "-o", f"{tmp_path}/a.xlsm")
    assert part_of(tmp_path / "a.xlsm", "xl/vbaProject.bin") == "macros"


def test_a_signature_is_said_not_to_hold(visits: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(visits, "a") as archive:
        archive.writestr("_xmlsignatures/sig1.xml", "<x/>")
    result = link("--file", visits, "--column", "dx", "-o", f"{tmp_path}/a.xlsx")
    assert "is signed; the signature does not hold for the copy" in result.stderr


def test_skipped_rows_have_no_links(visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.xlsx"
    link("--file", visits, "--column", "dx", "--skip-empty", "-o", out, *ALL)
    assert [row[3] for row in cells(out)] == ["canonym_row", 1, 2, "", "", 3]


def test_a_sheet_without_room_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["dx"])
    book.active.cell(2, 1, "heart attack")
    book.active.cell(2, 16380, "far")
    book.save(tmp_path / "a.xlsx")
    out = tmp_path / "b.xlsx"
    result = link("--file", f"{tmp_path}/a.xlsx", "--column", "dx", "-o", out, code=2)
    assert "7 columns are needed on the right, and 4 are free" in result.stderr
    assert not out.exists()


def test_the_header_is_found_below_titles(tmp_path: Path) -> None:
    titles: list[list[Any]] = [["Visits of ward 7"], [], ["Printed", "2024-03-01"], ["visit", "dx"]]
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [*titles, ["1", "heart attack"]]})
    out = tmp_path / "b.xlsx"
    link("--file", book, "--column", "dx", "-o", out)
    found = cells(out, "S")
    assert [row[:3] for row in found[2:]] == [
        ["Printed", "2024-03-01", ""],
        ["visit", "dx", "canonym_id"],
        ["1", "heart attack", "I21"],
    ]
    assert "no column 'dz'" in link("-f", book, "--column", "dz", code=2).stderr


def test_only_the_column_that_is_read_needs_values_of_formulas(
    visits: Path, tmp_path: Path
) -> None:
    loaded = openpyxl.load_workbook(visits)  # which leaves no values behind
    loaded.save(visits)
    out = tmp_path / "a.xlsx"
    said = link("--file", visits, "--column", "dx", "-o", out).stderr
    assert "hold a formula without a stored value and are read as empty; the first is C2" in said
    assert cells(out)[1][3] == "I21"
    assert openpyxl.load_workbook(out)["Visits"]["C2"].value == "=1+1"
    for option in (("--column", "note"), ("--column", "dx", "--context-column", "note")):
        refused = link("--file", visits, *option, code=2).stderr
        assert "the formula in C2 has no stored value" in refused


def test_the_index_is_told_once_in_the_properties(visits: Path, tmp_path: Path) -> None:
    place = ["--column", "dx", "-o"]
    link("--file", visits, *place, f"{tmp_path}/a.xlsx")
    link("heart attack", "-o", f"{tmp_path}/new.xlsx")
    for name in ("a", "new"):
        book = openpyxl.load_workbook(tmp_path / f"{name}.xlsx")
        (made_by,) = book.custom_doc_props.props
        assert (made_by.name, made_by.value) == ("canonym", f"canonym {__version__}, index f1")
    book = openpyxl.load_workbook(make_xlsx(visits, {"Visits": [["dx"], ["heart attack"]]}))
    book.custom_doc_props.append(StringProperty(name="canonym", value="older"))
    book.custom_doc_props.append(StringProperty(name="ward", value="7 & 8"))
    book.save(visits)
    link("--file", visits, *place, f"{tmp_path}/b.xlsx")
    told = openpyxl.load_workbook(tmp_path / "b.xlsx").custom_doc_props.props
    assert {prop.name: prop.value for prop in told} == {"ward": "7 & 8", "canonym": made_by.value}


# --- text stays text ------------------------------------------------------------------------------


def test_nothing_that_is_written_is_a_formula(tmp_path: Path) -> None:
    names = ["=1+1", "+1", "-1", "@SUM(A1)", "_x0041_", "a  b", "nul\x01"]
    lines = written(tmp_path / "names.txt", "\n".join(names))
    out = tmp_path / "a.xlsx"
    link("--file", lines, "-o", out)
    found = cells(out, "links")
    assert [row[0] for row in found[1:]] == [*names[:-1], "nul\ufffd"]
    xml = part_of(out, "xl/sheet1.xml")
    assert "<f" not in xml
    cell = openpyxl.load_workbook(out).active["A2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")
    assert 't="inlineStr"><is><t xml:space="preserve">=1+1</t>' in xml


def test_a_text_that_is_too_long_for_a_cell_is_cut(tmp_path: Path) -> None:
    lines = written(tmp_path / "names.txt", "x" * 40_000)
    link("--file", lines, "-o", f"{tmp_path}/a.xlsx")
    assert cells(tmp_path / "a.xlsx", "links")[1][0] == "x" * 32_766 + "…"


# --- from and to other formats --------------------------------------------------------------------


def test_a_table_becomes_a_workbook(tmp_path: Path) -> None:
    table = written(tmp_path / "a.csv", "visit,dx\n007,heart attack\n8,\n")
    for name in ("one", "two"):
        link("--file", table, "--column", "dx", "-o", f"{tmp_path}/{name}.xlsx", *ALL)
    found = cells(tmp_path / "one.xlsx", "links")
    assert found[0] == ["visit", "dx", *ADDED]
    assert [row[:3] for row in found[1:]] == [["007", "heart attack", 1], ["8", "", 2]]
    digests = {
        hashlib.sha256((tmp_path / f"{name}.xlsx").read_bytes()).hexdigest()
        for name in ("one", "two")
    }
    assert len(digests) == 1


def test_a_sheet_becomes_any_other_format(visits: Path, tmp_path: Path) -> None:
    where = ["--file", str(visits), "--column", "dx", "-o"]
    link(*where, f"{tmp_path}/a.tsv")
    found = rows((tmp_path / "a.tsv").read_text())
    assert [(row["visit"], row["dx"], row["canonym_id"]) for row in found] == [
        ("1", "heart attack", "I21"),
        ("2", "broken hip and heart attack", "S72"),
        ("2", "broken hip and heart attack", "I21"),
        ("3", "", ""),
        ("4", "=cmd", ""),
    ]
    link(*where, f"{tmp_path}/a.csv", "--one-row")
    assert len(rows((tmp_path / "a.csv").read_text(), ",")) == 4
    link(*where, f"{tmp_path}/a.jsonl")
    first = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    assert first["input"] == {"visit": "1", "dx": "heart attack", "note": "2"}
    link(*where, f"{tmp_path}/a.parquet")
    assert (tmp_path / "a.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_workbooks_go_through_pipes(visits: Path, spreadsheet: Path, suffix: str) -> None:
    given = visits if suffix == "xlsx" else spreadsheet
    content = given.read_bytes()
    result = link("-f", "-", "--column", "dx", "--format", "xlsx", input=content)
    assert "standard input: sheet 'Visits' is read" in result.stderr
    out = given.with_name("out.xlsx")
    out.write_bytes(result.stdout_bytes)
    assert cells(out, "Visits" if suffix == "xlsx" else "links")[1][-7] == "I21"
    wrong = link("-f", "-", "--column", "nope", input=content, code=2)
    assert "standard input: sheet 'Visits', row 1: no column 'nope'" in wrong.stderr


def test_a_zip_that_is_no_workbook_is_still_refused_in_a_pipe(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("names.txt", "hip")
    result = link("-f", "-", input=(tmp_path / "a.zip").read_bytes(), code=2)
    assert "standard input: is compressed: decompress it before the pipe" in result.stderr


# --- what is refused ------------------------------------------------------------------------------


def test_options_that_a_workbook_does_not_take_are_refused(visits: Path, tmp_path: Path) -> None:
    out = f"{tmp_path}/a.xlsx"
    given = ["--file", str(visits), "--column", "dx"]
    text = written(tmp_path / "a.csv", "dx\nhip\n")
    for arguments, message in (
        ([*given, "-o", out, "-k", "3"], "a workbook has one row for each mention, and -k 3"),
        ([*given, "-o", out, "--resume"], "--resume needs a file (-o) in one of the formats tsv"),
        ([*given, "-o", f"{tmp_path}/a.xlsm"], "which is .xlsx: name a file *.xlsx"),
        ([*given, "-o", str(visits), "--overwrite"], "is an input as well"),
        ([*given, "--delimiter", ";"], "--input-option delimiter goes with delimited text"),
        ([*given, "--sheet", "No"], "has no sheet 'No'; it has 'Visits', 'Codes'"),
        ([*given[:2]], "name the column to link with --column; the sheet 'Visits' has 'visit', "),
        ([*given[:2], "--column", "x"], "row 1: no column 'x'; the columns are 'visit', 'dx'"),
        ([*given[:2], "--column", "x"], "(another row may name them: --input-option header-row)"),
        ([*given[:2], "--input-format", "bioc"], "--input-format bioc does not go with it"),
        (
            ["--file", str(text), "--column", "dx", "--sheet", "S"],
            "--input-option header-row go with workb",
        ),
        (["hip", "--sheet", "S"], "describe a file: give it with --file"),
        (
            ["hip", "-o", f"{tmp_path}/a.xlsm"],
            "a new workbook of --format xlsx is called NAME.xlsx",
        ),
    ):
        assert message in link(*arguments, code=2).stderr.replace("\n", " "), arguments
    assert not Path(out).exists()


def test_a_workbook_is_whole_or_absent(visits: Path, tmp_path: Path) -> None:
    out = written(tmp_path / "a.xlsx", "mine")
    given = ["--file", str(visits), "--column", "dx", "-o", str(out)]
    assert "replace it with --overwrite" in link(*given, code=2).stderr
    link(*given, "--type", "Nonsense", "--overwrite", code=2)
    assert out.read_text() == "mine"
    link(*given, "--overwrite")
    assert cells(out)[1][0] == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.xlsx", "visits.xlsx"]


# --- import and evaluate --------------------------------------------------------------------------


def test_a_sheet_of_codes_is_imported(tmp_path: Path) -> None:
    book = make_xlsx(
        tmp_path / "a.xlsx",
        {"Read me": [["hello"]], "Codes": [["Title"], ["code", "name"], [250.0, "diabetes"]]},
    )
    db = str(tmp_path / "a.db")
    run("import", book, "-o", db, "--sheet", "Codes", "--header-row", "2")
    with Terminology(db) as terminology:
        assert [concept.id for concept in terminology.iter_concepts()] == ["250"]
    wrong = run("import", book, "-o", f"{db}2", code=2)
    assert "sheet 'Read me', row 1: no column of ids or names is recognised" in wrong.stderr
    wrong = run("import", book, "-o", f"{db}2", "--header-row", "x", code=2)
    assert "header-row is 'x'; a whole number is expected" in wrong.stderr


def test_a_row_that_cannot_be_imported_is_named_with_its_sheet(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"Codes": [["code", "name"], [], ["A1", None]]})
    wrong = run("import", book, "-o", f"{tmp_path}/a.db", code=2)
    assert "sheet 'Codes', row 3: the row lacks its id or its name" in wrong.stderr


def test_a_sheet_of_annotated_mentions_is_read(tmp_path: Path) -> None:
    from canonym.cli.annotated import open_corpus

    rows_ = [["doc", "mention", "ids"], [1, "heart attack", "D1|D2"], [2, "hip", 7.0]]
    book = make_xlsx(tmp_path / "a.xlsx", {"Notes": [["x"]], "Gold": rows_})
    found = open_corpus(str(book), sheet="Gold")
    assert found.format == "columns"
    assert [
        (one.id, [(m.text, m.ids, m.rule) for m in one.mentions]) for one in found.documents
    ] == [
        ("1", [("heart attack", ("D1", "D2"), "all")]),
        ("2", [("hip", ("7",), "any")]),
    ]
    given = ["evaluate", str(book), "--terminology", "icd10cm"]
    wrong = run(*given, "--sheet", "Gone", code=2)
    assert "has no sheet 'Gone'; it has 'Notes', 'Gold'" in wrong.stderr
    wrong = run(*given, code=2)
    assert "sheet 'Notes', row 1: no column for mention" in wrong.stderr
    bad = make_xlsx(tmp_path / "b.xlsx", {"Gold": [["mention", "ids"], [None, "D1"]]})
    wrong = run("evaluate", bad, "--terminology", "icd10cm", code=2)
    assert "sheet 'Gold', row 2: the mention is empty" in wrong.stderr
    linked = link("--file", book, "--sheet", "Gold", "--input-format", "columns")
    assert [row["mention"] for row in rows(linked.stdout)] == ["heart attack", "hip"]
