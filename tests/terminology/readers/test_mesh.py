"""The reader of MeSH XML."""

from __future__ import annotations

import gzip
import weakref
from pathlib import Path

import pytest

from canonym.errors import ReadError
from canonym.io.xml import read_elements, read_prolog
from canonym.terminology.readers.mesh import read_mesh_xml
from canonym.types import Concept, Name, Relation, Xref
from tests.files import written

SOURCES = Path(__file__).with_name("sources")
DESCRIPTORS = (SOURCES / "descriptors.xml").read_text(encoding="utf-8")

SUPPLEMENTARY = (SOURCES / "supplementary.xml").read_text(encoding="utf-8")


def test_descriptors(tmp_path: Path) -> None:
    mi, ischemia, aspirin = "MESH:D009203", "MESH:D017202", "MESH:D001241"
    assert list(read_mesh_xml(written(tmp_path / "a.xml", DESCRIPTORS))) == [
        Concept(
            mi,
            "Myocardial Infarction",
            "NECROSIS of the MYOCARDIUM.",
            ("C", "Diseases"),
            "MeSH",
            "2024",
        ),
        Name("Infarction, Myocardial", mi),
        Name("MI", mi, "abbreviation"),
        Name("Heart Attack", mi, "narrow"),
        Name("Infarct of a kind", mi, "narrow"),
        Name("Unrelated", mi),
        Concept(ischemia, "Myocardial Ischemia", "", ("C", "Diseases", "X"), "MeSH", "2024"),
        Concept(aspirin, "Aspirin", "", ("D", "Chemicals and Drugs"), "MeSH", "2024"),
        Xref(aspirin, "UNII:R16CO5Y76E"),
        Xref(aspirin, "CAS:50-78-2"),
        Xref(aspirin, "EC:1.1.1.1"),
        Relation(aspirin, "has_pharmacological_action", "MESH:D000894"),
        Relation(mi, "is_a", ischemia),
    ]


def test_supplementary_concepts(tmp_path: Path) -> None:
    path = written(tmp_path / "supp2023.xml.gz", gzip.compress(SUPPLEMENTARY.encode()))
    types = ("Supplementary Concept", "C", "Diseases")
    assert list(read_mesh_xml(path)) == [
        Concept("MESH:C538288", "10p deletion syndrome", "RARE disease.", types, "MeSH", "2023"),
        Name("Monosomy 10p", "MESH:C538288"),
        Relation("MESH:C538288", "mapped_to", "MESH:D002872"),
        Relation("MESH:C538288", "mapped_to", "MESH:D025063"),
        Concept("MESH:C1", "something new", "", ("Supplementary Concept",), "MeSH", "2023"),
    ]


def test_the_version_may_be_given_or_unknown(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xml", SUPPLEMENTARY)
    for given, expected in ((None, ""), ("2025", "2025")):
        first = next(read_mesh_xml(path, version=given))
        assert isinstance(first, Concept)
        assert first.version == expected


def test_only_one_record_is_kept(tmp_path: Path) -> None:
    record = DESCRIPTORS[DESCRIPTORS.index("<DescriptorRecord ") :].split("</DescriptorRecordSet")[
        0
    ]
    path = written(tmp_path / "a.xml", f"<DescriptorRecordSet>{record * 50}</DescriptorRecordSet>")
    seen: list[weakref.ref[object]] = []
    for element in read_elements(path, {"DescriptorRecord"}):
        seen.append(weakref.ref(element))
        assert sum(reference() is not None for reference in seen) <= 2
    assert len(seen) == 150


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("id,name\n", "not XML"),
        ("<?xml version='1.0' encoding='nowhere'?><a/>", "not XML"),
        ("<QualifierRecordSet/>", "root element 'QualifierRecordSet'"),
        ("<!-- " + "a" * 5000 + " -->", "not XML"),
        (DESCRIPTORS[:-300], "ends too early"),
        (SUPPLEMENTARY.replace("C538288", " "), "has no SupplementalRecordUI"),
        (DESCRIPTORS.replace("D017202", ""), "has no DescriptorUI"),
        (SUPPLEMENTARY.replace("RARE", "&rare;"), "malformed"),
    ],
)
def test_malformed_files(tmp_path: Path, text: str, phrase: str) -> None:
    with pytest.raises(ReadError, match=phrase):
        list(read_mesh_xml(written(tmp_path / "a.xml", text)))


def test_a_truncated_file_names_its_line(tmp_path: Path) -> None:
    cut = SUPPLEMENTARY[: SUPPLEMENTARY.index("<Note>")]
    with pytest.raises(ReadError, match="too early") as caught:
        list(read_mesh_xml(written(tmp_path / "a.xml", cut)))
    assert caught.value.line == 6


def test_entities_are_refused(tmp_path: Path) -> None:
    layers = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 9))
    bomb = (
        f'<!DOCTYPE DescriptorRecordSet [<!ENTITY e0 "ha">{layers}]>\n'
        "<DescriptorRecordSet>&e8;</DescriptorRecordSet>"
    )
    with pytest.raises(ReadError, match="declares the entity 'e1'") as caught:
        list(read_mesh_xml(written(tmp_path / "a.xml", bomb)))
    assert caught.value.line == 1
    outside = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    with pytest.raises(ReadError, match="declares the entity 'x'"):
        read_prolog(written(tmp_path / "b.xml", outside))


def test_an_empty_tree_number_is_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path / "desc.xml", DESCRIPTORS.replace("C14.280.647.500", " ", 1))
    types = next(r.types for r in read_mesh_xml(path) if isinstance(r, Concept))
    assert types[0] == "C"
