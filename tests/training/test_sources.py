"""The pool of open terminologies, from small files in the formats of the real ones."""

from __future__ import annotations

from pathlib import Path

from canonym.types import Concept, Name
from models.sources import SOURCES, read_consumer_names, read_pool


def test_consumer_names(folder: Path) -> None:
    assert list(read_consumer_names(folder / SOURCES["MedQuAD"])) == [
        Concept("MEDQUAD:heart attack", "Heart Attack"),
        Name("MI", "MEDQUAD:heart attack"),
        Concept("MEDQUAD:heart attack", "Heart Attack"),
        Name("Myocardial infarct", "MEDQUAD:heart attack"),
    ]


def test_relations_of_all_sources(folder: Path) -> None:
    pool = read_pool(folder)
    synonyms = pool.synonyms()
    of_name = dict(zip(synonyms.names, synonyms.concepts.tolist(), strict=True))
    drug, action = of_name["Temefos"], of_name["bevonium"]
    joined = {tuple(pair) for pair in pool.related().tolist()}
    # An action and a class are one pair here; the indication of an unknown disease is left out, and
    # so is the chapter that the fever of ICD-10-CM is below.
    assert joined == {(drug, action), (drug, of_name["Heart Attack"])}


def test_all_sources_in_one_pool(folder: Path) -> None:
    lines: list[str] = []
    synonyms = read_pool(folder, log=lines.append).synonyms()
    of_name = dict(zip(synonyms.names, synonyms.concepts.tolist(), strict=True))
    infarction = of_name["Myocardial Infarction"]
    assert {name for name, concept in of_name.items() if concept == infarction} == {
        "Myocardial Infarction", "Heart Attack", "Cardiac infarct", "Infarct of heart",
        "infarction of myocardium", "coronary event", "MI", "Myocardial infarct",
    }  # fmt: skip
    fever = {name for name, concept in of_name.items() if concept == of_name["Fever"]}
    assert fever == {
        "Fever",
        "Fever of other origin",
        "Fever NOS",
        "Pyrexia",
        "Pyrexia (persistent)",
    }
    assert of_name["Acute heart attack"] == of_name["Acute MI [heart attack]"]
    weights = {name: float(synonyms.weights[concept]) for name, concept in of_name.items()}
    assert weights["Temefos"] == 0.6  # two sources, neither of diseases
    assert weights["bevonium"] == 0.3
    assert of_name["Difos"] == of_name["Temefos"]  # a supplementary concept made a descriptor
    assert weights["Heart Attack"] == 3
    assert weights["Fever"] == 2
    assert lines == ["1 concepts joined by references", "3 concepts joined by names"]
    read_pool(folder)
