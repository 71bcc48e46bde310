"""Findings in plain words get the names that clinicians have for them, and nothing else does."""

from __future__ import annotations

import pytest

from canonym import Concept, Linker, Name, Terminology
from canonym.mentions.measurements import finding_name, measurement_name
from tests.tables import cases


@cases("text", "name")
def test_what_clinicians_call_it(text: str, name: str) -> None:
    assert measurement_name(text) == name


@cases("text")
def test_what_is_no_such_finding(text: str) -> None:
    assert measurement_name(text) == ""


@pytest.fixture(scope="module")
def linker() -> Linker:
    records = [
        Concept("F:1", "Hypokalemia"),
        Name("Low serum kalium", "F:1"),
        Concept("F:2", "Decreased urinary potassium"),
        Concept("F:3", "Hypertensive disease"),
        Name("hypertension", "F:3"),
        Concept("F:4", "High blood pressure in pregnancy"),
        Concept("F:5", "Abnormal potassium"),
        Concept("F:6", "Tachycardias"),
        Concept("F:7", "Increased heart rates"),
        Concept("F:8", "Finding of increased serum sodium"),
        Concept("F:9", "Hypernatremia"),
    ]
    return Linker.build(Terminology.build(records))


def test_a_finding_is_looked_up_by_its_name(linker: Linker) -> None:
    (link,) = linker.link(["low potassium level"], k=3)
    assert link.id == "F:1"
    assert [step.after for step in link.steps if step.name == "finding"] == ["hypokalemia"]
    assert len(link.candidates) == 3  # what the words are near to comes behind
    assert link.candidates[1].id in {"F:2", "F:5"}
    scores = [one.score for one in link.candidates]
    assert scores == sorted(scores, reverse=True)
    assert linker.link(["low potassium level"], k=1)[0].id == "F:1"


def test_the_words_of_the_terminology_go_first(linker: Linker) -> None:
    assert linker.link(["increased heart rate"])[0].id == "F:7"
    assert linker.link(["elevation of serum sodium"])[0].id == "F:8"
    assert linker.link(["Hypernatraemia"])[0].id == "F:9"


def test_a_finding_without_a_name_there_is_searched_as_it_stands(linker: Linker) -> None:
    (link,) = linker.link(["low sodium"])
    assert link.candidates
    assert not [step for step in link.steps if step.name == "finding"]


def test_without_sieves_nothing_is_known_by_its_name(linker: Linker) -> None:
    searching = Linker.build(linker.terminology, sieves=[])
    (link,) = searching.link(["low potassium level"])
    assert not [step for step in link.steps if step.name == "finding"]


@cases("text", "name")
def test_what_is_inflamed_has_a_name(text: str, name: str) -> None:
    assert finding_name(text) == name
