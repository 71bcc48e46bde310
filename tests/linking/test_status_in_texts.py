"""Forty sentences of clinical notes: what they say of each mention that is found in them."""

from __future__ import annotations

import re

import pytest

from canonym import Concept, Linker, Terminology
from tests.tables import tables

SENTENCES = tables(__file__)["sentences"]
"""A sentence with its mentions in brackets, and the status of each, with a bar between."""

_MENTION = re.compile(r"\[([^\]]+)\]")


@pytest.fixture(scope="module")
def linker() -> Linker:
    names = dict.fromkeys(name.lower() for text, _ in SENTENCES for name in _MENTION.findall(text))
    records = [Concept(f"Z:{place}", name) for place, name in enumerate(names)]
    return Linker.build(Terminology.build(records), encoders=[])


def test_the_status_of_nine_in_ten_mentions_is_right(linker: Linker) -> None:
    assert len(SENTENCES) == 40
    wrong, n = [], 0
    for text, statuses in SENTENCES:
        links = linker.annotate(_MENTION.sub(r"\1", text))
        assert [link.mention.text for link in links] == _MENTION.findall(text), text
        for link, status in zip(links, statuses.split("|"), strict=True):
            n += 1
            if ",".join(link.status) != status:
                wrong.append((text, link.mention.text, link.status))
    assert len(wrong) <= 0.1 * n, wrong
