"""Training examples of the shipped re-rankers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from canonym import Concept, Document, InvalidInput, Mention, Name, Terminology
from canonym.evaluation.dictionary import build_dictionary
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import QuestionSet, make_questions
from canonym.evaluation.run import evaluate_corpus
from canonym.terminology.ids import ConceptIds
from models.make_rerankers import fit_examples, main, training_examples

PLACES = ["hip", "knee", "hand", "foot", "back", "neck"]


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    """Two concepts share each name, as homonyms do; annotators mean the second."""
    records: list[Concept | Name] = []
    for place in PLACES:
        records += [Concept(f"A:{place}", f"{place} pain"), Concept(f"B:{place}", f"sore {place}")]
        records += [Name(f"{place} pain", f"B:{place}")]
    return Terminology.build(records)


def documents() -> list[Document]:
    found = []
    for place in PLACES:
        text = f"{place} pain"
        mention = Mention(text, 0, len(text), "x", (f"B:{place}",), "any", place)
        found.append(Document(place, text, (mention,)))
    return found


def questions(terminology: Terminology, corpus: list[Document]) -> QuestionSet:
    return make_questions(corpus, ConceptIds(terminology), choose_protocol("biosyn"))


def test_a_re_ranker_learns_the_annotated_homonym(terminology: Terminology) -> None:
    asked = questions(terminology, documents())
    dictionary = build_dictionary(terminology, asked.learned)
    examples = training_examples(dictionary, asked)
    assert [one.draft.string for one in examples] == [f"{place} pain" for place in PLACES]
    fitted = fit_examples(examples, ("chargrams",))
    options = {"terminology": terminology, "protocol": "zero-shot"}
    plain = evaluate_corpus(documents(), **options)
    ordered = evaluate_corpus(documents(), order=fitted, **options)
    assert plain.value("accuracy@1", reading="strict") == 0
    assert ordered.value("accuracy@1", reading="strict") == 1  # the name is not the label


def test_the_commonest_annotation_of_a_document_is_right(terminology: Terminology) -> None:
    text = "hip pain, hip pain, hip pain"
    ids = ("B:hip", "A:hip", "B:hip")
    mentions = [
        Mention("hip pain", 10 * n, 10 * n + 8, "x", (id_,), "any", "y")
        for n, id_ in enumerate(ids)
    ]
    other = Document("z", "hip pain", (replace(mentions[1], start=0, end=8, document_id="z"),))
    asked = questions(terminology, [Document("y", text, tuple(mentions)), other])
    examples = training_examples(build_dictionary(terminology, asked.learned), asked)
    assert [(one.gold, one.times) for one in examples] == [({"B:hip"}, 3), ({"A:hip"}, 1)]
    # Four times in all, which count as two.
    assert [one.weight for one in examples] == [1.5, 0.5]


def test_without_a_right_candidate_nothing_is_learned(terminology: Terminology) -> None:
    asked = questions(terminology, documents())
    example = training_examples(build_dictionary(terminology, asked.learned), asked)[0]
    wrong = example._replace(gold=frozenset({"C:1"}))
    with pytest.raises(InvalidInput, match="nothing can be learned"):
        fit_examples([wrong], ("chargrams",))


def test_encoders_are_named_alike() -> None:
    for arguments, problem in (
        (["--train", "default"], "NAME=FOLDER is expected"),
        (["--train", "a=x", "--dev", "b=y"], "--dev names b; none or a in this order"),
    ):
        failed = CliRunner().invoke(main, [*arguments, "--data", "."])
        assert failed.exit_code == 2
        assert problem in failed.stderr
