"""A second look from end to end: who is asked about what, and what comes of the answer."""

from __future__ import annotations

import csv
import json
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from canonym import Concept, Document, Linker, Mention, Name, Relation, Terminology, link_table
from canonym.cli import main
from canonym.errors import InvalidInput
from canonym.io.files import cache_folder
from canonym.linking import second_look
from canonym.linking.explanation import explain
from canonym.linking.judge import shipped_judge
from canonym.linking.second_look import FILE, SURE, SecondLook, language_model, open_second_look
from canonym.linking.second_look.controls import N_CONTROLS, controls
from canonym.linking.second_look.kept import Kept
from canonym.linking.second_look.questions import Answer, question_of
from canonym.linking.second_look.weighing import Elsewhere, Reliability, prior, weighed
from canonym.types import Candidate, Link
from tests.chats import Chats, Say, chatting
from tests.linking.bounds import CONTRADICTED

RECORDS = [
    Concept("X:1", "Disorder of kidney"),
    Concept("X:2", "Calculus of kidney"),
    Concept("X:2", "Calculus of kidney"),
    Concept("X:4", "Infarction of kidney"),
    Concept("X:5", "Myocardial infarction"),
    Name("nephrolithiasis", "X:2"),
    Name("heart attack", "X:5"),
    *(Relation(f"X:{n}", "is_a", "X:1") for n in (2, 3, 4)),
]
UNSURE = "kidney gravel and sand"
NUMBERED = [
    *(Concept(f"N:{n}", f"Disorder number {n}") for n in range(60)),
    *(Name(f"illness called {n}", f"N:{n}") for n in range(60)),
]
"""Names that show how far somebody is to be believed."""


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    folder = tmp_path_factory.mktemp("index") / "index"
    return Linker.build(Terminology.build([*RECORDS, *NUMBERED]), folder=folder)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "cache"))
    open_second_look.cache_clear()
    yield
    open_second_look.cache_clear()


def model(words: str) -> Say:
    """Return a model that knows the numbered, and else chooses what has some words."""

    def say(question: str) -> str:
        name = question.splitlines()[0].removeprefix("Name: ")
        number = name.removeprefix("illness called ")
        lines = [f"{line}\n" for line in question.splitlines()]
        wanted = f". Disorder number {number}\n" if number != name else words
        return next((line.split(".")[0] for line in lines[1:] if wanted in line), "0")

    return say


def unwilling(say: Say) -> Say:
    """Return a model that answers all questions but one."""
    return lambda question: "I would rather not." if UNSURE in question else say(question)


def of_mentions(chats: Chats) -> list[str]:
    """Return the questions about mentions, without those about names."""
    return [one for one in chats.questions if "kidney" in one.splitlines()[0]]


def who(chats: Chats) -> str:
    return f"small@{chats.address}"


# --- links ----------------------------------------------------------------------------------------


def test_it_chooses_where_the_judge_is_not_sure(linker: Linker) -> None:
    before = linker.link([UNSURE], min_confidence=0)[0]
    assert before.id != "X:2"
    assert before.confidence is not None
    assert before.confidence < SURE
    with chatting(model("Calculus")) as chats:
        link = linker.link([UNSURE], second_look=who(chats), min_confidence=0)[0]
    assert link.id == "X:2"
    assert {one.id for one in link.candidates} == {one.id for one in before.candidates}
    scores = [candidate.score for candidate in link.candidates]
    assert scores == sorted(scores, reverse=True)
    assert link.steps[-1] == ("second look", before.label, "Calculus of kidney")
    assert f"second look: Calculus of kidney, where the judge had {before.label}" in explain(link)


def test_who_agrees_makes_a_link_surer_and_who_finds_none_less_sure(linker: Linker) -> None:
    before = linker.link([UNSURE], min_confidence=0)[0]
    with chatting(model(before.label or "")) as chats:
        agreed = linker.link([UNSURE], second_look=who(chats), min_confidence=0)[0]
    open_second_look.cache_clear()
    with chatting(model("nothing")) as chats:
        none = linker.link([UNSURE], second_look=f"other@{chats.address}", min_confidence=0)[0]
    assert agreed.ids == none.ids == before.ids
    assert none.confidence < agreed.confidence  # type: ignore[operator]
    assert none.steps[-1].after == "none of them"


def test_sure_mentions_and_what_has_no_candidate_are_not_asked_about(linker: Linker) -> None:
    with chatting(lambda _: "1") as chats:
        links = linker.link(["heart attacks", "X:3", "", "no heart attack"], second_look=who(chats))
        assert chats.requests == []
    assert links == linker.link(["heart attacks", "X:3", "", "no heart attack"])


def test_a_question_has_names_and_parents_and_never_an_id(linker: Linker) -> None:
    document = Document("d", f"He has a {UNSURE} since May.", (Mention(UNSURE, start=9, end=31),))
    with chatting(model("nothing")) as chats:
        linker.link_document(document, second_look=who(chats))
        (asked,) = of_mentions(chats)
    assert asked.startswith(f"Name: {UNSURE}\nText: He has a {UNSURE} since May.\n\n1. ")
    assert "Calculus of kidney (also: nephrolithiasis), a kind of Disorder of kidney" in asked
    assert "X:" not in asked


def test_each_unsure_part_of_a_list_is_asked_about(linker: Linker) -> None:
    with chatting(model("Calculus")) as chats:
        link = linker.link([f"heart attack; {UNSURE}"], second_look=who(chats))[0]
        assert len(of_mentions(chats)) == 1
    assert [part.id for part in link.parts] == ["X:5", "X:2"]


def test_k_and_batches_change_nothing(linker: Linker) -> None:
    names = [UNSURE, "stone of a kidney", "renal cystic thing", "heart attack"]
    with chatting(model("Calculus")) as chats:
        of_look = who(chats)
        whole = linker.link(names, second_look=of_look)
        assert [link.id for link in linker.link(names, second_look=of_look, k=1)] == [
            link.id for link in whole
        ]
        assert linker.link(names, second_look=of_look, batch=1) == whole
        assert list(linker.link(names, second_look=of_look, workers=2, batch=2)) == list(whole)


# --- answers --------------------------------------------------------------------------------------


def test_an_answer_is_paid_for_once(linker: Linker) -> None:
    with chatting(model("Calculus")) as chats:
        first = linker.link([UNSURE, UNSURE], second_look=who(chats))
        assert len(of_mentions(chats)) == 1
        open_second_look.cache_clear()  # as in the next run
        assert linker.link([UNSURE, UNSURE], second_look=who(chats)) == first
        assert len(of_mentions(chats)) == 1
        linker.link([UNSURE], second_look=f"another@{chats.address}")
        assert len(of_mentions(chats)) == 2
    assert (cache_folder() / FILE).is_file()


def test_what_has_no_answer_stays_and_is_asked_again(linker: Linker) -> None:
    before = linker.link([UNSURE], min_confidence=0)[0]
    with chatting(model("Calculus")) as chats:
        answer, chats.say = chats.say, unwilling(chats.say)
        link = linker.link([UNSURE], second_look=who(chats), min_confidence=0)[0]
        assert (link.ids, link.confidence) == (before.ids, before.confidence)
        assert link.steps[-1].after.startswith("no answer: the answer is 'I would rather not")
        chats.say = answer
        assert linker.link([UNSURE], second_look=who(chats), min_confidence=0)[0].id == "X:2"


def test_costs_are_told_before(linker: Linker, caplog: pytest.LogCaptureFixture) -> None:
    with chatting(model("nothing")) as chats, caplog.at_level(logging.WARNING):
        linker.link([UNSURE, "heart attack"], second_look=who(chats))
        linker.link(["stone of a kidney"], second_look=who(chats))
    (record,) = caplog.records
    assert record.getMessage().startswith(
        f"The second look asks small at {chats.address} about 1 of the first 2 names, and about "
        "40 whose concept is known: some "
    )


def test_costs_of_the_whole_run_are_told_where_its_length_is_known(
    linker: Linker, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    names = [UNSURE, "heart attack", *(f"{UNSURE} {n}" for n in range(18))]

    def said(mentions: Iterable[str]) -> str:
        caplog.clear()
        open_second_look.cache_clear()
        with chatting(model("nothing")) as chats:
            linker.link(
                mentions, second_look=f"{len(caplog.text)}{id(mentions)}@{chats.address}", batch=2
            )
        return caplog.records[0].getMessage()

    with caplog.at_level(logging.WARNING):
        whole = said(names)
        tokens = int(re.findall(r"([\d,]+) tokens", whole)[1].replace(",", ""))
        assert "about 1 of the first 2 names" in whole
        assert " At this rate some 20 names take 10 questions and " in whole
        assert tokens % 10 == 0
        assert "At this rate" not in said(iter_of(names))
        assert "At this rate" not in said(names[:2])
        table = tmp_path / "table.csv"
        table.write_text("\n".join(["name", *names, ""]))
        caplog.clear()
        with chatting(model("nothing")) as chats:
            look = f"of a table@{chats.address}"
            link_table(
                linker, table, tmp_path / "out.csv", column="name", second_look=look, batch=2
            )
        assert " At this rate some 21 names take" in caplog.records[0].getMessage()


def iter_of(names: list[str]) -> Iterator[str]:
    yield from names


def test_a_server_that_is_away_is_told_and_asked_less(
    linker: Linker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(language_model, "time", SimpleNamespace(sleep=waits.append))
    with chatting(lambda _: "0") as chats:
        pass
    with caplog.at_level(logging.WARNING):
        links = linker.link([UNSURE, f"{UNSURE} again"], second_look=who(chats), min_confidence=0)
        linker.link([f"{UNSURE} here"], second_look=who(chats))
    assert [link.steps[-1].after.startswith("no answer: ") for link in links] == [True, True]
    told = [one.getMessage() for one in caplog.records if "has no answer" in one.getMessage()]
    assert len(told) == 1
    assert told[0].startswith("The second look has no answer to 2 questions so far (")
    assert len(waits) <= 12 * 3  # of 43 questions


def test_what_costs_nothing_any_more_is_not_announced(
    linker: Linker, caplog: pytest.LogCaptureFixture
) -> None:
    with chatting(model("nothing")) as chats:
        linker.link([UNSURE], second_look=who(chats))
        open_second_look.cache_clear()
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            linker.link([UNSURE], second_look=who(chats))
            assert not caplog.records
            linker.link([UNSURE, f"{UNSURE} again"], second_look=who(chats))
        assert "about 1 of the first 2 names: some 2" in caplog.text


def test_names_that_contradict_stay_in_doubt_and_are_never_equal(tmp_path: Path) -> None:
    sides = [Concept("S:1", "Strange cyst of left wrist"), Concept("S:2", "Cyst of right wrist")]
    terminology = Terminology.build([*sides, *NUMBERED])
    linker = Linker.build(terminology, folder=tmp_path / "index")
    mention = "odd gravelly cyst of the left wrist"
    with chatting(model("right wrist")) as chats:
        link = linker.link([mention], second_look=who(chats), min_confidence=0)[0]
    right = next(one for one in link.candidates if one.id == "S:2")
    assert link.id != "S:2" or (link.confidence or 1) <= CONTRADICTED
    assert link.id != "S:2" or [one.kind for one in right.against.contradictions] == ["side"]
    chosen = replace(link, candidates=(link.candidates[0], right))
    other, likely = second_look._revised(chosen, 0.01, Answer(1), SOUND, shipped_judge(["default"]))
    assert [one.kind for one in other.candidates[0].against.contradictions] == ["side"]
    assert likely <= CONTRADICTED
    assert other.candidates[0].against.relation == "related"


# --- who ------------------------------------------------------------------------------------------


def test_an_encoder_may_take_it(linker: Linker) -> None:
    link = linker.link([UNSURE], second_look="multilingual", min_confidence=0)[0]
    assert link.steps[-1].name == "second look"


@pytest.mark.parametrize(
    "spec", ["", "  ", "nobody", "chargrams", "a/folder/that/is/not", "@http://host/v1"]
)
def test_anybody_else_is_refused(linker: Linker, spec: str) -> None:
    with pytest.raises(InvalidInput):
        linker.link([UNSURE], second_look=spec)


def test_it_is_named_by_a_string(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="second_look is 3; expected a string"):
        linker.link([UNSURE], second_look=3)  # type: ignore[arg-type]


# --- weighing -------------------------------------------------------------------------------------

SOUND = Reliability(finds=0.9, abstains=0.8, gives_up=0.5)
BLIND = Reliability(finds=1 / 11, abstains=1 / 11, gives_up=1 / 10)


@pytest.mark.parametrize("place", [0, 1, 4, None])
def test_the_surer_the_judge_was_the_likelier_is_the_first(place: int | None) -> None:
    first = [weighed(p, 10, place, SOUND)[0] for p in (0.05, 0.2, 0.4, 0.6, 0.8)]
    assert first == sorted(first)
    assert len(set(first)) == 5


def test_a_sound_choice_counts_and_a_blind_one_does_not() -> None:
    confidence = 0.3
    agreed = weighed(confidence, 10, 0, SOUND)
    other = weighed(confidence, 10, 1, SOUND)
    none = weighed(confidence, 10, None, SOUND)
    assert agreed[0] > confidence > other[0]
    assert other[1] > other[0]
    assert none[0] < confidence
    assert none.sum() < other.sum() < agreed.sum() < 1.01
    even = Elsewhere.shipped()._replace(alike=1 / 10)
    for place in (0, 3, None):  # whatever it says, nothing is known by it
        after = weighed(confidence, 10, place, BLIND, even)
        before = prior(confidence, 10, even)[:10]
        assert after.tolist() == pytest.approx(before.tolist(), abs=1e-2)


def test_bayes_rule_is_what_is_computed() -> None:
    measured = Elsewhere((0.0, 1.0), (0.5, 0.5), (0.6, 0.4), alike=0.5, trust=1.0)
    sound = Reliability(0.8, 0.7, 0.25)
    # 0.4, then half of 0.6 among the others: 0.18 and 0.12, and 0.3 for none.
    assert prior(0.4, 3, measured).tolist() == pytest.approx([0.4, 0.18, 0.12, 0.3])
    # Half of the wrong choices are the first, and a quarter each of the others.
    products = [0.4 * 0.15 / 4, 0.18 * 0.8, 0.12 * 0.15 / 4, 0.3 * 0.3 / 4]
    expected = [one / sum(products) for one in products[:3]]
    assert weighed(0.4, 3, 1, sound, measured).tolist() == pytest.approx(expected, abs=1e-5)
    products = [0.4 * 0.8, 0.18 * 0.15 / 2, 0.12 * 0.15 / 2, 0.3 * 0.3 / 2]
    expected = [one / sum(products) for one in products[:3]]
    assert weighed(0.4, 3, 0, sound, measured).tolist() == pytest.approx(expected, abs=1e-5)
    products = [0.4 * 0.05, 0.18 * 0.05, 0.12 * 0.05, 0.3 * 0.7]
    expected = [one / sum(products) for one in products[:3]]
    assert weighed(0.4, 3, None, sound, measured).tolist() == pytest.approx(expected, abs=1e-5)


def test_one_candidate_and_few_answers_are_enough() -> None:
    assert 0 < weighed(0.3, 1, 0, SOUND)[0] < 1
    assert Reliability.shown((), ()) == (0.5, 0.5, 0.5)
    shown = Reliability.shown([(1, 1), (2, 2), (None, 3), (0, 4)], [None, None, 3])
    assert shown == pytest.approx((3 / 6, 3 / 5, 2 / 4))


# --- questions ------------------------------------------------------------------------------------


def test_controls_hide_a_name_and_half_of_the_concepts() -> None:
    pipeline = Linker.build(Terminology.build(NUMBERED)).pipeline
    asked = list(controls(pipeline))
    assert asked == list(controls(pipeline))
    assert len(asked) == N_CONTROLS
    present = [(one.question, one.right) for one in asked if one.right is not None]
    assert len(present) == N_CONTROLS // 2
    assert len({right for _, right in present}) > 5
    for question, right in present:
        number = question.written.removeprefix("illness called ")
        assert question.choices[right].names == (f"Disorder number {number}",)
    for one in asked:
        assert one.question.written not in [n for c in one.question.choices for n in c.names]
        if one.right is None:
            number = one.question.written.removeprefix("illness called ")
            assert f"Disorder number {number}" not in [c.label for c in one.question.choices]


def test_who_answers_as_names_are_is_believed(tmp_path: Path) -> None:
    linker = Linker.build(Terminology.build(NUMBERED), folder=tmp_path / "index")
    with chatting(model("")) as chats:
        sound = open_second_look(who(chats)).reliability(linker.pipeline)
    with chatting(lambda _: "1") as chats:
        blind = open_second_look(f"blind@{chats.address}").reliability(linker.pipeline)
    assert sound == pytest.approx((21 / 22, 21 / 22, 0.5))
    assert blind.finds < 0.4
    assert blind.abstains == pytest.approx(1 / 22)


def test_a_question_is_cut_to_what_is_read() -> None:
    records = [Concept("X:1", "a" * 500), *(Name(f"name {n}", "X:1") for n in range(20))]
    with Terminology.build(records) as terminology:
        link = Link(Mention("m"), (Candidate("X:1", "a" * 500, 0.5, "name 7"),))
        (choice,) = question_of(link, "", terminology).choices
    assert (len(choice.label), choice.parents) == (200, ())
    assert choice.synonyms == ("name 7", "name 0", "name 1", "name 2", "name 3", "name 4")


class Silent:
    identity, at_a_time = "silent", 8

    def answers(self, _: object) -> Iterator[Answer]:
        raise KeyboardInterrupt


def test_a_stop_keeps_what_was_answered(
    linker: Linker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_model.LanguageModel, "at_a_time", 2)
    names = [f"{UNSURE} {word}" for word in ("today", "again", "there", "now", "often")]

    def say(question: str) -> str:
        return "9999" if "sand now" in question else model("nothing")(question)

    with chatting(say) as chats:
        linker.link(names, second_look=who(chats))
        assert len(of_mentions(chats)) == 5
        open_second_look.cache_clear()
        linker.link(names, second_look=who(chats))
        assert len(of_mentions(chats)) == 6
    with pytest.raises(KeyboardInterrupt):
        SecondLook(Silent(), Kept(tmp_path / "answers.db")).ask(
            [question_of(linker.link([UNSURE])[0], "", linker.terminology)]
        )


# --- commands -------------------------------------------------------------------------------------


def test_the_command_links_and_says_what_failed(linker: Linker, tmp_path: Path) -> None:
    out = tmp_path / "linked.tsv"
    names = [UNSURE, "sandy kidney gravel"]
    arguments = ["link", "-i", str(linker.folder), *names, "-o", str(out)]
    with chatting(unwilling(model("Calculus"))) as chats:
        result = CliRunner().invoke(main, [*arguments, "--second-look", who(chats)])
    assert result.exit_code == 0, result.output
    with out.open(encoding="utf-8") as lines:
        ids = [row["id"] for row in csv.DictReader(lines, delimiter="\t")]
    assert ids.count("X:2") == 1
    assert "The second look has no answer for 1 mention (the answer is 'I would" in result.stderr


def test_it_is_measured_as_it_links(linker: Linker, tmp_path: Path) -> None:
    corpus, report = tmp_path / "corpus.jsonl", tmp_path / "report.json"
    mention = {"text": UNSURE, "ids": ["X:2"]}
    corpus.write_text(
        json.dumps({"id": "1", "text": UNSURE, "mentions": [{**mention, "start": 0, "end": 22}]})
    )
    arguments = ["evaluate", str(corpus), "-i", str(linker.folder), "--json", str(report)]
    with chatting(model("Calculus")) as chats:
        named = ["--second-look", who(chats)]
        result = CliRunner().invoke(main, [*arguments, *named, "--protocol", "raw"])
        refused = CliRunner().invoke(main, [*arguments, *named])
    assert result.exit_code == 0, result.output
    assert '"second look": "small@http://127.0.0.1' in report.read_text()
    assert refused.exit_code == 2
    assert "--second-look goes with --protocol raw, not with biosyn" in refused.stderr
