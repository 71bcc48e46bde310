"""Evaluations whose concepts a re-ranker puts in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonym import Concept, Document, InvalidInput, Mention, Mismatch, Name, Terminology
from canonym.cli import main
from canonym.evaluation.dictionary import FoundConcept, FoundName, build_dictionary
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import QuestionSet, make_questions
from canonym.evaluation.reranked import RerankedDictionary, annotations_of
from canonym.evaluation.run import evaluate_corpus
from canonym.linking.features import COUNTED, AnnotationCounts, feature_names
from canonym.linking.reranker import Reranker
from canonym.ranking.additive_model import AdditiveModel, Curve
from canonym.terminology.ids import ConceptIds

OTHER = COUNTED[2]
PLACES = ["hip", "knee", "hand", "foot", "back", "neck"]


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    """Two concepts share each name, as homonyms do; annotators mean the second."""
    records: list[Concept | Name] = []
    for place in PLACES:
        records += [Concept(f"A:{place}", f"{place} pain"), Concept(f"B:{place}", f"sore {place}")]
        records += [Name(f"{place} pain", f"B:{place}")]
    return Terminology.build(records)


def documents(*places: str, name: str = "{} pain") -> list[Document]:
    found = []
    for place in places:
        text = name.format(place)
        found.append(
            Document(
                place, text, (Mention(text, 0, len(text), "x", (f"B:{place}",), "any", place),)
            )
        )
    return found


TRAINING = [
    *documents(*PLACES[:3]) * 2,  # documents that are repeated count once
    *(replace(one, id=f"{one.id} 2") for one in documents(*PLACES[:3], name="aching {}")),
]


def by(feature: str, encoder: str = "chargrams") -> Reranker:
    """Make a re-ranker that goes by one feature alone; the more the better."""
    curves = [
        Curve(name, (-9.0, 9.0), (-18.0, 18.0) if name == feature else (0.0, 0.0), 0.0)
        for name in feature_names([encoder])
    ]
    return Reranker(AdditiveModel(curves), AnnotationCounts(), (encoder,))


def asked_of(terminology: Terminology, *, merge: bool = True) -> QuestionSet:
    protocol = replace(choose_protocol("biosyn"), merge=merge)
    return make_questions(documents(*PLACES), ConceptIds(terminology), protocol, training=TRAINING)


def test_annotations_of_training_mentions_count(terminology: Terminology) -> None:
    options = {"terminology": terminology, "protocol": "biosyn", "training": TRAINING}
    plain = evaluate_corpus(documents(*PLACES), **options)
    ordered = evaluate_corpus(documents(*PLACES), order=by("decisions"), **options)
    assert plain.value("accuracy@1", reading="strict") == 0
    assert ordered.value("accuracy@1", reading="strict") == 0.5  # the three that training has
    # Homonyms do not matter to the lenient reading.
    assert plain.value("accuracy@1") == ordered.value("accuracy@1") == 1
    assert plain.fingerprints["reranker"] is None
    assert ordered.fingerprints["reranker"] == by("decisions").digest
    assert "in order by a re-ranker" in ordered.remarks[0]
    assert "6 decisions of training mentions" in ordered.remarks[0]
    assert not plain.notes


def each_alone(
    ordered: RerankedDictionary, asked: QuestionSet, strings: Sequence[str], k: int
) -> dict[str, tuple[tuple[FoundName, ...], tuple[FoundConcept, ...]]]:
    questions = tuple(
        replace(asked.questions[0], parts=(text,), document=n) for n, text in enumerate(strings)
    )
    answers = ordered.answers(asked._replace(questions=questions), k)
    return {text: (one.names, one.concepts) for text, (one,) in zip(strings, answers, strict=True)}


def test_names_follow_their_concepts(terminology: Terminology) -> None:
    asked = asked_of(terminology)
    dictionary = build_dictionary(terminology, asked.learned)
    turned = RerankedDictionary.open(by("place"), dictionary, asked)  # the last goes first
    names, concepts = each_alone(turned, asked, ["hip pain"], 30)["hip pain"]
    plain_names, plain_concepts = dictionary.find(["hip pain"], 30)["hip pain"]
    assert {one.id for one in concepts} == {one.id for one in plain_concepts}
    assert concepts[-1].id == plain_concepts[0].id or concepts[-1].score == 0
    assert concepts[0].id != plain_concepts[0].id
    assert {one.text for one in names} == {one.text for one in plain_names}
    assert len({one.text for one in names}) == len(names)
    assert names[0].text == concepts[0].name
    assert concepts[0].id in names[0].ids
    assert turned.concepts_named("hip pain") == dictionary.concepts_named("hip pain")
    shares = [one.score for one in concepts]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)


def test_an_empty_string_has_no_answer(terminology: Terminology) -> None:
    asked = asked_of(terminology)
    dictionary = build_dictionary(terminology, asked.learned)
    ordered = RerankedDictionary.open(by("place"), dictionary, asked)
    assert each_alone(ordered, asked, ["", "hip"], 2)[""] == ((), ())


def test_annotations_are_those_of_mentions_and_need_the_merge(terminology: Terminology) -> None:
    found = annotations_of(asked_of(terminology))
    assert found.pairs["hip pain"]["B:hip"] == 1
    assert found.pairs["aching hip"]["B:hip"] == 1
    assert found.concepts["B:hip"] == 2
    assert not annotations_of(asked_of(terminology, merge=False)).pairs


def test_other_mentions_of_a_document_count(terminology: Terminology) -> None:
    asked = asked_of(terminology, merge=False)
    dictionary = build_dictionary(terminology, asked.learned)
    ordered = RerankedDictionary.open(by(OTHER), dictionary, asked)
    alone = [answer.concepts for (answer,) in ordered.answers(asked, 5)]
    # A document has one mention: there are no others.
    assert alone == [
        each_alone(ordered, asked, one.parts, 5)[one.text][1] for one in asked.questions
    ]
    assert alone[0][0].id == "A:hip"
    beside = asked._replace(beside=((asked.questions[0].document, "sore hip"), (99, "sore knee")))
    first, *others = [answer.concepts for (answer,) in ordered.answers(beside, 5)]
    assert first[0].id == "B:hip"
    assert others == alone[1:]


def test_mentions_that_a_refined_protocol_leaves_out_count_as_others(
    terminology: Terminology,
) -> None:
    both = Document("hip", "hip pain, sore hip", (
        Mention("hip pain", 0, 8, "x", ("B:hip",), "any", "hip"),
        Mention("sore hip", 10, 18, "x", ("B:hip",), "any", "hip"),
    ))  # fmt: skip
    options = {"terminology": terminology, "protocol": "refined"}
    training = documents("hip", name="sore {}")
    asked = make_questions(
        [both], ConceptIds(terminology), choose_protocol("refined"), training=training
    )
    assert [one.text for one in asked.questions] == ["hip pain"]
    assert asked.beside == ((0, "sore hip"),)
    run = evaluate_corpus([both], training=training, order=by(OTHER), **options)
    assert run.value("accuracy@1", reading="strict") == 1


def test_re_rankers_that_do_not_fit_are_refused(terminology: Terminology, tmp_path: Path) -> None:
    options = {"terminology": terminology, "training": TRAINING}
    with pytest.raises(Mismatch, match="fitted to the encoders default, and chargrams"):
        evaluate_corpus(documents("hip"), order=by("place", "default"), **options)
    with pytest.raises(
        InvalidInput, match=r"none.json'; expected nearest, marginal, fitted, or a file"
    ):
        evaluate_corpus(documents("hip"), order=tmp_path / "none.json", **options)
    with pytest.raises(InvalidInput, match="for the protocol 'raw'"):
        evaluate_corpus(documents("hip"), protocol="raw", order="fitted", **options)


def test_the_shipped_order_has_a_confidence(terminology: Terminology) -> None:
    run = evaluate_corpus(
        documents(*PLACES), terminology=terminology, encoders=["default"], order="fitted"
    )
    scores = {case.score for case in run.scored["strict"]}
    assert scores == {answer.confidence for (answer,) in run.answers}
    assert all(score is not None and 0 < score < 1 for score in scores)
    plain = evaluate_corpus(documents(*PLACES), terminology=terminology, encoders=["default"])
    assert {answer.confidence for (answer,) in plain.answers} == {None}


def test_the_command_takes_an_order(tmp_path: Path) -> None:
    (tmp_path / "terms.csv").write_text("id,name\nX:1,hip pain\nX:2,knee pain\n")
    (tmp_path / "test.tsv").write_text("mention\tids\npain of the hip\tX:1\n")
    asked = [
        *("evaluate", str(tmp_path / "test.tsv"), "--terminology", str(tmp_path / "terms.csv")),
        *("--order", "fitted", "--json", str(tmp_path / "report.json")),
    ]
    found = CliRunner().invoke(main, asked)
    assert found.exit_code == 0, found.output
    assert '"reranker": "' in (tmp_path / "report.json").read_text()
    assert "in order by a re-ranker" in (tmp_path / "report.json").read_text()
    found = CliRunner().invoke(main, [*asked, "--overwrite", "--encoder", "chargrams"])
    assert found.exit_code == 2
    assert "no re-ranker is shipped for the encoders chargrams" in found.output
