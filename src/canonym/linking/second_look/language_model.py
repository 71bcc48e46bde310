"""A language model behind an address that speaks OpenAI's protocol of chats: here or elsewhere.

llama.cpp, Ollama, vLLM and most services do. The model sees a mention, the text around it and
numbered candidates, and answers with a number: it never writes an id.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from canonym.errors import InvalidInput
from canonym.io.downloads import check_address
from canonym.linking.second_look.questions import Answer, Choice, Question

KEY = "CANONYM_SECOND_LOOK_KEY"
"""Variable of the environment: the key that the address asks for, if it does."""

SECONDS = 60.0
"""How long an answer may take."""

_ATTEMPTS = 4
_AT_A_TIME = 4
_PATIENCE = 8  # questions without an answer, after which a server is asked once
_MOST_BYTES = 1 << 20
_MOST_TOKENS = 1024  # of an answer: some models think aloud first
_MOST_WAIT = 30.0
_LETTERS_A_TOKEN = 4
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_GONE = (urllib.error.URLError, http.client.HTTPException, OSError)
_TASK = (
    "You choose the concept that a biomedical name stands for. You see the name as it is written, "
    "the text around it where there is any, and numbered concepts of a terminology. Answer with "
    "the number of the one concept that the name stands for, not of a broader or a narrower one, "
    "or with 0 if it is none of them. Answer with the number alone."
)

_log = logging.getLogger(__name__)


class LanguageModel:
    """Asks a language model, several questions at a time.

    Parameters
    ----------
    model : str
        Its name, as the server knows it.
    address : str
        Of the interface, such as ``http://localhost:11434/v1``.
    key : str, optional
        By default that of the environment, see `KEY`.

    Raises
    ------
    InvalidInput
        If the address is not one of HTTP.
    """

    at_a_time = 16  # what is paid for is soon kept

    def __init__(self, model: str, address: str, key: str | None = None) -> None:
        check_address(address)
        self._model, self._address = model, address.rstrip("/")
        self.name = f"{model} at {self._address}"
        self._key = os.environ.get(KEY, "") if key is None else key
        self._unanswered = 0  # in a row
        # The address may change: the same model at another one gives the same answers.
        self.identity = f"language model {model}: {_TASK}"

    def answers(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Yield the answers, several of which are waited for at a time."""
        with ThreadPoolExecutor(_AT_A_TIME) as threads:
            yield from threads.map(self._answer, questions)

    def _answer(self, question: Question) -> Answer:
        body = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": _TASK},
                {"role": "user", "content": _written(question)},
            ],
            "temperature": 0,
            "seed": 0,
            "max_tokens": _MOST_TOKENS,
        }
        problem = ""
        attempts = _ATTEMPTS if self._unanswered < _PATIENCE else 1
        for left in range(attempts - 1, -1, -1):
            try:
                said = self._said(body)
            except urllib.error.HTTPError as error:
                problem = f"{error.code} {error.reason}"
                if error.code not in _AGAIN:
                    break
                _wait(left, error.headers.get("Retry-After", ""))
            except _GONE as error:
                problem = str(getattr(error, "reason", "") or error) or type(error).__name__
                _wait(left)
            except (ValueError, LookupError, TypeError) as error:
                problem = f"the answer is not one of the protocol ({error!r:.80})"
                break
            else:
                self._unanswered = 0
                return _read(said, len(question.choices))
        self._unanswered += 1
        _log.debug("no answer about %r: %s", question.written, problem)
        return Answer(None, problem=problem)

    def _said(self, body: dict[str, Any]) -> str:
        headers = {"Content-Type": "application/json", "User-Agent": "canonym"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(
            f"{self._address}/chat/completions", json.dumps(body).encode("ascii"), headers
        )
        with _OPENER.open(request, timeout=SECONDS) as response:
            content = json.loads(response.read(_MOST_BYTES))["choices"][0]["message"]["content"]
        if not isinstance(content, str):
            raise TypeError(f"the content is {content!r:.40}")
        return content


class _Staying(urllib.request.HTTPRedirectHandler):
    """Follows to no other address: the key and the mentions are for the one that was named."""

    def redirect_request(self, *_: Any) -> None:
        """Make an error of every redirect."""


_OPENER = urllib.request.build_opener(_Staying)


def n_tokens(question: Question) -> int:
    """Return about how many tokens a question has, its task included."""
    return (len(_TASK) + len(_written(question))) // _LETTERS_A_TOKEN


def model_at(spec: str) -> tuple[str, str] | None:
    """Return the model and the address of ``MODEL@http://HOST:PORT/v1``; None of anything else."""
    model, at, address = spec.rpartition("@")
    if not at or urlsplit(address).scheme not in ("http", "https"):
        return None
    if not model:
        raise InvalidInput(
            f"{spec!r} names no model; expected MODEL@ADDRESS, as in llama3.2@{address}"
        )
    return model, address


def _written(question: Question) -> str:
    """Write a question out."""
    lines = [f"Name: {question.written}"]
    if question.read != question.written:
        lines.append(f"Read as: {question.read}")
    if question.context:
        lines.append(f"Text: {' '.join(question.context.split())}")
    numbered = enumerate(map(_line, question.choices), start=1)
    return "\n".join([*lines, "", *(f"{number}. {line}" for number, line in numbered)])


def _line(choice: Choice) -> str:
    also = f" (also: {'; '.join(choice.synonyms)})" if choice.synonyms else ""
    kinds = f", a kind of {'; '.join(choice.parents)}" if choice.parents else ""
    return f"{choice.label}{also}{kinds}"


def _read(said: str, n: int) -> Answer:
    """Read the number of an answer, behind what a model thought aloud.

    >>> _read("<think>2 or 3?</think> 3", 5).place, _read("0", 5).place, _read("None", 5).problem
    (2, None, "the answer is 'None'; expected a number from 0 to 5")
    """
    last = said.rpartition("</think>")[2]
    numbers = set(re.findall(r"\d+", last))
    if len(numbers) == 1 and (number := int(*numbers)) <= n:
        return Answer(number - 1 if number else None)
    shown = " ".join(last.split())
    return Answer(None, problem=f"the answer is {shown!r:.60}; expected a number from 0 to {n}")


def _wait(left: int, told: str = "") -> None:
    """Wait before the next of so many attempts: as the server says, or longer each time."""
    if left:
        seconds = float(told) if told.isdecimal() else 0.5 * 2 ** (_ATTEMPTS - 1 - left)
        time.sleep(min(seconds, _MOST_WAIT))
