"""The pool of open terminologies, from small files in the formats of the real ones."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from canonym.training import sources
from canonym.training.sources import SOURCES, read_consumer_names, read_pool
from canonym.types import Concept, Name, Record, Relation

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
    ),
    "MeSH supplementary": "scr_id\tname\tsources\nC000002\tbevonium\tgilda\n",
    "CTD 2017": (
        "# Report created: Tue May 02 15:09:56 EDT 2017\n# Fields:\n"
        "# DiseaseName\tDiseaseID\tAltDiseaseIDs\tDefinition\tParentIDs\tTreeNumbers"
        "\tParentTreeNumbers\tSynonyms\tSlimMappings\n#\n"
        "Myocardial Infarction\tMESH:D009203\t\t\t\t\t\tCardiac infarct\t\n"
    ),
    "MEDIC 2012": "D009203||Myocardial Infarction|Infarct of heart\n",
    "DOID 2015": (
        "format-version: 1.2\n\n[Term]\nid: DOID:5844\nname: infarction of myocardium\n"
        'synonym: "coronary event" EXACT []\nxref: MSH:D009203\n'
    ),
    "HPO 2014": "format-version: 1.2\n\n[Term]\nid: HP:1\nname: Fever\n",
    "DrugBank": (
        "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
        "DB1,,Temefos,,,Abate | Temephos,\n"
    ),
    "MedQuAD": CONSUMER,
}


@pytest.fixture(name="folder")
def write_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for source, path in SOURCES.items():
        file = tmp_path / path
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
    return tmp_path


def test_consumer_names(folder: Path) -> None:
    assert list(read_consumer_names(folder / SOURCES["MedQuAD"])) == [
        Concept("MEDQUAD:heart attack", "Heart Attack"),
        Name("MI", "MEDQUAD:heart attack"),
        Concept("MEDQUAD:heart attack", "Heart Attack"),
        Name("Myocardial infarct", "MEDQUAD:heart attack"),
    ]


def test_all_sources_in_one_pool(folder: Path) -> None:
    lines: list[str] = []
    synonyms = read_pool(folder, log=lines.append).synonyms()
    of_name = dict(zip(synonyms.names, synonyms.concepts.tolist(), strict=True))
    infarction = of_name["Myocardial Infarction"]
    assert {name for name, concept in of_name.items() if concept == infarction} == {
        "Myocardial Infarction", "Heart Attack", "Cardiac infarct", "Infarct of heart",
        "infarction of myocardium", "coronary event", "MI", "Myocardial infarct",
    }  # fmt: skip
    fever = {name for name, concept in of_name.items() if concept == of_name["Fever"]}
    assert fever == {
        "Fever",
        "Fever of other origin",
        "Fever NOS",
        "Pyrexia",
        "Pyrexia (persistent)",
    }
    assert of_name["Acute heart attack"] == of_name["Acute MI [heart attack]"]
    weights = {name: float(synonyms.weights[concept]) for name, concept in of_name.items()}
    assert weights["Temefos"] == 0.6  # two sources, neither of diseases
    assert weights["bevonium"] == 0.3
    assert weights["Heart Attack"] == 3
    assert weights["Fever"] == 2
    assert lines == ["1 concepts joined by references", "3 concepts joined by names"]
    read_pool(folder)
