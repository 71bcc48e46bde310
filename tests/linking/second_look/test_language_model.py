"""A language model at an address: what it is asked, what counts as an answer, what goes wrong."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from canonym.errors import InvalidInput
from canonym.linking.second_look import language_model
from canonym.linking.second_look.language_model import KEY, LanguageModel, model_at, n_tokens
from canonym.linking.second_look.questions import Choice, Question
from tests.chats import Chats, chatting, choosing
from tests.tables import cases

QUESTION = Question(
    "MI",
    "myocardial infarction",
    "He had an MI in 2019.",
    (
        Choice("Mitral valve insufficiency", ("mitral incompetence",), ("Heart valve disease",)),
        Choice("Myocardial infarction", ("heart attack", "MI"), ("Ischemia", "Infarction")),
    ),
)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(language_model, "time", SimpleNamespace(sleep=slept.append))
    return slept


def ask(chats: Chats, *questions: Question, key: str | None = None) -> list[tuple[int | None, str]]:
    model = LanguageModel("small", chats.address, key)
    return [(answer.place, answer.problem) for answer in model.answers(questions or (QUESTION,))]


def test_it_sees_the_mention_its_text_and_the_candidates() -> None:
    with chatting(choosing("heart attack")) as chats:
        assert ask(chats) == [(1, "")]
        (request,) = chats.requests
    assert (request["model"], request["temperature"]) == ("small", 0)
    assert chats.questions == [
        "Name: MI\n"
        "Read as: myocardial infarction\n"
        "Text: He had an MI in 2019.\n"
        "\n"
        "1. Mitral valve insufficiency (also: mitral incompetence), a kind of Heart valve disease\n"
        "2. Myocardial infarction (also: heart attack; MI), a kind of Ischemia; Infarction"
    ]


@cases("said", "place")
def test_a_number_is_an_answer(said: str, place: int | None) -> None:
    with chatting(lambda _: said) as chats:
        assert ask(chats) == [(place, "")]


@pytest.mark.parametrize("said", ["", "None of them", "3", "1 or 2", "-", "MESH:D009203", "1e9"])
def test_anything_else_is_not(said: str) -> None:
    with chatting(lambda _: said) as chats:
        ((place, problem),) = ask(chats)
    assert place is None
    assert problem == f"the answer is {said!r}; expected a number from 0 to 2"


def test_answers_keep_the_order_of_the_questions() -> None:
    def say(question: str) -> str:
        time.sleep(0.05 if "name 0" in question else 0.0)
        return "2" if int(question.split()[2]) % 2 else "1"

    questions = [QUESTION._replace(written=f"name {n}") for n in range(20)]
    with chatting(say) as chats:
        assert ask(chats, *questions) == [(n % 2, "") for n in range(20)]


@pytest.mark.parametrize(
    ("statuses", "answer", "n_requests", "slept"),
    [
        pytest.param([429, 503], (0, ""), 3, [7.0, 7.0], id="busy for a while"),
        pytest.param([500] * 9, (None, "500 Internal Server Error"), 4, [0.5, 1.0, 2.0], id="busy"),
        pytest.param([401] * 9, (None, "401 Unauthorized"), 1, [], id="a refusal"),
    ],
)
def test_a_server_that_is_busy_is_asked_again_a_few_times(
    waits: list[float], statuses: list[int], answer: object, n_requests: int, slept: list[float]
) -> None:
    with chatting(lambda _: "1") as chats:
        chats.statuses = statuses
        chats.headers = {"Retry-After": "7"} if 429 in statuses else {}
        assert ask(chats) == [answer]
        assert len(chats.requests) == n_requests
    assert waits == slept


def test_it_is_led_to_no_other_address(waits: list[float]) -> None:
    with chatting(lambda _: "1") as other, chatting(lambda _: "1") as chats:
        chats.statuses = [302]
        chats.headers = {"Location": f"{other.address}/chat/completions"}
        assert ask(chats, key="secret") == [(None, "302 Found")]
        assert other.requests == []
    assert waits == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": null}}]}',
    ],
)
def test_what_is_not_of_the_protocol_is_no_answer(body: bytes) -> None:
    with chatting(lambda _: "1") as chats:
        chats.body = body
        ((place, problem),) = ask(chats)
    assert place is None
    assert problem.startswith("the answer is not one of the protocol (")


def test_a_server_that_is_gone_gives_no_answer(waits: list[float]) -> None:
    with chatting(lambda _: "1") as chats:
        pass
    ((place, problem),) = ask(chats)
    assert (place, len(waits)) == (None, 3)
    assert "refused" in problem.lower()


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with chatting(lambda _: "1") as chats:
        monkeypatch.delenv(KEY, raising=False)
        ask(chats)
        monkeypatch.setenv(KEY, "secret")
        ask(chats)
        ask(chats, key="another")
        assert chats.keys == [None, "Bearer secret", "Bearer another"]
        assert "secret" not in LanguageModel("small", chats.address).identity


@cases("spec", "named")
def test_a_model_is_named_with_its_address(spec: str, named: tuple[str, str] | None) -> None:
    assert model_at(spec) == named


def test_an_address_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidInput, match="names no model; expected MODEL@ADDRESS"):
        model_at("@http://localhost:11434/v1")


def test_tokens_are_counted_roughly() -> None:
    longer = QUESTION._replace(context="word " * 100)
    assert 100 < n_tokens(QUESTION) < 250
    assert n_tokens(longer) - n_tokens(QUESTION) > 90
