"""Mentions that come again get the links that each would get alone."""

from __future__ import annotations

import gc
import random
import tracemalloc

import pytest

from canonym import Concept, Document, Linker, Mention, Terminology
from canonym.linking import links as of_links
from canonym.linking import pipeline as way

CONCEPTS = [
    Concept("X:1", "Tachycardia"),
    Concept("X:2", "Sinus tachycardia"),
    Concept("X:3", "Ventricular tachycardia"),
    Concept("X:4", "Increase in cardiac output"),
    Concept("X:5", "Cardiac output, high"),
]


@pytest.fixture
def linker() -> Linker:
    return Linker.build(Terminology.build(CONCEPTS))


def test_a_list_in_the_batch_leaves_the_candidates_of_its_items(linker: Linker) -> None:
    listing = "increase in heart rate and in cardiac output"
    alone = linker.link(["tachycardia"])[0]
    assert len(alone.candidates) == 5
    assert linker.link([listing, "tachycardia"])[1] == alone


def test_repeated_mentions_are_linked_once(linker: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["tachycardias", "high output", "tachycardias", "", "high output", "tachycardias"]
    alone = [Linker.load(linker.folder).link([text])[0] for text in texts]
    made = []
    link_of = way.link_of
    monkeypatch.setattr(
        way, "link_of", lambda draft, batch: made.append(draft) or link_of(draft, batch)
    )
    assert list(linker.link(texts)) == alone
    assert list(linker.link(texts, batch=2)) == alone
    assert len(made) == 3 + 3  # another size of batches is another request
    assert list(linker.link(texts[:2])) == alone[:2]


def test_what_else_a_mention_has_counts(linker: Linker) -> None:
    mentions = [
        Mention("tachycardia"),
        Mention("tachycardia", flags=("negated",)),
        Mention("tachycardia", ids=("X:9",), document_id="7"),
        Mention("ST", context="sinus tachycardia (ST)"),
        Mention("ST"),
    ]
    links = linker.link(mentions + mentions)
    assert [link.mention for link in links] == mentions + mentions
    assert [link.status for link in links][:2] == [(), ("negated",)]
    assert links[3].id == links[8].id == "X:2"
    assert links[4] == links[9] == linker.link(["ST"])[0] != links[3]
    text = "Sinus tachycardia (ST): ST again"
    document = Document("1", text, (Mention("ST"),))
    (_, in_text), (_, alone) = linker.link_documents(
        [document, Document("2", "", (Mention("ST"),))]
    )
    assert alone[0] == links[4]
    assert in_text[0] != alone[0]


def test_options_and_abbreviations_count(linker: Linker) -> None:
    assert [len(linker.link(["tachycardia"] * 2, k=k)[1].candidates) for k in (1, 3, 1)] == [
        1,
        3,
        1,
    ]
    assert linker.link(["tachycardia"], ids=["X:2"])[0].id == "X:2"
    assert linker.link(["tachycardia"])[0].id == "X:1"
    written_out = linker.link(["T"] * 2, abbreviations={"T": "ventricular tachycardia"})
    assert [link.id for link in written_out] == ["X:3"] * 2
    assert linker.link(["T"])[0].id != "X:3"


def test_names_that_are_added_are_seen(linker: Linker) -> None:
    assert linker.link(["galloping"])[0].id != "X:1"
    linker.synonyms.add("galloping", "X:1")
    assert linker.link(["galloping"])[0].id == "X:1"


def test_a_full_table_is_left(linker: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_links, "_MOST_KNOWN", 2)
    texts = [concept.label for concept in CONCEPTS] * 2
    for _ in range(3):
        links = linker.link(texts, batch=2)
        assert [link.label for link in links] == texts


def test_long_mentions_are_not_remembered(linker: Linker) -> None:
    # They left 24 kB each, in tables of 65,536 and more.
    rng = random.Random(0)
    words = [f"{first}{second}mia" for first in "bcdfgklm" for second in "aeiou"]

    def several(n: int) -> list[str]:
        return [" ".join(rng.choices(words, k=300)) for _ in range(n)]

    def kept() -> int:
        before, _ = tracemalloc.get_traced_memory()
        linker.link(several(20))
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    linker.link(several(10))  # knows all words from here on
    tracemalloc.start()
    try:
        # A table of words that doubles its size in one of the rounds does so once.
        assert min(kept() for _ in range(3)) < 20 * 10_000
    finally:
        tracemalloc.stop()
