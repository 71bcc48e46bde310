"""Do everyday names find their place in ICD-10-CM?

150 names that were written apart from those that come with canonym (``everyday_held_out.tsv``, with
the families of codes that are right), linked as ``canonym link`` does it, with and without the
everyday names that come with canonym.

    python benchmarks/everyday_accuracy.py
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from canonym import Linker
from canonym.evaluation.statistics import wilson
from canonym.io.files import file_digest
from record import save

HELD_OUT = Path(__file__).parent / "everyday_held_out.tsv"


def main() -> None:
    """Link, count, print and save."""
    with HELD_OUT.open(encoding="utf-8", newline="") as stream:
        asked = list(csv.DictReader(stream, delimiter="\t"))
    accepted = [tuple(row["families"].split()) for row in asked]
    result: dict[str, Any] = {"names": len(asked), "digest": file_digest(HELD_OUT)}
    for what, everyday in (("with everyday names", True), ("without", False)):
        links = Linker.default(everyday=everyday).link([row["name"] for row in asked], k=5)
        right = []
        for link, families in zip(links, accepted, strict=True):
            # A composite link is right where its first part is.
            candidates = (link.parts[0] if link.parts else link).candidates
            codes = [one.id.removeprefix("ICD10CM:") for one in candidates]
            right.append([code.startswith(families) for code in codes])
        for k in (1, 5):
            n_right = sum(any(one[:k]) for one in right)
            found = wilson(n_right, len(asked))
            result[f"{what}, top-{k}"] = [round(100 * bound, 1) for bound in found]
        result[f"{what}, verbatim"] = sum(
            bool(link.candidates) and link.candidates[0].sieve != "search" for link in links
        )
    for name, value in result.items():
        print(f"{name:32} {value}")
    path = save("everyday_accuracy", result, packages=["simple-icd-10-cm", "numpy"])
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
