"""Brat folders: pairs of texts and annotations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from canonym.corpora.brat import brat_annotations, read_brat
from canonym.errors import InvalidInput, ReadError
from canonym.types import Document, Mention

TEXT = "A broken left and\r\nright hip, or FH."
ANN = """\
T1\tDisease 2 8;25 28\tbroken hip
N1\tReference T1 MESH:D006620\tHip Fractures
N2\tReference T1 OMIM:1\tthe same elsewhere
#1\tAnnotatorNotes T1\tD000000
T2\tDisease 33 35\tFH
#2\tAnnotatorNotes T2\tMESH:D006620|C0019557
#3\tAnnotatorNotes T2\tand a remark
T3\tSite 9 24\tleft and right
#4\tAnnotatorNotes T3\t2nd opinion
R1\tAt Arg1:T1 Arg2:T3
*\tEquiv T1 T2
A1\tNegated T1

"""


def pair(folder: Path, text: str = TEXT, ann: str = ANN, name: str = "7") -> Path:
    (folder / f"{name}.txt").write_bytes(text.encode())
    (folder / f"{name}.ann").write_bytes(ann.encode())
    return folder


def test_a_pair_becomes_a_document(tmp_path: Path) -> None:
    (document,) = read_brat(pair(tmp_path))
    assert document == Document(
        "7",
        TEXT,
        (
            Mention("broken hip", 2, 28, "Disease", ("MESH:D006620", "OMIM:1"), "any", "7"),
            Mention("FH", 33, 35, "Disease", ("MESH:D006620", "C0019557"), "all", "7"),
            Mention("left and\r\nright", 9, 24, "Site", (), "any", "7"),
        ),
    )


def test_options(tmp_path: Path) -> None:
    pair(tmp_path)
    first, second, _ = next(read_brat(tmp_path, references="all", note_ids=None)).mentions
    assert (first.rule, second.ids) == ("all", ())
    cover = next(read_brat(tmp_path, pieces="cover")).mentions[0]
    assert cover.text == TEXT[2:28]
    third = next(read_brat(tmp_path, note_ids=r"\d\w+ opinion")).mentions[2]
    assert third.ids == ("2nd opinion",)


@pytest.mark.parametrize("note", ["CUI-less", "-1", "concept_less"])
def test_no_concept(tmp_path: Path, note: str) -> None:
    ann = f"T1\tDisease 33 35\tFH\n#1\tAnnotatorNotes T1\t{note}\n"
    (mention,) = next(read_brat(pair(tmp_path, ann=ann))).mentions
    assert (mention.ids, mention.rule) == ((), "nil")


def test_sub_folders_and_single_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    pair(tmp_path, name="c")
    pair(tmp_path / "b", "", "", "1.2")
    assert [document.id for document in read_brat(tmp_path)] == ["b/1.2", "c"]
    assert next(read_brat(tmp_path / "b" / "1.2.ann")) == Document("1.2", "")
    assert next(read_brat(tmp_path / "c.txt")).id == "c"


def test_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_bytes("häm".encode("latin-1"))
    (tmp_path / "1.ann").write_bytes("T1\tX 0 3\thäm\n".encode("latin-1"))
    assert next(read_brat(tmp_path, encoding="latin-1")).mentions[0].text == "häm"
    with pytest.raises(ReadError, match=r"1\.txt, line 1: is not UTF-8"):
        list(read_brat(tmp_path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1\tDisease 33 99\tFH", "no span"),
        ("T1\tDisease 34 36\tFH", "hold 'H.'"),
        ("T1\tDisease 2 8;5 9\tx", "overlap"),
        ("T1\tDisease two 8\tx", "'TYPE START END'"),
        (f"T1\tDisease 2 {'9' * 5000}\tx", "'TYPE START END'"),
        ("N1\tReference T1\tx", "RESOURCE:ID"),
        ("N1\tReference T9 MESH:D1\tx", "T9, which is no mention"),
        ("7|t|Broken hip", "no line of brat"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, message: str) -> None:
    pair(tmp_path, ann=f"T2\tSite 9 13\tleft\n{line}\n")
    with pytest.raises(ReadError, match=message) as caught:
        list(read_brat(tmp_path))
    assert caught.value.line == 2
    assert caught.value.path.name == "7.ann"


def test_an_id_used_twice(tmp_path: Path) -> None:
    pair(tmp_path, ann="T1\tX 33 35\tFH\nT1\tX 33 35\tFH\n")
    with pytest.raises(ReadError, match="line 2: the id T1 was used"):
        list(read_brat(tmp_path))


@pytest.mark.parametrize("missing", ["7.txt", "7.ann"])
def test_half_a_pair(tmp_path: Path, missing: str) -> None:
    pair(tmp_path)
    pair(tmp_path, name="8")
    (tmp_path / missing).unlink()
    with pytest.raises(ReadError, match=f"has no {missing} beside it"):
        list(read_brat(tmp_path))


def test_no_folder_and_no_annotations(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="is no folder"):
        list(read_brat(tmp_path / "none"))
    with pytest.raises(ReadError, match=r"no \.ann file"):
        list(read_brat(tmp_path))


@pytest.mark.parametrize("option", [{"pieces": "x"}, {"references": "x"}, {"note_ids": "("}])
def test_unknown_options(tmp_path: Path, option: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"'x'|no regular"):
        list(read_brat(pair(tmp_path), **option))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    (document,) = read_brat(pair(tmp_path))
    nil = Mention("FH", 33, 35, "Disease", (), "nil", "7")
    half = Mention("hip", 25, 28, "Disease", ("D006620", "-1"), "all", "7")
    document = Document("7", TEXT, (*document.mentions, nil, half))
    pair(tmp_path, ann=brat_annotations(document))
    assert next(read_brat(tmp_path)) == document


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        (Mention("FH", 33, 35), "type"),
        (Mention("FH", 33, 35, "A B"), "type"),
        (Mention("FH", type="A"), "no offsets"),
        (Mention("FH", 33, 35, "A", ("some word",)), "ordinary note"),
    ],
)
def test_what_cannot_be_written(mention: Mention, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        brat_annotations(Document("7", TEXT, (mention,)))
