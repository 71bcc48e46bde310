"""Findings in plain words: how often the name that clinicians have is the right one.

Names of terminologies that say which way a value went, as *low potassium level*, are taken out and
looked up again, with the rule of `canonym.mentions.measurements` and without it. The
default encoder has read most of these names, which speaks against the rule.

    python benchmarks/findings.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import record  # noqa: F401  # finds the models
from canonym import Linker, Terminology
from canonym.mentions import prepare
from canonym.mentions.measurements import measurement_name
from canonym.terminology import read_records
from canonym.text import STRONG, normalise
from canonym.types import Name, Record
from models.sources import SOURCES
from record import data_folder, save

TERMINOLOGIES = {
    "HPO": SOURCES["HPO 2014"],
    "MEDIC": "medic-2012/medic_06Jul2012.txt",
    "MeSH": SOURCES["MeSH 2024"],
}
ENCODERS = ("default", "chargrams")


def terminologies(data: Path) -> Iterator[tuple[str, list[Record]]]:
    """Yield the records of each terminology."""
    for name, file in TERMINOLOGIES.items():
        yield name, list(read_records(data / file))
    yield "ICD-10-CM", list(read_records("icd10cm", everyday=True))


def asked(records: Sequence[Record]) -> tuple[list[Name], list[Record]]:
    """Return the synonyms that are findings, and the records without names that equal them."""
    names = [one for one in records if isinstance(one, Name) and measurement_name(one.text)]
    forms = {normalise(one.text, STRONG) for one in names}
    left = [
        one
        for one in records
        if not (isinstance(one, Name) and normalise(one.text, STRONG) in forms)
    ]
    return names, left


def n_right(linker: Linker, names: Sequence[Name]) -> int:
    """Count the names whose first candidate is their concept."""
    links = linker.link([one.text for one in names], k=1)
    return sum(link.id == one.concept_id for link, one in zip(links, names, strict=True))


def main() -> None:
    """Ask each terminology with both encoders, print and save."""
    data = data_folder()
    rows: list[dict[str, Any]] = []
    for name, records in terminologies(data):
        names, left = asked(records)
        terminology = Terminology.build(left)
        for encoder in ENCODERS:
            # A linker remembers what it has linked.
            linker, other = (Linker.build(terminology, encoders=[encoder]) for _ in range(2))
            with_rule = n_right(linker, names)
            with patch.object(prepare, "finding_name", lambda _: ""):
                without = n_right(other, names)
            row = {"terminology": name, "encoder": encoder, "n": len(names)}
            rows.append({**row, "without": without, "with": with_rule})
            print(*rows[-1].values(), flush=True)
    files = [data / file for file in TERMINOLOGIES.values()]
    save("findings", {"rows": rows}, packages=("numpy", "simple-icd-10-cm"), data=files)


if __name__ == "__main__":
    main()
