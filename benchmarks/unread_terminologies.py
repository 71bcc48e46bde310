"""Terminologies that no encoder has read: which one finds the names that are taken out?

FOLDER has a table for each, as `canonym import` reads it, with the columns id, name and preferred.
The published figures are for ontologies in the package cellxgene-ontology-guide, without their
deprecated terms, of NCBITaxon concepts with synonyms only. MONDO has many names of diseases that
the default encoder knows from other sources.

    python benchmarks/unread_terminologies.py FOLDER --sentence-encoder MINILM
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from canonym.evaluation.own_names import compare_by_names
from canonym.terminology import Terminology, read_records
from record import parser, save_rows


def measured(tables: Sequence[Path], encoders: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Compare the encoders on every table."""
    for table in tables:
        terminology = Terminology.build(read_records(table))
        compared = compare_by_names(terminology, [spec.split("+") for spec in encoders])
        for name, by_names in zip(encoders.values(), compared, strict=True):
            first, *interval = (round(100 * float(value), 1) for value in by_names.first)
            row = {"terminology": table.stem, "encoder": name, "n": by_names.n}
            yield row | {"accuracy@1": first, "interval": interval}


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("--sentence-encoder", required=True, metavar="MINILM")
    options = arguments.parse_args()
    names = {
        "chargrams": "character n-grams",
        options.sentence_encoder: "all-MiniLM-L6-v2, untrained",
        "default,rarity=0": "default, rarity 0",
        "default": "default",
        "default,rarity=0.5": "default, rarity 0.5",
        "default,rarity=1": "default, rarity 1",
    }
    files = sorted(options.folder.glob("*.tsv"))
    save_rows("unread_terminologies", measured(files, names), data=files)
