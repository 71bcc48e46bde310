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
from canonym.corpora.jsonl import open_jsonl
from canonym.errors import InvalidInput, ReadError
from canonym.types import Document, Mention
from tests.logs import Log


def written(tmp_path: Path, *lines: Any) -> Path:
    file = tmp_path / "x.jsonl"
    file.write_text("".join(x if isinstance(x, str) else json.dumps(x) + "\n" for x in lines))
    return file


def lined(tmp_path: Path, *lines: str) -> Path:
    return written(tmp_path, *(f"{line}\n" for line in lines))


def test_half_a_character_is_remarked(tmp_path: Path, caplog: Log) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"mention": "\\ud83d\\ude00"}\n{"mention": "a\\uD800"}\n{"mention": "\\\\ud800"}\n'
    )
    assert len(list(read_jsonl_mentions(path))) == 3
    assert "1 lines hold half a character" in caplog.text
    assert "the first is line 2" in caplog.text


def test_a_list_is_read_as_lines_are(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('\n [ "hip",\n null, {"mention": "a ] b", "ids": "D1"}\n\n, "\\n" ]\n')
    assert list(read_jsonl_mentions(path)) == [
        *(Mention("hip"), Mention(""), Mention("a ] b", ids=("D1",)), Mention("\n")),
    ]
    path.write_text('[{"text": "a hip", "mentions": [{"start": 2, "end": 5}]}]')
    assert [document.mentions[0].text for document in read_jsonl_documents(path)] == ["hip"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('["hip",\n 2]', "line 2: found 2; "),
        ('["hip",\n ["x"]]', "line 2: found"),
        ('["hip"\n "rash"]', "line 1: no JSON (a comma or ] is missing)"),
        ('["hip",\n\n]', "line 3: no JSON (Expecting value)"),
        ('["hip"', "line 1: no JSON (a comma or ] is missing)"),
        ('["hip"]\n["rash"]', "line 1: no JSON ('[\"rash\"]' follows the list)"),
        ("[]", "line 1: no JSON (Expecting value): a list of strings or objects is expected"),
        ("[" * 100_000, "line 1: no JSON (maximum recursion"),
    ],
)
def test_a_damaged_list_is_a_message(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(ReadError) as caught:
        list(read_jsonl_mentions(path))
    assert problem in str(caught.value)


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


NO_MENTION = [
    '{"mention": null}', '{"mention": NaN}', '{"mention": ""}', '{"mention": "  "}',
    '{"mention": "NaN"}', '{"mention": "nan"}', '{"mention": "None"}', '{"mention": "<NA>"}',
    '{"mention": " NULL "}', "{}", '{"id": 2}', '{"context": null}',
    '{"mention": null, "ids": null}',
    '{"mention": null, "start": null, "end": NaN}', '{"mention": null, "type": null, "rule": null}',
    '{"mention": NaN, "document": NaN, "context": NaN}', '{"dx": "x"}',
]  # fmt: skip
"""Lines that are a row without a mention."""


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("line", NO_MENTION)
def test_a_line_without_a_mention_stays_a_row(tmp_path: Path, line: str, place: int) -> None:
    lines = ['{"mention": "gout"}', '{"mention": "asthma"}']
    lines.insert(place, line)
    found = [mention.text.strip() for mention in read_jsonl_mentions(lined(tmp_path, *lines))]
    expected = ["gout", "asthma"]
    expected.insert(place, "")
    assert found == expected


@pytest.mark.parametrize("word", ["NA", "none", "null", "Nan bread", "N/A", "0"])
def test_words_that_may_be_names_are_mentions(tmp_path: Path, word: str) -> None:
    (mention,) = read_jsonl_mentions(written(tmp_path, {"mention": word}))
    assert mention.text == word


@pytest.mark.parametrize("value", ["1", "1.5", "true", "false", "[]", '["gout"]', "{}"])
def test_a_mention_of_another_type_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(ReadError, match="line 2: 'mention' is"):
        list(read_jsonl_mentions(lined(tmp_path, '{"mention": "a"}', f'{{"mention": {value}}}')))


def test_a_file_without_any_mention_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="line 1: the object has no 'mention'; its keys are dx"):
        list(read_jsonl_mentions(written(tmp_path, {"dx": "a"}, {"dx": "b"})))
    many = written(tmp_path, *[{"dx": "a"}] * 10_001, {"mention": "a"})
    with pytest.raises(ReadError, match="line 1: "):
        list(read_jsonl_mentions(many))
    assert not list(read_jsonl_mentions(written(tmp_path, "\n")))


def test_numbers_of_data_frames_are_offsets(tmp_path: Path) -> None:
    line = '{"mention": "hip", "start": 3.0, "end": 6.0, "type": NaN}'
    assert list(read_jsonl_mentions(written(tmp_path, line))) == [Mention("hip", 3, 6)]
    with pytest.raises(ReadError, match=r"'start' is 3\.5; a whole number"):
        list(read_jsonl_mentions(written(tmp_path, '{"mention": "hip", "start": 3.5}')))


def test_documents_may_lack_a_value(tmp_path: Path) -> None:
    lines = [
        '{"id": null, "text": null, "mentions": null}',
        '{"id": NaN, "text": NaN}',
        '{"text": ""}',
    ]
    assert list(read_jsonl_documents(lined(tmp_path, *lines))) == [
        Document("1", ""), Document("2", ""), Document("3", ""),
    ]  # fmt: skip


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
    are_documents, documents = open_jsonl(stream.getvalue().splitlines(), "x")
    assert are_documents
    assert list(documents) == given
