"""Numbers on the pages of the methods come from result files, or are marked as the paper's."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from record import RESULTS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))
UNRECORDED = {"biosyn-train", "dilbert-train", "triplet-train", "few-shot-train"}
"""Results of a time when no machine was written down; the commit is the one that stored them."""

# Tables that are filled from a result of another name.
_OTHER = {
    "biosyn-watched": "biosyn-candidates",
    "few-shot-training": "few-shot-curve",
    "few-shot-watched": "few-shot-curve",
    "search-ranks": "triplet-train",
}
_BLOCK = re.compile(r"<!-- results: ([\w-]+) -->.*?<!-- end of results -->", re.DOTALL)
_NAMED = re.compile(r"`(?:benchmarks/)?([\w-]+)(?:\.py|\.toml)?`|reproduce ([\w-]+)")
_NO_FIGURES = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|<!--.*?-->", re.DOTALL)
_DECIMAL = re.compile(r"(?<![\w.,-])\d[\d,]*\.\d+")


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
    """Return the decimals of a page outside of its tables that are not known."""
    prose = _NO_FIGURES.sub(" ", _BLOCK.sub(" ", text))
    found = [match.replace(",", "") for match in _DECIMAL.findall(prose)]
    papers = set(_comment("figures of the paper", text))
    return [one for one in found if one not in known and one not in papers]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_decimals_are_measured_or_of_the_paper(page: Path) -> None:
    known = {
        f"{factor * number:.{digits}f}"
        for name in results_of(page)
        for number in numbers(json.loads((RESULTS / f"{name}.json").read_text("utf-8")))
        for factor in (1, 100)
        for digits in (1, 2, 3)
    }
    assert not unexplained(page.read_text(encoding="utf-8"), known)


def test_a_decimal_without_a_source_is_told() -> None:
    text = "It has 71.4 and 12.5, `0.3`.\n<!-- figures of the paper: 66.4 -->\nThey have 66.4.\n"
    assert unexplained(text, {"71.4"}) == ["12.5"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_results_of_the_pages_have_commit_and_machine(page: Path) -> None:
    for name in results_of(page):
        result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        assert re.fullmatch("[0-9a-f]{7,40}", result["commit"]), name
        recorded = result["machine"]["processor"] != "not recorded"
        assert recorded != (name in UNRECORDED), name


def test_tables_of_other_names_are_known() -> None:
    tables = runpy.run_path(str(ROOT / "benchmarks" / "tables.py"))["_TABLES"]
    assert set(_OTHER) <= set(tables)
