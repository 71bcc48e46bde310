"""The table of all parts of the papers: what it names exists, and the page is made from it."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

from reproduce.coverage import KINDS, STATES, Item, read_coverage

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "methods" / "coverage.md"
ITEMS = read_coverage()
PAPERS = ["BioSyn", "Triplet search", "DILBERT", "CODER", "Few-shot names"]


def exists(shown: str) -> bool:
    """Tell whether a test, a result or a page is there."""
    file, _, test = shown.partition("::")
    if test:
        path = ROOT / file
        return path.is_file() and bool(re.search(rf"^def {test}\(", path.read_text("utf-8"), re.M))
    place = ROOT / "benchmarks" if shown.startswith("results/") else ROOT
    return (place / shown).is_file()


def is_there(where: str) -> bool:
    """Tell whether a module, or a file named by its path, is there."""
    if "/" in where:
        return (ROOT / where).is_file() or (ROOT / "benchmarks" / where).is_file()
    top = {"canonym": ROOT / "src", "reproduce": ROOT / "benchmarks"}[where.partition(".")[0]]
    place = top.joinpath(*where.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.paper}: {item.item}")
def test_what_an_item_names_exists(item: Item) -> None:
    assert item.state in STATES
    assert item.kind in KINDS
    assert is_there(item.where), item.where
    assert item.shown
    assert [shown for shown in item.shown if not exists(shown)] == []
    if item.state == "works":
        assert not item.reason
        assert any("::" in shown or shown.startswith("results/") for shown in item.shown)
    else:
        assert re.search(r"\((data|licence|hours)(, (data|licence|hours))*\)\.$", item.reason)


def test_what_does_not_exist_is_told() -> None:
    assert not exists("tests/reproduce/test_coverage.py::test_of_nobody")
    assert not exists("results/of-nobody.json")
    assert not exists("docs/methods/nothing.md")
    assert not is_there("canonym.training.papers.nothing")
    assert is_there("reproduce.measures.mcsm")


def test_most_of_the_papers_works_and_all_of_them_are_listed() -> None:
    states = Counter(item.state for item in ITEMS)
    assert states["works"] >= 92
    assert states["partly"] <= 15
    assert list(dict.fromkeys(item.paper for item in ITEMS)) == PAPERS
    assert len({(item.paper, item.item) for item in ITEMS}) == len(ITEMS)
    for paper in PAPERS:
        kinds = {item.kind for item in ITEMS if item.paper == paper}
        assert kinds >= {"method", "loss", "sampler", "data", "protocol", "table"}


def test_every_published_file_is_a_table_of_the_list() -> None:
    files = {item.where for item in ITEMS if item.kind == "table"}
    experiments = ROOT / "benchmarks" / "reproduce" / "experiments"
    assert {
        f"reproduce/experiments/{path.name}" for path in experiments.glob("*-published.toml")
    } <= files


def test_the_page_is_made_from_the_list() -> None:
    page = PAGE.read_text(encoding="utf-8")
    filled = runpy.run_path(str(ROOT / "benchmarks" / "tables.py"))["filled"]
    assert filled(page) == page
    states = Counter(item.state for item in ITEMS)
    cells = " | ".join(f"{states[state]}" for state in STATES)
    assert f"| all | {len(ITEMS)} | {cells} |" in page
    assert all(item.item in page for item in ITEMS)
