"""Numbers on the pages of the methods come from result files, or are marked as the paper's.

Decimals are checked, and of whole numbers those that say what was measured: counts of counts,
percentages, points, and numbers of a thousand or more. Settings stand in the experiments.
"""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from record import RESULTS
from reproduce.files import EXPERIMENTS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))
UNRECORDED = {"biosyn-train"}
"""Results of a time when no machine was written down; the commit is the one that stored them."""

# Tables that are filled from a result of another name.
_OTHER = {
    "biosyn-recall": "biosyn-weak",
    "biosyn-watched": "biosyn-candidates",
    "few-shot-training": "few-shot-curve",
    "few-shot-watched": "few-shot-curve",
    "relation-classes": "relation_classes",
    "dilbert-speed": "scaling",
    "search-ranks": "triplet-train",
}
_BLOCK = re.compile(r"<!-- results: ([\w-]+) -->.*?<!-- end of results -->", re.DOTALL)
_NAMED = re.compile(r"`(?:benchmarks/)?([\w-]+)(?:\.py|\.toml)?`|reproduce ([\w-]+)")
_NO_FIGURES = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|<!--.*?-->", re.DOTALL)
_DECIMAL = re.compile(r"(?<![\w.,-])\d[\d,]*\.\d+")
_WHOLE = re.compile(
    r"(?<![\w.,/-])(?:(\d+) of (\d+)(?![\d,.]*\d)|(\d+)(?= ?%| points)"
    r"|(\d{1,3}(?:,\d{3})+)(?!\.?\d))"
)
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,_]*(?![\w.]*\d)")


def results_of(page: Path) -> set[str]:
    """Return the results that a page shows, that it names, or that a comment names."""
    text = page.read_text(encoding="utf-8")
    names = {_OTHER.get(name, name) for name in _BLOCK.findall(text)}
    names |= {one or other for one, other in _NAMED.findall(text)}
    names |= set(_comment("figures of", text))
    return {name for name in names if (RESULTS / f"{name}.json").is_file()}


def _comment(what: str, text: str) -> list[str]:
    """Return the words of ``<!-- figures of: … -->`` or ``<!-- figures of the paper: … -->``."""
    return " ".join(re.findall(rf"<!-- {what}: (.*?) -->", text, re.DOTALL)).split()


def numbers(content: Any) -> Iterator[float]:
    if isinstance(content, dict | list):
        for one in content.values() if isinstance(content, dict) else content:
            yield from numbers(one)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield abs(float(content))


def unexplained(text: str, known: set[str]) -> list[str]:
    """Return the figures of a page outside of its tables that are not known."""
    prose = _NO_FIGURES.sub(" ", _BLOCK.sub(" ", text))
    figures = [*_DECIMAL.findall(prose), *filter(None, sum(_WHOLE.findall(prose), ()))]
    papers = set(_comment("figures of the paper", text))
    plain = (figure.replace(",", "") for figure in figures)
    return [figure for figure in plain if figure not in known | papers]


def counts(name: str) -> set[str]:
    """Return the whole numbers in the words of a result, and in the settings of its experiment."""
    texts = [(RESULTS / f"{name}.json").read_text(encoding="utf-8")]
    if (EXPERIMENTS / f"{name}.toml").is_file():
        texts.append((EXPERIMENTS / f"{name}.toml").read_text(encoding="utf-8"))
    return {re.sub("[,_]", "", match) for text in texts for match in _NUMBER.findall(text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_are_measured_or_of_the_paper(page: Path) -> None:
    names = results_of(page)
    known = {
        f"{factor * number:.{digits}f}"
        for name in names
        for number in numbers(json.loads((RESULTS / f"{name}.json").read_text("utf-8")))
        for factor in (1, 100)
        for digits in (0, 1, 2, 3)
    }
    known |= {count for name in names for count in counts(name)}
    assert not unexplained(page.read_text(encoding="utf-8"), known)


def test_a_figure_without_a_source_is_told() -> None:
    text = "It has 71.4 and 12.5, `0.3`.\n<!-- figures of the paper: 66.4 -->\nThey have 66.4.\n"
    assert unexplained(text, {"71.4"}) == ["12.5"]
    text = "37 of 177 are wrong (21 %), by 3 points and 4,178 mentions, in 250 steps of table 2."
    assert unexplained(text, {"37", "21"}) == ["177", "3", "4178"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_results_of_the_pages_have_commit_and_machine(page: Path) -> None:
    for name in results_of(page):
        result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        assert re.fullmatch("[0-9a-f]{7,40}", result["commit"]), name
        recorded = result["machine"]["processor"] != "not recorded"
        assert recorded != (name in UNRECORDED), name


def test_tables_of_other_names_are_known() -> None:
    macro_of = runpy.run_path(str(ROOT / "benchmarks" / "tables.py"))["macro_of"]
    assert all(map(macro_of, _OTHER))
