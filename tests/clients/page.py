"""The steps of docs/guides/openrefine.md on OpenRefine's own page, in a browser.

``python -m tests.clients.page`` takes the pictures of the guide.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.chromium import chromium
from tests.clients.openrefine import OpenRefine
from tests.service.test_server import Server

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
SIZE = {"width": 960, "height": 600}
Picture = Callable[[str], None]


def table_of_the_guide() -> str:
    """Return the table that the guide shows."""
    text = (GUIDES / "openrefine.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- file: visits.csv -->\n```\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


class Walk:
    """Someone who reconciles the column `diagnosis` of the guide's table."""

    def __init__(self, page: Any, service: str, picture: Picture = lambda _: None) -> None:
        self.page = page
        self.service = service
        self.picture = picture
        page.set_default_timeout(30_000)

    def whole(self, address: str, table: Path) -> Path:
        """Take all steps of the guide, and return the file that OpenRefine exports."""
        self.make_project(address, table)
        self.choose_service()
        self.reconcile()
        self.match_the_rest()
        self.add_columns()
        return self.export(table.parent)

    def make_project(self, address: str, table: Path) -> None:
        self.page.goto(address)
        self.page.set_input_files("input[type=file]", str(table))
        self.page.click("button:has-text('Next')")
        self.page.click("button:has-text('Create Project')")
        self.page.wait_for_selector(".column-header-menu")

    def choose_service(self) -> None:
        self._menu("Reconcile", "Start reconciling")
        self.page.click("button:has-text('Add standard service')")
        self.page.fill("input[bind=input]", self.service)
        self.page.click("button:has-text('Add Service')")
        self.page.wait_for_selector("input[name=type-choice][typeName]")
        self.page.click(".recon-dialog-service-list >> text=canonym: icd10cm")
        self.page.wait_for_selector(".recon-dialog-service-list", state="hidden")
        self.page.check("#noType")
        self.page.check("input[name=include][columnName=note]")
        self.page.fill("input[name=property][columnName=note]", "context")
        self.page.click("text=Reconcile column")
        self.page.wait_for_timeout(500)
        self.picture("service")

    def reconcile(self) -> None:
        self.page.click("button:has-text('Start reconciling')")
        self.page.wait_for_selector(".data-table-recon-candidate")
        self.page.wait_for_selector("#notification-container", state="hidden")
        self.page.hover("a.data-table-recon-topic:has-text('Acute myocardial infarction')")
        frame = self.page.frame_locator("iframe[src*='/preview?']")
        frame.locator("text=Also called").wait_for()
        self.picture("candidates")
        self.page.mouse.move(500, 10)

    def match_the_rest(self) -> None:
        """Match the cells that have a good candidate, by facet and menu."""
        self.page.click(".facet-choice:has(.facet-choice-count:text-is('6')) .facet-choice-label")
        self.page.wait_for_selector("#summary-bar:has-text('6 matching rows')")
        left = self.page.locator(".slider-widget-draggable.left").bounding_box()
        whole = self.page.locator(".slider-widget").bounding_box()
        self.page.mouse.move(left["x"] + left["width"] / 2, left["y"] + left["height"] / 2)
        self.page.mouse.down()
        self.page.mouse.move(whole["x"] + whole["width"] / 2, left["y"] + left["height"] / 2)
        self.page.mouse.up()
        self.page.wait_for_selector("#summary-bar:has-text('5 matching rows')")
        self._menu("Reconcile", "Actions", "Match each cell to its best candidate")
        self.page.wait_for_selector(".data-table-recon-candidate", state="detached")
        self.page.click("#refine-tabs-facets a:has-text('Remove all')")

    def add_columns(self) -> None:
        self._menu("Reconcile", "Add entity identifiers column")
        self.page.fill("input[bind=columnNameInput]", "code")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(".column-header:has-text('code')")
        self._menu("Edit column", "Add columns from reconciled values")
        self.page.click(".suggested-property a:text-is('parent')")
        self.page.wait_for_selector(".extend-data-preview-dialog td a")
        self.page.click(".dialog-footer button:has-text('OK')")
        self.page.wait_for_selector(".column-header:has-text('parent')")
        self.page.wait_for_selector("#notification-container", state="hidden")
        self.picture("columns")

    def export(self, folder: Path) -> Path:
        self.page.click("#export-button")
        with self.page.expect_download() as started:
            self.page.click(".menu-item:has-text('Comma-separated value')")
        path = folder / "exported.csv"
        started.value.save_as(path)
        return path

    def _menu(self, *names: str) -> None:
        """Choose from the menu of the column."""
        self.page.click(".column-header:has-text('diagnosis') .column-header-menu")
        for name in names[:-1]:
            self.page.hover(f".menu-item:has-text('{name}')")
        self.page.click(f".menu-item:has-text('{names[-1]}')")


def main() -> None:
    """Take the pictures of the guide."""
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        folder = Path(scratch)
        (folder / "visits.csv").write_text(table_of_the_guide(), encoding="utf-8")
        with (
            contextlib.closing(Server("--reviews", folder / "reviews.db")) as server,
            OpenRefine(folder / "workspace") as openrefine,
        ):
            page = browser.new_page(viewport=SIZE)
            walk = Walk(
                page,
                f"{server.address}/reconcile/icd10cm",
                lambda name: page.screenshot(path=GUIDES / f"openrefine-{name}.png"),
            )
            walk.whole(openrefine.address, folder / "visits.csv")


if __name__ == "__main__":
    main()
