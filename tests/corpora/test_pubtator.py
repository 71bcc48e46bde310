"""PubTator, read and written: made-up documents, and the counts of the real corpora."""

from __future__ import annotations

import gzip
import io
import logging
from pathlib import Path

import pytest

from canonym.corpora.pubtator import parse_pubtator, pubtator_text, read_pubtator, write_pubtator
from canonym.errors import InvalidInput, ReadError
from canonym.types import Document, Mention
from tests.logs import Log
from tests.tables import cases

TWO = """\
1|t|Broken hip in the old.
1|a|A broken hip, or FH, hurts.
1\t0\t10\tBroken hip\tDisease\tD006620
1\t40\t42\tFH\tDisease\tD006620
1\tCID\tD000001\tD006620

2|t|Ovarian and breast cancer
2\t0\t25\tOvarian and breast cancer\tDisease\tD010051|D001943\tovarian cancer|breast cancer
"""


def documents(text: str) -> list[Document]:
    return list(parse_pubtator(io.StringIO(text), "x.pubtator"))


def test_documents_have_their_text_and_mentions() -> None:
    first, second = documents(TWO)
    assert first.id == "1"
    assert first.text == "Broken hip in the old.\nA broken hip, or FH, hurts."
    assert first.mentions == (
        Mention("Broken hip", 0, 10, "Disease", ("D006620",), "any", "1"),
        Mention("FH", 40, 42, "Disease", ("D006620",), "any", "1"),
    )
    assert second.text == "Ovarian and breast cancer"
    assert second.mentions[0].ids == ("D010051", "D001943")
    assert second.mentions[0].rule == "all"


@cases("written", "ids", "rule")
def test_ids_say_how_they_combine(written: str, ids: tuple[str, ...], rule: str) -> None:
    (document,) = documents(f"1|t|hip\n1\t0\t3\thip\tDisease\t{written}\n")
    assert (document.mentions[0].ids, document.mentions[0].rule) == (ids, rule)


def test_a_mention_without_the_column_of_ids_is_unknown() -> None:
    (document,) = documents("1|t|hip\n1\t0\t3\thip\tDisease\n")
    assert (document.mentions[0].ids, document.mentions[0].rule) == ((), "any")


def test_documents_need_no_blank_line_between_them_nor_an_order_of_title_and_abstract() -> None:
    found = documents("\n\n1|t|one\n2|t|two\n2|a|abstract\n\n\n3|a|only an abstract\n")
    assert [d.text for d in found] == ["one", "two\nabstract", "\nonly an abstract"]


def test_white_space_that_a_tool_collapsed_is_forgiven() -> None:
    (document,) = documents("1|t|broken  hip \n1\t0\t11\tbroken hip  \tDisease\tD1\n")
    assert document.mentions[0].text == "broken  hip"


def test_offsets_count_code_points() -> None:
    (document,) = documents("1|t|𝛼-thalassemia\n1\t0\t13\t𝛼-thalassemia\tDisease\tD1\n")
    assert document.mentions[0].text == "𝛼-thalassemia"


def test_a_document_id_met_twice_is_kept_and_logged(caplog: Log) -> None:
    with caplog.at_level(logging.WARNING):
        found = documents("1|t|one\n\n1|t|again\n")
    assert [d.text for d in found] == ["one", "again"]
    assert "x.pubtator, line 3: the document id 1 was met before" in caplog.text


@cases("text", "line", "problem")
def test_what_is_no_pubtator_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(ReadError) as caught:
        documents(text)
    assert caught.value.line == line
    assert problem in str(caught.value)
    assert "x.pubtator" in str(caught.value)


def test_nothing_but_blank_lines_is_no_corpus() -> None:
    with pytest.raises(ReadError, match="holds no document"):
        documents("\n\n")


def test_files_may_be_compressed_and_in_other_encodings(tmp_path: Path) -> None:
    file = tmp_path / "one.pubtator.gz"
    file.write_bytes(gzip.compress("1|t|Sjögren\n".encode("latin-1")))
    assert [d.text for d in read_pubtator(file, encoding="latin-1")] == ["Sjögren"]
    with pytest.raises(ReadError, match="not UTF-8"):
        list(read_pubtator(file))


def test_what_is_written_is_read_again() -> None:
    stream = io.StringIO()
    given = documents(TWO)
    assert write_pubtator(given, stream) == 2
    assert documents(stream.getvalue()) == given


def test_writing_says_how_ids_combine() -> None:
    mentions = [
        Mention("hip", 0, 3, "T", ("A", "B"), "all"),
        Mention("hip", 0, 3, "T", ("A", "B"), "any"),
        Mention("hip", 0, 3, "T", (), "nil"),
        Mention("hip", 0, 3, "T"),
    ]
    lines = pubtator_text(Document("1", "hip", tuple(mentions))).split("\n")
    assert [line.split("\t")[5] for line in lines[1:5]] == ["A|B", "A,B", "-1", ""]


def test_tabs_and_line_ends_in_a_text_do_not_move_offsets() -> None:
    mention = Mention("b\nc", 4, 7, "T", ("X",), document_id="1")
    text = pubtator_text(Document("1", "a\tz\nb\nc", (mention,)))
    assert text == "1|t|a z\n1|a|b c\n1\t4\t7\tb c\tT\tX\n\n"
    assert documents(text)[0].mentions[0].text == "b c"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (Document("a|b", "hip"), "document id 'a|b' holds a separator"),
        (Document("1", "hip", (Mention("hip"),)), "has no offsets"),
        (Document("1", "hip", (Mention("hip", 0, 3, "a\tb"),)), "type 'a\\tb' holds"),
        (
            Document("1", "hip", (Mention("hip", 0, 3, "T", ("A|B",)),)),
            "the id 'A|B' of mention 'hip'",
        ),
        (Document("1", "hip", (Mention("hip", 0, 3, "T", ("A\tB",)),)), "id 'A\\tB' holds"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(document: Document, problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        pubtator_text(document)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("file", "n_documents", "n_mentions"),
    [
        ("ncbi-disease/train", 593, {"": 5145}),
        ("ncbi-disease/dev", 100, {"": 787}),
        ("ncbi-disease/test", 100, {"": 960}),
        ("bc5cdr/train", 500, {"Disease": 4182, "Chemical": 5203}),
        ("bc5cdr/dev", 500, {"Disease": 4244, "Chemical": 5347}),
        ("bc5cdr/test", 500, {"Disease": 4424, "Chemical": 5385}),
    ],
)
def test_real_corpora_have_the_known_counts(
    data: Path, file: str, n_documents: int, n_mentions: dict[str, int]
) -> None:
    found = list(read_pubtator(data / f"{file}.pubtator"))
    assert len(found) == n_documents
    for type_, n in n_mentions.items():
        assert sum(not type_ or m.type == type_ for d in found for m in d.mentions) == n
    for document in found:
        for mention in document.mentions:
            assert document.text[mention.start : mention.end] == mention.text


def test_one_document_of_the_ncbi_corpus_is_there_twice(data: Path) -> None:
    found = {d.id: d for d in read_pubtator(data / "ncbi-disease/train.pubtator")}
    assert len(found) == 592
    assert sum(len(d.mentions) for d in found.values()) == 5134
