"""What the mentions of a document say for each other's candidates."""

from __future__ import annotations

import math

import pytest

from canonym.linking.features import COMPANIES, COMPANY, LONGER, OTHERS, SHORTER, with_company
from canonym.types import Candidate, Link, Mention


def found(text: str, *ids: str, nil: bool = False) -> Link:
    near = [Candidate(id_, id_, 0.9 - place / 10, id_) for place, id_ in enumerate(ids)]
    return Link(Mention(text), tuple(near), nil=nil, searched=text)


def beside(link: Link, what: str) -> list[int]:
    """Return how many mentions have each candidate first."""
    return [round(math.expm1(one.near[what])) for one in link.candidates]


def test_mentions_count_by_how_their_words_compare() -> None:
    asked = found("familial adenomatous polyposis", "A", "B")
    others = [
        found("adenomatous polyposis", "B"),
        found("polyposis", "B"),
        found("attenuated familial adenomatous polyposis", "B"),
        found("polyposis of the colon", "B"),
        found("FAP", "A"),
    ]
    told = with_company([asked, *others])
    assert beside(told[0], SHORTER) == [0, 2]
    assert beside(told[0], LONGER) == [0, 1]
    assert beside(told[0], OTHERS) == [1, 1]
    assert beside(told[0], COMPANY) == [1, 4]
    # From the other side the longer mention is the one that was asked.
    assert beside(told[2], LONGER) == [3]
    assert told[2].candidates[0].near[OTHERS] == 0


@pytest.mark.parametrize("other", ["polyposis adenomatous familial", "chorea"])
def test_the_same_words_in_another_order_are_another_name(other: str) -> None:
    told = with_company([found("familial adenomatous polyposis", "A"), found(other, "A")])
    assert [beside(told[0], what) for what in COMPANIES] == [[0], [0], [1]]


def test_one_form_counts_once_and_not_for_itself_and_nil_not_at_all() -> None:
    asked = found("renal damage", "A", "B")
    nobody = [found("renal damage", "B"), found("Renal-Damage", "B"), found("goat", "B", nil=True)]
    told = with_company([asked, *nobody, found("kidney injury", "B"), found("Kidney injury", "B")])
    assert beside(told[0], COMPANY) == [0, 1]
    # The first of a form speaks for it.
    assert beside(told[4], COMPANY) == [0]


def test_a_mention_alone_knows_nothing() -> None:
    assert with_company([found("renal damage", "A")] * 2)[0].candidates[0].near == {}


def test_parts_of_a_composite_stand_beside_each_other() -> None:
    parts = (found("ovarian cancer", "A", "B"), found("cancer", "B"))
    (told,) = with_company([Link(Mention("ovarian cancer and cancer"), parts=parts)])
    assert beside(told.parts[0], SHORTER) == [0, 1]
    assert beside(told.parts[1], COMPANY) == [0]
