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

from typing import Any
from unittest.mock import patch

import numpy as np

from canonym import Linker
from canonym.linking.fitting import annotated_documents
from canonym.mentions.spelling import Speller
from canonym.training.sampling.noise import NOISE
from inputs import (
    DRUGBANK,
    MEDIC,
    documents_of,
    linked_mentions,
    percents,
    rows_beside,
    terminology_of,
)
from noted import count
from record import data_folder, parser, save

TIMES = 4
NO_GUESSES = patch.object(Speller, "guesses", lambda _self, _text: ())
"""Leaves short words alone."""


def in_icd() -> dict[str, Any]:
    """Return the shares of misspelt names whose family comes first, in percent."""
    rows = rows_beside("everyday_names")
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
        return percents(right, len(asked))

    shares = {"names": len(asked), "with guesses": share()}
    with NO_GUESSES:
        shares["long words corrected"] = share()
    return shares


def in_abstracts() -> dict[str, Any]:
    """Return how many mentions are linked otherwise by guessing, and for how many that is right."""
    terminology = terminology_of(MEDIC)
    counts = {"mentions": 0, "linked otherwise": 0, "rightly": 0, "wrongly": 0}
    linker = Linker.build(terminology)
    for corpus in ("ncbi-disease", "bc5cdr"):
        documents = documents_of(corpus, "train", "dev")
        asked, find = annotated_documents(terminology, documents, ())
        guessed = linked_mentions(linker, asked)
        with NO_GUESSES:
            plain = linked_mentions(Linker.load(linker.folder), asked)
        for (mention, link), (_, other) in zip(guessed, plain, strict=True):
            gold = {find(id_) for id_ in mention.ids} - {None}
            counts["mentions"] += 1
            if link.id != other.id:
                counts["linked otherwise"] += 1
                counts["rightly"] += link.id in gold
                counts["wrongly"] += other.id in gold
    return counts


if __name__ == "__main__":
    parser(__doc__).parse_args()
    result = {
        "everyday names with a slip": in_icd(),
        "as people err": count("misspelt", {"DrugBank": DRUGBANK}, surely_meant=False),
        "mentions": in_abstracts(),
    }
    print(result)
    data = [data_folder() / file for file in (MEDIC, DRUGBANK)]
    save("misspelt", result, packages=["simple-icd-10-cm", "numpy"], data=data)
