"""Composite mentions: what is split, into what, and what stays whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.composites import split_composite
from tests.tables import cases


@cases("text", "parts")
def test_split(text, parts):
    assert split_composite(text) == (tuple(parts.split("|")) if parts else (text,))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "and",
        " and ",
        "/",
        "a/b",
        "breast cancer",
        "head and neck cancer",
        "hand, foot and mouth disease",
        "skin and soft tissue infection",
        "postoperative nausea and vomiting",
        "attention-deficit/hyperactivity disorder",
        "HIV/AIDS",
        "ischemia/reperfusion injury",
        "graft versus host disease",
        "sudden, unexplained death",
        "autosomal, recessive disorder",
        "GM2 gangliosidosis, type 1",
        "unilateral and bilateral retinoblastoma",
        "complete or partial LCAT deficiency",
        "inherited and sporadic forms of the cancer",
        "hair and nail syndrome",
        "CL/P",
        "breast and/or",
        "breast and ovarian cancer, familial",
        "gold and silver",
        "and and and cancer",
        "cancer of and",
        "heart and disease",
        "the very long and winding road that leads to your own front door or disease",
        "fever with the heart and lungs",
        "loss of a, b and c",
        "cleft lip and other bad palates",
        "deficiency of the long and winding old road up there beyond",
        "a and b " * 100,
        ", ".join(f"organ{i}" for i in range(20)) + " and lung cancer",
    ],
)
def test_stays_whole_and_unchanged(text):
    assert split_composite(text) == (text,)


def test_equal_parts_are_one():
    assert split_composite("breast or breast cancer") == ("breast or breast cancer",)


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_string(text):
    parts = split_composite(text)
    assert parts == (text,) or (len(parts) > 1 and all(parts))


WORDS = (
    "breast and or and/or / , of the in cancer tumors head neck - pre- postnatal type 1 2 II (VSD) "
    "x familial cleft lip palate C6 C7 syndrome Marfan with left right fever"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join))
def test_any_phrase(text):
    parts = split_composite(text)
    assert parts == (text,) or (len(parts) > 1 and all(part.strip() for part in parts))
    assert not any(character in part for part in parts for character in "\ue000\ue001\ue002")


def test_a_megabyte():
    text = "breast and ovarian cancer " * 40_000
    assert split_composite(text) == (text,)


def read_mentions(path):
    for line in path.read_text("utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 6:
            yield fields[3], fields[4], fields[5]


def test_on_the_development_set_of_the_ncbi_corpus(data):
    mentions = list(read_mentions(data / "ncbi-disease" / "dev.pubtator"))
    composite = [(text, ids.split("|")) for text, _, ids in mentions if "|" in ids]
    right = sum(len(split_composite(text)) == len(set(ids)) for text, ids in composite)
    assert right / len(composite) >= 0.9
    whole = [mention for mention in mentions if mention[1] != "CompositeMention"]
    single = [text for text, _, ids in whole if "|" not in ids]
    wrong = sum(len(split_composite(text)) > 1 for text in single)
    assert wrong / len(single) < 0.02
