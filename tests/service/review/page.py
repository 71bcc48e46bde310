"""What people do on the page of a review."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def begin(page: Any, table: str, folder: Path) -> str:
    """Upload a table, and return the path of its review when it is linked."""
    path = folder / "mentions.csv"
    path.write_text(table, encoding="utf-8")
    page.set_input_files("#file", str(path))
    page.click("button:text-is('Begin')")
    page.wait_for_url("**/reviews/*")
    page.wait_for_selector(".candidates > li:visible, .unlikely")
    page.wait_for_selector("#linking", state="hidden")
    page.wait_for_function(  # the list is read again when all is linked
        "[...document.querySelectorAll('#items .guess')].every(one => one.textContent !== '…')"
    )
    return str(re.sub(r"^https?://[^/]+", "", page.url))


def find(page: Any, mention: str, part: str = "all") -> None:
    """Go to a mention of a part of the queue."""
    page.evaluate("document.querySelector('#filters').open = true")  # which a phone folds
    page.select_option("#part", part)
    page.fill("#text", mention)
    page.wait_for_function(
        "([wanted]) => { const all = document.querySelectorAll('#items .term');"
        "return all.length === 1 && all[0].textContent === wanted &&"
        "document.querySelector('#mention').textContent === wanted }",
        arg=[mention],
    )
    page.focus("#mention")


def state(page: Any) -> str:
    """Return what was decided, as the page says it."""
    return str(page.inner_text(".state strong"))


def wait_for(page: Any, text: str) -> None:
    """Wait until a page says something."""
    page.wait_for_selector(f"text={text}")
