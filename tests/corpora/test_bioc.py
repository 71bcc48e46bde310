"""BioC, read and written, in both syntaxes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from canonym.corpora.bioc import read_bioc, write_bioc
from canonym.corpora.pubtator import read_pubtator
from canonym.errors import InvalidInput, ReadError
from canonym.types import Document, Mention
from tests.logs import Log

XML = Path(__file__).with_suffix(".xml").read_text("utf-8")

TEXT = "Ovarian & breast cancer\n  It hurts.\nA lot."
COMPOSITE = Mention(TEXT[:23], 0, 23, "Disease", ("D010051", "D001943"), "all", "7")
PART = Mention("Ovarian cancer", 0, 23, "Disease", ("D010051",), "any", "7")
NIL = Mention("hurts", 29, 34, "Symptom", (), "nil", "7")
BARE = Mention("lot", 38, 41, "", (), "any", "7")


def written(folder: Path, content: Any) -> Path:
    path = folder / "file"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def passage(**changes: Any) -> dict[str, Any]:
    annotation = {
        "id": "a",
        "infons": {"type": "Disease", "identifier": "MESH:D1", "score": None},
        "text": "hip",
        "locations": [{"offset": 7, "length": 3}],
    }
    return {"offset": 0, "text": "Broken hip", "annotations": [annotation | changes]}


def test_xml_becomes_documents(tmp_path: Path) -> None:
    path = written(tmp_path, XML)
    assert list(read_bioc(path)) == [Document("7", TEXT, (COMPOSITE, BARE, NIL))]


def test_composites_and_their_parts(tmp_path: Path) -> None:
    path = written(tmp_path, XML)
    assert next(read_bioc(path, composites="parts")).mentions == (PART, BARE, NIL)
    assert next(read_bioc(path, composites="both")).mentions == (COMPOSITE, PART, BARE, NIL)
    cover = next(read_bioc(path, composites="parts", pieces="cover")).mentions[0]
    assert cover.text == TEXT[:23]


def test_json_in_all_its_wrappings(tmp_path: Path) -> None:
    document = {"id": 7, "passages": [passage()]}
    expected = Document(
        "7", "Broken hip", (Mention("hip", 7, 10, "Disease", ("MESH:D1",), "any", "7"),)
    )
    for content in (
        document,
        {"documents": [document]},
        {"PubTator3": [document]},
        [document],
        [{"source": "", "documents": [document]}],
        json.dumps(document) + "\n",
    ):
        assert list(read_bioc(written(tmp_path, content))) == [expected]
    lines = "\n".join(json.dumps(document) for _ in range(3))
    assert len(list(read_bioc(written(tmp_path, lines)))) == 3


def test_ids_are_taken_from_the_chosen_infon(tmp_path: Path) -> None:
    infons = {"MESH": "D1", "identifier": "X:1;X:2", "umls": "C1"}
    path = written(tmp_path, {"id": 7, "passages": [passage(infons=infons)]})
    (mention,) = next(read_bioc(path)).mentions
    assert (mention.ids, mention.rule) == (("X:1", "X:2"), "all")
    (mention,) = next(read_bioc(path, id_keys=("UMLS",))).mentions
    assert mention.ids == ("C1",)
    (mention,) = next(read_bioc(path, id_keys=("none",))).mentions
    assert (mention.ids, mention.rule) == ((), "any")


def test_text_of_sentences_only_where_the_passage_has_none(tmp_path: Path) -> None:
    part = passage() | {"sentences": [{"offset": 0, "text": "Broken hip", "annotations": []}]}
    assert next(read_bioc(written(tmp_path, {"id": 1, "passages": [part]}))).text == "Broken hip"
    empty = {"id": 1, "passages": [{"offset": 0, "text": "", "annotations": []}]}
    assert next(read_bioc(written(tmp_path, empty))) == Document("1", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"documents": []}, "holds no document"),
        ("3", "holds no BioC"),
        ({"documents": [3]}, "holds no BioC"),
        ({"studies": []}, "holds no BioC"),
        ({"passages": []}, "no id"),
        ({"id": "7", "passages": [3]}, "no list of objects"),
        ({"id": "7", "passages": [passage(locations=[])]}, "'a': the mention has no offsets"),
        ({"id": "7", "passages": [passage(infons=[1])]}, "'infons'"),
        ({"id": "7", "passages": [passage(text="leg")]}, "hold 'hip'"),
        ({"id": "7", "passages": [passage(locations=[{"offset": 9, "length": 3}])]}, "no span"),
        ({"id": "7", "passages": [passage(locations=[{"offset": 7}])]}, "length is None"),
        ({"id": "7", "passages": [passage(locations=[{"offset": True}])]}, "offset is True"),
        ({"id": "7", "passages": [passage(), passage()]}, "inside the former one"),
        ({"id": "7", "passages": [{"offset": 10**9, "text": "x"}]}, "1,000,000,000 characters"),
        ({"id": "7", "passages": [{"offset": "-3", "text": "x"}]}, "offset is '-3'"),
        ({"id": "7", "passages": [{"offset": 0, "text": 3}]}, "no string"),
    ],
)
def test_bad_json(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        list(read_bioc(written(tmp_path, content)))


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("<text>lot<", "<text>bit<", '<annotation id="3"', "'7': annotation '3': offsets 38-41"),
        ('offset="29"', 'offset="99"', '<annotation id="2"', "no span"),
        ("<offset>36<", "<offset>3<", "<sentence><offset>", "inside the former one"),
        ("<offset>36<", "<offset>x<", "<sentence><offset>", "offset is 'x'"),
        ("<id>7</id>", "", "<document>", "no id"),
        ("</document>", "", "</collection>", "malformed"),
    ],
)
def test_bad_xml_names_the_line(tmp_path: Path, old: str, new: str, at: str, message: str) -> None:
    changed = XML.replace(old, new)
    with pytest.raises(ReadError, match=message) as caught:
        list(read_bioc(written(tmp_path, changed)))
    assert caught.value.line == 1 + changed[: changed.index(at)].count("\n")


def test_xml_without_a_document(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="holds no document"):
        list(read_bioc(written(tmp_path, "<collection/>")))


@pytest.mark.parametrize("option", [{"composites": "some"}, {"pieces": "glue"}])
def test_unknown_options(tmp_path: Path, option: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="not known"):
        list(read_bioc(written(tmp_path, XML), **option))


def round_trip(folder: Path, documents: list[Document], syntax: str) -> list[Document]:
    stream = io.StringIO()
    assert write_bioc(documents, stream, syntax=syntax, source="a & b") == len(documents)
    return list(read_bioc(written(folder, stream.getvalue())))


@pytest.mark.parametrize("syntax", ["xml", "json"])
def test_what_is_written_is_read_back(tmp_path: Path, syntax: str) -> None:
    text = "Titel <ä> & 😀\nOne\ttwo\r\nthree & four\n"
    documents = [
        Document(
            "a&b",
            text,
            (
                Mention("Titel", 0, 5, "T<", ("A:1", "B:2"), "any", "a&b"),
                Mention("two", 18, 21, "", ("A:1", "-1"), "all", "a&b"),
                Mention("three four", 23, 35, "T", (), "nil", "a&b"),
            ),
        ),
        Document("2", "one line", (Mention("one line", 0, 8, "T", (), "any", "2"),)),
        Document("3", "across\nlines", (Mention("across\nlines", 0, 12, "T", (), "any", "3"),)),
        Document("4", "\nstarts with a line end"),
        Document("5", "ends with one\n"),
        Document("6", ""),
    ]
    assert round_trip(tmp_path, documents, syntax) == documents


@pytest.mark.parametrize("syntax", ["xml", "json"])
def test_title_and_abstract_are_passages(syntax: str, tmp_path: Path) -> None:
    stream = io.StringIO()
    write_bioc([Document("1", "a\nb")], stream, syntax=syntax)
    assert "title" in stream.getvalue()
    assert "abstract" in stream.getvalue()
    assert next(read_bioc(written(tmp_path, stream.getvalue()))).text == "a\nb"


@pytest.mark.parametrize(
    ("document", "options", "message"),
    [
        (Document("1", "a\x01b"), {}, r"U\+0001"),
        (Document("", "a"), {}, "no id"),
        (Document("1", "a", (Mention("a"),)), {}, "no offsets"),
        (Document("1", "a", (Mention("a", 0, 1, ids=("x|y",)),)), {}, "separator"),
        (Document("1", "a"), {"syntax": "yaml"}, "not known"),
    ],
)
def test_what_cannot_be_written(document: Document, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        write_bioc([document], io.StringIO(), **options)


def test_json_holds_every_character(tmp_path: Path) -> None:
    documents = [Document("1", "a\x01\ud800b")]
    assert round_trip(tmp_path, documents, "json") == documents


@pytest.mark.parametrize("syntax", ["xml", "json"])
def test_a_real_corpus_survives(tmp_path: Path, data: Path, syntax: str) -> None:
    documents = list(read_pubtator(data / "bc5cdr" / "test.pubtator"))[:120]
    assert round_trip(tmp_path, documents, syntax) == documents


def test_copies_in_ascii_are_counted(tmp_path: Path, caplog: Log) -> None:
    text = "Serum TNF-α in asthma‐like states"
    annotations = [
        {
            "id": str(start), "infons": {}, "text": written,
            "locations": [{"offset": start, "length": length}],
        }
        for start, length, written in ((6, 5, "TNF-a"), (15, 11, "asthma-like"), (27, 6, "states"))
    ]  # fmt: skip
    passage = {"offset": 0, "text": text, "annotations": annotations}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"documents": [{"id": "1", "passages": [passage]}]}))
    (document,) = read_bioc(path)
    assert [mention.text for mention in document.mentions] == ["TNF-α", "asthma‐like", "states"]
    (record,) = caplog.records
    assert "2 annotations write another text" in record.message
    assert "the first is 'TNF-a' for 'TNF-α' in '1'" in record.message
