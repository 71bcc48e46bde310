"""Drug labels of TAC 2017."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.types import Document, Mention
from reproduce.readers.tac import read_tac

XML = Path(__file__).with_suffix(".xml").read_text("utf-8")
TEXT = "\n    Liver or kidney damage.\nSevere\n  rash & death, odd feeling."


def written(folder: Path, content: str = XML, name: str = "ABC.xml") -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def test_a_label_becomes_a_document(tmp_path: Path) -> None:
    kind = "AdverseReaction"
    assert list(read_tac(written(tmp_path))) == [
        Document(
            "ABC",
            TEXT,
            (
                Mention("Liver damage", 5, 27, kind, ("10067125",), "any", "ABC"),
                Mention("Severe", 29, 35, "Severity", (), "any", "ABC"),
                Mention("Severe\n  rash", 29, 42, kind, ("10037844", "10040914"), "all", "ABC"),
                Mention("death", 45, 50, kind, (), "any", "ABC"),
                Mention("odd feeling", 52, 63, kind, (), "nil", "ABC"),
            ),
        )
    ]


def test_options(tmp_path: Path) -> None:
    mentions = next(read_tac(written(tmp_path), terms="llt", pieces="cover")).mentions
    assert mentions[2].ids == ("10037888", "10040914")
    assert (mentions[0].text, mentions[0].ids) == (TEXT[5:27], ("10067125",))


def test_a_folder_is_read_by_name(tmp_path: Path) -> None:
    written(tmp_path, XML.replace("ABC", "B"), "b.xml")
    written(tmp_path, XML.replace("ABC", "A"), "a.xml")
    assert [document.id for document in read_tac(tmp_path)] == ["A", "B"]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('drug="ABC"', "", 2, "<Label> has no drug="),
        ('id="S2"', 'id="S1"', 6, "S1 was used by a section above"),
        ('section="S1"', 'section="S9"', 10, "section S9, which the label lacks"),
        ('start="5,21"', 'start="5"', 10, "not equally many whole numbers"),
        ('start="5,21"', 'start="5,x"', 10, "not equally many whole numbers"),
        ('len="5,6"', f'len="5,{"9" * 5000}"', 10, "not equally many"),
        ('len="5,6"', 'len="5,600"', 10, "section S1: offsets 21-621 are no span"),
        ('str="Liver damage"', 'str="Kidney damage"', 10, "annotation says 'Kidney damage'"),
        ('type="Severity" ', "", 11, "has no type="),
        ('meddra_pt_id="10067125"', "", 21, "<Normalization> has no meddra_pt_id="),
        ('str="liver damage"', "", 20, "<Reaction> has no str="),
    ],
)
def test_bad_labels(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert XML.count(old) == 1 or new == 'section="S9"'
    with pytest.raises(ReadError, match=message) as caught:
        list(read_tac(written(tmp_path, XML.replace(old, new, 1))))
    assert caught.value.line == line


def test_what_is_no_label(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"holds no \.xml file"):
        list(read_tac(tmp_path))
    with pytest.raises(ReadError, match="has no <Label>"):
        list(read_tac(written(tmp_path, "<collection/>")))
    with pytest.raises(ReadError, match="declares the entity"):
        list(read_tac(written(tmp_path, '<!DOCTYPE Label [<!ENTITY a "&b;">]>' + XML[39:])))


@pytest.mark.parametrize("option", [{"pieces": "x"}, {"terms": "x"}])
def test_unknown_options(tmp_path: Path, option: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="'x'"):
        list(read_tac(written(tmp_path), **option))
