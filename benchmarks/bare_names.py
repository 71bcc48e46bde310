"""Bare names of diseases and symptoms: does ICD-10-CM give the code that any coder would?

The names and their codes (`bare_names.tsv`) were written by hand. An answer is right if it is the
code, or a category above it that is not called "Other …". The sieve `bare` was made with the half
`dev` in view. Both halves are asked of an index with that sieve and of one without, each with and
without the everyday names.

    python benchmarks/bare_names.py
"""

from __future__ import annotations

import csv
import zlib
from pathlib import Path
from typing import Any

from canonym import Linker, Terminology
from canonym.evaluation.statistics import wilson
from canonym.terminology import read_records
from canonym.types import Link
from record import save

NAMES = Path(__file__).with_name("bare_names.tsv")
SIEVES = ["verbatim", "normalised", "reordered", "bare"]
PREFIX = "ICD10CM:"


def read_names() -> list[tuple[str, str]]:
    """Return the names with their codes."""
    with NAMES.open(encoding="utf-8", newline="") as stream:
        return [(row["name"], row["code"]) for row in csv.DictReader(stream, delimiter="\t")]


def part_of(name: str) -> str:
    """Return the half that a name belongs to."""
    return "dev" if zlib.crc32(name.encode()) % 2 == 0 else "test"


def is_right(link: Link, code: str) -> bool:
    """Tell whether the answer is the code, or a category above it that means all of the name."""
    if link.id is None:
        return False
    answer = link.id.removeprefix(PREFIX)
    is_rest = link.candidates[0].label.lower().startswith("other")
    return answer == code or (code.startswith(answer) and len(answer) >= 3 and not is_rest)


def main() -> None:
    """Ask for all names, print and save."""
    names = read_names()
    rows: list[dict[str, Any]] = []
    for everyday in (False, True):
        terminology = Terminology.build(read_records("icd10cm", everyday=everyday))
        for sieves in (SIEVES[:-1], SIEVES):
            linker = Linker.build(terminology, encoders=["default"], sieves=sieves)
            links = linker.link([name for name, _ in names], k=1)
            for part in ("dev", "test"):
                asked = [
                    (link, code)
                    for link, (name, code) in zip(links, names, strict=True)
                    if part_of(name) == part
                ]
                right = sum(is_right(link, code) for link, code in asked)
                interval = wilson(right, len(asked))
                rows.append(
                    {
                        "everyday names": everyday,
                        "sieve bare": "bare" in sieves,
                        "part": part,
                        "n": len(asked),
                        "right": right,
                        "the code itself": sum(link.id == PREFIX + code for link, code in asked),
                        "right %": round(100 * right / len(asked), 1),
                        "interval": [round(100 * x, 1) for x in (interval.low, interval.high)],
                    }
                )
                print(*rows[-1].values(), flush=True)
    save("bare_names", {"rows": rows}, packages=("numpy", "simple-icd-10-cm"), data=[NAMES])


if __name__ == "__main__":
    main()
