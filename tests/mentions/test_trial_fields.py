"""Fields of trial records: what is a name and what is dose, form, schedule or arm."""

from __future__ import annotations

import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.trial_fields import clean_trial_field


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("Ibuprofen 600 mg tab", "Ibuprofen"),
        ("Drug: Ibuprofen", "Ibuprofen"),
        ("Dietary Supplement:vitamin D3 5000 IU", "vitamin D3"),
        ("iron (2 mg/kg/daily)", "iron"),
        ("Doxycycline (200mg/day)", "Doxycycline"),
        ("aspirin 75-100 mg once daily for 2 weeks", "aspirin"),
        ("Testosterone gel", "Testosterone"),
        ("0.4% Sevoflurane", "Sevoflurane"),
        ("formoterol 12 µg b.i.d.", "formoterol"),
        ("metformin extended-release tablets 1,000 mg", "metformin"),
        ("high dose methotrexate", "methotrexate"),
        ("Arm A: aspirin", "aspirin"),
        ("open-label rituximab cohort 2", "rituximab"),
        ("insulin glargine s.c.", "insulin glargine"),
        ("ZD6474 (Zactima) 100mg", "ZD6474 (Zactima)"),
        ("oral aspirin 5 mg", "aspirin"),
        ("ertapenem iv", "ertapenem"),
        ("METFORMIN /00082702/", "METFORMIN"),
        ("PARACETAMOL (00020001)", "PARACETAMOL"),
        ("IBUPROFEN [00109201]", "IBUPROFEN"),
        ("insulin glargine 100 UNT/ML", "insulin glargine"),
    ],
)
def test_what_is_no_name_goes(field, name):
    assert clean_trial_field(field) == (name,)


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("combination of ribociclib + capecitabine", "ribociclib|capecitabine"),
        ("artesunate plus mefloquine", "artesunate|mefloquine"),
        ("artesunate vs. mefloquine", "artesunate|mefloquine"),
        ("filgrastim versus placebo", "filgrastim|placebo"),
        ("counseling+reminder", "counseling|reminder"),
        ("Combination of interferon alfa-2b and ribavirin", "interferon alfa-2b|ribavirin"),
        ("pemetrexed combined with cisplatin", "pemetrexed|cisplatin"),
        ("beclomethasone/salbutamol combination", "beclomethasone|salbutamol"),
        ("resection followed by radiotherapy", "resection|radiotherapy"),
        ("fenofibrate 80 mg and metformin (fixed combination)", "fenofibrate|metformin fixed"),
        ("aspirin + + clopidogrel", "aspirin|clopidogrel"),
        ("aspirin 5 mg + aspirin 10 mg", "aspirin"),
    ],
)
def test_combinations_are_taken_apart(field, names):
    assert clean_trial_field(field) == tuple(names.split("|"))


@pytest.mark.parametrize(
    "name",
    [
        "Oral cancer",
        "hand, foot and mouth disease",
        "graft vs. host disease",
        "graft versus host disease",
        "Na+ channel blocker",
        "CD4+ cells",
        "melanoma stage IV",
        "interstitial high dose-rate brachytherapy, PBI",
        "epoetin alfa or beta",
        "placebo",
        "placebo-controlled arm",
        "5 mg",
        "combination",
        "+",
    ],
)
def test_names_stay(name):
    assert clean_trial_field(name) == (name,)


def test_brackets_that_do_not_close_go():
    assert clean_trial_field("lamotrigine (Lamictal (brand)") == ("lamotrigine Lamictal brand",)
    assert clean_trial_field("aspirin (5 mg,)") == ("aspirin",)


def test_nothing():
    assert clean_trial_field("") == clean_trial_field(" \n ") == ()


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_string(text):
    names = clean_trial_field(text)
    assert len(names) == len(set(names))
    assert bool(names) == bool(text.split()) or text.strip().endswith(":")


@pytest.mark.parametrize("unit", ["1", "1,", "aspirin 5 mg + ", "( ", "of ", "dose ", "1 to "])
def test_time_grows_with_length_only(unit):
    start = time.perf_counter()
    clean_trial_field(unit * (50_000 // len(unit)))
    assert time.perf_counter() - start < 5
    assert clean_trial_field("(" * 50_000 + ")" * 50_000)


def test_on_real_interventions(data):
    with gzip.open(data / "clinical-trials" / "trials.tsv.gz", "rt", encoding="utf-8") as lines:
        place = next(lines).rstrip("\n").split("\t").index("interventions")
        rows = [line.rstrip("\n").split("\t") for line in lines]
    fields = {field for row in rows if len(row) > place for field in row[place].split("|") if field}
    cleaned = [name for field in fields for name in clean_trial_field(field)]
    assert len(cleaned) > len(fields) > 3_000
    assert all(name.strip() == name and name for name in cleaned)
    doses = sum(" mg" in field for field in fields)
    assert sum(" mg" in name for name in cleaned) < 0.2 * doses


@pytest.mark.parametrize("name", ["Vitamin A", "hepatitis A", "Protein A", "in situ carcinoma"])
def test_small_words_of_a_name_stay_at_its_edges(name: str) -> None:
    assert clean_trial_field(name) == (name,)
    assert clean_trial_field(f"Drug: {name} 500 mg") == (name,)
