"""Values that cannot be used are refused where they come in, in the words of Python."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import pytest

from canonym import Concept, Linker, LinkOptions, Name, Terminology
from canonym.errors import InvalidInput, ReadError
from canonym.evaluation import evaluate_corpus
from canonym.terminology import read_records
from canonym.types import Document, Mention

OUTSIDE = Document("d7", "abc", (Mention("xyz", 50, 53, ids=("X:1",)),))
BACKWARDS = Document("d7", "abc", (Mention("b", 2, 1, ids=("X:1",)),))
SOUND = Document("d7", "a heart attack", (Mention("heart attack", 2, 14, ids=("X:1",)),))


@pytest.fixture(scope="module")
def linker() -> Linker:
    records = [Concept("X:1", "Myocardial infarction"), Name("heart attack", "X:1")]
    return Linker.build(Terminology.build(records), encoders=["chargrams"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"k": "3"}, "k is '3'"),
        ({"k": True}, "k is True"),
        ({"min_score": math.nan}, "min_score is nan; a score is expected"),
        ({"min_score": True}, "min_score is True"),
        ({"min_confidence": math.nan}, "min_confidence is nan"),
        ({"seed": True}, "seed is True"),
        ({"context": "no"}, "context is 'no'; expected True or False"),
        ({"ids": [[]]}, "is no string"),
        ({"abbreviations": "HA"}, "abbreviations is 'HA'; expected a mapping"),
        ({"abbreviations": [("HA", "x")]}, "expected a mapping"),
        ({"abbreviations": {"HA": None}}, "expected a mapping"),
        ({"abbreviations": {5: "x"}}, "expected a mapping"),
    ],
)
def test_options_of_linking(linker: Linker, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match="(?s).*".join(problem.split("|"))):
        linker.link(["heart attack"], **options)


def test_a_large_k_ends(linker: Linker) -> None:
    assert linker.link(["heart attack"], k=10**9)[0].id == "X:1"


@pytest.mark.parametrize("given", [5, None, [5], [Mention(5)], [Mention("x", start="0", end=1)]])  # type: ignore[arg-type]
def test_mentions_of_other_types(linker: Linker, given: Any) -> None:
    with pytest.raises(InvalidInput):
        linker.link(given)


@pytest.mark.parametrize("document", [OUTSIDE, BACKWARDS])
@pytest.mark.parametrize(
    "use",
    [
        lambda linker, one: linker.link_document(one),
        lambda linker, one: evaluate_corpus([one], linker=linker, protocol="raw"),
        lambda linker, one: evaluate_corpus([one], terminology=linker.terminology),
        lambda linker, one: evaluate_corpus([SOUND], linker=linker, training=[one]),
        lambda linker, one: linker.fit_confidence([one]),
    ],
)
def test_offsets_lie_in_the_text(
    linker: Linker, use: Callable[[Linker, Document], object], document: Document
) -> None:
    mention = document.mentions[0]
    said = f"'d7': offsets {mention.start}-{mention.end} of the mention '{mention.text}'"
    with pytest.raises(InvalidInput, match=said):
        use(linker, document)


def test_offsets_may_be_missing_and_pieces_have_another_text(linker: Linker) -> None:
    mentions = (Mention("heart attack"), Mention("heart attack", 0, 19), Mention("x", None, 90))
    pieces = Document("d", "heart or lung attack", mentions)
    assert [link.id for link in linker.link_document(pieces)][:2] == ["X:1", "X:1"]
    without_text = Document("d", "", (Mention("heart attack", 50, 62),))
    assert linker.link_document(without_text)[0].id == "X:1"


@pytest.mark.parametrize(
    "document",
    [
        "x",
        Document("d", None, (Mention("x"),)),  # type: ignore[arg-type]
        Document("d", "x", ("x",)),  # type: ignore[arg-type]
        Document("d", "x", "x"),  # type: ignore[arg-type]
    ],
)
def test_documents_of_other_types(linker: Linker, document: Any) -> None:
    with pytest.raises(InvalidInput):
        linker.link_document(document)
    with pytest.raises(InvalidInput):
        evaluate_corpus([document], linker=linker)


@pytest.mark.parametrize("corpus", [["heart attack"], "heart attack", [5], 5])
def test_a_corpus_of_strings_fits_nothing(linker: Linker, corpus: Any) -> None:
    with pytest.raises(InvalidInput, match="Document"):
        linker.fit_confidence(corpus)


def test_what_is_taught(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="a synonym is a Name, not tuple"):
        linker.synonyms.update([("the big one", "X:1")])  # type: ignore[list-item]
    for pair in ("ab", ("x",), 5):
        with pytest.raises(InvalidInput, match="a forbidden pair is a mention and the id"):
            linker.synonyms.update(forbidden=[pair])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="language is 'not a tag!!'; a tag of BCP 47"):
        linker.synonyms.add("the big one", "X:1", language="not a tag!!")
    assert not len(linker.synonyms)


@pytest.mark.parametrize("weight", [math.nan, math.inf, -1, "1", None, 10**400])
def test_weights(linker: Linker, weight: Any) -> None:
    with pytest.raises(InvalidInput, match="expected numbers of at least 0"):
        Linker.build(linker.terminology, encoders=["chargrams"], weights=[weight])


def test_options_of_evaluation(linker: Linker) -> None:
    for k in ("3", True, 0):
        with pytest.raises(InvalidInput, match="k is"):
            evaluate_corpus([SOUND], terminology=linker.terminology, k=k)  # type: ignore[arg-type]
    assert evaluate_corpus([SOUND], terminology=linker.terminology, k=10**9)
    for least in (math.nan, math.inf, 2.0):
        with pytest.raises(InvalidInput, match="min_confidence is"):
            evaluate_corpus([SOUND], linker=linker, protocol="raw", min_confidence=least)
    with pytest.raises(InvalidInput, match="seed is -1"):
        evaluate_corpus([SOUND], terminology=linker.terminology, seed=-1)


def test_languages_of_a_table(tmp_path: Any) -> None:
    file = tmp_path / "x.csv"
    file.write_text("id,name,language\nX:1,Herz,de\nX:2,coração,pt-BR\nX:3,x,\n", encoding="utf-8")
    assert {r.language for r in read_records(file, format="table") if isinstance(r, Name)} <= {
        *("de", "pt-BR", "en")
    }
    with pytest.raises(InvalidInput, match="language is 'not a tag!!'"):
        list(read_records(file, format="table", language="not a tag!!"))
    file.write_text("id,name,language\nX:1,Herz,de_DE\n")
    with pytest.raises(ReadError, match="line 2: the language is 'de_DE'"):
        list(read_records(file, format="table"))


@pytest.mark.parametrize("delimiter", ["||", "", "\n"])
def test_the_delimiter_of_a_terminology(tmp_path: Any, delimiter: str) -> None:
    file = tmp_path / "x.csv"
    file.write_text("id,name\nX:1,Herz\n")
    with pytest.raises(InvalidInput, match="one character is expected"):
        list(read_records(file, format="table", delimiter=delimiter))


def test_help_shows_every_option_with_its_default() -> None:
    for function, k in ((Linker.link, 5), (Linker.link_documents, 5), (Linker.annotate, 1)):
        shown = inspect.signature(function).parameters
        assert shown["k"].default == k
        assert shown["context"].default is True
        assert "options" not in shown
        assert set(LinkOptions.__annotations__) < set(shown)
