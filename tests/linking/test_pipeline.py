"""The way from documents to links: batches, options, and what one batch shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import Concept, Document, InvalidInput, Link, Linker, Mention, Name, Terminology
from canonym.linking.hits import ConceptTable
from canonym.linking.links import KnownLinks, LinkOptions, check_options
from canonym.linking.pipeline import Pipeline
from canonym.mentions.documents import batches_of
from canonym.mentions.prepared import Asked
from canonym.types import Step

RECORDS = [
    Concept("X:1", "Breast cancer", types=("disease",), source="S"),
    Name("mammary carcinoma", "X:1"),
    Concept("X:2", "Ovarian cancer", types=("disease",), source="S"),
    Concept("X:3", "Cold", types=("disease",), definition="A runny nose with sneezing and cough."),
    Concept("X:4", "Low temperature", types=("feeling",)),
    Name("cold", "X:4"),
    Concept("X:5", "Myocardial infarction"),
    Name("heart attack", "X:5"),
    *(Concept(f"Y:{number}", f"tumour of kind {number}") for number in range(30)),
]
TEXTS = (
    "",
    "Ovarian cancer (OC) is rare; OC and breast and mammary cancer were seen.",
    "A cold with sneezing, a runny nose and cough.",
    "nothing",
    "Tumours of kinds 1 and 2, and of kind 3; hart attak; heart attack; ?",
)
MENTIONS = (
    (),
    ("Ovarian cancer", "OC", "breast and mammary cancer"),
    ("cold", "sneezing"),
    (),
    ("Tumours of kinds 1 and 2", "kind 3", "hart attak", "heart attack", "heart attack", "?"),
)


def documents() -> list[Document]:
    return [
        Document(
            str(number),
            text,
            tuple(Mention(one, text.index(one), text.index(one) + len(one)) for one in mentions),
        )
        for number, (text, mentions) in enumerate(zip(TEXTS, MENTIONS, strict=True))
    ]


@pytest.fixture(scope="module")
def terminology(tmp_path_factory: pytest.TempPathFactory) -> Terminology:
    return Terminology.build(RECORDS, tmp_path_factory.mktemp("terms") / "x.db")


@pytest.fixture(scope="module")
def linker(terminology: Terminology) -> Linker:
    return Linker.build(terminology, encoders=["chargrams"])


@pytest.fixture
def own(terminology: Terminology) -> Linker:
    """A linker that a test may teach or change."""
    return Linker.build(terminology, encoders=["chargrams"])


# --- batches --------------------------------------------------------------------------------------


def test_batches_hold_whole_documents() -> None:
    sizes = [0, 2, 1, 0, 5, 1, 0]
    given = [Document(str(n), "", (Mention("x"),) * size) for n, size in enumerate(sizes)]
    for mentions, wanted in (
        (1, [[0], [1], [2], [3], [4], [5], [6]]),
        (3, [[0, 1], [2, 3, 4], [5, 6]]),
        (1000, [[0, 1, 2, 3, 4, 5, 6]]),
    ):
        found = [[int(one.id) for one in batch] for batch in batches_of(given, mentions=mentions)]
        assert found == wanted
    assert list(batches_of([], mentions=1)) == []


@pytest.mark.parametrize("options", [{}, {"k": 1, "min_score": 0.5}, {"context": False}])
def test_the_size_of_a_batch_changes_nothing(
    terminology: Terminology, tmp_path: Path, options: LinkOptions
) -> None:
    linker = Linker.build(terminology, folder=tmp_path / "index")
    whole = list(linker.link_documents(documents(), batch=1000, **options))
    assert [document for document, _ in whole] == documents()
    assert [len(links) for _, links in whole] == [0, 3, 2, 0, 6]
    for batch in (1, 3):
        assert list(linker.link_documents(documents(), batch=batch, **options)) == whole
    alone = [(one, linker.link_document(one, **options)) for one in documents()]
    assert alone == whole
    mentions = [mention for document in documents() for mention in document.mentions]
    assert linker.link(mentions, batch=1, **options) == linker.link(mentions, **options)


def test_without_documents_there_are_no_links(linker: Linker) -> None:
    assert list(linker.link_documents([])) == []
    assert len(linker.link([])) == 0
    empty = [Document("1", "cold"), Document("2", "")]
    for batch in (1, 2, 3):
        found = list(linker.link_documents(empty, batch=batch))
        assert [(document, list(links)) for document, links in found] == [
            (document, []) for document in empty
        ]


def test_a_stream_of_empty_documents_is_answered_as_it_comes(linker: Linker) -> None:
    taken = 0

    def stream() -> Iterator[Document]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield Document(str(number), "nothing here")

    next(linker.link_documents(stream(), batch=7))
    assert taken == 7


def test_a_batch_sees_the_names_of_one_moment(own: Linker) -> None:
    stream = own.link_stream(["widow maker"] * 6, batch=3)
    before = [next(stream)]
    own.synonyms.add("widow maker", "X:5")
    before += [next(stream), next(stream)]
    after = list(stream)
    assert all(link.id != "X:5" for link in before)
    assert [link.id for link in after] == ["X:5"] * 3
    stream = own.link_stream(["widow maker"] * 4, batch=2)
    assert next(stream).id == "X:5"
    own.synonyms.forbid("widow maker", "X:5")
    assert [link.id == "X:5" for link in stream] == [True, False, False]


class Counting:
    """Counts the strings that an encoder is given."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.counts: Counter[str] = Counter()

    def encode(self, names: list[str]) -> Any:
        self.counts.update(names)
        return self.inner.encode(names)


def test_a_batch_encodes_every_string_once(terminology: Terminology, tmp_path: Path) -> None:
    linker = Linker.build(terminology, folder=tmp_path / "index")
    linker.synonyms.forbid("heart attack", "X:3")  # its strings are looked up by themselves
    linker.synonyms.forbid("kind 3", "Y:3")
    (encoder,) = linker.pipeline.search.encoders
    counting = Counting(encoder.encoder)
    linker.pipeline.search.encoders = (encoder._replace(encoder=counting),)
    given = [*documents(), *documents()]
    links = [link for _, of_document in linker.link_documents(given) for link in of_document]
    assert len(links) == 22
    assert counting.counts
    assert set(counting.counts.values()) == {1}
    # Every document is a batch: what both copies hold is encoded twice.
    counting.counts.clear()
    assert [
        link for _, of_document in linker.link_documents(given, batch=1) for link in of_document
    ] == links
    assert set(counting.counts.values()) == {2}


# --- options --------------------------------------------------------------------------------------


def never() -> Iterator[Any]:
    """Yield mentions or documents that must not be read."""
    pytest.fail("read before the options were checked")
    yield


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kk": 3}, r"there is no option 'kk'; there are k, types, sources, languages, ids, "),
        ({"k": 0}, "k is 0; expected a number of candidates, at least 1"),
        ({"k": "3"}, "k is '3'; expected a number of candidates"),
        ({"k": 2.5}, "k is 2.5; expected"),
        ({"k": None}, "k is None; expected"),
        ({"batch": 0}, "batch is 0; expected a number of mentions, at least 1"),
        ({"batch": 1.5}, "batch is 1.5"),
        ({"seed": -1}, "seed is -1; expected a whole number, at least 0"),
        ({"seed": "a"}, "seed is 'a'"),
        ({"min_score": math.inf}, "min_score is inf; a score is expected, a number from -1 to 1"),
        ({"min_score": math.nan}, "min_score is nan; a score is expected"),
        ({"min_score": 1.5}, r"min_score is 1\.5; a score is expected"),
        ({"min_score": "high"}, "min_score is 'high'; expected a number"),
        ({"min_confidence": "high"}, "min_confidence is 'high'; expected a number"),
        ({"min_confidence": math.inf}, "min_confidence is inf; a probability"),
        ({"min_confidence": 2}, "min_confidence is 2; a probability"),
        ({"types": "disease"}, "types is 'disease'; expected a list of strings"),
        ({"ids": "X:1"}, "ids is 'X:1'; expected a list of strings"),
        ({"sources": None}, "sources is None; expected a list of strings"),
        ({"types": ["diseas"]}, "did you mean 'disease'"),
        ({"ids": ["X:9"]}, "X:9"),
    ],
)
def test_options_are_checked_before_anything_is_read(
    linker: Linker, options: Any, message: str
) -> None:
    for link in (linker.link, linker.link_stream, linker.link_documents):
        with pytest.raises(InvalidInput, match=message):
            link(never(), **options)
    with pytest.raises(InvalidInput, match=message):
        linker.link_document(documents()[1], **options)


def test_the_message_lists_every_option() -> None:
    with pytest.raises(InvalidInput) as raised:
        check_options({"min_scor": 0.5})  # type: ignore[typeddict-unknown-key]
    listed = str(raised.value).partition("there are ")[2].split(", ")
    assert set(listed) == LinkOptions.__optional_keys__


def test_numbers_of_numpy_are_numbers(linker: Linker) -> None:
    options: Any = {"k": np.int64(2), "min_score": np.float32(0.5), "seed": np.int32(1)}
    assert linker.link(["cold"], **options) == linker.link(["cold"], k=2, min_score=0.5, seed=1)


def test_ids_may_be_any_iterable(linker: Linker) -> None:
    wanted = linker.link(["cold", "cancer"], ids=["X:1", "X:4"], min_confidence=0)
    again = linker.link(["cold", "cancer"], ids=iter(["X:1", "X:4"]), min_confidence=0)
    assert again == wanted
    assert [link.id for link in wanted] == ["X:4", "X:1"]


@pytest.mark.parametrize("given", [["text"], [Mention("x")], [None]])
def test_only_documents_are_documents(linker: Linker, given: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="a document is a Document, not"):
        list(linker.link_documents(given))


# --- what decides ---------------------------------------------------------------------------------


def test_a_mention_is_looked_up_as_the_one_before_its_bracket(linker: Linker) -> None:
    text = "Heart attack (HrtX9), later HrtX9."
    places = [(0, 12), (14, 19), (28, 33)]
    mentions = tuple(Mention(text[start:end], start, end) for start, end in places)
    links = linker.link_document(Document("1", text, mentions))
    assert [link.id for link in links] == ["X:5"] * 3
    assert [link.searched for link in links] == ["Heart attack"] * 3
    assert links[1].steps[0] == Step("gloss", "HrtX9", "Heart attack")
    alone = linker.link([mentions[1]])[0]
    assert (alone.searched, alone.steps) == ("HrtX9", ())


def test_many_concepts_are_remembered_but_not_all(
    own: Linker, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = own.link(["tumour kind"], k=30)
    monkeypatch.setattr("canonym.linking.hits._REMEMBERED", 3)
    table = ConceptTable(own.terminology)
    own.pipeline.concepts, own.pipeline.known_links = table, KnownLinks()
    assert own.link(["tumour kind"], k=30) == wanted
    assert 1 <= len(table._known) <= 3


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The strings that are looked up, batch by batch."""
    batches: list[list[str]] = []
    find = Pipeline._find

    def watched(pipeline: Pipeline, strings: list[Asked], *more: Any) -> Any:
        batches.append([string for string, _ in strings])
        return find(pipeline, strings, *more)

    monkeypatch.setattr(Pipeline, "_find", watched)
    return batches


def test_strings_are_looked_up_once_until_the_names_change(
    own: Linker, looked_up: list[list[str]]
) -> None:
    mentions = ["hart attak", "cold", "tumour kind"]
    first = own.link(mentions, k=2)
    assert own.link(mentions, k=2) == first
    assert not looked_up[1:]
    own.link([Mention(text, document_id="2") for text in mentions], k=2)
    assert set(looked_up[1]).isdisjoint(mentions)
    own.link(mentions, k=3)  # more of them are another question
    own.link(mentions, k=3, types=["feeling"])
    own.synonyms.add("tumour kind", "X:4")
    assert own.link(["tumour kind"], k=3)[0].id == "X:4"
    assert [set(mentions) <= set(strings) for strings in looked_up[2:4]] == [True, True]


def test_strings_are_remembered_by_what_is_forbidden_for_them(
    own: Linker, looked_up: list[list[str]]
) -> None:
    own.synonyms.forbid("HA", "X:5")
    mentions, short = ["HA", "heart attack", "HA"], {"HA": "heart attack"}
    for mention_list in (mentions, mentions[::-1], mentions):
        links = own.link(mention_list, abbreviations=short)
        assert [link.id == "X:5" for link in links] == [False, True, False]
    asked = [strings for strings in looked_up if "heart attack" in strings]
    assert len(asked) == 2  # once with the concept forbidden, and once without


def test_a_batch_reads_its_concepts_and_names_at_once(
    own: Linker, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    for name in ("concepts_at", "names_at"):
        read = getattr(Terminology, name)

        def watched(self: Terminology, numbers: Any, read: Any = read, name: str = name) -> Any:
            asked.append(name)
            return read(self, numbers)

        monkeypatch.setattr(Terminology, name, watched)
    own.pipeline.concepts = ConceptTable(own.terminology)
    many = [f"{word} {number}" for word in ("tumour", "cancer", "cold") for number in range(50)]
    own.link([*many, "tumour kind", "cancer of the breast", "cold fever"], k=9)
    assert len(asked) <= 8  # however many mentions there are, whole and by the names within them


# --- more than the terminology has ----------------------------------------------------------------


@pytest.mark.parametrize("search", ["O-T", "O-C"])
def test_k_may_be_more_than_there_are_concepts(
    terminology: Terminology, tmp_path: Path, search: str
) -> None:
    linker = Linker.build(terminology, encoders=["chargrams"], folder=tmp_path / "i", search=search)
    few, many = (linker.link(["tumours of kind 7", "cold", "?"], k=k) for k in (20, 10_000))
    for one, other in zip(few, many, strict=True):
        assert len(other.candidates) >= len(one.candidates)
        ids = [candidate.id for candidate in other.candidates]
        assert len(set(ids)) == len(ids) <= terminology.n_concepts
    assert many[0].candidates[0].id == few[0].candidates[0].id == "Y:7"


def test_equal_mentions_get_equal_links(linker: Linker) -> None:
    def without(link: Link) -> Any:
        return link.candidates, link.nil, link.reason, link.searched, link.steps, link.parts

    links = linker.link(["cold", "", "breast and ovarian cancer", "hart attak"] * 3)
    for place in range(4):
        assert without(links[place]) == without(links[place + 4]) == without(links[place + 8])


def test_a_forbidden_concept_stays_forbidden_with_filters_and_seeds(own: Linker) -> None:
    options: list[Any] = [{}, {"k": 50}, {"seed": 4}, {"ids": ["X:3", "X:4"]}, {"context": False}]
    own.synonyms.forbid("cold", "X:3")
    for one in options:
        (link,) = own.link(["Colds"], **one)
        assert link.id == "X:4"
        assert "X:3" not in {candidate.id for candidate in link.candidates}
        assert own.link(["a cold"], **{**one, "ids": ["X:3"]})[0].id == "X:3"
    own.synonyms.forbid("cold", "X:4")
    nothing = own.link(["cold"], ids=["X:3", "X:4"])[0]
    assert (nothing.nil, nothing.candidates) == (True, ())
