"""Bare names of diseases and symptoms: does ICD-10-CM give the code that any coder would?

The names and their codes (`bare_names.tsv`) were written by hand. An answer is right if it is the
code, or a category above it that is not called "Other …". The sieve `bare` was made with the half
`dev` in view. Both halves are asked of an index with that sieve and of one without, each with and
without the everyday names.

    python benchmarks/bare_names.py
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from canonym import Linker
from canonym.types import Link
from inputs import beside, linked_list, percents, terminology_of
from record import parser, save_rows

SIEVES = ["verbatim", "normalised", "reordered", "bare"]
PREFIX = "ICD10CM:"


def half_of(name: str) -> str:
    """Return the half that a name belongs to."""
    return "dev" if zlib.crc32(name.encode()) % 2 == 0 else "test"


def is_right(link: Link, code: str) -> bool:
    """Tell whether the answer is the code, or a category above it that means all of the name."""
    if link.id is None:
        return False
    answer = link.id.removeprefix(PREFIX)
    is_rest = link.candidates[0].label.lower().startswith("other")
    return answer == code or (code.startswith(answer) and len(answer) >= 3 and not is_rest)


def measured() -> Iterator[dict[str, Any]]:
    """Ask for all names."""
    for everyday in (False, True):
        terminology = terminology_of("icd10cm", everyday=everyday)
        for sieves in (SIEVES[:-1], SIEVES):
            linker = Linker.build(terminology, encoders=["default"], sieves=sieves)
            rows = linked_list(linker, "bare_names", "name", k=1)
            for half in ("dev", "test"):
                asked = [(link, row["code"]) for row, link in rows if half_of(row["name"]) == half]
                right = sum(is_right(link, code) for link, code in asked)
                share = percents(right, len(asked))
                yield {
                    "everyday names": everyday,
                    "sieve bare": "bare" in sieves,
                    "part": half,
                    "n": len(asked),
                    "right": right,
                    "the code itself": sum(link.id == PREFIX + code for link, code in asked),
                    "right %": share[0],
                    "interval": share[1:],
                }


if __name__ == "__main__":
    parser(__doc__).parse_args()
    packages = ("numpy", "simple-icd-10-cm")
    save_rows("bare_names", measured(), packages=packages, data=[beside("bare_names")])
