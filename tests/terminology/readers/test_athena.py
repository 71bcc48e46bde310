"""Athena: exact records of a hand-made download, its filters and damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology.readers.athena import read_athena
from canonym.types import Concept, Name, Relation, Xref

# Bars stand for the tabs of the files.
SOURCES = Path(__file__).with_name("sources") / "athena"
NAMES = ("CONCEPT", "CONCEPT_SYNONYM", "CONCEPT_RELATIONSHIP", "CONCEPT_ANCESTOR")
FILES = {name: (SOURCES / f"{name}.txt").read_text().replace("|", "\t") for name in NAMES}
HEADERS = {name: text.splitlines()[0] for name, text in FILES.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


AMI, MI, DIABETES = "OMOP:312327", "OMOP:4329847", "OMOP:201820"
DISORDER = ("Condition", "Disorder")
STANDARD = [
    Concept(AMI, "Acute myocardial infarction", "", DISORDER, "SNOMED", "v5"),
    Xref(AMI, "SNOMEDCT:57054005"),
    Concept(MI, "Myocardial infarction", "", DISORDER, "SNOMED", "v5"),
    Xref(MI, "SNOMEDCT:22298006"),
    Concept(DIABETES, 'Diabetes "mellitus"', "", DISORDER, "SNOMED", "v5"),
    Xref(DIABETES, "SNOMEDCT:73211009"),
    Concept("OMOP:1124957", "Oxycodone", "", ("Drug", "Ingredient"), "RxNorm", "v5"),
    Xref("OMOP:1124957", "RXNORM:7804"),
]


def test_standard_concepts_with_the_names_of_what_maps_to_them(folder: Path) -> None:
    assert list(read_athena(folder, version="v5")) == [
        *STANDARD,
        Relation(AMI, "is_a", MI),
        Name("Type 2 MI with diabetes", DIABETES, "narrow", "en", "ICD10CM"),
        Name("Type 2 MI with diabetes", AMI, "narrow", "en", "ICD10CM"),
        Name("AMI NOS", AMI, "exact", "en", "ICD9CM"),
        Xref(AMI, "ICD9CM:410.90"),
        Name("Heart attack (retired)", MI, "exact", "en", "SNOMED"),
        Xref(MI, "SNOMEDCT:155303007"),
        Name("Heart attack", MI),
        Name("Acute MI, unspecified", AMI),
    ]


def test_every_concept_with_maps_to_as_a_relation(folder: Path) -> None:
    found = list(read_athena(folder, standard_only=False))
    assert len([r for r in found if isinstance(r, Concept)]) == 8
    assert (
        Concept("OMOP:4000000", "Heart attack (retired)", "", DISORDER, "SNOMED", "", True, (MI,))
        in found
    )
    assert [r for r in found if isinstance(r, Relation)] == [
        Relation(AMI, "is_a", MI),
        Relation(AMI, "maps_to", AMI),  # as standard concepts do
        Relation("OMOP:44834725", "maps_to", AMI),
        Relation("OMOP:44834725", "maps_to", AMI),
        Relation("OMOP:45576876", "maps_to", AMI),
        Relation("OMOP:45576876", "maps_to", DIABETES),
        Relation("OMOP:4000000", "maps_to", MI),
    ]
    assert [r for r in found if isinstance(r, Name)] == [
        Name("Heart attack", MI),
        Name("Acute MI, unspecified", "OMOP:44834725"),
        Name("Nothing", "OMOP:2000000001"),
    ]


def test_vocabularies_filter_concepts_and_mapped_names(folder: Path) -> None:
    found = list(read_athena(folder, vocabularies={"SNOMED", "ICD9CM"}))
    assert [r.id for r in found if isinstance(r, Concept)] == [AMI, MI, DIABETES]
    assert [r.text for r in found if isinstance(r, Name)] == [
        "AMI NOS", "Heart attack (retired)", "Heart attack", "Acute MI, unspecified"
    ]  # fmt: skip


def test_languages_filter_synonyms(folder: Path) -> None:
    found = [r for r in read_athena(folder, languages=("es",)) if isinstance(r, Name)]
    assert found[-1] == Name("Infarto de miocardio", MI, "exact", "es")
    found = [r for r in read_athena(folder, languages=None) if isinstance(r, Name)]
    assert Name("Myokardinfarkt", MI, "exact", "") in found


def test_relations_can_be_chosen(folder: Path) -> None:
    found = list(read_athena(folder, relations=("Has med use",)))
    assert [r for r in found if isinstance(r, Relation)] == [
        Relation(DIABETES, "has_med_use", "OMOP:1124957")
    ]
    found = list(read_athena(folder, relations=()))
    assert not [r for r in found if isinstance(r, Relation)]


def test_ancestors_give_the_hierarchy(folder: Path) -> None:
    found = list(read_athena(folder, ancestors=True))
    assert [r for r in found if isinstance(r, Relation)] == [
        Relation(AMI, "is_a", MI),
        Relation(AMI, "is_a", DIABETES),
    ]
    (folder / "CONCEPT_ANCESTOR.csv").unlink()
    with pytest.raises(ReadError, match=r"CONCEPT_ANCESTOR.csv not found"):
        list(read_athena(folder, ancestors=True))


@pytest.mark.parametrize("name", NAMES[:3])
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / f"{name}.csv").unlink()
    with pytest.raises(ReadError, match=rf"{name}.csv not found: an Athena folder must contain"):
        list(read_athena(folder))


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        *(
            (
                name,
                text.rstrip("\n").rpartition("\t")[0],
                r", line \d+: \d cells where the header has",
            )
            for name, text in FILES.items()
        ),
        ("CONCEPT", "\r\n\r\n", ".*concept_id"),
        ("CONCEPT", FILES["CONCEPT"].replace("\t", ","), r".*line 1: no column 'concept_id'"),
        (
            "CONCEPT_SYNONYM",
            FILES["CONCEPT_SYNONYM"] + "1\tM\xe9ni\xe8re\t4180186\n",
            ".*line 7: the line is not UTF-8",
        ),
    ],
)
def test_a_damaged_file(folder: Path, name: str, content: str, problem: str) -> None:
    (folder / f"{name}.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(ReadError, match=rf"{name}.csv{problem}"):
        list(read_athena(folder, ancestors=True))


@pytest.mark.parametrize("name", NAMES[:3])
def test_an_id_that_is_no_number(folder: Path, name: str) -> None:
    lines = FILES[name].splitlines()
    lines[1] = "x" + lines[1]
    (folder / f"{name}.csv").write_text("\n".join(lines))
    with pytest.raises(ReadError, match=rf"{name}.csv: the concept id 'x\d+' is no number"):
        list(read_athena(folder))


@pytest.mark.parametrize("id_", ["9" * 19, "9" * 5000, "1_0", "²"])
def test_an_id_that_is_no_number_of_64_bits(folder: Path, id_: str) -> None:
    head, _, *rows = FILES["CONCEPT_RELATIONSHIP"].splitlines()
    mapped = f"{id_}\t{rows[0].split(chr(9))[1]}\tMaps to\t20020131\t20991231\t"
    (folder / "CONCEPT_RELATIONSHIP.csv").write_text("\n".join([head, mapped]))
    with pytest.raises(ReadError, match=rf"the concept id '{id_[:40]}' is no number"):
        list(read_athena(folder))


def test_an_id_that_is_no_number_in_a_row_that_is_passed_over(folder: Path) -> None:
    head, *rows = FILES["CONCEPT"].splitlines()
    cells = rows[0].split("\t")
    cells[0], cells[3] = "x", "Nobody's"
    (folder / "CONCEPT.csv").write_text("\n".join([head, *rows, "\t".join(cells)]))
    with pytest.raises(ReadError, match="the concept id 'x' is no number"):
        list(read_athena(folder, vocabularies=["SNOMED"]))
    (folder / "CONCEPT.csv").write_text(FILES["CONCEPT"])
    head, first, *_ = FILES["CONCEPT_ANCESTOR"].splitlines()
    ancestor = "\t".join([first.split("\t")[0], "x", "1", "1"])
    (folder / "CONCEPT_ANCESTOR.csv").write_text("\n".join([head, ancestor]))
    with pytest.raises(ReadError, match="the concept id 'x' is no number"):
        list(read_athena(folder, ancestors=True))


def test_values_that_the_download_does_not_have(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"vocabularies: 'LOINC' does not occur .*RxNorm"):
        list(read_athena(folder, vocabularies={"LOINC"}))
    with pytest.raises(InvalidInput, match=r"relations: 'Has part' does not occur"):
        list(read_athena(folder, relations=("Is a", "Has part")))
    with pytest.raises(InvalidInput, match=r"has no standard concept of the vocabularies"):
        list(read_athena(folder, vocabularies={"ICD10CM"}))


def test_an_archive_must_be_unpacked(folder: Path) -> None:
    with pytest.raises(ReadError, match=r"is a file, but an Athena folder was expected: unpack"):
        list(read_athena(folder / "CONCEPT.csv"))


def test_all_missing_files_are_listed_at_once(folder: Path) -> None:
    for name in ("CONCEPT_SYNONYM", "CONCEPT_ANCESTOR"):
        (folder / f"{name}.csv").unlink()
    expected = "CONCEPT_SYNONYM.csv, CONCEPT_ANCESTOR.csv not found.*pass ancestors=False"
    with pytest.raises(ReadError, match=expected):
        list(read_athena(folder, ancestors=True))


# --- concepts that are not standard ---------------------------------------------------------------

SOURCES = [
    # name, vocabulary, standard_concept, invalid_reason, relationship, its invalid_reason, taken
    ("Toe pain", "ICD9CM", "", "", "Maps to", "", True),
    ("Toe pain, left", "ICD10CM", "", "", "Maps to", "", True),
    ("Pain of toe", "Read", "", "", "Maps to", "", True),
    ("Toe complaint", "SNOMED", "", "U", "Maps to", "", True),
    ("Toe sore", "CIEL", "", "U", "Maps to", "", True),
    ("Toes", "ICD10", "C", "", "Maps to", "", True),
    ("Broken axle", "CIEL", "", "D", "Maps to", "", False),
    ("Flat tyre", "ICD9CM", "", "D", "Maps to", "", False),
    ("Old junk", "SNOMED", "", "D", "Maps to", "", False),
    ("Toe ache", "Read", "", "", "Maps to", "D", False),
    ("Toe ache 2", "Read", "", "", "Maps to", "U", False),
    ("Toe thing", "Read", "", "", "Mapped from", "", False),
    ("Toe thing 2", "Read", "", "", "Concept replaced by", "", False),
]


@pytest.mark.parametrize("synonym", [False, True])
@pytest.mark.parametrize(
    ("name", "vocabulary", "standard", "invalid", "relation", "ended", "taken"), SOURCES
)
def test_names_of_sources_that_are_valid_go_to_standard_concepts(
    tmp_path: Path,
    name: str,
    vocabulary: str,
    standard: str,
    invalid: str,
    relation: str,
    ended: str,
    taken: bool,
    synonym: bool,
) -> None:
    own = "no name" if synonym else name
    files = {
        "CONCEPT": HEADERS["CONCEPT"]
        + "\n910|Sore toe|Condition|SNOMED|Disorder|S|1|1970|2099|\n"
        + f"911|{own}|Condition|{vocabulary}|Diagnosis|{standard}|2|1970|2099|{invalid}\n",
        "CONCEPT_SYNONYM": HEADERS["CONCEPT_SYNONYM"]
        + (f"\n911|{name}|4180186\n" if synonym else "\n"),
        "CONCEPT_RELATIONSHIP": HEADERS["CONCEPT_RELATIONSHIP"]
        + f"\n911|910|{relation}|1970|2099|{ended}\n",
    }
    for file, text in files.items():
        (tmp_path / f"{file}.csv").write_text(text.replace("|", "\t"))
    records = list(read_athena(tmp_path))
    names = [record.text for record in records if isinstance(record, Name)]
    assert (name in names) == taken
    mapped = relation == "Maps to" and not ended  # old data may have the code of a withdrawn one
    assert sum(isinstance(record, Xref) for record in records) == 1 + mapped


def test_a_withdrawn_source_gives_no_part_of_a_meaning(folder: Path) -> None:
    file = folder / "CONCEPT.csv"
    line = next(line for line in file.read_text().splitlines() if "Type 2 MI" in line)
    file.write_text(file.read_text().replace(line, f"{line}D"))
    names = [r.text for r in read_athena(folder) if isinstance(r, Name)]
    assert "Type 2 MI with diabetes" not in names
    assert "AMI NOS" in names
    everything = read_athena(folder, standard_only=False)
    labels = [r.label for r in everything if isinstance(r, Concept) and r.deprecated]
    assert "Type 2 MI with diabetes" in labels
