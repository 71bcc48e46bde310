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

DTD = "https://www.nlm.nih.gov/databases/dtd/nlm{}recordset_20240101.dtd"

DESCRIPTORS = f"""<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "{DTD.format("descriptor")}">
<DescriptorRecordSet LanguageCode="eng">
<DescriptorRecord DescriptorClass="1">
  <DescriptorUI>D009203</DescriptorUI>
  <DescriptorName><String>Myocardial Infarction</String></DescriptorName>
  <TreeNumberList>
    <TreeNumber>C14.280.647.500</TreeNumber><TreeNumber>C14.907.585.500</TreeNumber>
  </TreeNumberList>
  <ConceptList>
    <Concept PreferredConceptYN="Y">
      <ConceptUI>M0014340</ConceptUI>
      <ConceptName><String>Myocardial Infarction</String></ConceptName>
      <ScopeNote>NECROSIS of the MYOCARDIUM.
      </ScopeNote>
      <ConceptRelationList>
        <ConceptRelation RelationName="NRW">
          <Concept1UI>M0014340</Concept1UI><Concept2UI>M0353727</Concept2UI>
        </ConceptRelation>
        <ConceptRelation RelationName="BRD">
          <Concept1UI>M0000009</Concept1UI><Concept2UI>M0014340</Concept2UI>
        </ConceptRelation>
        <ConceptRelation RelationName="???">
          <Concept1UI>M0014340</Concept1UI><Concept2UI>M0000008</Concept2UI>
        </ConceptRelation>
        <ConceptRelation RelationName="REL">
          <Concept1UI>M0000007</Concept1UI><Concept2UI>M0000006</Concept2UI>
        </ConceptRelation>
      </ConceptRelationList>
      <TermList>
        <Term ConceptPreferredTermYN="Y" IsPermutedTermYN="N" LexicalTag="NON">
          <String>Myocardial Infarction</String></Term>
        <Term ConceptPreferredTermYN="N" IsPermutedTermYN="Y" LexicalTag="NON">
          <String>Infarction, Myocardial</String></Term>
        <Term ConceptPreferredTermYN="N" IsPermutedTermYN="N" LexicalTag="ABB">
          <String>MI</String></Term>
        <Term><String> </String></Term>
      </TermList>
    </Concept>
    <Concept PreferredConceptYN="N">
      <ConceptUI>M0353727</ConceptUI>
      <TermList><Term LexicalTag="NON"><String>Heart Attack</String></Term></TermList>
    </Concept>
    <Concept PreferredConceptYN="N">
      <ConceptUI>M0000009</ConceptUI>
      <TermList><Term LexicalTag="NON"><String>Infarct of a kind</String></Term></TermList>
    </Concept>
    <Concept PreferredConceptYN="N">
      <ConceptUI>M0000008</ConceptUI>
      <TermList><Term LexicalTag="NON"><String>Unrelated</String></Term></TermList>
    </Concept>
  </ConceptList>
</DescriptorRecord>
<DescriptorRecord DescriptorClass="1">
  <DescriptorUI>D017202</DescriptorUI>
  <DescriptorName><String>Myocardial Ischemia</String></DescriptorName>
  <TreeNumberList>
    <TreeNumber>C14.280.647</TreeNumber><TreeNumber>C14.907.585</TreeNumber>
    <TreeNumber>X01</TreeNumber>
  </TreeNumberList>
  <ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M1</ConceptUI></Concept></ConceptList>
</DescriptorRecord>
<DescriptorRecord DescriptorClass="1">
  <DescriptorUI>D001241</DescriptorUI>
  <DescriptorName><String>Aspirin</String></DescriptorName>
  <PharmacologicalActionList>
    <PharmacologicalAction><DescriptorReferredTo><DescriptorUI>D000894</DescriptorUI>
    </DescriptorReferredTo></PharmacologicalAction>
  </PharmacologicalActionList>
  <TreeNumberList><TreeNumber>D02.455</TreeNumber></TreeNumberList>
  <ConceptList><Concept PreferredConceptYN="Y">
    <ConceptUI>M0001771</ConceptUI>
    <RegistryNumberList><RegistryNumber>R16CO5Y76E</RegistryNumber>
    <RegistryNumber>50-78-2</RegistryNumber><RegistryNumber>EC 1.1.1.1</RegistryNumber>
    <RegistryNumber>0</RegistryNumber></RegistryNumberList>
  </Concept></ConceptList>
</DescriptorRecord>
</DescriptorRecordSet>
"""

SUPPLEMENTARY = """<?xml version="1.0"?>
<SupplementalRecordSet LanguageCode="eng">
<SupplementalRecord SCRClass="3">
  <SupplementalRecordUI>C538288</SupplementalRecordUI>
  <SupplementalRecordName><String>10p deletion syndrome</String></SupplementalRecordName>
  <Note>RARE disease.</Note>
  <HeadingMappedToList>
    <HeadingMappedTo><DescriptorReferredTo><DescriptorUI>*D002872</DescriptorUI>
    </DescriptorReferredTo></HeadingMappedTo>
    <HeadingMappedTo><DescriptorReferredTo><DescriptorUI>D025063</DescriptorUI>
    </DescriptorReferredTo></HeadingMappedTo>
  </HeadingMappedToList>
  <ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M2</ConceptUI>
    <TermList><Term LexicalTag="NON"><String>Monosomy 10p</String></Term></TermList>
  </Concept></ConceptList>
</SupplementalRecord>
<SupplementalRecord SCRClass="9">
  <SupplementalRecordUI>C1</SupplementalRecordUI>
  <SupplementalRecordName><String>something new</String></SupplementalRecordName>
</SupplementalRecord>
</SupplementalRecordSet>
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_descriptors(tmp_path: Path) -> None:
    mi, ischemia, aspirin = "MESH:D009203", "MESH:D017202", "MESH:D001241"
    assert list(read_mesh_xml(write(tmp_path / "a.xml", DESCRIPTORS))) == [
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
    path = tmp_path / "supp2023.xml.gz"
    path.write_bytes(gzip.compress(SUPPLEMENTARY.encode()))
    types = ("Supplementary Concept", "C", "Diseases")
    assert list(read_mesh_xml(path)) == [
        Concept("MESH:C538288", "10p deletion syndrome", "RARE disease.", types, "MeSH", "2023"),
        Name("Monosomy 10p", "MESH:C538288"),
        Relation("MESH:C538288", "mapped_to", "MESH:D002872"),
        Relation("MESH:C538288", "mapped_to", "MESH:D025063"),
        Concept("MESH:C1", "something new", "", ("Supplementary Concept",), "MeSH", "2023"),
    ]


def test_the_version_may_be_given_or_unknown(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xml", SUPPLEMENTARY)
    for given, expected in ((None, ""), ("2025", "2025")):
        first = next(read_mesh_xml(path, version=given))
        assert isinstance(first, Concept)
        assert first.version == expected


def test_only_one_record_is_kept(tmp_path: Path) -> None:
    record = DESCRIPTORS[DESCRIPTORS.index("<DescriptorRecord ") :].split("</DescriptorRecordSet")[
        0
    ]
    path = write(tmp_path / "a.xml", f"<DescriptorRecordSet>{record * 50}</DescriptorRecordSet>")
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
        list(read_mesh_xml(write(tmp_path / "a.xml", text)))


def test_a_truncated_file_names_its_line(tmp_path: Path) -> None:
    cut = SUPPLEMENTARY[: SUPPLEMENTARY.index("<Note>")]
    with pytest.raises(ReadError, match="too early") as caught:
        list(read_mesh_xml(write(tmp_path / "a.xml", cut)))
    assert caught.value.line == 6


def test_entities_are_refused(tmp_path: Path) -> None:
    layers = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 9))
    bomb = (
        f'<!DOCTYPE DescriptorRecordSet [<!ENTITY e0 "ha">{layers}]>\n'
        "<DescriptorRecordSet>&e8;</DescriptorRecordSet>"
    )
    with pytest.raises(ReadError, match="declares the entity 'e1'") as caught:
        list(read_mesh_xml(write(tmp_path / "a.xml", bomb)))
    assert caught.value.line == 1
    outside = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    with pytest.raises(ReadError, match="declares the entity 'x'"):
        read_prolog(write(tmp_path / "b.xml", outside))


def test_an_empty_tree_number_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "desc.xml"
    path.write_text(DESCRIPTORS.replace("C14.280.647.500", " ", 1))
    types = next(r.types for r in read_mesh_xml(path) if isinstance(r, Concept))
    assert types[0] == "C"
