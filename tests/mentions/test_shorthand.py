"""Shorthand with a slash is written out, and other slashes stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym import Linker, Terminology
from canonym.exchange.auto_accept import can_auto_accept
from canonym.exchange.mappings import mappings_of
from canonym.mentions.composites import split_composite
from canonym.mentions.shorthand import diabetes_name, with_side, write_out
from canonym.types import Concept, Name
from tests.tables import cases


@cases("text", "written")
def test_shorthand(text, written):
    assert write_out(text) == written


@cases("text")
def test_other_slashes_stay(text):
    assert write_out(text) == text


@cases("text")
def test_nothing_is_split_at_the_slash_of_shorthand(text):
    assert split_composite(text) == (text,)


@given(st.text(st.sampled_from("wocrtdsphbnva/&2 WOCNVB."), max_size=30))
def test_it_is_written_out_once(text):
    assert write_out(write_out(text)).count("/") <= text.count("/")


@pytest.mark.parametrize(
    ("text", "sided"),
    [
        ("R Bell's palsy", "right Bell's palsy"),
        ("Bell's palsy, (L)", "left Bell's palsy"),
        ("SNHL L", "left SNHL"),
        ("L", "L"),
        ("", ""),
        ("l cell", "l cell"),
        ("L-dopa", "L-dopa"),
        ("right R wave", "right R wave"),
    ],
)
def test_a_letter_at_an_end_may_be_a_side(text: str, sided: str) -> None:
    assert with_side(text) == sided


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


@cases("text", "written_out")
def test_sides_are_written_out_beside_parts_of_the_body(text: str, written_out: str) -> None:
    assert write_out(text) == written_out


@cases("text", "written_out")
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
