"""Duplicates of a corpus, and its census."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.corpora.census import Duplicate, drop_duplicates, duplicates, take_census
from canonym.errors import InvalidInput
from canonym.types import Document, Mention


def named(text: str, *ids: str, rule: str = "any") -> Mention:
    return Mention(text, ids=ids, rule=rule)


def test_duplicates_by_id_and_by_text() -> None:
    hip = Mention("hip", 7, 10, ids=("D1",))
    documents = [
        Document("1", "Broken hip", (hip,)),
        Document("2", "x"),
        Document("1", "Broken  HIP", (hip,)),
        Document("3", "broken hip"),
        Document("2", "y"),
        Document("4", ""),
        Document("5", ""),
    ]
    assert duplicates(documents) == [
        Duplicate(("1", "1"), (0, 2), True, True),
        Duplicate(("1", "1", "3"), (0, 2, 3), True, False),
        Duplicate(("2", "2"), (1, 4), False, True),
    ]
    assert drop_duplicates(documents) == [documents[i] for i in (0, 1, 3, 5, 6)]
    # Two tables of mentions are two documents without an id.
    tables = [Document("", "", (Mention(text, ids=("X:1",)),)) for text in ("ague", "fever")]
    assert drop_duplicates([*documents[:1], *tables]) == [documents[0], *tables]
    assert duplicates([]) == []


def test_census_by_hand() -> None:
    first = Mention("Broken hip", 0, 10, "A", ("MESH:D1",), "any", "1")
    inside = Mention("hip", 7, 10, "A", ("D1", "-1"), "all", "1")
    again = Mention("Broken hip", 0, 10, "A", (), "nil", "1")
    outside = Mention("leg", 20, 23, "B", (), "any", "1")
    after = Mention("x", 10, 11, "B", ("D1",), "any", "2")
    loose = Mention("loose", ids=("D3",))
    text = Document("1", "Broken hip", (first, inside, again, outside))
    census = take_census([text, text, after, loose])
    assert take_census([Document("3", "x", (loose,))]).outside == []
    assert (census.n_documents, census.n_mentions) == (3, 10)
    assert census.types == {"A": 6, "B": 3, "": 1}
    assert census.prefixes == {"MESH": 2, "": 4}
    assert (census.n_composite, census.n_nil, census.n_unknown) == (2, 2, 2)
    assert census.duplicates == [Duplicate(("1", "1"), (0, 1), True, True)]
    assert census.outside == [outside] * 2
    assert census.overlaps == [(first, inside)] * 2
    assert census.repeated == [again] * 2
    assert census.oddities() == [
        "2 documents are the same (1): same text, same mentions",
        "the gold ids have several prefixes: MESH 2, none 4",
        "2 mentions have offsets outside of their text, the first is 'leg' at 20-23 of document "
        "'1'",
        "2 pairs of mentions overlap, the first is 'Broken hip' at 0-10 of document '1'",
        "2 mentions repeat the span and type of another, the first is 'Broken hip' at 0-10 of "
        "document '1'",
    ]


def test_census_of_a_tidy_and_of_an_empty_corpus() -> None:
    tidy = take_census([named("a", "D1"), named("b", "D2")])
    assert tidy.oddities() == []
    assert tidy.n_documents == 0
    with pytest.raises(InvalidInput, match="empty"):
        take_census([])


def test_overlaps_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    starts = rng.integers(0, 60, 40)
    mentions = [
        Mention("x", int(s), int(s + n), str(i))
        for i, (s, n) in enumerate(zip(starts, rng.integers(1, 9, 40), strict=True))
    ]
    found = take_census([Document("1", "x" * 80, tuple(mentions))]).overlaps
    naive = {
        frozenset((a.type, b.type))
        for a in mentions
        for b in mentions
        if a.type < b.type and a.start < b.end and b.start < a.end  # type: ignore[operator]
    }
    assert {frozenset((a.type, b.type)) for a, b in found} == naive
    assert len(found) == len(naive)
