"""Mentions that explain each other, in brackets."""

from __future__ import annotations

import pytest

from canonym import Concept, Document, Linker, Mention, Name, Terminology
from canonym.mentions.aliases import find_aliases

AMMONIUM = "ammonium acetate"


def placed(text: str, *names: str, type_: str = "Chemical") -> list[Mention]:
    found, at = [], 0
    for name in names:
        at = text.index(name, at)
        found.append(Mention(name, at, at + len(name), type=type_))
        at += len(name)
    return found


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("Pretreatment with ammonium acetate (NH4Ac) alone", AMMONIUM, "NH4Ac"),
        ("Pretreatment with ammonium acetate [ NH4Ac, 6 mmol] alone", AMMONIUM, "NH4Ac"),
        ("novel PG-9 (3alpha-tropyl propionate), a drug", "PG-9", "3alpha-tropyl propionate"),
        ("the agonist (CP 93129) of it", "agonist", "CP 93129"),
        ("superoxide(O2-) was", "superoxide", "O2-"),
    ],
)
def test_either_stands_for_the_other(text: str, one: str, other: str) -> None:
    mentions = placed(text, one, other)
    # A short form explains nothing.
    expected = {(one, "Chemical"): other, (other, "Chemical"): one}
    expected = {name: by for name, by in expected.items() if len(by) > 5}
    assert find_aliases(reversed(mentions), text) == expected


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("hypertension (stroke) was seen", "hypertension", "stroke"),  # neither is a code
        ("ammonium acetate and NH4Ac were", AMMONIUM, "NH4Ac"),
        ("ammonium acetate (with NH4Ac) was", AMMONIUM, "NH4Ac"),
        ("ammonium acetate (NH4Ac given twice) was", AMMONIUM, "NH4Ac"),
        ("ammonium acetate (NH4Ac", AMMONIUM, "NH4Ac"),  # the text ends
        ("AZT (AZT) was", "AZT", "AZT"),
    ],
)
def test_other_brackets_say_nothing(text: str, one: str, other: str) -> None:
    assert find_aliases(placed(text, one, other), text) == {}


def test_what_is_known_otherwise_is_left_alone() -> None:
    text = "Pretreatment with ammonium acetate (NH4Ac) alone"
    one, other = placed(text, AMMONIUM, "NH4Ac")
    assert find_aliases([one, other], text, defined={"NH4Ac": "x"}) == {}
    assert find_aliases([one, Mention("NH4Ac", other.start, other.end, type="Gene")], text) == {}
    assert find_aliases([one, Mention("NH4Ac", type="Chemical")], text) == {}
    # Offsets that overlap, or lie behind the text.
    assert find_aliases([one, Mention("NH4Ac", 20, 41, type="Chemical")], text) == {}
    assert find_aliases([Mention("A1", 90, 92), Mention("B1", 94, 96)], text) == {}


def test_the_first_pair_of_a_document_holds() -> None:
    text = "alphanol (SM-5887), then ammonium acetate (SM-5887)."
    found = find_aliases(placed(text, "alphanol", "SM-5887", AMMONIUM, "SM-5887"), text)
    assert found["SM-5887", "Chemical"] == "alphanol"
    assert found[AMMONIUM, "Chemical"] == "SM-5887"


def test_the_longest_mention_before_the_bracket_counts() -> None:
    text = "Pretreatment with ammonium acetate (NH4Ac) alone"
    mentions = placed(text, AMMONIUM, "NH4Ac") + placed(text, "acetate") + placed(text, "ammonium")
    assert find_aliases(mentions, text)["NH4Ac", "Chemical"] == AMMONIUM


def test_a_linker_takes_what_is_found_better() -> None:
    records = [
        Concept("X:1", "Ammonium acetate"),
        Concept("X:2", "Cholesteryl succinate"),
        Name("NX", "X:2"),
        Concept("X:3", "Cisplatin"),
        Concept("X:4", "Nahcolite"),
        Name("WAGR-X", "X:4"),
    ]
    linker = Linker.build(Terminology.build(records), encoders=["chargrams"])
    text = (
        "Given ammonium acetate (NH4Ac), later NH4Ac; cisplatin (NX), SM-5887 (cisplatin), "
        "cholesteryl succinates (WAGR-X), E (cisplatin)."
    )
    mentions = placed(
        text,
        *(AMMONIUM, "NH4Ac", "NH4Ac", "cisplatin", "NX", "SM-5887", "cisplatin"),
        *("cholesteryl succinates", "WAGR-X", "E", "cisplatin"),
        type_="",
    )
    links = linker.link_document(Document("1", text, tuple(mentions)))
    found = [link.id for link in links]
    assert found[:7] == ["X:1", "X:1", "X:1", "X:3", "X:3", "X:3", "X:3"]
    # A code stands for what the text writes before it, though it is a name of something else.
    assert found[7:] == ["X:2", "X:2", "X:3", "X:3"]
    assert links[1].searched == AMMONIUM
    step = links[2].steps[0]
    assert (step.name, step.before, step.after) == ("gloss", "NH4Ac", AMMONIUM)
    assert links[4].searched == "cisplatin"
    text = "odd compound (NX), cisplatin (sodium formate)"
    mentions = placed(text, "odd compound", "NX", "cisplatin", "sodium formate", type_="")
    links = linker.link_document(Document("1", text, tuple(mentions)))
    # Names stay where no sieve knows the explanation, or where they look like words.
    assert [link.searched for link in links[1:]] == ["NX", "cisplatin", "sodium formate"]
    assert linker.link(["NH4Ac"])[0].id != "X:1"
