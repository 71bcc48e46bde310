"""The report as plain tables, for a terminal."""

from __future__ import annotations

import math
from typing import NamedTuple

from canonym.evaluation.hierarchy_distance import HierarchySummary
from canonym.evaluation.report.summary import Summary, decimals, percent, slice_title
from canonym.evaluation.slices import Figure


class PlainTable(NamedTuple):
    """A table: its title, its columns, its rows; every column but the first is of numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(summary: Summary) -> list[PlainTable]:
    """Return the tables for a terminal: headline, further metrics, other tools, errors.

    Numbers are in percent, with their 95 % intervals.
    """
    blocks = [_headline(summary)]
    if summary.comparisons:
        blocks.append(_comparisons(summary))
    if summary.worst:
        blocks.append(_errors(summary))
    if summary.hierarchy and summary.hierarchy.n:
        blocks.append(_hierarchy(summary.hierarchy, summary.worst_reading))
    if summary.left_out:
        rows = tuple((reason.reason, f"{reason.n:,}") for reason in summary.left_out)
        blocks.append(PlainTable("Left out", ("mentions", "n"), rows))
    return blocks


def _headline(summary: Summary) -> PlainTable:
    rows = []
    for name in dict.fromkeys(figure.slice for figure in summary.headline):
        figures = summary.across(name)
        n = next(figure.n for figure in figures if figure)
        rows.append((slice_title(name), "accuracy@1", f"{n:,}", *map(_figure, figures)))
    for metric in dict.fromkeys(figure.metric for figure in summary.metrics):
        if metric != "accuracy@1":
            figures = summary.across("all", metric)
            rows.append(("All mentions", metric, f"{summary.n:,}", *map(_figure, figures)))
    trust = {trust_of.reading: trust_of.ece for trust_of in summary.trust}
    area = {curve.reading: curve.area for curve in summary.refusal}
    for metric, values in (("ECE", trust), ("AURC", area)):
        cells = (decimals(values[reading], 4) for reading in summary.readings)
        rows.append(("All mentions", metric, f"{summary.n:,}", *cells))
    return PlainTable(summary.title, ("mentions", "metric", "n", *summary.readings), tuple(rows))


def _comparisons(summary: Summary) -> PlainTable:
    rows = []
    for comparison in summary.comparisons:
        for reading, contrast in comparison.contrasts.items():
            gap = contrast.difference
            rows.append(
                (
                    comparison.name,
                    reading,
                    _figure(contrast.ours),
                    _figure(contrast.theirs),
                    f"{100 * gap.value:+.1f} [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]",
                    _probability(gap.p),
                    _probability(contrast.test.p),
                )
            )
    columns = ("tool", "reading", "ours", "theirs", "difference", "p bootstrap", "p McNemar")
    return PlainTable("Beside other tools", columns, tuple(rows))


def _errors(summary: Summary) -> PlainTable:
    rows = [
        (error.kind, *(f"{error.counts[reading]:,}" for reading in summary.readings))
        for error in summary.errors
        if any(error.counts.values())
    ]
    return PlainTable("Errors", ("kind", *summary.readings), tuple(rows))


def _hierarchy(hierarchy: HierarchySummary, reading: str) -> PlainTable:
    rows = tuple(
        (kind, f"{n:,}", percent(n / hierarchy.n)) for kind, n in hierarchy.counts.items() if n
    )
    return PlainTable("Wrong concepts in the hierarchy", ("of the right one", reading, "%"), rows)


def _figure(figure: Figure | None) -> str:
    if figure is None or not math.isfinite(figure.value):
        return "n/a"
    return f"{percent(figure.value)} [{percent(figure.low)}, {percent(figure.high)}]"


def _probability(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
