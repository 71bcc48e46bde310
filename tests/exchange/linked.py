"""Links made by hand: by a string, by similarity, a composite one, a NIL."""

from __future__ import annotations

from canonym.exchange.mappings import Origin
from canonym.types import Candidate, Link, Mention

ORIGIN = Origin(
    "1.2.3",
    "f00d",
    ("OMOP", "X"),
    "SNOMED",
    "2024",
    "2024-12-31",
    frozenset({("widow maker", "OMOP:1")}),
)
MI = Candidate("OMOP:1", "Infarction", 1.0, "infarction", "label", ("Condition",), "verbatim")
HIP = Candidate("OMOP:2", "Hip fracture", 0.61, "broken hip", "exact", ("Condition", "Disorder"))
KNEE = Candidate("X:3", "Knee | fracture", 0.9, "knee|s", "narrow", (), "normalised")
ADDED = Candidate("OMOP:1", "Infarction", 1.0, "widow maker", "exact", ("Condition",), "verbatim")


def link(text: str, *candidates: Candidate, confidence: float | None = None, **rest: str) -> Link:
    """Return the link of a text."""
    return Link(
        Mention(text), candidates, searched=text, confidence=confidence,
        nil=not candidates, reason=rest.get("reason", ""),
    )  # fmt: skip


FOUND = link("Infarction", MI, HIP, confidence=0.9)
SIMILAR = link("hip broken", HIP)
SURE = link("hip broken", HIP, confidence=0.9)
NARROW = link("Knee|S", KNEE)
BY_HAND = link("widow maker", ADDED)
NIL = link("xyz", reason="too far")
BOTH = Link(Mention("heart and hip"), parts=(link("heart", MI), link("hip", HIP)))
EMPTY = link("  ", reason="empty")
