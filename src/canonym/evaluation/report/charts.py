"""The charts of a page: candidates found, scores against accuracy, risk against coverage."""

from __future__ import annotations

import math

from canonym.evaluation.report.curves import Refusal, Trust
from canonym.evaluation.report.drawing import Chart, Line, nice_ceiling, percent
from canonym.evaluation.report.summary import Summary

__all__ = ["draw_recall", "draw_refusal", "draw_trust"]

_MARKERS = {"lenient": "circle", "strict": "square", "complete": "triangle"}
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw_recall(summary: Summary) -> str:
    """Draw how many right concepts are among the first candidates."""
    known = [value for line in summary.recall.values() for value in line if math.isfinite(value)]
    k = max(len(line) for line in summary.recall.values())
    low = math.floor(min(known, default=0.0) * 10 - 1e-9) / 10
    low = max(min(low, 0.9), 0.0)
    steps = max(round((1 - low) * 10), 1)
    stride = 1 if steps <= 5 else 2
    ticks = [(1 - i / 10, f"{100 - 10 * i} %") for i in range(0, steps + 1, stride)]
    chart = Chart(
        (0.5, k + 0.5),
        (low, 1.0),
        x_ticks=[(place, str(place)) for place in range(1, k + 1) if place == 1 or place % 5 == 0],
        y_ticks=ticks,
        x_label="candidates read (k)",
        y_label="right concepts among them",
    )
    for reading, values in summary.recall.items():
        points = list(zip(range(1, k + 1), values, strict=False))
        chart.add_line(
            Line(reading, reading, _MARKERS[reading], points),
            lambda x, y, reading=reading: f"{reading}: {percent(y)} % at k = {x:.0f}",  # type: ignore[misc]
        )
    said = "; ".join(
        f"{reading} {percent(values[0])} % at 1, {percent(values[-1])} % at {len(values)}"
        for reading, values in summary.recall.items()
    )
    return chart.draw("Recall of the candidates", said)


def draw_trust(trust: Trust) -> str:
    """Draw the accuracy of mentions by their score; nothing where scores are no probabilities."""
    if not trust.bins:
        return ""
    chart = Chart(
        (0.0, 1.0),
        (0.0, 1.0),
        x_ticks=[(value, f"{value:g}") for value in (0, 0.2, 0.4, 0.6, 0.8, 1.0)],
        y_ticks=[(value, f"{100 * value:.0f} %") for value in _SHARES],
        x_label="score",
        y_label="right mentions",
    )
    for one in trust.bins:
        if one.n:
            title = (
                f"scores {one.low:g} to {one.high:g}: {one.n:,} mentions, mean score "
                f"{one.confidence:.3f}, {percent(one.accuracy)} % right"
            )
            chart.add_bar((one.low, one.high), one.accuracy, style=trust.reading, title=title)
            middle = (one.low + one.high) / 2
            chart.add_whisker(middle, one.accuracy_low, one.accuracy_high)
    chart.add_guide((0.0, 0.0), (1.0, 1.0))
    return chart.draw(
        "Reliability", f"expected calibration error {trust.ece:.3f} over ten bins of equal width"
    )


def draw_refusal(refusal: tuple[Refusal, ...]) -> str:
    """Draw the share of errors among the surest mentions."""
    top = nice_ceiling(max(max(one.risk) for one in refusal))
    chart = Chart(
        (0.0, 1.0),
        (0.0, top),
        x_ticks=[(value, f"{100 * value:.0f} %") for value in _SHARES],
        y_ticks=[(top * i / 5, f"{100 * top * i / 5:.3g} %") for i in range(6)],
        x_label="mentions answered, surest first",
        y_label="wrong among them",
    )
    for one in refusal:
        points = list(zip(one.coverage, one.risk, strict=True))
        chart.add_line(Line(one.reading, one.reading, "", points), lambda x, y: "")  # noqa: ARG005
    said = "; ".join(f"{one.reading} area {one.area:.4f}" for one in refusal)
    return chart.draw("Risk and coverage", said)
