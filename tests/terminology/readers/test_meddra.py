"""MedDRA: exact records of a hand-made release in its ASCII format, and damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology.readers.meddra import read_meddra
from canonym.types import Concept, Name, Relation, Xref

SOURCES = Path(__file__).with_name("sources") / "meddra"
FILES = {file.name: file.read_text() for file in sorted(SOURCES.iterdir())}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "MedDRA_27_0_English" / "MedAscii"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder.parent


CONCEPTS = [
    Concept("MEDDRA:10007541", "Cardiac disorders", "", ("SOC",), "MedDRA", "27.0"),
    Concept("MEDDRA:10047065", "Vascular disorders", "", ("SOC",), "MedDRA", "27.0"),
    Concept("MEDDRA:10011082", "Coronary artery disorders", "", ("HLGT",), "MedDRA", "27.0"),
    Concept(
        "MEDDRA:10011085", "Ischaemic coronary artery disorders", "", ("HLT",), "MedDRA", "27.0"
    ),
    Concept("MEDDRA:10028596", "Myocardial infarction", "", ("PT",), "MedDRA", "27.0"),
    Concept("MEDDRA:10002383", "Angina pectoris", "", ("PT",), "MedDRA", "27.0"),
]
HIERARCHY = [
    Relation("MEDDRA:10011082", "is_a", "MEDDRA:10007541"),
    Relation("MEDDRA:10011082", "is_a", "MEDDRA:10047065"),
    Relation("MEDDRA:10011085", "is_a", "MEDDRA:10011082"),
    Relation("MEDDRA:10028596", "is_a", "MEDDRA:10011085"),
    Relation("MEDDRA:10002383", "is_a", "MEDDRA:10011085"),
    Relation("MEDDRA:10028596", "primary_soc", "MEDDRA:10007541"),
]


def test_lowest_level_terms_as_names(release: Path) -> None:
    assert list(read_meddra(release)) == [
        *CONCEPTS,
        Name("Heart attack", "MEDDRA:10028596"),
        Xref("MEDDRA:10028596", "MEDDRA:10019250", "alternative"),
        Xref("MEDDRA:10002383", "MEDDRA:10002390", "alternative"),
        *HIERARCHY,
    ]


def test_lowest_level_terms_as_concepts(release: Path) -> None:
    own = ("LLT",), "MedDRA", "27.0"
    assert list(read_meddra(release / "MedAscii", llt="concepts", non_current=True)) == [
        *CONCEPTS,
        Concept("MEDDRA:10019250", "Heart attack", "", *own),
        Relation("MEDDRA:10019250", "is_a", "MEDDRA:10028596"),
        Concept("MEDDRA:10000891", "Acute myocardial infarction (old)", "", *own, True),
        Relation("MEDDRA:10000891", "is_a", "MEDDRA:10028596"),
        Concept("MEDDRA:10002390", "Angina pectoris", "", *own),
        Relation("MEDDRA:10002390", "is_a", "MEDDRA:10002383"),
        *HIERARCHY,
    ]


def test_terms_that_are_not_current_can_be_taken(release: Path) -> None:
    found = list(read_meddra(release, non_current=True))
    assert Name("Acute myocardial infarction (old)", "MEDDRA:10028596") in found
    assert Xref("MEDDRA:10028596", "MEDDRA:10000891", "alternative") in found


def test_another_language_in_an_older_encoding(release: Path) -> None:
    folder = release / "MedAscii"
    (folder / "meddra_release.asc").unlink()
    (folder / "soc.asc").write_bytes(
        "10007541$Affections cardiaques$Card$$$$$$$$\n10047065$Système$Vasc$$$$$$$$\n".encode(
            "latin-1"
        )
    )
    with pytest.raises(ReadError, match=r"soc.asc, line 2: the line is not UTF-8.*latin-1"):
        list(read_meddra(release, language="fr"))
    found = list(read_meddra(release, language="fr", encoding="latin-1"))
    assert found[2:4] == [
        Concept("MEDDRA:10047065", "", "", ("SOC",), "MedDRA"),
        Name("Système", "MEDDRA:10047065", "label", "fr"),
    ]
    assert Name("Heart attack", "MEDDRA:10028596", "exact", "fr") in found


def test_one_more_dollar_sign_changes_nothing(release: Path) -> None:
    expected = list(read_meddra(release))
    file = release / "MedAscii" / "hlt_pt.asc"
    file.write_text(file.read_text().replace("\n", "$\r\n"))
    assert list(read_meddra(release)) == expected


@pytest.mark.parametrize("name", [name for name in FILES if "release" not in name])
def test_a_missing_file(release: Path, name: str) -> None:
    (release / "MedAscii" / name).unlink()
    with pytest.raises(ReadError, match=rf"{name} not found: a MedDRA folder must contain llt.asc"):
        list(read_meddra(release))


@pytest.mark.parametrize("name", [name for name in FILES if "release" not in name])
@pytest.mark.parametrize("damage", ["truncated", "wide", "other"])
def test_rows_of_another_width(release: Path, name: str, damage: str) -> None:
    file = release / "MedAscii" / name
    text = file.read_text()
    file.write_text(
        {"truncated": text[: text.rindex("$", 0, -2)], "wide": text[:-1] + "x$\n"}.get(
            damage, text.replace("$", ";")
        )
    )
    with pytest.raises(ReadError, match=rf"{name}, line \d: .* columns where \d+ were expected"):
        list(read_meddra(release))


def test_codes_that_are_nowhere(release: Path) -> None:
    folder = release / "MedAscii"
    (folder / "hlt_pt.asc").write_text("10011085$10099999$\n")
    with pytest.raises(ReadError, match=r"hlt_pt.asc: 10099999 is in no file of terms"):
        list(read_meddra(release))
    (folder / "llt.asc").write_text("10019250$Heart attack$10099999$$$$$$$Y$$\n")
    with pytest.raises(ReadError, match=r"10019250 \(Heart attack\) belongs to 10099999"):
        list(read_meddra(release))


def test_an_unknown_choice(release: Path) -> None:
    with pytest.raises(InvalidInput, match="expected 'names' or 'concepts'"):
        list(read_meddra(release, llt="both"))


def test_all_missing_files_are_listed_at_once(release: Path) -> None:
    for name in ("pt.asc", "hlt_pt.asc"):
        (release / "MedAscii" / name).unlink()
    with pytest.raises(ReadError, match=r": pt.asc, hlt_pt.asc not found: a MedDRA folder"):
        list(read_meddra(release))
