"""What a cell lists, without a terminology."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions import lists
from canonym.mentions.lists import items_of, listing_of, without_number


@pytest.mark.parametrize(
    ("cell", "items", "is_sure"),
    [
        ("a b; c d", "a b|c d", True),
        ("HTN;DM2", "HTN|DM2", True),
        ("HTN; DM2; HTN", "HTN|DM2", True),
        ("A &lt; B; gout", "A &lt; B|gout", True),
        ("1. HTN, 2. DM, and 3. CAD", "HTN|DM|CAD", True),
        ("9) HTN 10) DM", "HTN|DM", True),
        ("A) HTN B) DM", "HTN|DM", True),
        ("a. HTN b. DM", "HTN|DM", False),
        ("i) HTN ii) DM", "HTN|DM", True),
        ("① HTN ② DM", "HTN|DM", True),
        ("Dx: 1. HTN 2. DM", "HTN|DM", True),
        ("Problems:\n- HTN\n- DM", "HTN|DM", True),
        ("- HTN - DM", "HTN|DM", False),
        ("HTN\nDM", "HTN|DM", False),
        ("HTN\nDM\nCAD", "HTN|DM|CAD", True),
        ("• HTN\n• DM", "HTN|DM", True),
        ("HER2+; ER-", "HER2+|ER-", True),
        ("-vomiting; -fever", "-vomiting|-fever", True),
    ],
)
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


@pytest.mark.parametrize(
    ("cell", "pieces"),
    [
        ("a1, b1 and c1", "a1|b1|c1"),
        ("fever,cough", "fever|cough"),
        ("amoxicillin+clavulanate", "amoxicillin|clavulanate"),
        ("gout (left, right), stroke", "gout (left, right)|stroke"),
        ("MRI w/wo contrast, gout", "MRI w/wo contrast|gout"),
        ("hand, foot and mouth disease, gout", "hand, foot and mouth disease|gout"),
        ("gout、stroke", "gout|stroke"),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("1. gout", "gout"),
        ("(2) gout", "gout"),
        ("#3) gout", "gout"),
        ("• gout", "gout"),
        ("1.5 mg", "1.5 mg"),
        ("5-HT", "5-HT"),
        ("2. 5 mg", "2. 5 mg"),
        ("-vomiting", "-vomiting"),
    ],
)
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
        assert cut is None or (len(cut.names) > 1 and all(cut.names))
        assert cut is None or {*cut.names} <= {*listing.candidates}
        assert listing.cut(lambda _: False) is None or all(map(lists.is_code, listing.pieces))


def test_many_pieces_take_no_time():
    assert listing_of("gout, " * 160) is None
    listing = listing_of(", ".join(f"name {i}" for i in range(24)))
    assert listing is not None
    assert len(listing.candidates) < 400


@pytest.mark.parametrize(
    ("cell", "is_inverted"),
    [
        ("abortion, septic", True),
        ("neuralgia, diabetic", True),
        ("brain abscess, multiple", True),
        ("disability, children with", True),
        ("death, premature", True),
        ("asthma, eczema", False),
        ("pneumonia, colic", False),
        ("ulcer, bleed", False),
        ("phenytoin, phenobarbital", False),
        ("alcohol, withdrawal", False),
        ("asthma, eczema, diabetic", False),
        ("asthma and diabetic", False),
    ],
)
def test_a_pair_whose_second_piece_qualifies_the_first_is_no_list(
    cell: str, is_inverted: bool
) -> None:
    listing = listing_of(cell)
    assert listing is not None
    assert (listing.cut(lambda _: True) is None) == is_inverted
