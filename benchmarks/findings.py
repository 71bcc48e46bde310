"""Findings in plain words: how often the name that clinicians have is the right one.

Names of terminologies that say which way a value went, as *low potassium level*, are taken out and
looked up again, with the rule of `canonym.mentions.measurements` and without it. The
default encoder has read most of these names, which speaks against the rule.

    python benchmarks/findings.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from unittest.mock import patch

from canonym import Linker, Terminology
from canonym.mentions import prepare
from canonym.mentions.measurements import measurement_name
from canonym.terminology import read_records
from canonym.text import STRONG, normalise
from canonym.types import Name, Record
from inputs import TERMINOLOGIES as FILES
from inputs import are_right
from record import data_folder, parser, save_rows

TERMINOLOGIES = ("HPO", "MEDIC", "MeSH", "ICD-10-CM")
ENCODERS = ("default", "chargrams")


def records_of(name: str) -> list[Record]:
    """Return the records of a terminology."""
    if name == "ICD-10-CM":
        return list(read_records("icd10cm", everyday=True))
    return list(read_records(data_folder() / FILES[name][0]))


def asked(records: Sequence[Record]) -> tuple[list[Name], list[Record]]:
    """Return the synonyms that are findings, and the records without names that equal them."""
    names = [name for name in records if isinstance(name, Name) and measurement_name(name.text)]
    forms = {normalise(name.text, STRONG) for name in names}
    left = [
        record
        for record in records
        if not (isinstance(record, Name) and normalise(record.text, STRONG) in forms)
    ]
    return names, left


def measured() -> Iterator[dict[str, Any]]:
    """Ask each terminology with both encoders."""
    for source in TERMINOLOGIES:
        names, left = asked(records_of(source))
        terminology = Terminology.build(left)
        questions = [(name.text, (name.concept_id,)) for name in names]
        for encoder in ENCODERS:
            # A linker remembers what it has linked.
            linker, other = (Linker.build(terminology, encoders=[encoder]) for _ in range(2))
            with_rule = sum(are_right(linker, questions))
            with patch.object(prepare, "finding_name", lambda _: ""):
                without = sum(are_right(other, questions))
            row = {"terminology": source, "encoder": encoder, "n": len(names)}
            yield {**row, "without": without, "with": with_rule}


if __name__ == "__main__":
    parser(__doc__).parse_args()
    data = [data_folder() / FILES[name][0] for name in TERMINOLOGIES[:-1]]
    save_rows("findings", measured(), packages=("numpy", "simple-icd-10-cm"), data=data)
