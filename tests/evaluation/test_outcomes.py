"""Scored mentions: matching of parts, and the readings of answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym import Candidate, InvalidInput, Link, Mention
from canonym.evaluation.dictionary import FoundConcept, FoundName
from canonym.evaluation.metrics import evaluate
from canonym.evaluation.outcomes import (
    RankedAnswer,
    ScoredMention,
    answers_of_link,
    match_parts,
    read_answers,
    tally,
)
from canonym.evaluation.questions import Question

RELAXED = settings(deadline=None, max_examples=60)

IDS = st.sampled_from("ABCDE")
PARTS = st.lists(st.frozensets(IDS, min_size=1, max_size=3), max_size=4)
RANKINGS = st.lists(st.lists(IDS, min_size=1, max_size=4), max_size=4)


def _by_trying(gold: list[frozenset[str]], ranked: list[list[str]], k: int) -> int:
    """Size of the largest matching, over every way to give gold parts to rankings."""
    size = max(len(gold), len(ranked))
    padded = [*gold, *[frozenset[str]()] * (size - len(gold))]
    return max(
        sum(bool(set(ranking[:k]) & part) for part, ranking in zip(chosen, ranked, strict=False))
        for chosen in itertools.permutations(padded)
    )


@RELAXED
@given(PARTS, RANKINGS)
def test_matching_finds_as_many_parts_as_trying_everything(
    gold: list[frozenset[str]], ranked: list[list[str]]
) -> None:
    found = match_parts(gold, ranked)
    assert list(found) == sorted(found)
    for k in range(6):
        assert sum(place <= k for place in found) == _by_trying(gold, ranked, k)


@pytest.mark.parametrize(
    ("gold", "ranked", "expected"),
    [
        ([{"A"}], [["B", "A", "A"]], (2,)),
        ([{"A"}], [["A", "A"]], (1,)),
        ([{"A"}], [["B"]], ()),
        ([{"A"}], [["B", "A"], ["A"]], (1,)),
        ([{"A"}, {"B"}], [["A", "B"]], (1,)),
        ([{"A"}, {"A"}], [["A"], ["A"]], (1, 1)),
        # The first ranking suits both parts, the second only the first: the matching has to give
        # way.
        ([{"A"}, {"A", "B"}], [["A", "B"], ["C", "A"]], (1, 2)),
        ([{"A", "B"}, {"A"}], [["A"], ["B"]], (1, 1)),
        ([], [["A"]], ()),
        ([{"A"}], [], ()),
    ],
)
def test_matching_by_hand(
    gold: list[set[str]], ranked: list[list[str]], expected: tuple[int, ...]
) -> None:
    assert match_parts(gold, ranked) == expected


def test_parts_without_ids_are_passed_over() -> None:
    a = frozenset({"A"})
    mention = ScoredMention(gold=(a, frozenset()), ranked=((), ("A",)))
    assert not mention.nil
    assert not mention.predicted_nil
    counts = tally([mention, ScoredMention(gold=(frozenset(),), ranked=((),))])
    assert counts.n_gold.tolist() == [1, 0]
    assert counts.n_predicted.tolist() == [1, 0]
    assert counts.mentions.tolist() == [0]
    assert counts.n == 2


def test_candidates_are_what_is_ranked_unless_given() -> None:
    a = frozenset({"A"})
    counts = tally(
        [
            ScoredMention(gold=(a,), ranked=(("B", "A"),)),
            ScoredMention(gold=(a,), ranked=(), candidates=(("C", "B", "A"),)),
        ]
    )
    assert counts.places.tolist() == [2]
    assert counts.candidate_mentions.tolist() == [0, 1]
    assert counts.candidate_places.tolist() == [2, 3]
    assert counts.places.dtype == np.int64


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gold": ("A",)}, "each part is a set"),
        ({"gold": (frozenset({""}),)}, "no concept id"),
        ({"gold": (frozenset({1}),)}, "no concept id"),
        ({"ranked": ("A",)}, "a tuple of ids"),
        ({"ranked": ({"A", "B"},)}, "a tuple of ids"),
        ({"ranked": (("A", ""),)}, "no concept id"),
        ({"candidates": ("A",)}, "a tuple of ids"),
        ({"length": -1}, "length is -1"),
        ({"frequency": -2}, "frequency is -2"),
    ],
)
def test_mentions_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        ScoredMention(**({"gold": (), "ranked": ()} | options))  # type: ignore[arg-type]


def test_no_mentions_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="no mentions to evaluate"):
        tally([])


# --- readings -------------------------------------------------------------------------------------


def question(*gold: str, parts: tuple[str, ...] = ("a",), rule: str = "") -> Question:
    """One gold set per argument; alternatives are joined by a plus."""
    ids = tuple(id_ for one in gold for id_ in one.split("+"))
    written = Mention("A", 0, 1, "Disease", ids, rule or ("all" if len(gold) > 1 else "any"))
    return Question(written, parts, tuple(frozenset(one.split("+")) for one in gold))


def answer(names: list[str], concepts: list[str], nil: bool = False) -> RankedAnswer:
    """Names are given by their ids, joined by a plus, falling in score."""
    return RankedAnswer(
        "a",
        tuple(FoundName(n, tuple(n.split("+")), 1 - i / 10) for i, n in enumerate(names)),
        tuple(FoundConcept(c, c, 0.9 - i / 10) for i, c in enumerate(concepts)),
        nil,
    )


def accuracy(q: Question, answers: list[RankedAnswer], reading: str, k: int = 1) -> float:
    return evaluate(read_answers([q], [answers], reading), [f"accuracy@{k}"])[f"accuracy@{k}"]


def test_a_homonym_is_forgiven_by_the_lenient_reading_alone() -> None:
    q, found = question("B"), [answer(["A+B"], ["A", "B"])]
    assert accuracy(q, found, "lenient") == 1
    assert accuracy(q, found, "strict") == 0
    assert accuracy(q, found, "strict", 2) == 1


def test_a_name_without_a_right_id_counts_as_its_first_id() -> None:
    scored = read_answers([question("B")], [[answer(["C+D", "A+B"], [])]], "lenient")[0]
    assert scored.ranked == (("C", "B"),)
    assert accuracy(question("B"), [answer(["C+D", "A+B"], [])], "lenient", 2) == 1


def test_places_are_those_of_names_not_of_concepts() -> None:
    found = [answer(["A", "A", "B"], ["A", "B"])]
    assert accuracy(question("B"), found, "lenient", 2) == 0
    assert accuracy(question("B"), found, "strict", 2) == 1


@pytest.mark.parametrize(
    ("gold", "found", "lenient", "strict", "complete"),
    [
        # parts found ...                    every part any id; the concepts one to one
        (("A", "B"), ["A", "B"], 1, 1, 1),
        (("A", "B"), ["B", "A"], 1, 1, 1),
        (("A", "B"), ["A", "A"], 1, 1, 0),
        (("A", "B"), ["A"], 1, 1, 0),
        (("A", "B"), ["A", "C"], 0, 0, 0),
        (("A", "B"), ["C"], 0, 0, 0),
        (("A+B",), ["B"], 1, 1, 1),
        (("A+B",), ["A", "B"], 1, 1, 0),
        (("A",), ["A", "A"], 1, 1, 0),
    ],
)
def test_composites_by_table(
    gold: tuple[str, ...], found: list[str], lenient: int, strict: int, complete: int
) -> None:
    q, answers = question(*gold), [answer([one], [one]) for one in found]
    assert accuracy(q, answers, "lenient") == lenient
    assert accuracy(q, answers, "strict") == strict
    assert accuracy(q, answers, "complete") == complete


def test_a_part_that_finds_nothing_is_wrong() -> None:
    q = question("A", "B")
    for reading in ("lenient", "strict", "complete"):
        assert accuracy(q, [answer(["A"], ["A"]), answer([], [])], reading) == 0
        assert accuracy(question("A"), [answer([], [])], reading) == 0


def test_nil_is_an_answer_and_keeps_its_candidates() -> None:
    nil = question(rule="nil")
    scored = read_answers([nil], [[answer([], ["A"], nil=True)]], "complete")[0]
    assert scored.nil
    assert scored.predicted_nil
    assert scored.candidates == (("A",),)
    assert accuracy(nil, [answer([], ["A"], nil=True)], "complete") == 1
    assert accuracy(nil, [answer([], ["A"])], "complete") == 0
    assert accuracy(question("A"), [answer([], ["A"], nil=True)], "complete") == 0


def test_scored_mentions_have_the_attributes_of_slices() -> None:
    q = Question(
        Mention("PD", 0, 2, "Disease", ("A", "B"), "all"),
        ("p disease", "d"),
        (frozenset({"A"}), frozenset({"B"})),
        abbreviation=True,
        seen_mention=False,
        seen_concept=True,
        frequency=3,
    )
    found = [answer(["A"], ["A"]), answer(["B", "C"], ["B"])]
    scored = read_answers([q], [found], "lenient", concepts_named={"d": 2})[0]
    assert (scored.abbreviation, scored.seen_mention, scored.seen_concept) == (True, False, True)
    assert (scored.composite, scored.frequency, scored.length, scored.type) == (
        True,
        3,
        3,
        "Disease",
    )
    assert scored.homonym is True
    assert scored.score == 1.0  # names are what the lenient reading ranks
    assert read_answers([q], [found], "strict")[0].score == pytest.approx(0.9)
    assert read_answers([q], [found], "strict")[0].homonym is None
    assert read_answers([q], [found], "strict", concepts_named={})[0].homonym is False


def test_links_become_answers() -> None:
    mention = Mention("x and y")
    found = Candidate("A", "label", 0.5, "a name")
    whole = Link(mention, (found,), searched="x and y")
    (found_one,) = answers_of_link(whole)
    assert found_one[:4] == ("x and y", (), (FoundConcept("A", "a name", 0.5),), False)
    assert found_one.confidence is None
    refused = Link(mention, (found,), nil=True, searched="x")
    assert [one.nil for one in answers_of_link(refused)] == [True]
    split = Link(mention, parts=(whole, refused))
    assert [one.searched for one in answers_of_link(split)] == ["x and y", "x"]


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="no reading 'liberal'"):
        read_answers([], [], "liberal")
    with pytest.raises(InvalidInput, match="1 questions have 0 answers"):
        read_answers([question("A")], [], "strict")


@given(st.lists(st.tuples(st.lists(IDS, min_size=1, max_size=3, unique=True), IDS), min_size=1))
def test_a_wrong_prediction_lowers_every_reading(drawn: list[tuple[list[str], str]]) -> None:
    questions = [question(*gold) for gold, _ in drawn]
    right = [[answer([g], [g]) for g in gold] for gold, _ in drawn]
    for reading in ("lenient", "strict", "complete"):
        best = evaluate(read_answers(questions, right, reading), ["accuracy@1"])["accuracy@1"]
        assert best == 1
        for i in range(len(questions)):
            wrong = [*right]
            wrong[i] = [*right[i][:-1], answer(["Z"], ["Z"])]
            scored = read_answers(questions, wrong, reading)
            lower = evaluate(scored, ["accuracy@1"])["accuracy@1"]
            assert lower == pytest.approx(1 - 1 / len(questions))


def test_an_answer_of_a_link_has_the_features_of_its_confidence() -> None:
    first, second = Candidate("A", "a", 0.9, "search"), Candidate("B", "b", 0.6, "search")
    found, nothing = answers_of_link(
        Link(
            Mention("x"),
            (),
            parts=(Link(Mention("a"), (first, second)), Link(Mention("b"), ())),
        )
    )
    assert found.signs[:2] == pytest.approx((0.9, 0.3))
    assert nothing.signs == ()
