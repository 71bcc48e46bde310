"""Names as notes write them, beside the same names in plain words.

``noted.tsv`` has phrases of notes and lists of problems with what they mean, written for this
measurement: who has it, how bad it is, since when, short forms that the phrase explains itself,
numbers without their kind, salts of drugs. Counted is how many are linked to the concept of the
plain name, how many of them with a confidence of at least 0.8, and how many are as sure of another
concept. Plain names that are not linked surely themselves are left out.

    python benchmarks/noted.py
"""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

from canonym import Linker, Terminology
from canonym.terminology import read_records
from record import data_folder, save

NOTED = Path(__file__).parent / "noted.tsv"
SURE = 0.8
HPO = "hpo/hp-2014-11-14.obo.gz"
DRUGS = "drugbank-vocabulary/drugbank_vocabulary.csv.gz"


def count(linker: Linker, rows: list[dict[str, str]]) -> dict[str, int]:
    """Return how many phrases have the concept of what they mean."""
    meant = linker.link([row["meant"] for row in rows])
    plain = [
        (row["written"], link.id)
        for row, link in zip(rows, meant, strict=True)
        if not link.nil and link.id and (link.confidence or 0) >= SURE
    ]
    written = linker.link([text for text, _ in plain])
    same = [link.id == id for link, (_, id) in zip(written, plain, strict=True)]
    sure = [not link.nil and (link.confidence or 0) >= SURE for link in written]
    return {
        "phrases": len(plain),
        "same concept": sum(same),
        "surely": sum(a and b for a, b in zip(same, sure, strict=True)),
        "surely another": sum(b and not a for a, b in zip(same, sure, strict=True)),
    }


def main() -> None:
    """Link, count, print and save."""
    data = data_folder()
    with NOTED.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    with TemporaryDirectory() as folder:
        linkers = {"ICD-10-CM": Linker.default()}
        for name, file in {"HPO": HPO, "DrugBank": DRUGS}.items():
            terminology = Terminology.build(read_records(data / file))
            linkers[name] = Linker.build(terminology, folder=Path(folder) / name)
        result = {
            name: count(linker, [row for row in rows if row["terminology"] == name])
            for name, linker in linkers.items()
        }
    print(result)
    path = save("noted", result, packages=["simple-icd-10-cm"], data=[data / HPO, data / DRUGS])
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
