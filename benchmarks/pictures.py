"""Draw the pictures of results into the docs: ``python benchmarks/pictures.py``.

Figure 1 of the few-shot paper, and figures 2 and 3 of BioSyn, as far as their results are there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from record import RESULTS, ROOT

METHODS = ROOT / "docs" / "methods"
COLOURS = ("#00796b", "#d55e00", "#0072b2", "#7a6a00")


class Line(NamedTuple):
    """Points ``(x, y, low, high)`` under a label; the bounds may be None."""

    label: str
    points: tuple[tuple[float, float, float | None, float | None], ...]


class Panel(NamedTuple):
    """Lines over one axis, levels across all of it, and single points of the paper."""

    title: str
    x: str
    lines: tuple[Line, ...]
    levels: tuple[tuple[str, float], ...] = ()
    published: tuple[tuple[str, float, float], ...] = ()


@contextmanager
def figure(path: Path, panels: int, *, width: float = 3.2) -> Iterator[Any]:
    """Give the axes of a row of panels, and write them as SVG: the same axes, the same bytes."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "canonym", "svg.fonttype": "none", "font.size": 9}):
        drawn = Figure(figsize=(width * panels, 3), layout="constrained")
        yield drawn.subplots(1, panels, squeeze=False)[0]
        drawn.savefig(path, metadata={"Date": None})


def draw(path: Path, panels: list[Panel]) -> None:
    """Draw panels into an SVG file."""
    with figure(path, len(panels), width=4.4) as row:
        for axes, panel in zip(row, panels, strict=True):
            for colour, line in zip(COLOURS, panel.lines, strict=False):
                xs, ys, lows, highs = zip(*line.points, strict=True)
                axes.plot(xs, ys, "o-", color=colour, label=line.label, markersize=4)
                if None not in lows + highs:
                    axes.fill_between(xs, lows, highs, color=colour, alpha=0.15, linewidth=0)
            for style, (label, y) in zip(("--", ":"), panel.levels, strict=False):
                axes.axhline(y, color="#666666", linestyle=style, linewidth=1, label=label)
            for marker, (label, x, y) in zip("D^", panel.published, strict=False):
                axes.plot([x], [y], marker, color="#333333", label=label, markersize=5)
            axes.set(xlabel=panel.x, title=panel.title)
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid(alpha=0.3)
            axes.legend(fontsize=7, frameon=False)


# --- few-shot names -------------------------------------------------------------------------------

_NAMES = re.compile(r"(?P<test>.+?): (?:words, ICD-10, )?(?P<n>\d+) names?")


def few_shot(results: Path = RESULTS) -> list[Panel]:
    """Return correlations over the number of names of each chapter, a panel for each test."""
    rows = {row["name"]: row for row in _rows(results, "few-shot-curve", "few-shot-train")}
    points: dict[str, list[tuple[float, float, float, float]]] = {}
    published: dict[str, tuple[tuple[str, float, float], ...]] = {}
    for name, row in rows.items():
        if (found := _NAMES.fullmatch(name)) and row["value"] is not None:
            test, n = found["test"], int(found["n"])
            points.setdefault(test, []).append((n, row["value"], row["low"], row["high"]))
            if "published" in row:
                published[test] = (("head, paper", n, row["published"]),)
    panels = []
    for test, line in points.items():
        base = rows[f"{test}: word vectors"]
        lines = [Line("head", tuple(sorted(line)))]
        averaging = rows.get(f"{test}: deep averaging network, 15 names")
        if averaging and averaging["value"] is not None:
            last = (15, averaging["value"], averaging["low"], averaging["high"])
            lines.append(Line("deep averaging network", (last,)))
        levels = (("word vectors", base["value"]), ("word vectors, paper", base["published"]))
        x = "names of each chapter"
        title = f"{test}: Spearman's ρ"
        panels.append(Panel(title, x, tuple(lines), levels, published.get(test, ())))
    return panels


# --- BioSyn ---------------------------------------------------------------------------------------

_ALPHA = {
    "alpha 0": "n-grams alone (α = 0)",
    "alpha 0.5": "both (α = 0.5)",
    "alpha 1": "encoder alone (α = 1)",
}


def biosyn(results: Path = RESULTS) -> list[Panel]:
    """Return the recall of 20 candidates by epoch, and accuracy by the number of candidates."""
    lines = []
    for alpha, shares in _recalls(results).items():
        points = tuple((epoch, share, None, None) for epoch, share in enumerate(shares))
        lines.append(Line(_ALPHA[alpha], points))
    x = "epochs trained"
    panels = [Panel("right among 20 candidates, %", x, tuple(lines))] if lines else []
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for row in _rows(results, "biosyn-candidates"):
        if row["name"].startswith("k ") and row["value"] is not None:
            k = int(row["name"].removeprefix("k "))
            found.setdefault(row["metric"], []).append((k, row["value"], row["low"], row["high"]))
    by_k = tuple(Line(metric, tuple(sorted(points))) for metric, points in found.items())
    return [*panels, *([Panel("accuracy, %", "candidates in training (k)", by_k)] if by_k else [])]


def _recalls(results: Path) -> dict[str, list[float]]:
    """Return percent of dev mentions by epochs trained, for each share of dense candidates."""
    trained: Mapping[str, Any] = _read(results, "biosyn-candidates").get("trained", {})
    models = {alpha: trained.get(re.sub(r"[ .]", "-", alpha), {}) for alpha in _ALPHA}
    return {
        alpha: [100 * share for share in facts["recall"]["dev"]]
        for alpha, facts in models.items()
        if "recall" in facts
    }


def _read(results: Path, name: str) -> dict[str, Any]:
    path = results / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _rows(results: Path, *names: str) -> list[dict[str, Any]]:
    """Return the rows of the first result that there is."""
    return next((found["rows"] for name in names if (found := _read(results, name))), [])


if __name__ == "__main__":
    for place, of in (("few-shot-names.svg", few_shot()), ("biosyn-candidates.svg", biosyn())):
        if of:
            draw(METHODS / place, of)
