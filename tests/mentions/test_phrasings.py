"""Other phrasings of a finding, which count where they are names."""

from __future__ import annotations

import pytest

from canonym import Concept, Linker, Terminology
from canonym.mentions.phrasings import phrasings
from tests.tables import cases

NAMES = [
    *("Narrow face", "Wide face", "Large sella turcica", "Absent mandible", "Small mandible"),
    *("Elevated serum creatinine", "Elevated urine creatinine"),
    *("Elevated serum creatine kinase", "Mildly elevated serum creatine kinase", "Short nose"),
]


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build([Concept(name, name) for name in NAMES]))


@cases("mention", "name")
def test_a_finding_is_found_in_other_words(linker: Linker, mention: str, name: str) -> None:
    (link,) = linker.link([mention])
    assert link.id == name
    assert link.confidence is not None
    assert link.confidence > 0.8
    assert "wording" in {step.name for step in link.steps}


@pytest.mark.parametrize("mention", ["decreased serum creatinine", "increased length of nose"])
def test_the_other_way_and_another_measure_are_not_certain(linker: Linker, mention: str) -> None:
    (link,) = linker.link([mention])
    assert link.id is None or (link.confidence or 0) <= 0.8


@cases("text", "forms")
def test_a_classification_may_have_the_same_in_other_words(
    text: str, forms: tuple[str, ...]
) -> None:
    said = [step.after for step in phrasings(text)]
    assert [form for form in said if form in forms] == [*forms]
    assert bool(said) is bool(forms)


@pytest.mark.parametrize(
    "text", ["", "big", "heart attack", "failure of development", "little finger", "big toes"]
)
def test_other_texts_have_none(text: str) -> None:
    assert phrasings(text) == ()
