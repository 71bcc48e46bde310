"""Short forms that documents define: their long forms are looked up, unless they are names."""

from __future__ import annotations

import pytest

from canonym import Document, Linker, Mention, Terminology
from canonym.mentions.abbreviations import without_own_short_forms
from tests.linkers import SURE, concepts, linked, linker_of
from tests.tables import cases, tables

TABLES = tables(__file__)


@pytest.fixture(scope="module")
def linker() -> Linker:
    genes = concepts(*TABLES["genes"])
    return Linker.build(Terminology.build(genes), abbreviations="schwartz-hearst")


def document(short: str, long: str) -> Document:
    text = f"We studied {long} ({short}). Without {short} they died."
    start = text.rindex(short)
    return Document("1", text, (Mention(short, start, start + len(short)),))


@cases("short", "long", "symbol")
def test_a_short_form_that_is_a_name_stays(
    linker: Linker, short: str, long: str, symbol: str
) -> None:
    (link,) = linker.link_document(document(short, long))
    assert link.id == f"GENE:{symbol}"
    if not any(step.name == "abbreviation" for step in link.steps):
        assert link.searched == short
        assert link.candidates[0].sieve == "verbatim"


def test_it_stays_without_a_step(linker: Linker) -> None:
    (link,) = linker.link_document(document("LKB1", "liver kinase B1"), k=3)
    assert (link.searched, link.candidates[0].name) == ("LKB1", "LKB1")
    assert [step.name for step in link.steps] == ["case"]
    assert len(link.candidates) == 3


@cases("short", "long", "symbol")
def test_elsewhere_the_long_form_is_looked_up(
    linker: Linker, short: str, long: str, symbol: str
) -> None:
    given = document(short, "something else")
    linked = linker.pipeline.link_batch(
        [given], linker.pipeline.request(k=1), {}, defined=[{short: long}]
    )
    ((_, links),) = linked
    assert links[0].id == f"GENE:{symbol}"
    assert links[0].steps[0].name == "abbreviation"


def test_what_the_caller_defines_is_looked_up(linker: Linker) -> None:
    given = [document("LKB1", "liver kinase B1")]
    linked = linker.pipeline.link_documents(given, {}, {"LKB1": "liver kinase B1"})
    ((_, links),) = linked
    assert (links[0].searched, links[0].steps[0].name) == ("liver kinase B1", "abbreviation")


EXPLAINED = concepts(*TABLES["explained"])


@cases("mention", "id")
def test_a_short_form_that_a_mention_explains_says_nothing_more(mention: str, id: str) -> None:
    link, confidence = linked(linker_of(EXPLAINED), mention)
    assert link.id == id
    assert link.candidates[0].sieve in ("verbatim", "normalised", "reordered")
    assert confidence > SURE


@cases("text")
def test_what_no_words_spell_stays(text: str) -> None:
    assert without_own_short_forms(text) == (text, "")
