"""Accuracy on everyday names in ICD-10-CM.

150 names that were written apart from the bundled ones (``everyday_held_out.tsv``, with the right
families of codes), and 324 more in patients' words, written later and without a look at either list
(``everyday_patients.tsv``). They are linked as ``canonym link`` does it, with and without the
bundled everyday names. "Searched" are those that are no name, in any normal form.

    python benchmarks/everyday_accuracy.py
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from canonym import Linker
from canonym.evaluation.statistics import wilson
from record import save

LISTS = {
    "held out": Path(__file__).parent / "everyday_held_out.tsv",
    "patients": Path(__file__).parent / "everyday_patients.tsv",
}
LINKERS = {"with everyday names": True, "without": False}
K = (1, 5)


def measure(path: Path, linker: Linker) -> dict[str, Any]:
    """Return the share of names whose right family is first or among five, in percent."""
    with path.open(encoding="utf-8", newline="") as stream:
        asked = list(csv.DictReader(stream, delimiter="\t"))
    links = linker.link([row["name"] for row in asked], k=max(K))
    right, searched = [], []
    for link, row in zip(links, asked, strict=True):
        # A composite link is right where its first part is.
        candidates = (link.parts[0] if link.parts else link).candidates
        codes = [one.id.removeprefix("ICD10CM:") for one in candidates]
        right.append([code.startswith(tuple(row["families"].split())) for code in codes])
        searched.append(not link.candidates or link.candidates[0].sieve == "search")
    found: dict[str, Any] = {"names": len(asked), "searched": sum(searched)}
    for k in K:
        hits = [any(one[:k]) for one in right]
        among = sum(hit for hit, one in zip(hits, searched, strict=True) if one)
        for what, n_right, n in ((f"top-{k}", sum(hits), len(hits)),
                                 (f"searched, top-{k}", among, sum(searched))):  # fmt: skip
            found[what] = [round(100 * bound, 1) for bound in wilson(n_right, n)]
    return found


def main() -> None:
    """Link, count, print and save."""
    rows = []
    for what, everyday in LINKERS.items():
        linker = Linker.default(everyday=everyday)
        for name, path in LISTS.items():
            rows.append({"list": name, "linker": what, **measure(path, linker)})
            print(rows[-1], flush=True)
    files = list(LISTS.values())
    path = save(
        "everyday_accuracy", {"rows": rows}, packages=["simple-icd-10-cm", "numpy"], data=files
    )
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
