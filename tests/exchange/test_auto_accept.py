"""Which links may be accepted unseen, and which words are short forms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from canonym.exchange.auto_accept import LEAST_CONFIDENCE, LEAST_MARGIN, can_auto_accept
from canonym.text.short_forms import is_short_form
from canonym.types import CORRECTION, USUAL_READING, Against, Candidate, Link, Mention, Step

BEST = Candidate("T:1", "Myocardial infarction", 1.0, "Heart attack", sieve="verbatim")
FAR = Candidate("T:2", "Heart failure", 0.6, "Heart failure")
LINK = Link(Mention("heart attack"), (BEST, FAR), searched="heart attack")


def _with(mention: str, name: str, searched: str = "", **changes: object) -> Link:
    best = replace(BEST, name=name)
    return replace(
        LINK,
        mention=Mention(mention),
        searched=searched or mention,
        candidates=(best, FAR),
        **changes,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (LINK, True),
        (replace(LINK, candidates=(BEST,)), True),
        (replace(LINK, candidates=()), False),
        (replace(LINK, nil=True), False),
        (replace(LINK, candidates=(), parts=(LINK, LINK)), False),
        (replace(LINK, candidates=(replace(BEST, sieve="normalised"), FAR)), False),
        (replace(LINK, candidates=(replace(BEST, scope="broad"), FAR)), False),
        (replace(LINK, candidates=(replace(BEST, scope="label"), FAR)), True),
        (_with("HEART-attack", "Heart attack"), True),
    ],
)
def test_without_a_confidence_the_name_has_to_be_verbatim(link: Link, expected: bool) -> None:
    assert can_auto_accept(link) is expected


def test_a_corrected_spelling_is_not_verbatim() -> None:
    given = _with("hart attack", "Heart attack", "heart attack")
    steps = (Step("correction", "hart attack", "heart attack"),)
    assert not can_auto_accept(replace(given, steps=steps))
    assert can_auto_accept(replace(given, steps=(Step("abbreviation", "HA", "heart attack"),)))


def test_a_second_concept_that_nearly_has_the_name_makes_it_uncertain() -> None:
    for score, expected in ((1 - LEAST_MARGIN, True), (1 - LEAST_MARGIN + 0.01, False)):
        second = replace(FAR, score=score)
        for others in ((second,), (FAR, second)):
            for confidence in (None, 0.99):
                link = replace(LINK, candidates=(BEST, *others), confidence=confidence)
                assert can_auto_accept(link) is expected


def test_a_confidence_decides_where_there_is_one() -> None:
    for confidence in (LEAST_CONFIDENCE - 0.01, LEAST_CONFIDENCE, 0.99):
        expected = confidence >= LEAST_CONFIDENCE
        by_search = replace(LINK, candidates=(replace(BEST, sieve="search", score=0.7), FAR))
        for link in (LINK, by_search):
            assert can_auto_accept(replace(link, confidence=confidence)) is expected
    for relation in ("broader", "narrower", "close"):
        against = Against(("severe",), (), (), relation)
        other = replace(LINK, candidates=(replace(BEST, sieve="search", against=against), FAR))
        assert not can_auto_accept(replace(other, confidence=0.99))
    for step in (CORRECTION, USUAL_READING):
        guessed = replace(LINK, steps=(Step(step, "hart attack", "heart attack"),), confidence=0.99)
        assert not can_auto_accept(guessed)
    assert can_auto_accept(replace(LINK, confidence=0.5), 0.5)
    assert not can_auto_accept(replace(LINK, confidence=0.99), 0.995)


def test_a_narrower_concept_is_a_rival_only_with_the_name_itself() -> None:
    below = {("T:2", "T:1")}
    for sieve, similarity, expected in (
        ("search", 0.99, True),
        ("verbatim", 1.0, False),
        ("normalised", 0.99, False),
    ):
        name = "Heart attack, unspecified"
        child = Candidate("T:2", name, similarity, name, sieve=sieve)
        link = replace(LINK, candidates=(*LINK.candidates[:1], child))
        assert can_auto_accept(link, is_below=lambda *ids: ids in below) is expected
        assert not can_auto_accept(link)
        assert not can_auto_accept(link, is_below=lambda *ids: ids[::-1] in below)


def test_a_short_form_is_certain_only_where_its_text_explains_it() -> None:
    for confidence in (None, 0.99):
        assert not can_auto_accept(_with("DM", "DM", confidence=confidence))
        assert not can_auto_accept(_with("dm", "DM", confidence=confidence))
        steps = (Step("abbreviation", "DM", "heart attack"),)
        explained = _with("DM", "Heart attack", "heart attack", confidence=confidence)
        assert can_auto_accept(replace(explained, steps=steps))


def test_a_name_that_a_person_added_is_certain_but_for_a_homonym() -> None:
    link = _with("DM", "DM", confidence=0.3)
    assert can_auto_accept(link, added={("DM", "T:1")})
    assert not can_auto_accept(link, added={("DM", "T:2")})
    homonym = replace(FAR, sieve="verbatim")
    shared = replace(link, candidates=(link.candidates[0], homonym))
    assert not can_auto_accept(shared, added={("DM", "T:1")})


def test_short_forms_have_few_capitals_or_a_figure() -> None:
    forms = ["DM", "MENs", "WT1", "OCRL1", "AIDS", "GABA", "Flu", "MPS-II"]
    assert [is_short_form(one) for one in forms] == [
        *(True, True, True, True, False, False, False, True),
    ]
