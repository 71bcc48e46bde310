"""Bare names and qualifiers, from the mention to the concept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from canonym import Linker, Terminology
from tests.linkers import concepts
from tests.tables import cases, tables

TABLES = tables(__file__)
CLASSES = concepts(*TABLES["classes"])


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(CLASSES), encoders=["default"])


@cases("mention", "id_", "sieve", "steps")
def test_bare_names_go_first(
    linker: Linker, mention: str, id_: str, sieve: str, steps: tuple[str, ...]
) -> None:
    (link,) = linker.link([mention], k=3)
    assert (link.id, link.candidates[0].sieve) == (f"X:{id_}", sieve)
    assert [step.name for step in link.steps if step.name in ("qualifiers", "broader")] == [*steps]
    scores = [one.score for one in link.candidates]
    assert scores == sorted(scores, reverse=True)


def test_the_rest_of_a_class_is_not_the_class(linker: Linker) -> None:
    (link,) = linker.link(["other sepsis"])
    assert (link.id, link.candidates[0].sieve) == ("X:A41", "verbatim")
    (link,) = linker.link(["other gout"])
    assert (link.id, [step.name for step in link.steps]) == ("X:M10", ["broader"])


@pytest.mark.parametrize("mention", ["all", "ltbi", "CRP", "C-reactive protein"])
def test_a_short_form_in_brackets_is_that_of_the_whole_name_as_it_is_written(
    linker: Linker, mention: str
) -> None:
    (link,) = linker.link([mention], min_confidence=0)
    assert all(candidate.sieve == "search" for candidate in link.candidates)


def test_the_number_of_candidates_changes_no_first_one(linker: Linker) -> None:
    for mention in ("syncope", "hypernatremia", "sepsis"):
        assert len({linker.link([mention], k=k)[0].id for k in (1, 2, 5, 20)}) == 1


def test_added_names_have_bare_forms_too(tmp_path: Path) -> None:
    linker = Linker.build(Terminology.build(CLASSES), folder=tmp_path / "x", encoders=["default"])
    linker.synonyms.add("Podagra, unspecified", "X:M10")
    (link,) = linker.link(["podagra"])
    assert (link.id, link.candidates[0].sieve) == ("X:M10", "bare")


def test_an_index_without_the_sieve_opens_and_links_as_before(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    sieves = ["verbatim", "normalised", "reordered"]
    Linker.build(Terminology.build(CLASSES), folder=folder, encoders=["default"], sieves=sieves)
    assert json.loads((folder / "canonym.json").read_text())["settings"]["sieves"] == sieves
    linker = Linker.load(folder)
    found = {m: linker.link([m])[0] for m in ("sepsis", "asthma (disorder)", "gout")}
    assert found["sepsis"].candidates[0].sieve == "search"
    assert found["asthma (disorder)"].id == "X:J45"
    assert found["gout"].candidates[0].sieve == "verbatim"


@pytest.fixture(scope="module")
def cells() -> Linker:
    return Linker.build(Terminology.build(concepts(*TABLES["cells"])), encoders=["default"])


@cases("mention", "id_")
def test_the_letter_before_a_noun_counts(cells: Linker, mention: str, id_: str) -> None:
    assert cells.link([mention])[0].id == f"X:{id_}"
