"""A queue that is filtered by the kind of the concept that counts."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Linker, Name, Relation, Terminology, Xref
from canonym.errors import InvalidInput
from canonym.review.kinds import Kind, ids_of_kind
from canonym.review.store import Given, Store
from canonym.review.table import as_table
from tests.review.conftest import decide, link, make_linker, review_of

HIP = {"id": "X:4", "label": "Hip fracture", "relation": "equal", "parents": []}
COLD = {"id": "X:5", "label": "Common cold", "relation": "equal", "parents": []}
RECORDS = [
    Concept("X:0", "Disease", types=("Disease",)),
    Concept("X:1", "Infarction", types=("Disease", "Finding")),
    Concept("X:2", "Fever", types=("Finding",)),
    Concept("two words", "Odd", types=("Finding",)),
    Relation("X:1", "is_a", "X:0"),
    Xref("X:2", "X:22", "alternative"),
]


def _mentions(store: Store, review: int, concepts: set[str], part: str = "all") -> list[str]:
    entries, total, _ = store.queue(review, part, concepts=concepts, order="text")
    assert total == len(entries)
    return [entry.item.mention for entry in entries]


@pytest.mark.parametrize(
    ("kind", "ids"),
    [
        (Kind("Disease"), ["X:0", "X:1"]),
        (Kind("finding"), ["X:1", "X:22", "two words"]),
        (Kind(leaf=True), ["X:1", "X:22", "two words"]),
        (Kind(leaf=False), ["X:0"]),
        (Kind("Finding", leaf=False), []),
    ],
    ids=str,
)
def test_a_kind_is_of_a_type_and_most_detailed_or_not(kind: Kind, ids: list[str]) -> None:
    terminology = Terminology.build(RECORDS)
    among = {"X:0", "X:1", "X:22", "two words", "of another terminology"}
    assert ids_of_kind(terminology, among, kind, terminology.with_children()) == set(ids)


def test_kinds_that_a_terminology_cannot_tell_are_refused() -> None:
    flat = Terminology.build([Concept("X:0", "Disease", types=("Disease",))])
    with pytest.raises(InvalidInput, match="types: 'Drug' does not occur"):
        ids_of_kind(flat, {"X:0"}, Kind("Drug"), flat.with_children())
    with pytest.raises(InvalidInput, match="the terminology has no hierarchy"):
        ids_of_kind(flat, {"X:0"}, Kind(leaf=True), flat.with_children())


def test_the_concept_of_a_decision_counts_before_that_of_the_proposal(
    store: Store, linker: Linker
) -> None:
    mentions = ["heart attack", "broken hip", "common cold", "??"]
    review = review_of(store, mentions, linker)
    assert store.concepts(review) == {"X:1", "X:4", "X:5"}
    assert _mentions(store, review, {"X:1", "X:5"}) == ["common cold", "heart attack"]
    decide(store, review, "heart attack", Given("link", (HIP, COLD)))
    assert _mentions(store, review, {"X:4"}) == ["broken hip", "heart attack"]
    assert _mentions(store, review, {"X:5"}) == ["common cold", "heart attack"]
    assert _mentions(store, review, {"X:5"}, "todo") == ["common cold"]
    assert _mentions(store, review, {"X:1"}) == []
    decide(store, review, "heart attack", Given("undo"))
    assert _mentions(store, review, {"X:1"}) == ["heart attack"]
    decide(store, review, "broken hip", Given("flag"))
    assert _mentions(store, review, {"X:4"}, "flagged") == ["broken hip"]
    decide(store, review, "broken hip", Given("nil"))  # which no concept counts for
    assert _mentions(store, review, {"X:4"}) == []
    assert _mentions(store, review, set()) == []


def test_a_new_index_changes_what_is_proposed_and_not_what_was_decided(store: Store) -> None:
    first = make_linker([Concept("X:1", "Fever"), Concept("X:2", "Cough")])
    review = review_of(store, ["fever", "cough"], first)
    decide(store, review, "fever", Given("link", ({**HIP, "id": "X:1"},)))
    second = make_linker(
        [Concept("X:1", "Fever"), Concept("X:3", "Coughing"), Name("cough", "X:3")]
    )
    store.aim(review, second.fingerprint)
    link(store, review, second)
    assert store.concepts(review) == {"X:1", "X:3"}


def test_exactly_what_a_filtered_queue_shows_is_nothing(store: Store, linker: Linker) -> None:
    review = review_of(store, ["heart attack", "bad heart attack", "broken hip"], linker)
    shown = _mentions(store, review, {"X:1"}, "todo")
    given: dict[str, Any] = {"concepts": {"X:1"}, "comment": "all", "who": "ann"}
    assert store.decide_none(review, "todo", "", expected=len(shown), **given) == 2
    assert store.progress(review)["items"]["nil"] == 2
    assert _mentions(store, review, {"X:4"}, "todo") == ["broken hip"]


def test_ten_thousand_items_are_filtered_about_as_quickly_as_they_are_read(
    tmp_path: Path, opened: Callable[[str], Store]
) -> None:
    n_items, n_concepts = 10_000, 600
    place = tmp_path / "reviews.db"
    store = opened(str(place))
    table = as_table(["mention"], [[f"mention {n}"] for n in range(n_items)])
    review = store.create("many", "small", table, who="ann")
    with sqlite3.connect(place) as connection:  # proposals of an index, at once
        proposed = [(f"X:{n % n_concepts}", n % 97 / 97, n + 1) for n in range(n_items)]
        connection.execute("UPDATE items SET proposal = ?", (f'{{"steps": ["{"x" * 3000}"]}}',))
        sql = "UPDATE items SET concept = ?, confidence = ? WHERE id = ?"
        connection.executemany(sql, proposed)
    connection.close()
    concepts = [Concept(f"X:{n}", f"Name {n}", types=("AB"[n % 2],)) for n in range(n_concepts)]
    terminology = Terminology.build(concepts)

    def filtered() -> int:
        ids = store.concepts(review)
        ids = ids_of_kind(terminology, ids, Kind("A"), terminology.with_children())
        return store.queue(review, concepts=ids)[1]

    def quickest(work: Callable[[], Any]) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return min(times)

    assert filtered() == n_items / 2
    # About 3.4; where each proposal were read, 14.
    assert quickest(filtered) < 7 * quickest(lambda: store.queue(review))
