"""The reader of the DrugBank vocabulary."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from canonym.errors import ReadError
from canonym.terminology.readers.drugbank import read_drugbank_vocabulary
from canonym.types import Concept, Name, Record, Xref

HEADER = "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"


def read(path: Path, text: str) -> list[Record]:
    path.write_text(text)
    return list(read_drugbank_vocabulary(path, version="5.1"))


def test_everything_of_a_drug(tmp_path: Path) -> None:
    row = (
        "DB00945,APRD00264 | DB00945 | EXPT00475,Acetylsalicylic acid,50-78-2,R16CO5Y76E,"
        '"2-acetoxybenzoic acid | Acetylsalicylic acid | Aspirin | Aspirin | acid, acetyl",BSYN-N\n'
    )
    id_ = "DRUGBANK:DB00945"
    assert read(tmp_path / "a.csv", HEADER + row + "DB1,,,,,,\n") == [
        Concept(id_, "Acetylsalicylic acid", source="DrugBank", version="5.1"),
        Name("2-acetoxybenzoic acid", id_),
        Name("Aspirin", id_),
        Name("acid, acetyl", id_),
        Xref(id_, "DRUGBANK:APRD00264", "alternative"),
        Xref(id_, "DRUGBANK:EXPT00475", "alternative"),
        Xref(id_, "CAS:50-78-2"),
        Xref(id_, "UNII:R16CO5Y76E"),
        Xref(id_, "INCHIKEY:BSYN-N"),
        Concept("DRUGBANK:DB1", source="DrugBank", version="5.1"),
    ]


@pytest.mark.parametrize(
    ("text", "phrase", "line"),
    [
        ("D009203||Myocardial Infarction\n", "no column 'DrugBank ID'", 1),
        (HEADER.replace("Synonyms", "Other"), "no column 'Synonyms'", 1),
        (HEADER, "no rows", 1),
        (HEADER + "DB1,,a,,,\n", "6 cells where the header has 7", 2),
        (HEADER + ",,a,,,,\n", "DrugBank ID of 'a' is empty", 2),
        (HEADER + 'DB1,,"a,,,,\n', "unbalanced", 2),
        ("\n", "no column", 1),
    ],
)
def test_malformed_files(tmp_path: Path, text: str, phrase: str, line: int) -> None:
    with pytest.raises(ReadError, match=phrase) as caught:
        read(tmp_path / "a.csv", text)
    assert caught.value.line == line


def test_the_vocabulary(data: Path) -> None:
    path = data / "drugbank-vocabulary" / "drugbank_vocabulary.csv.gz"
    kinds = Counter(type(record).__name__ for record in read_drugbank_vocabulary(path))
    assert kinds["Concept"] == 19842
    # The file lists 52,154 synonyms, of which 16,402 repeat the common name.
    assert kinds["Name"] == 52154 - 16402
