"""Are misspelt everyday names found?

Each of the names of ``everyday_names.tsv`` with one slip of a letter (`canonym.training.sampling.noise`),
four times, linked to ICD-10-CM as ``canonym link`` does it: with long words corrected alone, and
with short words guessed besides. And what guessing changes in mentions as they stand in abstracts:
those of the training and development parts of NCBI disease and BC5CDR, linked to MEDIC.

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
from canonym.linking.fitting import asked_of
from canonym.mentions.spelling import Speller
from canonym.terminology import read_records
from canonym.training.sampling.noise import NOISE
from record import data_folder, save

NAMES = Path(__file__).parent / "everyday_names.tsv"
TIMES = 4
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
    linker = Linker.default()

    def share() -> list[float]:
        links = linker.link([text for text, _ in asked])
        codes = [(link.id or "").removeprefix("ICD10CM:") for link in links]
        right = sum(code.startswith(fam) for code, (_, fam) in zip(codes, asked, strict=True))
        return [round(100 * bound, 1) for bound in wilson(right, len(asked))]

    found = {"names": len(asked), "short words guessed": share()}
    with no_guesses():
        found["long words corrected"] = share()
    return found


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
            asked, find = asked_of(terminology, documents, ())
            given = list(asked)
            guessed = [links for _, links in linker.link_documents(given)]
            with no_guesses():
                plain = [links for _, links in linker.link_documents(given)]
            for document, ones, others in zip(given, guessed, plain, strict=True):
                for mention, one, other in zip(document.mentions, ones, others, strict=True):
                    gold = {find(id_) for id_ in mention.ids} - {None}
                    counts["mentions"] += 1
                    if one.id != other.id:
                        counts["linked otherwise"] += 1
                        counts["rightly"] += one.id in gold
                        counts["wrongly"] += other.id in gold
    return counts


def main() -> None:
    """Link, count, print and save."""
    data = data_folder()
    result = {"everyday names with a slip": in_icd(), "mentions": in_abstracts(data)}
    print(result)
    path = save("misspelt", result, packages=["simple-icd-10-cm", "numpy"], data=[data / MEDIC])
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
