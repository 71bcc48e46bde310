"""Pieces of HTML that the sections of a page share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from canonym.evaluation.figures import Figure
from canonym.evaluation.report.drawing import clean, percent

__all__ = [
    "METRIC_TITLES",
    "READING_TITLES",
    "legend",
    "number",
    "p_value",
    "ranged",
    "row",
    "section",
    "slice_title",
    "table",
]

READING_TITLES: dict[str, str] = {
    "lenient": "the top name carries an id of the mention, whatever other concepts have that name",
    "strict": "the top concept is one of the mention’s",
    "complete": "the top concepts of all parts are the mention’s, one to one",
}
"""When a mention is right, in half a sentence."""

METRIC_TITLES: dict[str, str] = {
    "accuracy": "Accuracy",
    "linkable-accuracy": "Accuracy without NIL mentions",
    "mrr": "Mean reciprocal rank",
    "recall": "Recall of the candidates",
    "set-precision": "Precision of parts",
    "set-recall": "Recall of parts",
    "set-f1": "F1 of parts",
    "nil-precision": "Precision of NIL",
    "nil-recall": "Recall of NIL",
    "nil-f1": "F1 of NIL",
}
"""What metrics are called, without their cut-off."""

_SLICES = {
    "all": "All mentions",
    "seen mention": "Mention in training",
    "unseen mention": "Mention not in training",
    "seen concept": "Concept in training",
    "unseen concept": "Concept not in training",
    "no homonym": "Not a homonym",
    "no abbreviation": "Not an abbreviation",
    "no composite": "Not composite",
}


def section(title: str, *content: str) -> str:
    """Return a section with its heading; nothing without content."""
    said = "\n".join(part for part in content if part)
    return f"<section>\n<h2>{clean(title)}</h2>\n{said}\n</section>" if said else ""


def table(
    head: Sequence[tuple[str, str]], rows: Iterable[str], *, style: str = "", name: str = ""
) -> str:
    """Return a table that scrolls by itself where it is too wide.

    Parameters
    ----------
    head : sequence of (str, str)
        Style and HTML of each heading; no headings are shown if all are empty.
    rows : iterable of str
        Of `row`.
    style : str
        Class of the table.
    name : str
        What it is, for those who do not see it.
    """
    cells = "".join(f'<th scope="col"{_style(cls)}>{html}</th>' for cls, html in head)
    shown = f"<thead><tr>{cells}</tr></thead>\n" if any(html for _, html in head) else ""
    label = f' aria-label="{clean(name)}"' if name else ""
    return (
        f'<div class="scroll"><table{_style(style)}{label}>\n'
        f"{shown}<tbody>\n{chr(10).join(rows)}\n</tbody></table></div>"
    )


def row(title: str, cells: Iterable[tuple[str, str]], *, style: str = "") -> str:
    """Return a row: its title, and style and HTML of every further cell."""
    said = "".join(f"<td{_style(cls)}>{html}</td>" for cls, html in cells)
    return f'<tr{_style(style)}><th scope="row">{title}</th>{said}</tr>'


def number(value: float, digits: int = 1) -> str:
    """Write a share in percent."""
    return percent(value, digits)


def ranged(figure: Figure | None, *, big: bool = False) -> str:
    """Write a figure with its interval."""
    if figure is None:
        return '<span class="range">n/a</span>'
    value = percent(figure.value)
    if big:
        value = f'<span class="value">{value}</span>'
    if not math.isfinite(figure.low):
        return value
    return f'{value} <span class="range">{percent(figure.low)}–{percent(figure.high)}</span>'


def legend(readings: Iterable[str]) -> str:
    """Say which colour is which reading."""
    keys = "".join(f'<span><i class="key {name}"></i>{name}</span>' for name in readings)
    return f'<p class="legend">{keys}</p>'


def slice_title(name: str) -> str:
    """Name a slice for people."""
    if name in _SLICES:
        return _SLICES[name]
    if name.startswith("length "):
        length = name.removeprefix("length ")
        return "1 word" if length in {"1", "≤1"} else f"{length} words"
    if name.startswith("frequency "):
        return f"Concept {name.removeprefix('frequency ')} × in training"
    if name.startswith("type "):
        return name.removeprefix("type ")
    return name[:1].upper() + name[1:]


def p_value(p: float) -> str:
    """Write a probability with two digits that count."""
    if not math.isfinite(p):
        return "n/a"
    return "&lt; 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def _style(name: str) -> str:
    return f' class="{name}"' if name else ""
