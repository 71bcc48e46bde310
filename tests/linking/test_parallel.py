"""A linker that links in several processes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from canonym import Concept, Document, InvalidInput, Linker, Mention, Mismatch, Terminology
from tests.linkers import concepts

RECORDS = concepts(
    "X:1|Myocardial infarction|heart attack",
    "X:2|Breast cancer",
    "X:3|Ovarian cancer",
)
MENTIONS = ["heart attacks", "breast and ovarian cancer", "the big one", "", "ovary cancer"]


@pytest.fixture
def linker(tmp_path: Path) -> Linker:
    return Linker.build(
        Terminology.build(RECORDS), encoders=["chargrams"], folder=tmp_path / "index"
    )


def test_links_are_the_same_with_what_was_added(linker: Linker) -> None:
    linker.synonyms.add("the big one", "X:1")
    alone = linker.link(MENTIONS, k=3, ids=iter(["X:1", "X:2"]))
    assert [link.id for link in alone][:3:2] == ["X:1", "X:1"]
    assert linker.link(MENTIONS, k=3, ids=iter(["X:1", "X:2"]), workers=2, batch=2) == alone


def test_documents_come_with_their_links_and_their_own_abbreviations(linker: Linker) -> None:
    text = "Myocardial infarction (MI). MI."
    own = Document("1", text, (Mention("MI", 23, 25), Mention("MI", 28, 30)))
    other = Document("2", "", (Mention("MI"),))
    documents = [own, Document("3", "no mention"), other, own]
    found = list(linker.link_documents(iter(documents), workers=2, batch=1))
    assert [document for document, _ in found] == documents
    assert found == list(linker.link_documents(documents))
    assert [[link.id for link in links] for _, links in found[::3]] == [["X:1", "X:1"]] * 2


def test_a_synonym_that_is_added_meanwhile_counts_from_the_next_batch(linker: Linker) -> None:
    links = linker.link_stream(itertools.repeat("the big one", 40), workers=2, batch=1)
    assert next(links).score < 1
    linker.synonyms.add("the big one", "X:1")
    assert [link.score for link in links][-1] == 1


def test_options_are_checked_before_anything_is_read(linker: Linker) -> None:
    def mentions() -> Iterator[str]:
        raise AssertionError("nothing is read")
        yield ""

    for options in ({"workers": -1}, {"workers": 2, "k": 0}, {"workers": 2, "types": ["none"]}):
        with pytest.raises(InvalidInput):
            linker.link_stream(mentions(), **options)  # type: ignore[arg-type]


def test_a_mention_that_is_none_is_refused_as_with_one_process(linker: Linker) -> None:
    messages = []
    for workers in (1, 2):
        with pytest.raises(InvalidInput, match="a mention is a string") as caught:
            linker.link([*MENTIONS, 7], workers=workers, batch=2)  # type: ignore[list-item]
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_an_index_that_was_replaced_meanwhile_is_refused(linker: Linker, tmp_path: Path) -> None:
    other = Terminology.build([Concept("Y:1", "Migraine")])
    Linker.build(other, encoders=["chargrams"], folder=tmp_path / "index", overwrite=True)
    with pytest.raises(Mismatch, match="was replaced by another index while it was open"):
        linker.link(MENTIONS, workers=2, batch=2)


def test_the_linker_of_icd10cm_links_in_processes(
    packaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANONYM_DATA_HOME", str(packaged))
    linker = Linker.default()
    mentions = ["heart attak", "pink eye", "broken hip", "hip and shoulder pain"]
    found = linker.link(mentions, workers=2, batch=2)
    assert found == linker.link(mentions)
    assert found[0].id == "ICD10CM:I21"


def test_threads_of_a_pool_get_the_links_of_one(linker: Linker) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(linker.link, [MENTIONS] * 8))
    assert found == [linker.link(MENTIONS)] * 8
