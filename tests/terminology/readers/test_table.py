"""Tables: columns, labels, hierarchies, spreadsheets' leftovers, and the real MeSH tables."""

from __future__ import annotations

import csv
import gzip
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import MissingExtra, ReadError
from canonym.io.tables import open_table
from canonym.terminology.readers.table import RECOGNISED, find_columns, read_table
from canonym.types import Concept, Name, Record, Relation
from tests.files import written
from tests.io.making import make_xlsx
from tests.logs import Log


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "names.tsv"


def read(file: Path, text: str, **options: object) -> list[Record]:
    file.write_text(text, encoding="utf-8", newline="")
    return list(read_table(file, **options))  # type: ignore[arg-type]


# --- ids that lost digits -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "id_", ["9.99001E+17", "9,99001E+17", "9.99001261e+17", "1E+15", "4.5e+16", " 1.2E+11 "]
)
def test_ids_that_a_spreadsheet_shortened_are_refused(file: Path, id_: str) -> None:
    with pytest.raises(ReadError, match=r"line 3: .* its last digits are lost"):
        read(file, f"id\tname\n22298006\ta\n{id_}\tb\n")


@pytest.mark.parametrize(
    "id_",
    ["999001261000000105", "1.2E+1", "E+17", "9.9E17x", "EC:1.1.1.1", "A+12", "NA+K+", "1E-15"],
)
def test_other_ids_are_as_they_are_written(file: Path, id_: str) -> None:
    assert read(file, f"id\tname\n{id_}\tb\n") == [Concept(id_, "b")]


def test_parents_of_a_sheet_that_lost_digits_are_refused(tmp_path: Path) -> None:
    rows = [["id", "name", "parent"], [1, "a", 2], [3, "b", 9.99001261e17]]
    book = make_xlsx(tmp_path / "a.xlsx", {"S": rows})
    with pytest.raises(ReadError, match="row 3: the id in C3 is a number"):
        list(read_table(book))
    assert len(list(read_table(book, parent_column=""))) == 2


def test_a_flag_may_have_the_format_of_a_number(file: Path) -> None:
    assert read(file, "id\tname\tis_preferred\n1\ta\t0.00\n1\tb\t1.00\n") == [
        Concept("1"), Name("a", "1"), Name("b", "1", "label"),
    ]  # fmt: skip


# --- names and labels -----------------------------------------------------------------------------


def test_the_first_name_is_the_label_where_nothing_says_otherwise(file: Path) -> None:
    assert read(file, "id\tname\n1\ta\n2\tb\n1\tc\n1\ta\n") == [
        Concept("1", "a"),
        Concept("2", "b"),
        Name("c", "1"),
        Name("a", "1"),
    ]


def test_a_label_column(file: Path) -> None:
    text = "id,label,name\n1,A,a\n1,A,A\n1,B,b\n2,C,C\n2,C,\n"
    assert read(file, text, skip_incomplete=True) == [
        Concept("1", "A"),
        Name("a", "1"),
        Concept("1"),
        Name("B", "1"),
        Name("b", "1"),
        Concept("2", "C"),
    ]


def test_a_label_column_alone_is_the_names(file: Path) -> None:
    assert read(file, "code;Preferred Label\nX1;a b\n") == [Concept("X1", "a b")]


def test_a_label_flag(file: Path) -> None:
    text = "id|name|is_preferred\n1|a|N\n2|b|Y\n1|c|y\n1|d|true\n2|e|0\n"
    assert read(file, text) == [
        Concept("1"),
        Name("a", "1"),
        Concept("2", "b"),
        Name("c", "1", "label"),
        Name("d", "1"),
        Name("e", "2"),
    ]


def test_a_label_column_overrules_the_flag(file: Path) -> None:
    text = "id\tlabel\tname\tpreferred\n1\tA\tb\tY\n1\tA\tA\tnonsense\n"
    assert read(file, text) == [Concept("1", "A"), Name("b", "1")]


def test_scopes(file: Path) -> None:
    text = (
        "id\tname\tscope\tlabel\n"
        "1\ta\tEXACT\tL\n1\tb\tlabel\tL\n1\tc\tacronym\tL\n1\td\t\tL\n1\te\tNarrow\tL\n"
    )
    assert read(file, text) == [
        Concept("1", "L"),
        Name("a", "1"),
        Name("b", "1"),
        Name("c", "1", "abbreviation"),
        Name("d", "1"),
        Name("e", "1", "narrow"),
    ]
    assert read(file, text, label_column="") == [
        Concept("1"),
        Name("a", "1"),
        Name("b", "1", "label"),
        Name("c", "1", "abbreviation"),
        Name("d", "1"),
        Name("e", "1", "narrow"),
    ]


def test_synonyms_in_one_cell(file: Path) -> None:
    text = "id,name,synonyms\n1,a,b | c||d\n2,e,\n"
    assert read(file, text) == [
        Concept("1", "a"),
        Name("b", "1"),
        Name("c", "1"),
        Name("d", "1"),
        Concept("2", "e"),
    ]
    assert read(file, text, separator="")[1] == Name("b | c||d", "1")
    assert read(file, text, synonym_column="") == [Concept("1", "a"), Concept("2", "e")]


def test_languages(file: Path) -> None:
    text = "id,name,lang\n1,Herz,de\n1,heart,en\n2,heart,\n"
    assert read(file, text) == [
        Concept("1"),
        Name("Herz", "1", "label", "de"),
        Name("heart", "1"),
        Concept("2", "heart"),
    ]
    assert read(file, text, language="fr")[3:] == [
        Concept("2"),
        Name("heart", "2", "label", "fr"),
    ]


def test_equal_names_in_two_languages_are_two(file: Path) -> None:
    text = "id,label,name,language\n1,Diabetes,Diabetes,de\n1,Diabetes,Diabetes,en\n"
    assert read(file, text) == [Concept("1", "Diabetes"), Name("Diabetes", "1", "exact", "de")]


def test_sources_types_and_definitions(file: Path) -> None:
    text = (
        "id\tname\ttype\tdefinition\tvocabulary\n"
        "1\ta\tT047|T046\tA text.\tX\n1\tb\tT047|T046\tA text.\tY\n1\tc\tT033\t\tY\n"
    )
    found = read(file, text, source_column="vocabulary", source="S", version="V", prefix="P:")
    assert found == [
        Concept("P:1", "a", "A text.", ("T047", "T046"), "S", "V"),
        Name("b", "P:1", "exact", "en", "Y"),
        Concept("P:1", "", "", ("T033",), "S", "V"),
        Name("c", "P:1", "exact", "en", "Y"),
    ]


def test_ids_keep_a_prefix_that_they_have(file: Path) -> None:
    found = read(file, "id,name,parents\n1,a,2|P:3\nP:2,b,\n", prefix="P:")
    assert found == [
        Concept("P:1", "a"),
        Relation("P:1", "is_a", "P:2"),
        Relation("P:1", "is_a", "P:3"),
        Concept("P:2", "b"),
    ]


def test_several_ids_in_one_cell(file: Path) -> None:
    text = "id,name,synonyms\nC1+C2,a,b\nC2,c,\n"
    assert read(file, text, id_separator="+") == [
        Concept("C1", "a"),
        Concept("C2", "a"),
        Name("b", "C1"),
        Name("b", "C2"),
        Name("c", "C2"),
    ]
    assert read(file, text)[0] == Concept("C1+C2", "a")


# --- hierarchies ----------------------------------------------------------------------------------


def test_parents_over_several_rows(file: Path) -> None:
    text = "id,name,parent\n1,a,2\n1,b,2\n1,c,3\n"
    assert [r for r in read(file, text) if isinstance(r, Relation)] == [
        Relation("1", "is_a", "2"),
        Relation("1", "is_a", "3"),
    ]


def test_tree_numbers_in_a_column(file: Path) -> None:
    text = "id\tname\ttree_numbers\nc\tC\tC01.5.7|D02\nb\tB\tC01.5\na\tA\tC01\nd\tD\tC01.9.9.9\n"
    found = read(file, text, tree_types=True)
    assert [r for r in found if isinstance(r, Relation)] == [
        Relation("c", "is_a", "b"),
        Relation("b", "is_a", "a"),
        Relation("d", "is_a", "a"),  # the numbers between are nobody's
    ]
    assert found[0] == Concept("c", "C", types=("C", "D"))


def test_tree_numbers_in_a_second_file(file: Path, tmp_path: Path) -> None:
    trees = tmp_path / "trees.csv"
    trees.write_text(
        "id,tree_number\n1,C01\n2,C01.1\n2,D05.1\n3,C01.1.2\n3,D05.1.7\n3,C01.1.2.3\n4,9\n"
    )
    text = "id\tname\n1\ta\n2\tb\n3\tc\n4\td\n"
    found = read(file, text, trees=trees, prefix="M:", tree_types=True)
    assert found == [
        Concept("M:1", "a", types=("C",)),
        Concept("M:2", "b", types=("C", "D")),
        Concept("M:3", "c", types=("C", "D")),
        Concept("M:4", "d"),
        Relation("M:2", "is_a", "M:1"),
        Relation("M:3", "is_a", "M:2"),
        Relation("M:3", "is_a", "M:2"),
    ]
    assert {r.types for r in read(file, text, trees=trees) if isinstance(r, Concept)} == {()}


def test_tree_numbers_of_unknown_ids(file: Path, tmp_path: Path) -> None:
    trees = written(tmp_path / "trees.csv", "id,tree_number\n1,C01\n2,C01.1\n3,C01.1.2\n")
    text = "id\tname\n1\ta\n3\tc\n"
    with pytest.raises(ReadError, match=r"trees.csv: has tree numbers of 1 ids .* such as 2"):
        read(file, text, trees=trees)
    assert read(file, text, trees=trees, skip_incomplete=True)[2:] == [Relation("3", "is_a", "1")]
    with pytest.raises(ReadError, match=r"names.tsv, line 1: no column 'nothing' for id"):
        read(file, text, trees=file, tree_column="name", tree_id_column="nothing")
    with pytest.raises(ReadError, match=r"no column of tree numbers .* with tree_column"):
        read(file, text, trees=file)


# --- columns --------------------------------------------------------------------------------------


def test_every_spelling_is_recognised(tmp_path: Path) -> None:
    for role, names in RECOGNISED.items():
        for name in names:
            if role != "definition" and name == "description":
                continue
            header = name.replace("_", " ").title()
            others = [each for each in ("id", "name") if each != role]
            (tmp_path / "t.csv").write_text(",".join([*others, header]) + "\n")
            with open_table(tmp_path / "t.csv") as table:
                roles = find_columns(table, {**dict.fromkeys(others), role: None})
            assert roles.get(role) == len(others), (role, name)


def test_a_comment_sign_and_odd_spelling(file: Path) -> None:
    assert read(file, "# Concept-ID ,TERM\n1,a\n") == [Concept("1", "a")]


def test_columns_by_name(file: Path) -> None:
    text = "x,y,Z z\n1,2,3\n"
    assert read(file, text, id_column="y", name_column="zZ") == [Concept("2", "3")]
    with pytest.raises(ReadError, match="line 1: no column 'q' for id: the columns are 'x', 'y'"):
        read(file, text, id_column="q", name_column="x")


def test_ids_or_names_that_cannot_be_found(file: Path) -> None:
    with pytest.raises(ReadError) as caught:
        read(file, "D009203\tMyocardial Infarction\nD003920\tDiabetes Mellitus\n")
    message = str(caught.value)
    assert "no column of ids or names is recognised" in message
    assert "'D009203', 'Myocardial Infarction'" in message
    assert "id_column and name_column" in message
    assert "header=False" in message
    with pytest.raises(ReadError, match="no column of names is recognised"):
        read(file, "id\tq\n1\ta\n")


def test_a_column_named_twice(file: Path) -> None:
    with pytest.raises(ReadError, match="2 columns 'name' for name"):
        read(file, "id,name,Name\n1,a,b\n")
    with pytest.raises(ReadError, match="2 columns 'id' for id"):
        read(file, "id,id,name\n1,2,a\n", id_column="id")
    assert read(file, "id,name,Name\n1,a,b\n", name_column="Name") == [Concept("1", "b")]


def test_without_a_header(file: Path) -> None:
    assert read(file, "1\ta\n1\tb\n", header=False) == [Concept("1", "a"), Name("b", "1")]
    found = read(
        file, "a,1,T\nb,2,T\n", header=False, id_column="2", name_column="1", type_column="3"
    )
    assert found == [Concept("1", "a", types=("T",)), Concept("2", "b", types=("T",))]
    with pytest.raises(ReadError, match="line 2: 3 cells where the first row has 2"):
        read(file, "1\ta\n1\tb\tc\n", header=False)


# --- delimiters and quotes ------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|"])
def test_the_delimiter_is_found(file: Path, delimiter: str) -> None:
    text = f'id{delimiter}name{delimiter}"a{delimiter},;|b"\n1{delimiter}x{delimiter}y\n'
    assert read(file, text, quoted=True) == [Concept("1", "x")]


def test_a_delimiter_can_be_given(file: Path) -> None:
    assert read(file, "id||name\n1||a|b\n", delimiter="||", quoted=False) == [Concept("1", "a|b")]
    text = "id:name,first\n1:a,b\n"
    found = read(file, text, delimiter=":", name_column="name,first")
    assert found == [Concept("1", "a,b")]


def test_one_column(file: Path) -> None:
    with pytest.raises(ReadError, match="line 1: the first line has no tab, comma, semicolon"):
        read(file, "name\na\n")


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ('5" catheter', '5" catheter'),
        ('"Lop ear', '"Lop ear'),
        ('"a, b"', "a, b"),
        ('"""Lop"" ear"', '"Lop" ear'),
        ('"A" and "B"', '"A" and "B"'),
        ('"', '"'),
    ],
)
def test_quotes_between_tabs(file: Path, cell: str, name: str) -> None:
    assert read(file, f"id\tname\n1\t{cell}\n") == [Concept("1", name)]


def test_quotes_between_tabs_as_the_caller_says(file: Path) -> None:
    text = 'id\tname\n1\t"a\tb"\n'
    assert read(file, text, quoted=True) == [Concept("1", "a\tb")]
    with pytest.raises(ReadError, match="line 2: 3 cells where the first row has 2"):
        read(file, text)
    assert read(file, 'id\tname\n1\t"a"\n', quoted=False) == [Concept("1", '"a"')]


def test_quotes_that_never_close(file: Path) -> None:
    with pytest.raises(ReadError, match="line 3: the quotes of the row that starts here"):
        read(file, 'id,name\n1,a\n2,"b\n3,c\n')


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]))
        .map(str.strip)
        .filter(bool),
        min_size=1,
        max_size=8,
    )
)
def test_names_survive_a_csv_file(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("id", "name"), *((f"i{n}", s) for n, s in enumerate(names))])
    assert list(read_table(path)) == [Concept(f"i{n}", s) for n, s in enumerate(names)]


# --- leftovers and damage -------------------------------------------------------------------------


def test_what_spreadsheets_leave_behind(file: Path) -> None:
    text = "\ufeffid,name,,\r\n1,a,,\r\n\r\n , ,,\r\n,,,\r\n,,\r\n"
    assert read(file, text) == [Concept("1", "a")]


def test_compressed(tmp_path: Path) -> None:
    path = written(tmp_path / "t.tsv.gz", gzip.compress(b"id\tname\n1\ta\n"))
    assert list(read_table(path)) == [Concept("1", "a")]


def test_an_encoding_can_be_given(file: Path) -> None:
    file.write_bytes("id\tname\n1\tMénière\n".encode("cp1252"))
    with pytest.raises(ReadError, match="line 2: the line is not UTF-8"):
        list(read_table(file))
    assert list(read_table(file, encoding="cp1252")) == [Concept("1", "Ménière")]


@pytest.mark.parametrize("row", ["1", "1\tb\tc", "1\tb\t"])
def test_ragged_rows(file: Path, row: str) -> None:
    with pytest.raises(ReadError, match=r"line 3: \d cells where the first row has 2") as caught:
        read(file, f"id\tname\n1\ta\n{row}\n")
    assert caught.value.line == 3


@pytest.mark.parametrize("row", ["\tb", "1\t", " \tb"])
def test_rows_without_id_or_name(file: Path, row: str) -> None:
    text = f"id\tname\n1\ta\n{row}\n2\tc\n"
    with pytest.raises(ReadError, match=r"line 3: the row lacks its id or its name .*name="):
        read(file, text)
    assert read(file, text, skip_incomplete=True) == [Concept("1", "a"), Concept("2", "c")]


def test_values_that_are_not_understood(file: Path) -> None:
    with pytest.raises(ReadError, match=r"line 3: 'heart' in column 'preferred' does not say"):
        read(file, "id,name,preferred\n1,a,Y\n2,b,heart\n")
    with pytest.raises(ReadError, match=r"line 2: the scope 'fuzzy' is unknown: expected label"):
        read(file, "id,name,scope\n1,a,fuzzy\n")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no such file"):
        list(read_table(tmp_path / "nothing.tsv"))


# --- Parquet --------------------------------------------------------------------------------------


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"id": [1, 2], "name": ["a", "b"], "synonyms": [["c", "d"], None]}
    path = tmp_path / "t.parquet"
    parquet.write_table(arrow.table(columns), path)
    assert list(read_table(path)) == [
        Concept("1", "a"),
        Name("c", "1"),
        Name("d", "1"),
        Concept("2", "b"),
    ]
    parquet.write_table(arrow.table({"id": ["1", None], "name": ["a", "b"]}), path)
    with pytest.raises(ReadError, match="line 2: the row lacks its id"):
        list(read_table(path))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ReadError, match="is no complete Parquet file"):
        list(read_table(path))


def test_damaged_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(arrow.table({"id": ["x" * 500], "name": ["a"]}), path, compression="gzip")
    data = bytearray(path.read_bytes())
    data[8:60] = b"\xff" * 52
    path.write_bytes(data)
    with pytest.raises(ReadError, match="the Parquet file is damaged"):
        list(read_table(path))


@pytest.mark.parametrize("where", [b"name", b"hip!"])
def test_parquet_with_text_that_is_not_utf_8(tmp_path: Path, where: bytes) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    form = {"compression": "none", "store_schema": False, "write_statistics": False}
    parquet.write_table(arrow.table({"id": ["1"], "name": ["hip!"]}), path, **form)
    path.write_bytes(path.read_bytes().replace(where, b"\xff" + where[1:]))
    with pytest.raises(ReadError, match="utf-8"):
        list(read_table(path))


def test_parquet_with_a_value_that_python_cannot_hold(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    far = arrow.array([1 << 62], arrow.timestamp("ms"))
    parquet.write_table(arrow.table({"id": ["1"], "name": ["hip"], "seen": far}), path)
    with pytest.raises(ReadError, match="the Parquet file is damaged"):
        list(read_table(path))


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "t.parquet", b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match=r"canonym\[tables\]"):
        list(read_table(path))


# --- real tables ----------------------------------------------------------------------------------


def test_mesh(data: Path) -> None:
    folder = data / "mesh-2024"
    found = list(
        read_table(
            folder / "terms.tsv.gz", trees=folder / "trees.tsv.gz", prefix="MESH:", source="MeSH"
        )
    )
    concepts = {r.id: r for r in found if isinstance(r, Concept)}
    assert len(concepts) == 30_764
    assert len(concepts) + sum(isinstance(r, Name) for r in found) == 263_936
    assert concepts["MESH:D009203"].label == "Myocardial Infarction"
    assert Name("Heart Attack", "MESH:D009203") in found
    parents = {r.tail for r in found if isinstance(r, Relation) and r.head == "MESH:D009203"}
    labels = {concepts[id_].label for id_ in parents}
    assert labels == {"Myocardial Ischemia", "Infarction"}


def test_supplementary_concepts(data: Path) -> None:
    found = list(read_table(data / "mesh-supplementary" / "scr_names.tsv.gz", prefix="MESH:"))
    assert sum(isinstance(r, Concept) for r in found) == 49_824
    assert len(found) == 100_753


def test_consumer_names(data: Path) -> None:
    found = list(
        read_table(
            data / "medquad-synonyms" / "names.tsv.gz",
            label_column="focus",
            id_separator="|",
            prefix="UMLS:",
            skip_incomplete=True,
        )
    )
    assert found[0] == Concept("UMLS:C0000731", "Abdominal bloating", types=("T033", "T184"))
    assert Name('"Lop" ear', "UMLS:C0000768") in found


def test_ids_that_become_one_are_remarked(tmp_path: Path, caplog: Log) -> None:
    path = tmp_path / "a.csv"
    rows = ["D1,a", "D1,b", " D1,c", "D2,d", "M:D2,e", "M:D3,f", "M:D3,g", "d1,h"]
    path.write_text("\n".join(["id,name", *rows]) + "\n")
    records = list(read_table(path, prefix="M:"))
    concepts = [record.id for record in records if isinstance(record, Concept)]
    assert concepts == ["M:D1", "M:D2", "M:D3", "M:d1"]
    (record,) = caplog.records
    assert record.message == (
        "2 ids are written in several ways, each of which is one concept here; the first is M:D1, "
        "from 'D1' and ' D1'"
    )
