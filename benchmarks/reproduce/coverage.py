"""Every method, loss, sampler, set of data, protocol, table and figure of the five papers.

``coverage.tsv`` has a row for each: whether it works, where it is, which tests and results show it,
and the reason where something is missing. ``docs/methods/coverage.md`` is made from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from record import rows_of

FILE = Path(__file__).with_name("coverage.tsv")
STATES = ("works", "partly", "not")
KINDS = ("method", "loss", "sampler", "data", "protocol", "table", "figure")


class Item(NamedTuple):
    """A part of a paper.

    `where` is a module or a file below ``benchmarks``; `shown` are tests as ``FILE::NAME``, results
    as ``results/NAME.json``, and pages. `reason` is empty for what works.
    """

    paper: str
    kind: str
    item: str
    state: str
    where: str
    shown: tuple[str, ...]
    reason: str


def read_coverage() -> list[Item]:
    """Read the items, in the order of the papers."""
    return [Item(**{**row, "shown": tuple(row["shown"].split())}) for row in rows_of(FILE)]
