"""Fields of trial records: what is a name and what is dose, form, schedule or arm."""

from __future__ import annotations

import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.trial_fields import clean_trial_field
from tests.tables import cases


@cases("field", "name")
def test_what_is_no_name_goes(field, name):
    assert clean_trial_field(field) == (name,)


@cases("field", "names")
def test_combinations_are_taken_apart(field, names):
    assert clean_trial_field(field) == tuple(names.split("|"))


@cases("name")
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
