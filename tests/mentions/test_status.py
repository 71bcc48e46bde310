"""The status of mentions in a list, read from their own words."""

from __future__ import annotations

import csv
import time
from collections import Counter
from pathlib import Path

import pytest

from canonym.mentions.cues import FLAGS, find_cues
from canonym.mentions.prepare import Preparation
from canonym.mentions.status import Status, may_have_status, read_status, split_statuses, wordings

with (Path(__file__).parent / "statuses.tsv").open(encoding="utf-8", newline="") as lines:
    TABLE = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["mention"])
def test_the_words_of_status_are_taken_off(row: dict[str, str]) -> None:
    flags = (row["status"],) if row["status"] else ()
    assert read_status(row["mention"]) == Status(row["core"], flags)


def test_the_table_has_every_status_and_counter_examples() -> None:
    n = Counter(row["status"] for row in TABLE)
    assert set(n) == {"", *FLAGS}
    assert min(n.values()) >= 30


def test_the_words_are_read_in_capitals_and_between_spaces() -> None:
    for row in TABLE:
        if row["status"]:
            for written in (f"  {row['mention']} ", row["mention"].capitalize()):
                assert read_status(written).flags == (row["status"],), written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no h/o asthma", Status("asthma", ("negated",))),
        ("no family history of gout", Status("gout", ("negated", "family"))),
        ("possible h/o stroke", Status("stroke", ("historical", "uncertain"))),
        ("mother with possible gout", Status("gout", ("family", "uncertain"))),
        ("h/o gout?", Status("gout", ("historical", "uncertain"))),
        ("poss. gout", Status("gout", ("uncertain",))),
        ("s/o sepsis", Status("sepsis", ("uncertain",))),
        ("c/f pneumonia", Status("pneumonia", ("uncertain",))),
        ("pneumonia not ruled out", Status("pneumonia", ("uncertain",))),
        ("pneumonia was not excluded", Status("pneumonia", ("uncertain",))),
        ("r/o absence of the thumb", Status("absence of the thumb", ("uncertain",))),
        ("no fever, cough or chills", Status("fever, cough or chills", ("negated",))),
        ("no Grover&apos;s disease", Status("Grover&apos;s disease", ("negated",))),
        ("no fever; cough", Status("no fever; cough")),
        ("LFTs not elevated", Status("elevated LFTs", ("negated",))),
        ("glucose was not significantly increased.", Status("increased glucose", ("negated",))),
        ("PSA isn't high", Status("high PSA", ("negated",))),
        ("heart rate never low", Status("low heart rate", ("negated",))),
        ("LFTs elevated", Status("LFTs elevated")),
        ("not elevated", Status("elevated", ("negated",))),
        ("", Status("")),
        ("h/o", Status("h/o")),
        ("???", Status("???")),
    ],
)
def test_several_words_of_status_join_and_a_turn_ends_them(text: str, expected: Status) -> None:
    assert read_status(text) == expected


def test_the_sides_of_a_turn_have_a_status_each() -> None:
    assert split_statuses("no fever but cough") == ("no fever", "cough")
    assert split_statuses("PE vs. pneumonia versus r/o CHF") == ("? PE", "? pneumonia", "r/o CHF")
    for whole in ("graft vs host disease", "graft versus host reaction", "valves", "fever, cough"):
        assert split_statuses(whole) == (whole,)


def test_a_name_would_say_the_status_so() -> None:
    said = wordings("FHx: gout", Status("gout", ("family",)))
    assert [(one.text, one.says, one.left) for one in said] == [
        ("FHx: gout", ("family",), ()),
        ("family history of gout", ("family",), ()),
    ]
    assert [one.text for one in wordings("x", Status("x", ("negated", "family")))] == ["x"]
    written_out = [one.text for one in wordings("s/p MI", Status("MI", ("historical",)))]
    assert written_out[4:9] == [
        "old MI",
        *("history of myocardial infarction", "personal history of myocardial infarction"),
        *("previous myocardial infarction", "old myocardial infarction"),
    ]
    assert "old myocardial infarct" in written_out


def test_a_plus_in_front_says_that_a_test_is_positive_or_a_symptom_there() -> None:
    prepare = Preparation().prepare
    for mention in ("+PPD", "(+) PPD", "+ PPD", "+ve PPD"):
        whole = prepare(mention).whole
        assert (whole.text, whole.status) == ("PPD", ())
        said = [(one.text, one.says) for one in whole.stated]
        assert said[1:] == [("positive PPD", ()), ("PPD positive", ())]
        assert said[0] == (mention, ("positive",))  # which no name says
    for other in ("+2 edema", "++ edema", "+", "PPD", "+1"):
        assert not prepare(other).whole.stated
    doubt = prepare("+/- fever").whole
    assert (doubt.text, doubt.status) == ("fever", ("uncertain",))


def test_parts_of_a_mention_have_the_status_of_the_whole_or_their_own() -> None:
    prepare = Preparation().prepare
    both = prepare("no breast and ovarian cancer")
    assert (both.whole.text, both.whole.status) == ("breast and ovarian cancer", ("negated",))
    assert [(part.text, part.status) for part in both.parts] == [
        ("breast cancer", ("negated",)),
        ("ovarian cancer", ("negated",)),
    ]
    assert [step.name for step in both.parts[0].steps] == ["status", "composite"]
    turned = prepare("no fever but possible cough")
    assert [(part.text, part.status) for part in turned.parts] == [
        ("fever", ("negated",)),
        ("cough", ("uncertain",)),
    ]
    doubt = prepare("R/O MI vs PE")
    assert [(part.text, part.status) for part in doubt.parts] == [
        ("MI", ("uncertain",)),
        ("PE", ("uncertain",)),
    ]
    assert [one.text for one in prepare("r/o absence of the thumb").whole.stated] == [
        "r/o absence of the thumb",
        "possible absence of the thumb",
        "suspected absence of the thumb",
        "absence of the thumb",
    ]


def test_cues_do_not_overlap_and_the_longest_counts() -> None:
    cues = find_cues("No family history of gout, gram negative sepsis, HER2-negative, in 2009")
    assert [cue.words for cue in cues] == ["no family history of", "gram negative", "in 2009"]


def test_other_mentions_are_told_apart_at_once() -> None:
    mentions = ["primary hyperparathyroidism of the left", "Myocardial infarction", "NIDDM"] * 2000
    find_cues("")  # makes the tables
    assert not any(map(may_have_status, mentions))
    begun = time.process_time()
    for mention in mentions:
        may_have_status(mention)
    assert (time.process_time() - begun) / len(mentions) < 10e-6  # a few times what it takes
