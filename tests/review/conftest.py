"""Stores of both kinds, and small indexes of two versions of a terminology."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Linker, Name, Relation, Terminology
from canonym.review.proposals import link_waiting
from canonym.review.store import Entry, Given, Store
from canonym.review.table import as_table
from tests.postgresql import Cluster, cluster

RECORDS: list[Any] = [
    Concept("X:0", "Disease"),
    Concept("X:1", "Myocardial infarction"),
    Name("heart attack", "X:1"),
    Concept("X:2", "Diabetes mellitus"),
    Concept("X:3", "Type 2 diabetes mellitus"),
    Concept("X:4", "Hip fracture"),
    Name("broken hip", "X:4"),
    Concept("X:5", "Common cold"),
    *(Relation(f"X:{n}", "is_a", parent) for n, parent in [(1, "X:0"), (2, "X:0"), (3, "X:2")]),
]


def make_linker(records: list[Any]) -> Linker:
    """Build an index of records, in memory."""
    return Linker.build(Terminology.build(records), encoders=["chargrams"])


def link(store: Store, review: int, linker: Linker) -> None:
    """Link all that waits in a review."""
    link_waiting(store, review, lambda work: work(linker), lambda: False)


def review_of(store: Store, mentions: list[str], linker: Linker | None = None) -> int:
    """Add a review of mentions, linked if there is a linker."""
    table = as_table(["mention"], [[one] for one in mentions])
    review = store.create("a list", "small", table, who="ann")
    if linker:
        link(store, review, linker)
    return review


def item_of(store: Store, review: int, mention: str) -> Entry:
    """Return the item of a mention, with its history."""
    found = [one for one in store.entries(review) if one.item.mention == mention]
    return store.item(found[0].item.id)


def decide(store: Store, review: int, mention: str, decision: Given) -> None:
    """Decide about a mention as it is now."""
    item = item_of(store, review, mention).item
    store.decide(item.id, decision, version=item.version, who="ann")


@pytest.fixture(scope="session")
def linker() -> Linker:
    """An index of the first version; no test changes it."""
    return make_linker(RECORDS)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    """A cluster of PostgreSQL."""
    with cluster() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where an empty store may be, in either kind of database."""
    if request.param == "sqlite":
        yield str(tmp_path / "reviews.db")
        return
    started: Cluster = request.getfixturevalue("postgresql")
    with started.database() as address:
        yield address


@pytest.fixture
def opened() -> Iterator[Callable[[str], Store]]:
    """Open stores; they are closed with the test."""
    stores: list[Store] = []

    def open_(place: str) -> Store:
        stores.append(Store(place))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


@pytest.fixture
def store(place: str, opened: Callable[[str], Store]) -> Store:
    """An empty store."""
    return opened(place)
