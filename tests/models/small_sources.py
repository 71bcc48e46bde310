"""Small files in the formats of the open terminologies."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from canonym.types import Concept, Name, Record, Relation
from models import sources
from models.sources import SOURCES

CONSUMER = """umls_cuis\tfocus\tname\tsemantic_types
C1\tHeart Attack\tMI\tT047
C1|C2\tHeart Attack\tMyocardial infarct\tT047
\tHealthy living\tLiving well\t
C1\tHeart attack - activity\tActivity\tT047
C1\tHeart Attack\tHeart attack - activity\tT047
"""
FILES = {
    "MeSH 2024": (
        "descriptor_ui\tdescriptor_name\tconcept_ui\tterm_ui\tterm\tconcept_preferred\tpermuted"
        "\tlexical_tag\trecord_preferred\n"
        "D009203\tMyocardial Infarction\tM1\tT1\tMyocardial Infarction\tY\tN\tNON\tY\n"
        "D009203\tMyocardial Infarction\tM1\tT2\tHeart Attack\tN\tN\tNON\tN\n"
        "D000002\tTemefos\tM2\tT3\tTemefos\tY\tN\tNON\tY\n"
        "D000003\tWalking\tM3\tT4\tWalking\tY\tN\tNON\tY\n"
    ),
    "MeSH trees": (
        "descriptor_ui\tdescriptor_name\ttree_number\nD009203\tMyocardial Infarction\tC14.1\n"
        "D000002\tTemefos\tD02.1\nD000003\tWalking\tG11.1\n"
    ),
    "MeSH actions": (
        "DescriptorUI\tDescriptorName\tPharmActionUI\tPharmActionName\n"
        "D000002\tTemefos\tC000002\tbevonium\n"
    ),
    "MeSH supplementary": (
        "scr_id\tname\tsources\nC000002\tbevonium\tgilda\nC000009\tDifos\tgilda\n"
    ),
    "MeSH replaced": "C000009\tD000002\tTemefos\n",
    "CTD 2017": (
        "# Report created: Tue May 02 15:09:56 EDT 2017\n# Fields:\n"
        "# DiseaseName\tDiseaseID\tAltDiseaseIDs\tDefinition\tParentIDs\tTreeNumbers"
        "\tParentTreeNumbers\tSynonyms\tSlimMappings\n#\n"
        "Myocardial Infarction\tMESH:D009203\t\tDeath of heart muscle.\t\t\t\tCardiac infarct\t\n"
    ),
    "MEDIC 2012": "D009203||Myocardial Infarction|Infarct of heart\n",
    "DOID 2015": (
        "format-version: 1.2\n\n[Term]\nid: DOID:5844\nname: infarction of myocardium\n"
        'synonym: "coronary event" EXACT []\nxref: MSH:D009203\n'
    ),
    "HPO 2014": "format-version: 1.2\n\n[Term]\nid: HP:1\nname: Fever\n",
    "UBERON": (
        "format-version: 1.2\n\n[Term]\nid: UBERON:1\nname: kidney\n"
        'synonym: "ren" RELATED []\nproperty_value: has_relational_adjective "renal" xsd:string\n'
    ),
    "DrugBank": (
        "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
        "DB1,,Temefos,,,Abate | Temephos,\n"
    ),
    "MedQuAD": CONSUMER,
    "indications": "doid_code\tdrugbank_id\tresource\nDOID:5844\tDB1\tmedi\nDOID:9\tDB1\tmedi\n",
    "classes": "drugbank_id\tdrugbank_name\tclass_id\tclass_name\nDB1\tTemefos\tC000002\tx\n",
}

PASSAGES = """What is (are) myocardial infarction ?
Myocardial infarction (MI) is a condition in which the heart lacks blood. It is treated at once.
Fevers are the most common of complaints, and nobody knows them by that name alone.
"""
TITLE = "{id}|t|{text}\n{id}|a|It was seen.\n"
NCBI = {
    "train": [
        ("1", "Infarcted hearts hurt.", (0, 16, "SpecificDisease", "D009203")),
        ("2", "Heart attack and heart attack.", (0, 12, "SpecificDisease", "D009203")),
        ("3", "Nonsense here.", (0, 8, "SpecificDisease", "D999999")),
    ],
    "dev": [("4", "A coronary infarct.", (2, 18, "SpecificDisease", "D009203"))],
    "test": [("5", "Secret words.", (0, 12, "SpecificDisease", "D009203"))],
}
BC5CDR = {
    "train": [
        ("6", "Cardiac death of tissue.", (0, 13, "Disease", "D009203")),
        ("7", "Abate tablets.", (0, 13, "Chemical", "D000002")),
    ],
    "dev": [("8", "Nothing new: heart attack.", (13, 25, "Disease", "D009203"))],
    "test": [("9", "Hidden thing.", (0, 12, "Disease", "D009203"))],
}


def write_sources(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files under a folder, and let ICD-10-CM be as small."""
    for source, path in SOURCES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        content = FILES[source].encode()
        file.write_bytes(gzip.compress(content) if path.endswith(".gz") else content)

    def read_icd10cm() -> Iterator[Record]:
        yield Concept("ICD10CM:I21", "Acute MI [heart attack]")
        yield Concept("ICD10CM:R50", "Fever of other origin")
        yield Name("Fever NOS", "ICD10CM:R50")
        yield Name("Pyrexia (persistent)", "ICD10CM:R50")
        yield Relation("ICD10CM:R50", "is_a", "ICD10CM:18")

    monkeypatch.setattr(sources, "read_icd10cm", read_icd10cm)


def write_corpora(folder: Path) -> None:
    """Write the parts of two corpora of a few mentions, and text, beside the files."""
    text = folder / sources.PASSAGES
    text.parent.mkdir()
    text.write_bytes(lzma.compress(PASSAGES.encode()))
    trials = "Patients with heart failure were asked to walk. Heart failure hurts them.\n"
    text.with_name("ctgov.txt.xz").write_bytes(lzma.compress(trials.encode() * 20))
    for name, parts in (("ncbi-disease", NCBI), ("bc5cdr", BC5CDR)):
        (folder / name).mkdir()
        for part, documents in parts.items():
            lines = []
            for id_, text, (start, end, type_, concept) in documents:
                mention = text[start:end]
                lines.append(TITLE.format(id=id_, text=text))
                lines.append(f"{id_}\t{start}\t{end}\t{mention}\t{type_}\t{concept}\n\n")
            (folder / name / f"{part}.pubtator").write_text("".join(lines), encoding="utf-8")
    words = folder / "medic-2012" / "ncbi-spell-check.txt"
    words.write_text("seceret||secret\n", encoding="utf-8")
