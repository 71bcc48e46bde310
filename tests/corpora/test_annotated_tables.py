"""Tables of annotated mentions with named columns."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from canonym.cli.annotated import open_corpus
from canonym.corpora import read_annotated_table
from canonym.errors import InvalidInput, ReadError
from canonym.types import Mention
from tests.io.making import make_xlsx

CSV = (
    "pmid,Mention,Concept ID,type,start,end,context,note\n"
    '7,"hip, broken",D1|D2,Injury,4,15,"my hip, broken",x\n'
    "\n"
    "8,rash,-1,,,,,\n"
    '8,"a ""cold""","D3,D4",,0,4,,\n'
)
MENTIONS = [
    Mention("hip, broken", 4, 15, "Injury", ("D1", "D2"), "all", "7", "my hip, broken"),
    Mention("rash", rule="nil", document_id="8"),
    Mention('a "cold"', 0, 4, "", ("D3", "D4"), "any", "8"),
]


def written(folder: Path, text: str, name: str = "gold.csv") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_columns_are_recognised(tmp_path: Path) -> None:
    assert list(read_annotated_table(written(tmp_path, CSV))) == MENTIONS
    packed = tmp_path / "gold.csv.gz"
    packed.write_bytes(gzip.compress(CSV.encode()))
    assert list(read_annotated_table(packed)) == MENTIONS
    tabs = written(tmp_path, 'term\tcode\trule\n5" cut\tD1,D2\tall\n', "gold.tsv")
    assert list(read_annotated_table(tabs)) == [Mention('5" cut', ids=("D1", "D2"), rule="all")]


def test_columns_may_be_named(tmp_path: Path) -> None:
    file = written(tmp_path, "a;b;mention\nx;D1;other\n")
    found = read_annotated_table(file, columns={"mention": "a", "ids": "B"}, delimiter=";")
    assert list(found) == [Mention("x", ids=("D1",))]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("mention,kind\nx,y\n", "no column for ids: ids or id or gold"),
        ("word,id\nx,y\n", "no column for mention: .* columns are 'word', 'id'"),
        ("mention,id\n,D1\n", "row 1: the mention is empty"),
        ("mention,id,start\nx,D1,-4\n", "row 1: start is '-4', no whole number"),
        (f"mention,id,end\nx,D1,{'9' * 5000}\n", "row 1: end is '9{20}', no whole number"),
        ("mention,id,rule\nx,D1,any\nx,D1,some\n", "row 2: rule is 'some'"),
        ("mention,id\nx\n", "1 cells where the header names 2"),
        ("\n\n", "holds no header"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ReadError, match=problem):
        list(read_annotated_table(written(tmp_path, text)))


def test_roles_and_columns_that_there_are_not(tmp_path: Path) -> None:
    file = written(tmp_path, CSV)
    with pytest.raises(InvalidInput, match="no role 'id'; there are mention, ids"):
        list(read_annotated_table(file, columns={"id": "x"}))
    with pytest.raises(ReadError, match="no column for type: 'kind' was expected"):
        list(read_annotated_table(file, columns={"type": "kind"}))
    twice = written(tmp_path, "mention,Mention,id\nx,y,z\n")
    with pytest.raises(ReadError, match="no column for mention"):
        list(read_annotated_table(twice))


def parquet(folder: Path, rows: Sequence[dict[str, object]]) -> Path:
    arrow = pytest.importorskip("pyarrow")
    tables = pytest.importorskip("pyarrow.parquet")
    file = folder / "gold.parquet"
    tables.write_table(arrow.Table.from_pylist(list(rows)), file)
    return file


def test_parquet_has_lists_of_ids(tmp_path: Path) -> None:
    file = parquet(
        tmp_path,
        [
            {"text": "hip", "ids": ["D1", "D|2"], "rule": "all", "doc": 7, "start": 0, "end": 3},
            {"text": "rash", "ids": [], "rule": "nil", "doc": 7, "start": None, "end": None},
            {"text": "cold", "ids": None, "rule": None, "doc": None, "start": None, "end": None},
        ],
    )
    assert list(read_annotated_table(file)) == [
        Mention("hip", 0, 3, "", ("D1", "D|2"), "all", "7"),
        Mention("rash", rule="nil", document_id="7"),
        Mention("cold"),
    ]
    cells = parquet(tmp_path, [{"mention": "hip", "id": "D1|D2"}])
    assert list(read_annotated_table(cells)) == [Mention("hip", ids=("D1", "D2"), rule="all")]


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    file = tmp_path / "gold.parquet"
    file.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(ReadError, match="no complete Parquet file"):
        list(read_annotated_table(file))
    whole = parquet(tmp_path, [{"mention": f"hip {i}", "id": f"D{i}"} for i in range(500)])
    content = bytearray(whole.read_bytes())
    content[20:400] = b"\xff" * 380
    whole.write_bytes(bytes(content))
    with pytest.raises(ReadError, match="the Parquet file is damaged"):
        list(read_annotated_table(whole))


def test_the_command_line_recognises_them(tmp_path: Path) -> None:
    assert open_corpus(str(written(tmp_path, CSV))).format == "columns"
    assert open_corpus(str(parquet(tmp_path, [{"mention": "x", "id": "D1"}]))).format == "columns"
    bare = written(tmp_path, "D1\tmention\n", "cadec.txt")
    assert open_corpus(str(bare)).format == "table"
    lines = written(tmp_path, json.dumps({"mention": "x", "ids": ["D1"]}) + "\n", "x.jsonl")
    assert open_corpus(str(lines)).format == "jsonl"


@pytest.mark.parametrize(
    ("line", "delimiter"), [("sep=;", ";"), ("sep=,", ","), ("sep=\\t", "\t"), ('"sep=|"', "|")]
)
def test_a_first_line_names_the_delimiter(tmp_path: Path, line: str, delimiter: str) -> None:
    cells = [["doc_id", "mention", "ids"], ["7", "hip", "D1"], ["8", "rash", "D2"]]
    lines = [line, *map(delimiter.join, cells)]
    file = written(tmp_path, "\ufeff" + "".join(f"{one}\r\n" for one in lines))
    mentions = [
        Mention("hip", ids=("D1",), document_id="7"),
        Mention("rash", ids=("D2",), document_id="8"),
    ]
    assert list(read_annotated_table(file)) == mentions
    assert open_corpus(str(file)).format == "columns"


def test_ids_of_a_sheet_that_lost_digits_are_refused(tmp_path: Path) -> None:
    rows = [["mention", "ids", "start", "end"], ["hip", "D1", 3, 6], ["rash", 9.99001261e17, 1, 5]]
    book = make_xlsx(tmp_path / "a.xlsx", {"S": rows})
    with pytest.raises(ReadError, match="row 3: the id in B3 is a number"):
        list(read_annotated_table(book))


def test_offsets_may_have_the_format_of_a_number(tmp_path: Path) -> None:
    file = written(tmp_path, "mention,ids,start,end\nhip,D1,3.0,6.00\n")
    assert list(read_annotated_table(file)) == [Mention("hip", 3, 6, "", ("D1",))]
