"""Names found in text: spans, spelling, overlaps, short forms, filters, and what is no name."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Document, Linker, Mention, Name, Terminology
from canonym.errors import InvalidInput
from canonym.exchange.auto_accept import can_auto_accept
from canonym.indexes.phrase_filter import PHRASES
from canonym.terminology.readers.medic import read_medic
from canonym.text.short_forms import is_short_form
from tests.linkers import concepts
from tests.tables import cases, tables

RECORDS = [
    Concept("X:1", "Myocardial infarction", types=("disease",)),
    Name("heart attack", "X:1"),
    Concept("X:2", "Breast cancer", types=("disease",)),
    Concept("X:3", "Ovarian cancer", types=("disease",)),
    Concept("X:4", "Wilson disease", types=("disease",)),
    Concept("X:5", "Diabetes mellitus, type 1", types=("disease",)),
    Name("type 1 diabetes", "X:5"),
    Concept("X:6", "Wiskott-Aldrich syndrome", types=("disease",)),
    Name("WAS", "X:6"),
    Concept("X:7", "Glucose dehydrogenase deficiency", types=("disease",)),
    Concept("X:8", "Aspirin", types=("drug",)),
    Concept("X:9", "Attack", types=("event",)),
    Concept("X:10", "Pain, chest", types=("disease",)),
]


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(RECORDS), encoders=["chargrams"])


def _found(linker: Linker, text: str, **options: Any) -> list[tuple[str, str | None]]:
    links = linker.annotate(text, **options)
    for link in links:
        assert text[link.mention.start : link.mention.end] == link.mention.text
    return [(link.mention.text, link.id) for link in links]


def test_names_are_found_with_their_offsets_and_types(linker: Linker) -> None:
    (first, second) = linker.annotate("He took aspirin after a heart attack.")
    assert (first.mention.start, first.mention.end) == (8, 15)
    assert (first.mention.text, first.mention.type, first.id) == ("aspirin", "drug", "X:8")
    assert (second.mention.text, second.label) == ("heart attack", "Myocardial infarction")


@cases("text", "mention", "id_")
def test_names_are_found_in_any_form(linker: Linker, text: str, mention: str, id_: str) -> None:
    assert _found(linker, text) == [(mention, id_)]


@cases("text", "mentions")
def test_where_a_name_begins_and_ends(
    linker: Linker, text: str, mentions: tuple[tuple[str, str], ...]
) -> None:
    assert _found(linker, text) == [*mentions]


def test_short_forms_that_the_text_defines_are_mentions(linker: Linker) -> None:
    assert _found(linker, "Wilson disease (WD) is rare. WD is treatable.") == [
        *(("Wilson disease", "X:4"), ("WD", "X:4"), ("WD", "X:4")),
    ]
    given = _found(linker, "mild WD", abbreviations={"WD": "Wilson disease"})
    assert given == [("WD", "X:4")]


def test_a_composite_mention_has_an_id_for_each_part(linker: Linker) -> None:
    (link,) = linker.annotate("hereditary breast and ovarian cancer")
    assert (link.mention.text, link.ids) == ("breast and ovarian cancer", ("X:2", "X:3"))
    assert link.mention.type == "disease"
    assert _found(linker, "breast cancer and ovarian cancer") == [
        *(("breast cancer", "X:2"), ("ovarian cancer", "X:3")),
    ]


def test_added_synonyms_are_found_and_always_count() -> None:
    linker = Linker.build(Terminology.build(RECORDS), encoders=[])
    assert _found(linker, "the big one, MI and was") == []
    linker.synonyms.update([Name("the big one", "X:1"), Name("MI", "X:1")])
    assert _found(linker, "the big one, MI and was") == [("big one", "X:1"), ("MI", "X:1")]
    linker.synonyms.remove("MI", "X:1")
    assert _found(linker, "the big one, MI and was") == [("big one", "X:1")]


def test_forbidden_pairs_hold_in_text() -> None:
    linker = Linker.build(Terminology.build(RECORDS), encoders=[])
    linker.synonyms.forbid("heart attack", "X:1")
    assert _found(linker, "a heart attack, myocardial infarction") == [
        ("attack", "X:9"),
        ("myocardial infarction", "X:1"),
    ]


def test_filters_hold_in_text(linker: Linker) -> None:
    text = "aspirin after a heart attack"
    assert _found(linker, text, types=["drug"]) == [("aspirin", "X:8")]
    assert _found(linker, text, ids=["X:9"]) == [("attack", "X:9")]


def test_a_word_of_many_names_is_found_only_as_a_part_of_them() -> None:
    records = [Concept(f"X:{i}", f"kind{i} disease") for i in range(200)]
    linker = Linker.build(Terminology.build([*records, Concept("X:g", "Disease")]), encoders=[])
    assert _found(linker, "a disease, kind7 disease") == [("kind7 disease", "X:7")]
    linker.synonyms.add("disease", "X:7")
    assert _found(linker, "a disease")[0][0] == "disease"


def test_documents_come_back_with_the_mentions_that_were_found(linker: Linker) -> None:
    given = Document("7", "aspirin", (Mention("old", 0, 3),))
    ((document, links),) = linker.annotate_documents([given])
    assert document.mentions == (Mention("aspirin", 0, 7, "drug", document_id="7", flags=()),)
    assert links[0].mention is document.mentions[0]
    assert linker.annotate(given) == links


def test_batches_and_workers_change_nothing(linker: Linker) -> None:
    texts = ["aspirin", "", "a heart attack", "Wilson disease (WD)"] * 3
    whole = [links for _, links in linker.annotate_documents(texts)]
    assert [links for _, links in linker.annotate_documents(texts, batch=1)] == whole
    assert sum(map(len, whole)) == 12


@pytest.mark.slow
def test_processes_find_the_same(linker: Linker) -> None:
    texts = ["aspirin", "a heart attack"] * 2
    found = [*linker.annotate_documents(texts, batch=1, workers=2)]
    assert found == [*linker.annotate_documents(texts)]
    assert found[0][0].mentions[0].text == "aspirin"


def test_one_candidate_is_given_unless_more_are_asked_for(linker: Linker) -> None:
    assert len(linker.annotate("breast cancer")[0].candidates) == 1
    assert len(linker.annotate("breast cancer", k=2)[0].candidates) == 2


def test_an_index_without_bags_has_its_names_read(tmp_path: Path) -> None:
    folder, seen = tmp_path / "index", []
    terminology = Terminology.build(RECORDS)
    linker = Linker.build(terminology, encoders=[], sieves=["verbatim"], folder=folder)
    assert not (folder / PHRASES).exists()
    found = linker.annotate_documents(["An aspirin"], progress=lambda *stage: seen.append(stage))
    assert next(found)[1][0].id == "X:8"
    assert seen[-1] == ("names for texts", 13, 13)


def test_without_sieves_no_name_can_be_found() -> None:
    linker = Linker.build(Terminology.build(RECORDS), encoders=["chargrams"], sieves=[])
    with pytest.raises(InvalidInput, match="built without sieves"):
        linker.annotate("aspirin")


def test_only_what_the_sieves_know_is_found() -> None:
    linker = Linker.build(Terminology.build(RECORDS), encoders=[], sieves=["verbatim"])
    assert _found(linker, "Heart attack, heart attacks") == [("Heart attack", "X:1")]


@pytest.mark.parametrize("given", [3, None, ["a", "b"], b"text"])
def test_what_is_no_text_is_refused(linker: Linker, given: Any) -> None:
    with pytest.raises(InvalidInput, match="a text is a string or a Document"):
        linker.annotate(given)


def test_one_text_is_no_list_of_texts(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="annotate takes one"):
        linker.annotate_documents("aspirin")
    with pytest.raises(InvalidInput, match="no option 'top'"):
        linker.annotate("aspirin", top=3)  # type: ignore[call-arg]


def test_threads_with_other_filters_find_the_same(linker: Linker) -> None:
    text = "Breast and ovarian cancer, aspirin, a heart attack, Wilson disease (WD). " * 3
    filters = [{}, {"types": ["drug"]}, {"types": ["disease"]}] * 8
    alone = [_found(linker, text, **one) for one in filters]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda one: _found(linker, text, **one), filters))
    assert together == alone


@pytest.mark.slow
def test_every_name_of_medic_is_found_in_a_sentence(data: Path) -> None:
    source = data / "medic-2012" / "medic_06Jul2012.txt"
    linker = Linker.build(
        Terminology.build(read_medic(source)), encoders=[], abbreviations="schwartz-hearst"
    )
    names = list(chain.from_iterable(linker.terminology.iter_texts()))
    before = "It was seen that "
    sentences = (f"{before}{name} happened here." for name in names)
    missed = [
        name
        for name, (_, links) in zip(names, linker.annotate_documents(sentences), strict=True)
        if not any(_covers(link.mention, len(before), name) for link in links)
        and not is_short_form(name)  # whose concept is not in the sentence
    ]
    # Too general ("Disease"), out of order ("Ureter, Cancer Of"), or a definition of a short form
    # ("HSAN (Hereditary Sensory Autonomic Neuropathy)").
    assert len(missed) < 0.0015 * len(names), missed


def _covers(mention: Mention, start: int, name: str) -> bool:
    """Tell whether a mention is a name, but for brackets, an "of" or a quote at its ends."""
    assert mention.start is not None
    assert mention.end is not None
    shared = min(mention.end, start + len(name)) - max(mention.start, start)
    return shared >= max(len(name) - 8, len(name) // 2, 1)


TEXT_RECORDS = concepts(*tables(__file__)["concepts"])


@pytest.fixture(scope="module")
def texts() -> Linker:
    return Linker.build(Terminology.build(TEXT_RECORDS), encoders=["chargrams"])


@cases("text", "mentions")
def test_what_a_text_says_is_marked(
    texts: Linker, text: str, mentions: tuple[tuple[str, str], ...]
) -> None:
    assert _found(texts, text) == [*mentions]


def test_an_added_synonym_counts_though_it_is_an_ordinary_word() -> None:
    linker = Linker.build(Terminology.build(TEXT_RECORDS), encoders=[])
    assert _found(linker, "a chart") == []
    linker.add_synonym("chart", "Y:3")
    assert _found(linker, "a chart") == [("chart", "Y:3")]


def test_what_a_text_does_not_define_is_read_and_never_sure() -> None:
    records = [
        Concept("X:1", "Hypertension"),
        Concept("X:2", "Aortic stenosis"),
        Concept("X:3", "Fever"),
        Concept("X:4", "Heart failure"),
    ]
    linker = Linker.build(Terminology.build(records))
    text = "HTN, no fever. AS with a loud murmur. Heart failure (HF) since May. HF is worse."
    links = {link.mention.text: link for link in linker.annotate(text)}
    for short, id_, step in (
        ("HTN", "X:1", "usual reading"),
        ("AS", "X:2", "usual reading"),
        ("HF", "X:4", "abbreviation"),
    ):
        assert links[short].id == id_
        assert links[short].steps[0].name == step
        assert links[short].confidence is not None
    assert not can_auto_accept(links["HTN"])
    assert not can_auto_accept(links["AS"])
    assert can_auto_accept(links["HF"])
    (stated,) = linker.annotate("AS was seen.", abbreviations={"AS": "aortic stenosis"})
    assert stated.steps[0].name == "abbreviation"


def test_words_that_a_line_end_has_broken_are_found() -> None:
    records = [Concept("X:1", "Hypertension"), Concept("X:2", "Self-harm"), Concept("X:3", "Gout")]
    linker = Linker.build(Terminology.build(records), encoders=[])
    for text, mention, id_ in (
        ("severe hyper-\ntension", "hyper-\ntension", "X:1"),
        ("Hyper-\r\n   tension.", "Hyper-\r\n   tension", "X:1"),
        ("self-\nharm", "self-\nharm", "X:2"),
    ):
        (link,) = linker.annotate(text)
        assert (link.mention.text, link.id) == (mention, id_)
        assert text[link.mention.start : link.mention.end] == mention
    for text in ("hyper-\n\ntension", "hyper -\ntension", "hyper-\nTension", "hyper- tension"):
        assert not linker.annotate(text), text
    assert "flags" not in linker.annotate("no gout")[0].to_dict()
