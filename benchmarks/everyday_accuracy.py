"""Accuracy on everyday names in ICD-10-CM.

150 names that were written apart from the bundled ones (``everyday_held_out.tsv``, with the right
families of codes), and 324 more in patients' words, written later and without a look at either list
(``everyday_patients.tsv``). They are linked as ``canonym link`` does it, with and without the
bundled everyday names. "Searched" are those that are no name, in any normal form.

    python benchmarks/everyday_accuracy.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from canonym import Linker
from inputs import beside, linked_list, percents
from record import parser, save_rows

LISTS = {"held out": "everyday_held_out", "patients": "everyday_patients"}
LINKERS = {"with everyday names": True, "without": False}
K = (1, 5)


def measure(name: str, linker: Linker) -> dict[str, Any]:
    """Return the share of names whose right family is first or among five, in percent."""
    right, searched = [], []
    for row, link in linked_list(linker, name, "name", k=max(K)):
        # A composite link is right where its first part is.
        candidates = (link.parts[0] if link.parts else link).candidates
        codes = [candidate.id.removeprefix("ICD10CM:") for candidate in candidates]
        right.append([code.startswith(tuple(row["families"].split())) for code in codes])
        searched.append(not link.candidates or link.candidates[0].sieve == "search")
    figures: dict[str, Any] = {"names": len(right), "searched": sum(searched)}
    for k in K:
        hits = [any(of_name[:k]) for of_name in right]
        among = sum(hit for hit, is_searched in zip(hits, searched, strict=True) if is_searched)
        figures[f"top-{k}"] = percents(sum(hits), len(hits))
        figures[f"searched, top-{k}"] = percents(among, sum(searched))
    return figures


def measured() -> Iterator[dict[str, Any]]:
    """Yield the figures of each list, with and without everyday names."""
    for what, everyday in LINKERS.items():
        linker = Linker.default(everyday=everyday)
        for name, file in LISTS.items():
            yield {"list": name, "linker": what, **measure(file, linker)}


if __name__ == "__main__":
    parser(__doc__).parse_args()
    files = [beside(name) for name in LISTS.values()]
    save_rows("everyday_accuracy", measured(), packages=["simple-icd-10-cm", "numpy"], data=files)
