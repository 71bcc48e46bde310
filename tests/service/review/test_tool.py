"""What makes the page of a review a tool: undo, signal, context, flow, and states."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.chromium import check_page
from tests.service.review.page import NARROW, begin, find, wait_for

Visit = Callable[..., Any]
LIST = "mention,context,ward\nheart attack,at night,ED\nheart attack,at night,ED\n"
LIST += "heart attack,at night,MED\nbroken hip,,GP\ncold,,\nzzz qqq,,ED\n"


def _rows(page: Any) -> list[str]:
    return [text.strip() for text in page.locator("#items .term").all_inner_texts()]


def _go(page: Any, mention: str) -> None:
    page.click(f"[data-item]:has(.term:text-is('{mention}'))")
    page.wait_for_selector(f"#mention:text-is('{mention}')")


# --- undo -----------------------------------------------------------------------------------------


def test_u_takes_back_the_last_decision_wherever_it_was(visit: Visit, tmp_path: Path) -> None:
    page = visit("/reviews", "Ann")
    begin(page, LIST, tmp_path)
    _go(page, "broken hip")
    page.keyboard.press("a")
    wait_for(page, "broken hip: linked")
    _go(page, "cold")
    page.keyboard.press("n")
    wait_for(page, "cold: no concept")
    _go(page, "zzz qqq")
    before = page.locator("#panes").bounding_box()
    page.keyboard.press("u")
    wait_for(page, "Undone: cold")
    assert page.inner_text("#mention") == "cold"
    page.keyboard.press("u")
    wait_for(page, "Undone: broken hip")
    assert page.inner_text("#mention") == "broken hip"
    page.keyboard.press("u")
    wait_for(page, "You have decided nothing here that could be undone.")
    assert page.locator("#panes").bounding_box() == before  # no message pushes the page
    page.keyboard.press("Escape")
    page.wait_for_selector("#problem", state="hidden")


def test_what_is_accepted_at_once_is_shown_before_and_undone_together(
    visit: Visit, tmp_path: Path
) -> None:
    page = visit("/reviews", "Ann")
    begin(page, f"{LIST}diabetes mellitus,,\n", tmp_path)
    page.click("button:text-is('Accept many')")
    page.fill("#least", "5")
    page.wait_for_selector("#bulk-do:enabled")
    sure = page.locator("#taken label > :last-child").all_inner_texts()
    percents = [int(re.sub(r"\D", "", text)) for text in sure]
    assert len(percents) >= 3
    assert percents == sorted(percents)
    check_page(page)
    page.uncheck("#taken label:has-text('broken hip') input")
    page.click(f"button:text-is('Accept {len(percents) - 1}')")
    page.wait_for_selector(f"#told:has-text('{len(percents) - 1} mentions accepted')")
    assert "broken hip" in _rows(page)
    page.click(".legend.accepted")
    page.wait_for_selector(f"#list-title:text-is('Queue ({len(percents) - 1})')")
    assert "broken hip" not in _rows(page)
    page.click(f"#told button:text-is('Undo {len(percents) - 1}')")
    wait_for(page, "0 of 5 decided")


# --- signal ---------------------------------------------------------------------------------------


def test_only_exceptions_have_a_word_and_unlikely_candidates_are_folded(
    visit: Visit, tmp_path: Path
) -> None:
    page = visit("/reviews", "Ann")
    begin(page, "mention\nheart attack\n?broken hip\nzzz qqq\nhart atack of hip\n", tmp_path)
    badges = {
        row.locator(".term").inner_text(): row.locator(".badge").all_inner_texts()
        for row in page.locator("#items [data-item]").all()
    }
    assert badges["heart attack"] == []
    assert badges["?broken hip"] == ["uncertain"]
    assert badges["zzz qqq"] == ["nothing fits"]
    _go(page, "heart attack")
    assert page.locator(".lead .badge").count() == 0
    assert "likely right" in page.inner_text(".lead")
    shown = page.locator("#detail .candidates > li:has([data-number])")
    folded = page.locator(".unlikely .candidates > li")
    assert shown.count() == 1
    assert folded.count() >= 1
    assert page.inner_text(".unlikely > summary") == f"{folded.count()} more, unlikely"
    assert page.locator(".unlikely [data-number]").count() == 0
    # One number, where it is a probability; the other bars have none.
    assert not page.locator(".candidates .near").all_inner_texts()[-1].strip()
    check_page(page)


# --- context --------------------------------------------------------------------------------------


def test_the_row_and_the_concept_stand_beside_the_mention(visit: Visit, tmp_path: Path) -> None:
    page = visit("/reviews", "Ann", {"width": 1680, "height": 950})
    begin(page, LIST, tmp_path)
    _go(page, "heart attack")
    assert page.locator(".row").inner_text().split() == ["ward", "ED", "2,", "MED"]
    page.wait_for_selector("#concept-title:has-text('Myocardial infarction')")
    assert "Death of heart muscle" in page.inner_text("#concept")
    assert "Herzinfarkt" in page.inner_text("#concept .words")
    page.focus("#mention")
    page.keyboard.press("/")
    page.keyboard.type("diabetes")
    page.wait_for_selector("#found li")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("#concept-title:has-text('iabetes mellitus')")
    page.keyboard.press("Escape")
    check_page(page)
    for place in (".list", ".detail", ".concept"):
        assert page.eval_on_selector(place, "one => getComputedStyle(one).overflowY") == "auto"
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


# --- flow -----------------------------------------------------------------------------------------


def test_several_are_selected_and_each_gets_its_own_proposal(visit: Visit, tmp_path: Path) -> None:
    page = visit("/reviews", "Ann")
    begin(page, LIST, tmp_path)
    _go(page, "heart attack")
    page.keyboard.press("x")
    page.wait_for_selector("#selected:text-is('1 selected')")
    page.click("[data-item]:has(.term:text-is('broken hip'))", modifiers=["Control"])
    page.wait_for_selector("#selected:text-is('2 selected')")
    check_page(page)
    page.keyboard.press("a")
    wait_for(page, "2 of 4 decided")
    page.click("#told button:text-is('Undo 2')")
    wait_for(page, "0 of 4 decided")
    page.select_option("#order", "row")
    page.wait_for_function(
        "() => document.querySelector('#items .term').textContent === 'heart attack'"
    )
    _go(page, "heart attack")
    page.click("[data-item]:has(.term:text-is('cold'))", modifiers=["Shift"])
    page.wait_for_selector("#selected:text-is('3 selected')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#selection", state="hidden")


def test_mentions_are_grouped_by_proposal_with_counts(visit: Visit, tmp_path: Path) -> None:
    page = visit("/reviews", "Ann")
    begin(
        page, "mention,context\nheart attack,a\nheart attack,b\nbroken hip,\nzzz qqq,\n", tmp_path
    )
    page.select_option("#order", "concept")
    page.wait_for_selector(".group")
    heads = ["".join(text.split()) for text in page.locator(".group").all_inner_texts()]
    assert heads == ["X:1Myocardialinfarction2", "X:6Hipfracture1", "nothingfits1"]
    check_page(page)
    page.click(".group >> nth=0")
    page.wait_for_selector("#selected:text-is('2 selected')")


def test_a_table_of_all_rows_is_sorted_by_its_headers(visit: Visit, tmp_path: Path) -> None:
    page = visit("/reviews", "Ann")
    begin(page, LIST, tmp_path)
    page.focus("#mention")
    page.keyboard.press("t")
    page.wait_for_selector("#sheet tbody tr")
    first = "wanted => document.querySelector('#sheet .link').textContent === wanted"
    for clicks, mention in ((1, "broken hip"), (1, "zzz qqq")):
        for _ in range(clicks):
            page.click("#by-text")
        page.wait_for_function(first, arg=mention)
    assert page.get_attribute("th:has(#by-text)", "aria-sort") == "descending"
    page.click("#by-frequency")
    page.wait_for_function(first, arg="heart attack")
    assert page.get_attribute("th:has(#by-frequency)", "aria-sort") == "descending"
    check_page(page)
    page.click("#sheet button:text-is('cold')")
    page.wait_for_selector("#mention:text-is('cold')")
    assert page.is_visible("#items")


def test_every_command_and_mention_is_two_keys_away(visit: Visit, tmp_path: Path) -> None:
    page = visit("/reviews", "Ann")
    begin(page, LIST, tmp_path)
    page.keyboard.press("Control+k")
    page.keyboard.type("broken")
    page.wait_for_selector("#commands li:has-text('broken hip')")
    check_page(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("#mention:text-is('broken hip')")
    page.keyboard.press("Control+k")
    page.keyboard.type("table")
    page.keyboard.press("Enter")
    page.wait_for_selector("#sheet tbody tr")
    page.keyboard.press("t")
    page.wait_for_load_state("networkidle")
    # One stop for Tab in the list, and the arrows within.
    assert page.locator("#items [tabindex='0']").count() == 1
    page.focus("#items [tabindex='0']")
    before = page.inner_text("#mention")
    page.keyboard.press("ArrowUp")
    page.wait_for_function(
        "was => document.querySelector('#mention').textContent !== was", arg=before
    )
    assert page.evaluate("document.activeElement.role") == "option"


def test_a_relation_is_chosen_in_the_row_of_its_concept(visit: Visit, tmp_path: Path) -> None:
    page = visit("/reviews", "Ann")
    begin(page, LIST, tmp_path)
    find(page, "broken hip")
    page.click(".candidates > li >> nth=0 >> button:text-is('Choose …')")
    assert page.locator(".candidates > li >> nth=0 >> #relation-0").is_visible()
    page.select_option("#relation-0", "narrower")
    page.focus("#mention")
    page.keyboard.press("s")
    wait_for(page, "broken hip: linked")
    find(page, "broken hip")
    assert page.inner_text(".state strong") == "linked to Hip fracture (X:6), narrower"


# --- states ---------------------------------------------------------------------------------------


def test_a_double_click_begins_one_review(visit: Visit) -> None:
    page = visit("/reviews", "Ann")
    page.fill("#pasted", "heart attack\nbroken hip\n")
    assert page.is_visible("#start")  # at once, and not after the table is read
    page.wait_for_selector("#start:enabled")
    posts: list[str] = []
    page.on("request", lambda one: one.method == "POST" and posts.append(one.url))
    page.dblclick("#start")
    page.wait_for_url("**/reviews/*")
    assert len([url for url in posts if "/v1/reviews?" in url]) == 1
    page.goto(page.url.rpartition("/")[0])
    page.wait_for_selector("#reviews li")
    check_page(page)


def test_a_review_is_renamed_archived_and_deleted_with_undo(visit: Visit, tmp_path: Path) -> None:
    page = visit("/reviews", "Ann")
    path = begin(page, LIST, tmp_path)
    page.goto(page.url.rpartition("/")[0])
    card = f"[data-review='{path.rpartition('/')[2]}']"
    assert "nothing decided yet" in page.inner_text(card)
    page.click(f"{card} button:text-is('Rename')")
    page.keyboard.type("Ward 7")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{card} a:text-is('Ward 7')")
    page.click(f"{card} button:text-is('Archive')")
    page.wait_for_selector(f"#archived {card}", state="attached")
    page.click("#archived-title")
    check_page(page)
    page.click("#told button:text-is('Undo')")
    page.wait_for_selector(f"#reviews {card}")
    page.click(f"{card} button:text-is('Delete')")
    page.wait_for_selector(card, state="detached")
    page.click("#told button:text-is('Undo')")
    page.wait_for_selector(f"#reviews {card}")


def test_where_there_is_nothing_one_sentence_and_one_action_stand(
    visit: Visit, tmp_path: Path
) -> None:
    page = visit("/reviews", "Ann")
    begin(page, LIST, tmp_path)
    page.fill("#text", "nothing like this")
    page.click("#empty button:text-is('Clear the filters')")
    page.wait_for_selector("#list-title:text-is('Queue (4)')")
    page.wait_for_load_state("networkidle")
    page.focus("#mention")
    page.keyboard.press("/")
    page.keyboard.type("qqqqqq")
    wait_for(page, "No concept has a name with “qqqqqq”.")
    page.goto(page.url.rpartition("/")[0] + "/99999")
    wait_for(page, "There is no review 99999.")
    check_page(page)
    page.click("text=See all reviews")
    page.wait_for_selector("#reviews li")


# --- phone ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_mention_is_at_the_top_and_a_bar_at_the_bottom(
    visit: Visit, tmp_path: Path, scheme: str
) -> None:
    page = visit("/reviews", "Ann", NARROW)
    page.emulate_media(color_scheme=scheme)
    begin(page, LIST, tmp_path)
    box = page.locator("#mention").bounding_box()
    assert box["y"] + box["height"] < 200
    check_page(page)
    before = page.inner_text("#mention")
    page.click(".thumb button:text-is('No concept')")
    wait_for(page, f"{before}: no concept")
    now = page.inner_text("#mention")
    page.click(".thumb button:text-is('Next')")
    page.wait_for_function("was => document.querySelector('#mention').textContent !== was", arg=now)
    small = page.evaluate(
        "[...document.querySelectorAll('body *')].filter(one => one.offsetParent"
        " && [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())"
        " && parseFloat(getComputedStyle(one).fontSize) < 12).map(one => one.outerHTML)"
    )
    assert small == []
