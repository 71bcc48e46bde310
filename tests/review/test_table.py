"""Tables that people upload or paste."""

from __future__ import annotations

import io
from typing import Any

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.review.table import as_table, clean, read_given, read_pasted


def _workbook(rows: list[list[Any]]) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'term,n\nhip,2\n"a, b",1\n', "t.csv"),
        ('\ufeffterm;n\nhip;2\n"a, b";1\n'.encode(), "t.CSV"),
        (b"term\tn\nhip\t2\na, b\t1\n", "t.tsv"),
        (_workbook([["term", "n"], ["hip", 2], ["a, b", 1]]), "t.xlsx"),
    ],
)
def test_tables_of_all_kinds_are_read(content: bytes, name: str) -> None:
    assert read_given(content, name) == (("term", "n"), [["hip", "2"], ["a, b", "1"]])


def test_a_csv_of_one_column_has_a_header_and_a_list_has_none() -> None:
    assert read_given(b"term\nhip\n", "t.csv") == (("term",), [["hip"]])
    assert read_given("hip\nhüfte\n".encode("cp1252"), "t.txt") == (
        ("mention",),
        [["hip"], ["hüfte"]],
    )
    assert read_pasted("hip\n\n broken heart \n") == (("mention",), [["hip"], ["broken heart"]])
    assert read_pasted("term\tn\nhip\t2\nx\t\n") == (("term", "n"), [["hip", "2"], ["x", ""]])


def test_what_is_no_table_is_named_as_it_was_given() -> None:
    with pytest.raises(ReadError, match=r"^mine\.csv: .*3 cells|^mine\.csv"):
        read_given(b"a,b\n1,2,3\n", "mine.csv")
    with pytest.raises(ReadError, match=r"^mine\.xlsx"):
        read_given(b"PK\x03\x04 no archive", "mine.xlsx")


def test_columns_and_frequencies_are_checked() -> None:
    rows = [["hip", "many"]]
    with pytest.raises(InvalidInput, match="choose the column with the mentions: 'a', 'b'"):
        as_table(["a", "b"], rows)
    with pytest.raises(InvalidInput, match="no column 'c'; there are 'a', 'b'"):
        as_table(["a", "b"], rows, column="c")
    with pytest.raises(InvalidInput, match="row 1: the frequency is 'many'"):
        as_table(["a", "b"], rows, column="a", frequency_column="b")
    with pytest.raises(InvalidInput, match="there is no mention to review"):
        as_table(["a"], [[" "]])
    assert as_table(["a", "b"], [["hip", "1,200"]], column="a", frequency_column="b")[4] == {
        ("hip", ""): 1200
    }


def test_what_no_database_can_hold_is_replaced() -> None:
    assert clean("a\0b\ud800c") == "a\ufffdb?c"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "table"])
@pytest.mark.parametrize(
    ("line", "delimiter"), [("sep=;", ";"), ("sep=,", ","), ("sep=\\t", "\t"), ('"sep=^"', "^")]
)
def test_a_first_line_names_the_delimiter(name: str, line: str, delimiter: str) -> None:
    text = "\n".join(["\ufeff" + line, f"term{delimiter}n", f"hip{delimiter}2", ""])
    assert read_given(text.encode(), name) == (("term", "n"), [["hip", "2"]])


def test_a_pasted_table_may_name_its_delimiter() -> None:
    assert read_pasted("sep=\t\nterm\tn\nhip\t2\n") == (("term", "n"), [["hip", "2"]])
    assert read_pasted("sep=;\nhip\n") == (("mention",), [["hip"]])


def test_a_frequency_may_have_the_format_of_a_number() -> None:
    table = as_table(("term", "n"), [["hip", "2.00"]], column="term", frequency_column="n")
    assert table.frequencies == {("hip", ""): 2}
