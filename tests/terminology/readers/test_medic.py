"""The reader of MEDIC and of BioSyn's dictionaries."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology.readers.medic import read_medic
from canonym.types import Concept, Name, Record, Xref

SOURCES = Path(__file__).with_name("sources")
MEDIC = (SOURCES / "medic.txt").read_text()
BIOSYN = (SOURCES / "biosyn.txt").read_text()


def read(path: Path, text: str, **options: object) -> list[Record]:
    path.write_text(text)
    return list(read_medic(path, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("style", ["auto", "medic"])
def test_a_line_is_a_concept_in_medic(tmp_path: Path, style: str) -> None:
    assert read(tmp_path / "a.txt", MEDIC, style=style, version="2012") == [
        Concept("MESH:D009203", "Myocardial Infarction", source="MEDIC", version="2012"),
        Name("Heart Attack", "MESH:D009203"),
        Name("Infarct, Myocardial", "MESH:D009203"),
        Concept("MESH:C567755", "Tooth Agenesis, Selective, 6", source="MEDIC", version="2012"),
        Name("STHAG6", "MESH:C567755"),
        Xref("MESH:C567755", "OMIM:613097", "alternative"),
        Concept("DOID:1", "something", source="MEDIC", version="2012"),
        Xref("DOID:1", "X 7", "alternative"),
        Concept("C1", "", source="MEDIC", version="2012"),
    ]


@pytest.mark.parametrize("style", ["auto", "biosyn"])
def test_a_line_is_a_name_in_biosyn(tmp_path: Path, style: str) -> None:
    assert read(tmp_path / "a.txt", BIOSYN, style=style) == [
        Concept("MESH:C567755", "tooth agenesis selective 6"),
        Xref("MESH:C567755", "OMIM:613097", "alternative"),
        Name("sthag6", "MESH:C567755"),
        Concept("OMIM:145250", "fph"),
        Name("hpp", "OMIM:145250"),
        Concept("OMIM:266140", "hpp"),
        Xref("OMIM:266140", "MESH:C563004", "alternative"),
        Name("melanosis", "OMIM:145250"),
        Concept("MESH:C564163", "melanosis"),
        Name("pyropoikilocytosis", "OMIM:266140"),
        Name("melanosis universalis", "MESH:C564163"),
    ]


def test_ids_can_be_kept_and_the_source_named(tmp_path: Path) -> None:
    text = "10019211||headache\nD000001||x\n"
    assert read(tmp_path / "a", text) == [
        Concept("10019211", "headache"),
        Concept("MESH:D000001", "x"),
    ]
    assert read(tmp_path / "a", text, prefixes=False, source="TAC") == [
        Concept("10019211", "headache", source="TAC"),
        Concept("D000001", "x", source="TAC"),
    ]


def test_a_repeated_list_of_ids_is_counted_once(tmp_path: Path) -> None:
    text = "1|2||a\n1|2||b\n1|2||a\n"
    assert read(tmp_path / "a", text) == [
        Concept("1", "a"),
        Xref("1", "2", "alternative"),
        Name("b", "1"),
        Name("a", "1"),
    ]


@pytest.mark.parametrize(
    ("text", "phrase", "line"),
    [
        ("id,name\n", "one double bar", 1),
        ("D1||a\nD2|b\n", "one double bar", 2),
        ("D1||a||b\n", "one double bar", 1),
        ("||a\n", "id is empty", 1),
        ("D1| ||a\n", "id is empty", 1),
        ("\n\n", "only blank lines", 2),
    ],
)
@pytest.mark.parametrize("style", ["auto", "medic", "biosyn"])
def test_malformed_files(tmp_path: Path, text: str, phrase: str, line: int, style: str) -> None:
    with pytest.raises(ReadError, match=phrase) as caught:
        read(tmp_path / "a", text, style=style)
    assert caught.value.line == line


def test_an_unknown_style(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'csv'.*auto, medic, biosyn"):
        read(tmp_path / "a", MEDIC, style="csv")


def test_medic_of_2012(data: Path) -> None:
    path = data / "medic-2012" / "medic_06Jul2012.txt"
    records = list(read_medic(path))
    concepts = [record for record in records if isinstance(record, Concept)]
    pairs = [(record.concept_id, record.text) for record in records if isinstance(record, Name)]
    pairs += [(concept.id, concept.label) for concept in concepts]
    assert len({concept.id for concept in concepts}) == len(concepts) == 11915
    assert len(pairs) == len(set(pairs)) == 76237
    first_ids = [line.split("|")[0] for line in path.read_text(encoding="utf-8").splitlines()]
    assert [concept.id.split(":")[-1] for concept in concepts] == first_ids
    assert {concept.id.split(":")[0] for concept in concepts} == {"MESH", "OMIM"}


def test_the_dictionary_of_biosyn(data: Path) -> None:
    path = data / "biosyn-processed" / "ncbi-disease" / "train_dictionary.txt.gz"
    records = list(read_medic(path))
    main = {r.target: r.concept_id for r in records if isinstance(r, Xref)}
    found = {(r.concept_id, r.text) for r in records if isinstance(r, Name)}
    found |= {(r.id, r.label) for r in records if isinstance(r, Concept)}
    # Naively: every id of a line has its name; then alternatives stand for their concept.
    expected = set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            ids, name = line.strip().split("||")
            for id_ in ids.split("|"):
                curie = f"OMIM:{id_}" if id_.isdigit() else f"MESH:{id_}"
                expected.add((main.get(curie, curie), name))
    assert found == expected
    assert sum(isinstance(record, Concept) for record in records) == 11906
