"""Wrong concepts that are a parent, a child or another relative of the right one.

Refined BC5CDR diseases against MEDIC of 2012, with the tree of CTD of 2017 (Miftahutdinov et al.
2021, section 5.5). The shipped encoder, character n-grams, and others that are named:

    python benchmarks/relatives.py --encoder "random=trained/dilbert-weak-random-1"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from canonym.evaluation.hierarchy_distance import hierarchy_errors, summarise_errors
from canonym.evaluation.run import evaluate_corpus
from canonym.terminology import read_records
from canonym.types import Relation
from inputs import CTD, MEDIC, PARTS, documents_of, part_of, terminology_of
from record import data_folder, parser, save_rows


def measured(encoders: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Evaluate, and count the relatives among the errors."""
    parents: dict[str, list[str]] = {}
    for record in read_records(data_folder() / CTD):
        if isinstance(record, Relation) and record.relation == "is_a":
            parents.setdefault(record.head, []).append(record.tail)
    terminology = terminology_of(MEDIC)
    for system, encoder in encoders.items():
        run = evaluate_corpus(
            documents_of("bc5cdr", "test"),
            terminology=terminology,
            training=documents_of("bc5cdr", "train", "dev"),
            protocol="refined",
            types=["Disease"],
            encoders=[encoder],
        )
        errors = summarise_errors(hierarchy_errors(run.scored["strict"], parents))
        row = {"system": system, "mentions": len(run.questions), "wrong": errors.n}
        yield row | errors.counts | {"share of parents": errors.counts["parent"] / errors.n}


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--encoder", action="append", default=[], metavar="NAME=FOLDER")
    named = dict(text.split("=", 1) for text in arguments.parse_args().encoder)
    rows = measured({"TF-IDF": "chargrams", "default": "default", **named})
    files = [data_folder() / MEDIC, data_folder() / CTD]
    save_rows("relatives", rows, data=[*files, *(part_of("bc5cdr", part) for part in PARTS)])
