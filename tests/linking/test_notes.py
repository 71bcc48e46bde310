"""What notes write around a name: who has it, how bad it is, and shorthand for its words."""

from __future__ import annotations

import time

import pytest

from canonym import Concept, Linker, Name, Terminology
from canonym.exchange.mappings import mappings_of
from canonym.text.qualifiers import BROADER
from tests.linkers import SURE, concepts, linked, linker_of, sure_id
from tests.tables import cases, tables

TABLES = tables(__file__)
RECORDS = concepts(*TABLES["common"])


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(RECORDS))


@cases("mention")
def test_who_has_it_is_no_part_of_a_name(linker: Linker, mention: str) -> None:
    link, confidence = linked(linker, mention)
    assert link.id == "N:9"
    assert confidence > SURE
    assert link.status == ()
    assert next(mappings_of(link)).relation == "equal"


@pytest.mark.parametrize("mention", ["known case of DM", "patient with CP"])
def test_an_abbreviation_is_read_alike_in_a_note(linker: Linker, mention: str) -> None:
    noted, alone = linker.link([mention, mention.split()[-1]])
    assert (noted.id, noted.confidence) == (alone.id, alone.confidence)


@pytest.mark.parametrize(
    "mention", ["patient has no gout", "pt denies gout", "no evidence of gout"]
)
def test_a_note_may_say_that_it_is_not_so(linker: Linker, mention: str) -> None:
    (link,) = linker.link([mention])
    assert link.nil
    assert "negated" in link.status


@cases("mention", "id")
def test_how_bad_it_is_makes_a_known_name_broader(linker: Linker, mention: str, id: str) -> None:
    link, confidence = linked(linker, mention)
    assert link.id == id
    assert confidence > SURE
    assert next(mappings_of(link)).relation == "broader"


@cases("mention")
def test_what_is_another_thing_at_each_site_is_none_of_it(mention: str) -> None:
    names = ("cancer", "fracture", "metastasis", "swelling", "cold", "injury", "gout", "asthma")
    records = (Concept(f"C:{n}", name) for n, name in enumerate(names))
    (link,) = linker_of(records).link([mention])
    assert BROADER not in [step.name for step in link.steps]


@cases("mention", "id")
def test_a_name_may_say_how_bad_it_is(linker: Linker, mention: str, id: str) -> None:
    assert linker.link([mention])[0].id == id


def test_a_name_without_its_qualifiers_is_no_rival(linker: Linker) -> None:
    (link,) = linker.link(["dyspnea on exertion"])
    assert link.id in ("N:11", "N:12")


@pytest.mark.parametrize("mention", ["panic d/o", "panic D/O"])
def test_a_slash_stands_for_a_disorder(linker: Linker, mention: str) -> None:
    assert linker.link([mention])[0].id == "N:10"


TERSE = concepts(*TABLES["terse"])


@pytest.fixture(scope="module")
def terse() -> Linker:
    return Linker.build(Terminology.build(TERSE))


@cases("mention", "id")
def test_words_that_a_note_leaves_out_are_read(terse: Linker, mention: str, id: str) -> None:
    assert sure_id(terse, mention) == id


def test_three_letters_are_not_read_as_one_of_many_words() -> None:
    names = ["Poisoning by other antidepressants", "Poisoning by other antibiotics, accidental"]
    terms = [Concept(f"W:{n}", name) for n, name in enumerate(names)]
    (link,) = Linker.build(Terminology.build(terms)).link(["Poisoning by other ant"])
    assert link.nil or link.confidence < SURE


@pytest.mark.parametrize("mention", ["glioma 2", "HA", "left HA"])
def test_of_several_readings_none_is_certain(terse: Linker, mention: str) -> None:
    (link,) = terse.link([mention])
    assert link.confidence is None or link.confidence < SURE


def test_a_short_form_that_a_name_lacks_may_say_anything(linker: Linker) -> None:
    link, confidence = linked(linker, "TE knee pain")
    assert link.id == "N:2"
    assert confidence < SURE


@pytest.mark.parametrize("mention", ["knee%20pain", "#2 knee pain", "#1: knee pain"])
def test_what_another_program_writes_around_a_name_is_undone(linker: Linker, mention: str) -> None:
    assert sure_id(linker, mention) == "N:2"


DRUGS = [
    *(Concept("R:1", "Metformin"), Concept("R:2", "Heparin"), Concept("R:3", "Sodium")),
    *(Concept("R:4", "Morphine"), Concept("R:5", "Morphine sulfate"), Concept("R:6", "Estrone")),
]


@pytest.fixture(scope="module")
def drugs() -> Linker:
    return Linker.build(Terminology.build(DRUGS))


@cases("mention", "id", "relation")
def test_a_salt_of_a_known_drug_is_a_narrower_one(
    drugs: Linker, mention: str, id: str, relation: str
) -> None:
    link, confidence = linked(drugs, mention)
    assert link.id == id
    assert confidence > SURE
    assert next(mappings_of(link)).relation == relation


@pytest.mark.parametrize("mention", ["sodium chloride", "estrone sulfate"])
def test_what_is_named_by_its_salt_is_no_such_drug(drugs: Linker, mention: str) -> None:
    (link,) = drugs.link([mention])
    assert link.confidence is None or link.confidence < SURE


@cases("mention", "status")
def test_a_status_behind_a_heading_is_read(linker: Linker, mention: str, status: str) -> None:
    (link,) = linker.link([mention])
    assert link.status == (status,)


@pytest.mark.parametrize("mention", ["headache 0/10", "gout x 0"])
def test_what_was_never_there_is_not_sure(linker: Linker, mention: str) -> None:
    (link,) = linker.link([mention])
    assert link.nil or link.confidence is None or link.confidence < SURE


SPECIFIC = [
    *(
        Concept("S:1", "Dyspnea"),
        Concept("S:2", "Exertional dyspnea"),
        Concept("S:3", "Hypothermia"),
    ),
    *(Concept("S:4", "Tonsillitis"), Concept("S:5", "Recurring tonsillitis")),
]


@pytest.mark.parametrize(
    ("mention", "id"), [("dyspnea on exertion", "S:2"), ("recurrent tonsillitis", "S:5")]
)
def test_a_nearer_name_says_the_detail_in_other_words(mention: str, id: str) -> None:
    (link,) = linker_of(SPECIFIC).link([mention])
    assert link.id == id


def test_a_gap_of_a_thousand_spaces_costs_no_time(linker: Linker) -> None:
    begun = time.process_time()
    linker.link([f"gout{' ' * 900}3", f"{' ' * 990}R"])
    assert time.process_time() - begun < 3


CLIPPED = concepts(*TABLES["clipped"])


@cases("mention", "id")
def test_clipped_words_are_read_where_one_name_has_them(mention: str, id: str) -> None:
    assert sure_id(linker_of(CLIPPED), mention) == id


@pytest.mark.parametrize("mention", ["Rheum arthritis", "Neur"])
def test_what_clipped_words_leave_open_is_not_certain(mention: str) -> None:
    (link,) = linker_of(CLIPPED).link([mention])
    assert link.confidence is None or link.confidence < SURE


def test_a_title_of_a_section_is_no_mention() -> None:
    records = [Concept("X:1", "Allergy"), Name("Allergies", "X:1"), Concept("X:2", "Illness")]
    records += [Concept("X:3", "Pain"), Concept("X:4", "Fever"), Concept("X:5", "Asthma")]
    linker = Linker.build(Terminology.build(records))
    note = (
        "HISTORY OF PRESENT ILLNESS: He has fever. Pain scale: 3/10.\nAllergies: none.\n"
        "Asthma: stable. He has allergies, pain and an illness."
    )
    links = linker.annotate(note)
    assert [link.mention.text.lower() for link in links] == [
        *("fever", "asthma", "allergies", "pain", "illness")
    ]


def test_three_letters_are_a_clipped_word_of_shorthand() -> None:
    linker = Linker.build(Terminology.build([Concept("W:1", "Embolism of lower extremity")]))
    assert sure_id(linker, "Embolism,lower ext") == "W:1"


def test_what_a_written_out_mention_says_more_is_left_over() -> None:
    terms = [Concept("W:1", "Increased creatine phosphokinase"), Concept("W:2", "Chest pain")]
    (link,) = Linker.build(Terminology.build(terms)).link(["Elevated CPK after exercise"])
    assert (link.id, link.left_over) == ("W:1", ("after", "exercise"))
    assert (link.confidence or 0) < 0.95


def test_the_end_of_an_inverted_chemical_is_no_minus() -> None:
    terms = [Concept("W:1", "4-Borono-L-phenylalanine"), Concept("W:2", "Serelaxin")]
    linker = Linker.build(Terminology.build(terms))
    (link,) = linker.link(["Serelaxin; L-phenylalanine, 4-borono-"], keep_negated=True)
    assert [(part.id, part.status) for part in link.parts] == [("W:2", ()), ("W:1", ())]


@pytest.mark.parametrize("mention", ["anemia group N", "anemia complementation group N"])
def test_a_letter_behind_a_kind_is_no_answer(linker: Linker, mention: str) -> None:
    assert linker.link([mention], keep_negated=True)[0].status == ()
