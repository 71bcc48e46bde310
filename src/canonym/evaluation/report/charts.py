"""Charts as inline SVG: no script, no font, no file beside the page.

A chart is drawn for a width of 360 units, which is about a phone's, so that its letters stay
readable there; wider screens show two beside each other. What is read off a chart by eye is also in
its titles, which screen readers speak and a pointer shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

from canonym.evaluation.report.summary import Summary

# --- drawing ---

WIDTH, HEIGHT = 360, 250
LEFT, RIGHT, TOP, BOTTOM = 40, 20, 26, 40

_MARKERS: dict[str, Callable[[float, float], str]] = {
    "circle": lambda x, y: f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>',
    "square": lambda x, y: f'<rect x="{x - 2.8:.1f}" y="{y - 2.8:.1f}" width="5.6" height="5.6"/>',
    "triangle": lambda x, y: (
        f'<path d="M{x:.1f} {y - 3.8:.1f}L{x + 3.6:.1f} {y + 2.8:.1f}H{x - 3.6:.1f}Z"/>'
    ),
}


class Line(NamedTuple):
    """A line of a chart.

    Attributes
    ----------
    name : str
        What the legend calls it.
    style : str
        Class of the style sheet that colours it.
    marker : str
        ``"circle"``, ``"square"`` or ``"triangle"``; nothing draws no markers.
    points : sequence of (float, float)
        In the units of the axes; points that are not finite are left out.
    """

    name: str
    style: str
    marker: str
    points: Sequence[tuple[float, float]]


class Chart:
    """An axis frame that shapes are put into.

    Parameters
    ----------
    x, y : (float, float)
        Ranges of the axes.
    x_ticks, y_ticks : sequence of (float, str)
        Where ticks are and what stands there.
    x_label, y_label : str
        What the axes show.
    """

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        x_ticks: Sequence[tuple[float, str]],
        y_ticks: Sequence[tuple[float, str]],
        x_label: str,
        y_label: str,
    ) -> None:
        self._x, self._y = x, y
        self._parts: list[str] = []
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        for value, text in y_ticks:
            at = self.y(value)
            self._parts.append(
                f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>'
                f'<text class="tick" x="{LEFT - 6}" y="{at + 3.6:.1f}" text-anchor="end">'
                f"{escape(text)}</text>"
            )
        for value, text in x_ticks:
            at = self.x(value)
            self._parts.append(
                f'<text class="tick" x="{at:.1f}" y="{bottom + 14}" text-anchor="middle">'
                f"{escape(text)}</text>"
            )
        self._parts.append(
            f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
            f'<text class="label" x="{(LEFT + right) / 2:.1f}" y="{HEIGHT - 8}" '
            f'text-anchor="middle">{escape(x_label)}</text>'
            f'<text class="label" x="0" y="10">{escape(y_label)}</text>'
        )

    def x(self, value: float) -> float:
        """Return where a value of the first axis is."""
        low, high = self._x
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Return where a value of the second axis is."""
        low, high = self._y
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    def add_line(self, line: Line, title: Callable[[float, float], str]) -> None:
        """Draw a line; `title` says what stands at a point."""
        points = [(x, y) for x, y in line.points if math.isfinite(x) and math.isfinite(y)]
        if not points:
            return
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        shapes = [f'<polyline class="line" points="{path}"/>']
        if line.marker:
            draw = _MARKERS[line.marker]
            shapes += [
                f"<g><title>{escape(title(x, y))}</title>{draw(self.x(x), self.y(y))}</g>"
                for x, y in points
            ]
        self._parts.append(f'<g class="{line.style}">{"".join(shapes)}</g>')

    def add_guide(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw a dashed line to compare with."""
        (x1, y1), (x2, y2) = start, end
        self._parts.append(
            f'<line class="guide" x1="{self.x(x1):.1f}" y1="{self.y(y1):.1f}" '
            f'x2="{self.x(x2):.1f}" y2="{self.y(y2):.1f}"/>'
        )

    def add_bar(self, x: tuple[float, float], y: float, *, style: str, title: str) -> None:
        """Draw a bar from the first axis up to `y`."""
        left, right = self.x(x[0]) + 1.5, self.x(x[1]) - 1.5
        top = self.y(y)
        self._parts.append(
            f'<g class="{style}"><title>{escape(title)}</title><rect class="bar" x="{left:.1f}" '
            f'y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{HEIGHT - BOTTOM - top:.1f}"/></g>'
        )

    def add_whisker(self, x: float, low: float, high: float) -> None:
        """Draw an interval."""
        self._parts.append(
            f'<line class="whisker" x1="{self.x(x):.1f}" x2="{self.x(x):.1f}" '
            f'y1="{self.y(low):.1f}" y2="{self.y(high):.1f}"/>'
        )

    def draw(self, title: str, description: str) -> str:
        """Return the chart; both texts are for those who do not see it."""
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(title)}. {escape(description)}">{"".join(self._parts)}</svg>'
        )


def bar_row(values: Iterable[tuple[str, float, float, float, str]]) -> str:
    """Draw bars from 0 to 1 below each other, each with its interval, for the cell of a table.

    Parameters
    ----------
    values : iterable of (str, float, float, float, str)
        Style, value, interval and title of each bar; NaN leaves its place free.
    """
    parts, height = [], 2.0
    for style, value, low, high, title in values:
        if math.isfinite(value):
            shapes = (
                f'<rect class="bar" x="0" y="{height:.0f}" width="{200 * value:.1f}" height="7"/>'
            )
            if math.isfinite(low) and math.isfinite(high):
                middle = height + 3.5
                shapes += (
                    f'<line class="whisker" x1="{200 * low:.1f}" x2="{200 * high:.1f}" '
                    f'y1="{middle}" y2="{middle}"/>'
                )
            parts.append(f'<g class="{style}"><title>{escape(title)}</title>{shapes}</g>')
        height += 9
    marks = "".join(
        f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{height:.0f}"/>' for x in (50, 100, 150)
    )
    return (
        f'<svg class="bars" viewBox="0 0 200 {height:.0f}" preserveAspectRatio="none" '
        f'aria-hidden="true" style="height:{height:.0f}px">'
        f'<rect class="ground" width="200" height="{height:.0f}"/>{marks}{"".join(parts)}</svg>'
    )


def percent(value: float, digits: int = 1) -> str:
    """Write a share as a percentage without its sign, "n/a" where it is not defined."""
    return f"{100 * value:.{digits}f}" if math.isfinite(value) else "n/a"


def nice_ceiling(value: float) -> float:
    """Return the least of 0.01, 0.02, 0.05, 0.1, 0.2, 0.5 and 1 that is not below a share."""
    return next((step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if step >= value), 1.0)


def clean(text: object) -> str:
    """Escape a text for HTML; what HTML cannot hold becomes U+FFFD."""
    said = "".join(
        "\ufffd" if 0xD800 <= ord(c) < 0xE000 or (ord(c) < 32 and c not in "\t\n") else c
        for c in str(text)
    )
    return escape(said)


# --- charts ---
# MODULE: The charts of a page: candidates found, scores against accuracy, risk against coverage.

_CHARTS_MARKERS = {"lenient": "circle", "strict": "square", "complete": "triangle"}
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
            Line(reading, reading, _CHARTS_MARKERS[reading], points),
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
