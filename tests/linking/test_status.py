"""The status of mentions in a list, and what becomes of it in a linker and its outputs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from canonym import Concept, Linker, Terminology
from canonym.errors import InvalidInput
from canonym.exchange.auto_accept import can_auto_accept
from canonym.exchange.mappings import mappings_of
from canonym.export import links_to_rows, write_links
from canonym.mentions.status import split_at_turn
from canonym.types import Mention
from tests.linkers import concepts
from tests.tables import cases, tables

RECORDS = concepts(*tables(__file__)["concepts"])


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    folder = tmp_path_factory.mktemp("status") / "index"
    return Linker.build(Terminology.build(RECORDS), encoders=["chargrams"], folder=folder)


@cases("mention", "id", "status")
def test_the_concept_is_that_of_the_rest(
    linker: Linker, mention: str, id: str, status: str
) -> None:
    (link,) = linker.link([mention])
    (kept,) = linker.link([mention], keep_negated=True)
    assert link.status == kept.status == ((status,) if status else ())
    assert link.candidates[0].id == id == kept.id
    negated = status == "negated"
    assert (link.nil, link.reason) == (negated, "the mention is negated" if negated else "")
    assert link.id == (None if negated else id)
    assert not kept.nil


def test_steps_tell_what_was_taken_off_or_put_otherwise(linker: Linker) -> None:
    asthma, gout = linker.link(["h/o asthma", "FHx: gout"])
    assert [tuple(step) for step in asthma.steps] == [("status", "h/o asthma", "asthma")]
    assert asthma.searched == "asthma"
    assert tuple(gout.steps[0]) == ("wording", "FHx: gout", "family history of gout")


def test_a_composite_mention_has_the_statuses_of_its_parts(linker: Linker) -> None:
    turned, doubt, none = linker.link(
        ["no fever but cough", "pneumonia vs PE", "no breast and ovarian cancer"]
    )
    assert (turned.ids, turned.status) == (("X:13",), ("negated",))
    assert [part.status for part in turned.parts] == [("negated",), ()]
    assert (doubt.ids, doubt.status) == (("X:1", "X:2"), ("uncertain",))
    assert (none.nil, none.reason, none.ids) == (True, "the mention is negated", ())
    rows = links_to_rows([turned], k=1)
    assert [(row["part"], row["status"], row["nil"]) for row in rows] == [
        ("fever", "negated", True),
        ("cough", "", False),
    ]


def test_every_output_has_the_status(linker: Linker, tmp_path: Path) -> None:
    links = linker.link(["possible asthma", "no family history of cough", "no fever but cough"])
    assert links[1].to_dict()["status"] == ["negated", "family"]
    lines = io.StringIO()
    write_links(links, lines, format="jsonl")
    assert json.loads(lines.getvalue().splitlines()[0])["status"] == ["uncertain"]
    table = tmp_path / "links.tsv"
    write_links(links, table, one_row=True, k=1)
    head, *rows = (line.split("\t") for line in table.read_text().splitlines())
    cells = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["status"] for row in cells] == ["uncertain", "negated,family", "negated|"]
    assert [row["id"] for row in cells] == ["X:4", "", "|X:13"]


def test_flags_that_a_mention_comes_with_are_its_status(linker: Linker) -> None:
    given = [Mention("asthma", flags=("negated",)), Mention("r/o gout", flags=("family",))]
    negated, gout = linker.link(given)
    assert (negated.nil, negated.status) == (True, ("negated",))
    assert (gout.id, gout.status) == ("X:7", ("family", "uncertain"))


def test_a_mention_with_a_status_is_never_the_same_as_its_concept(linker: Linker) -> None:
    plain, past = linker.link(["asthma", "h/o asthma"])
    assert (can_auto_accept(plain), can_auto_accept(past)) == (True, False)
    assert [one.relation for link in (plain, past) for one in mappings_of(link)] == [
        "equal",
        "related",
    ]
    (mapping,) = mappings_of(past)
    assert "status historical" in mapping.evidence


def test_the_option_is_checked(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="keep_negated is 1; expected True or False"):
        linker.link(["gout"], keep_negated=1)  # type: ignore[typeddict-item]


def test_companions_change_nothing(linker: Linker) -> None:
    mentions = ["no fever", "fever", "h/o asthma", "asthma", "FHx gout", "family history of gout"]
    together = linker.link(mentions)
    assert together.to_dicts() == [linker.link([one])[0].to_dict() for one in mentions]
    assert together.to_dicts() == linker.link(mentions[::-1]).to_dicts()[::-1]


def test_a_list_whose_status_a_longer_name_says_is_that_name(tmp_path: Path) -> None:
    records = [
        Concept("X:1", "Fractures of hip and knee"),
        Concept("X:2", "Personal history of (healed) fractures of hip and knee"),
    ]
    linker = Linker.build(Terminology.build(records), encoders=["chargrams"], folder=tmp_path / "i")
    mentions = ["hx fractures of hip and knee", "h/o fractures of hip, and knee"]
    assert [link.id for link in linker.link(mentions)] == ["X:2", "X:2"]


@cases("first", "id", "status")
@pytest.mark.parametrize(
    "turn",
    [
        *("has", "has a", "now", "now with", "reports", "endorses", "complaining of"),
        *("positive for", "developed", "and complains of", "there is", "only"),
    ],
)
@pytest.mark.parametrize("joint", [",", " but"])
def test_a_status_ends_where_a_cell_goes_on_to_something_else(
    linker: Linker, first: str, id: str, status: str, joint: str, turn: str
) -> None:
    (link,) = linker.link([f"{first}{joint} {turn} cough"], min_confidence=0, keep_negated=True)
    assert [(part.id, part.status) for part in link.parts] == [(id, (status,)), ("X:13", ())]
    assert link.parts[1].mention.text == "cough"


@cases("mention")
def test_a_report_goes_on_to_something_else(linker: Linker, mention: str) -> None:
    (link,) = linker.link([mention], min_confidence=0, keep_negated=True)
    assert [(part.id, part.status) for part in link.parts] == [
        ("X:1", ("negated",)),
        ("X:13", ()),
    ]


@pytest.mark.parametrize("end", ["now ruled out", "since excluded", "later ruled out"])
def test_what_was_ruled_out_later_is_one_mention(linker: Linker, end: str) -> None:
    (link,) = linker.link([f"r/o PE, {end}"], keep_negated=True)
    assert (link.parts, link.id, link.status) == ((), "X:2", ("negated",))


@pytest.mark.parametrize("turn", ["has", "reports", "now with"])
def test_all_before_the_turn_has_the_status(linker: Linker, turn: str) -> None:
    (link,) = linker.link([f"denies fever, asthma, {turn} cough"], min_confidence=0)
    assert [part.status for part in link.parts] == [("negated",), ("negated",), ()]


@pytest.mark.parametrize("first", ["h/o asthma", "possible asthma", "history of asthma"])
@cases("course")
def test_how_it_went_on_is_not_another_mention(first: str, course: str) -> None:
    assert split_at_turn(f"{first}, {course}") == (f"{first}, {course}",)


def test_a_comma_without_a_status_before_it_does_not_part(linker: Linker) -> None:
    (link,) = linker.link(["asthma, now controlled"], min_confidence=0)
    assert not link.parts
