"""The report as one HTML page that needs no other file: no network, no script, no font."""

from __future__ import annotations

import math
import re
from importlib.resources import files
from pathlib import Path

from canonym.evaluation.error_kinds import PUBLISHED
from canonym.evaluation.report.charts import draw_bars, draw_recall, draw_refusal, draw_trust
from canonym.evaluation.report.summary import Summary, decimals, percent, slice_title
from canonym.evaluation.statistics import SMALL
from canonym.io.files import write_file

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
"""Titles of metrics, by their name without cut-off."""

_GROUPS: dict[str, tuple[str, ...]] = {
    "In training": ("seen mention", "unseen mention", "seen concept", "unseen concept"),
    "Kind of mention": (
        *("homonym", "no homonym", "abbreviation", "no abbreviation"),
        *("composite", "no composite", "NIL", "not NIL"),
    ),
    "Type": ("type ",),
    "Length": ("length ",),
    "Frequency of the concept": ("frequency ",),
}


def make_page(summary: Summary) -> str:
    """Return the page of a report, a whole HTML document: the same for the same summary."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.tests["finite"] = math.isfinite
    environment.filters |= {
        "decimals": decimals,
        "metric_title": _metric_title,
        "p_value": p_value,
        "percent": percent,
        "points": lambda share: f"{100 * share:+.1f}",
        "slice_title": slice_title,
        "thousands": lambda number: f"{number:,}",
    }
    template = (files("canonym.evaluation.report") / "page.html.jinja").read_text("utf-8")
    trust = summary.trust[min(1, len(summary.trust) - 1)]
    page = environment.from_string(template).render(
        s=summary,
        trust=trust,
        groups=_groups(summary).items(),
        totals={
            name: sum(error.counts[name] for error in summary.errors) for name in summary.readings
        },
        small=SMALL,
        published_kinds=PUBLISHED,
        reading_titles=READING_TITLES,
        bars=lambda name, figures: draw_bars(slice_title(name), figures),
        recall_chart=draw_recall(summary),
        trust_chart=draw_trust(trust),
        refusal_chart=draw_refusal(summary.refusal),
        zip=zip,
    )
    # HTML and UTF-8 have no place for other control characters, and for surrogates.
    return re.sub("[\x00-\x08\x0b-\x1f\ud800-\udfff]", "\ufffd", page)


def write_page(summary: Summary, path: str | Path, *, overwrite: bool = True) -> None:
    """Write the page of a report to a file, whole or not at all."""
    with write_file(path, overwrite=overwrite) as partial:
        partial.write_text(make_page(summary), encoding="utf-8", newline="\n")


def p_value(p: float) -> str:
    """Write a probability with two significant digits."""
    if not math.isfinite(p):
        return "n/a"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def _metric_title(metric: str) -> str:
    name, _, k = metric.partition("@")
    return METRIC_TITLES.get(name, name) + (f", first {k}" if k else "")


def _groups(summary: Summary) -> dict[str, list[str]]:
    """Return the slices by group; groups without a slice are left out."""
    names = list(dict.fromkeys(figure.slice for figure in summary.slices))
    groups = {
        title: [name for name in names if name.startswith(starts)]
        for title, starts in _GROUPS.items()
    }
    return {title: members for title, members in groups.items() if members}
