"""Entities, tags and misread UTF-8 are undone; what only looks like them stays."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.text import PLAIN, STRONG, normalise
from canonym.text.markup import entities, named_characters, repairs, untagged, well_read
from canonym.text.memo import MemoNormaliser
from tests.tables import cases, tables

ANY = st.text(st.characters(exclude_categories=[]), max_size=40)
SAMPLES = (
    "<b> </b> <sub> </sub> <br/> <p> < > & ; &eacute; &amp; &lt;i&gt; &#946; Ã © Â Î ² â € ™ a b 2 "
    "é β x Ã© â€™ ÃƒÂ©"
)
PIECES = st.lists(st.sampled_from([*SAMPLES.split(), " ", "\xa0"]), max_size=12).map("".join)


@cases("before", "after")
def test_entities(before: str, after: str) -> None:
    assert named_characters(before) == after


@cases("before", "after")
def test_tags(before: str, after: str) -> None:
    assert untagged(before) == after


_RIGHT = (
    "Ménière|Sjögren|Behçet|Guillain-Barré|naïve|Löffler|Waldenström|Ångström-Å|garçon|señor|maß"
    "|ÄÖÜ über|Ödem|voilà tout|Crohn’s|“fever”|a – b|a — b|…|•|™ ®|5 µg|10 °C|± 1|≥ 5|≤ 5|− 1|→"
    "|β-cell|TNFα|γδ T|κ-light|μ-opioid|Ω|½|² ³|Łódź žluč|Dvořák|Kovać|İstanbul|ﬁbrosis|пневмония"
    "|инфаркт миокарда|心筋梗塞|高血压病|viêm phổi bệnh|H₂O₂|Ⅱ|№ 5"
)
RIGHT = _RIGHT.split("|")


@pytest.mark.parametrize("text", RIGHT)
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_misread_text_is_decoded(text: str, encoding: str) -> None:
    misread = "".join(
        bytes([byte]).decode(encoding, "ignore") or chr(byte) for byte in text.encode()
    )
    assert well_read(misread) == text
    twice = "".join(
        bytes([byte]).decode(encoding, "ignore") or chr(byte) for byte in misread.encode()
    )
    assert well_read(twice) == text


@pytest.mark.parametrize("text", [*RIGHT, *tables(__file__)["text_that_was_read_well_stays"]])
def test_text_that_was_read_well_stays(text: str) -> None:
    assert well_read(text) == text


def test_all_together_and_each_step_is_told() -> None:
    text = "&lt;i&gt;MÃ©ni&egrave;re&lt;/i&gt;"
    steps = list(repairs(text))
    assert [step.name for step in steps] == ["entities", "markup", "encoding"]
    assert steps[-1].after == entities(text) == "Ménière"
    assert all(one.after == two.before for one, two in itertools.pairwise(steps))
    assert list(repairs("plain text")) == list(repairs("Ménière β")) == []


def test_the_normal_form_undoes_them() -> None:
    assert normalise("M&eacute;ni&egrave;re<br/>MÃ©niÃ¨re H<sub>2</sub>O a<b>c") == (
        "meniere meniere h2o a b c"
    )


@given(ANY | PIECES)
def test_any_text(text: str) -> None:
    for step in repairs(text):
        assert step.before != step.after
    for steps in (PLAIN, STRONG):
        form = normalise(text, steps)
        assert normalise(form, steps) == form
        assert MemoNormaliser(steps)([text]) == [form]


@given(st.text(st.characters(max_codepoint=127, exclude_characters="&<"), max_size=40))
def test_plain_ascii_stays(text: str) -> None:
    assert entities(text) == text
