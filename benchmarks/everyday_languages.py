"""Forty everyday names of diseases in eight languages, searched among the names of MEDIC.

The names stand in ``everyday_languages.tsv``. They were written down before an encoder was asked. A
name counts if the first candidate is a concept that has the English name.

    python benchmarks/everyday_languages.py [--encoder WHAT]...
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from canonym import Linker, Terminology
from canonym.terminology import read_records
from canonym.text import normalise
from record import data_folder, save

NAMES = Path(__file__).with_suffix(".tsv")
ENGLISH = "medic-2012/medic_06Jul2012.txt"
ENCODERS = ("chargrams", "default", "multilingual", "universal", "multilingual+universal")


def main() -> None:
    """Link the names of each language with each encoder, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--encoder", action="append", default=[], metavar="WHAT")
    encoders = parser.parse_args().encoder or ENCODERS
    data = data_folder()
    terminology = Terminology.build(read_records(data / ENGLISH))
    with NAMES.open(encoding="utf-8", newline="") as stream:
        names = list(csv.DictReader(stream, delimiter="\t"))
    owners: dict[str, set[str]] = {}
    for name in terminology.iter_names():
        owners.setdefault(normalise(name.text), set()).add(name.concept_id)
    right = [owners[normalise(row["en"])] for row in names]
    rows = []
    for what in encoders:
        linker = Linker.build(terminology, encoders=what.split("+"))
        for language in names[0]:
            links = linker.link([row[language] for row in names], k=1)
            found = sum(link.id in ids for link, ids in zip(links, right, strict=True))
            rows.append({"encoder": what, "language": language, "found": found, "n": len(names)})
            print(*rows[-1].values(), flush=True)
    save("everyday_languages", {"rows": rows}, packages=("numpy",), data=[data / ENGLISH, NAMES])


if __name__ == "__main__":
    main()
