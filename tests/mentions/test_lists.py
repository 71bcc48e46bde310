"""What a cell lists, without a terminology."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions import lists
from canonym.mentions.lists import items_of, listing_of, without_number
from tests.tables import cases


@cases("cell", "items", "is_sure")
def test_items(cell, items, is_sure):
    found = items_of(cell)
    assert found is not None
    assert ("|".join(found.texts), found.is_sure) == (items, is_sure)


@pytest.mark.parametrize(
    "cell",
    [
        *("", ";", " ; ; ", "asthma", "asthma;", "1. asthma", "1.5 mg 2.5 mg", "2. a 4. b"),
        *("t(9;22)(q34;q11)", "A &lt; B", "E. coli and F. magna", "3. stage 5", "diabetes; type 2"),
        *("-vomiting -fever", "CaSO4·2H2O", "5-HT", "x" * 2000 + ";y", "fracture; left; closed"),
    ],
)
def test_no_items(cell):
    assert items_of(cell) is None


@cases("cell", "pieces")
def test_pieces(cell, pieces):
    listing = listing_of(cell)
    assert listing is not None
    assert "|".join(listing.pieces) == pieces


@pytest.mark.parametrize(
    "cell",
    ["", ",", "gout", "2,4-D", "HER2+ cancer", "CD4+CD25+", "head and neck", "DM w/o coma", "/ /"],
)
def test_no_pieces(cell):
    assert listing_of(cell) is None


@cases("text", "bare")
def test_without_number(text, bare):
    assert without_number(text) == bare


CELLS = st.lists(
    st.sampled_from(
        [
            "gout",
            "HTN",
            "fever",
            "and",
            "or",
            "w/o",
            "type",
            "B",
            "C",
            "2",
            "1.",
            "2.",
            "a)",
            *",;/+&-•\n()\t|",
        ]
    ),
    max_size=14,
)


@given(CELLS.map(" ".join) | st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_string(text):
    items = items_of(text)
    assert items is None or (len(items.texts) > 1 and all(items.texts))
    listing = listing_of(text)
    if listing is not None:
        known = frozenset(listing.pieces)
        cut = listing.cut(known.__contains__)
        assert cut is None or (len(cut) > 1 and all(cut))
        assert cut is None or {*cut} <= {*listing.candidates}
        assert listing.cut(lambda _: False) is None or all(map(lists.is_code, listing.pieces))


def test_many_pieces_take_no_time():
    assert listing_of("gout, " * 160) is None
    listing = listing_of(", ".join(f"name {i}" for i in range(24)))
    assert listing is not None
    assert len(listing.candidates) < 400


@cases("cell", "is_inverted")
def test_a_pair_whose_second_piece_qualifies_the_first_is_no_list(
    cell: str, is_inverted: bool
) -> None:
    listing = listing_of(cell)
    assert listing is not None
    assert (listing.cut(lambda _: True) is None) == is_inverted
