"""What is asked in the last batches of the default encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from canonym.types import Concept, Name, Record
from models.asking import ASKING, asking, halves
from models.mention_search import MentionQueries


def texts_of(queries: Sequence[MentionQueries]) -> list[list[str]]:
    rng = np.random.default_rng(0)
    for one in queries:
        one.refresh(lambda texts: np.ones((len(texts), 2), np.float32))
    return [sorted({*one.draw(rng).texts}) for one in queries]


def test_half_of_the_names_are_asked_and_the_others_to_be_found() -> None:
    records: list[Record] = [Concept("A:1", "a b"), Name("B a", "A:1")]
    records += [Name(f"name {letter}", "A:1") for letter in "cdefg"]
    records += [Concept("A:2", "alone"), Concept("A:3", "gone", deprecated=True), Name("x", "A:3")]
    asked, names = halves(records)
    assert len(asked) == 3
    assert not {*asked} & {*names}
    assert ("alone", "A:2") in names
    # "a b" and "B a" have one form: both are there, or one of them is asked and none is there.
    assert {"a b", "B a"} <= {text for text, _ in names} or ("a b", "A:1") in asked
    assert not {text for text, _ in (*asked, *names)} & {"gone", "x"}
    assert len(halves(records, most=1)[0]) == 1


def test_mentions_and_names_ask(mixed: Path) -> None:
    small = {**ASKING, "diseases": 50, "DOID 2015": 3}
    found = texts_of(asking(mixed, ["train", "dev"], small))
    assert any("infarcted heart" in one for one in found)  # a mention
    assert ["coronary event", "infarction of myocardium"] in found
    few = {key: ASKING[key] for key in ("diseases", "chemicals", "wrong", "right")}
    assert len(asking(mixed, ["train"], few)) < len(found)


def test_concepts_held_out_are_not_asked(mixed: Path) -> None:
    queries = asking(mixed, ["train", "dev"], learned=["Myocardial infarction", "infarcted hearts"])
    assert texts_of(queries) == [["infarcted heart", "myocardial infarction"]]
