"""Binomials of a terminology, and what short names of organisms stand for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.binomials import (
    Binomials,
    BinomialsWriter,
    genus_steps,
    organism_of,
    pairs_in,
)
from canonym.text import normalise_all
from tests.tables import cases, tables

NAMES = tables(__file__)["names"]


@pytest.fixture(scope="module")
def known() -> Binomials:
    return Binomials.build(NAMES)


def test_genera_of_an_epithet(known: Binomials) -> None:
    assert known.genera("pylori") == ["helicobacter", "hyphomonas"]  # the one of more names first
    assert known.genera("pylori", "hy") == ["hyphomonas"]
    assert known.genera("vulgaris") == ["artemisia"]
    assert known.genera("cancer") == known.genera("") == []


_NO_BINOMIALS = (
    "acne vulgaris|lupus erythematosus|tinea capitis|breast cancer|hepatitis b virus|viral fetus"
    "|chronic hepatitis|protein kinase alpha|left ventricle|type a influenza|vitamin a|t cell"
    "|chest radius|lung fistula|hemophilia a|kidney transplantation"
)


@pytest.mark.parametrize("name", _NO_BINOMIALS.split("|"))
def test_no_binomials(name: str) -> None:
    assert pairs_in([name]) == []


def test_files_are_those_of_one_pass(tmp_path: Path, known: Binomials) -> None:
    for folder, memory in (("whole", 1 << 20), ("parts", 1)):
        (tmp_path / folder).mkdir()
        writer = BinomialsWriter(tmp_path / folder, memory)
        for name in NAMES:
            writer.add(normalise_all([name]))
        writer.finish()
    files = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "parts").iterdir()}
    opened = Binomials.load(tmp_path / "whole")
    assert opened.genera("pylori", "h") == known.genera("pylori", "h")


def test_a_terminology_without_organisms(tmp_path: Path) -> None:
    writer = BinomialsWriter(tmp_path, 1 << 20)
    writer.add(["breast cancer"])
    writer.finish()
    assert Binomials.load(tmp_path).genera("pylori", "h") == []


@cases("text", "first")
def test_short_names(known: Binomials, text: str, first: str) -> None:
    steps = genus_steps(text, known)
    assert (steps[0].name, steps[0].before, steps[0].after) == ("genus", text, first)


_NO_SHORT_NAMES = (
    "Helicobacter pylori|Vibrio cholerae|hepatitis B virus|hepatitis C virus infection"
    "|vitamin A deficiency|vitamin D|a major depression|a minor injury|T cell|B lymphocytes"
    "|type A influenza|group A streptococcus|protein C deficiency|protein kinase C alpha|X-linked"
    "|factor V Leiden|St. Louis encephalitis|Mt. Sinai|vs. placebo|i.v. drug|e.g. fever|no. 5"
    "|left ventricle|heart attack|T. bili|A. fib|R. kidney|p.o. intake|J. Smith|pain. fever|"
    "acne vulgaris|breast cancer|Dr. House|U.S. cohort|.|. .|a. a"
)


@pytest.mark.parametrize("text", _NO_SHORT_NAMES.split("|"))
def test_no_short_names(known: Binomials, text: str) -> None:
    assert genus_steps(text, known) == ()


def test_surroundings_decide(known: Binomials) -> None:
    assert [one.after for one in genus_steps("H. pylori", known)] == [
        "Helicobacter pylori",
        "Hyphomonas pylori",
    ]
    for text in ("Hyphomonas pylori grows", "HYPHOMONAS PYLORI", "of Hyphomonas only"):
        (step,) = genus_steps("H. pylori", known, ("", text))
        assert step.after == "Hyphomonas pylori"
    (step,) = genus_steps("H. pylori", known, ("Halomonas pylori was new.",))
    assert step.after == "Halomonas pylori"
    assert len(genus_steps("H. pylori", known, ("of hospitals",))) == 2


@cases("name", "is_it")
def test_names_that_may_be_of_an_organism(name: str, is_it: bool) -> None:
    organism = organism_of("H. pylori", genus_steps("H. pylori"))
    assert organism is not None
    assert organism.may_be(name) == is_it


@pytest.mark.parametrize(
    "text", ["H. pylori gastritis", "T. bili", "Pylorus", "h. pylori", "H.", ""]
)
def test_no_organism_alone(text: str) -> None:
    assert organism_of(text, ()) is None


@given(st.text(st.characters(exclude_categories=[]), max_size=60), st.text(max_size=30))
def test_any_string(text: str, around: str) -> None:
    genera = genus_steps(text, Binomials.build(NAMES), (around,))
    for step in genera:
        assert step.before == text != step.after
    organism_of(text, genera)
