"""Accuracy on misspelt everyday names.

Each name of ``everyday_names.tsv`` with one slip of a letter (`canonym.training.sampling.noise`),
four times, linked to ICD-10-CM as ``canonym link`` does it: with long words corrected alone, and
with guesses as well. Guessing is also tried on the mentions of the training and
development parts of NCBI disease and BC5CDR, linked to MEDIC.

``misspelt.tsv`` has names as people misspell them, written for this measurement: diseases for
ICD-10-CM, drugs for DrugBank. Counted is how many are linked to the concept of the right spelling,
how many of them with a confidence of at least 0.8, and how many are as sure of another concept.

    python benchmarks/misspelt.py
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.evaluation.statistics import wilson
from canonym.linking.fitting import annotated_documents
from canonym.mentions.spelling import Speller
from canonym.terminology import read_records
from canonym.training.sampling.noise import NOISE
from record import data_folder, save

NAMES = Path(__file__).parent / "everyday_names.tsv"
PEOPLE = NAMES.with_name("misspelt.tsv")
TIMES = 4
SURE = 0.8
DRUGS = "drugbank-vocabulary/drugbank_vocabulary.csv.gz"
MEDIC = "medic-2012/medic_06Jul2012.txt"


@contextmanager
def no_guesses() -> Iterator[None]:
    """Leave short words alone."""
    guesses = Speller.guesses
    Speller.guesses = lambda _self, _text: ()  # type: ignore[method-assign]
    try:
        yield
    finally:
        Speller.guesses = guesses  # type: ignore[method-assign]


def in_icd() -> dict[str, Any]:
    """Return the shares of misspelt names whose family comes first, in percent."""
    with NAMES.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    rng = np.random.default_rng(0)
    asked = [
        (" ".join(NOISE["slip"](row["name"].split(" "), rng)), tuple(row["families"].split()))
        for _ in range(TIMES)
        for row in rows
    ]
    folder = Linker.default().folder

    def share() -> list[float]:
        linker = Linker.load(folder)  # one that remembers nothing
        links = linker.link([text for text, _ in asked])
        codes = [(link.id or "").removeprefix("ICD10CM:") for link in links]
        right = sum(code.startswith(fam) for code, (_, fam) in zip(codes, asked, strict=True))
        return [round(100 * bound, 1) for bound in wilson(right, len(asked))]

    shares = {"names": len(asked), "with guesses": share()}
    with no_guesses():
        shares["long words corrected"] = share()
    return shares


def in_abstracts(data: Path) -> dict[str, Any]:
    """Return how many mentions are linked otherwise by guessing, and for how many that is right."""
    terminology = Terminology.build(read_records(data / MEDIC))
    counts = {"mentions": 0, "linked otherwise": 0, "rightly": 0, "wrongly": 0}
    with TemporaryDirectory() as folder:
        linker = Linker.build(terminology, folder=Path(folder) / "index")
        for corpus in ("ncbi-disease", "bc5cdr"):
            documents = [
                one
                for part in ("train", "dev")
                for one in read_pubtator(data / corpus / f"{part}.pubtator")
            ]
            asked, find = annotated_documents(terminology, documents, ())
            given = list(asked)
            guessed = [links for _, links in linker.link_documents(given)]
            with no_guesses():
                other = Linker.load(linker.folder)
                plain = [links for _, links in other.link_documents(given)]
            for document, ones, others in zip(given, guessed, plain, strict=True):
                for mention, one, other in zip(document.mentions, ones, others, strict=True):
                    gold = {find(id_) for id_ in mention.ids} - {None}
                    counts["mentions"] += 1
                    if one.id != other.id:
                        counts["linked otherwise"] += 1
                        counts["rightly"] += one.id in gold
                        counts["wrongly"] += other.id in gold
    return counts


def as_people_err(data: Path) -> dict[str, dict[str, int]]:
    """Return how many misspelt names have the concept of the right spelling, by terminology."""
    with PEOPLE.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    counts = {}
    with TemporaryDirectory() as folder:
        drugs = Terminology.build(read_records(data / DRUGS))
        linkers = {
            "ICD-10-CM": Linker.default(),
            "DrugBank": Linker.build(drugs, folder=Path(folder) / "index"),
        }
        for name, linker in linkers.items():
            pairs = [row for row in rows if row["terminology"] == name]
            written = linker.link([row["written"] for row in pairs])
            meant = linker.link([row["meant"] for row in pairs])
            same = [link.id == right.id for link, right in zip(written, meant, strict=True)]
            sure = [not link.nil and (link.confidence or 0) >= SURE for link in written]
            counts[name] = {
                "names": len(pairs),
                "same concept": sum(same),
                "surely": sum(a and b for a, b in zip(same, sure, strict=True)),
                "surely another": sum(b and not a for a, b in zip(same, sure, strict=True)),
            }
    return counts


def main() -> None:
    """Link, count, print and save."""
    data = data_folder()
    result = {
        "everyday names with a slip": in_icd(),
        "as people err": as_people_err(data),
        "mentions": in_abstracts(data),
    }
    print(result)
    path = save(
        "misspelt",
        result,
        packages=["simple-icd-10-cm", "numpy"],
        data=[data / MEDIC, data / DRUGS],
    )
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
