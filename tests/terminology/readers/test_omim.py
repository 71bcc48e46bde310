"""Titles of OMIM entries that mean another entity."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from canonym.terminology.readers.ctd import read_ctd
from canonym.terminology.readers.medic import read_medic
from canonym.terminology.readers.omim import title_name
from canonym.types import Name

INCLUDED = [
    "SMALL TOE SYNDROME, INCLUDED", "STS1, INCLUDED", "STS1,INCLUDED", "STS1; INCLUDED",
    "SMALL TOE SYNDROME (INCLUDED)", "Small toe syndrome (included)",
    "small toe syndrome, included",
    "SMALL TOE SYNDROME, INCLUDED; STS", "SMALL TOE SYNDROME, INCLUDED; STS, INCLUDED",
    "SMALL TOE SYNDROME INCLUDED", "SMALL TOE SYNDROME INCLUDED; STS", "STS, INCLUDED;",
    "SMALL TOE SYNDROME, INCLUDED, FORMERLY", "SMALL TOE SYNDROME, INCLUDED.",
    "TOE, SHORT, SUSCEPTIBILITY TO, INCLUDED", "TOE, SHORT, 2, INCLUDED",
    "TOE SYNDROME, TYPE 4B2, INCLUDED",
    "TOE SYNDROME; TS, INCLUDED", "TOE-NAIL ANOMALY, DIGENIC, ABC1/ABC2, INCLUDED",
    "STS1, INCLUDED ",
]  # fmt: skip

OWN = [
    "SMALL TOE SYNDROME", "STS1", "Tooth, Included", "Included tooth", "INCLUDED TOOTH",
    "tooth included",
    "teeth, not included elsewhere", "INCLUDED", "INCLUDEDX SYNDROME", "TOOTH, INCLUDED TYPE",
    "SINUS (INCLUDED CELLS) SYNDROME", "OCCLUDED VEIN, OCCLUDED", "INCLUDED BODY, LEWY",
    "VEIN, EXCLUDED",
    "SYNDROME WITH TEETH INCLUDED IN BONE",
]  # fmt: skip


@pytest.mark.parametrize("title", INCLUDED)
def test_an_included_title_is_a_narrow_name_without_the_word(title: str) -> None:
    name, scope = title_name(title.strip())
    assert scope == "narrow"
    assert "included" not in name.lower()
    assert name[-1].isalnum()
    words = title.upper().replace("INCLUDED", " ").replace("(", " ").replace(")", " ")
    assert re.findall(r"[\w/-]+", name.upper()) == re.findall(r"[\w/-]+", words)


@pytest.mark.parametrize("title", OWN)
def test_other_titles_are_exact_names_as_they_are(title: str) -> None:
    assert title_name(title) == (title, "exact")


def test_readers_know_included_titles(tmp_path: Path) -> None:
    names = "BTS|BTS1, INCLUDED|Tooth, Included|SMALL TOE SYNDROME (INCLUDED)"
    ctd = tmp_path / "CTD_diseases.tsv"
    ctd.write_text(
        "# Fields:\n# DiseaseName\tDiseaseID\tParentIDs\tSynonyms\n"
        f"Big Toe Syndrome\tOMIM:900001\t\t{names}\n"
    )
    medic = tmp_path / "medic.txt"
    medic.write_text(f"900001||Big Toe Syndrome|{names}\n")
    biosyn = tmp_path / "biosyn.txt"
    biosyn.write_text("".join(f"900001||{name}\n" for name in ["Big Toe", *names.split("|")]))
    for records, word, end in (
        (read_ctd(ctd), "", ""),
        # Published results rest on the texts of these dictionaries.
        (read_medic(medic), ", INCLUDED", " (INCLUDED)"),
        (read_medic(biosyn), ", INCLUDED", " (INCLUDED)"),
    ):
        assert [record for record in records if isinstance(record, Name)] == [
            Name("BTS", "OMIM:900001"),
            Name(f"BTS1{word}", "OMIM:900001", "narrow"),
            Name("Tooth, Included", "OMIM:900001"),
            Name(f"SMALL TOE SYNDROME{end}", "OMIM:900001", "narrow"),
        ]


def test_chemicals_have_no_titles_of_omim(tmp_path: Path) -> None:
    file = tmp_path / "CTD_chemicals.tsv"
    file.write_text(
        "# Fields:\n# ChemicalName\tChemicalID\tParentIDs\tSynonyms\na\tMESH:D1\t\tDYE, INCLUDED\n"
    )
    assert Name("DYE, INCLUDED", "MESH:D1") in list(read_ctd(file))
