"""Pictures of results: the points are those of the rows, and the same rows give the same bytes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from pictures import METHODS, Panel, biosyn, draw, few_shot
from record import RESULTS


def row(name: str, value: float | None, metric: str = "spearman", **more: Any) -> dict[str, Any]:
    bounds = {"low": None, "high": None}
    if value is not None:
        bounds = {"low": value - 0.1, "high": value + 0.1}
    return {"name": name, "metric": metric, "value": value, **bounds, **more}


def write(folder: Path, name: str, **content: Any) -> None:
    (folder / f"{name}.json").write_text(json.dumps(content))


def points(panel: Panel, label: str) -> list[tuple[float, ...]]:
    (line,) = (one for one in panel.lines if one.label == label)
    return [(x, round(y, 6)) for x, y, _, _ in line.points]


def test_correlations_by_the_number_of_names(tmp_path: Path) -> None:
    assert few_shot(tmp_path) == []
    old = [
        row("A: word vectors", 0.3, published=0.44),
        row("A: words, ICD-10, 15 names", 0.4, published=0.55),
        row("A: words, ICD-10, 2 names", 0.2),
        row("A: MiniLM, ICD-10", 0.9),
    ]
    write(tmp_path, "few-shot-train", rows=old)
    (panel,) = few_shot(tmp_path)
    assert points(panel, "head") == [(2, 0.2), (15, 0.4)]
    assert panel.levels == (("word vectors", 0.3), ("word vectors, paper", 0.44))
    assert panel.published == (("head, paper", 15, 0.55),)
    new = [
        *(row(f"{test}: word vectors", 0.1, published=0.5) for test in "BC"),
        *(row(f"{test}: 1 name", 0.25) for test in "BC"),
        row("B: 7 names", 0.35),
        row("C: 7 names", None),
        row("B: deep averaging network, 15 names", 0.15, published=0.67),
    ]
    write(tmp_path, "few-shot-curve", rows=new)
    first, second = few_shot(tmp_path)
    assert points(first, "head") == [(1, 0.25), (7, 0.35)]
    assert points(first, "deep averaging network") == [(15, 0.15)]
    assert points(second, "head") == [(1, 0.25)]
    assert [line.label for line in second.lines] == ["head"]


def test_candidates_by_epoch_and_by_number(tmp_path: Path) -> None:
    assert biosyn(tmp_path) == []
    rows = [row(f"k {k}", 0.5 * k, metric) for k in (20, 5) for metric in ("accuracy@1", "@5")]
    trained = {"alpha-0-5": {"recall": {"dev": [0.7, 0.8, 0.9]}}, "alpha-1": {"seconds": 3}}
    write(tmp_path, "biosyn-candidates", rows=[*rows, row("alpha 1", 99.0)], trained=trained)
    recall, by_k = biosyn(tmp_path)
    assert [line.label for line in recall.lines] == ["both (α = 0.5)"]
    assert points(recall, "both (α = 0.5)") == [(0, 70), (1, 80), (2, 90)]
    assert points(by_k, "accuracy@1") == points(by_k, "@5") == [(5, 2.5), (20, 10)]


@pytest.mark.parametrize(("name", "made"), [("few-shot-names", few_shot), ("biosyn", biosyn)])
def test_the_same_results_give_the_same_bytes(name: str, made: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra analysis")
    panels = made(RESULTS)
    for number in (1, 2):
        draw(tmp_path / f"{name}-{number}.svg", panels)
    one, two = ((tmp_path / f"{name}-{number}.svg").read_bytes() for number in (1, 2))
    assert one == two
    words = set("".join(ET.fromstring(one).itertext()).split("\n"))
    texts = {word.strip() for word in words}
    for panel in panels:
        assert {panel.x, panel.title, *(line.label for line in panel.lines)} <= texts


def test_the_pages_show_the_present_results() -> None:
    for name, panels in (("few-shot-names", few_shot()), ("biosyn-candidates", biosyn())):
        drawn = (METHODS / f"{name}.svg").read_text(encoding="utf-8")
        for panel in panels:
            assert panel.title in drawn, "run: python benchmarks/pictures.py"
            assert all(line.label in drawn for line in panel.lines), "run benchmarks/pictures.py"
