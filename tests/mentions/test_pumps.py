"""Every step of preparation on pumps of growing length: twice the text, twice the time.

A pump is one short string many times over, such as runs of signs, brackets and negations, drawn as
well from pairs of them. A step reads each at a length and at twice the length, and the second may
take `GROWTH` times as long as the first. What is quick even then is let be: no clock tells it from
noise. Times are those of this thread, the least of several; the text has another beginning each
time, because steps remember what they read.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import itertools
import pkgutil
import random
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import canonym.mentions
import canonym.text
from canonym.mentions.contrasts import against
from canonym.mentions.flags import with_flags
from canonym.mentions.prepare import Preparation
from canonym.types import Mention

GROWTH = 2.6
UNITS = (
    *("\n", " ", "\t", "-", "/", ",", ".", "(", ")", "[", "?", "a", "1", "'", '"', ";", ":", "+"),
    *("<b>", "</b>", "<p", "&lt;", "&#", "%20", "Ð°", "\u0301", " \n", "\r\n", "a\n\n", "- "),
    *("a ", "1 ", "1,", "A+", "(a) ", "[a]", "'s", " s", "no ", "not ", "vs ", "and ", "or "),
    *("? ", "of ", "a-", "a, ", "(+) ", "+a ", "x: ", "5 mg ", "1/1", "E. coli "),
    *("type I ", "I10, ", "w/ "),
    *("cold, ", "cold (CC) ", "no cold ", "cold spread to ", "without mention of ", "NOS", "HTN "),
)
_PAIRS = 30
_SMALL, _LARGE = 480, 3_000  # characters of a mention, and of a text
_QUICK = 0.004  # seconds
_ATTEMPTS, _ROUNDS = 6, 3
_NUMBERS = itertools.count()

_WHOLE_TEXTS = ("canonym.mentions.cues", "canonym.mentions.segments", "canonym.text.markup")
"""Modules whose steps read texts of any length; mentions are cut at a thousand characters."""


def _modules() -> Iterator[ModuleType]:
    for package in (canonym.mentions, canonym.text):
        yield package
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(module.name)


def _takes_text(function: Callable[..., object]) -> bool:
    needed = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
    ]
    return [(one.name, one.annotation) for one in needed] == [("text", "str")]


def _in_a_sentence(text: str) -> object:
    text += " asthma"
    return with_flags(text, [Mention("asthma", len(text) - 6, len(text))])


def _steps() -> dict[str, Callable[[str], Any]]:
    steps: dict[str, Callable[[str], Any]] = {}
    for module in _modules():
        for name, function in inspect.getmembers(module, callable):
            is_own = getattr(function, "__module__", "") == module.__name__
            is_step = is_own and not name.startswith("_") and not inspect.isclass(function)
            if is_step and _takes_text(function):
                steps[f"{module.__name__}.{name}"] = function
    steps["canonym.mentions.cues.with_flags"] = _in_a_sentence
    steps["canonym.mentions.contrasts.against"] = lambda text: against(text, "left asthma, acute")
    steps["against a name"] = lambda text: against("left asthma, acute", text)
    steps["prepare"] = Preparation().prepare
    return steps


STEPS = _steps()


def _seconds(step: Callable[[str], Any], unit: str, length: int) -> float:
    text = f"x{next(_NUMBERS)} {unit * (length // len(unit))}"
    begun = time.thread_time()
    result = step(text)
    if isinstance(result, Iterator):
        for _ in result:
            pass
    return time.thread_time() - begun


def _grows(step: Callable[[str], Any], unit: str, length: int) -> float:
    """Return how many times as long twice the text takes, at best; 0 where that is quick."""
    short, long = [], []
    _seconds(step, unit, 2 * _SMALL // 10)  # so that its tables are made
    for _ in range(_ATTEMPTS):
        long.append(_seconds(step, unit, 2 * length))
        if min(long) < _QUICK:
            return 0.0
        short.append(_seconds(step, unit, length))
        if min(long) <= GROWTH * min(short):
            break
    return min(long) / min(short)


@pytest.fixture(autouse=True)
def no_garbage_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("name", STEPS)
def test_twice_the_text_takes_twice_the_time(name: str) -> None:
    rng = random.Random(name)
    units = [*UNITS, *("".join(rng.sample(UNITS, 2)) for _ in range(_PAIRS))]
    length = _LARGE if name.startswith(_WHOLE_TEXTS) else _SMALL
    for _ in range(_ROUNDS):  # on a busy machine one alone may be chance
        units = [unit for unit in units if _grows(STEPS[name], unit, length) > GROWTH]
    assert not units
