"""Shorthand with a slash is written out, and other slashes stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym import Linker, Terminology
from canonym.exchange.auto_accept import can_auto_accept
from canonym.exchange.mappings import mappings_of
from canonym.mentions.composites import split_composite
from canonym.mentions.shorthand import diabetes_name, write_out
from canonym.types import Concept, Name

WRITTEN_OUT = [
    ("diabetes w/o complications", "diabetes without complications"),
    ("DM W/O COMPLICATION", "DM without COMPLICATION"),
    ("ulcer r/t diabetes", "ulcer related to diabetes"),
    ("fracture w/ displacement", "fracture with displacement"),
    ("fracture w/displacement", "fracture with displacement"),
    ("rash w/ or w/o fever", "rash with or without fever"),
    ("MRI w/wo contrast", "MRI with or without contrast"),
    ("pain d/t fall", "pain due to fall"),
    ("PAIN D/T FALL LEFT HIP", "PAIN due to FALL LEFT HIP"),
    ("CHF 2/2 MI", "CHF secondary to MI"),
    ("anemia s/t CKD", "anemia secondary to CKD"),
    ("rash a/w fever", "rash associated with fever"),
    ("anxiety b/c pain", "anxiety because of pain"),
    ("gout s/p colchicine", "gout status post colchicine"),
    ("patient h/o gout", "patient history of gout"),
    ("man c/o headache", "man complains of headache"),
    ("chest pain r/o MI", "chest pain rule out MI"),
    ("b/l knee pain", "bilateral knee pain"),
    ("knee pain B/L", "knee pain bilateral"),
    ("65 y/o man", "65 year old man"),
    ("N/V", "nausea and vomiting"),
    ("n/v", "nausea and vomiting"),
    ("N&V", "nausea and vomiting"),
    ("N/V/D", "nausea, vomiting and diarrhea"),
    ("fever, n/v/d", "fever, nausea, vomiting and diarrhea"),
    ("N/V w/o fever", "nausea and vomiting without fever"),
    ("sepsis i/s/o AML", "sepsis in the setting of AML"),
    ("f/u of gout", "follow-up of gout"),
    ("effusion c/w CHF", "effusion consistent with CHF"),
    ("seen w/in a day", "seen within a day"),
    ("Hx-gout", "history of gout"),
    ("Family hx-deafness", "family history of deafness"),
    ("FHx-gout", "family history of gout"),
]
STAYS = [
    *("hepatitis B/C", "HEPATITIS B/C", "influenza A/B", "CD4/CD8", "TCP/IP", "HER2/neu", "N/A"),
    *("V/Q mismatch", "5 mg/kg", "km/h", "24/7", "2/22", "w/v", "10 % w/w", "I/O", "and/or", "A/C"),
    *(
        "cow/ox",
        "b/cde",
        "MRI/CT",
        "1/2",
        "c/o/p",
        "http://x/w/o/",
        "D/T vaccine",
        "L/R",
        "a/b",
        "",
    ),
]


@pytest.mark.parametrize(("text", "written"), WRITTEN_OUT)
def test_shorthand(text, written):
    assert write_out(text) == written


@pytest.mark.parametrize("text", STAYS)
def test_other_slashes_stay(text):
    assert write_out(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("diabetes w/o complications", "DM w/o complication", "ulcer r/t diabetes"),
        *("fracture w/ displacement", "pain d/t fall", "fracture s/p fall", "fever c/w infection"),
        *("t/t of cancer", "tumor o/e", "ulcer 2/2 cancer", "N/V/D", "N/V", "b/l tumor"),
    ],
)
def test_nothing_is_split_at_the_slash_of_shorthand(text):
    assert split_composite(text) == (text,)


@given(st.text(st.sampled_from("wocrtdsphbnva/&2 WOCNVB."), max_size=30))
def test_it_is_written_out_once(text):
    assert write_out(write_out(text)).count("/") <= text.count("/")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *((text, 1) for text in ("DM1", "DM 1", "DM-1", "DM I", "DMI", "T1DM", "DM type 1")),
        *((text, 2) for text in ("DM2", "DM II", "DMII", "T2DM", "DM type II", "type 2 DM")),
        *((text, 2) for text in ("dm2", "dm type ii", "type ii dm", "t2dm")),
    ],
)
def test_dm_and_a_type_are_a_diabetes(text: str, number: int) -> None:
    assert diabetes_name(text) == f"type {number} diabetes mellitus"


@pytest.mark.parametrize(
    "text", ["DM", "DM3", "DMD", "dm i", "dmii", "ADM2", "DM2 locus", "MDM2", "T2D M"]
)
def test_other_short_forms_are_none(text: str) -> None:
    assert diabetes_name(text) == ""


def test_a_name_of_a_terminology_goes_before_the_diabetes() -> None:
    records = [Concept("D:1", "Type 2 diabetes mellitus"), Concept("D:2", "DM2 dystrophy")]
    linker = Linker.build(Terminology.build(records))
    (link,) = linker.link(["DM2"])
    (mapping,) = mappings_of(link)
    assert (link.id, mapping.supported, can_auto_accept(link)) == ("D:1", "close", False)
    named = Terminology.build([*records, Name("DM2", "D:2")])
    assert Linker.build(named).link(["DM2"])[0].id == "D:2"


@pytest.mark.parametrize(
    ("text", "written_out"),
    [
        *(("R knee pain", "right knee pain"), ("rt. ear pain", "right ear pain")),
        *(("hip pain (L)", "left hip pain"), ("knee pain, R", "right knee pain")),
        ("L arm and R leg weakness", "left arm and right leg weakness"),
        *(("burn of hand Lt", "burn of left hand"), ("L dopa", "L dopa"), ("R factor", "R factor")),
        *(("RT breast", "RT breast"), ("H&L foot", "H&L foot"), ("T-L arm", "T-L arm")),
    ],
)
def test_sides_are_written_out_beside_parts_of_the_body(text: str, written_out: str) -> None:
    assert write_out(text) == written_out


@pytest.mark.parametrize(
    ("text", "written_out"),
    [
        *(("H.T.N.", "HTN"), ("recurrent u.t.i.", "recurrent UTI"), ("T.I.A", "TIA")),
        *(("e.g. fever", "e.g. fever"), ("i.v. drug", "i.v. drug"), ("E. coli", "E. coli")),
        *(("St. J. Smith", "St. J. Smith"), ("v1.2.3", "v1.2.3")),
    ],
)
def test_dots_between_letters_go(text: str, written_out: str) -> None:
    assert write_out(text) == written_out


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("#left femur", "fracture left femur"),
        ("# upper arm", "fracture upper arm"),
        ("# NOF", "fracture NOF"),
        ("# tibia, closed", "fracture tibia, closed"),
        *((text, text) for text in ("# heart failure", "# atrial fibrillation", "# knee pain")),
        *(
            (text, text)
            for text in ("# lung cancer", "# foot ulcer", "# pleural effusion", "# UTI")
        ),
    ],
)
def test_a_number_sign_is_a_fracture_before_a_bone_alone(written: str, read: str) -> None:
    assert write_out(written) == read
