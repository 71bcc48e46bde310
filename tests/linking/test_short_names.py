"""Short names of organisms, drug lines, and what web pages leave in a text, from end to end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from canonym import Concept, Document, Linker, Mention, Terminology
from canonym.exchange.auto_accept import can_auto_accept
from canonym.types import Link
from tests.linkers import concepts, linker_of
from tests.tables import cases, tables

TABLES = tables(__file__)


def _linker(names: Iterable[str]) -> Linker:
    """An index of names; synonyms stand behind bars, the label is the id."""
    return linker_of(concepts(*(f"{name.split('|')[0]}|{name}" for name in names)))


def _ids(link: Link) -> str:
    return "|".join(part.id or "NIL" for part in link.parts) or link.id or "NIL"


# --- organisms ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def organisms() -> Linker:
    return _linker(TABLES["organisms"])


@cases("mention", "organism")
def test_organisms_by_initial_and_epithet(organisms: Linker, mention: str, organism: str) -> None:
    assert _ids(organisms.link([mention])[0]) == organism


@cases("mention", "first", "other")
def test_several_genera_are_homonyms(
    organisms: Linker, mention: str, first: str, other: str
) -> None:
    link = organisms.link([mention], k=3)[0]
    assert [one.id for one in link.candidates[:2]] == [first, other]
    assert not can_auto_accept(link)
    (only,) = organisms.link([mention], k=1)[0].candidates
    assert only.id == first


@cases("mention", "text", "organism")
def test_the_text_writes_the_genus_out(
    organisms: Linker, mention: str, text: str, organism: str
) -> None:
    found = Mention(mention, text.rindex(mention), text.rindex(mention) + len(mention))
    ((_, links),) = organisms.link_documents([Document("1", text, (found,))])
    assert _ids(links[0]) == organism
    assert _ids(organisms.link([Mention(mention, context=text)])[0]) == _ids(links[0])


@pytest.fixture(scope="module")
def diseases() -> Linker:
    return _linker(TABLES["diseases"])


@cases("mention", "disease")
def test_organisms_in_names_of_diseases(diseases: Linker, mention: str, disease: str) -> None:
    assert _ids(diseases.link([mention])[0]) == disease


@pytest.mark.parametrize(
    "mention", ["H. pylori", "M. leprae", "C. jejuni", "S. aureus", "P. falciparum", "T. gondii"]
)
def test_an_organism_that_is_not_there_is_nothing_else(mention: str) -> None:
    anatomy = _linker(["Pylorus", "Jejunum", "Leprosy", "Aureole", "Falx", "Gonad"])
    link = anatomy.link([mention])[0]
    assert link.nil
    assert link.reason == f"no name has the genus or the epithet of {mention!r}"


def test_the_step_is_recorded(organisms: Linker) -> None:
    link = organisms.link(["Staph. aureus"])[0]
    step = link.steps[0]
    assert (step.name, step.before, step.after) == (
        "genus",
        "Staph. aureus",
        "Staphylococcus aureus",
    )
    assert not can_auto_accept(organisms.link(["C. elegans"], k=2)[0])


def test_names_of_an_index_taken_over_are_read_again(tmp_path: Path) -> None:
    one = Terminology.build([Concept("1", "Tissierella praeacuta")], tmp_path / "one.db")
    both = [Concept("1", "Tissierella praeacuta"), Concept("2", "Blautia producta")]
    two = Terminology.build(both, tmp_path / "two.db")
    Linker.build(one, folder=tmp_path / "one")
    again = Linker.build(two, folder=tmp_path / "again")
    assert [_ids(link) for link in again.link(["T. praeacuta", "B. producta"])] == ["1", "2"]
    reused = Linker.build(two, folder=tmp_path / "reused", reuse=tmp_path / "one")
    assert [_ids(link) for link in reused.link(["T. praeacuta", "B. producta"])] == ["1", "2"]
    files = sorted(path.name for path in (tmp_path / "again" / "binomials").iterdir())
    for name in files:
        same = (tmp_path / folder / "binomials" / name for folder in ("again", "reused"))
        assert len({path.read_bytes() for path in same}) == 1


# --- drug lines -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drugs() -> Linker:
    return _linker(TABLES["drugs"])


@cases("mention", "drug")
def test_drug_lines(drugs: Linker, mention: str, drug: str) -> None:
    assert _ids(drugs.link([mention])[0]) == drug


@cases("mention")
def test_what_is_no_drug_line_is_not_cleaned(drugs: Linker, mention: str) -> None:
    link = drugs.link([mention])[0]
    assert all(step.name != "drug line" for step in link.steps)
    assert not any(one.sieve == "verbatim" for one in link.candidates)


@cases("mention", "concept")
def test_names_with_a_strength_win(mention: str, concept: str) -> None:
    assert _ids(_linker(TABLES["strengths"]).link([mention])[0]) == concept


def test_steps_of_a_drug_line_are_recorded(drugs: Linker) -> None:
    link = drugs.link(["Ibuprofin 400 mg tablets"])[0]
    assert [step[:3] for step in link.steps[:2]] == [
        ("drug line", "Ibuprofin 400 mg tablets", "Ibuprofin"),
        ("correction", "Ibuprofin", "ibuprofen"),
    ]
    link = drugs.link(["amoxicillin/clavulanate 875/125 mg"])[0]
    steps = link.parts[0].steps[:2]
    assert [step.name for step in steps] == ["drug line", "composite"]
    assert steps[1].after == "amoxicillin | clavulanate"
    brand = drugs.link(["quxatinib 20 MG Oral Tablet [Lipitor]"])[0]
    assert (brand.id, brand.steps[0].name) == ("Lipitor", "drug line")


# --- web pages ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written() -> Linker:
    return _linker(TABLES["written"])


@cases("mention", "concept")
def test_what_web_pages_leave(written: Linker, mention: str, concept: str) -> None:
    link = written.link([mention])[0]
    assert _ids(link) == concept
    assert link.candidates[0].sieve != "search"


def test_what_is_undone_is_recorded(written: Linker) -> None:
    link = written.link(["<i>MÃ©ni&egrave;re</i> disease"])[0]
    assert [step.name for step in link.steps[:3]] == ["entities", "markup", "encoding"]
    assert link.searched == "Ménière disease"
    assert can_auto_accept(written.link(["SjÃ¶gren syndrome"], k=2)[0])
