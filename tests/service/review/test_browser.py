"""The review page in a real browser: by keyboard, at two widths, with two people at once."""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Relation
from tests.chromium import check_page
from tests.service.conftest import RECORDS, build
from tests.service.review.page import NARROW, WIDE, begin, find, state, wait_for
from tests.service.test_server import Server

EVIL = "<b onclick=x>&amp;</b><script>document.title='owned'</script>"


@pytest.fixture
def flat_address(tmp_path: Path) -> Iterator[str]:
    """The address of a server of a terminology without types and hierarchy."""
    build(tmp_path / "flat", [Concept("X:0", "Heart attack"), Concept("X:1", "Fever")])
    server = Server("--index", tmp_path / "flat", "--reviews", tmp_path / "reviews.db")
    with contextlib.closing(server):
        yield server.address


def test_two_hundred_rows_are_decided_by_keyboard(
    visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = visit("/reviews", "Ann")
    rows = "".join(f"ward {n} hip,at the ward,{n}\n" for n in range(1, 197))
    first = "heart attack,a heart attack,9\ncold,,1\nbroken hip,,3\nbad sugar,,2\n"
    begin(page, f"mention,context,n\n{first}{rows}", tmp_path)
    assert "200 mentions" in page.inner_text("#about")
    assert page.inner_text("#list-title") == "Queue (200)"

    find(page, "heart attack")
    assert page.inner_text("blockquote mark") == "heart attack"
    page.keyboard.press("a")
    wait_for(page, "heart attack: linked")
    find(page, "broken hip")
    page.keyboard.press("n")
    wait_for(page, "broken hip: no concept")
    find(page, "broken hip")
    page.keyboard.press("u")
    wait_for(page, "Undone: broken hip")
    find(page, "bad sugar")
    page.keyboard.press("/")
    page.keyboard.type("diab")
    page.wait_for_selector("#found li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Enter")
    page.select_option("#relation-0", "broader")
    page.fill("#comment", "not sure which type")
    page.click("#save")
    wait_for(page, "bad sugar: linked")
    find(page, "bad sugar")
    assert state(page) == "linked to Diabetes mellitus (X:2), broader"
    find(page, "cold")
    page.keyboard.press("f")
    wait_for(page, "cold: flagged")
    wait_for(page, "2 of 200 decided")

    page.click("button:text-is('Export')")
    with page.expect_download() as download:
        page.click("[data-format=csv]")
    assert download.value.suggested_filename.endswith(".csv")
    with Path(download.value.path()).open(encoding="utf-8", newline="") as stream:
        found = {row["mention"]: row for row in csv.DictReader(stream)}
    assert len(found) == 200
    assert found["heart attack"]["canonym_id"] == "X:1"
    assert found["bad sugar"]["canonym_relation"] == "broader"
    assert found["bad sugar"]["canonym_comment"] == "not sure which type"
    assert [found[one]["canonym_state"] for one in ("cold", "broken hip")] == ["flagged", "open"]
    assert found["cold"]["canonym_by"] == "Ann"


def test_many_are_accepted_at_once(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit("/reviews", "Ann")
    begin(page, "mention\nheart attack\nbroken hip\nsomething odd\n", tmp_path)
    page.click("button:text-is('Accept many')")
    page.fill("#least", "80")
    page.wait_for_selector("button:text-is('Accept 2')")
    assert "of them are expected to be wrong" in page.inner_text("#bulk-text")
    page.click("#bulk-do")
    wait_for(page, "2 mentions accepted")
    wait_for(page, "2 of 3 decided")


def test_who_went_to_a_mention_stays_there_when_all_is_linked(
    visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = visit("/reviews", "Ann")
    begin(page, "mention\nheart attack\nbroken hip\n", tmp_path)
    waiting = [1]

    def answer(route: Any) -> None:
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), "waiting": waiting[0]})

    page.route(re.compile(r"/v1/reviews/\d+$"), answer)
    page.reload()
    page.wait_for_selector("#linking:visible")
    page.wait_for_selector("#items [aria-current]")
    other = page.locator("#items [data-item]:not([aria-current]) .term").inner_text()
    page.click(f"[data-item]:has(.term:text-is('{other}'))")
    page.wait_for_selector(f"h2:text-is('{other}')")
    waiting[0] = 0
    with page.expect_response("**/items?*"):
        pass
    page.wait_for_selector("#linking", state="hidden")
    page.wait_for_load_state("networkidle")
    assert page.inner_text("#mention") == other


def test_five_candidates_the_search_and_the_comment_fit_one_screen(
    visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = visit("/reviews", "Ann", {"width": 1280, "height": 800})
    begin(page, "mention,near\nheart attack of hip,a heart attack of hip\n??,\n", tmp_path)
    assert page.locator(".candidates > li").count() == 5
    for place in (".candidates > li >> nth=4", "#another", "#comment"):
        box = page.locator(place).bounding_box()
        assert box["y"] + box["height"] < 800, place
    found = page.locator("#items .guess").all_inner_texts()
    assert re.match(r"X:\d \w+", found[0])
    assert found[1] == "nothing fits"
    page.select_option("#order", "text")
    page.wait_for_function("() => document.querySelector('#items .term').textContent === '??'")
    page.click("button:text-is('Export')")
    formats = page.eval_on_selector_all("#format option", "all => all.map(one => one.value)")
    assert "sssom" in formats
    assert not {"usagi", "omop"} & {*formats}


def test_what_means_the_same_is_decided_at_once(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit("/reviews", "Ann")
    rows = [
        "heart attack",
        "Heart-Attacks",
        "heart attack again",
        "broken hip",
        "??",
        "!",
        "...",
        "no cold",
    ]
    begin(page, "mention\n" + "".join(f"{row}\n" for row in rows), tmp_path)
    page.click("[data-item]:has(.term:text-is('heart attack'))")
    page.wait_for_selector("h2:text-is('heart attack')")
    page.wait_for_selector("#with:text-is('and 1 more, below')")
    # The rows are drawn anew as links come.
    checked = "() => document.querySelectorAll('#alike input:checked').length === 1"
    page.wait_for_function(checked)
    page.click("#alike label:has-text('again')")
    page.wait_for_selector("#with:text-is('and 2 more, below')")
    check_page(page)
    page.keyboard.press("a")  # which the box that was ticked leaves to the page
    wait_for(page, "heart attack and 2 more: linked")
    wait_for(page, "3 of 8 decided")
    page.click("[data-item]:has(.term:text-is('??'))")
    page.wait_for_selector("h2:text-is('??')")
    page.wait_for_selector("#with:text-is('and 2 more, below')")  # no words either
    page.focus("#mention")
    page.keyboard.press("n")
    wait_for(page, "?? and 2 more: no concept")
    wait_for(page, "6 of 8 decided")


def test_of_two_reviewers_the_slower_is_told_and_loses_nothing(
    visit: Callable[..., Any], tmp_path: Path
) -> None:
    ann = visit("/reviews", "Ann")
    path = begin(ann, "mention\nbroken hip\n", tmp_path)
    bob = visit(path, "Bob")
    bob.wait_for_selector(".candidates > li:visible, .unlikely")
    bob.fill("#comment", "I doubt it")
    ann.focus("#mention")
    ann.keyboard.press("a")
    wait_for(ann, "broken hip: linked")
    bob.click("button:text-is('No concept')")
    wait_for(bob, "Ann changed this meanwhile (Hip fracture)")
    assert state(bob) == "linked to Hip fracture (X:6)"
    assert bob.input_value("#comment") == "I doubt it"
    bob.click("button:text-is('No concept')")
    wait_for(bob, "broken hip: no concept")
    find(bob, "broken hip")
    assert bob.inner_text(".history li >> nth=0").startswith("Bob no concept")
    assert bob.inner_text(".history li >> nth=1").startswith("Ann linked to Hip fracture")


def test_a_new_version_opens_what_it_changes(
    visit: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    page = visit("/reviews", "Ann")
    path = begin(page, "mention\nheart attack\nbroken hip\n", tmp_path)
    for mention in ("heart attack", "broken hip"):
        find(page, mention)
        page.keyboard.press("a")
        wait_for(page, f"{mention}: linked")
    moved = [one for one in RECORDS if one != Relation("X:1", "is_a", "X:0")]
    below = [Concept("X:8", "Heart disease"), Relation("X:1", "is_a", "X:8")]
    build(folder, [*moved, *below], overwrite=True)
    again = visit(path, "Ann")
    again.click("#link-again")
    wait_for(again, "reopened 1")
    find(again, "heart attack", "todo")
    assert "moved: Myocardial infarction (X:1) stands below Heart disease now" in again.inner_text(
        ".state"
    )
    find(again, "broken hip", "decided")
    assert state(again) == "linked to Hip fracture (X:6)"


def test_what_people_write_is_shown_as_text(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit("/reviews", EVIL)
    begin(page, f'mention,context\n"{EVIL}","see {EVIL} there"\n', tmp_path)
    assert page.inner_text("#mention") == EVIL
    assert page.inner_text("blockquote") == f"see {EVIL} there"
    page.fill("#comment", EVIL)
    page.click("button:text-is('Add comment')")
    page.wait_for_selector(".history q")
    assert page.inner_text(".history q") == EVIL
    assert page.inner_text(".history strong") == EVIL[:100]
    assert page.locator("main b, main script").count() == 0
    assert page.title() == "mentions – canonym"


@pytest.mark.parametrize(
    ("size", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide", "narrow"]
)
def test_the_pages_are_accessible_and_fit(
    visit: Callable[..., Any], tmp_path: Path, size: dict[str, int], scheme: str
) -> None:
    page = visit("/reviews", "Ann", size)
    page.emulate_media(color_scheme=scheme)
    check_page(page)
    begin(page, "mention,near\nheart attack,a heart attack\nbroken hip,\ncold,\n", tmp_path)
    assert page.evaluate("scrollY") == 0
    find(page, "heart attack")
    page.keyboard.press("a")
    wait_for(page, "heart attack: linked")
    find(page, "heart attack")
    page.wait_for_selector("#detail .state")  # it is shown as it was decided
    for summary in page.locator("#detail summary:visible").all():
        summary.click()
    page.click(".candidates button:text-is('Choose …') >> nth=0")
    page.wait_for_selector(".choice")
    check_page(page)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_sheet_header_and_separator_are_chosen(
    visit: Callable[..., Any], tmp_path: Path, size: dict[str, int]
) -> None:
    path = tmp_path / "ward.txt"
    path.write_text("Report of ward 7\nterm;n\ncold;3\n", encoding="utf-8")
    page = visit("/reviews", "Ann", size)
    page.set_input_files("#file", str(path))
    page.wait_for_selector("#preview th:text-is('mention')")
    assert not page.is_visible("#sheet")
    page.select_option("#separator", "semicolon")
    page.fill("#header_row", "2")
    page.keyboard.press("Tab")
    page.wait_for_selector("#preview th:text-is('term')")
    assert page.input_value("#column") == "term"
    assert page.input_value("#frequency_column") == "n"
    check_page(page)
    page.fill("#header_row", "99")
    page.keyboard.press("Tab")
    page.wait_for_selector("#choices", state="hidden")
    page.fill("#header_row", "2")
    page.keyboard.press("Tab")
    page.click("button:text-is('Begin')")
    page.wait_for_url("**/reviews/*")
    page.wait_for_selector("#about:has-text('1 mention, of 3 occurrences')")


def test_a_concept_is_searched_by_words_and_the_hierarchy_is_browsed(
    visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = visit("/reviews", "Ann")
    begin(page, "mention\nbad sugar\n", tmp_path)
    page.fill("#another", "mellitus 2 type")
    page.wait_for_selector("#found li:has-text('X:3')")
    page.focus("#another")
    page.keyboard.press("Shift+Enter")
    page.click(".choice summary:text-is('Above and below')")
    page.click(".around button:has-text('Diabetes mellitus')")
    page.wait_for_selector(".around:has-text('Below') button:has-text('X:3')")
    page.wait_for_selector(".around:has-text('Above') button:has-text('X:0')")
    assert "X:2" in page.inner_text(".candidates .chosen")
    check_page(page)
    page.click("#save")
    page.select_option("#part", "decided")
    page.wait_for_selector("#items code:text-is('X:2')")


def test_all_that_were_found_by_their_text_are_nothing(
    visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = visit("/reviews", "Ann")
    begin(page, "mention\ntest 1\ntest 2\ncold\n", tmp_path)
    assert not page.is_visible("#none")
    page.fill("#text", "test")
    page.wait_for_selector("#none:text-is('No concept for all 2')")
    page.click("#none")
    page.wait_for_selector("#list-title:text-is('Queue (1)')")
    assert page.input_value("#text") == ""
    check_page(page)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_queue_is_filtered_by_type_and_detail(
    visit: Callable[..., Any], tmp_path: Path, size: dict[str, int]
) -> None:
    page = visit("/reviews", "Ann", size)
    begin(page, "mention\nheart attack\nbroken hip\ndiabetes mellitus\ntype 2 diabetes\n", tmp_path)
    page.evaluate("document.querySelector('#filters').open = true")
    page.focus("#type")
    page.keyboard.type("Fin")  # as in any list of choices
    page.wait_for_selector("#list-title:text-is('Queue (2)')")
    assert {*page.locator("#items .term").all_inner_texts()} == {"broken hip", "type 2 diabetes"}
    page.wait_for_selector("#none:text-is('No concept for all 2')")
    page.select_option("#leaf", "false")
    page.wait_for_selector("#list-title:text-is('Queue (0)')")
    page.select_option("#type", "")
    page.wait_for_selector("#none:text-is('No concept for this one')")
    assert page.locator("#items .term").all_inner_texts() == ["diabetes mellitus"]
    check_page(page)
    page.click("#none")
    page.wait_for_selector("#list-title:text-is('Queue (3)')")
    assert page.input_value("#leaf") == ""
    find(page, "diabetes mellitus", "decided")
    wait_for(page, "all of something below")  # it was shown before it was decided, too
    assert "all of nothing below" not in page.inner_text("#detail")


def test_filters_that_a_terminology_lacks_are_not_offered(
    browser: Any, tmp_path: Path, flat_address: str
) -> None:
    page = browser.new_page()
    page.goto(f"{flat_address}/reviews")
    page.fill("#reviewer", "Ann")
    page.keyboard.press("Tab")
    begin(page, "mention\nheart attack\nfever\n", tmp_path)
    page.wait_for_selector("#list-title:text-is('Queue (2)')")
    page.wait_for_load_state("networkidle")
    assert page.is_visible("#order")
    assert not page.is_visible("#type")
    assert not page.is_visible("#leaf")
    page.close()
