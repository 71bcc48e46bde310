"""Comparison with another tool's ids."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from canonym import Concept, Document, InvalidInput, Mention, ReadError, Terminology
from canonym.evaluation.comparison import compare
from canonym.evaluation.predictions import Key, read_predictions
from canonym.evaluation.run import Run, evaluate_corpus
from tests.evaluation.small_corpus import TERMINOLOGY, TEST, annotated

HEAD = "document\tstart\tend\tids\n"


@pytest.fixture(scope="module")
def run() -> Run:
    return evaluate_corpus(TEST, terminology=Terminology.build(TERMINOLOGY))


@pytest.fixture
def gold(run: Run) -> dict[Key, tuple[str, ...]]:
    return {
        (m.document_id, m.start or 0, m.end or 0): m.ids for m in (q.mention for q in run.questions)
    }


def test_predictions_are_read(tmp_path: Path) -> None:
    file = tmp_path / "other.tsv"
    file.write_text(f"{HEAD}1\t0\t4\tD1\n\n1\t5\t9\tD1|D2\n2\t0\t1\t-1\n3\t0\t1\n1\t0\t4\tD1\n")
    assert read_predictions(file) == {
        ("1", 0, 4): ("D1",),
        ("1", 5, 9): ("D1", "D2"),
        ("2", 0, 1): (),
        ("3", 0, 1): (),
    }


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1\t0\n", r"line 1.*2 columns; document, start, end and ids"),
        (f"{HEAD}1\tx\t4\tD1\n", r"line 2.*offsets 'x' and '4'"),
        ("1\t0\t4\tD1\n1\t0\t4\tD2\n", r"line 2.*D2 for a mention that line 1 gives D1"),
        ("1\t0\t4\t\n1\t0\t4\tD2\n", r"line 2.*line 1 gives NIL"),
    ],
)
def test_bad_prediction_files(tmp_path: Path, lines: str, message: str) -> None:
    file = tmp_path / "other.tsv"
    file.write_text(lines)
    with pytest.raises(ReadError, match=message):
        read_predictions(file)


def test_right_ids_are_right_and_the_tests_see_it(
    run: Run, gold: dict[Key, tuple[str, ...]]
) -> None:
    found = compare(run, gold, name="oracle")
    assert list(found.contrasts) == ["strict", "complete"]
    complete = found.contrasts["complete"]
    assert complete.theirs.value == 1
    assert complete.ours.value == 0.75
    assert complete.difference.value == -0.25
    assert (complete.test.only_first, complete.test.only_second, complete.test.p) == (0, 1, 1.0)
    assert found.remarks == []
    assert found.to_dict()["contrasts"]["strict"]["mcnemar"]["only_second"] == 1
    assert len(found.scored["strict"]) == 4


def test_our_own_ids_differ_in_nothing(run: Run) -> None:
    ours = {
        (q.mention.document_id, q.mention.start or 0, q.mention.end or 0): tuple(
            answer.concepts[0].id for answer in answers
        )
        for q, answers in zip(run.questions, run.answers, strict=True)
    }
    for contrast in compare(run, ours).contrasts.values():
        assert contrast.difference.value == 0
        assert contrast.test.p == 1
        assert contrast.ours == contrast.theirs


def test_a_wrong_id_lowers_every_reading(run: Run, gold: dict[Key, tuple[str, ...]]) -> None:
    for key in gold:
        found = compare(run, {**gold, key: ("D77",)}, name="worse")
        assert all(c.theirs.value == 0.75 for c in found.contrasts.values())
        assert found.ids.unknown == {"D77": 1}
        assert "worse: 1 of" in found.remarks[0]


def test_missing_and_further_rows_are_counted(run: Run, gold: dict[Key, tuple[str, ...]]) -> None:
    first = next(iter(gold))
    rest = {key: ids for key, ids in gold.items() if key != first}
    nil = TEST[2].mentions[0]
    further: dict[Key, tuple[str, ...]] = {
        ("3", nil.start or 0, nil.end or 0): ("D1",),
        ("77", 0, 1): (),
        ("78", 0, 1): (),
    }
    found = compare(run, {**rest, **further}, name="other")
    assert found.missing == (first,)
    assert found.extra == {"that the corpus does not have": 2, "of no concept (NIL)": 1}
    assert found.contrasts["strict"].theirs.value == 0.75
    assert found.remarks == [
        "other has no prediction for 1 of the mentions asked, the first at 0-14 of document 1; "
        "they count as NIL",
        "2 predictions of other are of mentions that the corpus does not have; they do not count",
        "1 predictions of other are of mentions of no concept (NIL); they do not count",
    ]
    assert found.to_dict()["missing"] == 1


def test_a_partly_right_composite_is_wrong(run: Run, gold: dict[Key, tuple[str, ...]]) -> None:
    key = next(key for key, ids in gold.items() if len(ids) == 2)
    found = compare(run, {**gold, key: ("D1",)})
    assert found.contrasts["strict"].theirs.value == 1  # every part given is one of the mention's
    assert found.contrasts["complete"].theirs.value == 0.75


def test_shuffled_predictions_score_at_chance() -> None:
    draw = random.Random(5)
    words = ["".join(draw.choice("abcdefghij") for _ in range(8)) for _ in range(50)]
    terminology = Terminology.build([Concept(f"X:{i}", word) for i, word in enumerate(words)])
    documents = []
    for n in range(40):
        chosen = draw.sample(range(50), 10)
        text = " ".join(words[i] for i in chosen)
        documents.append(annotated(str(n), text, *((words[i], f"X:{i}") for i in chosen)))
    run = evaluate_corpus(documents, terminology=terminology)
    assert run.value("accuracy@1", reading="strict") == 1
    keys: list[Key] = [
        (q.mention.document_id, q.mention.start or 0, q.mention.end or 0) for q in run.questions
    ]
    ids = [q.mention.ids for q in run.questions]
    draw.shuffle(ids)
    found = compare(run, dict(zip(keys, ids, strict=True))).contrasts["strict"]
    assert found.theirs.value < 0.06  # 1 in 50, give or take
    assert found.test.p < 1e-50
    assert found.difference.low > 0.9


def test_bad_input(run: Run) -> None:
    with pytest.raises(InvalidInput, match="none of the 1 predictions of t is of a mention"):
        compare(run, {("77", 0, 1): ("D1",)}, name="t")
    bare = Document("1", "", (Mention("cold", type="Disease", ids=("D4",)),))
    loose = evaluate_corpus([bare], terminology=Terminology.build(TERMINOLOGY), split="file")
    with pytest.raises(InvalidInput, match="has no offsets"):
        compare(loose, {("1", 0, 1): ()})
