"""`canonym.link_table`: a table comes back as it was, with links; stopped calls go on."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path
from typing import Any

import openpyxl
import pandas
import pyarrow
import pyarrow.parquet
import pytest

from canonym import (
    Concept,
    InvalidInput,
    Linker,
    Mismatch,
    Name,
    ReadError,
    Terminology,
    link_table,
)
from canonym.bulk import link_files
from canonym.jobs.link import Summary
from tests.cli.running import run
from tests.io.making import part_of
from tests.logs import Log

MARK = "\ufeff"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of three concepts."""
    records = [
        Concept("X:1", "Myocardial infarction"),
        Name("heart attack", "X:1"),
        Concept("X:2", "Breast cancer"),
        Concept("X:3", "Ovarian cancer"),
    ]
    folder = tmp_path_factory.mktemp("jobs") / "index"
    Linker.build(Terminology.build(records), encoders=["chargrams"]).save(folder)
    return folder


@pytest.fixture(scope="module")
def linker(index: Path) -> Linker:
    return Linker.load(index)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """A table as a French Excel writes it, with quotes, a mark, an odd line end and none."""
    path = tmp_path / "visits.csv"
    text = (
        f'{MARK}"visit";"dx";"note"\r\n'
        '"1";"Heart attacks";"x; ""y"""\r\n'
        "2;breast and ovarian cancer;\n"
        '"3";"";"à jeun"'
    )
    path.write_bytes(text.encode())
    return path


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "many.csv"
    rows = (f"{n},{'heart attack' if n % 3 else 'brest cancre'}\n" for n in range(40))
    path.write_text("n,dx\n" + "".join(rows), encoding="utf-8")
    return path


def by_command(index: Path, source: Path, out: Path, *arguments: str) -> bytes:
    run("link", "-i", str(index), "-f", str(source), "-c", "dx", "-o", str(out), *arguments)
    return out.read_bytes()


def stop_after(n: int) -> object:
    def progress(_stage: str, done: int, _total: int | None) -> None:
        if done == n:
            raise KeyboardInterrupt

    return progress


def test_delimiter_quotes_mark_and_line_ends_are_kept(
    linker: Linker, index: Path, visits: Path, tmp_path: Path
) -> None:
    summary = link_table(linker, visits, tmp_path / "linked.csv", column="dx", one_row=True)
    assert summary == Summary(mentions=3, empty=1, composite=1)
    written = (tmp_path / "linked.csv").read_bytes().decode()
    assert written.startswith(f'{MARK}"visit";"dx";"note";"canonym_id";"canonym_code";')
    first, second, third, fourth = written.splitlines(keepends=True)
    assert first.endswith('"canonym_reason"\r\n')
    assert second.startswith('"1";"Heart attacks";"x; ""y""";')
    assert '"X:1"' in second
    assert second.endswith("\r\n")
    assert third.startswith("2;breast and ovarian cancer;;")
    assert '"X:2|X:3"' in third
    assert third.endswith('"\n')
    assert fourth.startswith('"3";"";"à jeun";')
    assert fourth.endswith('"";"";"";"empty"')
    assert by_command(index, visits, tmp_path / "c.csv", "--one-row") == written.encode()


def test_options_do_what_those_of_the_command_do(index: Path, visits: Path, tmp_path: Path) -> None:
    link_table(
        index,
        visits,
        tmp_path / "linked.tsv",
        column="dx",
        context_column="note",
        k=2,
        explain=True,
        skip_empty=True,
        formula_guard=False,
        output_encoding="utf-16",
        min_confidence=None,
        prefer=["X:"],
    )
    expected = by_command(
        index,
        visits,
        tmp_path / "expected.tsv",
        *("--context-column", "note", "-k", "2", "--explain", "--prefer", "X:"),
        *("--format-option", "skip-empty=yes", "--format-option", "formula-guard=no"),
        *("--format-option", "encoding=utf-16"),
    )
    assert (tmp_path / "linked.tsv").read_bytes() == expected
    assert "matched name: 'heart attack'" in expected.decode("utf-16")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".xlsx"])
def test_other_formats_are_those_of_the_command(
    linker: Linker, index: Path, visits: Path, tmp_path: Path, suffix: str
) -> None:
    link_table(linker, visits, tmp_path / f"a{suffix}", column="dx")
    expected = by_command(index, visits, tmp_path / f"b{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == expected


def test_a_workbook_comes_back_as_it_was(linker: Linker, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    first, second = book.active, book.create_sheet("Visits")
    first.title = "Codes"
    first.append(["code", '=A1&"!"'])
    second.append(["visit", "dx"])
    second.append([1, "heart attacks"])
    second.append([2, "breast and ovarian cancer"])
    second["D9"] = "a remark"
    book.save(tmp_path / "visits.xlsx")
    out = tmp_path / "linked.xlsx"
    summary = link_table(linker, tmp_path / "visits.xlsx", out, column="dx", sheet="Visits")
    assert summary.mentions == 2
    for part in ("xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/workbook.xml"):
        assert part_of(out, part) == part_of(tmp_path / "visits.xlsx", part)
    linked = openpyxl.load_workbook(out)["Visits"]
    header = [cell.value for cell in linked[1]]
    ids = header.index("canonym_id") + 1
    assert header[:2] == ["visit", "dx"]
    assert [linked.cell(row, ids).value for row in (2, 3)] == ["X:1", "X:2|X:3"]
    assert linked["D9"].value == "a remark"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_stopped_call_goes_on_to_the_same_bytes(
    linker: Linker, index: Path, many: Path, tmp_path: Path, suffix: str
) -> None:
    out, partial = tmp_path / f"linked{suffix}", tmp_path / f"linked{suffix}.partial"
    with pytest.raises(KeyboardInterrupt) as stopped:
        link_table(linker, many, out, column="dx", progress=stop_after(15))
    assert stopped.value.__notes__ == [
        f"What is done, 15 mentions, is kept in {partial}; the same call with resume=True "
        "continues from there."
    ]
    assert not out.exists()
    assert partial.exists()
    with pytest.raises(InvalidInput, match="pass resume=True to go on, or overwrite=True"):
        link_table(linker, many, out, column="dx")
    for options, name in (({"one_row": True}, "one_row"), ({"k": 3}, "k"), ({"seed": 1}, "seed")):
        if suffix == ".csv" or name != "one_row":
            with pytest.raises(Mismatch, match=f"another {name}: use the same, or pass"):
                link_table(linker, many, out, column="dx", resume=True, **options)
    kept = [shutil.copy(path, f"{path}.kept") for path in (partial, f"{partial}.json")]
    calls: list[int] = []
    summary = link_table(
        linker,
        many,
        out,
        column="dx",
        resume=True,
        progress=lambda _stage, done, total: calls.append(done) or calls.append(int(total or 0)),
    )
    assert summary.mentions == 40
    assert calls[:2] == [16, 41]
    assert len(calls) == 2 * 25
    assert out.read_bytes() == by_command(index, many, tmp_path / f"whole{suffix}")
    assert link_table(linker, many, out, column="dx", resume=True) == Summary()
    out.unlink()  # the command goes on where the call was stopped
    for path in kept:
        Path(path).rename(path.removesuffix(".kept"))
    assert by_command(index, many, out, "--resume") == (tmp_path / f"whole{suffix}").read_bytes()


def test_an_input_that_has_changed_is_not_gone_on_with(
    linker: Linker, many: Path, tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt):
        link_table(linker, many, tmp_path / "x.csv", column="dx", progress=stop_after(15))
    many.write_text(many.read_text().replace("3,brest", "3,breast"))
    with pytest.raises(Mismatch, match="pass overwrite=True instead of resume=True to start over"):
        link_table(linker, many, tmp_path / "x.csv", column="dx", resume=True)
    assert link_table(linker, many, tmp_path / "x.csv", column="dx", overwrite=True).mentions == 40


def test_a_column_that_is_missing_is_told(linker: Linker, visits: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ReadError, match=r"line 1: no column 'DX' \(did you mean 'dx'\?\); the columns are 'visit'"
    ):
        link_table(linker, visits, tmp_path / "linked.csv", column="DX")
    with pytest.raises(ReadError, match="no column 'text'"):
        link_table(linker, visits, tmp_path / "linked.csv", column="dx", context_column="text")
    assert [path.name for path in tmp_path.iterdir()] == ["visits.csv"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_the_source_is_not_written_over(linker: Linker, visits: Path, overwrite: bool) -> None:
    before = visits.read_bytes()
    with pytest.raises(InvalidInput, match="is an input as well; choose another name"):
        link_table(linker, visits, visits, column="dx", overwrite=overwrite)
    assert visits.read_bytes() == before
    assert [path.name for path in visits.parent.iterdir()] == ["visits.csv"]


def test_a_file_that_exists_is_replaced_only_when_that_is_said(
    linker: Linker, visits: Path, tmp_path: Path
) -> None:
    (tmp_path / "out.csv").write_text("mine")
    with pytest.raises(InvalidInput, match=r"out.csv exists already; .* with overwrite=True"):
        link_table(linker, visits, tmp_path / "out.csv", column="dx")
    assert (tmp_path / "out.csv").read_text() == "mine"
    link_table(linker, visits, tmp_path / "out.csv", column="dx", overwrite=True)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8-sig").startswith('"visit"')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "word"}, "format='word' is unknown; use one of tsv, csv, jsonl, parquet, xlsx"),
        ({"format": "jsonl", "one_row": True}, "one_row=True goes with format=tsv, csv, parquet"),
        ({"one_row": True, "k": 3}, "and k=3 asks for 3 rows: give one of the two"),
        ({"columns": "id"}, r"columns is 'id'; expected a list, such as \['id', 'code'\]"),
        ({"columns": ["idd"]}, "there is no column 'idd' of links; did you mean 'id'"),
        ({"format": "xlsx", "k": 3}, "each mention, and k=3 asks for 3"),
        ({"format": "xlsx"}, "a new workbook of format=xlsx is called NAME.xlsx"),
        ({"format": "jsonl", "output_encoding": "ascii"}, "output_encoding=... goes with format="),
        ({"format": "parquet", "resume": True}, "resume=True needs a file in one of the formats"),
        ({"output_encoding": "ascii"}, "such as output_encoding='utf-8-sig'"),
        ({"encoding": "klingon"}, "encoding='klingon' is not known"),
        ({"sheet": "Visits"}, "go with workbooks, and .* is none"),
        ({"delimiter": "::"}, "the delimiter is '::'; one character is expected"),
        ({"overwrite": "no"}, "overwrite is 'no'; expected True or False"),
        ({"one_row": 1}, "one_row is 1; expected True or False"),
        ({"context_column": 3}, "context_column is 3; expected the name of a column"),
        ({"encoding": 3}, "encoding is 3; expected a string"),
        ({"header_row": "2"}, "header_row is '2'; expected a whole number"),
        ({"header_row": True}, "header_row is True; expected a whole number"),
        ({"progress": True}, "progress is True; expected a function"),
        ({"format": ""}, "format='' is unknown"),
        ({"threshold": 3}, "there is no option 'threshold'; there are k, types"),
        ({"types": ["drug"]}, "drug"),
    ],
)
def test_what_cannot_be_used_is_told_in_the_words_of_python(
    linker: Linker, visits: Path, tmp_path: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        link_table(linker, visits, tmp_path / "out.csv", column="dx", **options)  # type: ignore[arg-type]
    assert "--" not in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["visits.csv"]


def test_what_is_no_table_is_told(linker: Linker, visits: Path, tmp_path: Path) -> None:
    table = pyarrow.table({"dx": ["heart attack"]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "lines.jsonl").write_text('{"dx": "heart attack"}')
    for source, message in (
        ("t.parquet", "is a Parquet file; .* canonym.bulk.link_files links"),
        ("", "is a folder; .* canonym.bulk.link_files links"),
        ("none.csv", "no such file"),
        ("lines.jsonl", "is JSON lines; .* canonym.bulk.link_files links"),
    ):
        with pytest.raises(ReadError, match=message):
            link_table(linker, tmp_path / source, tmp_path.parent / "out.csv", column="dx")
    with pytest.raises(ReadError, match="is a URL: save it as a file first"):
        link_table(linker, "https://example.org/visits.csv", tmp_path / "o.csv", column="dx")
    with pytest.raises(InvalidInput, match="expected a Linker, or the folder of an index"):
        link_table(3, visits, tmp_path / "o.csv", column="dx")  # type: ignore[arg-type]


def test_an_encoding_that_is_found_is_logged_and_kept(
    linker: Linker, tmp_path: Path, caplog: Log
) -> None:
    (tmp_path / "latin.csv").write_bytes("n;dx\nSjögren;heart attack\n".encode("cp1252"))
    with caplog.at_level(logging.WARNING, "canonym.jobs"):
        link_table(linker, tmp_path / "latin.csv", tmp_path / "out.csv", column="dx")
    assert "is read as Windows-1252; if letters look wrong" in caplog.text
    assert (tmp_path / "out.csv").read_bytes().splitlines()[1].startswith(b"Sj\xf6gren;heart")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (pandas.DataFrame({"dx": [""]}), "o.csv", "dx"),
            "source is of type DataFrame; expected a ",
        ),
        ((None, "o.csv", "dx"), "source is None; expected a path; canonym.integrations links data"),
        (("", "o.csv", "dx"), "source is ''; expected a path"),
        (("v.csv", 3, "dx"), "out is 3; expected a path$|target is 3; expected a path$"),
        (("v.csv", "o\0.csv", "dx"), r"(out|target) is 'o\\x00.csv'; expected a path"),
        (("v.csv", "o.csv", None), "column is None; expected the name of a column"),
    ],
)
def test_places_of_other_types_are_told(
    linker: Linker, arguments: tuple[Any, Any, Any], message: str
) -> None:
    source, out, column = arguments
    with pytest.raises(InvalidInput, match=message):
        link_table(linker, source, out, column=column)
    with pytest.raises(InvalidInput, match=message):
        link_files(source, out, column, linker)


@pytest.mark.parametrize("switch", ["overwrite", "resume"])
def test_no_is_no_leave_to_write_a_folder_over(
    index: Path, visits: Path, tmp_path: Path, switch: str
) -> None:
    link_files(visits, tmp_path / "parts", "dx", index, workers=1)
    with pytest.raises(InvalidInput, match=f"{switch} is 'no'; expected True or False"):
        link_files(visits, tmp_path / "parts", "dx", index, workers=1, **{switch: "no"})  # type: ignore[arg-type]


def test_an_encoding_does_not_go_with_a_workbook(linker: Linker, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["dx"])
    book.save(tmp_path / "v.xlsx")
    with pytest.raises(InvalidInput, match=r"encoding=\.\.\. goes with delimited text"):
        link_table(linker, tmp_path / "v.xlsx", tmp_path / "o.csv", column="dx", encoding="cp1252")


def test_another_column_is_not_gone_on_with(linker: Linker, tmp_path: Path) -> None:
    """Even where both have the same text in all rows that are done."""
    source, out = tmp_path / "v.csv", tmp_path / "o.csv"
    rows = (f"asthma,{'asthma' if n < 20 else 'heart attack'}\n" for n in range(40))
    source.write_text("dx,dy\n" + "".join(rows))
    with pytest.raises(KeyboardInterrupt):
        link_table(linker, source, out, column="dx", progress=stop_after(15))
    for changed, options in (
        ("column", {"column": "dy"}),
        ("context_column", {"column": "dx", "context_column": "dy"}),
    ):
        with pytest.raises(Mismatch, match=f"begun with another {changed}: use the same"):
            link_table(linker, source, out, resume=True, **options)
    assert link_table(linker, source, out, column="dx", resume=True).mentions == 40


@pytest.mark.parametrize("name", ["o.csv.partial", "o.csv.partial.json"])
def test_what_is_in_the_way_of_the_journal_is_left_alone(
    linker: Linker, visits: Path, tmp_path: Path, name: str
) -> None:
    place, mine = tmp_path / name, tmp_path / "mine"
    mine.write_text("mine")
    for put, message in (
        (place.mkdir, "is a folder; a file name is expected"),
        (lambda: os.mkfifo(place), "is a device or a pipe"),
        (lambda: place.symlink_to(mine), f"{name} is a link, and is written meanwhile: remove it"),
    ):
        put()
        for options in ({"overwrite": True}, {"resume": True}):
            with pytest.raises(InvalidInput, match=message):
                link_table(linker, visits, tmp_path / "o.csv", column="dx", **options)
        place.rmdir() if place.is_dir() else place.unlink()
    assert mine.read_text() == "mine"
