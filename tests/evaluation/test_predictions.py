"""Files of predictions: what canonym itself writes, PubTator, and plain lines."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from canonym import Concept, Document, Linker, Mention, ReadError, Terminology
from canonym.evaluation.comparison import compare
from canonym.evaluation.predictions import read_predictions
from canonym.evaluation.run import evaluate_corpus
from canonym.export import DelimitedWriter, write_links
from canonym.jobs.output import Layout, columns_of
from canonym.types import Link

TEXT = 'Breast and ovarian cancer, then "ague", then xyz.'
TERMINOLOGY = (
    Concept("X:1", "Breast cancer"),
    Concept("X:2", "Ovarian cancer"),
    Concept("X:3", "Ague"),
)


def mention(words: str, *ids: str, rule: str = "any") -> Mention:
    start = TEXT.index(words)
    return Mention(words, start, start + len(words), "Disease", ids, rule, "7")


DOCUMENT = Document(
    "7",
    TEXT,
    (
        mention("Breast and ovarian cancer", "X:1", "X:2", rule="all"),
        mention('"ague"', "X:3"),
        mention("xyz", rule="nil"),
    ),
)
EXPECTED = {("7", 0, 25): ("X:1", "X:2"), ("7", 32, 38): ("X:3",), ("7", 45, 48): ()}


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(TERMINOLOGY), encoders=["chargrams"])


@pytest.fixture(scope="module")
def links(linker: Linker) -> list[Link]:
    ((_, found),) = linker.link_documents([DOCUMENT], k=3)
    return list(found)


@pytest.mark.parametrize("format", ["tsv", "csv", "jsonl"])
@pytest.mark.parametrize("k", [1, 3])
def test_what_canonym_links_is_read(links: list[Link], tmp_path: Path, format: str, k: int) -> None:
    file = tmp_path / f"links.{format}"
    write_links(links, file, k=k)
    assert read_predictions(file) == EXPECTED


@pytest.mark.parametrize("format", ["tsv", "csv"])
def test_parts_in_one_row_and_guarded_documents_are_read(
    links: list[Link], tmp_path: Path, format: str
) -> None:
    file = tmp_path / f"links.{format}"
    renamed = [
        dataclasses.replace(link, mention=dataclasses.replace(link.mention, document_id="-7"))
        for link in links
    ]
    write_links(renamed, file, one_row=True)
    assert "'-7" in file.read_text(encoding="utf-8")
    assert read_predictions(file) == {("-7", *key[1:]): ids for key, ids in EXPECTED.items()}


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("one_row", [True, False])
def test_the_few_columns_that_tables_have_are_enough(
    links: list[Link], tmp_path: Path, k: int, one_row: bool
) -> None:
    layout = Layout("xlsx", 1 if one_row else k)
    parts = () if one_row else ("part", "rank")
    keys = (*columns_of(layout, None, annotated=True), *parts)
    file = tmp_path / "links.tsv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = DelimitedWriter(stream, keys=keys, k=layout.k, one_row=one_row)
        for link in links:
            writer.write(link)
    assert read_predictions(file) == EXPECTED


def test_pubtator_is_read(tmp_path: Path) -> None:
    file = tmp_path / "other.pubtator"
    rows = ("0\t25\tBreast and ovarian cancer\tDisease\tX:1|X:2", '32\t38\t"ague"\tDisease\tX:3')
    lines = [f"7|t|{TEXT}", *(f"7\t{row}" for row in rows), "7\t45\t48\txyz\tDisease\t-1"]
    file.write_text("\n".join(lines) + "\n")
    assert read_predictions(file) == EXPECTED


def test_a_run_beside_itself_agrees_under_raw(
    linker: Linker, links: list[Link], tmp_path: Path
) -> None:
    file = tmp_path / "links.jsonl"
    write_links(links, file)
    run = evaluate_corpus([DOCUMENT], linker=linker, protocol="raw")
    found = compare(run, read_predictions(file))
    assert run.value("accuracy@1") == 1
    assert (found.missing, found.extra) == ((), {})
    assert found.contrasts["complete"].theirs == found.contrasts["complete"].ours


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("row\tid\trank\n1\tX:1\t1\n", 1, "has no column 'document'"),
        ("document\tstart\tend\trank\tid\n7\t0\t3\t1\n", 2, "4 cells where there are 5"),
        ("document,start,end,rank,id\n7,,,1,X:1\n", 2, "offsets '' and '' are no numbers"),
        ("row,document,start,end,rank,id\n1,7,0,3,1,A\n2,7,0,3,1,B\n", 3, "that line 2 gives A"),
        ('{"mention": "ague", "ids": ["X:1"]}\n', None, "'ague', has no 'start' and 'end'"),
        ("7\t0\t3\tA\tB\n", 1, "5 columns"),
        ("7\t0\tx\tA\n", 1, "offsets '0' and 'x'"),
        (f"7\t0\t{'9' * 5000}\tA\n", 1, "offsets '0' and '99999999999999999999'"),
        ("7\t0\t3\tA\n\n7\t0\t3\t-1\n", 3, "NIL for a mention that line 1 gives A"),
    ],
)
def test_what_cannot_be_read_is_told(
    tmp_path: Path, text: str, line: int | None, problem: str
) -> None:
    file = tmp_path / "predictions"
    file.write_text(text)
    with pytest.raises(ReadError) as caught:
        read_predictions(file)
    assert problem in str(caught.value)
    assert caught.value.line == line


def test_the_same_answer_twice_and_blank_rows_are_no_error(tmp_path: Path) -> None:
    file = tmp_path / "predictions.tsv"
    file.write_text("document\tstart\tend\tids\n\n7\t0\t3\tA\n7\t0\t3\tA\n8\t1\t2\n")
    assert read_predictions(file) == {("7", 0, 3): ("A",), ("8", 1, 2): ()}
    file.write_text("document,start,end,rank,id\n,,,,\n7,0,3,1,A\n7,0,3,2,B\n7,0,3,1,A\n")
    assert read_predictions(file) == {("7", 0, 3): ("A",)}
    file.write_text("\n")
    assert read_predictions(file) == {}


@pytest.mark.parametrize("line", ["sep=,", '"sep=,"', "\ufeffsep=,"])
def test_a_first_line_names_the_delimiter(tmp_path: Path, line: str) -> None:
    file = tmp_path / "p.csv"
    file.write_text(f"{line}\nrow,document,start,end,rank,id\n1,7,0,3,1,A\n", encoding="utf-8")
    plain = tmp_path / "q.csv"
    plain.write_text("row,document,start,end,rank,id\n1,7,0,3,1,A\n")
    assert read_predictions(file) == read_predictions(plain)
