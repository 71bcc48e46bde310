"""Pieces of HTML that the sections of a page share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from canonym.evaluation.comparison import Comparison, Contrast
from canonym.evaluation.error_kinds import PUBLISHED
from canonym.evaluation.figures import Figure
from canonym.evaluation.report.charts import (
    bar_row,
    clean,
    draw_recall,
    draw_refusal,
    draw_trust,
    percent,
)
from canonym.evaluation.report.summary import ErrorCount, Summary
from canonym.evaluation.report.wrong_answers import WrongTimes
from canonym.evaluation.statistics import SMALL
from canonym.io.files import write_file

# --- layout ---

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


# --- sections ---
# MODULE: Sections of a page that list things: other tools, errors, and what was not asked.

_UNKNOWN = 30


def comparison_section(summary: Summary) -> str:
    """Compare with other tools; nothing if there are none."""
    if not summary.comparisons:
        return ""
    rows = [
        _contrast(one, reading, contrast)
        for one in summary.comparisons
        for reading, contrast in one.contrasts.items()
    ]
    head = [
        *(("", "Tool"), ("", "Reading"), ("", "Ours"), ("", "Theirs")),
        *(("", "Ours − theirs"), ("number", "p, bootstrap"), ("number", "p, McNemar")),
        ("number", "Only ours right"),
        ("number", "Only theirs"),
    ]
    return section(
        "Beside other tools",
        '<p class="explain">Accuracy of the first answer on the same mentions, in percent, and the '
        "difference in points. The tests are two-sided: the paired bootstrap, and McNemar’s exact "
        "test of the mentions that only one of the two has right. What a tool does not answer "
        "counts as NIL.</p>",
        table(head, rows, name="Beside other tools"),
    )


def _contrast(one: Comparison, reading: str, contrast: Contrast) -> str:
    gap = contrast.difference
    between = f"{100 * gap.low:+.1f} to {100 * gap.high:+.1f}"
    said = f'{100 * gap.value:+.1f} <span class="range">{between}</span>'
    return row(
        clean(one.name),
        [
            ("", clean(reading)),
            ("", ranged(contrast.ours)),
            ("", ranged(contrast.theirs)),
            ("", said),
            ("number", p_value(gap.p)),
            ("number", p_value(contrast.test.p)),
            ("number", f"{contrast.test.only_first:,}"),
            ("number", f"{contrast.test.only_second:,}"),
        ],
    )


def error_section(summary: Summary) -> str:
    """Sort the errors, and describe the surest of them."""
    totals = {name: sum(one.counts[name] for one in summary.errors) for name in summary.readings}
    if not any(totals.values()):
        return section("Errors", "<p>There is none.</p>")
    head = [("", "Kind"), *(("number", name.capitalize()) for name in summary.readings)]
    head += [("wide-only", "Example: mention → answer, right")]
    rows = [_kind(one, totals) for one in summary.errors if _shown(one)]
    rows.append(row("All", [*(("number", f"{n:,}") for n in totals.values()), ("wide-only", "")]))
    return section(
        "Errors by kind",
        '<p class="explain">The kinds of Sung et al. (2020), assigned by rule from names and '
        "hierarchy; people who read the text sort some of them otherwise.</p>",
        table(head, rows, style="kinds", name="Errors by kind"),
        _hierarchy(summary),
        _worst(summary),
    )


def _shown(one: ErrorCount) -> bool:
    return one.kind in PUBLISHED or any(one.counts.values())


def _kind(one: ErrorCount, totals: dict[str, int]) -> str:
    cells = []
    for reading, n in one.counts.items():
        share = f' <span class="range">{percent(n / totals[reading])}\u00a0%</span>' if n else ""
        cells.append(("number", f"{n:,}{share}"))
    example = ""
    if one.example is not None:
        answer = "NIL" if one.example.predicted is None else one.example.matched
        right = "; ".join(g.label or g.id for g in one.example.gold) or "NIL"
        example = f"{clean(one.example.mention)} → {clean(answer)}, <em>{clean(right)}</em>"
    title = f'{one.kind.capitalize()}<span class="meaning">{one.meaning}</span>'
    return row(title, [*cells, ("wide-only", example)], style="" if example else "zero")


def _hierarchy(summary: Summary) -> str:
    found = summary.hierarchy
    if found is None:
        return (
            '<p class="explain">The terminology has no hierarchy, so words alone say what is more '
            "general and what more specific.</p>"
        )
    if not found.n:
        return ""
    counts = ", ".join(f"{kind} {n:,}" for kind, n in found.counts.items() if n)
    mean = f"{found.mean_distance:.2f}" if math.isfinite(found.mean_distance) else "n/a"
    return (
        f"<p>In the hierarchy the wrong concepts ({summary.worst_reading} reading) are, of the "
        f"right one: {counts}. Mean distance in edges: {mean}; {found.n_unconnected:,} without a "
        "common ancestor.</p>"
    )


def _worst(summary: Summary) -> str:
    cases = "\n".join(_case(one) for one in summary.worst)
    return (
        f"<h3>Surest of the wrong answers</h3>\n"
        f'<p class="explain">By score, {summary.worst_reading} reading; equal mistakes together.'
        f"</p>\n{cases}"
    )


def _case(group: WrongTimes) -> str:
    one = group.answer
    score = f"{one.score:.3f}" if math.isfinite(one.score) else "n/a"
    where = f"document {one.document}" if one.document else ""
    if one.start is not None:
        where += f", {one.start}–{one.end}"
    if group.n > 1:
        where += f"; {group.n:,} mentions in all"
    right = "; ".join(map(str, one.gold)) or "NIL"
    answer = "NIL" if one.predicted is None else str(one.predicted)
    return (
        f'<div class="case"><div class="score">{score}</div><div>'
        f'<p class="quote">{clean(one.mention)}<span class="tag">{one.kind}</span></p>'
        f"<p>Answer: {clean(answer)}</p><p>Right: {clean(right)}</p>"
        f'<p class="explain">{clean(one.explanation)}</p>'
        f'<p class="where">{clean(where)}</p></div></div>'
    )


def left_out_section(summary: Summary) -> str:
    """List what was not asked and what is odd."""
    rows = []
    for one in summary.left_out:
        some = ", ".join(f"“{clean(text)}”" for text, _ in one.examples)
        rows.append(
            row(
                clean(one.reason[:1].upper() + one.reason[1:]),
                [
                    ("number", f"{one.n:,}"),
                    ("", some + (", …" if one.n > len(one.examples) else "")),
                ],
            )
        )
    listed = (
        table(
            [("", "Mentions left out"), ("number", "n"), ("", "Such as")],
            rows,
            name="Mentions left out",
        )
        if rows
        else "<p>Every mention of the corpus was asked.</p>"
    )
    remarks = "".join(f"<li>{clean(remark)}.</li>" for remark in summary.remarks)
    return section(
        "What was not asked, and what is odd",
        listed,
        f"<ul>{remarks}</ul>" if remarks else "",
        _unknown(summary),
    )


def _unknown(summary: Summary) -> str:
    if not summary.unknown:
        return ""
    some = list(summary.unknown.items())[:_UNKNOWN]
    rest = len(summary.unknown) - len(some)
    said = ", ".join(f"{clean(id_)} ({n:,})" for id_, n in some)
    more = f" and {rest:,} more" if rest else ""
    return (
        f"<details><summary>Ids that the terminology does not have: {len(summary.unknown):,}"
        f"</summary><p>{said}{more}.</p></details>"
    )


# --- page ---
# MODULE: The report as one HTML page that needs nothing beside itself: no network, no script, no font.

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
