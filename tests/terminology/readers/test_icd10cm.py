"""The reader of ICD-10-CM."""

from __future__ import annotations

from collections import Counter
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import pytest

from canonym.errors import ReadError
from canonym.terminology import recognise
from canonym.terminology.readers import icd10cm as reader
from canonym.terminology.readers.everyday import SOURCE, read_everyday
from canonym.terminology.readers.icd10cm import read_icd10cm
from canonym.types import Concept, Name, Record, Relation
from tests.files import written


@pytest.fixture(scope="module")
def concepts(icd10cm: list[Record]) -> dict[str, Concept]:
    return {record.id: record for record in icd10cm if isinstance(record, Concept)}


@pytest.fixture(scope="module")
def parents(icd10cm: list[Record]) -> dict[str, str]:
    return {record.head: record.tail for record in icd10cm if isinstance(record, Relation)}


def test_none_is_lost_and_every_id_is_unique(
    icd10cm: list[Record], concepts: dict[str, Concept], parents: dict[str, str]
) -> None:
    kinds = Counter(type(record).__name__ for record in icd10cm)
    assert kinds["Concept"] == len(concepts) == 98505
    assert Counter(concept.types for concept in concepts.values()) == {
        ("chapter",): 22,
        ("block",): 297,
        ("category",): 1918,
        ("subcategory",): 44963,
        ("extended subcategory",): 51305,
    }
    # All but the chapters have a parent, and it exists.
    assert kinds["Relation"] == len(parents) == 98505 - 22
    assert set(parents.values()) <= set(concepts)
    assert {record.relation for record in icd10cm if isinstance(record, Relation)} == {"is_a"}
    assert {concept.version for concept in concepts.values()} == {"April 2026"}


def test_names_against_the_official_file(icd10cm: list[Record]) -> None:
    folder = resources.files("simple_icd_10_cm.data")
    (file,) = (file for file in folder.iterdir() if file.name.endswith(".xml"))
    with file.open("rb") as source:
        tree = ElementTree.parse(source)
    inclusion, includes = (
        Counter(note.text for list_ in tree.iter(tag) for note in list_ if note.text)
        for tag in ("inclusionTerm", "includes")
    )
    names = [record for record in icd10cm if isinstance(record, Name)]
    exact = Counter(name.text for name in names if name.scope == "exact")
    assert (exact - inclusion).total() == 922  # other wordings, and terms in their context
    assert {"Polyneuropathy", "Lymphadenitis", "Fibrous dysplasia"} <= set(inclusion - exact)
    assert (inclusion - exact).total() == 13
    assert Counter(name.text for name in names if name.scope == "narrow") == includes
    assert (inclusion.total(), includes.total()) == (12574, 1024)


def test_a_family_from_chapter_to_seventh_character(
    concepts: dict[str, Concept], parents: dict[str, str]
) -> None:
    line = ["ICD10CM:S72.001A"]
    while line[-1] in parents:
        line.append(parents[line[-1]])
    assert [id_.removeprefix("ICD10CM:") for id_ in line] == [
        "S72.001A", "S72.001", "S72.00", "S72.0", "S72", "S70-S79", "19",
    ]  # fmt: skip
    assert concepts["ICD10CM:19"].label == (
        "Injury, poisoning and certain other consequences of external causes"
    )
    assert concepts["ICD10CM:S70-S79"].label == "Injuries to the hip and thigh"
    assert concepts["ICD10CM:S72.001A"].label.endswith("initial encounter for closed fracture")


def test_a_block_of_one_category(concepts: dict[str, Concept], parents: dict[str, str]) -> None:
    block, category = concepts["ICD10CM:B20-B20"], concepts["ICD10CM:B20"]
    assert (block.types, category.types) == (("block",), ("category",))
    assert block.label == "Human immunodeficiency virus [HIV] disease (B20)"
    assert category.label == "Human immunodeficiency virus [HIV] disease"
    assert parents[category.id] == block.id
    assert parents[block.id] == "ICD10CM:1"
    assert parents["ICD10CM:C50.0"] == "ICD10CM:C50"


def test_names_of_a_category(icd10cm: list[Record]) -> None:
    names = {
        (r.text, r.scope)
        for r in icd10cm
        if isinstance(r, Name) and r.concept_id in ("ICD10CM:B20", "ICD10CM:A00.0")
    }
    assert ("Classical cholera", "exact") in names
    assert ("AIDS-related complex [ARC]", "narrow") in names


def test_what_square_brackets_enclose_is_another_wording(icd10cm: list[Record]) -> None:
    names = {
        (r.concept_id.removeprefix("ICD10CM:"), r.text) for r in icd10cm if isinstance(r, Name)
    }
    assert {
        ("H49.0", "oculomotor nerve palsy"),  # Third [oculomotor] nerve palsy
        ("J00", "common cold"),  # Acute nasopharyngitis [common cold]
        ("A60", "Anogenital herpes simplex infections"),
        ("M21.41", "pes planus (acquired), right foot"),
        ("S62.172", "Displaced fracture of larger multangular, left wrist"),
        ("K56.5", "Intestinal bands with obstruction (postinfection)"),
    } <= names
    assert not {"any part", "including malocclusion", "bands", "part of"} & {n for _, n in names}


def test_an_inclusion_term_that_is_another_code_gets_its_context(icd10cm: list[Record]) -> None:
    names = {
        (r.text, r.concept_id.removeprefix("ICD10CM:")) for r in icd10cm if isinstance(r, Name)
    }
    assert ("Polyneuropathy in Lyme disease", "A69.22") in names
    assert ("Glomerulonephritis in diseases classified elsewhere", "N08") in names
    assert not {("Polyneuropathy", "A69.22"), ("Lymphadenitis", "I88.1")} & names
    assert ("Glomerulonephritis", "N08") not in names


def test_includes_can_be_left_out() -> None:
    names = [record for record in read_icd10cm(includes=False) if isinstance(record, Name)]
    assert len(names) == 13483
    assert {name.scope for name in names} == {"exact"}


def test_everyday_names_come_last_if_asked_for(icd10cm: list[Record]) -> None:
    both = list(read_icd10cm(everyday=True))
    assert both[: len(icd10cm)] == icd10cm
    added = both[len(icd10cm) :]
    assert added == list(read_everyday(known={r.id for r in icd10cm if isinstance(r, Concept)}))
    assert Name("heart attack", "ICD10CM:I21", source=SOURCE) in added


def test_the_version_may_be_given_or_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert next(read_icd10cm(version="2026")) == Concept(
        "ICD10CM:1",
        "Certain infectious and parasitic diseases",
        types=("chapter",),
        source="ICD-10-CM",
        version="2026",
    )
    monkeypatch.setattr(reader.resources, "files", lambda _: tmp_path)
    first = next(read_icd10cm())
    assert isinstance(first, Concept)
    assert first.version == ""


ORDER = "".join(
    f"{n:05d} {code:<7} {billable} {short:<60} {title}\n"
    for n, (code, billable, short, title) in enumerate(
        [
            ("A00", 0, "Cholera", "Cholera"),
            ("A000", 1, "Cholera due to Vibrio cholerae 01, biovar cholerae",
             "Cholera due to Vibrio cholerae 01, biovar cholerae"),
            ("T36", 0, "Systemic antibiotics", "Poisoning by systemic antibiotics"),
            ("T360X1", 0, "Poisoning by penicillins", "Poisoning by penicillins, accidental"),
            ("T360X1A", 1, "Poisoning by penicillins, acc, init",
             "Poisoning by penicillins, accidental, initial encounter"),
        ],
        1,
    )
)  # fmt: skip


def test_the_order_file_of_a_release(tmp_path: Path) -> None:
    path = written(tmp_path / "icd10cm-order-2027.txt", ORDER)
    assert recognise(path) == "icd10cm"
    of = {"source": "ICD-10-CM", "version": "2027"}
    title = "Cholera due to Vibrio cholerae 01, biovar cholerae"
    assert list(read_icd10cm(path)) == [
        Concept("ICD10CM:A00", "Cholera", types=("category",), **of),
        Concept("ICD10CM:A00.0", title, types=("subcategory",), **of),
        Relation("ICD10CM:A00.0", "is_a", "ICD10CM:A00"),
        Concept("ICD10CM:T36", "Poisoning by systemic antibiotics", types=("category",), **of),
        Concept(
            "ICD10CM:T36.0X1", "Poisoning by penicillins, accidental", types=("subcategory",), **of
        ),
        Relation("ICD10CM:T36.0X1", "is_a", "ICD10CM:T36"),
        Concept(
            "ICD10CM:T36.0X1A",
            "Poisoning by penicillins, accidental, initial encounter",
            types=("extended subcategory",),
            **of,
        ),
        Relation("ICD10CM:T36.0X1A", "is_a", "ICD10CM:T36.0X1"),
    ]
    assert next(read_icd10cm(path, version="x")).version == "x"


def test_a_release_may_have_everyday_names(tmp_path: Path) -> None:
    path = tmp_path / "order.txt"
    path.write_text("00001 I21     0 " + "Acute myocardial infarction".ljust(61) + "Acute MI\n")
    names = {one.text for one in read_icd10cm(path, everyday=True) if isinstance(one, Name)}
    assert "heart attack" in names
    assert not [one for one in read_icd10cm(path) if isinstance(one, Name)]


@pytest.mark.parametrize("line", ["A00 Cholera\n", "00001 A00 Cholera\n", ORDER[:30] + "\n"])
def test_other_files_are_refused(tmp_path: Path, line: str) -> None:
    path = written(tmp_path / "icd10cm-order-2027.txt", ORDER + line)
    with pytest.raises(ReadError, match="is no line of an order file") as caught:
        list(read_icd10cm(path))
    assert caught.value.line == 6
