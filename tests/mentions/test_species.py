"""Species that texts name, and those of concepts."""

from __future__ import annotations

import pytest

from canonym.mentions.species import species_in, species_of, taxon_of

HUMAN, MOUSE, RAT = "9606", "10090", "10116"


@pytest.mark.parametrize(
    ("name", "taxon"),
    [
        ("Homo sapiens", HUMAN),
        ("human", HUMAN),
        ("9606", HUMAN),
        ("taxon:9606", HUMAN),
        ("NCBITaxon:9606", HUMAN),
        ("MICE", MOUSE),
        ("Mus musculus domesticus", MOUSE),
        ("Saccharomyces cerevisiae S288C", "4932"),
        ("Escherichia coli (strain K12)", "562"),
        ("Guinea Pigs", "10141"),
        ("Homo", None),
        ("mouse liver", None),
        ("gene", None),
        ("7", None),
        ("", None),
    ],
)
def test_names_of_a_species(name: str, taxon: str | None) -> None:
    assert taxon_of(name) == taxon


@pytest.mark.parametrize(
    ("types", "label", "taxon"),
    [
        (["gene", "Mus musculus"], "Tp53", MOUSE),
        ([], "cellular tumor antigen p53 (human)", HUMAN),
        ([], "insulin [Rattus norvegicus]", RAT),
        (["Mus musculus"], "p53 (human)", MOUSE),
        (["gene"], "insulin (precursor)", None),
        ([], "", None),
    ],
)
def test_the_species_of_a_concept(types: list[str], label: str, taxon: str | None) -> None:
    assert species_of(types, label) == taxon


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("p53 in mice and in patients; mice died", [MOUSE, HUMAN]),
        ("p53 of H. sapiens and of rats", [HUMAN, RAT]),
        ("CAT and RAT scans", []),  # an enzyme, and a rat only where it is no abbreviation
        ("HIV in a humanised model", ["11676"]),
        ("anti-mouse antibodies", []),
        ("a mouse-derived cell", [MOUSE]),
        ("The category of catalase", []),
        ("pain in the calf", []),
        ("", []),
    ],
)
def test_species_of_a_text(text: str, found: list[str]) -> None:
    assert species_in(text) == found


def test_the_nearest_in_the_sentence_goes_first() -> None:
    text = "Patients, patients, patients. Rats were treated, and mouse IL-2 was given."
    near = "Rats were treated, and mouse IL-2 was given."
    assert species_in(text, near=near, mention="IL-2") == [MOUSE, RAT, HUMAN]
    assert species_in(text, near=near, mention="Rats") == [RAT, MOUSE, HUMAN]
    assert species_in(text, near="", mention="IL-2") == [HUMAN, RAT, MOUSE]
