"""Every rule of a protocol, on a corpus in which it can be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym import Concept, Document, InvalidInput, Mention, Name, ReadError, Terminology, Xref
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import QuestionSet, expand_words, make_questions, read_corrections
from canonym.terminology.ids import ConceptIds

ENGINE = "schwartz-hearst"


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    return Terminology.build(
        [
            Concept("MESH:D1", "Breast cancer"),
            Concept("MESH:D2", "Ovarian cancer"),
            Concept("MESH:D3", "Wilson disease"),
            Name("hepatolenticular degeneration", "MESH:D3"),
            Concept("MESH:D4", "Fever"),
            Xref("MESH:D4", "OMIM:444444", "alternative"),
        ]
    )


def document(id_: str, *mentions: Mention, text: str = "") -> Document:
    return Document(id_, text or " ; ".join(m.text for m in mentions) or "empty", mentions)


def mention(text: str, *ids: str, rule: str = "any", type: str = "Disease") -> Mention:
    return Mention(text, 0, len(text), type, ids, rule)


def asked(
    terminology: Terminology,
    documents: list[Document],
    protocol: str = "biosyn",
    training: list[Document] | None = None,
    split: str | None = None,
    same: str | None = None,
    **options: object,
) -> QuestionSet:
    return make_questions(
        documents,
        ConceptIds(terminology),
        choose_protocol(protocol, split=split, same=same),
        training=training or [],
        engine=ENGINE,
        **options,  # type: ignore[arg-type]
    )


def reasons(found: QuestionSet) -> dict[str, list[str]]:
    return {reason: [m.text for m in some] for reason, some in found.dropped}


# --- preparation ----------------------------------------------------------------------------------


def test_strings_are_brought_to_lower_case_without_punctuation(terminology: Terminology) -> None:
    found = asked(terminology, [document("1", mention("Breast-Cancer,", "D1"))])
    assert found.questions[0].parts == ("breast cancer",)
    assert found.questions[0].gold == (frozenset({"MESH:D1"}),)


def test_abbreviations_of_the_document_are_written_out(terminology: Terminology) -> None:
    text = "Wilson disease (WD) is rare."
    known = document("1", mention("WD", "D3"), text=text)
    unknown = document("2", mention("WD", "D3"), text="WD is rare.")
    short, alone = asked(terminology, [known, unknown]).questions
    assert short.parts == ("wilson disease",)
    assert alone.parts == ("wd",)
    assert short.abbreviation
    assert alone.abbreviation
    plain = asked(terminology, [document("3", mention("Fever", "D4"))]).questions[0]
    assert plain.abbreviation is False


def test_only_whole_words_are_written_out() -> None:
    forms = {"WD": "Wilson disease", "HA": "WD attack", "A": "A b"}
    assert expand_words("WD patients", forms) == "Wilson disease patients"
    assert expand_words("(WD) WD-like", forms) == "(WD) WD-like"
    assert expand_words("HA", forms) == "Wilson disease attack"
    assert expand_words("A", forms) == "A b"  # a long form that holds its short form ends


def test_corrections_apply_to_words_of_prepared_strings(terminology: Terminology) -> None:
    found = asked(
        terminology,
        [document("1", mention("Brest Cancer", "D1"))],
        corrections={"brest": "breast", "ancer": "x"},
    )
    assert found.questions[0].parts == ("breast cancer",)


def test_corrections_are_read_from_a_list(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("fist||first\n\nbrest||breast\n", encoding="utf-8")
    assert read_corrections(path) == {"fist": "first", "brest": "breast"}
    for line in ["fist", "||first", "fist||", "a||b||c"]:
        path.write_text(f"x||y\n{line}\n", encoding="utf-8")
        with pytest.raises(ReadError, match=r"line 2.*'wrong\|\|right' was expected"):
            read_corrections(path)


def test_a_composite_may_be_split_and_stay_as_it_is_written(terminology: Terminology) -> None:
    both = mention("Breast and Ovarian-type cancer", "MESH:D1", "MESH:D2", rule="all")
    text = "Hepatolenticular degeneration (HD): HD; " + both.text
    alone = mention("HD (late)", "MESH:D3")
    found = asked(terminology, [document("1", both, alone, text=text)], split="written")
    parts = [question.parts for question in found.questions]
    assert parts == [("Breast cancer", "Ovarian-type cancer"), ("HD (late)",)]
    assert found.questions[0].gold == (frozenset({"MESH:D1"}), frozenset({"MESH:D2"}))


# --- composites -----------------------------------------------------------------------------------

BOTH = "breast and ovarian cancer"


@pytest.mark.parametrize(
    ("split", "ids", "parts"),
    [
        ("gold", ("D1", "D2"), ("breast cancer", "ovarian cancer")),
        ("gold", ("D1",), (BOTH,)),  # only where the gold has several ids
        ("text", ("D1", "D2"), ("breast cancer", "ovarian cancer")),
        ("text", ("D1",), ("breast cancer", "ovarian cancer")),
        ("file", ("D1", "D2"), (BOTH,)),
    ],
)
def test_composites_are_split_as_the_variant_says(
    terminology: Terminology, split: str, ids: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    rule = "all" if len(ids) > 1 else "any"
    found = asked(terminology, [document("1", mention(BOTH, *ids, rule=rule))], split=split)
    assert found.questions[0].parts == parts
    assert found.questions[0].composite == (len(ids) > 1)


def test_parts_of_a_prepared_file_stand_between_bars(terminology: Terminology) -> None:
    one = Document("1", "", (mention("breast cancer|WD", "D1", "D3", rule="all"),))
    found = asked(terminology, [one], split="file")
    assert found.questions[0].parts == ("breast cancer", "wd")
    assert found.questions[0].gold == (frozenset({"MESH:D1"}), frozenset({"MESH:D3"}))
    assert found.questions[0].abbreviation is None  # there is no text to tell by


def test_alternatives_are_one_part(terminology: Terminology) -> None:
    found = asked(terminology, [document("1", mention("fever", "D1", "OMIM:444444"))])
    assert found.questions[0].gold == (frozenset({"MESH:D1", "MESH:D4"}),)
    assert not found.questions[0].composite


# --- what is asked --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed() -> list[Document]:
    return [
        document(
            "1",
            mention("fever", "D4"),
            mention("thing", rule="nil"),
            mention("unread"),
            mention("odd", "D9"),
            mention("half odd", "D1", "D9", rule="all"),
            mention("half nil", "D1", "-1", rule="all"),
            mention("aspirin", "D2", type="Chemical"),
        ),
        document("1", mention("fever", "D4")),
    ]


def test_what_is_dropped_is_said_with_its_reason(
    terminology: Terminology, mixed: list[Document]
) -> None:
    ids = ConceptIds(terminology)
    found = make_questions(mixed, ids, choose_protocol("biosyn"), types=["Disease"], engine=ENGINE)
    assert [q.mention.text for q in found.questions] == ["fever"]
    assert reasons(found) == {
        "of no concept (NIL)": ["thing"],
        "without an id": ["unread"],
        "with an id that the terminology does not have": ["odd", "half odd", "half nil"],
        "in a repeated document": ["fever"],
    }
    # What NIL is called is no unknown id, and a repeated document is not counted twice.
    assert ids.census().unknown == {"D9": 2}
    assert ids.census().n == 5


def test_raw_asks_everything_that_has_an_answer(
    terminology: Terminology, mixed: list[Document]
) -> None:
    found = asked(terminology, mixed, "raw")
    assert [q.mention.text for q in found.questions] == [
        *("fever", "thing", "odd", "half odd", "half nil", "aspirin")
    ]
    gold = {q.mention.text: q.gold for q in found.questions}
    assert gold["thing"] == ()
    assert gold["odd"] == (frozenset({"D9"}),)  # nothing that is found is called D9
    assert gold["half nil"] == (frozenset({"MESH:D1"}), frozenset())
    assert set(reasons(found)) == {"without an id", "in a repeated document"}


TRAINING = [
    document("8", mention("Fever", "D4"), mention("fever!", "D1")),
    document("9", mention(BOTH, "D1", "D2", rule="all"), mention("odd", "D9")),
    document("9", mention("twice", "D4")),
]


def test_training_mentions_become_names(terminology: Terminology) -> None:
    test = [document("1", mention("fever", "D4"))]
    found = asked(terminology, test, training=TRAINING)
    assert found.learned == (
        ("fever", "MESH:D4"),
        ("fever", "MESH:D1"),
        # A composite is learned as one name of each of its concepts, as in the released files.
        ("breast cancer ovarian cancer", "MESH:D1"),
        ("breast cancer ovarian cancer", "MESH:D2"),
    )
    assert found.n_training == 4  # the second document 9 is left out
    assert (
        asked(terminology, test, "zero-shot", [document("5", TRAINING[1].mentions[0])]).learned
        == ()
    )


def test_questions_know_what_training_has(terminology: Terminology) -> None:
    test = [document("1", mention("FEVER", "D4"), mention("ague", "D4"), mention("copper", "D3"))]
    seen, other, new = asked(terminology, test, training=TRAINING).questions
    assert (seen.seen_mention, seen.seen_concept, seen.frequency) == (True, True, 1)
    assert (other.seen_mention, other.seen_concept) == (False, True)
    assert (new.seen_mention, new.seen_concept, new.frequency) == (False, False, 0)
    assert asked(terminology, test).questions[0].seen_mention is None
    nil = asked(terminology, [document("1", mention("fever", rule="nil"))], "raw", TRAINING)
    assert (nil.questions[0].seen_mention, nil.questions[0].seen_concept) == (True, None)


@pytest.mark.parametrize(("same", "kept"), [("text", ["ague"]), ("pair", ["Fever", "ague"])])
def test_refined_keeps_each_new_mention_once(
    terminology: Terminology, same: str, kept: list[str]
) -> None:
    test = [
        document("1", mention("fever", "D4"), mention("Fever", "D3"), mention("ague", "D4")),
        document("2", mention("Ague.", "D4"), mention("ague", "D4")),
    ]
    found = asked(terminology, test, "refined", TRAINING, same=same)
    assert [q.mention.text for q in found.questions] == kept
    assert reasons(found)["repeated"] == ["Ague.", "ague"]
    assert "fever" in reasons(found)["that training has as well"]


def test_zero_shot_keeps_new_concepts(terminology: Terminology) -> None:
    test = [document("1", mention("ague", "D4"), mention("copper", "D3"), mention("copper", "D3"))]
    found = asked(terminology, test, "zero-shot", TRAINING)
    assert [q.mention.text for q in found.questions] == ["copper", "copper"]
    assert reasons(found) == {"of a concept that training has": ["ague"]}
    assert found.learned == ()


@pytest.mark.parametrize(
    ("documents", "types", "message"),
    [
        ([], [], "no documents to evaluate"),
        ([Document("1", "x")], [], "the 1 documents hold no mentions"),
        ([document("1", mention("x", "D1"))], ["Gene"], "of the type 'Gene'; there are 'Disease'"),
        ([document("1", mention("x", "D1"))], "Disease", r"a list of types is expected"),
    ],
)
def test_what_cannot_be_asked(
    terminology: Terminology, documents: list[Document], types: list[str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        asked(terminology, documents, types=types)
