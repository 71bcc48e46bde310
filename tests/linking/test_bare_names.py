"""Bare names and qualifiers, from the mention to the concept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from canonym import Linker, Terminology
from canonym.types import Concept, Name

CLASSES = {
    "A41": ["Other sepsis"],
    "A41.9": ["Sepsis, unspecified organism", "Septicemia NOS"],
    "T81.44": ["Sepsis following a procedure"],
    "R55": ["Syncope and collapse", "Fainting"],
    "T67.1": ["Heat syncope"],
    "E78.0": ["Pure hypercholesterolemia"],
    "E78.00": ["Pure hypercholesterolemia, unspecified", "(Pure) hypercholesterolemia NOS"],
    "E78.01": ["Familial hypercholesterolemia"],
    "E03": ["Other hypothyroidism"],
    "E03.9": ["Hypothyroidism, unspecified"],
    "E03.1": ["Congenital hypothyroidism without goiter"],
    "J45": ["Asthma"],
    "J45.90": ["Unspecified asthma"],
    "J45.99": ["Other asthma"],
    "E78.4": ["Other hyperlipidemia"],
    "E78.5": ["Hyperlipidemia, unspecified"],
    "F02": ["Dementia in other diseases classified elsewhere"],
    "F03": ["Unspecified dementia"],
    "R60": ["Edema, not elsewhere classified"],
    "R60.9": ["Edema, unspecified"],
    "E87.0": ["Hyperosmolality and hypernatremia"],
    "P74.21": ["Hypernatremia of newborn"],
    "M10": ["Gout"],
    "J18": ["Pneumonia, unspecified organism"],
    "J18.1": ["Lobar pneumonia, unspecified organism"],
    "K27": ["Peptic ulcer, site unspecified"],
    "E11": ["Type 2 diabetes mellitus"],
    "N17": ["Acute kidney failure"],
    "I50.3": ["Diastolic heart failure", "Heart failure with preserved ejection fraction [HFpEF]"],
    "Z22.7": ["Latent tuberculosis", "Latent tuberculosis infection (LTBI)"],
    "C91.0": ["Acute lymphoblastic leukemia [ALL]"],
    "I82.4": ["Deep vein thrombosis (DVT)"],
    "R79.82": ["Elevated C-reactive protein (CRP)"],
}


def _terminology(classes: dict[str, list[str]]) -> Terminology:
    records: list[Concept | Name] = []
    for id_, (label, *others) in classes.items():
        records.append(Concept(f"X:{id_}", label))
        records += [Name(name, f"X:{id_}") for name in others]
    return Terminology.build(records)


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(_terminology(CLASSES), encoders=["default"])


FOUND = [
    ("sepsis", "A41.9", "bare", []),
    ("septicemia", "A41.9", "bare", []),
    ("sepsis NOS", "A41.9", "bare", ["qualifiers"]),
    ("Sepsis (disorder)", "A41.9", "bare", ["qualifiers"]),
    ("hypercholesterolemia", "E78.00", "bare", []),
    ("hypothyroidism", "E03.9", "bare", []),
    ("hypothyroidism, NOS", "E03.9", "bare", ["qualifiers"]),
    ("hyperlipidemia", "E78.5", "bare", []),
    ("Other and unspecified hyperlipidemia", "E78.5", "bare", ["broader"]),
    ("dementia", "F03", "bare", []),
    ("Dementia in diseases classified elsewhere (disorder)", "F03", "bare", ["broader"]),
    ("edema", "R60.9", "bare", []),
    ("pneumonia", "J18", "bare", []),
    ("lobar pneumonia", "J18.1", "bare", []),
    ("ulcer, peptic", "K27", "bare", []),
    ("asthma", "J45", "verbatim", []),
    ("asthma (disorder)", "J45", "verbatim", ["qualifiers"]),
    ("asthma [NOS]", "J45", "verbatim", ["qualifiers"]),
    ("unspecified asthma", "J45.90", "verbatim", []),
    ("asthma, unspecified", "J45.90", "reordered", []),
    ("other asthma", "J45.99", "verbatim", []),
    ("gout (finding)", "M10", "verbatim", ["qualifiers"]),
    ("gout NOS", "M10", "verbatim", ["qualifiers"]),
    ("type II diabetes mellitus NOS", "E11", "normalised", ["qualifiers"]),
    ("failure, acute kidney (disorder)", "N17", "reordered", ["qualifiers"]),
    ("syncope", "R55", "bare", []),
    ("hypernatremia", "E87.0", "search", []),
    ("HFpEF", "I50.3", "bare", []),
    ("HFpEF NOS", "I50.3", "bare", ["qualifiers"]),
    ("LTBI", "Z22.7", "bare", []),
    ("dvt", "I82.4", "bare", []),
    ("ALL", "C91.0", "bare", []),
]


@pytest.mark.parametrize(("mention", "id_", "sieve", "steps"), FOUND)
def test_bare_names_go_first(
    linker: Linker, mention: str, id_: str, sieve: str, steps: list[str]
) -> None:
    (link,) = linker.link([mention], k=3)
    assert (link.id, link.candidates[0].sieve) == (f"X:{id_}", sieve)
    assert [step.name for step in link.steps if step.name in ("qualifiers", "broader")] == steps
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
    linker = Linker.build(_terminology(CLASSES), folder=tmp_path / "x", encoders=["default"])
    linker.synonyms.add("Podagra, unspecified", "X:M10")
    (link,) = linker.link(["podagra"])
    assert (link.id, link.candidates[0].sieve) == ("X:M10", "bare")


def test_an_index_without_the_sieve_opens_and_links_as_before(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    sieves = ["verbatim", "normalised", "reordered"]
    Linker.build(_terminology(CLASSES), folder=folder, encoders=["default"], sieves=sieves)
    assert json.loads((folder / "canonym.json").read_text())["settings"]["sieves"] == sieves
    linker = Linker.load(folder)
    found = {m: linker.link([m])[0] for m in ("sepsis", "asthma (disorder)", "gout")}
    assert found["sepsis"].candidates[0].sieve == "search"
    assert found["asthma (disorder)"].id == "X:J45"
    assert found["gout"].candidates[0].sieve == "verbatim"


CELLS = {
    "1": ["cell"],
    "2": ["lymphocyte"],
    "3": ["alpha-beta T cell"],
    "4": ["pancreatic A cell", "pancreatic alpha cell"],
    "5": ["type B pancreatic cell", "pancreatic beta cell"],
    "6": ["pancreatic D cell", "pancreatic delta cell"],
    "7": ["gamma-delta T cell"],
    "8": ["T lymphocyte", "T cell"],
    "9": ["B lymphocyte"],
}


@pytest.fixture(scope="module")
def cells() -> Linker:
    return Linker.build(_terminology(CELLS), encoders=["default"])


@pytest.mark.parametrize(
    ("mention", "id_"),
    [
        ("α-cell", "4"), ("α cells", "4"), ("alpha cell", "4"), ("alpha-cells", "4"),
        ("A cells", "4"),
        ("β-cell", "5"), ("β cells", "5"), ("beta cell", "5"), ("δ-cell", "6"), ("δ cells", "6"),
        ("delta cells", "6"), ("T cells", "8"), ("cells", "1"),
    ],
)  # fmt: skip
def test_the_letter_before_a_noun_counts(cells: Linker, mention: str, id_: str) -> None:
    assert cells.link([mention])[0].id == f"X:{id_}"
