"""Every method, loss, sampler, set of data, protocol, table and figure of the five papers.

``coverage.tsv`` has a row for each: whether it works, where it is, which tests and results show it,
and the reason where something is missing. ``docs/methods/coverage.md`` is made from it.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import NamedTuple

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


def read_coverage(path: Path = FILE) -> list[Item]:
    """Read the items, in the order of the papers."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Item(*row[:5], tuple(row[5].split()), row[6]) for row in rows[1:]]


def counts_table(items: list[Item]) -> str:
    """Return how many items of each paper are in each state."""
    lines = [f"| | items | {' | '.join(STATES)} |", "|---|--:" + "|--:" * len(STATES) + "|"]
    papers = dict.fromkeys(item.paper for item in items)
    for paper in (*papers, "all"):
        states = Counter(item.state for item in items if paper in ("all", item.paper))
        cells = " | ".join(f"{states[state]}" for state in STATES)
        lines.append(f"| {paper} | {states.total()} | {cells} |")
    return "\n".join(lines) + "\n"


def items_table(items: list[Item], paper: str) -> str:
    """Return the items of a paper."""
    lines = ["| | what | state | where | shown by |", "|---|---|---|---|---|"]
    for item in items:
        if item.paper == paper:
            state = f"{item.state}: {item.reason}" if item.reason else item.state
            shown = ", ".join(_short(one) for one in item.shown)
            cells = f"{item.item} | {state} | `{item.where}` | {shown}"
            lines.append(f"| {item.kind} | {cells} |")
    return "\n".join(lines) + "\n"


def _short(shown: str) -> str:
    """Return a test, a result or a page as the table has it."""
    file, _, test = shown.partition("::")
    if test:
        return f"`{Path(file).name}::{test}`"
    if shown.startswith("docs/methods/"):
        return f"[page]({Path(shown).name})"
    return f"`{shown}`"
