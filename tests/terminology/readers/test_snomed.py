"""SNOMED CT: exact records of a hand-made RF2 release, editions, and damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology.readers.snomed import US_ENGLISH, read_snomed
from canonym.types import Concept, Name, Relation

FSN, SYN, DEF = "900000000000003001", "900000000000013009", "900000000000550004"
PREFERRED, ACCEPTABLE = "900000000000548007", "900000000000549004"
GB_ENGLISH, SPANISH = "900000000000508004", "450828004"
INFERRED, STATED = "900000000000011006", "900000000000010007"
CORE = "900000000000207008"
REPLACED_BY, SAME_AS, WAS_A = "900000000000526001", "900000000000527005", "900000000000528000"

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


def relationship(head: str, type_: str, tail: str, kind: str = INFERRED, active: int = 1) -> str:
    return f"1\t20020131\t{active}\t{CORE}\t{head}\t{tail}\t0\t{type_}\t{kind}\t900000000000451002"


def member(refset: str, component: str, value: str, active: int = 1) -> str:
    id_ = "80000000-0000-4000-8000-000000000000"
    return f"{id_}\t20170731\t{active}\t{CORE}\t{refset}\t{component}\t{value}"


CONCEPTS = [
    concept("404684003"), concept("22298006"), concept("64572001"), concept("363698007"),
    concept("80891009"), concept("155303007", 0), concept("155304001", 0), concept("900000001"),
]  # fmt: skip
DESCRIPTIONS = [
    description("d1", "404684003", FSN, "Clinical finding (finding)"),
    description("d2", "404684003", SYN, "Clinical finding"),
    description("d3", "22298006", FSN, "Myocardial infarction (disorder)"),
    description("d4", "22298006", SYN, "Heart attack"),
    description("d5", "22298006", SYN, "Myocardial infarction"),
    description("d6", "22298006", SYN, "Cardiac infarct", active=0),
    description("d7", "64572001", FSN, "Tumour (morphology) (disorder)"),
    description("d8", "64572001", SYN, "Tumor"),
    description("d9", "64572001", SYN, "Tumour"),
    description("d10", "363698007", FSN, "Finding site (attribute)"),
    description("d11", "80891009", FSN, "Heart structure (body structure)"),
    description("d12", "155303007", SYN, "Attack, heart"),
    description("d13", "155304001", FSN, "Old thing"),
]
RELATIONSHIPS = [
    relationship("22298006", "116680003", "64572001"),
    relationship("64572001", "116680003", "404684003"),
    relationship("22298006", "363698007", "80891009"),
    relationship("22298006", "999999999", "80891009"),
    relationship("22298006", "116680003", "404684003", STATED),
    relationship("22298006", "116680003", "404684003", active=0),
    relationship("22298006", "116680003", "1"),
    relationship("1", "116680003", "404684003"),
]
LANGUAGE = [
    member(US_ENGLISH, "d2", PREFERRED), member(US_ENGLISH, "d5", PREFERRED),
    member(US_ENGLISH, "d4", ACCEPTABLE), member(US_ENGLISH, "d8", PREFERRED),
    member(GB_ENGLISH, "d9", PREFERRED), member(GB_ENGLISH, "d4", PREFERRED, 0),
]  # fmt: skip
ASSOCIATION = [
    member(SAME_AS, "155303007", "22298006"),
    member(REPLACED_BY, "155303007", "64572001"),
    member(WAS_A, "155304001", "404684003"),
    member(REPLACED_BY, "155304001", "404684003", 0),
    member(REPLACED_BY, "22298006", "404684003"),
]


def write(path: Path, header: str, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(f"{line}\r\n" for line in [header, *lines]), encoding="utf-8", newline=""
    )


@pytest.fixture
def release(tmp_path: Path) -> Path:
    snapshot = tmp_path / "SnomedCT_InternationalRF2" / "Snapshot"
    terms, refsets = snapshot / "Terminology", snapshot / "Refset"
    end = "INT_20240101.txt"
    write(terms / f"sct2_Concept_Snapshot_{end}", CONCEPT, CONCEPTS)
    write(terms / f"sct2_Description_Snapshot-en_{end}", DESCRIPTION, DESCRIPTIONS)
    write(terms / f"sct2_Relationship_Snapshot_{end}", RELATIONSHIP, RELATIONSHIPS)
    write(terms / f"sct2_StatedRelationship_Snapshot_{end}", "not read", [])
    write(
        terms / f"sct2_TextDefinition_Snapshot-en_{end}",
        DESCRIPTION,
        [
            description("t1", "22298006", DEF, "Old text.", active=0),
            description("t2", "22298006", DEF, "Necrosis of heart muscle."),
            description("t3", "22298006", DEF, "A second text."),
        ],
    )
    write(
        refsets / "Language" / f"der2_cRefset_LanguageSnapshot-en_{end}",
        f"{REFSET}\tacceptabilityId",
        LANGUAGE,
    )
    write(
        refsets / "Content" / f"der2_cRefset_AssociationSnapshot_{end}",
        f"{REFSET}\ttargetComponentId",
        ASSOCIATION,
    )
    write(tmp_path / "SnomedCT_InternationalRF2" / "Full" / f"sct2_Concept_Full_{end}", "x", [])
    return tmp_path / "SnomedCT_InternationalRF2"


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
