"""Gettext files with translated labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology.formats import recognise
from canonym.terminology.readers.po import read_po
from canonym.types import Concept, Name
from tests.logs import Log

pytest.importorskip("babel")

PO = (Path(__file__).with_name("sources") / "clinic.po").read_text(encoding="utf-8")


def write(path: Path, text: str = PO) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_an_entry_is_a_concept_and_its_translation(tmp_path: Path, caplog: Log) -> None:
    path = write(tmp_path / "de.po")
    assert recognise(path) == "po"
    assert list(read_po(path, source="ICD")) == [
        Concept("A00", "Cholera", source="ICD"),
        Name("Cholera-Infektion", "A00", language="de"),
        Concept("A01", 'Typhoid "fever"', source="ICD"),
        Concept("X:7", "Plague", source="ICD"),
    ]
    assert "1 fuzzy translations are left out; fuzzy=True takes them" in caplog.text
    names = [one for one in read_po(path, fuzzy=True, prefix="I:") if isinstance(one, Name)]
    assert names == [
        Name("Cholera-Infektion", "I:A00", language="de"),
        Name("Bauchtyphus", "I:A01", language="de"),
    ]


@pytest.mark.parametrize(
    ("name", "header", "expected"),
    [
        ("pt_BR.po", "", "pt-BR"),
        ("icd-fr.po", "", "fr"),
        ("names.po", "Language: it\\n", "it"),
        ("de.po", "Language: it\\n", "it"),
    ],
)
def test_the_language_is_that_of_the_header_or_the_file(
    name: str, header: str, expected: str, tmp_path: Path
) -> None:
    path = write(tmp_path / name, PO.replace("charset=utf-8\\n", f"charset=utf-8\\n{header}"))
    assert {one.language for one in read_po(path) if isinstance(one, Name)} == {expected}
    assert next(one.language for one in read_po(path, language="cs") if isinstance(one, Name)) == (
        "cs"
    )


def test_what_is_missing_or_damaged_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="tells the language; name it with language="):
        list(read_po(write(tmp_path / "Translations.po")))
    path = tmp_path / "de.po"
    for text, problem in (
        ("garbage\n", "line 1: this is no line of a gettext file: 'garbage'"),
        ('msgctxt "X:1"\nmsgid "a\nmsgstr "b"\n', "line 2: this is no line of a gettext file"),
        ('msgctxt "X:1"\nmsgid "a"\nmsgstr "b"\nmsgctxt "X:2"\n', "an entry is cut"),
        ('msgctxt "X:1"\nmsgid "a"\nmsgstr "b"\n\n' * 2, "or there twice"),
        ('msgctxt "X"\nmsgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\n', "has plural forms"),
        ('msgid "a"\nmsgstr "b"\n', "'a' has no msgctxt"),
    ):
        with pytest.raises(ReadError, match=problem):
            list(read_po(write(path, text)))
