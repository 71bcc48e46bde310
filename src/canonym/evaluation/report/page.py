"""The report as one HTML page that needs nothing beside itself: no network, no script, no font."""

from __future__ import annotations

import math
from importlib.resources import files
from pathlib import Path
from string import Template

from canonym.evaluation.bounds import SMALL
from canonym.evaluation.figures import Figure
from canonym.evaluation.report.charts import draw_recall, draw_refusal, draw_trust
from canonym.evaluation.report.drawing import bar_row, clean, percent
from canonym.evaluation.report.layout import (
    METRIC_TITLES,
    READING_TITLES,
    legend,
    number,
    ranged,
    row,
    section,
    slice_title,
    table,
)
from canonym.evaluation.report.sections import (
    comparison_section,
    error_section,
    left_out_section,
)
from canonym.evaluation.report.summary import Summary
from canonym.files import write_file

__all__ = ["make_page", "write_page"]

_GROUPS = (
    ("In training", ("seen mention", "unseen mention", "seen concept", "unseen concept")),
    ("Kind of mention", ("homonym", "no homonym", "abbreviation", "no abbreviation")),
    ("Kind of mention", ("composite", "no composite", "NIL", "not NIL")),
    ("Type", ("type ",)),
    ("Length", ("length ",)),
    ("Frequency of the concept", ("frequency ",)),
)


def make_page(summary: Summary) -> str:
    """Return the page of a report.

    Parameters
    ----------
    summary : Summary
        What it shows.

    Returns
    -------
    str
        A whole HTML document; the same for the same summary.
    """
    folder = files("canonym.evaluation.report")
    content = (
        _head(summary),
        _headline(summary),
        comparison_section(summary),
        _slices(summary),
        _charts(summary),
        error_section(summary),
        left_out_section(summary),
        _rules(summary),
        _prints(summary),
    )
    return Template((folder / "page.html").read_text("utf-8")).substitute(
        version=clean(summary.fingerprints.get("version", "")),
        title=clean(summary.title),
        style=(folder / "page.css").read_text("utf-8"),
        content="\n".join(part for part in content if part),
    )


def write_page(summary: Summary, path: str | Path) -> None:
    """Write the page of a report to a file, whole or not at all."""
    with write_file(path) as partial:
        partial.write_text(make_page(summary), encoding="utf-8", newline="\n")


def _head(summary: Summary) -> str:
    first, last = summary.readings[0], summary.readings[-1]
    everything = {figure.reading: figure for figure in summary.headline if figure.slice == "all"}
    said = (
        f"{summary.n:,} of {summary.n_mentions:,} mentions were asked. "
        f"<strong>{percent(everything[first].value)}\u00a0%</strong> are right in the {first} "
        "reading"
    )
    if last != first:
        said += f" and {percent(everything[last].value)}\u00a0% in the {last} one"
    said += "."
    unseen = summary.find("unseen mention", first)
    if unseen is None:
        said += " Whether training has a mention is not known: no training data was given."
    elif unseen.n == summary.n:
        said += " None of these mentions is in the training data."
    else:
        said += (
            f" Of the {unseen.n:,} that are not in the training data it is "
            f"<strong>{percent(unseen.value)}\u00a0%</strong>."
        )
    caveats = "".join(f'<p class="caveat">{clean(caveat)}</p>' for caveat in summary.caveats)
    return (
        f"<header>\n<h1>{clean(summary.title)}</h1>\n"
        f'<p class="under">Protocol {clean(summary.protocol)}, composite mentions split by '
        f"{clean(summary.split)}; {clean(summary.part)}</p>\n<p>{said}</p>\n{caveats}</header>"
    )


def _headline(summary: Summary) -> str:
    head = [("", "")] + [
        ("", f'<i class="key {name}"></i>{name.capitalize()}') for name in summary.readings
    ]
    rows = []
    for name in dict.fromkeys(figure.slice for figure in summary.headline):
        found = [summary.find(name, reading) for reading in summary.readings]
        n = next(figure.n for figure in found if figure is not None)
        title = f"{slice_title(name)}<small>n = {n:,}</small>"
        rows.append(row(title, (("", ranged(figure, big=True)) for figure in found)))
    meaning = "".join(
        f"<li><strong>{name.capitalize()}</strong>: {READING_TITLES[name]}.</li>"
        for name in summary.readings
    )
    return section(
        "Accuracy of the first answer",
        '<p class="explain">In percent, with 95\u00a0% intervals: of '
        f"{summary.draws:,} bootstrap draws over mentions, and Wilson’s for fewer than {SMALL} "
        "mentions and for 0 and 100\u00a0%.</p>",
        table(head, rows, style="big", name="Accuracy of the first answer"),
        f'<ul class="explain">{meaning}</ul>',
        _metrics(summary),
    )


def _metrics(summary: Summary) -> str:
    names = [n for n in dict.fromkeys(f.metric for f in summary.metrics) if n != "accuracy@1"]
    rows = []
    for metric in names:
        name, _, k = metric.partition("@")
        title = METRIC_TITLES.get(name, name) + (f", first {k}" if k else "")
        found = [summary.find("all", reading, metric) for reading in summary.readings]
        rows.append(row(title, (("", ranged(figure)) for figure in found)))
    head = [("", "All mentions")] + [("", name.capitalize()) for name in summary.readings]
    return table(head, rows, name="Further metrics") if rows else ""


def _slices(summary: Summary) -> str:
    names = [n for n in dict.fromkeys(f.slice for f in summary.slices) if n != "all"]
    head = [("", "Mentions"), ("number", "n"), ("bar-cell", "0–100 %")]
    head += [("", name.capitalize()) for name in summary.readings]
    rows = [_slice_row(summary, "all")]
    last = ""
    for group, members in _GROUPS:
        of_group = [n for n in names if n.startswith(members)]
        if of_group and group != last:
            rows.append(
                f'<tr class="group"><th colspan="{len(head)}" scope="rowgroup">{group}</th></tr>'
            )
            last = group
        rows += [_slice_row(summary, name) for name in of_group]
    return section(
        "Where it is right and where not",
        '<p class="explain">Accuracy of the first answer by kind of mention. Kinds that hold no '
        "mention, or all of them, are left out.</p>",
        legend(summary.readings),
        table(head, rows, style="slices", name="Accuracy by kind of mention"),
    )


def _slice_row(summary: Summary, name: str) -> str:
    found = [summary.find(name, reading) for reading in summary.readings]
    known = [figure for figure in found if figure is not None]
    title = slice_title(name)
    bars = bar_row((f.reading, f.value, f.low, f.high, f"{title}, {_spoken(f)}") for f in known)
    cells = [("number", f"{known[0].n:,}"), ("bar-cell", bars)]
    return row(clean(title), [*cells, *(("", ranged(figure)) for figure in found)])


def _spoken(figure: Figure) -> str:
    between = f"{percent(figure.low)} to {percent(figure.high)}"
    return f"{figure.reading}: {percent(figure.value)} %, interval {between}"


def _charts(summary: Summary) -> str:
    shown = next(iter(summary.trust[min(1, len(summary.trust) - 1) :]))
    trust = draw_trust(shown)
    if not trust:
        trust = (
            f'<p class="explain">n/a: scores go from {shown.low:.3g} to {shown.high:.3g}, and only '
            "numbers between 0 and 1 can be read as confidence.</p>"
        )
    found = [
        ("", f"{c.low:g}–{c.high:g}", (f"{c.n:,}", _decimals(c.confidence), number(c.accuracy)))
        for c in shown.bins
    ]
    readings = [("number", name.capitalize()) for name in summary.readings]
    k = max(len(values) for values in summary.recall.values())
    recall = _figure(
        "Candidates",
        "Right concepts among the first k candidates.",
        legend(summary.readings) + draw_recall(summary),
        [("", "k"), *readings],
        [
            row(str(i + 1), (("number", number(summary.recall[r][i])) for r in summary.readings))
            for i in range(k)
        ],
    )
    reliability = _figure(
        "Reliability",
        f"Accuracy by score, {shown.reading} reading, with 95 % intervals; on the dashed line "
        f"scores would be probabilities. Expected calibration error: {_decimals(shown.ece)}.",
        trust,
        [("", "Score"), ("number", "n"), ("number", "Mean score"), ("number", "Right, %")],
        [row(title, (("number", cell) for cell in cells)) for _, title, cells in found],
    )
    grid = [i for i in range(len(summary.refusal[0].coverage)) if (i + 1) % 10 == 0]
    refusal = _figure(
        "Risk and coverage",
        "Errors among the mentions answered when the least sure are refused. The smaller the area "
        "under the curve (AURC), the better.",
        legend(summary.readings) + draw_refusal(summary.refusal),
        [("", "Answered, %"), *readings],
        [
            row(
                number(summary.refusal[0].coverage[i], 0),
                (("number", number(r.risk[i])) for r in summary.refusal),
            )
            for i in grid
        ],
    )
    pictures = "\n".join([recall, reliability, refusal, _curve_numbers(summary)])
    return section("Candidates and confidence", f'<div class="pictures">\n{pictures}\n</div>')


def _curve_numbers(summary: Summary) -> str:
    k = len(summary.recall[summary.readings[0]])
    found = {
        "Recall of 1 candidate, %": [number(summary.recall[r][0]) for r in summary.readings],
        f"Recall of {k} candidates, %": [number(summary.recall[r][-1]) for r in summary.readings],
        "Calibration error (ECE)": [_decimals(one.ece, 4) for one in summary.trust],
        "AURC": [_decimals(one.area, 4) for one in summary.refusal],
        "AURC above that of a perfect order": [_decimals(r.excess, 4) for r in summary.refusal],
    }
    rows = [row(title, (("number", cell) for cell in cells)) for title, cells in found.items()]
    head = [("", ""), *(("number", name.capitalize()) for name in summary.readings)]
    return f"<figure>\n<h3>In numbers</h3>\n{table(head, rows, name='In numbers')}</figure>"


def _figure(
    title: str, caption: str, picture: str, head: list[tuple[str, str]], rows: list[str]
) -> str:
    numbers = (
        f"<details><summary>Numbers</summary>{table(head, rows, name=title)}</details>"
        if rows
        else ""
    )
    return (
        f"<figure>\n<h3>{title}</h3>\n{picture}\n"
        f"<figcaption>{caption}</figcaption>\n{numbers}</figure>"
    )


def _rules(summary: Summary) -> str:
    rules = "".join(f"<li>{clean(rule)}</li>" for rule in summary.rules)
    return section("Rules of the protocol", f"<ol>{rules}</ol>")


def _prints(summary: Summary) -> str:
    rows = [row(clean(name), [("", clean(value))]) for name, value in summary.fingerprints.items()]
    return section(
        "What was evaluated",
        '<p class="explain">Digests are SHA-256. The same inputs, seed and version give this page '
        "again, byte by byte.</p>",
        table([("", ""), ("", "")], rows, style="prints", name="Fingerprints"),
    )


def _decimals(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "n/a"
