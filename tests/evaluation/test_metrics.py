"""Metrics against naive definitions, and by hand."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.evaluation.metrics import DEFAULT_METRICS, METRICS, RULES, columns, evaluate, ratio
from canonym.evaluation.outcomes import ScoredMention, tally

CUT = {"accuracy": (1, 2, 9), "linkable-accuracy": (1, 2, 9), "recall": (1, 2, 9), "mrr": (2,)}
NAMES = tuple(
    name
    for stem, metric in METRICS.items()
    for name in (
        *([stem] if metric.cut_off != "needed" else []),
        *(f"{stem}@{k}" for k in CUT.get(stem, ())),
    )
)
RELAXED = settings(deadline=None, max_examples=60)


def mention(gold: str, ranked: str, **more: object) -> ScoredMention:
    """``"A|B,C"``: part A, then a part for which B and C are right; ``"AB|C"``: two rankings."""
    parts = tuple(frozenset(part.split(",")) for part in gold.split("|")) if gold else ()
    rankings = tuple(tuple(ranking) for ranking in ranked.split("|")) if ranked else ()
    return ScoredMention(gold=parts, ranked=rankings, **more)  # type: ignore[arg-type]


# gold, ranked, rule: accuracy@1, accuracy@2, mrr
COMPOSITES = [
    ("A", "A", "all", 1, 1, 1),
    ("A", "BA", "all", 0, 1, 1 / 2),
    ("A,B", "B", "all", 1, 1, 1),
    ("A", "A|B", "all", 0, 0, 0),
    ("A", "A|B", "any", 1, 1, 1),
    ("A", "A|B", "set-f1", 2 / 3, 2 / 3, 2 / 3),
    ("A|B", "A", "all", 0, 0, 0),
    ("A|B", "A", "any", 1, 1, 1),
    ("A|B", "A", "set-f1", 2 / 3, 2 / 3, 2 / 3),
    ("A|B", "B|A", "all", 1, 1, 1),
    ("A|B", "A|CB", "all", 0, 1, 1 / 2),
    ("A|B", "A|CB", "any", 1, 1, 1),
    ("A|B", "A|CB", "set-f1", 1 / 2, 1, 1 / 2 + 1 / 4),
    ("A|B", "CDA|CB", "all", 0, 0, 1 / 3),
    ("A|B", "AB", "all", 0, 0, 0),
    ("A|B", "A|A", "all", 0, 0, 0),
    ("A|B", "A|A", "set-f1", 1 / 2, 1 / 2, 1 / 2),
    ("A|B", "", "any", 0, 0, 0),
    ("A|B", "C|D", "set-f1", 0, 0, 0),
    ("", "", "all", 1, 1, 1),
    ("", "", "set-f1", 1, 1, 1),
    ("", "A", "any", 0, 0, 0),
    ("A", "", "all", 0, 0, 0),
    # Every place counts as it stands: the repeated C pushes A out of the first two.
    ("A", "CCA", "all", 0, 0, 1 / 3),
]


@pytest.mark.parametrize(("gold", "ranked", "rule", "first", "second", "reciprocal"), COMPOSITES)
def test_composite_rules(
    gold: str, ranked: str, rule: str, first: float, second: float, reciprocal: float
) -> None:
    found = evaluate([mention(gold, ranked)], ["accuracy@1", "accuracy@2", "mrr"], rule=rule)
    assert list(found.values()) == pytest.approx([first, second, reciprocal])


MIXED = [
    mention("A", "AB"),
    mention("B", "AB"),
    mention("A|B", "A|C"),
    mention("C", "", candidates=(("D", "C"),)),
    mention("", ""),
    mention("", "A"),
]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accuracy@1", 2 / 6),
        ("accuracy@2", 3 / 6),
        ("accuracy@1000", 3 / 6),
        ("linkable-accuracy@1", 1 / 4),
        ("linkable-accuracy@2", 2 / 4),
        ("mrr", (1 + 1 / 2 + 0 + 0 + 1 + 0) / 6),
        ("mrr@1", 2 / 6),
        ("linkable-mrr", 1.5 / 4),
        ("recall@1", 2 / 5),
        ("recall@2", 4 / 5),
        ("mention-precision", 1 / 4),
        ("mention-recall", 1 / 4),
        ("mention-f1", 1 / 4),
        ("set-precision", 2 / 5),
        ("set-recall", 2 / 5),
        ("set-f1", 2 / 5),
        ("nil-precision", 1 / 2),
        ("nil-recall", 1 / 2),
        ("nil-f1", 1 / 2),
    ],
)
def test_values_by_hand(name: str, value: float) -> None:
    assert evaluate(MIXED, [name]) == {name: pytest.approx(value)}


def test_f1_is_the_harmonic_mean() -> None:
    mentions = [*MIXED, mention("", ""), mention("A", "B|A"), mention("A", ""), mention("B|A", "")]
    found = evaluate(mentions, NAMES, rule="any")
    for stem in ("mention", "set", "nil"):
        p, r = found[f"{stem}-precision"], found[f"{stem}-recall"]
        assert p != r
        assert found[f"{stem}-f1"] == pytest.approx(2 * p * r / (p + r))


def test_one_id_for_a_mention_of_several_as_in_mantra() -> None:
    found = evaluate(
        [mention("A|B", "A"), mention("C", "C"), mention("D|E|F", "G")],
        ["set-precision", "set-recall", "set-f1"],
    )
    assert list(found.values()) == pytest.approx([2 / 3, 2 / 6, 4 / 9])


def test_what_there_is_nothing_of_is_not_a_number() -> None:
    only_nil = evaluate([mention("", "")], NAMES)
    assert only_nil["accuracy@1"] == only_nil["mrr"] == only_nil["nil-f1"] == 1
    assert all(math.isnan(only_nil[name]) for name in NAMES if name[:3] in ("set", "men", "lin"))
    assert math.isnan(evaluate([mention("A", "B")], ["nil-f1"])["nil-f1"])
    assert math.isnan(evaluate([mention("A", "")], ["set-precision"])["set-precision"])


def test_a_metric_is_the_ratio_of_its_columns() -> None:
    counts = tally(MIXED)
    for name in NAMES:
        for rule in RULES:
            table = columns(counts, name, rule=rule)
            assert table.shape == (6, 2)
            assert (table[:, 0] <= table[:, 1]).all()
            assert evaluate(MIXED, [name], rule=rule)[name] == ratio(table)


PART = st.frozensets(st.sampled_from("ABCD"), min_size=1, max_size=2)
RANKING = st.lists(st.sampled_from("ABCDXY"), min_size=1, max_size=4).map(tuple)
CASES = st.lists(
    st.builds(
        ScoredMention,
        gold=st.lists(PART, max_size=3).map(tuple),
        ranked=st.lists(RANKING, max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


def _at_most(before: dict[str, float], after: dict[str, float]) -> None:
    for name, value in before.items():
        if not (math.isnan(value) or math.isnan(after[name])):
            assert after[name] <= value + 1e-12, name


@RELAXED
@given(CASES, st.data())
def test_a_wrong_id_anywhere_never_raises_a_metric(
    mentions: list[ScoredMention], data: st.DataObject
) -> None:
    places = [
        (i, p, j)
        for i, one in enumerate(mentions)
        for p, ranking in enumerate(one.ranked)
        for j in range(len(ranking))
    ]
    if not places:
        return
    i, p, j = data.draw(st.sampled_from(places))
    rankings = [list(ranking) for ranking in mentions[i].ranked]
    rankings[p][j] = "wrong"
    worse = [*mentions]
    worse[i] = replace(mentions[i], ranked=tuple(map(tuple, rankings)))
    for rule in RULES:
        _at_most(evaluate(mentions, NAMES, rule=rule), evaluate(worse, NAMES, rule=rule))


@RELAXED
@given(CASES, st.data())
def test_spoiling_a_right_mention_lowers_what_counted_it(
    mentions: list[ScoredMention], data: st.DataObject
) -> None:
    right = np.flatnonzero(columns(mentions, "accuracy@1")[:, 0])
    if not len(right):
        return
    i = int(data.draw(st.sampled_from(right.tolist())))
    if mentions[i].nil:
        new: tuple[tuple[str, ...], ...] = (("wrong",),)
        lowered = ["nil-recall", "nil-f1"]
    else:
        new = data.draw(st.sampled_from([(), tuple(("wrong",) for part in mentions[i].ranked)]))
        lowered = ["linkable-accuracy@1", "linkable-mrr", "mention-f1", "set-f1", "set-recall"]
    worse = [*mentions]
    worse[i] = replace(mentions[i], ranked=new)
    for rule in RULES:
        before, after = evaluate(mentions, NAMES, rule=rule), evaluate(worse, NAMES, rule=rule)
        _at_most(before, after)
        for name in ["accuracy@1", "accuracy@9", "mrr", *lowered]:
            assert after[name] < before[name], name


@RELAXED
@given(CASES, st.randoms(use_true_random=False))
def test_the_order_of_mentions_and_of_parts_plays_no_role(
    mentions: list[ScoredMention], random: object
) -> None:
    shuffled = [
        replace(
            one,
            gold=tuple(random.sample(one.gold, len(one.gold))),  # type: ignore[attr-defined]
            ranked=tuple(random.sample(one.ranked, len(one.ranked))),  # type: ignore[attr-defined]
        )
        for one in random.sample(mentions, len(mentions))  # type: ignore[attr-defined]
    ]
    for rule in RULES:
        before, after = evaluate(mentions, NAMES, rule=rule), evaluate(shuffled, NAMES, rule=rule)
        assert list(after.values()) == pytest.approx(list(before.values()), nan_ok=True)


@RELAXED
@given(st.lists(st.lists(PART, max_size=3).map(tuple), min_size=1, max_size=8))
def test_perfect_predictions_have_exactly_one(golds: list[tuple[frozenset[str], ...]]) -> None:
    mentions = [
        ScoredMention(gold=gold, ranked=tuple((min(part),) for part in gold)) for gold in golds
    ]
    for rule in RULES:
        found = evaluate(mentions, NAMES, rule=rule)
        assert all(value == 1 or math.isnan(value) for value in found.values())
        assert found["accuracy@1"] == found["mrr"] == 1


def test_shuffled_predictions_score_at_chance() -> None:
    rng = np.random.default_rng(7)
    n, n_concepts = 4000, 20
    shares = rng.dirichlet(np.ones(n_concepts))
    gold = rng.choice(n_concepts, size=n, p=shares)
    rankings = np.array([np.roll(np.arange(n_concepts), -g) for g in gold])
    assert evaluate(_single(gold, rankings), ["accuracy@1"])["accuracy@1"] == 1
    found = evaluate(_single(gold, rankings[rng.permutation(n)]), ["accuracy@1", "accuracy@20"])
    counts = np.bincount(gold, minlength=n_concepts) / n
    chance = float((counts**2).sum())
    assert found["accuracy@1"] == pytest.approx(chance, abs=4 * math.sqrt(chance / n))
    assert found["accuracy@20"] == 1


def _single(gold: np.ndarray, rankings: np.ndarray) -> list[ScoredMention]:
    return [
        ScoredMention(gold=(frozenset({f"C{g}"}),), ranked=(tuple(f"C{c}" for c in ranking),))
        for g, ranking in zip(gold.tolist(), rankings.tolist(), strict=True)
    ]


def test_thousands_of_mentions_take_no_time() -> None:
    rng = np.random.default_rng(0)
    rankings = np.array([rng.permutation(20) for _ in range(4424)])
    mentions = _single(rng.integers(0, 20, 4424), rankings)
    start = time.process_time()
    evaluate(mentions, NAMES)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("acuracy@1", "there is no metric 'acuracy@1'; there are accuracy, "),
        ("accuracy", "needs a cut-off: write 'accuracy@1'"),
        ("recall", "needs a cut-off"),
        ("accuracy@", "the cut-off is ''"),
        ("accuracy@0", "the cut-off is '0'"),
        ("mrr@-1", "the cut-off is '-1'"),
        ("accuracy@1.5", "the cut-off is '1.5'"),
        ("nil-f1@3", "takes no cut-off"),
    ],
)
def test_names_that_are_no_metric_are_refused(name: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        evaluate(MIXED, [name])


def test_without_a_cut_off_all_places_are_read() -> None:
    counts = tally(MIXED)
    for name in ("accuracy", "linkable-accuracy", "recall"):
        right = METRICS[name].right
        assert (right(counts, None, "all") == right(counts, 99, "all")).all()


def test_other_input_that_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no rule 'most'"):
        evaluate(MIXED, rule="most")
    with pytest.raises(InvalidInput, match="a list of names"):
        evaluate(MIXED, "mrr")
    with pytest.raises(InvalidInput, match="no mentions to evaluate"):
        evaluate([])
    with pytest.raises(InvalidInput, match="no mentions to evaluate"):
        columns([], "mrr")
    assert list(evaluate(MIXED)) == list(DEFAULT_METRICS)
