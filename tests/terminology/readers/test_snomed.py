"""SNOMED CT: exact records of a hand-made RF2 release, editions, and damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology.formats import recognise
from canonym.terminology.readers.snomed import GB_ENGLISH, US_ENGLISH, read_snomed
from canonym.types import Concept, Name, Relation

SOURCES = Path(__file__).with_name("sources") / "snomed"
FSN, SYN = "900000000000003001", "900000000000013009"
PREFERRED, ACCEPTABLE = "900000000000548007", "900000000000549004"
SPANISH = "450828004"
INFERRED = "900000000000011006"
CORE = "900000000000207008"

CONCEPT = "id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId"
DESCRIPTION = (
    "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId"
)
RELATIONSHIP = (
    "id\teffectiveTime\tactive\tmoduleId\tsourceId\tdestinationId\trelationshipGroup\ttypeId\t"
    "characteristicTypeId\tmodifierId"
)
REFSET = "id\teffectiveTime\tactive\tmoduleId\trefsetId\treferencedComponentId"


def concept(id_: str, active: int = 1, time: str = "20020131") -> str:
    return f"{id_}\t{time}\t{active}\t{CORE}\t900000000000074008"


def description(
    id_: str, concept_id: str, type_: str, term: str, language: str = "en", active: int = 1
) -> str:
    return (
        f"{id_}\t20170731\t{active}\t{CORE}\t{concept_id}\t{language}\t{type_}\t{term}\t"
        "900000000000448009"
    )


def relationship(head: str, type_: str, tail: str, active: int = 1) -> str:
    return (
        f"1\t20020131\t{active}\t{CORE}\t{head}\t{tail}\t0\t{type_}\t{INFERRED}\t900000000000451002"
    )


def member(refset: str, component: str, value: str, active: int = 1) -> str:
    id_ = "80000000-0000-4000-8000-000000000000"
    return f"{id_}\t20170731\t{active}\t{CORE}\t{refset}\t{component}\t{value}"


def write(path: Path, header: str, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(f"{line}\r\n" for line in [header, *lines]), encoding="utf-8", newline=""
    )


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release, in whose files here bars stand for tabs."""
    folder = tmp_path / "SnomedCT_InternationalRF2"
    for file in SOURCES.rglob("*.txt"):
        header, *lines = file.read_text().replace("|", "\t").splitlines()
        write(folder / file.relative_to(SOURCES), header, lines)
    return folder


def test_all_records_of_a_release_in_order(release: Path) -> None:
    own = "SNOMED CT", "20240101"
    assert list(read_snomed(release)) == [
        Concept("SNOMEDCT:404684003", "Clinical finding", "", ("finding",), *own),
        Concept(
            "SNOMEDCT:22298006", "Myocardial infarction", "Necrosis of heart muscle.",
            ("disorder",), *own,
        ),
        Concept("SNOMEDCT:64572001", "Tumor", "", ("disorder",), *own),
        Concept("SNOMEDCT:363698007", "Finding site", "", ("attribute",), *own),
        Concept("SNOMEDCT:80891009", "Heart structure", "", ("body structure",), *own),
        Concept(
            "SNOMEDCT:155303007", "Attack, heart", "", (), *own, True,
            ("SNOMEDCT:22298006", "SNOMEDCT:64572001"),
        ),
        Concept("SNOMEDCT:155304001", "Old thing", "", (), *own, True),
        Concept("SNOMEDCT:900000001", "", "", (), *own),
        Name("Heart attack", "SNOMEDCT:22298006"),
        Name("Tumour (morphology)", "SNOMEDCT:64572001"),
        Name("Tumour", "SNOMEDCT:64572001"),
        Relation("SNOMEDCT:22298006", "is_a", "SNOMEDCT:64572001"),
        Relation("SNOMEDCT:64572001", "is_a", "SNOMEDCT:404684003"),
        Relation("SNOMEDCT:22298006", "finding_site", "SNOMEDCT:80891009"),
        Relation("SNOMEDCT:22298006", "999999999", "SNOMEDCT:80891009"),
    ]  # fmt: skip


def label(records: object, id_: str) -> str:
    return next(r.label for r in records if isinstance(r, Concept) and r.id == id_)  # type: ignore[attr-defined]


def test_the_reference_set_decides_the_label(release: Path) -> None:
    assert label(read_snomed(release, refset=GB_ENGLISH), "SNOMEDCT:64572001") == "Tumour"
    assert label(read_snomed(release, refset=GB_ENGLISH), "SNOMEDCT:22298006") == (
        "Myocardial infarction"
    )


def test_without_us_english_every_reference_set_counts(release: Path) -> None:
    file = next(release.rglob("der2_cRefset_Language*"))
    file.write_text(file.read_text().replace(US_ENGLISH, "999001261000000100"))
    assert label(read_snomed(release), "SNOMEDCT:64572001") == "Tumor"


def test_parts_can_be_left_out(release: Path) -> None:
    for file in [*release.rglob("*Association*"), *release.rglob("*_Relationship_*")]:
        file.unlink()
    found = list(read_snomed(release, relations=False, definitions=False, version="2024-01"))
    assert not [r for r in found if isinstance(r, Relation)]
    concepts = [r for r in found if isinstance(r, Concept)]
    assert {(r.version, r.definition, r.replaced_by) for r in concepts} == {("2024-01", "", ())}


def test_an_extension_in_another_language(release: Path) -> None:
    end = "ES_20240430.txt"
    write(
        release / "es" / f"xsct2_Description_Snapshot-es_{end}",
        DESCRIPTION,
        [
            description("e1", "22298006", SYN, "ataque cardíaco", "es"),
            description("e2", "22298006", SYN, "infarto de miocardio", "es"),
            description("e3", "22298006", FSN, "infarto de miocardio (trastorno)", "es"),
        ],
    )
    write(
        release / "es" / f"xder2_cRefset_LanguageSnapshot-es_{end}",
        f"{REFSET}\tacceptabilityId",
        [member(SPANISH, "e2", PREFERRED)],
    )
    write(
        release / "es" / f"xsct2_Concept_Snapshot_{end}",
        CONCEPT,
        [concept("404684003", 0, "20240430"), concept("155303007", 1, "19990101")],
    )
    found = list(read_snomed(release, language="es", version="x"))
    at = next(
        i for i, r in enumerate(found) if isinstance(r, Concept) and r.id.endswith(":22298006")
    )
    assert found[at : at + 2] == [
        Concept("SNOMEDCT:22298006", "", "", ("trastorno",), "SNOMED CT", "x"),
        Name("infarto de miocardio", "SNOMEDCT:22298006", "label", "es"),
    ]
    names = [r for r in found if isinstance(r, Name) and r.scope != "label"]
    assert names == [Name("ataque cardíaco", "SNOMEDCT:22298006", "exact", "es")]
    concepts = {r.id: r for r in found if isinstance(r, Concept)}
    assert concepts["SNOMEDCT:64572001"].label == "Tumour (morphology)"  # nothing in Spanish
    assert concepts["SNOMEDCT:404684003"].deprecated  # the later state holds
    assert concepts["SNOMEDCT:155303007"].deprecated


def test_values_that_the_release_does_not_have(release: Path) -> None:
    with pytest.raises(InvalidInput, match=rf"refset='1' is not in .*{US_ENGLISH}"):
        list(read_snomed(release, refset="1"))
    with pytest.raises(InvalidInput, match=r"language='nl': .* has descriptions in en only"):
        list(read_snomed(release, language="nl"))


@pytest.mark.parametrize(
    "name", ["*_Concept_Snapshot_*", "*_Description_*", "*_Relationship_*", "*_cRefset_Language*"]
)
def test_a_missing_file(release: Path, name: str) -> None:
    next(release.rglob(name)).unlink()
    with pytest.raises(
        ReadError, match=r"not found: the folder of a SNOMED CT release must contain"
    ):
        list(read_snomed(release))


def test_an_archive_must_be_unpacked(release: Path) -> None:
    archive = release / "release.zip"
    archive.write_bytes(b"PK")
    with pytest.raises(ReadError, match="unpack the release"):
        list(read_snomed(archive))
    with pytest.raises(ReadError, match="there is no such folder"):
        list(read_snomed(release / "nowhere"))


@pytest.mark.parametrize(
    "name",
    ["sct2_Concept_*Snap*", "*_Description_*", "*_Relationship_*", "*_TextDef*", "*_cRefset_*"],
)
def test_a_truncated_file(release: Path, name: str) -> None:
    for file in release.rglob(name):
        text = file.read_text()
        file.write_text(text[: text.rindex("\t")])
    with pytest.raises(ReadError, match=r"line \d+: \d cells where the header has \d+"):
        list(read_snomed(release))


def test_another_header(release: Path) -> None:
    file = next(release.rglob("*_Concept_Snapshot_*"))
    file.write_text(file.read_text().replace("active", "status", 1))
    with pytest.raises(ReadError, match=r"line 1: no column 'active': the header names 'id'"):
        list(read_snomed(release))


def test_wrong_encoding(release: Path) -> None:
    file = next(release.rglob("*_Description_Snapshot*"))
    file.write_bytes(file.read_bytes().replace(b"Heart attack", b"M\xe9ni\xe8re"))
    with pytest.raises(ReadError, match="line 5: the line is not UTF-8"):
        list(read_snomed(release))


def test_all_missing_files_are_listed_at_once(release: Path) -> None:
    for name in ("*_Relationship_*", "*_cRefset_Language*"):
        next(release.rglob(name)).unlink()
    with pytest.raises(ReadError) as caught:
        list(read_snomed(release))
    assert ": der2_cRefset_LanguageSnapshot[-_]*, sct2_Relationship_Snapshot_* not" in str(
        caught.value
    )
    assert "pass relations=False to do without sct2_Relationship_Snapshot_*" in str(caught.value)


# --- editions of countries ------------------------------------------------------------------------

# The word for the package, what follows it, and where the files are of.
EDITIONS = [
    ("", "", "INT"), ("", "-en", "INT"), ("", "", "US1000124"), ("", "-en", "AU1000036"),
    ("", "-en", "GB1000000"), ("UKCL", "-en", "GB1000000"), ("UKDG", "-en", "GB1000001"),
    ("UKED", "-en", "GB"), ("UKCR", "-en", "GB1000000"), ("MONO", "-en", "GB"),
    ("UKXR", "-en", "GB"),
    ("", "-en", "CA1000087"), ("", "-en", "NZ1000210"), ("", "-en", "IE1000220"),
    ("SpanishExtension", "-en", "INT"), ("", "-en-GB", "IN1000189"), ("Common", "-en", "DK1000005"),
]  # fmt: skip

UK, UK_DRUGS, PATIENTS = "999001261000000100", "999000691000001104", "15551000146102"


def edition(
    folder: Path,
    names: tuple[str, str, str],
    *,
    concepts: list[str],
    descriptions: list[str],
    members: list[str],
    relationships: list[str] | None = None,
    kind: str = "Snapshot",
    beta: str = "",
) -> Path:
    word, tongue, country = names
    end = f"_{country}_20240410.txt"
    terms = folder / kind / "Terminology"
    write(terms / f"{beta}sct2_Concept_{word}{kind}{end}", CONCEPT, concepts)
    write(terms / f"{beta}sct2_Description_{word}{kind}{tongue}{end}", DESCRIPTION, descriptions)
    write(terms / f"{beta}sct2_Relationship_{word}{kind}{end}", RELATIONSHIP, relationships or [])
    write(
        folder / kind / "Refset" / f"{beta}der2_cRefset_Language{word}{kind}{tongue}{end}",
        f"{REFSET}\tacceptabilityId",
        members,
    )
    return folder


@pytest.mark.parametrize("beta", ["", "x"])
@pytest.mark.parametrize("names", EDITIONS)
def test_the_files_of_an_edition_are_found(
    tmp_path: Path, names: tuple[str, str, str], beta: str
) -> None:
    content = {
        "concepts": [concept("1"), concept("2")],
        "descriptions": [
            description("d1", "1", FSN, "Sore toe (finding)"),
            description("d2", "1", SYN, "Toe pain"),
            description("d3", "1", SYN, "Sore big toe"),
        ],
        "members": [member(UK, "d3", PREFERRED), member(UK, "d2", ACCEPTABLE)],
        "relationships": [relationship("1", "116680003", "2")],
    }
    edition(tmp_path, names, **content, beta=beta)  # type: ignore[arg-type]
    for kind in ("Full", "Delta"):
        edition(tmp_path, names, concepts=["x"], descriptions=[], members=[], kind=kind)
    assert recognise(tmp_path) == "snomed"
    records = list(read_snomed(tmp_path))
    assert records[0] == Concept(
        "SNOMEDCT:1", "Sore big toe", "", ("finding",), "SNOMED CT", "20240410"
    )
    assert [r.text for r in records if isinstance(r, Name)] == ["Sore toe", "Toe pain"]
    assert [r for r in records if isinstance(r, Relation)] == [
        Relation("SNOMEDCT:1", "is_a", "SNOMEDCT:2")
    ]


TERMS = ["Tumor", "Tumour", "Growth", "Lump"]

LABELS = [
    # which of the terms each reference set prefers, the package, the label
    ({US_ENGLISH: 0}, "INT", "Tumor"),
    ({GB_ENGLISH: 1}, "INT", "Tumour"),
    ({US_ENGLISH: 0, GB_ENGLISH: 1}, "INT", "Tumor"),
    ({US_ENGLISH: 0, GB_ENGLISH: 1}, "US1000124", "Tumor"),
    ({US_ENGLISH: 0, GB_ENGLISH: 1, UK: 2}, "GB1000000", "Growth"),
    ({US_ENGLISH: 0, GB_ENGLISH: 1, UK: 1}, "GB1000000", "Tumour"),
    ({US_ENGLISH: 0, UK: 2}, "GB1000000", "Growth"),
    ({GB_ENGLISH: 1, UK: 3}, "GB1000000", "Lump"),
    ({UK: 3}, "GB1000000", "Lump"),
    ({US_ENGLISH: 0, "32570271000036106": 1}, "AU1000036", "Tumour"),
    ({US_ENGLISH: 0, "271000210107": 2}, "NZ1000210", "Growth"),
    ({US_ENGLISH: 0, GB_ENGLISH: 1, "19491000087109": 0}, "CA1000087", "Tumor"),
    ({US_ENGLISH: 0, GB_ENGLISH: 1, "21000220103": 1}, "IE1000220", "Tumour"),
    ({}, "INT", "Mass"),
]  # fmt: skip


@pytest.mark.parametrize(("preferred", "country", "expected"), LABELS)
def test_the_reference_set_of_a_country_goes_first(
    tmp_path: Path, preferred: dict[str, int], country: str, expected: str
) -> None:
    edition(
        tmp_path,
        ("", "-en", country),
        concepts=[concept("1")],
        descriptions=[
            description("f", "1", FSN, "Mass (finding)"),
            *(description(f"d{n}", "1", SYN, term) for n, term in enumerate(TERMS)),
        ],
        members=[
            member(US_ENGLISH, "f", PREFERRED, 0),
            *(member(refset, f"d{n}", PREFERRED) for refset, n in preferred.items()),
            *(member(refset, "d3", ACCEPTABLE) for refset in preferred),
        ],
    )
    assert label(read_snomed(tmp_path), "SNOMEDCT:1") == expected


def test_concepts_that_a_country_does_not_name_fall_back(tmp_path: Path) -> None:
    for country, expected in (("GB1000000", "Tumour"), ("US1000124", "Tumor")):
        edition(
            tmp_path / country,
            ("", "-en", country),
            concepts=[concept("1"), concept("2")],
            descriptions=[
                description("d0", "1", SYN, "Tumor"),
                description("d1", "1", SYN, "Tumour"),
                description("d2", "2", SYN, "Own thing"),
            ],
            members=[
                member(US_ENGLISH, "d0", PREFERRED),
                member(GB_ENGLISH, "d1", PREFERRED),
                member(UK, "d2", PREFERRED),
            ],
        )
        assert label(read_snomed(tmp_path / country), "SNOMEDCT:1") == expected


def test_clinical_terms_and_drugs_have_a_reference_set_each(tmp_path: Path) -> None:
    edition(
        tmp_path / "clinical",
        ("UKCL", "-en", "GB1000000"),
        concepts=[concept("1")],
        descriptions=[
            description("d1", "1", SYN, "Painful toe"), description("d2", "1", SYN, "Sore toe"),
        ],
        members=[member(UK, "d2", PREFERRED)],
    )  # fmt: skip
    edition(
        tmp_path / "drugs",
        ("UKDG", "-en", "GB1000001"),
        concepts=[concept("3")],
        descriptions=[
            description("d3", "3", SYN, "Toe gel"), description("d4", "3", SYN, "Gel for toes"),
        ],
        members=[member(UK_DRUGS, "d4", PREFERRED)],
        relationships=[relationship("3", "116680003", "1")],
    )  # fmt: skip
    records = list(read_snomed(tmp_path))
    assert label(records, "SNOMEDCT:1") == "Sore toe"
    assert label(records, "SNOMEDCT:3") == "Gel for toes"
    assert Relation("SNOMEDCT:3", "is_a", "SNOMEDCT:1") in records
    assert label(read_snomed(tmp_path, refset=UK), "SNOMEDCT:3") == "Toe gel"


def test_a_set_for_patients_comes_behind_the_larger_one(tmp_path: Path) -> None:
    edition(
        tmp_path,
        ("", "-nl", "NL1000146"),
        concepts=[concept("1"), concept("2")],
        descriptions=[
            description("d1", "1", SYN, "zere teen", "nl"),
            description("d2", "1", SYN, "pijn in teen", "nl"),
            description("d3", "2", SYN, "jicht", "nl"),
            description("d4", "2", SYN, "gout", "en"),
        ],
        members=[
            member(PATIENTS, "d1", PREFERRED),
            member("31000146106", "d2", PREFERRED),
            member("31000146106", "d3", PREFERRED),
            member(US_ENGLISH, "d4", PREFERRED),
        ],
    )
    records = list(read_snomed(tmp_path, language="nl"))
    labels = [(r.text, r.language) for r in records if isinstance(r, Name) and r.scope == "label"]
    assert labels == [("pijn in teen", "nl"), ("jicht", "nl")]
    assert label(read_snomed(tmp_path), "SNOMEDCT:2") == "gout"


def test_of_a_row_in_two_packages_the_later_state_holds(tmp_path: Path) -> None:
    def later(line: str, time: str = "20240410") -> str:
        id_, _, rest = line.split("\t", 2)
        return f"{id_}\t{time}\t{rest}"

    old = [description("d1", "1", SYN, "Wrong name"), description("d2", "1", SYN, "Good name")]
    new = later(description("d1", "1", SYN, "Wrong name", active=0))
    part_of, is_a = relationship("1", "5", "2"), relationship("1", "116680003", "2")
    edition(
        tmp_path / "a", ("", "-en", "INT"),
        concepts=[concept("1"), concept("2")],
        descriptions=old,
        members=[member(US_ENGLISH, "d1", PREFERRED), member(UK, "d1", PREFERRED)],
        relationships=[part_of, is_a],
    )  # fmt: skip
    edition(
        tmp_path / "b", ("UKCL", "-en", "GB1000000"),
        concepts=[concept("1")],
        descriptions=[new, old[1], description("d1", "2", SYN, "Of another concept")],
        members=[later(member(UK, "d1", PREFERRED, 0)), member(UK, "d2", PREFERRED)],
        relationships=[later(relationship("1", "5", "2", active=0)), is_a],
    )  # fmt: skip
    for order in ("ab", "ba"):
        (tmp_path / order[0]).rename(tmp_path / "1")
        (tmp_path / order[1]).rename(tmp_path / "2")
        records = list(read_snomed(tmp_path))
        assert label(records, "SNOMEDCT:1") == "Good name"
        assert label(records, "SNOMEDCT:2") == "Of another concept"
        assert "Wrong name" not in [r.text for r in records if isinstance(r, Name)]
        relations = {r.relation for r in records if isinstance(r, Relation)}
        assert relations == {"is_a"}
        (tmp_path / "1").rename(tmp_path / order[0])
        (tmp_path / "2").rename(tmp_path / order[1])
