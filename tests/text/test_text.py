"""The normalisation as a whole: sequences of steps, explanations, properties."""

from __future__ import annotations

import itertools
import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.text import (
    PLAIN,
    STEPS,
    STRONG,
    UNORDERED,
    biosyn_normal,
    explain,
    normalise,
    normalise_all,
    tokens,
)

PARTS = (
    "type ii i v x s ' 's - , of the α β2 alpha beta1 crohn protein haemo oedema tumour ies ases "
    "oses uses generalised s carcinomata diverticulas & amp; &apos; ß é \u0301 ı æ xii xiis stage "
    "factor vitamin graves' men ising Ǽ й \x00 \u00ad \ud800 s' 1.5 ™ \u02bc \u00b4 disease "
    "haemoglobin"
)
ANY = st.text(st.characters(exclude_categories=[]), max_size=40)
FRAGMENTS = st.lists(
    st.sampled_from(PARTS.split(" ")),
    max_size=10,
).flatmap(lambda parts: st.sampled_from(["".join(parts), " ".join(parts)]))


@pytest.mark.parametrize(
    ("before", "plain", "strong"),
    [
        ("Crohn’s  Disease", "crohn s disease", "crohn disease"),
        ("Parkinsons' disease", "parkinsons disease", "parkinson disease"),
        ("Gunther&apos;s disease", "gunther s disease", "gunther disease"),
        ("Diabetes Mellitus, Type II", "diabetes mellitus type ii", "diabetes mellitus type 2"),
        ("TNFα", "tnfα", "tnf alpha"),
        ("Interferon-ß", "interferon β", "interferon beta"),
        ("β2-microglobulin", "β2 microglobulin", "beta 2 microglobulin"),
        ("beta-2-Microglobulins", "beta 2 microglobulins", "beta 2 microglobulin"),
        ("Tumours of the œsophagus", "tumours of the oesophagus", "tumor of the esophagus"),
        ("1.5", "1 5", "1 5"),
        ("心筋梗塞", "心筋梗塞", "心筋梗塞"),
        ("инфаркт Миокарда", "инфаркт миокарда", "инфаркт миокарда"),
        ("", "", ""),
        ("?!-- …", "", ""),
        ("\ud800\x00", "", ""),
    ],
)
def test_plain_and_strong(before, plain, strong):
    assert normalise(before) == plain
    assert normalise(before, STRONG) == strong


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cancer of the breast", "Breast Cancers"),
        ("Abdomen, Acute", "acute abdomen"),
        ("Carcinoma, Non-Small-Cell Lung", "non-small cell lung carcinoma"),
    ],
)
def test_unordered_meets_inverted_names(one, other):
    assert normalise(one, UNORDERED) == normalise(other, UNORDERED)


def test_distinct_concepts_stay_apart():
    apart = ["protein s deficiency", "protein deficiency", "protein c deficiency", "1.5", "15"]
    assert len(set(normalise_all(apart, STRONG))) == len(apart)


def test_steps_run_in_the_order_given():
    assert normalise("Crohn's", ["punctuation", "case"]) == "crohn s"
    assert normalise("Crohn's", []) == "Crohn's"


@pytest.mark.parametrize("call", [normalise, explain, tokens, normalise_all])
def test_unknown_step(call):
    with pytest.raises(InvalidInput, match=r"'stemming' is not a normalisation step.*possessive"):
        call("text", ["case", "stemming"])


def test_explain_lists_what_fired():
    steps = explain("Tumours of type II", STRONG)
    assert [step.name for step in steps] == ["case", "spelling", "plural", "numerals"]
    assert steps[0].before == "Tumours of type II"
    assert steps[-1].after == "tumor of type 2"
    assert explain("tumor", STRONG) == ()


def test_tokens():
    assert tokens("Non-small-cell carcinoma (NSCLC)") == [
        "non",
        "small",
        "cell",
        "carcinoma",
        "nsclc",
    ]
    assert tokens("Tumours", STRONG) == ["tumor"]
    assert tokens("...") == []


def test_normalise_all_streams():
    def endless():
        while True:
            yield "A-B"

    stream = normalise_all(endless())
    assert [next(stream), next(stream)] == ["a b", "a b"]


def test_biosyn_rule():
    assert biosyn_normal("Parkinson's  Disease_(type-I)") == "parkinson s disease type i"
    assert biosyn_normal("α–β") == "α–β"
    assert biosyn_normal(string.punctuation) == ""


def test_biosyn_rule_counts_the_names_of_medic(data):
    lines = (data / "medic-2012" / "medic_06Jul2012.txt").read_text("utf-8").splitlines()
    names = [name for line in lines for name in line.split("||")[-1].split("|")]
    assert len(names) == 76_237
    assert len({biosyn_normal(name) for name in names}) == 71_924


@given(ANY)
def test_biosyn_rule_is_the_naive_one(text):
    naive = "".join(" " if c in string.punctuation else c for c in text.lower())
    assert biosyn_normal(text) == " ".join(naive.split())


@given(ANY | FRAGMENTS)
def test_plain_and_strong_are_idempotent(text):
    for steps in (PLAIN, STRONG):
        once = normalise(text, steps)
        assert normalise(once, steps) == once


@given(ANY | FRAGMENTS)
def test_no_punctuation_case_or_outer_space_survives(text):
    for steps in (PLAIN, STRONG):
        after = normalise(text, steps)
        assert after == " ".join(after.split())
        kinds = {unicodedata.category(character) for character in after}
        assert not {kind for kind in kinds if kind in ("Cc", "Cf", "Cs") or kind[0] in "PS"}


@given(st.text(st.characters(max_codepoint=127), max_size=60) | FRAGMENTS)
def test_fast_path_equals_the_steps_one_by_one(text):
    expected = text
    for name in PLAIN:
        expected = STEPS[name](expected)
    assert normalise(text) == expected


@given(ANY | FRAGMENTS, st.sampled_from([PLAIN, STRONG, UNORDERED]))
def test_explanation_ends_where_normalise_does(text, steps):
    fired = explain(text, steps)
    end = fired[-1].after if fired else text
    assert end == normalise(text, steps)
    assert all(one.after == two.before for one, two in itertools.pairwise(fired))


def test_a_megabyte_in_one_string():
    text = "Carcinomas, type II; " * 50_000
    assert normalise(text).startswith("carcinomas type ii")
    assert normalise(text, STRONG).count("carcinoma type 2") == 50_000
    assert normalise("s " * 500_000, STRONG).startswith("s s")
    assert len(normalise("a" * 1_000_000, STRONG)) == 1_000_000


def test_ideographs_are_words_of_their_own():
    steps = (*PLAIN, "ideographs")
    assert normalise("２型糖尿病", steps) == "2 型 糖 尿 病"
    assert normalise("心筋梗塞のリスク", steps) == "心 筋 梗 塞 のリスク"
    assert normalise("Crohn's disease", steps) == normalise("Crohn's disease")
    assert normalise("𠮷田", steps) == "𠮷 田"
    assert "ideographs" not in STRONG
