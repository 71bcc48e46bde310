"""The specimen that a laboratory test was made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.specimens import specimen_of


@pytest.mark.parametrize(
    ("text", "specimen"),
    [
        ("Glucose, urine", "urine"),
        ("urine glucose", "urine"),
        ("glucose in urine", "urine"),
        ("Urinary sodium", "urine"),
        ("sodium level urine", "urine"),
        ("Protein [Mass/time] in 24 hour Urine", "urine"),
        ("high protein in the urine", "urine"),
        ("Glycosuria", "urine"),
        ("microalbuminuria", "urine"),
        ("haematuria", "urine"),
        ("hypercalciuria", "urine"),
        ("glucose in blood", "blood"),
        ("Blood glucose", "blood"),
        ("serum potassium", "blood"),
        ("potassium, plasma", "blood"),
        ("Glucose [Mass/volume] in Serum or Plasma", "blood"),
        ("white blood cell count", "blood"),
        ("Blood urea nitrogen", "blood"),
        ("Hyponatremia", "blood"),
        ("hypercalcaemia", "blood"),
        ("bacteremia", "blood"),
        ("CSF protein", "csf"),
        ("protein, csf", "csf"),
        ("glucose in cerebrospinal fluid", "csf"),
        ("spinal fluid cell count", "csf"),
        ("fat in stool", "stool"),
        ("Fecal calprotectin", "stool"),
        ("occult blood, faeces", "stool"),
        ("Salivary cortisol", "saliva"),
        ("cortisol, saliva", "saliva"),
        ("Sputum culture", "sputum"),
        ("chloride in sweat", "sweat"),
        ("seminal plasma zinc", "semen"),
        ("synovial fluid crystals", "synovial fluid"),
        ("pleural fluid lactate dehydrogenase", "pleural fluid"),
        # What is measured is blood, or its cells.
        ("blood in urine", "urine"),
        ("red blood cells, urine", "urine"),
        ("Blood in stool", "stool"),
        ("white blood cells in CSF", "csf"),
        ("blood in sputum", "sputum"),
    ],
)
def test_what_a_test_was_made_of(text: str, specimen: str) -> None:
    assert specimen_of(text) == specimen
    assert specimen_of(text.upper()) == specimen


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Glucose",
        "creatinine clearance",
        "blood pressure",
        "blood vessel",
        "bloodstream infection",
        "blood group antigen",
        "plasma cell myeloma",
        "plasma membrane",
        "serum sickness",
        "urinary bladder",
        "urinary tract infection",
        "urinary retention",
        "urinary calculi",
        "CSF leak",
        "cerebrospinal fluid rhinorrhea",
        "G-CSF",
        "GM-CSF receptor",
        "M-CSF",
        "sweat gland carcinoma",
        "salivary gland",
        "stool softener",
        "fecal incontinence",
        "Anemia",
        "Leukemia",
        "Ischemia",
        "dysuria",
        "Glutaric acidemia",  # is glutaric aciduria, too
        "Methylmalonic aciduria",
        "porphyria",
        # Both are meant, so none is.
        "serum and urine electrophoresis",
        "blood and urine culture",
        "urine or blood",
        "Urine/plasma osmolality",
        "urine, stool and saliva",
    ],
)
def test_what_speaks_of_no_specimen(text: str) -> None:
    assert specimen_of(text) == ""


@given(st.text(st.characters(exclude_categories=[]), max_size=80))
def test_any_string(text: str) -> None:
    assert isinstance(specimen_of(text), str)
