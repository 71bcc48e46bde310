"""What an index proposes, what it learns, and what a new version opens again."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Linker, Name, Relation
from canonym.exchange.decisions import read_reviews
from canonym.review import export
from canonym.review.lessons import lessons_of
from canonym.review.proposals import link_waiting, snapshot
from canonym.review.store import Given, Store
from tests.review.conftest import RECORDS, item_of, link, make_linker, review_of


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """An empty store."""
    store = Store(str(tmp_path / "reviews.db"))
    yield store
    store.close()


def _decide(store: Store, linker: Linker, review: int, mention: str, *ids: str) -> None:
    item = item_of(store, review, mention).item
    concepts = tuple(snapshot(linker.terminology, id_) for id_ in ids)
    given = Given("link" if ids else "nil", concepts)
    store.decide(item.id, given, version=item.version, who="ann")


def test_a_proposal_says_what_was_found_and_how(store: Store, linker: Linker) -> None:
    review = review_of(store, ["Heart attack"], linker)
    item = item_of(store, review, "Heart attack").item
    (concept,) = item.proposal["concepts"]
    assert concept == {
        "id": "X:1",
        "label": "Myocardial infarction",
        "relation": "equal",
        "parents": ["X:0"],
    }
    best = item.proposal["candidates"][0]
    assert (best["name"], best["sieve"], best["score"]) == ("heart attack", "verbatim", 1.0)
    assert item.fingerprint == linker.fingerprint == store.review(review).fingerprint
    assert item.confidence == round(linker.link(["Heart attack"])[0].confidence or 0, 4)


def test_linking_that_was_stopped_goes_on_where_it_was(store: Store, linker: Linker) -> None:
    review = review_of(store, [f"heart attack {n}" for n in range(100)])
    calls = iter([False, True])
    link_waiting(store, review, lambda work: work(linker), lambda: next(calls))
    assert store.progress(review)["waiting"] == 36
    versions = {one.item.id: one.item.version for one in store.entries(review)}
    assert sorted(set(versions.values())) == [1, 2]
    link(store, review, linker)
    assert store.progress(review)["waiting"] == 0
    assert {one.item.version for one in store.entries(review)} == {2}


def test_what_was_decided_while_it_is_linked_stays(store: Store, linker: Linker) -> None:
    review = review_of(store, ["heart attack"])
    id_ = item_of(store, review, "heart attack").item.id
    calls: list[int] = []

    def use(work: Any) -> Any:
        found = work(linker)
        calls.append(1)
        if len(calls) == 2:  # between the link and its being kept
            store.decide(id_, Given("nil"), version=1, who="ann")
        return found

    link_waiting(store, review, use, lambda: False)
    item = store.item(id_).item
    assert (item.state, item.fingerprint) == ("nil", linker.fingerprint)
    assert item.proposal["concepts"][0]["id"] == "X:1"


def _next_version() -> Linker:
    kept = [one for one in RECORDS if getattr(one, "id", "") not in ("X:2", "X:5")]
    moved = [one for one in kept if one != Relation("X:3", "is_a", "X:2")]
    gone = [one for one in moved if getattr(one, "head", "") != "X:2"]
    return make_linker(
        [
            *gone,
            Concept("X:2", "Diabetes mellitus", deprecated=True, replaced_by=("X:3",)),
            Relation("X:3", "is_a", "X:0"),
            Concept("X:9", "Fracture of neck of femur"),
            Name("cracked hip joint", "X:9"),
        ]
    )


def test_a_new_version_opens_only_what_it_changes_again(store: Store, linker: Linker) -> None:
    mentions = {
        "heart attack": ["X:1"],
        "diabetes mellitus": ["X:2"],
        "common cold": ["X:5"],
        "type 2 diabetes mellitus": ["X:3"],
        "broken hip": ["X:4"],
        "cracked hip joint": ["X:4"],
        "nothing at all": [],
    }
    review = review_of(store, [*mentions, "not decided"], linker)
    for mention, ids in mentions.items():
        _decide(store, linker, review, mention, *ids)
    before = {m: item_of(store, review, m) for m in mentions}
    link(store, review, _next_version())
    reasons = {}
    for mention in mentions:
        entry = item_of(store, review, mention)
        if entry.item.state == "reopened":
            assert entry.decision is not None
            reasons[mention] = entry.decision.comment
        else:
            assert entry.decision == before[mention].decision or (
                entry.decision is not None
                and before[mention].decision is not None
                and entry.decision.id == before[mention].decision.id
            )
            assert entry.decision is not None
            assert entry.decision.who == "ann"
    assert reasons == {
        "diabetes mellitus": "merged: Diabetes mellitus (X:2) is deprecated, replaced by X:3",
        "common cold": "retired: Common cold (X:5) is no longer in the terminology",
        "type 2 diabetes mellitus": "moved: Type 2 diabetes mellitus (X:3) stands below Disease "
        "now",
        "cracked hip joint": "a better candidate: Fracture of neck of femur (X:9)",
    }
    assert store.progress(review)["items"] == {
        **{"open": 1, "reopened": 4, "flagged": 0},
        **{"accepted": 0, "linked": 2, "nil": 1},
    }


def test_who_was_asked_once_is_not_asked_again(store: Store, linker: Linker) -> None:
    review = review_of(store, ["broken hip", "cracked hip joint"], linker)
    _decide(store, linker, review, "broken hip", "X:1")  # seen below the proposal: a choice
    _decide(store, linker, review, "cracked hip joint", "X:4")
    new = _next_version()
    link(store, review, new)
    assert item_of(store, review, "broken hip").item.state == "linked"
    item = item_of(store, review, "cracked hip joint").item
    assert item.state == "reopened"
    _decide(store, new, review, "cracked hip joint", "X:4")
    link(store, review, make_linker([*RECORDS, Name("hip crack", "X:4")]))
    link(store, review, new)
    history = item_of(store, review, "cracked hip joint").history
    assert [one.kind for one in history] == ["link", "reopen", "link", "reopen"]


def test_undoing_a_reopening_brings_the_decision_back(store: Store, linker: Linker) -> None:
    review = review_of(store, ["common cold"], linker)
    _decide(store, linker, review, "common cold", "X:5")
    link(store, review, _next_version())
    item = item_of(store, review, "common cold").item
    entry = store.decide(item.id, Given("undo"), version=item.version, who="ann")
    assert entry.item.state == "linked"
    assert entry.decision is not None
    assert entry.decision.concepts[0]["id"] == "X:5"


def test_decisions_teach_names_and_pairs(store: Store, linker: Linker) -> None:
    review = review_of(
        store, ["heart attack", "sugar disease", "hip thing", "hart attack", "a cold"], linker
    )
    _decide(store, linker, review, "heart attack", "X:1")  # has the name already
    _decide(store, linker, review, "sugar disease", "X:2")
    _decide(store, linker, review, "hip thing", "X:4", "X:1")  # several: no name
    _decide(store, linker, review, "hart attack")
    found = lessons_of(store.entries(review), linker.terminology)
    assert [(one.text, one.concept_id) for one in found.names] == [("sugar disease", "X:2")]
    proposed = item_of(store, review, "hart attack").item.proposal["concepts"][0]["id"]
    assert ("hart attack", proposed) in found.forbidden
    assert {mention for mention, _ in found.forbidden} <= {"hart attack", "sugar disease"}


def test_the_queue_follows_what_was_taught(store: Store) -> None:
    own = make_linker(RECORDS)
    review = review_of(store, ["sugar disease", "sugar diseases"], own)
    _decide(store, own, review, "sugar disease", "X:2")
    own.synonyms.update(*lessons_of(store.entries(review), own.terminology))
    link(store, review, own)
    assert item_of(store, review, "sugar disease").item.state == "linked"
    best = item_of(store, review, "sugar diseases").item.proposal["candidates"][0]
    assert (best["id"], best["name"]) == ("X:2", "sugar disease")


def test_decisions_are_exported_beside_the_rows(store: Store, linker: Linker) -> None:
    review = review_of(store, ["heart attack", "=1+1", "broken hip"], linker)
    _decide(store, linker, review, "heart attack", "X:1", "X:0")
    _decide(store, linker, review, "=1+1")
    text = b"".join(export.export_review(store, review, "csv")).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["mention"] for row in rows] == ["heart attack", "'=1+1", "broken hip"]
    assert [row["canonym_state"] for row in rows] == ["linked", "nil", "open"]
    assert rows[0]["canonym_id"] == "X:1|X:0"
    assert rows[0]["canonym_relation"] == "equal|equal"
    assert (rows[0]["canonym_by"], rows[2]["canonym_by"]) == ("ann", "")
    assert rows[2]["canonym_proposed_id"] == "X:4"
    tabs = b"".join(export.export_review(store, review, "tsv")).decode().splitlines()
    assert tabs[0].split("\t")[:2] == ["mention", "canonym_mention"]


def test_decisions_in_sssom_are_read_as_they_were_meant(
    store: Store, linker: Linker, tmp_path: Path
) -> None:
    review = review_of(store, ["heart attack", "sugar", "hip cold", "broken hip", "open"], linker)
    _decide(store, linker, review, "heart attack", "X:1")
    _decide(store, linker, review, "hip cold", "X:4", "X:5")
    _decide(store, linker, review, "broken hip")
    item = item_of(store, review, "sugar").item
    broader = (snapshot(linker.terminology, "X:2", "broader"),)
    store.decide(item.id, Given("link", broader), version=item.version, who="bob")
    path = tmp_path / "review.sssom.tsv"
    path.write_bytes(b"".join(export.export_review(store, review, "sssom", linker.terminology)))
    found = read_reviews(path)
    assert found.made_by == linker.fingerprint
    learned = [(one.text, one.id, one.accepted) for one in found.reviews if not one.reason]
    assert ("heart attack", "X:1", True) in learned
    assert ("broken hip", "X:4", False) in learned
    assert [text for text, _, accepted in learned if accepted] == ["heart attack"]
    passed_over = {(one.text, one.id) for one in found.reviews if one.reason}
    assert {("sugar", "X:2"), ("hip cold", "X:4"), ("hip cold", "X:5")} <= passed_over
    assert not any(one.text == "open" for one in found.reviews)
    assert "bob" in next(one.note for one in found.reviews if one.text == "sugar")
