"""What a report says, against numbers counted by hand on a corpus of nine mentions."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import pytest

import canonym
from canonym import Concept, InvalidInput, Linker, Name, Relation, Terminology
from canonym.evaluation.comparison import compare
from canonym.evaluation.error_kinds import (
    LabelledConcept,
    WrongAnswer,
    find_wrong_answers,
    group_answers,
)
from canonym.evaluation.outcomes import ScoredMention
from canonym.evaluation.report import make_page, summarise, tables
from canonym.evaluation.report.summary import (
    flatten,
    measure_recall,
    measure_refusal,
    measure_trust,
    plain,
)
from canonym.evaluation.run import Run, evaluate_corpus
from canonym.evaluation.slices import Figure, explain_readings
from canonym.evaluation.software import finder_title, software_of
from tests.evaluation.small_corpus import annotated

RECORDS = [
    Concept("MESH:D000001", "Breast cancer"),
    Concept("MESH:D000002", "Ovarian cancer"),
    Concept("MESH:D000003", "Wilson disease"),
    Concept("MESH:D000004", "Cold temperature"),
    Name("cold", "MESH:D000004"),
    Concept("MESH:D000005", "Common cold"),
    Name("cold", "MESH:D000005"),
    Concept("MESH:D000006", "Cancer"),
    Concept("MESH:D000007", "Mood disorders"),
    Relation("MESH:D000001", "is_a", "MESH:D000006"),
    Relation("MESH:D000002", "is_a", "MESH:D000006"),
]


TEST = [
    annotated(
        "1", "Wilson disease after a cold.", ("Wilson disease", "D000003"), ("cold", "D000005")
    ),
    annotated("2", "breast and ovarian cancer", ("breast and ovarian cancer", "D000001|D000002")),
    annotated(
        "3", "nothing but cancer, or hypomania", ("cancer", "D000001"), ("hypomania", "D000007")
    ),
    annotated("4", "a cold", ("cold", "D000005")),
    annotated("5", "a strange thing of no name", ("strange thing", "D000999"), ("no name", "-1")),
]
TRAINING = [annotated("9", "Wilson disease", ("Wilson disease", "D000003"))]


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    return Terminology.build(RECORDS)


@pytest.fixture(scope="module")
def run(terminology: Terminology) -> Run:
    return evaluate_corpus(TEST, terminology=terminology, training=TRAINING, k=5)


@pytest.fixture(scope="module")
def raw(terminology: Terminology) -> Run:
    linker = Linker.build(terminology, encoders=["chargrams"])
    return evaluate_corpus(TEST, linker=linker, protocol="raw", min_confidence=0.9)


HIERARCHY = "Wrong concepts in the hierarchy"


def test_the_headline_counts_all_and_unseen_mentions(run: Run) -> None:
    summary = summarise(run)
    # Asked: Wilson disease, cold twice, the composite, cancer, hypomania.
    assert (summary.n, summary.n_mentions) == (6, 8)
    values = {(f.slice, f.reading): (f.n, f.value) for f in summary.headline}
    # Lenient forgives both colds, strict does not: D000004 stands before D000005.
    assert values["all", "lenient"] == (6, 4 / 6)
    assert values["all", "strict"] == (6, 2 / 6)
    assert values["unseen mention", "lenient"] == (5, 3 / 5)
    assert values["unseen concept", "strict"] == (5, 1 / 5)
    assert all(f.low <= f.value <= f.high for f in summary.headline)


def test_a_slice_that_is_everything_is_in_the_headline(terminology: Terminology) -> None:
    other = [annotated("8", "rare lesion", ("rare lesion", "D000007"))]
    run = evaluate_corpus(TEST, terminology=terminology, training=other)
    found = {figure.slice: figure.n for figure in summarise(run).headline}
    assert found["unseen mention"] == 6
    without = summarise(evaluate_corpus(TEST, terminology=terminology))
    assert {figure.slice for figure in without.headline} == {"all"}


def test_errors_are_sorted_and_explained(run: Run) -> None:
    wrong = find_wrong_answers(run, "strict")
    assert [(one.mention, one.kind, one.document) for one in wrong] == [
        ("cold", "contextual entity", "1"),
        ("cancer", "contextual entity", "3"),
        ("hypomania", "incomplete synset", "3"),
        ("cold", "contextual entity", "4"),
    ]
    cold = wrong[0]
    assert cold.predicted == LabelledConcept("MESH:D000004", "Cold temperature")
    assert cold.gold == (LabelledConcept("MESH:D000005", "Common cold"),)
    assert (cold.place, cold.matched, cold.searched, cold.best_name) == (2, "cold", "cold", "cold")
    assert cold.explanation == (
        "“cold” was looked up; the nearest name is “cold” (1.000). A right concept is in place 2, "
        "by “cold” (1.000)."
    )
    assert {one.mention for one in find_wrong_answers(run, "lenient")} == {"cancer", "hypomania"}
    with pytest.raises(InvalidInput, match="lenient, strict, complete"):
        find_wrong_answers(run, "kind")


def test_the_table_of_errors_has_all_wrong_mentions(run: Run) -> None:
    summary = summarise(run)
    for reading in summary.readings:
        figure = summary.find("all", reading)
        assert figure is not None
        assert sum(one.counts[reading] for one in summary.errors) == round(6 * (1 - figure.value))
    contextual = next(one for one in summary.errors if one.kind == "contextual entity")
    assert contextual.counts == {"lenient": 1, "strict": 3, "complete": 3}
    assert contextual.example is not None
    assert summary.worst_reading == "strict"
    assert [(group.answer.mention, group.n) for group in summary.worst][:2] == [
        ("cold", 2),
        ("cancer", 1),
    ]
    assert len(summarise(run, worst=1).worst) == 1


def test_the_hierarchy_places_errors(run: Run) -> None:
    found = summarise(run).hierarchy
    assert found is not None
    assert (found.n, found.counts["parent"]) == (4, 1)
    flat = Terminology.build([one for one in RECORDS if not isinstance(one, Relation)])
    assert summarise(evaluate_corpus(TEST, terminology=flat)).hierarchy is None


def test_what_is_left_out_is_listed(run: Run) -> None:
    summary = summarise(run, oddities=["odd"], caveats=["careful"], title="T")
    assert {(one.reason, one.n) for one in summary.left_out} == {
        ("with an id that the terminology does not have", 1),
        ("of no concept (NIL)", 1),
    }
    assert summary.left_out[0].examples == (("strange thing", "5"),)
    assert summary.unknown == {"D000999": 1}
    assert "odd" in summary.remarks
    assert (summary.caveats, summary.title) == (("careful",), "T")
    assert summary.fingerprints["k"] == "5"


@pytest.fixture(scope="module")
def crowded() -> Run:
    """Five names of one concept stand before the right one."""
    near = ["cold feet", "cold feets", "cold feet a", "cold feet b", "cold feet c"]
    names = [Name(name, "X:1") for name in near]
    records = [Concept("X:1", "Chill"), *names, Concept("X:2", "cold feet and more of it")]
    corpus = [annotated("1", "cold feet", ("cold feet", "X:2"))]
    return evaluate_corpus(corpus, terminology=Terminology.build(records))


def test_a_lenient_figure_below_a_strict_one_is_explained(crowded: Run, run: Run) -> None:
    values = {r: crowded.value("accuracy@5", reading=r) for r in ("lenient", "strict")}
    assert values == {"lenient": 0.0, "strict": 1.0}
    (said,) = summarise(crowded).explanations
    assert said.startswith("accuracy@5: lenient can lie below strict, and does here. Lenient ranks")
    assert said in crowded.remarks
    assert said in make_page(summarise(crowded))
    assert summarise(run).explanations == ()
    assert "can lie below" not in make_page(summarise(run))


def test_the_first_place_of_equally_near_names_is_explained_otherwise() -> None:
    def figure(reading: str, metric: str, value: float) -> Figure:
        return Figure("all", reading, metric, 4, value, 0.0, 1.0)

    tied = [figure("lenient", "accuracy@1", 0.5), figure("strict", "accuracy@1", 0.75)]
    assert [one[:40] for one in explain_readings(tied)] == [
        "accuracy@1: lenient can lie below strict"
    ]
    assert "Of names equally near" in explain_readings(tied)[0]
    places = [figure("lenient", "mrr", 0.5), figure("strict", "mrr", 0.75)]
    assert len(explain_readings([*tied, *places])) == 2
    assert explain_readings([figure("lenient", "mrr", 0.5), figure("complete", "mrr", 0.7)]) == []
    assert (
        explain_readings([figure("lenient", "mrr", 0.5), figure("strict", "mrr", math.nan)]) == []
    )


def test_the_recall_of_the_candidates_is_explained_too() -> None:
    names = [Name(f"cold {letter}", "X:1") for letter in "abcdefgh"]
    records = [Concept("X:1", "Chill"), *names, Concept("X:2", "cold and much more of it")]
    corpus = [annotated("1", "cold a", ("cold a", "X:2"))]
    run = evaluate_corpus(corpus, terminology=Terminology.build(records), k=6)
    assert summarise(run).explanations[0].startswith("accuracy@5, recall@6: ")


def test_the_software_behind_the_figures_is_named(terminology: Terminology) -> None:
    found = evaluate_corpus(TEST, terminology=terminology, abbreviations="schwartz-hearst")
    summary = summarise(found)
    assert summary.finder == "Schwartz and Hearst (built in)"
    assert summary.software == {
        "canonym": canonym.__version__,
        "Python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }
    line = summary.made_with
    assert line.startswith(f"canonym {canonym.__version__}, Python ")
    assert line.endswith(
        f"; abbreviations: {summary.finder}; terminology {terminology.digest[:12]}"
    )
    assert f"Made with {line}." in make_page(summary)
    assert summary.to_dict()["software"]["numpy"] == version("numpy")
    plainly = summarise(evaluate_corpus(TEST, terminology=terminology, protocol="plain"))
    assert plainly.finder == "not looked for"


def test_raw_names_the_finder_of_the_index(terminology: Terminology) -> None:
    linker = Linker.build(terminology, encoders=["chargrams"], abbreviations="schwartz-hearst")
    run = evaluate_corpus(TEST, linker=linker, protocol="raw")
    assert run.fingerprints["abbreviations"] == "schwartz-hearst"


def test_the_libraries_of_encoders_and_of_ab3p_are_named(terminology: Terminology) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("pyab3p")
    linker = Linker.build(terminology, encoders=["contextual"])
    found = software_of(linker, "ab3p")
    assert list(found)[2:] == ["numpy", "scipy", "onnxruntime", "pyab3p"]
    linker = Linker.build(terminology, encoders=["chargrams"])
    assert list(software_of(linker, None))[2:] == ["numpy", "scipy"]
    assert found["pyab3p"] == version("pyab3p")
    assert finder_title("ab3p") == "Ab3P (pyab3p)"


def test_another_build_of_a_library_has_no_version(
    terminology: Terminology, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr("canonym.evaluation.software.version", missing)
    linker = Linker.build(terminology, encoders=["chargrams"])
    assert software_of(linker, None)["numpy"] == "of another build"


def test_a_linker_that_says_nil(raw: Run) -> None:
    summary = summarise(raw)
    assert summary.readings == ("complete",)
    wrong = {one.mention: one for one in find_wrong_answers(raw, "complete")}
    assert wrong["strange thing"].kind == "not in terminology"
    assert wrong["strange thing"].gold == (LabelledConcept("D000999", ""),)
    assert str(wrong["strange thing"].gold[0]) == "D000999"
    refused = wrong["hypomania"]
    assert (refused.kind, refused.predicted) == ("no concept", None)
    assert refused.explanation.startswith("“hypomania” was looked up")


def test_an_unfinished_composite_has_wrong_parts(terminology: Terminology) -> None:
    text = "ovarian cancer"
    corpus = [annotated("1", text, (text, "D000001|D000002"))]
    run = evaluate_corpus(corpus, terminology=terminology)
    (wrong,) = find_wrong_answers(run, "complete")
    assert wrong.kind == "wrong parts"
    assert not find_wrong_answers(run, "strict")


def test_nothing_found_is_explained() -> None:
    def wrong(**some: object) -> WrongAnswer:
        known = {"matched": "", "score": math.nan, "predicted": None, "gold": (), "place": None}
        known |= {"kind": "no concept", "document": "", "mention": "m", "type": "", "start": None}
        known |= {"end": None, "searched": "m", "best_name": "", "best_score": math.nan}
        return WrongAnswer(**{**known, **some})  # type: ignore[arg-type]

    gold = (LabelledConcept("A", "a"),)
    assert wrong().explanation == "“m” was looked up; nothing was found."
    refused = wrong(matched="n", score=0.2, gold=gold).explanation
    assert refused == (
        "“m” was looked up; the nearest name is “n” (0.200), which was refused. No right concept "
        "is among the candidates."
    )
    groups = group_answers([wrong(), wrong(score=0.2, matched="n", gold=gold), wrong()])
    assert [(group.answer.gold, group.n) for group in groups] == [(gold, 1), ((), 2)]


def case(score: float, right: bool) -> ScoredMention:
    return ScoredMention(
        gold=(frozenset({"A"}),), ranked=(("A" if right else "B", "A"),), score=score
    )


def test_recall_rises_with_the_candidates_read() -> None:
    found = measure_recall({"strict": [case(1, True), case(1, False)]}, 3)
    assert found == {"strict": (0.5, 1.0, 1.0)}


def test_confidence_bins_hold_the_mentions_of_their_scores() -> None:
    trust = measure_trust([case(0.95, True), case(0.95, False), case(0.05, False)], "strict")
    assert [one.n for one in trust.bins] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert trust.bins[-1].accuracy == 0.5
    assert trust.bins[-1].accuracy_low < 0.5 < trust.bins[-1].accuracy_high
    assert math.isnan(trust.bins[1].accuracy_low)
    assert trust.ece == pytest.approx((2 * 0.45 + 0.05) / 3)


@pytest.mark.parametrize("score", [-0.1, 1.2])
def test_scores_that_are_no_probabilities_have_no_reliability(score: float) -> None:
    trust = measure_trust([case(score, True), case(0.5, True)], "strict")
    assert math.isnan(trust.ece)
    assert trust.bins == ()
    assert score in (trust.low, trust.high)


def test_a_rounding_error_above_one_is_one() -> None:
    assert measure_trust([case(1.0000001, True)], "strict").ece == 0


def test_the_risk_curve_is_thinned_but_its_area_is_not() -> None:
    cases = [case(1 - i / 1000, i % 2 == 0) for i in range(1000)]
    found = measure_refusal(cases, "strict")
    assert len(found.coverage) == len(found.risk) == 100
    assert (found.coverage[0], found.coverage[-1], found.risk[-1]) == (0.01, 1.0, 0.5)
    wrong, risks = 0, []
    for i in range(1000):
        wrong += i % 2
        risks.append(wrong / (i + 1))
    assert found.area == pytest.approx(sum(risks) / 1000)
    few = measure_refusal(cases[:3], "strict")
    assert few.coverage == pytest.approx((1 / 3, 2 / 3, 1))


def test_the_report_is_json_without_nan(run: Run) -> None:
    other = compare(run, {("1", 23, 27): ("D000005",), ("7", 1, 2): ()}, name="other")
    summary = summarise(run, comparisons=[other])
    text = json.dumps(summary.to_dict(), allow_nan=False)
    found = json.loads(text)
    assert found["headline"][0]["value"] == pytest.approx(4 / 6)
    assert found["comparisons"][0]["missing"] == 5
    assert found["worst"][0]["answer"]["predicted"]["label"] == "Cold temperature"
    assert any("no prediction for 5" in remark for remark in found["remarks"])
    again = json.dumps(summarise(run, comparisons=[other]).to_dict(), allow_nan=False)
    assert again == text


def test_facts_are_flattened_in_order() -> None:
    found = flatten(
        {"a_b": {"c": 1234, "d": None}, "e": [{"f": True}, {"f": False}], "g": [], "h": ["x", "y"]}
    )
    assert found == [
        ("a b, c", "1,234"),
        ("a b, d", "–"),
        ("e 1, f", "yes"),
        ("e 2, f", "no"),
        ("g", "–"),
        ("h", "x, y"),
    ]
    assert plain({"x": (float("nan"), float("inf"), 1.5)}) == {"x": [None, None, 1.5]}


def test_the_terminal_shows_the_same_numbers(run: Run) -> None:
    other = compare(run, {("1", 23, 27): ("D000005",)}, name="other")
    shown = {table.title: table for table in tables(summarise(run, comparisons=[other], title="T"))}
    assert list(shown) == ["T", "Beside other tools", "Errors", HIERARCHY, "Left out"]
    rows = {(row[0], row[1]): row[2:] for row in shown["T"].rows}
    n, lenient, strict, _ = rows["All mentions", "accuracy@1"]
    assert (n, lenient[:4], strict[:4]) == ("6", "66.7", "33.3")
    assert rows["Mention not in training", "accuracy@1"][0] == "5"
    assert shown["Errors"].columns == ("kind", "lenient", "strict", "complete")
    assert ("contextual entity", "1", "3", "3") in shown["Errors"].rows
    assert shown[HIERARCHY].columns == ("of the right one", "strict", "%")
    assert shown[HIERARCHY].rows == (("parent", "1", "25.0"), ("elsewhere", "3", "75.0"))
    tool = shown["Beside other tools"].rows[0]
    assert tool[:2] == ("other", "strict")
    assert tool[4].startswith("+16.7 [")
    assert ("of no concept (NIL)", "1") in shown["Left out"].rows
    assert all(len(row) == len(t.columns) for t in shown.values() for row in t.rows)


def test_what_is_not_defined_is_not_available(terminology: Terminology) -> None:
    run = evaluate_corpus([TEST[0]], terminology=terminology, protocol="raw")
    rows = {row[1]: row[3] for row in tables(summarise(run))[0].rows}
    assert rows["nil-recall"] == "n/a"


def test_names_of_training_mentions_are_names_when_errors_are_sorted(run: Run) -> None:
    (found,) = (one for one in find_wrong_answers(run, "strict") if one.mention == "hypomania")
    assert found.kind == "incomplete synset"
    taught = replace(run, learned=(("hypomania and mania", "MESH:D000007"),))
    (found,) = (one for one in find_wrong_answers(taught, "strict") if one.mention == "hypomania")
    assert found.kind == "hypernym"
    assert ("wilson disease", "MESH:D000003") in run.learned
