"""Sheets of workbooks as text."""

from __future__ import annotations

import datetime
import itertools
import logging
import re
import zipfile
from collections import deque
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from canonym.errors import InvalidInput, MissingExtra, ReadError
from canonym.io.tables import open_table
from canonym.io.workbooks import SheetChoice, check_ids, open_sheet, workbook_suffix
from tests.files import written
from tests.io.making import edited, make_ods, make_xlsx, ods_row, part_of, with_shared_texts
from tests.logs import Log
from tests.memory import at_most

SHEET = "xl/worksheets/sheet1.xml"


def read(path: Path, sheet: str | None = None, header_row: int | None = None) -> list[list[str]]:
    """Return the header and the rows."""
    with open_sheet(path, SheetChoice(sheet, header_row)) as found:
        return [list(found.header), *map(list, found.rows)]


def problem_of(path: Path, sheet: str | None = None, header_row: int | None = None) -> str:
    with pytest.raises(ReadError) as caught:
        read(path, sheet, header_row)
    return str(caught.value)


# --- cells ----------------------------------------------------------------------------------------


def test_cells_of_excel_are_text_as_people_see_them(tmp_path: Path) -> None:
    values = [
        250.0, 250.1, 0.1 + 0.2, "007", True, datetime.date(2024, 3, 1),
        datetime.datetime(2024, 3, 1, 8, 30), datetime.time(8, 30), None, 1e20, "x",
    ]  # fmt: skip
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [[f"c{n}" for n in range(11)], values]})
    assert read(book)[1] == [
        "250", "250.1", "0.3", "007", "TRUE", "2024-03-01", "2024-03-01T08:30:00", "08:30:00", "",
        "1e+20", "x",
    ]  # fmt: skip


def test_a_format_of_zeros_fills_a_number_up(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id"])
    book.active.append([42])
    book.active["A2"].number_format = "00000"
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx") == [["id"], ["00042"]]


def test_rich_text_is_plain(tmp_path: Path) -> None:
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    rich = CellRichText("broken ", TextBlock(InlineFont(b=True), "hip"))
    assert read(make_xlsx(tmp_path / "a.xlsx", {"S": [["dx"], [rich]]})) == [["dx"], ["broken hip"]]


@pytest.mark.parametrize(
    ("cell", "value"),
    [('<c r="B2"><f>1+1</f><v>2</v>', "2"), ('<c r="B2" t="str"><f>1+1</f><v></v>', "")],
)
def test_a_formula_gives_the_value_that_was_stored(tmp_path: Path, cell: str, value: str) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx", "n"], ["hip", "=1+1"]]})
    edited(book, SHEET, ('<c r="B2"><f>1+1</f><v/>', cell))
    assert read(book) == [["dx", "n"], ["hip", value]]


def test_a_formula_without_a_stored_value_is_refused(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx", "n"], ["hip", "=1+1"]]})
    assert "sheet 'S', row 2: the formula in B2 has no stored value" in problem_of(book)


def test_titles_above_a_table_of_several_columns_are_no_header(tmp_path: Path) -> None:
    table: list[list[Any]] = [["dx", "n"], ["hip", 1], ["knee"]]
    for titles in ([["Ward 7"]], [["Ward 7"], [], ["2024"], [None, "printed"]]):
        book = make_xlsx(tmp_path / "a.xlsx", {"S": [*titles, *table]})
        assert read(book) == [["dx", "n"], ["hip", "1"], ["knee", ""]]
    one = [["dx"], ["hip"], ["knee", None, "see below"], ["hip"]]
    assert read(make_xlsx(tmp_path / "b.xlsx", {"S": one})) == [["dx"], ["hip"], ["knee"], ["hip"]]


def test_a_formula_beside_the_table_does_not_matter(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx"], ["hip", None, "=1+1"]]})
    assert read(book) == [["dx"], ["hip"]]


def test_errors_are_empty_and_counted(tmp_path: Path, caplog: Log) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx", "n"], ["#N/A", 1], ["hip", "#REF!"]]})
    with caplog.at_level(logging.WARNING):
        assert read(book) == [["dx", "n"], ["", "1"], ["hip", ""]]
    assert "2 cells hold an error and are read as empty; the first is #N/A in A2" in caplog.text


def test_cells_of_ods_are_text_as_people_see_them(tmp_path: Path) -> None:
    more = (
        cell_of("float", "250.00", 'office:value="250"')
        + cell_of("float", "00042", 'office:value="42"')
        + cell_of("date", "1 March", 'office:date-value="2024-03-01T00:00:00"')
        + cell_of("boolean", "WAHR", 'office:boolean-value="true"')
        + cell_of("string", 'two<text:s text:c="2"/>spaces</text:p><text:p>and <text:span>a'
        "</text:span> line<office:annotation><text:p>a note</text:p></office:annotation>")
    )  # fmt: skip
    rows = ods_row("a", "b", "c", "d", "e") + ods_row(more=more)
    assert read(make_ods(tmp_path / "a.ods", {"S": rows}))[1] == [
        "250.00", "00042", "2024-03-01", "TRUE", "two  spaces\nand a line",
    ]  # fmt: skip


def test_errors_and_formulas_of_ods(tmp_path: Path, caplog: Log) -> None:
    error = (
        '<table:table-cell table:formula="of:=NA()" office:value-type="string" '
        'office:string-value="" calcext:value-type="error"><text:p>#N/A</text:p></table:table-cell>'
    )
    rows = ods_row("dx", "n") + ods_row("hip", more=error)
    with caplog.at_level(logging.WARNING):
        assert read(make_ods(tmp_path / "a.ods", {"S": rows}))[1] == ["hip", ""]
    assert "#N/A in B2" in caplog.text
    unknown = '<table:table-cell table:formula="of:=1+1"/>'
    book = make_ods(tmp_path / "b.ods", {"S": ods_row("dx", "n") + ods_row("hip", more=unknown)})
    assert "row 2: the formula in B2 has no stored value" in problem_of(book)


# --- rows -----------------------------------------------------------------------------------------


def test_rows_know_their_number_and_empty_ones_are_none(tmp_path: Path) -> None:
    rows = [[], ["dx", None, "n"], ["hip"], [], [None, None, None, "beside"], [None, None, 3]]
    book = make_xlsx(tmp_path / "a.xlsx", {"S": rows})
    with open_sheet(book) as sheet:
        assert (sheet.header, sheet.header_row) == (("dx", "column B", "n"), 2)
        assert [(row.number, list(row)) for row in sheet.rows] == [
            (3, ["hip", "", ""]),
            (6, ["", "", "3"]),
        ]


def test_repeated_rows_and_cells_of_ods_are_as_many(tmp_path: Path) -> None:
    twice = (
        '<table:table-cell table:number-columns-repeated="2" office:value-type="string">'
        "<text:p>hip</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="16382"/>'
    )
    rows = (
        ods_row("a", "b")
        + ods_row(more=twice, repeated=3)
        + ods_row("", repeated=5)
        + ods_row("last")
        + ods_row("", repeated=1048566)
    )
    with open_sheet(make_ods(tmp_path / "a.ods", {"S": rows})) as sheet:
        assert [(row.number, *row) for row in sheet.rows] == [
            *((n, "hip", "hip") for n in (2, 3, 4)),
            (10, "last", ""),
        ]


def test_the_first_of_merged_cells_has_the_value(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["visit", "dx"], [1, "hip"], [2, None]):
        book.active.append(row)
    book.active.merge_cells("B2:B3")
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx")[1:] == [["1", "hip"], ["2", ""]]


def test_hidden_rows_are_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["dx"], ["hip"], ["knee"]):
        book.active.append(row)
    book.active.row_dimensions[2].hidden = True
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx") == [["dx"], ["hip"], ["knee"]]


def test_a_format_in_the_last_row_of_a_sheet_is_no_row(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx"], ["hip"]]})
    far = '<row r="1048576"><c r="A1048576" s="0"/></row></sheetData>'
    edited(book, SHEET, ("</sheetData>", far), ('ref="A1:A2"', 'ref="A1:XFD1048576"'))
    assert read(book) == [["dx"], ["hip"]]


def test_a_row_that_no_sheet_has_is_refused(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx"], ["hip"]]})
    edited(book, SHEET, ("</sheetData>", '<row r="4000000000"></row></sheetData>'))
    assert "more than 1,048,576 rows" in problem_of(book)


# --- sheets ---------------------------------------------------------------------------------------


def test_the_first_visible_sheet_is_read_and_named(tmp_path: Path, caplog: Log) -> None:
    excel = make_xlsx(tmp_path / "a.xlsx", {"A": [["no"]], "B": [["b"]], "C": [["c"]]})
    edited(excel, "xl/workbook.xml", ('state="visible" r:id="rId1"', 'state="hidden" r:id="rId1"'))
    sheets = {name: ods_row(name.lower()) for name in "ABC"}
    for book in (excel, make_ods(tmp_path / "a.ods", sheets, hidden="A")):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert read(book) == [["b"]]
        assert "sheet 'B' is read, the first of 'B', 'C'" in caplog.text
        caplog.clear()
        assert read(book, "C") == [["c"]]
        assert not caplog.text
        assert "has no sheet 'D'; it has 'A', 'B', 'C'" in problem_of(book, "D")


def test_the_header_may_stand_in_any_row(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["Title"], [], ["dx", "n"], ["hip", 1]]})
    assert read(book, header_row=3) == [["dx", "n"], ["hip", "1"]]
    assert "sheet 'S': row 2 holds no header" in problem_of(book, header_row=2)
    assert "sheet 'S': row 9 holds no header" in problem_of(book, header_row=9)
    with pytest.raises(InvalidInput, match="header_row=0"):
        read(book, header_row=0)


def test_an_empty_sheet_is_refused(tmp_path: Path) -> None:
    assert "sheet 'S': holds no value" in problem_of(make_xlsx(tmp_path / "a.xlsx", {"S": []}))
    assert "sheet 'S': holds no value" in problem_of(make_ods(tmp_path / "a.ods", {"S": ""}))


# --- files ----------------------------------------------------------------------------------------


def test_workbooks_are_recognised_by_content(tmp_path: Path) -> None:
    excel = make_xlsx(tmp_path / "a", {"S": [["dx"]]})
    assert workbook_suffix(excel) == ".xlsx"
    assert workbook_suffix(make_ods(tmp_path / "b", {"S": ""})) == ".ods"
    edited(excel, "[Content_Types].xml", ("sheet.main+xml", "sheet.macroEnabled.main+xml"))
    assert workbook_suffix(excel) == ".xlsm"
    plain = written(tmp_path / "a.txt", "dx\n")
    assert workbook_suffix(plain) is None
    assert workbook_suffix(tmp_path / "missing.xlsx") is None


def test_what_cannot_be_read_says_what_to_save_it_as(tmp_path: Path) -> None:
    old = written(tmp_path / "a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "old Office file (.xls), or has a password: save it as .xlsx" in problem_of(old)
    binary = tmp_path / "a.xlsb"
    with zipfile.ZipFile(binary, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.bin", b"x")
    assert "binary workbook (.xlsb) or a template: save it as .xlsx" in problem_of(binary)
    locked = make_ods(tmp_path / "a.ods", {"S": ods_row("dx")})
    edited(locked, "META-INF/manifest.xml", ("/>", "><m:encryption-data/></m:manifest>"))
    assert "has a password: save it without one" in problem_of(locked)


@pytest.mark.parametrize("part", [SHEET, "xl/workbook.xml", "xl/styles.xml"])
def test_a_damaged_workbook_is_a_message(tmp_path: Path, part: str) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx"], ["hip"]]})
    edited(book, part, (">", ""))
    assert "cannot be read as an Excel workbook" in problem_of(book)


def test_a_damaged_spreadsheet_is_a_message(tmp_path: Path) -> None:
    book = make_ods(tmp_path / "a.ods", {"S": "<table:table-row>"})
    assert "is a damaged spreadsheet" in problem_of(book)


def test_a_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx"], ["hip"]]})
    with (
        zipfile.ZipFile(book, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/bomb.xml", "w") as part,
    ):
        for _ in range(70):
            part.write(bytes(1 << 20))
    assert "looks like a compression bomb" in problem_of(book)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["dx"]]})
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingExtra, match=r"openpyxl.*pip install 'canonym\[tables\]'"):
        read(book)


# --- tables ---------------------------------------------------------------------------------------


def test_a_sheet_is_a_table_like_any_other(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"], ["D1", "hip"]], "T": [["x"]]})
    with open_table(book, sheet="S") as table:
        assert table.header == ("id", "name")
        assert next(table.rows) == ["D1", "hip"]
        assert str(table.error("why")) == f"{book}: sheet 'S', row 2: why"


def test_a_sheet_of_a_text_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,name\nD1,hip\n")
    with (
        pytest.raises(InvalidInput, match=r"sheet=\.\.\. and header_row=\.\.\. go with workbooks"),
        open_table(path, sheet="S"),
    ):
        pass
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"]]})
    with (
        pytest.raises(InvalidInput, match="a sheet needs a header"),
        open_table(book, header=False),
    ):
        pass


def cell_of(kind: str, shown: str, attributes: str = "") -> str:
    return (
        f'<table:table-cell office:value-type="{kind}" {attributes}><text:p>{shown}</text:p>'
        "</table:table-cell>"
    )


def text_cell(content: str) -> str:
    return cell_of("string", content)


def test_a_damaged_sheet_of_ods_is_refused(tmp_path: Path) -> None:
    rows = ods_row("id") + ods_row(more=text_cell("<nobody:cell/>"))
    path = make_ods(tmp_path / "a.ods", {"one": rows})
    assert re.search("is a damaged spreadsheet .*unbound prefix", problem_of(path))


def test_text_nested_deeply_in_ods_is_text(tmp_path: Path) -> None:
    content = "<text:span>" * 30_000 + "hip" + "</text:span>" * 30_000
    rows = ods_row("id") + ods_row(more=text_cell(content))
    assert read(make_ods(tmp_path / "a.ods", {"one": rows})) == [["id"], ["hip"]]


def test_endless_repeats_are_cut(tmp_path: Path) -> None:
    endless = "9" * 5000
    text = f'<table:table-cell><text:p>a<text:s text:c="{endless}"/>b</text:p></table:table-cell>'
    empty = f'<table:table-cell table:number-columns-repeated="{endless}"/>'
    path = make_ods(tmp_path / "a.ods", {"one": ods_row("id", "x") + ods_row(more=text + empty)})
    with open_sheet(path) as sheet:
        assert [list(row) for row in sheet.rows] == [[f"a{' ' * 1000}b", ""]]


def test_a_part_whose_compression_is_damaged_is_no_workbook(tmp_path: Path) -> None:
    path = make_xlsx(tmp_path / "a.xlsx", {"one": [["id", "name"]]})
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("[Content_Types].xml")
    content = bytearray(path.read_bytes())
    start = info.header_offset + 30 + len(info.filename)
    content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)
    assert workbook_suffix(path) is None


# --- numbers of more than 15 digits ---------------------------------------------------------------


def test_long_numbers_are_counted_and_the_first_is_named(tmp_path: Path, caplog: Log) -> None:
    rows = [["code", "n"], [22298006, 1], [9.99001261e17, 2], [987654, 1e16, 1e17]]
    book = make_xlsx(tmp_path / "a.xlsx", {"S": rows})
    edited(book, SHEET, ("987654", "999001261000000105"))
    with caplog.at_level(logging.WARNING), open_sheet(book) as sheet:
        assert [dict(row.long_numbers) for row in sheet.rows] == [
            {}, {0: True}, {0: False, 1: True, 2: True},
        ]  # fmt: skip
    assert "3 cells hold numbers of more than 15 digits" in caplog.text
    assert "the first is A3" in caplog.text


def test_long_numbers_of_ods(tmp_path: Path) -> None:
    cells = "".join(
        cell_of("float", "x", f'office:value="{value}"')
        for value in ("1", "9.99001261E+17", "999001261000000105", "999001261000000000", "1E5")
    )
    rows = ods_row(*"abcde") + ods_row(more=cells)
    with open_sheet(make_ods(tmp_path / "a.ods", {"S": rows})) as sheet:
        (row,) = sheet.rows
    assert row == ["1", "9.99001261e+17", "999001261000000105", "999001261000000000", "100000"]
    assert row.long_numbers == {1: True, 2: False, 3: True}


def test_ids_that_lost_digits_are_refused_and_others_are_not(tmp_path: Path) -> None:
    rows = [["code", "n"], [987654, 1e16], ["999001261000000105", 3], [999001261000000105, 4]]
    book = make_xlsx(tmp_path / "a.xlsx", {"S": rows})  # which writes the last as 9.99...e+17
    edited(book, SHEET, ("987654", "999001261000000105"))
    with open_sheet(book) as sheet:
        for cells in itertools.islice(sheet.rows, 2):
            check_ids(cells, [0], sheet.error)
        check_ids(["1e+16"], [0], sheet.error)  # of another table
        with pytest.raises(ReadError, match=r"row 4: the id in A4 is a number of more than 15"):
            check_ids(next(sheet.rows), [1, 0], sheet.error)


# --- what Excel shows -----------------------------------------------------------------------------


def test_characters_that_are_written_by_number_are_characters(tmp_path: Path) -> None:
    rows = [["id", "name"], ["a_x000D_\nb", "beta_x002D_blocker"], ["_x005F_x0041_", "x_y_xyz"]]
    assert read(make_xlsx(tmp_path / "a.xlsx", {"S": rows}))[1:] == [
        ["a\nb", "beta-blocker"], ["_x0041_", "x_y_xyz"],
    ]  # fmt: skip


def test_dates_among_names_are_remarked(tmp_path: Path, caplog: Log) -> None:
    day = datetime.date(2024, 3, 1)
    rows = [["gene", "born"], ["BRCA1", day], [day, day], ["TP53", "unknown"], ["MYC", day]]
    cells = [f'<table:table-cell office:value-type="date" office:date-value="{day}"/>', "gene"]
    sheet = ods_row("gene") + "".join(
        ods_row(more=cells[0]) if n == 1 else ods_row(f"G{n}") for n in range(4)
    )
    for book in (
        make_xlsx(tmp_path / "a.xlsx", {"S": rows}),
        make_ods(tmp_path / "a.ods", {"S": sheet}),
    ):
        caplog.clear()
        assert "2024-03-01" in {row[0] for row in read(book)}
        remark = "1 cells of the column 'gene', which is mostly no dates, hold one; the first is A3"
        assert remark in caplog.text
        assert "'born'" not in caplog.text


# --- what programs read differently ---------------------------------------------------------------


def test_rows_and_cells_out_of_order_or_twice_are_refused(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"], ["1", "a"], ["2", "b"]]})
    sheet = part_of(book, SHEET)
    first, second = re.findall(r'<row r="[23]".*?</row>', sheet)
    left, right = re.findall(r'<c r="[AB]2".*?</c>', sheet)
    for old, new, what in (
        (first + second, second + first, "row 2"),
        (first, first + first, "row 2"),
        (left + right, right + left, "the cell A2"),
        (left, left + left, "the cell A2"),
        (left, left.replace("A2", "A3"), "the cell A3"),
    ):
        make_xlsx(book, {"S": [["id", "name"], ["1", "a"], ["2", "b"]]})
        edited(book, SHEET, (old, new))
        assert f"sheet 'S' has {what} twice or out of order" in problem_of(book)


def test_cells_without_a_reference_follow_each_other(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"], ["1", "a"], ["2", "b"]]})
    sheet = re.sub(r'<(row|c) r="\w+"', r"<\1", part_of(book, SHEET))
    edited(book, SHEET, (part_of(book, SHEET).replace(" />", "/>"), sheet.replace(" />", "/>")))
    assert read(book) == [["id", "name"], ["1", "a"], ["2", "b"]]


def test_prefixes_of_elements_do_not_matter(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"], ["1", "a"]]})
    sheet = part_of(book, SHEET).replace(" />", "/>")
    other = re.sub(r"<(/?)(?=\w)", r"<\1x:", sheet).replace("xmlns=", "xmlns:x=")
    edited(book, SHEET, (sheet, other))
    assert read(book) == [["id", "name"], ["1", "a"]]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_part_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    excel = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"]]})
    open_document = make_ods(tmp_path / "a.ods", {"S": ods_row("id", "name")})
    for book, part in ((excel, SHEET), (open_document, "content.xml")):
        with zipfile.ZipFile(book, "a") as archive:
            archive.writestr(part, part_of(book, part).replace("name", "other"))
        assert f"has the part '{part}' twice" in problem_of(book)


def test_sheets_of_one_name_are_refused(tmp_path: Path) -> None:
    book = make_ods(tmp_path / "a.ods", {"S": ods_row("id"), "T": ods_row("no")})
    edited(book, "content.xml", ('table:name="T"', 'table:name="S"'))
    assert "has several sheets 'S'" in problem_of(book)


def test_an_entity_in_a_workbook_is_refused(tmp_path: Path) -> None:
    excel = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"]]})
    edited(excel, SHEET, ("<worksheet", '<!DOCTYPE a [<!ENTITY b "c">]><worksheet'))
    assert "declares a document type" in problem_of(excel)
    book = make_ods(tmp_path / "a.ods", {"S": ods_row("id")})
    head = "<office:document-content"
    edited(book, "content.xml", (head, f'<!DOCTYPE a [<!ENTITY b "c">]>{head}'))
    assert "declares a document type" in problem_of(book)


# --- what fills the memory ------------------------------------------------------------------------


def wide(content: str) -> str:
    return f'<table:table-cell table:number-columns-repeated="16384" {content}</table:table-cell>'


TEXT = 'office:value-type="string"><text:p>x</text:p>'


@pytest.mark.parametrize(
    "cell",
    [
        TEXT,
        'calcext:value-type="error"><text:p>x</text:p>',
        'office:value-type="float" office:value="1E17"><text:p>x</text:p>',
        'office:value-type="date" office:date-value="2024-03-01"><text:p>x</text:p>',
    ],
)
def test_cells_of_a_sheet_are_counted_and_rows_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str
) -> None:
    monkeypatch.setattr("canonym.io.workbooks.MAX_CELLS", 1 << 17)
    rows = ods_row(more=wide(TEXT)) + ods_row(more=wide(cell), repeated=40)
    path = make_ods(tmp_path / "a.ods", {"S": rows})
    problem = r"row 10: of a sheet 131,072 cells .* save it as CSV"
    with (
        at_most(20_000_000),
        pytest.raises(ReadError, match=problem),
        open_sheet(path) as sheet,
    ):
        deque(sheet.rows, maxlen=0)


SPACES = "x" + '<text:s text:c="1000"/>' * 12_000
DATE = 'office:value-type="date" office:date-value="2024-03-01">'
LAST = '<table:table-cell table:number-columns-repeated="16383"/>' + text_cell("x")


@pytest.mark.parametrize(
    ("rows", "most"),
    [
        (ods_row("a", "x", repeated=1_000_000), 1),
        (ods_row("a", "x", repeated=100_000), 1),
        (ods_row("a", "x", repeated=1000) * 10, 4001),
        (ods_row("a", "x" * 4000, repeated=4000), 1),
        (ods_row(more=wide(DATE), repeated=100), 1),
        (ods_row(more=wide(TEXT)) * 2000, 700),
        (ods_row(more=LAST) * 2000, 900),
        (ods_row(SPACES), 1),
        (ods_row(more='<table:table-cell table:formula="x"/>', repeated=100_000), 1),
    ],
    ids=["million", "rows", "several", "texts", "dates", "cells", "gaps", "spaces", "formulas"],
)
def test_a_small_spreadsheet_that_stands_for_much_is_refused(
    tmp_path: Path, rows: str, most: int
) -> None:
    path = make_ods(tmp_path / "a.ods", {"S": ods_row("id", "name") + rows})
    _check_refused(path, most)


@pytest.mark.parametrize(
    ("text", "cell"),
    [("id", "<c r='XFD{0}'><v>1</v></c>"), ("x" * 100_000, "<c t='s'><v>0</v></c>")],
)
def test_a_small_workbook_that_stands_for_much_is_refused(
    tmp_path: Path, text: str, cell: str
) -> None:
    book = with_shared_texts(make_xlsx(tmp_path / "a.xlsx", {"S": [[text, "name"]]}))
    rows = "".join(f"<row r='{n}'>{cell.format(n)}</row>" for n in range(2, 2000))
    edited(book, SHEET, ("</sheetData>", f"{rows}</sheetData>"))
    _check_refused(book, 1300)


def _check_refused(path: Path, most: int) -> None:
    """Refuse a file when at most so many rows were read, before much memory was taken."""
    rows: list[int] = []
    problem = "more than the file holds"
    with (
        at_most(100_000_000),
        pytest.raises(ReadError, match=problem),
        open_sheet(path) as sheet,
    ):
        rows.extend(row.number for row in sheet.rows)
    assert len(rows) < most


def test_tables_with_many_equal_cells_and_rows_are_read(tmp_path: Path) -> None:
    flags = wide(TEXT).replace("16384", "300")
    rows = "".join(ods_row(str(n), more=flags) for n in range(200)) + ods_row("x", repeated=5000)
    path = make_ods(tmp_path / "a.ods", {"S": ods_row("id", more=flags) + rows})
    with open_sheet(path) as sheet:
        assert [len(row) for row in sheet.rows] == [301] * 5200
    book = with_shared_texts(make_xlsx(tmp_path / "a.xlsx", {"S": [["x" * 900]]}))
    more = "<row><c t='s'><v>0</v></c></row>" * 10_000
    edited(book, SHEET, ("</sheetData>", f"{more}</sheetData>"))
    assert read(book) == [["x" * 900]] * 10_001


def test_characters_of_a_sheet_and_of_a_row_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ods_row("id", "name") + ods_row("1", "x" * 1000, repeated=100)
    books = (
        make_ods(tmp_path / "a.ods", {"S": rows}),
        make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"], *[["1", "x" * 1000]] * 100]}),
    )
    monkeypatch.setattr("canonym.io.workbooks.MAX_CHARACTERS", 50_000)
    for book in books:
        assert "row 51: of a sheet" in problem_of(book)
    for module in ("ods", "xlsx"):
        monkeypatch.setattr(f"canonym.io.{module}.MAX_ROW_CHARACTERS", 999)
    for book in books:
        assert "more than 999 characters" in problem_of(book)


def test_a_sheet_is_read_piece_by_piece(tmp_path: Path) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"], ["1", "a"]]})
    rows = "".join(f"<row><c><v>{n}</v></c><c><v>7</v></c></row>" for n in range(10_000))
    edited(book, SHEET, ("</sheetData>", f"{rows}</sheetData>"))
    # It takes 1.4 million; all rows take 7.6.
    with at_most(3_000_000), open_sheet(book) as sheet:
        assert sum(1 for _ in sheet.rows) == 10_001


@pytest.mark.parametrize(("more", "most"), [("<c/>", "16,384 columns"), ("</row><row>", "rows")])
def test_empty_cells_and_rows_are_counted(tmp_path: Path, more: str, most: str) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"]]})
    edited(book, SHEET, ("</sheetData>", f"<row>{more * 1_100_000}</row></sheetData>"))
    assert f"has more than {'1,048,576 ' if most == 'rows' else ''}{most}" in problem_of(book)


def test_texts_that_cells_share_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = make_xlsx(tmp_path / "a.xlsx", {"S": [["id", "name"]]})
    relation = (
        '<Relationship Id="s" Target="strings.xml" Type="http://schemas.openxmlformats.org/'
        'officeDocument/2006/relationships/sharedStrings"/></Relationships>'
    )
    edited(book, "xl/_rels/workbook.xml.rels", ("</Relationships>", relation))
    with zipfile.ZipFile(book, "a") as archive:
        archive.writestr("xl/strings.xml", f"<sst>{'<si><t>abc</t></si>' * 2000}</sst>")
    edited(book, SHEET, ("</sheetData>", '<row><c t="s"><v>1999</v></c></row></sheetData>'))
    assert read(book)[1] == ["abc", ""]
    monkeypatch.setattr("canonym.io.xlsx._MAX_STRINGS", 20_000)
    assert "has texts of more than" in problem_of(book)
    monkeypatch.undo()
    edited(book, SHEET, ("<v>1999</v>", "<v>-1</v>"))
    assert "there is no text -1" in problem_of(book)
