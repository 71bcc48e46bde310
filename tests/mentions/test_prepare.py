"""The steps in order: what a mention becomes, and what is recorded about it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.prepare import LONGEST, Preparation
from canonym.mentions.prepared import Part, Use
from canonym.mentions.spelling import Speller
from canonym.types import Step

FORMS = {"HPT": "hyperparathyroidism", "BC": "breast and ovarian cancer"}


@pytest.fixture(scope="module")
def speller():
    return Speller.build(["Ovarian cancer", "Ovarian cyst", "Breast cancer", "Breast cyst"])


def test_nothing_to_do():
    prepared = Preparation().prepare("asthma")
    assert prepared.whole == Part("asthma", (), ())
    assert not prepared.may_list
    assert prepared.parts == (prepared.whole,)


def test_abbreviation():
    whole = Preparation().prepare("primary HPT", abbreviations=FORMS).whole
    assert whole.text == "primary hyperparathyroidism"
    assert whole.steps == (Step("abbreviation", "primary HPT", "primary hyperparathyroidism"),)


def test_composite():
    prepared = Preparation().prepare("breast and ovarian cancer")
    assert prepared.whole == Part("breast and ovarian cancer", (), ())
    assert [part.text for part in prepared.parts] == ["breast cancer", "ovarian cancer"]
    assert {"breast", "ovarian cancer"} < prepared.names.keys()
    split = Step("composite", "breast and ovarian cancer", "breast cancer | ovarian cancer")
    assert all(part.steps == (split,) for part in prepared.parts)
    assert len(Preparation(composites=False).prepare("breast and ovarian cancer").parts) == 1


def test_a_long_form_can_be_composite():
    prepared = Preparation().prepare("BC", abbreviations=FORMS)
    assert prepared.whole.text == "breast and ovarian cancer"
    assert [step.name for step in prepared.parts[1].steps] == ["abbreviation", "composite"]


def test_spelling_is_an_alternative(speller):
    prepared = Preparation(speller).prepare("breast and ovarain cancer")
    assert [step.after for step in prepared.whole.ways(Use.NEAR)] == ["breast and ovarian cancer"]
    assert [part.text for part in prepared.parts] == ["breast cancer", "ovarain cancer"]
    searched = [[step.after for step in part.ways(Use.NEAR)] for part in prepared.parts]
    assert searched == [[], ["ovarian cancer"]]


def test_trial_fields():
    cleaned = Preparation(trials=True).prepare("Drug: Ibuprofen 600 mg tab")
    assert cleaned.whole.text == "Ibuprofen"
    assert cleaned.whole.steps == (Step("trial field", "Drug: Ibuprofen 600 mg tab", "Ibuprofen"),)
    assert cleaned.parts == (cleaned.whole,)
    several = Preparation(trials=True).prepare("ribociclib 5 mg + capecitabine")
    assert several.whole.text == "ribociclib 5 mg + capecitabine"
    assert [part.text for part in several.parts] == ["ribociclib", "capecitabine"]
    assert Preparation().prepare("Ibuprofen 600 mg tab").whole.text == "Ibuprofen 600 mg tab"


def test_a_long_mention_is_cut_and_says_so():
    whole = Preparation().prepare("x" * 1_000_000).whole
    assert whole.text == "x" * LONGEST
    assert whole.steps == (Step("cut", "1,000,000 characters", "1,000 characters"),)


@pytest.mark.parametrize("text", ["", " ", "?!", "\x00", "\ud800", "心筋梗塞", "/", " and "])
@pytest.mark.parametrize("trials", [False, True])
def test_bad_mentions(speller, text, trials):
    prepared = Preparation(speller, trials=trials).prepare(text, abbreviations=FORMS)
    assert prepared.parts == (prepared.whole,)
    assert prepared.whole.text.strip() == text.strip()


@given(st.text(st.characters(exclude_categories=[]), max_size=80), st.booleans())
def test_any_string(text, trials):
    prepared = Preparation(trials=trials).prepare(text, abbreviations={text[:2]: text[2:5]})
    assert prepared.parts
    assert len(prepared.parts) > 1 or prepared.parts[0] == prepared.whole
    for part in prepared.parts:
        for one, two in zip(part.steps, part.steps[1:], strict=False):
            assert one.after == two.before or two.name == "composite"


def test_guesses_are_made_of_what_was_corrected():
    speller = Speller.build(["Heart infarction", "Acute infarction of the heart"])
    part = Preparation(speller).prepare("heaart infarctoin").whole
    assert [step.after for step in part.ways(Use.NEAR)] == ["heaart infarction"]
    guess = Step("correction", "heaart infarctoin", "heart infarction")
    assert part.ways(Use.SOLE) == [guess]
    assert Preparation().prepare("heaart infarctoin").whole.readings == ()
