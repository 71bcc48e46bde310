"""JSON lines of documents and of mentions."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from canonym.corpora import (
    read_jsonl_documents,
    read_jsonl_mentions,
    read_pubtator,
    write_jsonl_documents,
    write_jsonl_mentions,
)
from canonym.corpora.jsonl import parse_jsonl_documents
from canonym.errors import InvalidInput, ReadError
from canonym.types import Document, Mention


def written(tmp_path: Path, *lines: Any) -> Path:
    file = tmp_path / "x.jsonl"
    file.write_text("".join(x if isinstance(x, str) else json.dumps(x) + "\n" for x in lines))
    return file


def test_documents(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {
            "id": "d",
            "text": "A broken hip.",
            "mentions": [
                {"start": 2, "end": 12, "text": "broken hip", "type": "Disease", "ids": ["D1"]},
                {"start": 9, "end": 12, "ids": "D2", "rule": "all", "other": 1},
            ],
        },
        "\n",
        {"text": "nothing", "id": 7},
        {"text": "nothing", "mentions": None},
    )
    assert list(read_jsonl_documents(file)) == [
        Document(
            "d",
            "A broken hip.",
            (
                Mention("broken hip", 2, 12, "Disease", ("D1",), "any", "d"),
                Mention("hip", 9, 12, "", ("D2",), "all", "d"),
            ),
        ),
        Document("7", "nothing"),
        Document("4", "nothing"),
    ]


def test_mentions(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"mention": "hip", "context": "my hip", "type": "T", "ids": ["D1"], "document": "d"},
        {"mention": "", "start": 1, "end": 2, "rule": "nil"},
    )
    assert list(read_jsonl_mentions(file)) == [
        Mention("hip", None, None, "T", ("D1",), "any", "d", "my hip"),
        Mention("", 1, 2, rule="nil"),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{broken\n", "no JSON"),
        ('{"text": "cut o', "no JSON"),
        ("[" * 100_000 + "\n", "no JSON"),
        ([1], "found [1]; an object"),
        ({"id": "1"}, "the object has no 'text'; its keys are id"),
        ({"text": 3}, "'text' is 3; a string"),
        ({"text": "t", "id": True}, "'id' is true"),
        ({"text": "t", "id": [1]}, "'id' is [1]"),
        ({"text": "t", "mentions": {}, "x": 1}, None),
        ({"text": "t", "mentions": {"a": 1}}, "'mentions' is"),
        ({"text": "t", "mentions": [3]}, "found 3; an object"),
        ({"text": "t", "mentions": [{"start": 0}]}, "'end' is null; a whole number"),
        ({"text": "t", "mentions": [{"start": True, "end": 1}]}, "'start' is true"),
        ({"text": "t", "mentions": [{"start": 0, "end": 9}]}, "offsets 0-9 are no span"),
        ({"text": "t", "mentions": [{"start": 0, "end": 1, "text": "x"}]}, "hold 't'"),
        ({"text": "t", "mentions": [{"start": 0, "end": 1, "ids": [1]}]}, "'ids' is [1]"),
        ({"text": "t", "mentions": [{"start": 0, "end": 1, "ids": {"a": 1}}]}, "'ids' is"),
        ({"text": "t", "mentions": [{"start": 0, "end": 1, "rule": "some"}]}, "'rule' is 'some'"),
        ({"text": "t", "mentions": [{"start": 0, "end": 1, "type": 4}]}, "'type' is 4"),
    ],
)
def test_bad_lines_are_refused_with_their_number(
    tmp_path: Path, line: Any, problem: str | None
) -> None:
    file = written(tmp_path, {"text": "fine"}, line)
    if problem is None:
        assert len(list(read_jsonl_documents(file))) == 2
        return
    with pytest.raises(ReadError) as caught:
        list(read_jsonl_documents(file))
    assert caught.value.line == 2
    assert problem in str(caught.value)


def test_long_values_are_cut_in_messages(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"x{50,56}\.\.\.; a string") as caught:
        list(read_jsonl_mentions(written(tmp_path, {"mention": ["x" * 1000]})))
    assert len(str(caught.value)) < 300


def test_a_mention_is_required(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no 'mention'"):
        list(read_jsonl_mentions(written(tmp_path, {"text": "hip"})))


# --- writing ------------------------------------------------------------------------------------

DOCUMENTS = [
    Document(
        "7",
        "Sjögren\n\U0001f600 \udfff",
        (
            Mention("Sjögren", 0, 7, "Disease", ("D1", "D|2"), "all", "7"),
            Mention("\U0001f600", 8, 9, "", (), "nil", "7"),
        ),
    ),
    Document("", ""),
]


def test_documents_come_back(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    with file.open("w", encoding="ascii") as stream:
        assert write_jsonl_documents(DOCUMENTS, stream) == 2
    assert list(read_jsonl_documents(file)) == DOCUMENTS


def test_mentions_come_back(tmp_path: Path) -> None:
    mentions = [
        Mention("hip", 1, 4, "T", ("A", "B"), "any", "7", "my hip"),
        Mention("rash", rule="nil"),
        Mention("cold"),
    ]
    file = tmp_path / "x.jsonl"
    with file.open("w", encoding="ascii") as stream:
        assert write_jsonl_mentions(mentions, stream) == 3
    assert list(read_jsonl_mentions(file)) == mentions
    assert json.loads(file.read_text().splitlines()[2]) == {"mention": "cold"}


def test_a_mention_that_is_elsewhere_is_refused() -> None:
    for mention, problem in (
        (Mention("hip"), "has no offsets"),
        (Mention("hip", 1, 3), "has 'ip' at its offsets"),
    ):
        with pytest.raises(InvalidInput, match=problem):
            write_jsonl_documents([Document("7", "hip", (mention,))], io.StringIO())


def test_a_corpus_comes_back(data: Path) -> None:
    given = list(read_pubtator(data / "ncbi-disease" / "test.pubtator"))
    stream = io.StringIO()
    assert write_jsonl_documents(given, stream) == 100
    assert list(parse_jsonl_documents(stream.getvalue().splitlines(), "x")) == given
