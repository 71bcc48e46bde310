"""The queue of a review through the service, filtered by the kind of concept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from canonym import Concept
from tests.service.conftest import build
from tests.service.review.conftest import decide, items_of, make

MENTIONS = ["heart attack", "diabetes mellitus", "type 2 diabetes", "broken hip", "??"]


def _shown(client: TestClient, review: int, **query: Any) -> set[str]:
    answer = client.get(f"/v1/reviews/{review}/items", params={"part": "all", **query})
    assert answer.status_code == 200, answer.text
    assert answer.json()["total"] == len(answer.json()["items"])
    return {item["mention"] for item in answer.json()["items"]}


@pytest.fixture
def client(start: Callable[..., TestClient]) -> TestClient:
    """A client of a service with an empty database."""
    return start()


@pytest.fixture
def review(client: TestClient) -> int:
    """A review of a few mentions."""
    return int(make(client, "term\n" + "".join(f"{one}\n" for one in MENTIONS))["id"])


def test_a_queue_is_filtered_by_type_and_detail(client: TestClient, review: int) -> None:
    assert _shown(client, review, type="Finding") == {"type 2 diabetes", "broken hip"}
    assert _shown(client, review, leaf=True) == {"heart attack", "type 2 diabetes", "broken hip"}
    assert _shown(client, review, leaf=False) == {"diabetes mellitus"}
    assert _shown(client, review, type="disease", leaf=True, text="2") == {"type 2 diabetes"}
    item = items_of(client, review)["??"]
    decide(client, review, item, kind="link", concepts=[{"id": "X:0"}, {"id": "X:6"}])
    assert _shown(client, review, type="Finding", part="decided") == {"??"}
    assert _shown(client, review, leaf=False, part="decided") == {"??"}


def test_only_what_is_shown_is_nothing(client: TestClient, review: int) -> None:
    path, given = f"/v1/reviews/{review}/none", {"type": "Finding", "leaf": True, "expected": 2}
    changed = client.post(path, json={**given, "expected": 5})
    assert (changed.status_code, "look again" in changed.json()["detail"]) == (409, True)
    assert client.post(path, json=given).json() == {"decided": 2}
    items = items_of(client, review)
    assert {one for one, item in items.items() if item["state"] == "nil"} == {
        "type 2 diabetes",
        "broken hip",
    }
    comment = items["broken hip"]["decision"]["comment"]
    assert comment == "decided with all of type Finding, nothing below"
    nothing = client.post(path, json={"expected": 3})
    assert nothing.status_code == 422
    assert "a text, a type or a leaf is expected" in nothing.json()["detail"]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"type": "Drug"}, "types: 'Drug' does not occur in small; it has"),
        ({"type": "\ufffd"}, "does not occur in small"),
        ({"leaf": "perhaps"}, "leaf"),
    ],
    ids=str,
)
def test_kinds_that_are_none_are_refused(
    client: TestClient, review: int, query: dict[str, str], problem: str
) -> None:
    answer = client.get(f"/v1/reviews/{review}/items", params=query)
    assert answer.status_code == 422
    assert problem in str(answer.json())
    body = client.post(f"/v1/reviews/{review}/none", json={**query, "expected": 1})
    assert body.status_code == 422
    assert {item["state"] for item in items_of(client, review).values()} == {"open"}


def test_a_surrogate_is_no_type(client: TestClient, review: int) -> None:
    body = '{"type": "\\ud800", "expected": 1}'
    answer = client.post(f"/v1/reviews/{review}/none", content=body)
    assert answer.status_code == 422


def test_a_terminology_says_whether_there_is_a_hierarchy_to_filter_by(
    start: Callable[..., TestClient], tmp_path: Path
) -> None:
    build(tmp_path / "flat", [Concept("X:0", "Heart attack"), Concept("X:1", "Broken hip")])
    client = start(index=(str(tmp_path / "flat"),))
    (flat,) = client.get("/v1/terminologies").json()["terminologies"]
    assert (flat["types"], flat["hierarchy"]) == ({}, False)
    review = make(client, "term\nheart attack\n")["id"]
    answer = client.get(f"/v1/reviews/{review}/items", params={"leaf": True})
    assert answer.status_code == 422
    assert "has no hierarchy" in answer.json()["detail"]
