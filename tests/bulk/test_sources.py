"""Files as input of bulk runs: found, cut into shards, read as they stand."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym import InvalidInput
from canonym.bulk.sources import find_files, plan, read_shard
from canonym.errors import Mismatch, ReadError


def read(source: str | Path, shard_rows: int = 3) -> list[dict[str, Any]]:
    """Read all rows, shard by shard."""
    layout, shards = plan(find_files(str(source)), shard_rows)
    assert [shard.number for shard in shards] == list(range(len(shards)))
    tables = [read_shard(shard, layout) for shard in shards]
    assert all(0 < table.num_rows <= shard_rows for table in tables)
    return [row for table in tables for row in table.to_pylist()]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- values stay as they are ----------------------------------------------------------------------


def test_cells_of_csv_stay_as_they_stand(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "a.csv",
        '\ufeffid,dx\r\n007,1.10\r\n"a ""b""\nc",NaN\r\n, x \r\n2020-01-01,5" n\r\n',
    )
    cells = [("007", "1.10"), ('a "b"\nc', "NaN"), ("", " x "), ("2020-01-01", '5" n')]
    assert [tuple(row.values()) for row in read(path)] == cells
    assert list(read(path)[0]) == ["id", "dx"]


def test_a_row_of_a_tab_separated_file_is_a_line(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", 'id\tdx\n1\t"heart\n2\t"a ""b"""\n')
    assert read(path) == [{"id": "1", "dx": '"heart'}, {"id": "2", "dx": 'a "b"'}]


def test_the_delimiter_of_csv_is_that_of_its_header(tmp_path: Path) -> None:
    assert read(written(tmp_path, "a.csv", "id;dx\n1;a,b\n")) == [{"id": "1", "dx": "a,b"}]


def test_a_line_without_text_is_a_row_of_a_table_of_one_column(tmp_path: Path) -> None:
    assert read(written(tmp_path, "a.csv", "dx\na\n\nb\n")) == [
        {"dx": "a"},
        {"dx": ""},
        {"dx": "b"},
    ]
    assert read(written(tmp_path, "b.tsv", "dx\na\n\nb\n")) == [
        {"dx": "a"},
        {"dx": ""},
        {"dx": "b"},
    ]
    assert read(written(tmp_path, "c.csv", "i,dx\n1,a\n\n")) == [{"i": "1", "dx": "a"}]


def test_values_of_json_lines_become_text_as_they_are_written(tmp_path: Path) -> None:
    lines = '{"dx": "007", "n": 1.10}\n\n{"n": [1.5, {"a": true}], "late": false, "dx": null}\n'
    assert read(written(tmp_path, "a.jsonl", lines), 1) == [
        {"dx": "007", "n": "1.10", "late": None},
        {"dx": None, "n": '[1.5, {"a": true}]', "late": "false"},
    ]


def test_columns_of_parquet_keep_their_types_and_rows_their_order(tmp_path: Path) -> None:
    table = pa.table({
        "n": pa.array(range(20), pa.int16()),
        "dx": pa.array([f"d{n % 3}" for n in range(20)]).dictionary_encode(),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    files = find_files(str(tmp_path / "a.parquet"))
    for rows in (1, 3, 7, 10, 20, 100):
        layout, shards = plan(files, rows)
        tables = [read_shard(shard, layout) for shard in shards]
        assert pa.concat_tables(tables).equals(table), rows
        assert tables[0].num_rows == min(rows, 20)


@given(
    st.lists(
        st.tuples(*[st.text(st.sampled_from('ab,"\r\n;é '), max_size=5)] * 2),
        min_size=1,
        max_size=9,
    ),
    st.integers(1, 4),
)
def test_shards_of_any_csv_are_the_rows_of_the_file(
    rows: list[tuple[str, str]], shard_rows: int
) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([("x", "dx"), *rows])
    with fsspec.open("memory://property.csv", "wb") as stream:
        stream.write(text.getvalue().encode())
    found = [tuple(row.values()) for row in read("memory://property.csv", shard_rows)]
    assert found == rows


# --- files ----------------------------------------------------------------------------------------


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name, cell in (("b.csv", "2"), ("deep/c.csv", "3"), ("a.csv", "1"), ("_x.csv", "4")):
        written(tmp_path, name, f"dx\n{cell}\n")
    written(tmp_path, "README.md", "no data")
    assert [row["dx"] for row in read(tmp_path)] == ["1", "2", "3"]
    assert [file.name for file in find_files(str(tmp_path))] == ["a.csv", "b.csv", "deep/c.csv"]


def test_a_pattern_names_files(tmp_path: Path) -> None:
    for name in ("a1.csv", "a2.csv", "b.csv", "a.jsonl"):
        written(tmp_path, name, f"dx\n{name}\n")
    assert [row["dx"] for row in read(tmp_path / "a*.csv")] == ["a1.csv", "a2.csv"]
    assert [file.name for file in find_files(str(tmp_path / "a*.csv"))] == ["a1.csv", "a2.csv"]


def test_a_url_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "dx\nheart\n")
    assert read(path.as_uri()) == [{"dx": "heart"}]
    with fsspec.open("memory://bulk/b.jsonl", "wb") as stream:
        stream.write(json.dumps({"dx": "é"}).encode())
    assert read("memory://bulk") == [{"dx": "é"}]


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "source", "message"),
    [
        ({}, "none.csv", "no such file, or no file in it"),
        ({}, ".", "no such file, or no file in it"),
        ({"a.xyz": ""}, "a.xyz", "ends in '.xyz'; expected files that end in .csv"),
        ({"a.csv": "x\n1\n", "b.tsv": "x\n1\n"}, ".", ".csv and .tsv files; name those of one"),
        ({"a.csv": ""}, "a.csv", "line 1: a header with the names of the columns is expected"),
        ({"a.csv": "x,dx\n"}, "a.csv", "there are no rows in the input"),
        ({"a.jsonl": "\n"}, "a.jsonl", "there are no rows in the input"),
        ({"a.csv": "dx,dx\n1,2\n"}, "a.csv", "several columns are named 'dx'"),
        ({"a.csv": b"x,dx\n1,\xe9\n"}, "a.csv", "line 2: is no UTF-8"),
        ({"a.csv": 'x,dx\n1,"a\n'}, "a.csv", "line 2: the quotes of the row that starts here"),
        ({"a.parquet": "PAR1"}, "a.parquet", "is no whole Parquet file"),
        (
            {"a.csv": "x,dx\n1,2\n", "b.csv": "x,dy\n1,2\n"}, ".",
            "b.csv: has the columns 'x', 'dy', separated by ',', and a.csv has the columns 'x'",
        ),
        ({}, "nope://x/a.csv", "is no path and no URL that can be read"),
    ],
)  # fmt: skip
def test_input_that_cannot_be_used_is_refused_with_its_reason(
    tmp_path: Path, files: dict[str, str | bytes], source: str, message: str
) -> None:
    for name, content in files.items():
        written(tmp_path, name, content)
    with pytest.raises(InvalidInput) as caught:
        read(source if "://" in source else tmp_path / source)
    assert message in str(caught.value)


def test_a_protocol_without_its_package_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(InvalidInput, match=r"s3://bucket/a\.csv: Install s3fs"):
        find_files("s3://bucket/a.csv")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "x,dx\n1,2\n3\n", "line 3: the row has 1 cells, and the header has 2"),
        ("a.tsv", "x\tdx\n1\t2\n3\t4\t5\n", "line 3: the row has 3 cells, and the header has 2"),
        ("a.jsonl", '{"dx": 1}\n{"dx"\n', "line 2: is no JSON object on one line"),
        ("a.jsonl", '{"dx": 1}\n' + "[" * 99_999, "line 2: is no JSON object on one line (it is n"),
        ("a.jsonl", '{"dx": 1}\n[1]\n', "line 2: is no JSON object on one line (it is a list)"),
    ],
)
def test_a_broken_row_is_told_with_its_line(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    layout, shards = plan(find_files(str(written(tmp_path, name, content))), 1)
    assert read_shard(shards[0], layout).num_rows == 1
    with pytest.raises(ReadError) as caught:
        read_shard(shards[1], layout)
    assert message in str(caught.value)


def test_a_file_that_changes_after_it_was_planned_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "dx\n1\n")
    layout, shards = plan(find_files(str(path)), 1)
    path.write_text("dx\n12\n", encoding="utf-8")
    with pytest.raises(Mismatch, match=r"a\.csv has changed since the run began"):
        read_shard(shards[0], layout)
    path.unlink()
    with pytest.raises(ReadError, match="the file is gone"):
        read_shard(shards[0], layout)


def test_a_damaged_column_of_parquet_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"dx": [f"text {n}" for n in range(500)]}), path)
    files = find_files(str(path))
    layout, shards = plan(files, 500)
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(content)
    now = find_files(str(path))[0]
    with pytest.raises(ReadError, match="the Parquet file is damaged"):
        read_shard(shards[0]._replace(file=now), layout)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize(
    ("line", "delimiter"), [("sep=;", ";"), ("sep=,", ","), ("sep=\\t", "\t"), ('"sep=|"', "|")]
)
def test_a_first_line_names_the_delimiter(
    tmp_path: Path, name: str, line: str, delimiter: str
) -> None:
    cells = [["id", "dx"], *([str(n), "hip"] for n in range(7))]
    lines = ["\ufeff" + line, *map(delimiter.join, cells)]
    path = written(tmp_path, name, "".join(f"{one}\r\n" for one in lines))
    assert read(path) == [{"id": str(n), "dx": "hip"} for n in range(7)]
