"""Delimited rows and their columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.errors import ReadError
from canonym.io.streams import open_text
from canonym.io.tables import announced_delimiter, column_places, open_table, split_rows


def rows_of(path: Path, text: str, **options: object) -> list[list[str]]:
    path.write_text(text)
    with open_text(path) as stream:
        return list(split_rows(stream, **options))  # type: ignore[arg-type]


def test_quoted_cells_may_hold_anything(tmp_path: Path) -> None:
    text = 'a,"b, c"\n\n"d\ne","say ""f"""\n'
    assert rows_of(tmp_path / "t.csv", text) == [["a", "b, c"], ["d\ne", 'say "f"']]


def test_without_quoting_a_quote_is_a_character(tmp_path: Path) -> None:
    text = 'a\t"b\n\nc"\td'
    found = rows_of(tmp_path / "t.tsv", text, delimiter="\t", quoted=False)
    assert found == [["a", '"b'], ['c"', "d"]]


def test_delimiters_of_several_characters(tmp_path: Path) -> None:
    assert rows_of(tmp_path / "t", "a||b\n", delimiter="||", quoted=False) == [["a", "b"]]


@pytest.mark.parametrize("quoted", [True, False])
def test_a_row_of_another_width_is_named(tmp_path: Path, quoted: bool) -> None:
    with pytest.raises(ReadError, match="3 cells where 2") as caught:
        rows_of(tmp_path / "t.csv", "a,b\nc,d,e\n", quoted=quoted, width=2)
    assert caught.value.line == 2


@pytest.mark.parametrize("bad", ['"open', '"closed"text,e'])
def test_unbalanced_quotes_are_named_at_the_start_of_their_row(tmp_path: Path, bad: str) -> None:
    with pytest.raises(ReadError, match="unbalanced") as caught:
        rows_of(tmp_path / "t.csv", f"a,b\nc,{bad}\ne,f\n")
    assert caught.value.line == 2


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,name,type\n")
    with open_text(path) as stream:
        header = next(split_rows(stream))
        assert column_places(stream, header, ["type", "id"]) == [2, 0]
        with pytest.raises(ReadError, match=r"no column 'label'.*'id', 'name', 'type'") as caught:
            column_places(stream, header, ["id", "label"])
        assert caught.value.line == 1


# --- a first line that names the delimiter --------------------------------------------------------

ANNOUNCED = [
    ("sep=;", ";"), ("sep=,", ","), ("sep=|", "|"), ("sep=\t", "\t"), ("sep=\\t", "\t"),
    ("sep=^", "^"),
    ("sep=~", "~"), ("sep=:", ":"), ("sep=#", "#"), ("SEP=;", ";"), ("Sep=,", ","),
    ("sep=;\n", ";"),
    ("sep=;\r\n", ";"), ("sep=\t\n", "\t"), ("sep=; \n", ";"), (" sep=;", ";"), ('"sep=;"', ";"),
    ('"sep=\t"', "\t"), ('"sep=\\t"', "\t"), ("\ufeffsep=;", ";"), ('\ufeff"sep=;"', ";"),
    ("sep=,,,", ","), ("sep=;;", ";"), ('"sep=,",,', ","), ('"sep=";;', ";"), ("sep=\t\t", "\t"),
]  # fmt: skip
"""First lines, and the delimiter that they name."""

NOT_ANNOUNCED = [
    "sep", "sep=", "sep=a", "sep=1", "sep=_", "sep=;id", "sep;=", "separator=;", "id;sep=;",
    "sep=;,",
    "sepsis=;", "sep =;x", "sep=ab", "", "\n", "id,name", '"sep"', "sep,id", "SEP\tid", "step=;",
    '"sep=""',
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "delimiter"), [*ANNOUNCED, *((line, None) for line in NOT_ANNOUNCED)]
)
def test_a_line_may_name_the_delimiter(line: str, delimiter: str | None) -> None:
    assert announced_delimiter(line) == delimiter


@pytest.mark.parametrize(("line", "delimiter"), ANNOUNCED)
def test_a_table_is_read_behind_that_line(tmp_path: Path, line: str, delimiter: str) -> None:
    file = tmp_path / "a.csv"
    rows = [
        line.strip("\r\n"),
        f"id{delimiter}name",
        f"1{delimiter}a,b;c" if delimiter not in ",;" else "1" + delimiter + "a",
    ]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    with open_table(file) as table:
        assert table.header == ("id", "name")
        assert [cells[0] for cells in table.rows] == ["1"]
        assert table.error("x").line == 3
    with open_table(file, header=False) as table:
        assert [cells[0] for cells in table.rows] == ["id", "1"]
