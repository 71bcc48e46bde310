"""Numbers that are codes, as the cells of workbooks show them."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from canonym.io.cells import loses_digits
from canonym.io.number_formats import formatted, shown_code
from canonym.io.workbooks import open_sheet
from tests.io.making import make_ods, ods_row

CODES = [
    (250, "0.00", "250.00"), (250, "General", "250"), (250, "@", "250"), (250, "0", "250"),
    (410.1, "General", "410.1"), (410.1, "0.0", "410.1"), (410.1, "0.00", "410.10"),
    (3, "000.0", "003.0"), (38.9, "000.0", "038.9"), (38.9, "000.00", "038.90"),
    (8, "000", "008"), (7, "00000", "00007"), (123456, "000", "123456"),
    (3920, '"D"000000', "D003920"), (3920, r"\D000000", "D003920"),
    (6142, r"\C0000000", "C0006142"),
    (1250, '"HP:"0000000', "HP:0001250"), (42, '"MONDO:"0000000', "MONDO:0000042"),
    (1.1, '"V"00.0', "V01.1"), (250, '"ICD "000.00', "ICD 250.00"),
    (50782, "000000-00-0", "000050-78-2"), (50782, "#-00-0", "50-78-2"), (17, '00"-"0', "01-7"),
    (41401, '000"."00', "414.01"), (14951, r"0000\-0", "1495-1"), (5551234, "###-####", "555-1234"),
    (123456, "00 00 00", "12 34 56"), (5.5, "[Red]0.00", "5.50"), (12, "0.00_)", "12.00"),
    (12, "0.00_);(0.00)", "12.00"), (-12, "0.00;-0.00", "-12.00"), (-5, "000", "-005"),
    (5551234567, "[<=9999999]###-####;(###) ###-####", "(555) 123-4567"),
    (1, "[<10]0.000;0.0", "1.000"), (11, "[<10]0.000;0.0", "11.0"),
    (250, "0.##", "250"), (250.5, "0.0#", "250.5"), (250.25, "?0.0?", "250.25"),
    (0, "000.0", "000.0"),
]  # fmt: skip
"""A number, its format and what the cell shows, where both digits and signs are those of a code."""

AMOUNTS = [
    (1234, "#,##0", "1234"), (1234.5, "#,##0.00", "1234.50"), (1234567, r"#\ ##0", "1234567"),
    (0.25, "0%", "0.25"), (0.255, "0.0%", "0.255"), (5, "$0.00", "5"), (5, '0.00" €"', "5"),
    (5, "[$€-407] 0.00", "5"), (5, '_($* #,##0.00_)', "5"), (300000, "0.00E+00", "300000"),
    (0.5, "# ?/?", "0.5"), (1500, "0,", "1500"), (12, ";;;", "12"), (0, '0;-0;"none"', "0"),
    (-12, "0.00_);(0.00)", "-12"), (3, '"three"', "3"),
]  # fmt: skip
"""Formats of amounts, of which the value is taken."""

HIDDEN = [
    (250.13, "0.0", "250.13"), (250.13, "0", "250.13"), (3.5, "000", "003.5"),
    (0.1 + 0.2, "0.0", "0.3"),
    (410.125, "0.00", "410.125"), (9.99, "00.0", "09.99"),
]  # fmt: skip
"""Formats that would round: two codes must not become one."""


@pytest.mark.parametrize(("value", "form", "shown"), [*CODES, *AMOUNTS, *HIDDEN])
def test_a_cell_of_excel_is_what_it_shows_if_that_is_a_code(
    tmp_path: Path, value: float, form: str, shown: str
) -> None:
    book = openpyxl.Workbook()
    book.active.append(["code", "name"])
    book.active.append([value, "a name"])
    book.active["A2"].number_format = form
    book.save(tmp_path / "a.xlsx")
    with open_sheet(tmp_path / "a.xlsx") as sheet:
        assert [list(row) for row in sheet.rows] == [[shown, "a name"]]


def test_a_truth_is_no_number() -> None:
    assert formatted(1e300, "0.00") is None
    assert formatted(float("nan"), "0.00") is None


ODS = [
    ("250", "250.00", "250.00"), ("250", "250,00", "250.00"), ("250", "250", "250"),
    ("3", "003.0", "003.0"), ("38.9", "038,9", "038.9"), ("42", "00042", "00042"),
    ("3920", "D003920", "D003920"), ("1250", "HP:0001250", "HP:0001250"),
    ("1.1", "V01.10", "V01.10"),
    ("50782", "50-78-2", "50-78-2"), ("123456", "12 34 56", "12 34 56"), ("-3", "-3.0", "-3.0"),
    ("1234", "1,234", "1234"), ("1234", "1.234", "1234"), ("1234567", "1 234 567", "1234567"),
    ("1234.5", "1,234.50", "1234.50"), ("1.234", "1,234", "1.234"),
    ("-1234.5", "-1.234,50", "-1234.50"),
    ("250.13", "250.1", "250.13"), ("0.25", "25%", "0.25"), ("5", "5.00 €", "5"),
    ("300000", "3E+05", "300000"), ("0.5", "1/2", "0.5"), ("-12", "(12.00)", "-12"),
    ("0.30000000000000004", "0.30", "0.30"),
]  # fmt: skip
"""A value of an OpenDocument cell, what the cell shows, and its text."""


@pytest.mark.parametrize(("value", "shown", "text"), ODS)
def test_a_cell_of_ods_is_what_it_shows_if_that_is_a_code(
    tmp_path: Path, value: str, shown: str, text: str
) -> None:
    cell = (
        f'<table:table-cell office:value-type="float" office:value="{value}">'
        f"<text:p>{shown}</text:p></table:table-cell>"
    )
    book = make_ods(tmp_path / "a.ods", {"S": ods_row("code") + ods_row(more=cell)})
    with open_sheet(book) as sheet:
        assert [list(row) for row in sheet.rows] == [[text]]


def test_amounts_of_ods_are_values() -> None:
    assert shown_code(0.25, "25 %") is None
    assert shown_code(2.0, "two") is None


@pytest.mark.parametrize(
    ("value", "lost"),
    [
        (22298006, None), (0.1 + 0.2, None), (True, None), (float("nan"), None),
        (999999999999999, None), (999999999999999.0, None), (-22298006, None),
        (10**15, True), (1e15, True), (9.99001261e17, True), (999001261000000000, True),
        (-9.99001261e17, True), (float("inf"), True), (123456789012345600.0, True),
        (999001261000000105, False), (-999001261000000105, False), (1000000000000001, False),
        (733073007123456106, False),
    ],
)  # fmt: skip
def test_digits_after_the_fifteenth_are_lost(value: float, lost: bool | None) -> None:
    assert loses_digits(value) is lost
