"""The numbers that papers print about a corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.corpora import read_concepts, read_pubtator
from canonym.errors import InvalidInput
from canonym.types import Document, Mention
from reproduce.measures.corpus_statistics import Counts, Lengths, describe_corpus

CORPUS = [
    Document(
        "1",
        "",
        (
            Mention("Hip  pain", type="Disease", ids=("D1",)),
            Mention("hip pain", type="Disease", ids=("D1",)),
            Mention("vitamin D3", type="Drug", rule="nil"),
        ),
    ),
    Document(
        "2",
        "",
        (
            Mention("left-sided pain", type="Disease", ids=("D1", "D2"), rule="all"),
            Mention("rash", type="Disease", ids=("D3", "-1"), rule="all"),
            Mention("α + β", type="Drug"),
        ),
    ),
]


def test_a_corpus_is_counted() -> None:
    found = describe_corpus(CORPUS)
    assert (found.n_documents, found.n_concepts) == (2, 3)
    assert found.mentions == Counts(6, 4, 5, 3)
    assert list(found.types.items()) == [
        ("Disease", Counts(4, 4, 3, 3)),
        ("Drug", Counts(2, 0, 2, 0)),
    ]
    assert (found.n_composite, found.n_nil, found.n_unknown) == (2, 1, 1)
    assert (found.with_numeral, found.with_punctuation) == (1 / 6, 2 / 6)
    assert found.characters == Lengths((9 + 8 + 10 + 15 + 4 + 5) / 6, 8.5, 15)
    assert found.words == Lengths((2 + 2 + 2 + 2 + 1 + 3) / 6, 2, 3)
    assert found.unseen is None


def test_mentions_of_training_are_not_new() -> None:
    found = describe_corpus(CORPUS, training=[Mention("RASH", ids=("D3", "-1"), rule="all")]).unseen
    assert found is not None
    assert [m.text for m in found.mentions] == [
        "Hip  pain",
        "vitamin D3",
        "left-sided pain",
        "α + β",
    ]
    assert (found.n_seen, found.n_repeated) == (1, 1)


def test_a_corpus_without_mentions_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no mention"):
        describe_corpus([Document("1", "text")])


def test_published_counts(data: Path) -> None:
    """Table 3 of DILBERT: diseases of BC5CDR, 0.11 % with a numeral."""
    parts = [
        mention
        for part in ("train", "dev", "test")
        for document in read_pubtator(data / "bc5cdr" / f"{part}.pubtator")
        for mention in document.mentions
        if mention.type == "Disease"
    ]
    assert len(parts) == 4182 + 4244 + 4424
    assert round(100 * describe_corpus(parts).with_numeral, 2) == 0.11
    folder = data / "biosyn-processed" / "bc5cdr-disease"
    training = [m for part in ("train", "dev") for m in read_concepts(folder / f"{part}.concept")]
    found = describe_corpus(read_concepts(folder / "test.concept"), training=training).unseen
    assert found is not None
    assert len(found.mentions) == 657
