"""The development suite of names of many domains."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.text import UNORDERED, normalise
from models.sources import read_pool
from models.suite import DOMAINS, held_out_ids, read_suite

pytestmark = pytest.mark.slow  # who makes an encoder again runs them


@pytest.fixture(scope="module")
def domains(data: Path) -> dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]]:
    return {one.name: (one.questions, one.names) for one in read_suite(data)}


def test_every_domain_asks_for_held_out_concepts_that_are_there(data: Path, domains: dict) -> None:
    assert list(domains) == list(DOMAINS)
    out = held_out_ids(data)
    for questions, names in domains.values():
        assert 100 < len(questions) <= 2000
        assert {id_ for _, id_ in questions} <= out & {id_ for _, id_ in names}


def test_no_question_is_a_name_in_any_form(domains: dict) -> None:
    questions, names = domains["anatomy"]
    forms = {normalise(text, UNORDERED) for text, _ in names}
    assert not [text for text, _ in questions if normalise(text, UNORDERED) in forms]


@pytest.mark.slow  # it reads all sources, for a minute
def test_nothing_of_a_question_is_learned(data: Path, domains: dict) -> None:
    pool = read_pool(data, held_out=sorted(held_out_ids(data)))
    learned = {normalise(text) for text in pool.synonyms().names}
    for questions, _ in domains.values():
        assert not [id_ for _, id_ in questions if id_ in pool]
        # A broad name may be another concept's own: *ala* of a part of the cerebellum.
        shared = [text for text, _ in questions if normalise(text) in learned]
        assert len(shared) < 0.01 * len(questions), shared
