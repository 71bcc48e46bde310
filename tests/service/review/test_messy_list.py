"""A messy list is reviewed by two people, whose clicks and keystrokes are counted.

The way begins at the address that ``canonym serve`` prints and ends with a file. The two know what
each row means, and look at no more than the page shows. For what is sure they need at most 20
inputs, each letter of their names among them, and for all else 4 a group: what one decision
decides. The words of a concept that is searched are one input. Reading, scrolling and waiting are
free.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.chromium import check_page
from tests.conftest import own_folders
from tests.service.review.messy import MessyRow, rows
from tests.service.test_server import Server

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
ROWS = rows()
CODES = {row.text.strip(): row.code for row in ROWS}
NAMES = {"M10": "gout", "N39.0": "uti", "I10": "htn", "E11": "type 2 dia"}
"""What a person types to search a concept, by the beginning of its code."""
MOST_UNTICKED = 3
"""Of a group in which more mean something else, only what has the same words is decided at once."""


@pytest.fixture
def address(packaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server of the terminology that comes along."""
    for name, folder in own_folders(packaged).items():
        monkeypatch.setenv(name, folder)
    with contextlib.closing(Server("--reviews", tmp_path / "reviews.db")) as server:
        yield server.address


class Group(NamedTuple):
    """A decision: how many inputs it took, for how many mentions, and whether one was searched."""

    inputs: int
    mentions: int
    searched: bool


class Hand:
    """A person at a page: every key and every click counts."""

    def __init__(self, page: Any, *, keyboard: bool = True) -> None:
        self.page = page
        self.keyboard = keyboard
        self.inputs = 0
        self.groups: list[Group] = []
        self.alike: Any = None  # the newest answer
        page.set_default_timeout(60_000)
        page.on("response", self._note)

    def _note(self, response: Any) -> None:
        if response.url.endswith("/alike"):
            self.alike = response

    def click(self, selector: str) -> None:
        self.inputs += 1
        self.page.click(selector)

    def type(self, text: str) -> None:
        self.inputs += len(text)
        self.page.keyboard.type(text)

    def press(self, key: str) -> None:
        """Press a key, or click the button that says the same where there is no keyboard."""
        if self.keyboard or len(key) > 1:
            self.inputs += 1
            self.page.keyboard.press(key)
        elif key.isdigit():
            self.click(f"#detail [data-number='{key}']")
        elif key == "/":
            self.click("#another")
        else:
            self.click(f"[title={key}]:visible")

    def begin(self, address: str, table: Path) -> None:
        self.page.goto(address)
        self.click("text=Reviews")
        self.give_name("Ann")
        self.inputs += 3  # the dialog of files: open it, choose one, confirm
        self.page.set_input_files("#file", str(table))
        self.click("button:text-is('Begin')")
        self.page.wait_for_url("**/reviews/*")
        self.page.wait_for_selector("#linking", state="hidden", timeout=240_000)
        self.page.wait_for_selector(".candidates > li:visible, .unlikely")

    def give_name(self, name: str) -> None:
        self.click("#reviewer")
        self.type(name)
        self.press("Tab")

    def accept_many(self) -> tuple[int, float]:
        """Accept what is sure, and return how many occurrences, and the errors to expect."""
        self.click("button:text-is('Accept many')")
        self.page.wait_for_selector("#bulk-do:enabled")
        told = self.page.inner_text("#bulk-text")
        self.click("#bulk-do")
        self.page.wait_for_selector("#told:has-text('accepted')")
        match = re.search(r"of (\d+) occurrences. About ([\d.]+) of them", told)
        assert match is not None, told
        return int(match[1]), float(match[2])

    def export(self) -> list[dict[str, str]]:
        self.click("button:text-is('Export')")
        with self.page.expect_download() as download:
            self.click("[data-format=csv]")
        with Path(download.value.path()).open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    # --- the groups ---------------------------------------------------------------------------

    def left(self) -> int:
        """Return how many mentions the queue has."""
        title = self.page.inner_text("#list-title")
        return int(re.sub(r"\D", "", title))

    def decide_group(self) -> None:
        """Decide the mention that is shown, with all that mean the same."""
        before, left = self.inputs, self.left()
        shown, alike = self._read()
        code = CODES[shown]
        together = self._take(alike, code)
        searched = self._choose(code)
        expected = left - 1 - together
        self.page.wait_for_selector(f"#list-title:text-is('Queue ({expected})')")
        if expected:
            self.page.wait_for_function(
                "shown => document.querySelector('#mention').textContent !== shown", arg=shown
            )
        self.groups.append(Group(self.inputs - before, 1 + together, searched=searched))

    def _read(self) -> tuple[str, list[dict[str, Any]]]:
        """Return the mention that is shown, and those that may mean the same."""
        item = self.page.get_attribute("#items [aria-current]", "data-item")
        for _ in range(1_000):
            if self.alike and f"/items/{item}/alike" in self.alike.url:
                break
            self.page.wait_for_timeout(20)
        alike = self.alike.json()["items"]
        listed = "n => document.querySelectorAll('#alike li').length === n"
        self.page.wait_for_function(listed, arg=len(alike))
        return self.page.text_content("#mention"), alike

    def _take(self, alike: list[dict[str, Any]], code: str) -> int:
        """Tick the mentions that mean the same, and return how many."""
        right = [one for one in alike if CODES[one["mention"]] == code]
        ticked = [one for one in alike if one["same"]]
        if len(right) > len(ticked) and len(alike) - len(right) <= MOST_UNTICKED:
            self.press("g")
            ticked = alike
        other = [one for one in ticked if one not in right]
        for one in other:
            self.click(f"#alike-{one['id']}")
        return len(ticked) - len(other)

    def _choose(self, code: str) -> bool:
        """Choose a concept, and tell whether it had to be searched."""
        if not code:
            self.press("n")
            return False
        proposed = self.page.locator("#items [aria-current] .guess code").all_inner_texts()
        if proposed and all(_fits(one, code) for one in proposed):
            self.press("a")
            return False
        shown = "#detail .candidates > li:has([data-number]) .head code"
        candidates = self.page.locator(shown).all_inner_texts()
        for place, candidate in enumerate(candidates, start=1):
            if _fits(candidate, code):
                self.press(str(place))
                return False
        self.press("/")
        self.inputs += 1  # words that are typed are one input
        self.page.keyboard.type(NAMES[code])
        self.page.wait_for_selector(f"#found code:has-text('{code}')")
        hits = self.page.locator("#found code").all_inner_texts()
        place = next(place for place, hit in enumerate(hits) if _fits(hit, code))
        for _ in range(place + 1 if place else 0):
            self.press("ArrowDown")
        self.press("Enter")
        return True


def _fits(id: str, code: str) -> bool:
    return id.removeprefix("ICD10CM:").startswith(code)


@pytest.mark.slow
def test_a_messy_list_is_reviewed_with_few_clicks(
    browser: Any, address: str, tmp_path: Path
) -> None:
    table = tmp_path / "wards.csv"
    with table.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(
            [["ward", "diagnosis"], *((n, row.text) for n, row in enumerate(ROWS))]
        )
    ann = Hand(browser.new_page(viewport=WIDE))
    ann.begin(address, table)
    accepted, errors = ann.accept_many()
    assert accepted >= 190
    sure = ann.inputs

    bob = Hand(browser.new_page(viewport=NARROW), keyboard=False)
    bob.page.goto(ann.page.url)
    bob.give_name("Bob")
    sure += bob.inputs
    bob.page.wait_for_selector(".candidates > li:visible, .unlikely")
    half = bob.left() // 2
    while bob.left() > half:
        bob.decide_group()
    check_page(bob.page)
    ann.page.reload()
    ann.page.wait_for_selector("#items [aria-current]")
    ann.page.focus("#mention")
    while ann.left():
        ann.decide_group()
    check_page(ann.page)
    before = ann.inputs
    exported = ann.export()
    sure += ann.inputs - before
    assert sure <= 20

    groups = [*bob.groups, *ann.groups]
    assert max(group.inputs for group in groups) <= 4
    assert any(group.searched for group in groups)
    assert sum(group.mentions for group in groups) >= 2 * len(groups)

    assert len(exported) == len(ROWS)
    wrong = [row for row, cells in zip(ROWS, exported, strict=True) if not _is_right(row, cells)]
    assert len(wrong) <= errors
    assert {cells["canonym_by"] for cells in exported if cells["canonym_by"]} == {"Ann", "Bob"}


def _is_right(row: MessyRow, cells: dict[str, str]) -> bool:
    if not row.text.strip():
        return cells["canonym_state"] == ""
    if not row.code:
        return cells["canonym_state"] == "nil"
    return cells["canonym_state"] in ("linked", "accepted") and _fits(cells["canonym_id"], row.code)
