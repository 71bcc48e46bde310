"""Cells of several clauses, and names of which a cell tells in a few words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym import Link, Linker
from canonym.errors import ReadError
from canonym.linking.clauses import _shipped
from canonym.linking.hits import EVEN
from canonym.mentions.clauses import all_clauses, clauses_of, related
from canonym.mentions.told import flags_around, told_of
from canonym.terminology import Terminology
from canonym.types import Concept, Document, Mention, Name
from tests.tables import cases

SURE = 0.25  # short forms such as MI are only one of several

NAMES = {
    "Abdominal pain": ("pain in the abdomen",),
    "Anemia": ("anaemia",),
    "Appendicitis": (),
    "Asthma": (),
    "Atrial fibrillation": (),
    "Breast cancer": (),
    "Chest pain": (),
    "Chronic obstructive pulmonary disease": ("COPD",),
    "Clostridium difficile infection": ("C diff",),
    "Clostridium difficile diarrhea": ("C diff diarrhea",),
    "Constipation": ("constipated",),
    "Cough": ("coughing",),
    "COVID-19": ("COVID",),
    "Croup": (),
    "Cystic fibrosis": (),
    "Deep vein thrombosis": (),
    "Depression": (),
    "Diabetes mellitus": ("diabetes", "diabetic"),
    "Diarrhea": (),
    "Eczema": (),
    "Fever": (),
    "Gout": (),
    "Gout of hip in kidney disease": (),
    "Headache": (),
    "Hypertension": (),
    "Influenza": ("flu",),
    "Kidney disease": (),
    "Knee effusion": (),
    "Knee pain": (),
    "Latex allergy": (),
    "Liver metastasis": ("liver mets",),
    "Lupus erythematosus": ("lupus",),
    "Malaria": (),
    "Measles": (),
    "Migraine": (),
    "Migraine with aura": (),
    "Myocardial infarction": (),
    "Penicillin allergy": (),
    "Pneumonia": (),
    "Pulmonary embolism": (),
    "Rash": (),
    "Secondary hypertension": (),
    "Sepsis": (),
    "Shingles": (),
    "Stroke": (),
    "Syncope": (),
    "Tuberculosis": (),
    "Urinary tract infection": (),
    "Vomiting": ("nausea and vomiting",),
    "Wrist fracture": (),
}


@pytest.fixture(scope="module")
def linker() -> Linker:
    records: list[Concept | Name] = []
    for number, (label, synonyms) in enumerate(NAMES.items()):
        records.append(Concept(f"C:{number}", label))
        records += [Name(synonym, f"C:{number}", "exact") for synonym in synonyms]
    return Linker.build(Terminology.build(records))


def told(link: Link) -> Iterator[str]:
    """Yield the label of each part that is told for sure, with what is said of it."""
    for part in link.parts or (link,):
        if part.candidates and part.confidence is not None and part.confidence >= SURE:
            label = part.candidates[0].label
            yield f"{label}: {', '.join(part.status)}" if part.status else label


@cases("cell", "expected")
def test_a_cell_is_read_clause_by_clause(linker: Linker, cell: str, expected: str) -> None:
    (link,) = linker.link([cell], keep_negated=True)
    assert " | ".join(told(link)) == expected


@cases("cell", "expected")
def test_a_name_is_read_among_words_that_tell_of_it(
    linker: Linker, cell: str, expected: str
) -> None:
    (link,) = linker.link([cell], keep_negated=True)
    assert not link.parts
    assert " | ".join(told(link)) == expected


@cases("cell")
def test_names_are_not_cut(linker: Linker, cell: str) -> None:
    (link,) = linker.link([cell], keep_negated=True)
    assert not link.parts


@cases("cell", "expected", "left_over")
def test_what_no_name_fits_is_read_by_its_clauses(
    linker: Linker, cell: str, expected: str, left_over: str
) -> None:
    (link,) = linker.link([cell], keep_negated=True)
    assert " | ".join(told(link)) == expected
    assert " ".join(link.left_over) == left_over
    beside = linker.link(["gout, asthma", cell, "malaria on xyz"], keep_negated=True, k=1)[1]
    assert beside.ids == link.ids  # whatever else is asked, and however many candidates


def test_what_is_denied_behind_a_name_needs_no_judge() -> None:
    records = [Concept("C:1", "Asthma"), Concept("C:2", "Gout")]
    linker = Linker.build(Terminology.build(records))
    linker.judge = None
    (link,) = linker.link(["asthma (no gout)"], keep_negated=True)
    assert [(part.id, part.status, part.confidence) for part in link.parts] == [
        ("C:1", (), None),
        ("C:2", ("negated",), None),
    ]


def test_names_within_a_mention_have_its_place_and_its_flags(linker: Linker) -> None:
    cell = "gout malaria croup"
    mention = Mention(cell, 9, 9 + len(cell), flags=("family",))
    links = linker.link_document(Document("1", f"Problems {cell}.", (mention,)))
    assert [*told(links[0])] == ["Gout: family", "Malaria: family", "Croup: family"]
    assert {(it.mention.start, it.mention.end) for it in links[0].parts} == {(9, 27)}
    assert all((it.confidence or 0) <= EVEN for it in links[0].parts)


@cases("cell", "flags")
def test_each_name_has_the_status_that_a_cell_gives_it(
    linker: Linker, cell: str, flags: tuple[str, ...]
) -> None:
    letters = r"\b[ABC]\b"
    cells, expected = [], []
    for order in itertools.permutations(["Asthma", "Gout", "Pneumonia"]):
        names = dict(zip("ABC", order, strict=True))
        cells.append(re.sub(letters, lambda letter, names=names: names[letter[0]].lower(), cell))
        named = zip(map(names.get, re.findall(letters, cell)), flags, strict=True)
        expected.append([f"{name}: {flag}" if flag else name for name, flag in named])
    for link, wanted in zip(linker.link(cells, keep_negated=True), expected, strict=True):
        assert [*told(link)] == wanted


def test_a_link_says_what_a_heading_made_of_its_item(linker: Linker) -> None:
    (link,) = linker.link(["Allergies: latex"])
    assert [(step.name, step.before, step.after) for step in link.steps[:1]] == [
        ("list", "Allergies: latex", "latex allergy")
    ]


@cases("cell")
def test_what_may_be_one_thing_is_not_read_by_its_clauses(linker: Linker, cell: str) -> None:
    (link,) = linker.link([cell])
    assert not link.parts


@cases("cell")
def test_what_an_unknown_clause_says_of_another_is_not_told(linker: Linker, cell: str) -> None:
    (link,) = linker.link([cell], keep_negated=True)
    assert all((part.confidence or 0) <= EVEN for part in link.parts or (link,))


def test_what_stands_below_a_short_heading_is_as_likely_as_not(linker: Linker) -> None:
    (link,) = linker.link(["asthma. X: hypertension"])
    said = {part.label: part.confidence for part in link.parts if part.id}
    assert said["Hypertension"] == EVEN < (said["Asthma"] or 0)


def test_what_a_detail_is_left_over_of_is_as_likely_as_not(linker: Linker) -> None:
    (link,) = linker.link(["anaemia since third pregnancy, megaloblastic"])
    assert (link.label, link.confidence) == ("Anemia", EVEN)
    assert link.left_over == ("since", "third", "pregnancy", "megaloblastic")


@cases("text", "clauses")
def test_all_clauses(text: str, clauses: tuple[str, ...]) -> None:
    assert all_clauses(text) == clauses


@given(st.text(st.sampled_from("ab ,;:-/()+.1\n→&"), max_size=60))
def test_clauses_stand_in_their_text_in_order(text: str) -> None:
    place, text = 0, " ".join(text.split())
    for clause in all_clauses(text):
        place = text.index(clause, place) + len(clause)


@cases("text")
def test_what_belongs_to_a_name_is_not_told_of_it(text: str) -> None:
    assert told_of(text) is None


@cases("text", "clauses")
def test_clauses(text: str, clauses: tuple[str, ...]) -> None:
    assert clauses_of(text) == clauses


def test_things_that_came_together() -> None:
    assert related("sepsis b/c pneumonia") == ("sepsis", "pneumonia")
    assert related("mother with diabetes") == ("mother with diabetes",)
    assert related("breast cancer with liver and lung mets") == (
        "breast cancer with liver and lung mets",
    )


def test_a_cue_within_a_name_says_nothing_of_its_neighbour() -> None:
    text = "small to absent fibula, gout"
    assert flags_around(text, [(0, 22), (24, 28)]) == [(), ()]
    assert flags_around("no fibula, gout", [(3, 9), (11, 15)]) == [("negated",), ("negated",)]


@pytest.mark.parametrize("content", [None, "{", "[]", '{"curves": [{}]}', '{"curves": []}'])
def test_damaged_curves_are_told(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "clauses.json"
    if content is not None:
        path.write_text(content, encoding="ascii")
    monkeypatch.setattr("canonym.linking.clauses.SHIPPED", path)
    with pytest.raises(ReadError, match="install canonym again"):
        _shipped.__wrapped__()
