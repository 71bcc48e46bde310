"""The reader of CTD's diseases and chemicals."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from canonym.errors import ReadError
from canonym.terminology.readers.ctd import read_ctd
from canonym.types import Concept, Name, Record, Relation, Xref

HEADER = "# Report created: Tue Jun 06 11:31:46 EDT 2017\n#\n# Fields:\n# {}\n#\n"
DISEASE_FIELDS = (
    "DiseaseName,DiseaseID,AltDiseaseIDs,Definition,ParentIDs,TreeNumbers,ParentTreeNumbers,"
    "Synonyms,SlimMappings"
)
DISEASE = [
    "Infarction, Myocardial",
    "MESH:D009203",
    "DO:DOID:5844|OMIM:608446",
    'Called "heart attack".',
    "MESH:D017202|MESH:D007238",
    "C14.280",
    "C14",
    "MI|Heart Attack|MI|Infarction, Myocardial",
    "Cardiovascular disease|Pathology (process)",
]
CHEMICAL_FIELDS = (
    "ChemicalName,ChemicalID,CasRN,PubChemCID,DTXSID,InChIKey,Definition,ParentIDs,TreeNumbers,"
    "ParentTreeNumbers,MESHSynonyms,Synonyms,CTDCuratedSynonyms"
)
CHEMICAL = [
    "Aspirin",
    "MESH:D001241",
    "50-78-2",
    "CID:2244",
    "DTXSID5020108",
    "",
    "",
    "MESH:D012459",
    "D02",
    "",
    "Acetylsalicylic Acid",
    "Acetylsalicylic Acid|Aspergum",
    "ASA",
]


def tsv(fields: str, *table: list[str]) -> str:
    body = "".join("\t".join(cells) + "\n" for cells in table)
    return HEADER.format(fields.replace(",", "\t")) + body


def csv(fields: str, *table: list[str]) -> str:
    def quote(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"' if set(cell) & {",", '"'} else cell

    return HEADER.format(fields) + "".join(",".join(map(quote, cells)) + "\n" for cells in table)


def read(path: Path, text: str) -> list[Record]:
    path.write_text(text)
    return list(read_ctd(path))


@pytest.mark.parametrize("write", [tsv, csv])
def test_diseases(tmp_path: Path, write: object) -> None:
    id_ = "MESH:D009203"
    assert read(tmp_path / "a", write(DISEASE_FIELDS, DISEASE)) == [  # type: ignore[operator]
        Concept(
            id_,
            "Infarction, Myocardial",
            'Called "heart attack".',
            ("Cardiovascular disease", "Pathology (process)"),
            "CTD",
            "2017-06-06",
        ),
        Name("MI", id_),
        Name("Heart Attack", id_),
        Relation(id_, "is_a", "MESH:D017202"),
        Relation(id_, "is_a", "MESH:D007238"),
        Xref(id_, "DOID:5844"),
        Xref(id_, "OMIM:608446", "alternative"),
    ]


@pytest.mark.parametrize("write", [tsv, csv])
def test_chemicals(tmp_path: Path, write: object) -> None:
    id_ = "MESH:D001241"
    assert read(tmp_path / "a", write(CHEMICAL_FIELDS, CHEMICAL)) == [  # type: ignore[operator]
        Concept(id_, "Aspirin", "", (), "CTD", "2017-06-06"),
        Name("Acetylsalicylic Acid", id_),
        Name("Aspergum", id_),
        Name("ASA", id_),
        Relation(id_, "is_a", "MESH:D012459"),
        Xref(id_, "CAS:50-78-2"),
        Xref(id_, "PUBCHEM.COMPOUND:2244"),
        Xref(id_, "COMPTOX:DTXSID5020108"),
    ]


def test_a_header_without_comments_and_a_given_version(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(tsv(DISEASE_FIELDS, DISEASE).split("# Fields:\n# ")[1])
    assert next(read_ctd(path)) == Concept(
        "MESH:D009203",
        "Infarction, Myocardial",
        'Called "heart attack".',
        ("Cardiovascular disease", "Pathology (process)"),
        "CTD",
        "",
    )
    first = next(read_ctd(path, version="2017"))
    assert isinstance(first, Concept)
    assert first.version == "2017"


@pytest.mark.parametrize(
    ("text", "phrase", "line"),
    [
        ("[Term]\nid: X:1\n", "no '# Fields:' line", 1),
        ("# only\n# comments\n", "no '# Fields:' line", 2),
        (HEADER.format("GeneSymbol\tGeneID"), "not those of CTD_diseases", 4),
        (HEADER.format("DiseaseName\tDiseaseID\tParentIDs"), "no column 'Synonyms'", 4),
        (tsv(DISEASE_FIELDS), "no rows", 5),
        (tsv(DISEASE_FIELDS, DISEASE, DISEASE[:4]), "4 cells where the header has 9", 7),
        (tsv(DISEASE_FIELDS, ["a", "", *DISEASE[2:]]), "DiseaseID of 'a' is empty", 6),
    ],
)
def test_malformed_files(tmp_path: Path, text: str, phrase: str, line: int) -> None:
    with pytest.raises(ReadError, match=phrase) as caught:
        read(tmp_path / "a", text)
    assert caught.value.line == line


def test_the_diseases_of_2017(data: Path) -> None:
    path = data / "ctd-diseases-2017" / "CTD_diseases.tsv.gz"
    records = list(read_ctd(path))
    kinds = Counter(type(record).__name__ for record in records)
    assert kinds["Concept"] == 11865
    assert kinds["Concept"] + kinds["Name"] == 77991
    assert kinds["Relation"] == 20018
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        cells = [line.split("\t") for line in lines if not line.startswith("#")]
    alternatives = Counter(part.split(":")[0] for row in cells for part in row[2].split("|"))
    xrefs = Counter(record.kind for record in records if isinstance(record, Xref))
    assert xrefs == {"xref": alternatives["DO"], "alternative": alternatives["OMIM"]}
