"""Clinical abbreviations with one usual reading, alone and beside other words."""

from __future__ import annotations

import pytest

from canonym import Concept, Linker, Mention, Name, Terminology
from canonym.exchange.auto_accept import can_auto_accept
from canonym.mentions.clinical import usual_reading
from canonym.types import Record

READ = """
HTN | hypertension
htn, uncontrolled | hypertension, uncontrolled
fx left wrist | fracture left wrist
FX LEFT WRIST | fracture LEFT WRIST
OA of the knee | osteoarthritis of the knee
recurrent UTIs | recurrent urinary tract infections
DVTs | deep vein thrombosis
breast ca | breast cancer
elevated LFTs | elevated liver function tests
low Hb, raised CRP | low hemoglobin, raised C-reactive protein
CXR abnormal | chest x-ray abnormal
AKI on CKD | acute kidney injury on chronic kidney disease
COPD with exac | chronic obstructive pulmonary disease with exacerbation
"""
UNREAD = (
    *("OA", "MI", "MS", "Ca channel blocker", "CA 125", "sob", "doe", "pad", "HTN-related"),
    *("anti-HBV", "CHF2", "hypertension", "", "fever", "CHF/COPD", "all", "Dr. Fx-Smith"),
    *("AST", "AST gene", "ALT 40", "PTH receptor", "high-ALT", "low alt"),
    *("high-risk ALT", "low back pain HR", "high grade CK", "LFTs not elevated", "normal LFTs"),
)
RECORDS: list[Record] = [
    Concept("X:1", "Hypertension"),
    Concept("X:2", "Osteoarthritis of knee"),
    Concept("X:3", "Knee pain"),
    Concept("X:4", "Rage"),
    Name("uncontrolled rage", "X:4"),
    Concept("X:5", "Subarachnoid hemorrhage"),
    Concept("X:6", "S-adenosylhomocysteine"),
    Name("SAH", "X:6"),
    Concept("X:7", "Wrist fracture"),
    Concept("X:8", "Wrist drop"),
]


@pytest.mark.parametrize("line", READ.strip().splitlines())
def test_short_forms_are_written_out(line: str) -> None:
    text, expected = line.split(" | ")
    assert usual_reading(text) == expected


@pytest.mark.parametrize("text", UNREAD)
def test_what_may_mean_something_else_stays(text: str) -> None:
    assert usual_reading(text) == ""


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(RECORDS))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTN", "X:1"),
        ("HTN, uncontrolled", "X:1"),
        ("OA of the knee", "X:2"),
        ("fx of the wrist", "X:7"),
        ("SAH", "X:6"),  # the terminology has the name itself
    ],
)
def test_the_reading_is_looked_up_where_nothing_is_called_like_that(
    linker: Linker, text: str, expected: str
) -> None:
    (link,) = linker.link([text], min_confidence=0)
    assert link.candidates[0].id == expected


def test_a_document_that_defines_the_short_form_decides(linker: Linker) -> None:
    mention = Mention("OA", context="rage of knees (OA) and pain. OA")
    (link,) = linker.link([mention], min_confidence=0)
    assert "usual reading" not in [step.name for step in link.steps]


def test_a_reading_is_a_guess(linker: Linker) -> None:
    (link,) = linker.link(["HTN"])
    assert [step.name for step in link.steps if step.name != "case"] == ["usual reading"]
    assert link.id == "X:1"
    assert not can_auto_accept(link)
