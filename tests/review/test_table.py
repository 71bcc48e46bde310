"""Tables that people upload or paste."""

from __future__ import annotations

import gzip
import io
import tempfile
from pathlib import Path
from typing import Any

import pytest

from canonym.corpora.tables import parse_table
from canonym.errors import InvalidInput, ReadError
from canonym.exchange.mappings import Codes
from canonym.io.streams import open_text
from canonym.io.workbooks import sheet_names
from canonym.review.table import Layout, as_table, clean, read_upload
from tests.files import written


def read_given(content: bytes, name: str) -> tuple[tuple[str, ...], list[list[str]]]:
    """Read a file as it is read where it was uploaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        path.write_bytes(content)
        header, *rows = read_upload(path, name)
    return tuple(header), rows


def read_pasted(text: str) -> tuple[tuple[str, ...], list[list[str]]]:
    """Read text as it is read where it was pasted."""
    return read_given(text.encode(), "")


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


@pytest.mark.parametrize("name", ["", "t.json", "t.jsonl", "t.txt"])
def test_json_is_a_table_whose_columns_are_the_keys(name: str) -> None:
    header, rows = ("term", "n", "ids"), [["hip", "2", ""], ["a, b", "", "D1|D2"], ["", "", ""]]
    objects = '{"term": "hip", "n": 2.0}', '{"term": "a, b", "ids": ["D1", "D2"]}', '{"term": null}'
    for content in (
        "\n".join(objects),
        f"[{','.join(objects)}]",
        "[\n" + ",\n".join(objects) + "\n]",
    ):
        assert read_given(content.encode(), name) == (header, rows)
    assert read_given(b'["hip",\r\n "a, b"]', name) == (("mention",), [["hip"], ["a, b"]])


def test_what_is_no_list_of_names_is_refused() -> None:
    for content, name in (
        (b"<?xml version='1.0'?><a/>", "t.xml"),
        (b"<!DOCTYPE html>\n<p>x", ""),
        (b"{\n  'a': 1}", ""),
        (b"[[1]]", ""),
        (b'{"a": 1', "t.txt"),
        (b'["a", 1]', ""),
        (b"hip", "t.json"),
    ):
        with pytest.raises(ReadError, match=r"JSON|found 1; an object"):
            read_given(content, name)
    for name in ("[18F]FDG", "[ ] gout", "{gout}", '["acute"] gout', "{} gout"):
        assert read_pasted(f"{name}\n<5 % burn\n")[1] == [[name], ["<5 % burn"]]


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
    with pytest.raises(InvalidInput, match="no column 'c'; the columns are 'a', 'b'"):
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


# --- as ``canonym link`` --------------------------------------------------------------------------

CSV = 'term,n\n"two\nlines",1\n"a ""b"" c",2\nwound of 5",3\n"x\u2028y",4\n'
ONE_COLUMN = 'term\n"two\nlines"\n"a ""b"" c"\n"x, y"\n'
TABS = 'term\tn\nwound of 5"\t1\n"quoted"\t2\nx\u2028y\u0085z\t3\n'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *((text, name) for text in (CSV, ONE_COLUMN, TABS) for name in ("t.csv", "t.TSV", "t.tab")),
        *((TABS, name) for name in ("t.txt", "table", "")),
        (CSV.replace(",", ";").replace("\n", "\r\n"), "t.csv"),
    ],
)
def test_an_upload_is_read_as_files_are(text: str, name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "t", text.encode())
    with open_text(path, keep_ends=True) as lines:
        table = parse_table(lines, path, column="term")
        expected = [list(row.cells) for row in table]
    assert read_given(text.encode(), name) == (tuple(table.columns), expected)


def test_quotes_and_line_ends_are_those_of_the_table() -> None:
    rows = [["two\nlines"], ['a "b" c'], ["x, y"]]
    assert read_given(ONE_COLUMN.encode(), "t.csv") == (("term",), rows)
    assert read_pasted(TABS)[1][0] == ['wound of 5"', "1"]


def test_a_list_keeps_its_quotes_and_has_only_real_line_ends() -> None:
    lines = ['wound of 5"', '"quoted"', "x\u2028y\u0085z\x0b\x0c!", "a;b,c"]
    for end in ("\n", "\r\n", "\r"):
        assert read_pasted(end.join(lines)) == (("mention",), [[line] for line in lines])
        assert read_given(end.join(lines).encode(), "t.txt")[1] == [[line] for line in lines]


@pytest.mark.parametrize("name", ["t.tsv", "t.txt", ""])
def test_cells_beyond_the_header_are_refused(name: str) -> None:
    for row in ("a\tb\tc", "a"):
        with pytest.raises(
            ReadError, match=r", line 3: \d cells? where the header names 2 columns"
        ):
            read_given(f"term\tn\nx\ty\n{row}\n".encode(), name)


def test_compressed_tables_are_read_and_other_files_refused() -> None:
    packed = gzip.compress(CSV.encode())
    assert read_given(packed, "t.csv.gz") == read_given(CSV.encode(), "t.csv")
    for content, name in ((b"PAR1 \0", "t.parquet"), (b"", "t.csv"), (b"", "")):
        with pytest.raises(ReadError, match=name or "the text"):
            read_given(content, name)


@pytest.mark.parametrize("which", ["column", "context_column", "frequency_column"])
def test_of_two_columns_of_one_name_none_is_chosen(which: str) -> None:
    columns, rows = read_given(b"term,n,n\ncold,1,2\n", "t.csv")
    chosen = {"column": "term", which: "n"}
    with pytest.raises(InvalidInput, match="there are 2 columns 'n'; the columns are 'term', 'n'"):
        as_table(columns, rows, **chosen)  # type: ignore[arg-type]
    assert as_table(columns, rows, column="term").frequencies == {("cold", ""): 1}


def test_a_missing_value_is_no_mention() -> None:
    table = as_table(["term"], [["nan"], ["NA"], [" NULL "], ["cold"]])
    assert list(table.frequencies) == [("NA", ""), ("cold", "")]
    assert [key[0] for key, _ in table.rows] == ["", "NA", "", "cold"]


@pytest.mark.parametrize("cell", ["1,5", "1.5", "1.000", "1.200", "1,20", "12,34,567", "", "-1"])
@pytest.mark.parametrize("export", [False, True])
def test_a_frequency_that_may_be_two_numbers_is_refused(cell: str, export: bool) -> None:
    def read() -> None:
        if export:
            Codes(frequency_column=1).frequency(["cold", cell])
        else:
            as_table(["m", "n"], [["cold", cell]], column="m", frequency_column="n")

    with pytest.raises(InvalidInput, match="a whole number is expected"):
        read()


@pytest.mark.parametrize(
    ("cell", "n"), [("15", 15), ("1,200", 1200), ("1,200,300.0", 1200300), (" 2.00 ", 2), ("0", 0)]
)
def test_a_frequency_is_read_alike_from_uploads_and_exports(cell: str, n: int) -> None:
    table = as_table(["m", "n"], [["cold", cell]], column="m", frequency_column="n")
    assert list(table.frequencies.values()) == [n] == [Codes(None, 1).frequency(["cold", cell])]


@pytest.mark.parametrize(
    ("limit", "most", "what"),
    [("ROWS", 2, "rows"), ("CELLS", 7, "cells"), ("CHARACTERS", 9, "char")],
)
def test_an_upload_is_no_larger_than_a_review(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, what: str
) -> None:
    content = b"a,b\nx,y\nx,y\n"
    assert len(read_given(content, "t.csv")[1]) == 2
    monkeypatch.setattr(f"canonym.review.table.MOST_{limit}", most)
    with pytest.raises(ReadError, match=rf"^t\.csv: has more than {most} {what}"):
        read_given(content + b"xxx,y\n", "t.csv")


def test_empty_lines_at_the_beginning_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonym.review.table.MOST_ROWS", 5)  # 9 million took 5 s
    assert read_pasted("\n" * 5 + "cold\n") == (("mention",), [["cold"]])
    with pytest.raises(ReadError, match=r"^the text: begins with more than 5 empty lines"):
        read_pasted("\n" * 6 + "cold\n")


@pytest.mark.parametrize(
    ("text", "layout", "rows"),
    [
        ("a;b\n1,5;x\n", Layout(separator="semicolon"), [["a", "b"], ["1,5", "x"]]),
        ("a|b\n1|x\n", Layout(separator="bar"), [["a", "b"], ["1", "x"]]),
        ("cough, dry\nfever\n", Layout(separator="line"), [["mention"], ["cough, dry"], ["fever"]]),
        ("Ward 7\n2019\na,b\n1,x\n", Layout(header_row=3), [["a", "b"], ["1", "x"]]),
        ("x\na\tb\n1\tx\n", Layout(None, 2, "tab"), [["a", "b"], ["1", "x"]]),
    ],
)
def test_a_text_is_read_as_somebody_says(
    text: str, layout: Layout, rows: list[list[str]], tmp_path: Path
) -> None:
    assert [*read_upload(written(tmp_path / "given", text), "t.csv", layout)] == rows


def test_a_header_below_the_end_is_no_table(tmp_path: Path) -> None:
    path = written(tmp_path / "given", "a,b\n1,2\n")
    with pytest.raises(ReadError):
        [*read_upload(path, "t.csv", Layout(header_row=9))]


def test_a_sheet_and_its_header_are_chosen(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["other"])
    sheet = book.create_sheet("Ward 7")
    for row in (["Report of 2019"], [], ["term", "n"], ["cough", 2]):
        sheet.append(row)
    path = tmp_path / "given"
    book.save(path)
    assert sheet_names(path) == ["Sheet", "Ward 7"]
    layout = Layout("Ward 7", 3)
    assert [*read_upload(path, "t.xlsx", layout)] == [["term", "n"], ["cough", "2"]]
    with pytest.raises(ReadError, match="no sheet 'Ward 8'; it has 'Sheet', 'Ward 7'"):
        [*read_upload(path, "t.xlsx", Layout("Ward 8"))]
