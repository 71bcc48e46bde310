"""Charts of a report as inline SVG.

A chart is 360 units wide, about a phone, so that its letters stay readable there. Wider
screens show two charts side by side. Titles repeat the values in words for screen readers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape

from canonym.evaluation.report.summary import Refusal, Summary, Trust, percent
from canonym.evaluation.slices import Figure

WIDTH, HEIGHT = 360, 250
LEFT, RIGHT, TOP, BOTTOM = 40, 20, 26, 40

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_MARKERS: dict[str, Callable[[float, float], str]] = {
    "lenient": lambda x, y: f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>',
    "strict": lambda x, y: f'<rect x="{x - 2.8:.1f}" y="{y - 2.8:.1f}" width="5.6" height="5.6"/>',
    "complete": lambda x, y: (
        f'<path d="M{x:.1f} {y - 3.8:.1f}L{x + 3.6:.1f} {y + 2.8:.1f}H{x - 3.6:.1f}Z"/>'
    ),
}


class Chart:
    """Two axes with ticks, and shapes between them."""

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        x_ticks: Iterable[tuple[float, str]],
        y_ticks: Iterable[tuple[float, str]],
        x_label: str,
        y_label: str,
    ) -> None:
        self._x, self._y = x, y
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        self._parts = [
            f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{self.y(value):.1f}" '
            f'y2="{self.y(value):.1f}"/><text class="tick" x="{LEFT - 6}" '
            f'y="{self.y(value) + 3.6:.1f}" text-anchor="end">{text}</text>'
            for value, text in y_ticks
        ]
        self._parts += [
            f'<text class="tick" x="{self.x(value):.1f}" y="{bottom + 14}" '
            f'text-anchor="middle">{text}</text>'
            for value, text in x_ticks
        ]
        self._parts.append(
            f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
            f'<text class="label" x="{(LEFT + right) / 2:.1f}" y="{HEIGHT - 8}" '
            f'text-anchor="middle">{x_label}</text>'
            f'<text class="label" x="0" y="10">{y_label}</text>'
        )

    def x(self, value: float) -> float:
        """Return the place of a value of the first axis."""
        low, high = self._x
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Return the place of a value of the second axis."""
        low, high = self._y
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    def add(self, shape: str, *, style: str = "", title: str = "") -> None:
        """Add a shape, with a class of the style sheet and a title."""
        name = f"<title>{escape(title)}</title>" if title else ""
        self._parts.append(f'<g class="{style}">{name}{shape}</g>')

    def line(self, points: Iterable[tuple[float, float]], *, style: str = "line") -> str:
        """Return a line through the points that are finite; nothing without such points."""
        places = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points if _finite(x, y))
        return f'<polyline class="{style}" points="{places}"/>' if places else ""

    def draw(self, title: str, description: str) -> str:
        """Return the chart; both texts are for people who do not see it."""
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(title)}. {escape(description)}">{"".join(self._parts)}</svg>'
        )


def draw_recall(summary: Summary) -> str:
    """Draw the recall of the first candidates."""
    known = [value for line in summary.recall.values() for value in line if math.isfinite(value)]
    k = max(len(line) for line in summary.recall.values())
    low = math.floor(min(known, default=0.0) * 10 - 1e-9) / 10
    low = max(min(low, 0.9), 0.0)
    steps = max(round((1 - low) * 10), 1)
    stride = 1 if steps <= 5 else 2
    chart = Chart(
        (0.5, k + 0.5),
        (low, 1.0),
        x_ticks=[(place, str(place)) for place in range(1, k + 1) if place == 1 or place % 5 == 0],
        y_ticks=[(1 - i / 10, f"{100 - 10 * i} %") for i in range(0, steps + 1, stride)],
        x_label="candidates read (k)",
        y_label="right concepts among them",
    )
    for reading, values in summary.recall.items():
        points = [(x, y) for x, y in enumerate(values, start=1) if math.isfinite(y)]
        marks = [
            f"<g><title>{reading}: {percent(y)} % at k = {x}</title>"
            f"{_MARKERS[reading](chart.x(x), chart.y(y))}</g>"
            for x, y in points
        ]
        chart.add(chart.line(points) + "".join(marks), style=reading)
    described = "; ".join(
        f"{reading} {percent(values[0])} % at 1, {percent(values[-1])} % at {len(values)}"
        for reading, values in summary.recall.items()
    )
    return chart.draw("Recall of the candidates", described)


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
    for bin_ in trust.bins:
        if bin_.n:
            left, right = chart.x(bin_.low) + 1.5, chart.x(bin_.high) - 1.5
            top, middle = chart.y(bin_.accuracy), (bin_.low + bin_.high) / 2
            chart.add(
                f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
                f'height="{HEIGHT - BOTTOM - top:.1f}"/>',
                style=trust.reading,
                title=f"scores {bin_.low:g} to {bin_.high:g}: {bin_.n:,} mentions, mean score "
                f"{bin_.confidence:.3f}, {percent(bin_.accuracy)} % right",
            )
            ends = [(middle, bin_.accuracy_low), (middle, bin_.accuracy_high)]
            chart.add(chart.line(ends, style="whisker"))
    chart.add(chart.line([(0.0, 0.0), (1.0, 1.0)], style="guide"))
    return chart.draw(
        "Reliability", f"expected calibration error {trust.ece:.3f} over ten bins of equal width"
    )


def draw_refusal(refusal: Sequence[Refusal]) -> str:
    """Draw the share of errors among the surest mentions."""
    worst = max(max(curve.risk) for curve in refusal)
    top = next((step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if step >= worst), 1.0)
    chart = Chart(
        (0.0, 1.0),
        (0.0, top),
        x_ticks=[(value, f"{100 * value:.0f} %") for value in _SHARES],
        y_ticks=[(top * i / 5, f"{100 * top * i / 5:.3g} %") for i in range(6)],
        x_label="mentions answered, surest first",
        y_label="wrong among them",
    )
    for curve in refusal:
        chart.add(chart.line(zip(curve.coverage, curve.risk, strict=True)), style=curve.reading)
    described = "; ".join(f"{curve.reading} area {curve.area:.4f}" for curve in refusal)
    return chart.draw("Risk and coverage", described)


def draw_bars(title: str, figures: Iterable[Figure | None]) -> str:
    """Draw bars from 0 to 1 below each other, each with its interval, for the cell of a table."""
    parts, height = [], 2.0
    for figure in filter(None, figures):
        if math.isfinite(figure.value):
            shapes = (
                f'<rect class="bar" x="0" y="{height:.0f}" width="{200 * figure.value:.1f}" '
                f'height="7"/>'
            )
            if _finite(figure.low, figure.high):
                shapes += (
                    f'<line class="whisker" x1="{200 * figure.low:.1f}" '
                    f'x2="{200 * figure.high:.1f}" y1="{height + 3.5}" y2="{height + 3.5}"/>'
                )
            name = (
                f"{title}, {figure.reading}: {percent(figure.value)} %, interval "
                f"{percent(figure.low)} to {percent(figure.high)}"
            )
            parts.append(f'<g class="{figure.reading}"><title>{escape(name)}</title>{shapes}</g>')
        height += 9
    marks = "".join(
        f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{height:.0f}"/>' for x in (50, 100, 150)
    )
    return (
        f'<svg class="bars" viewBox="0 0 200 {height:.0f}" preserveAspectRatio="none" '
        f'aria-hidden="true" style="height:{height:.0f}px">'
        f'<rect class="ground" width="200" height="{height:.0f}"/>{marks}{"".join(parts)}</svg>'
    )


def _finite(*values: float) -> bool:
    return all(map(math.isfinite, values))
