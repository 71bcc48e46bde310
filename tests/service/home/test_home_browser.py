"""The home page in a real browser: while one types, by keyboard, and when things go wrong."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym.service.keys import Keys
from tests.chromium import check_page, pages
from tests.service.conftest import build
from tests.service.review.page import NARROW, WIDE, wait_for
from tests.service.test_server import Server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the folder of an index."""
    folder = tmp_path_factory.mktemp("home")
    build(folder / "small")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address of a real server."""
    server = Server("--index", folder / "small", "--reviews", folder / "reviews.db")
    with contextlib.closing(server):
        yield server.address


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Open pages; an error in a script, or something against the policy, fails the test."""
    with pages(browser) as open_page:

        def visit_(path: str = "/", at: str = address, **options: Any) -> Any:
            return open_page(at + path, **{"viewport": WIDE, **options})

        yield visit_


def _paste(page: Any, length: int) -> None:
    page.evaluate(
        "length => { const data = new DataTransfer(); data.setData('text', 'x'.repeat(length));"
        "document.querySelector('#text').dispatchEvent(new ClipboardEvent('paste',"
        "{clipboardData: data, bubbles: true, cancelable: true})) }",
        length,
    )


def test_links_appear_as_one_types_and_a_review_is_made_by_keyboard(
    visit: Callable[..., Any],
) -> None:
    page = visit()
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.type("heart attack")
    wait_for(page, "Read as one name")
    assert page.inner_text("#best").startswith("Myocardial infarction")
    page.keyboard.type("\nbroken hip")
    page.wait_for_selector(".rows > li >> nth=1")
    assert page.inner_text("#summary") == "2 likely right"
    for _ in range(3):
        page.keyboard.press("Tab")  # over the kinds, of which the arrows choose one, and the copy
    assert page.evaluate("document.activeElement.id") == "review"
    page.keyboard.press("Enter")
    wait_for(page, "Give your name first")
    assert page.evaluate("document.activeElement.id") == "reviewer"
    page.keyboard.type("Ann")
    page.focus("#review")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/reviews/\d+$"))
    wait_for(page, "heart attack and 1 more")
    assert "2 mentions" in page.inner_text("#about")


def test_the_names_of_a_text_become_a_review_with_their_surroundings(
    visit: Callable[..., Any],
) -> None:
    page = visit()
    page.fill("#text", "He had a heart attack. A broken hip followed.")
    page.wait_for_selector("#review")
    page.evaluate("localStorage.setItem('reviewer', 'Ann')")
    page.reload()
    page.click("#review")
    page.wait_for_url(re.compile(r"/reviews/\d+$"))
    page.wait_for_selector(".candidates li")
    assert page.inner_text("blockquote") == "He had a heart attack. A broken hip followed."


def test_a_workbook_is_dropped_and_its_links_are_copied(
    visit: Callable[..., Any], tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["ward", "dx"], [7, "broken hip"], [8, "heart attack"]):
        book.active.append(row)
    book.save(tmp_path / "wards.xlsx")
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    assert not page.is_visible("#go")  # typing is enough
    with page.expect_file_chooser() as chooser:
        page.click("#open")
    chooser.value.set_files(str(tmp_path / "wards.xlsx"))
    page.wait_for_selector(".rows > li >> nth=1")
    wait_for(page, "Read as a list of 2 names")
    assert page.input_value("#text") == "ward\tdx\n7\tbroken hip\n8\theart attack"
    check_page(page)
    page.click("#copy")
    wait_for(page, "2 rows copied")
    copied = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert copied[0].startswith("mention\tcode\tid\tlabel\tconfidence")
    assert copied[1].startswith("broken hip\t6\tX:6\tHip fracture\t0.")
    page.evaluate(
        "() => { const data = new DataTransfer(); data.items.add(new File(['cold'], 'a.txt'));"
        "document.querySelector('#text').dispatchEvent(new DragEvent('drop',"
        "{dataTransfer: data, bubbles: true, cancelable: true})) }"
    )
    page.wait_for_selector(".only")
    assert page.input_value("#text") == "cold"


def test_cells_without_a_header_become_a_review(visit: Callable[..., Any]) -> None:
    page = visit()
    page.evaluate("localStorage.setItem('reviewer', 'Ann')")
    page.reload()
    page.fill("#text", "1\theart attack\n2\tbroken hip\n")
    page.wait_for_selector("#column")
    page.click("#review")
    page.wait_for_url(re.compile(r"/reviews/\d+$"))
    wait_for(page, "2 mentions")


def test_an_example_fills_the_box_and_a_concept_leads_back(visit: Callable[..., Any]) -> None:
    page = visit()
    page.click("[name=example] >> nth=0")
    page.wait_for_selector("#best a")
    assert page.input_value("#text") != ""
    typed = page.input_value("#text")
    page.click("#best a")
    page.wait_for_url("**/concepts/small/*")
    page.go_back()
    page.wait_for_selector("#best a")
    assert page.input_value("#text") == typed
    page.focus("#best a")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "text"


def test_a_slow_answer_never_takes_the_place_of_a_later_one(visit: Callable[..., Any]) -> None:
    page = visit()
    held: list[Any] = []

    def hold(route: Any) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/", hold)
    page.fill("#text", "heart attack")
    while not held:
        page.wait_for_timeout(20)
    page.fill("#text", "broken hip")
    page.wait_for_selector("#best:has-text('Hip fracture')")
    held[0].fulfill(body='<div id="results">an old answer</div>', content_type="text/html")
    page.wait_for_timeout(300)
    assert page.inner_text("#best").startswith("Hip fracture")


@pytest.mark.parametrize(
    ("refuse", "told"),
    [
        (
            lambda route: route.abort(),
            "The service cannot be reached. What you typed is still here.",
        ),
        (
            lambda route: route.fulfill(
                status=429, headers={"Retry-After": "1"}, json={"detail": "too many requests"}
            ),
            "Too many requests. It is tried again in a few seconds.",
        ),
        (
            lambda route: route.fulfill(status=502, body="<html>bad gateway"),
            "answered 502. It is tried again in a few seconds.",
        ),
    ],
    ids=["away", "too often", "gateway"],
)
def test_trouble_is_told_and_what_was_typed_stays(
    visit: Callable[..., Any], refuse: Callable[[Any], None], told: str
) -> None:
    page = visit()
    page.fill("#text", "heart attack")
    page.wait_for_selector("#best")
    page.route("**/", refuse)
    page.fill("#text", "broken hip")
    wait_for(page, told)
    assert page.input_value("#text") == "broken hip"
    assert "stale" in page.get_attribute("#results", "class")  # what is shown is of another name
    page.unroute("**/")
    page.wait_for_selector("#best:has-text('Hip fracture')")
    assert page.locator("#problem").is_hidden()
    assert page.get_attribute("#results", "class") is None


def test_ten_megabytes_are_refused_in_words(visit: Callable[..., Any]) -> None:
    page = visit()
    _paste(page, 10_000_000)
    wait_for(page, "10,000,000 characters are too many for this page")
    assert page.input_value("#text") == ""
    page.fill("#text", "broken hip")
    page.wait_for_selector("#best:has-text('Hip fracture')")


def test_without_a_script_a_form_gives_the_links(visit: Callable[..., Any]) -> None:
    page = visit(java_script_enabled=False)
    page.fill("#text", "heart attack")
    page.click("#go")
    assert page.inner_text("#best").startswith("Myocardial infarction")
    assert page.input_value("#text") == "heart attack"
    page.click("#best a")
    assert page.inner_text("h1").startswith("Myocardial infarction")


def test_a_key_is_asked_for_and_kept_in_the_tab(visit: Callable[..., Any], folder: Path) -> None:
    keys = Keys.create(folder / "keys.db")
    key = keys.add("reader", "read")
    server = Server("--index", folder / "small", "--keys", folder / "keys.db")
    with contextlib.closing(server):
        page = visit(at=server.address)
        wait_for(page, "This service needs a key")
        page.fill("#key", "no key")
        page.keyboard.press("Tab")
        wait_for(page, "it is none that is in use")
        page.fill("#key", key)
        page.keyboard.press("Tab")
        wait_for(page, "try one of these")
        page.fill("#text", "heart attack")
        page.wait_for_selector("#best a")
        wait_for(page, "could make a review of this")
        page.click("#best a")
        page.wait_for_selector("h1:has-text('Myocardial infarction')")
        assert page.title().startswith("Myocardial infarction (X:1)")
        other = visit("/concepts/small/X:1", at=server.address)
        other.fill("#key", key)
        other.keyboard.press("Tab")
        other.wait_for_selector("h1:has-text('Myocardial infarction')")
        plain = visit(at=server.address, java_script_enabled=False)
        plain.fill("#text", "heart attack")
        plain.fill("#key", key)
        plain.click("#go")
        assert plain.inner_text("#best").startswith("Myocardial infarction")


@pytest.mark.parametrize(
    ("size", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide", "narrow"]
)
def test_the_pages_are_accessible_and_fit(
    visit: Callable[..., Any], size: dict[str, int], scheme: str
) -> None:
    page = visit(viewport=size, color_scheme=scheme)
    check_page(page)
    long = "x" * 200
    for text, shown in (
        ("heart attack", ".only.likely"),
        ("type 1 diabetes", ".contradiction"),
        ("id\tname\n1\tno heart attack\n2\tbroken hip and cold\n3\t?", ".rows"),
        (f"He had a heart attack. No broken hip, {long}.", ".text"),
        (long, ".only"),
    ):
        page.fill("#text", text)
        page.wait_for_selector(f"#results:not([aria-busy]) {shown}")
        for one in page.locator("summary").all():
            one.click()
        check_page(page)
    page.goto(page.url.rstrip("/") + "/concepts/small/X:3")
    check_page(page)
