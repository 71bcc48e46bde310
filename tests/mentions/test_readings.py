"""Readings of clinical abbreviations, chosen by the other words of a text."""

from __future__ import annotations

import pytest

from canonym.mentions.clinical import text_readings, usual_reading
from canonym.mentions.readings import (
    clinical_readings,
    has_several,
    has_usual,
    readings_in,
    readings_of,
)
from canonym.rules import Rule, shipped
from tests.tables import cases


@cases("text", "short", "reading")
def test_the_text_chooses_between_readings(text: str, short: str, reading: str) -> None:
    assert clinical_readings(text)[short] == reading


@pytest.mark.parametrize("text", ["MS.", "He has PE", "RA or not", "PSC 833"])
def test_an_unclear_abbreviation_is_left_alone(text: str) -> None:
    assert clinical_readings(text) == {}


@pytest.mark.parametrize(
    ("texts", "readings"),
    [
        (["CP/palps, troponin neg"], {"CP": "chest pain"}),
        (["CP", "a spastic child"], {"CP": "cerebral palsy"}),
        (["OA; hips; glaucoma"], {}),  # what nearly all notes mean stays
        (["CP, HTN"], {}),
        (["x" * 2_000 + " CP troponin"], {}),
    ],
)
def test_a_cell_and_its_context_choose_as_a_text_does(
    texts: list[str], readings: dict[str, str]
) -> None:
    assert readings_in(*texts) == readings


def test_one_usual_reading_needs_no_context() -> None:
    found = clinical_readings("HTN, afib and COPDs")
    assert found == {
        "HTN": "hypertension",
        "afib": "atrial fibrillation",
        "COPDs": "chronic obstructive pulmonary diseases",
    }


def test_words_of_lists_and_words_of_english_are_not_read() -> None:
    assert clinical_readings("a pad, his wt, add to the lac, sob") == {}


def test_there_are_at_least_six_hundred() -> None:
    alone = {short for short in text_readings() if short.isupper() and not has_several(short)}
    assert len(alone) + len(_several()) >= 600


def test_every_reading_has_words_that_speak_for_it() -> None:
    for short, rules in _several().items():
        assert len({rule.means for rule in rules}) == len(rules), short
        assert all(rule.beside for rule in rules), short


def test_an_abbreviation_with_a_usual_reading_has_it_first() -> None:
    for rule in shipped().of_kind("reading"):
        if rule.where in ("", "list", "text") and rule.form in _several():
            assert readings_of(rule.form)[0] == rule.means
            assert has_usual(rule.form)


@pytest.mark.parametrize("kind", ["reading", "one of several"])
def test_shares_are_of_collections_of_notes(kind: str) -> None:
    for rule in shipped().of_kind(kind):
        assert (rule.share is None) == (rule.n == 0), rule.id
        assert rule.share is None or 0 <= rule.share <= 1, rule.id


def test_what_notes_seldom_mean_is_not_read_without_a_sign() -> None:
    by_case = {"MDS"}  # *MDs* are doctors
    for rule in shipped().of_kind("reading"):
        alone = rule.where in ("", "list", "text")
        assert not alone or rule.share is None or rule.share >= 0.5 or rule.form in by_case, rule.id


@pytest.mark.parametrize("rule", [rule for rule in shipped().of_kind("reading") if not rule.where])
def test_a_reading_of_lists_and_texts_is_read_in_both(rule: Rule) -> None:
    assert rule.means in usual_reading(rule.example)
    assert rule.means in clinical_readings(rule.example).values()


@cases("text", "reading")
def test_forms_of_a_short_form(text: str, reading: str) -> None:
    assert usual_reading(text) == reading


@pytest.mark.parametrize("text", ["ca channel blocker", "PADS", "DOES", "pets", "Pad", "low ca"])
def test_words_and_other_senses_stay(text: str) -> None:
    assert usual_reading(text) == ""


def test_a_dose_makes_no_other_substance() -> None:
    assert clinical_readings("HCTZ 25 mg daily") == {"HCTZ": "hydrochlorothiazide"}
    assert clinical_readings("HCTZ 25 study") == {}


def _several() -> dict[str, list[Rule]]:
    by_form: dict[str, list[Rule]] = {}
    for rule in shipped().of_kind("one of several"):
        by_form.setdefault(rule.form, []).append(rule)
    return by_form
