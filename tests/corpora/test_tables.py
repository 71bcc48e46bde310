"""Tables of mentions: columns kept, delimiters found, damage refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.corpora.tables import MentionTable, parse_table, read_table, split_header
from canonym.errors import InvalidInput, ReadError
from canonym.io.tables import Row


def rows(text: str, **options: str | None) -> tuple[list[str], list[list[str]], list[str]]:
    table = parse_table(
        text.splitlines(keepends=True),
        "x.csv",
        **{"column": "name", **options},  # type: ignore[arg-type]
    )
    found = list(table)
    return table.columns, [row.cells for row in found], [row.mention.text for row in found]


@pytest.mark.parametrize(
    ("column", "hint"),
    [("dx", "' dx '"), ("Diagnosis text", "'diagnosis_text'"), ("not", "'note'")],
)
def test_the_column_that_may_be_meant_is_named(tmp_path: Path, column: str, hint: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id, dx ,diagnosis_text,note\n1,gout,x,y\n")
    problem = rf"no column '{column}' \(did you mean {hint}\?\)"
    with pytest.raises(ReadError, match=problem), read_table(path, column=column):
        pass


def test_csv_with_quotes_and_line_ends_in_cells() -> None:
    columns, cells, mentions = rows('id,name\n1,"hip, broken"\n\n2,"two\nlines"\n3,""\n')
    assert columns == ["id", "name"]
    assert cells == [["1", "hip, broken"], ["2", "two\nlines"], ["3", ""]]
    assert mentions == ["hip, broken", "two\nlines", ""]


def test_in_tsv_a_quote_is_a_character() -> None:
    _, cells, mentions = rows('id\tname\n1\t6" tear\n\n2\t"quoted"\n')
    assert cells == [["1", '6" tear'], ["2", '"quoted"']]
    assert mentions == ['6" tear', '"quoted"']


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [("a\tb,c", "\t"), ("a,b;c", ","), ("a;b", ";"), ("a|b", "|"), ("a", ",")],
)
def test_the_delimiter_is_found_in_the_header(header: str, delimiter: str) -> None:
    assert split_header(header + "\n") == header.split(delimiter)


def test_a_delimiter_that_is_given_is_used() -> None:
    assert rows("id;name,x\n1;hip\n", delimiter=";", column="name,x")[2] == ["hip"]


def test_the_context_goes_with_the_mention(tmp_path: Path) -> None:
    file = tmp_path / "x.tsv"
    file.write_text("name\tnote\nFH\tfractured hip (FH)\n")
    with read_table(file, column="name", context_column="note") as table:
        (row,) = table
    assert row.mention.context == "fractured hip (FH)"
    assert table.delimiter == "\t"


def test_a_cell_may_be_a_whole_document() -> None:
    long = "x" * 1_000_000
    assert rows(f"name,id\n{long},1\n")[2] == [long]


@pytest.mark.parametrize(
    ("text", "options", "line", "problem"),
    [
        ("id,other\n1,2\n", {}, 1, "no column 'name'; the columns are 'id', 'other'"),
        ("id,name\n1,2\n", {"delimiter": ";"}, 1, "the columns are 'id,name' (is the delimiter"),
        ("name,name\n1,2\n", {}, 1, "2 columns named 'name'"),
        ("id,name\n1,2\n", {"context_column": "note"}, 1, "no column 'note'"),
        ("id,name\n1,2\n1\n", {}, 3, "1 cells where the header names 2 columns"),
        ("id\tname\n1\t2\t3\n", {}, 2, "3 cells where"),
        ('id,name\n1,"never closed\n2,x\n', {}, 2, "quotes of the row that starts here"),
    ],
)
def test_damage_is_refused_with_its_line(
    text: str, options: dict[str, str], line: int, problem: str
) -> None:
    with pytest.raises(ReadError) as caught:
        rows(text, **options)
    assert caught.value.line == line
    assert problem in str(caught.value)


def test_a_header_is_expected() -> None:
    with pytest.raises(ReadError, match="no header"):
        rows("\n\n")


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n"])
def test_a_delimiter_is_one_character(delimiter: str) -> None:
    with pytest.raises(InvalidInput, match="one character"):
        rows("id,name\n", delimiter=delimiter)


# --- rows as they are written ---------------------------------------------------------------------


def table_of(text: str, column: str = "name") -> MentionTable:
    return parse_table(text.splitlines(keepends=True), "x.csv", column=column)


def test_a_row_knows_how_it_is_written() -> None:
    table = table_of('id;"name"\r\n\r\n"1";"a ""b"""\r\n2;"c\nd"')
    first, second = [row.cells for row in table]
    assert (table.columns.text, table.columns.end) == ('id;"name"', "\r\n")
    assert (first, first.text, first.end) == (["1", 'a "b"'], '"1";"a ""b"""', "\r\n")
    assert (second, second.text, second.end) == (["2", "c\nd"], '2;"c\nd"', "")
    assert [row.quoted for row in (table.columns, first, second)] == [False, True, False]
    assert second.delimiter == ";"
    assert repr(first) != repr(Row(first, '1;"a ""b"""\r\n', ";"))


def test_a_blank_line_is_an_empty_cell_in_a_table_of_one_column() -> None:
    assert [row.cells for row in table_of("name\nhip\n\n")] == [["hip"], [""]]
    assert [row.cells for row in table_of("name\tid\nhip\t1\n\n")] == [["hip", "1"]]


@pytest.mark.parametrize("word", ["nan", "NaN", "NaT", "<NA>", "None", "NULL", "#N/A", " NaN "])
def test_what_programs_write_for_no_value_is_no_mention(word: str) -> None:
    (row,) = table_of(f"id,name\n1,{word}\n")
    assert (row.mention.text, row.cells) == ("", ["1", word])


@pytest.mark.parametrize("word", ["NA", "N/A", "n/a", "none", "null", "Nan", "-"])
def test_what_may_be_a_name_is_a_mention(word: str) -> None:
    (row,) = table_of(f"id,name\n1,{word}\n")
    assert row.mention.text == word


# --- a first line that names the delimiter --------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [
        ("sep=;", ";"),
        ("sep=,", ","),
        ("sep=\t", "\t"),
        ("sep=\\t", "\t"),
        ('"sep=|"', "|"),
        ("sep=^", "^"),
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_first_line_names_the_delimiter(line: str, delimiter: str, mark: str, end: str) -> None:
    cells = [["id", "name"], ["1", "gout"], ["2", "hip pain"]]
    text = "".join(f"{one}{end}" for one in [mark + line, *map(delimiter.join, cells)])
    table = parse_table(text.splitlines(keepends=True), "x.csv", column="name")
    assert [row.mention.text for row in table] == ["gout", "hip pain"]
    assert (table.columns, table.delimiter, table.announced) == (["id", "name"], delimiter, line)


def test_errors_count_the_line_that_names_the_delimiter() -> None:
    for lines in (["sep=;", "id;name", "1;a", "2;b;c"], ["", "", "id;name", "2;b;c"]):
        table = parse_table([f"{line}\n" for line in lines], "x.csv", column="name")
        with pytest.raises(ReadError) as caught:
            list(table)
        assert caught.value.line == 4
    for lines in (["sep=\\t", "id\tname", "1\ta", "2\tb\tc"], ["sep=,"], ["sep=,", " "]):
        with pytest.raises(ReadError, match=r"3 cells|holds no header"):
            list(parse_table([f"{line}\n" for line in lines], "x.csv", column="name"))


def test_a_delimiter_that_is_given_overrules_the_one_that_is_named() -> None:
    lines = ["sep=,\n", "id;name\n", "1;gout\n"]
    table = parse_table(lines, "x.csv", column="name", delimiter=";")
    assert [row.mention.text for row in table] == ["gout"]
    assert table.announced == ""
