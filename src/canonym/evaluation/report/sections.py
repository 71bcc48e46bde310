"""Sections of a page that list things: other tools, errors, and what was not asked."""

from __future__ import annotations

import math

from canonym.evaluation.comparison import Comparison, Contrast
from canonym.evaluation.error_kinds import PUBLISHED
from canonym.evaluation.report.drawing import clean, percent
from canonym.evaluation.report.layout import p_value, ranged, row, section, table
from canonym.evaluation.report.summary import ErrorCount, Summary
from canonym.evaluation.report.wrong_answers import WrongTimes

__all__ = ["comparison_section", "error_section", "left_out_section"]

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
