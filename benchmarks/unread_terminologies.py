"""Terminologies that no encoder has read: which one finds the names that are taken out?

FOLDER has a table for each, as `canonym import` reads it, with the columns id, name and preferred.
The published figures are for ontologies in the package cellxgene-ontology-guide, without their
deprecated terms, of NCBITaxon concepts with synonyms only. MONDO has many names of diseases that
the default encoder knows from other sources.

    python benchmarks/unread_terminologies.py FOLDER --sentence-encoder MINILM
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from canonym.evaluation.own_names import compare_by_names
from canonym.terminology import Terminology, read_records
from record import save


def main() -> None:
    """Compare the encoders on every table, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--sentence-encoder", required=True, metavar="MINILM")
    options = parser.parse_args()
    called = {
        "chargrams": "character n-grams",
        options.sentence_encoder: "all-MiniLM-L6-v2, untrained",
        "default,rarity=0": "default, rarity 0",
        "default": "default",
        "default,rarity=0.5": "default, rarity 0.5",
        "default,rarity=1": "default, rarity 1",
    }
    tables = sorted(options.folder.glob("*.tsv"))
    rows: list[dict[str, Any]] = []
    for table in tables:
        terminology = Terminology.build(read_records(table))
        found = compare_by_names(terminology, [spec.split("+") for spec in called])
        for name, one in zip(called.values(), found, strict=True):
            row = {"terminology": table.stem, "encoder": name, "n": one.n}
            first = [round(100 * float(value), 1) for value in one.first]
            rows.append({**row, "accuracy@1": first[0], "interval": first[1:]})
            print(*rows[-1].values(), flush=True)
    save("unread_terminologies", {"rows": rows}, packages=("numpy",), data=tables)


if __name__ == "__main__":
    main()
