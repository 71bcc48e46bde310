"""What is written as JSON lines is read again."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from canonym.corpora import (
    read_jsonl_documents,
    read_jsonl_mentions,
    read_pubtator,
    write_jsonl_documents,
    write_jsonl_mentions,
)
from canonym.corpora.jsonl import parse_jsonl_documents
from canonym.errors import InvalidInput
from canonym.types import Document, Mention

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
