"""Whole evaluations, against counts by hand and published numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from canonym import InvalidInput, Linker, Terminology
from canonym.corpora.concept_files import read_concepts
from canonym.corpora.pubtator import read_pubtator
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import make_questions, read_corrections
from canonym.evaluation.run import Run, corpus_digest, evaluate_corpus
from canonym.terminology import read_terminology
from canonym.terminology.ids import ConceptIds
from tests.evaluation.small_corpus import TERMINOLOGY, TEST, annotated


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    return Terminology.build(TERMINOLOGY)


TRAINING = [annotated("9", "Copper storage is a disease.", ("Copper storage", "D3"))]


@pytest.fixture(scope="module")
def run(terminology: Terminology) -> Run:
    return evaluate_corpus(
        TEST, terminology=terminology, training=TRAINING, abbreviations="schwartz-hearst"
    )


def test_the_readings_stand_beside_each_other(run: Run) -> None:
    assert len(run.questions) == 4
    assert run.value("accuracy@1") == 1
    # "cold" is the label of another concept, which only the lenient reading forgives.
    assert run.value("accuracy@1", reading="strict") == 0.75
    assert run.value("accuracy@5", reading="strict") == 1
    assert run.value("accuracy@1", reading="complete") == 0.75
    assert run.value("accuracy@1", reading="strict", slice="homonym") == 0
    assert run.figure("accuracy@1", slice="homonym").n == 1
    assert run.figure("accuracy@1", slice="composite").n == 1
    assert run.figure("accuracy@1", slice="unseen concept").n == 2


def test_every_figure_has_an_interval(run: Run) -> None:
    figures = [figure for figure in run.headline if figure.slice == "all"]
    assert {(f.reading, f.metric) for f in figures} == {
        (reading, f"accuracy@{k}") for reading in ("lenient", "strict", "complete") for k in (1, 5)
    }
    for figure in run.headline:
        assert figure.low <= figure.value <= figure.high
    strict = run.figure("accuracy@1", reading="strict")
    assert strict.low < strict.value < strict.high
    with pytest.raises(InvalidInput, match="no 'mrr' of 'all' in the reading 'lenient'"):
        run.figure("mrr")


def test_what_is_not_asked_is_remarked(run: Run) -> None:
    assert {reason: len(some) for reason, some in run.dropped} == {
        "of no concept (NIL)": 1,
        "with an id that the terminology does not have": 1,
    }
    assert run.ids.unknown == {"D99": 1}
    assert run.remarks == [
        "1 mentions of no concept (NIL) were left out",
        "1 mentions with an id that the terminology does not have were left out",
        "1 of 6 ids (1 different ones) are not in the terminology: D99",
    ]


def test_training_mentions_are_searched_unless_the_protocol_says_no(
    terminology: Terminology,
) -> None:
    test = [annotated("1", "copper storage", ("copper storage", "D3"))]
    learned = evaluate_corpus(test, terminology=terminology, training=TRAINING, encoders=())
    assert learned.value("accuracy@1") == 1
    assert learned.answers[0][0].names[0].text == "copper storage"
    assert learned.fingerprints["learned"] == 1
    alone = evaluate_corpus(test, terminology=terminology, encoders=())
    assert alone.value("accuracy@1") == 0
    assert alone.scored["lenient"][0].seen_mention is None


def test_raw_gives_the_linker_nothing_but_text_and_span(terminology: Terminology) -> None:
    found = evaluate_corpus(
        TEST,
        terminology=terminology,
        protocol="raw",
        training=TRAINING,
        abbreviations="schwartz-hearst",
    )
    assert [q.mention.text for q in found.questions] == [
        *("Wilson disease", "WD", "cold", "Breast and ovarian cancer", "qqqq", "strange thing")
    ]
    right = {row["mention"]: row["right"]["complete"] for row in found.mentions()}
    assert right["WD"]
    assert right["Breast and ovarian cancer"]
    assert right["qqqq"]  # nothing in common with any name: NIL
    assert not right["cold"]
    assert not right["strange thing"]  # its id is not in the terminology
    assert found.value("accuracy@1") == pytest.approx(4 / 6)
    assert found.value("nil-recall") == 1
    assert found.figure("accuracy@1", slice="homonym").n == 1
    assert found.protocol.readings == ("complete",)


def test_a_linker_is_evaluated_as_it_is(terminology: Terminology) -> None:
    linker = Linker.build(terminology, encoders=["chargrams"])
    text = "Wilson diseases and qqqq"  # a plural scores 0.99
    plural = [annotated("1", text, ("Wilson diseases", "D3"), ("qqqq", "-1"))]
    strict = evaluate_corpus(plural, linker=linker, protocol="raw", min_confidence=1.0)
    assert strict.value("nil-recall") == 1
    assert strict.value("linkable-accuracy@1") == 0
    assert strict.value("recall@20") > 0.5  # what was found is known, though it was refused
    assert strict.fingerprints["index"]["fingerprint"] == linker.fingerprint
    assert strict.fingerprints["min_confidence"] == 1.0
    assert evaluate_corpus(TEST, linker=linker).value("accuracy@1") == 1


def test_a_rerun_is_the_same_and_says_what_it_was_made_from(
    run: Run, terminology: Terminology, tmp_path: Path
) -> None:
    file = tmp_path / "corpus.txt"
    file.write_bytes(b"abc")
    again = evaluate_corpus(
        TEST, terminology=terminology, training=TRAINING, abbreviations="schwartz-hearst"
    )
    assert json.dumps(run.to_dict(mentions=True)) == json.dumps(again.to_dict(mentions=True))
    assert "seconds" not in run.to_dict()
    assert set(run.to_dict(seconds=True)["seconds"]) == {
        *("preparing", "indexing", "linking", "evaluating")
    }
    marks = run.fingerprints
    assert marks["terminology"]["digest"] == terminology.digest
    assert marks["corpus"]["digest"] == corpus_digest(TEST)
    assert marks["corpus"]["training_digest"] == corpus_digest(TRAINING)
    assert marks["abbreviations"] == "schwartz-hearst"
    assert marks["index"]["encoders"][0]["name"] == "chargrams"
    assert marks["index"]["terminology_digest"] != terminology.digest
    other = evaluate_corpus(TEST, terminology=terminology, files=[file], seed=1)
    assert other.fingerprints["corpus"]["files"] == {
        "corpus.txt": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    }
    assert other.fingerprints["seed"] == 1


def test_the_digest_of_a_corpus_sees_every_change() -> None:
    one = annotated("1", "a cold", ("cold", "D5"))
    others = [
        annotated("2", "a cold", ("cold", "D5")),
        annotated("1", "a cold.", ("cold", "D5")),
        annotated("1", "a cold", ("cold", "D4")),
        annotated("1", "a cold", ("a cold", "D5")),
        annotated("1", "a cold", ("cold", "-1")),
    ]
    assert len({corpus_digest([document]) for document in [one, *others]}) == 6
    assert corpus_digest([one]) == corpus_digest(iter([one]))


def test_rows_of_mentions(run: Run) -> None:
    row = run.mentions(k=1)[2]
    assert (row["document"], row["start"], row["end"], row["mention"]) == ("1", 28, 32, "cold")
    assert row["gold"] == [["MESH:D5"]]
    assert row["right"] == {"lenient": True, "strict": False, "complete": False}
    assert row["parts"][0]["searched"] == "cold"
    assert [found["id"] for found in row["parts"][0]["concepts"]] == ["MESH:D4"]


def test_bad_input(terminology: Terminology) -> None:
    with pytest.raises(InvalidInput, match="neither a terminology nor a linker"):
        evaluate_corpus(TEST)
    with pytest.raises(InvalidInput, match="leaves no mention to evaluate: 1 of no concept"):
        evaluate_corpus([annotated("1", "xx", ("xx", "-1"))], terminology=terminology)


# --- real corpora ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def medic(data: Path) -> Terminology:
    return read_terminology(data / "medic-2012" / "medic_06Jul2012.txt")


def test_published_counts_and_the_verbatim_baseline_of_ncbi_disease(
    data: Path, medic: Terminology
) -> None:
    pytest.importorskip("pyab3p", reason="the published preparation uses Ab3P")
    corpus = data / "ncbi-disease"
    train, dev, test = (
        list(read_pubtator(corpus / f"{part}.pubtator")) for part in ("train", "dev", "test")
    )
    run = evaluate_corpus(
        test,
        terminology=medic,
        training=[*train, *dev],
        corrections=read_corrections(data / "medic-2012" / "ncbi-spell-check.txt"),
        encoders=(),
    )
    assert len(run.questions) == 960
    assert run.dropped == ()
    assert 0.765 <= run.value("accuracy@1") <= 0.775
    assert run.value("accuracy@1", reading="strict") < run.value("accuracy@1")
    assert run.value("accuracy@1", slice="unseen mention") < 0.4
    assert run.ids.n_unknown == 0
    assert run.ids.mixed


def test_bc5cdr_keeps_the_mentions_of_the_released_files(data: Path, medic: Terminology) -> None:
    asked = make_questions(
        read_pubtator(data / "bc5cdr" / "test.pubtator"),
        ConceptIds(medic),
        choose_protocol("biosyn"),
        types=["Disease"],
        engine="schwartz-hearst",
    )
    released = read_concepts(data / "biosyn-processed" / "bc5cdr-disease" / "test.concept")
    keys = [(m.document_id, m.start, m.end) for m in released]
    assert len(keys) == len(asked.questions) == 4287
    ours = [(q.mention.document_id, q.mention.start, q.mention.end) for q in asked.questions]
    assert sorted(ours, key=str) == sorted(keys, key=str)
    assert "61 of no concept (NIL)" in asked.left_out


def test_mentions_are_looked_up_as_what_explains_them(terminology: Terminology) -> None:
    text = "Hepatolenticular degeneration (XQ7), ovarian cancer (D4X), then cold (xyz) and XQ7."
    spans = [("XQ7", "D3"), ("ovarian cancer", "D2"), ("D4X", "D2"), ("cold", "D4"), ("xyz", "D1")]
    document = annotated("1", text, ("Hepatolenticular degeneration", "D3"), *spans)

    def found(**variant: bool) -> dict[str, str]:
        done = evaluate_corpus(
            [document], terminology=terminology, protocol=choose_protocol("biosyn", **variant)
        )
        return {
            question.mention.text: answers[0].searched
            for question, answers in zip(done.questions, done.answers, strict=True)
        }

    plain = found()
    assert plain["XQ7"] == "xq7"
    assert found(glosses=True) == {
        **plain,
        "XQ7": "hepatolenticular degeneration",
        "D4X": "ovarian cancer",
    }
    rules = choose_protocol("refined", glosses=True).rules
    assert any("published protocols do not" in rule for rule in rules)
