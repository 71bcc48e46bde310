"""Who sees and does what: the routes that the key of each scope opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from canonym.service.keys import SCOPES, Keys

NOBODY = {"GET /healthz", "GET /readyz", "GET /reconcile/{terminology}"}
NOBODY |= {"GET /reconcile/{terminology}/v1"}  # the manifests, which say how keys are given
READ = {
    *("GET /metrics", "POST /v1/link", "POST /v1/annotate", "GET /v1/search"),
    *("GET /v1/concepts/{id}", "GET /v1/terminologies", "GET /v1/synonyms", "GET /v1/forbidden"),
}
REVIEW = {
    *("POST /v1/synonyms", "DELETE /v1/synonyms", "POST /v1/forbidden", "DELETE /v1/forbidden"),
    *("POST /v1/tables", "GET /v1/reviews", "POST /v1/reviews", "GET /v1/reviews/{review_id}"),
}
OF_REVIEWS = "/v1/reviews/{review_id}"
ADMIN = {"GET /v1/keys", "DELETE /v1/keys/{id}"}


@pytest.fixture
def keyed(
    serving: Callable[..., TestClient], index: Path, tmp_path: Path
) -> tuple[TestClient, dict[str, str]]:
    """A service with a key of each scope, and a review of somebody."""
    keys = Keys.create(tmp_path / "keys.db")
    made = {scope: keys.add(scope, scope) for scope in SCOPES}
    client = serving(index=(str(index),), keys=str(keys.path), reviews=str(tmp_path / "reviews.db"))
    headers = {"X-API-Key": made["review"]}
    answer = client.post("/v1/reviews?name=Mine", content=b"secret diagnosis", headers=headers)
    assert answer.status_code == 201
    return client, made


def test_each_scope_opens_its_routes_and_no_others(
    keyed: tuple[TestClient, dict[str, str]],
) -> None:
    client, keys = keyed
    operations = [
        (method.upper(), path)
        for path, described in client.get("/openapi.json").json()["paths"].items()
        for method in described
    ]
    opened: dict[str, set[str]] = {}
    for scope in ("", *SCOPES):
        headers = {"X-API-Key": keys[scope]} if scope else {}
        opened[scope] = {
            f"{method} {path}"
            for method, path in operations
            if _status(client, method, path, headers) not in (401, 403)
        }
    assert opened[""] == NOBODY
    assert opened["review"] - opened["read"] >= REVIEW
    assert all(one in REVIEW or OF_REVIEWS in one for one in opened["review"] - opened["read"])
    assert opened["admin"] - opened["review"] == ADMIN
    reconciling = {one for one in opened["read"] if "/reconcile/" in one}
    assert opened["read"] - reconciling == READ | (NOBODY - reconciling)


def _status(client: TestClient, method: str, path: str, headers: dict[str, str]) -> int:
    given = {"review_id": "1", "item_id": "1", "terminology": "small", "kind": "entity"}
    address = path.format_map({**given, "id": "none"})
    return client.request(method, address, headers=headers).status_code


@pytest.mark.parametrize("path", ["", "/1", "/1/items", "/1/items/1", "/1/export", "/1/lessons"])
def test_a_key_that_reads_sees_no_table_of_others(
    keyed: tuple[TestClient, dict[str, str]], path: str
) -> None:
    client, keys = keyed
    for headers, status in (({}, 401), ({"X-API-Key": keys["read"]}, 403)):
        answer: Any = client.get(f"/v1/reviews{path}", headers=headers)
        assert answer.status_code == status
        assert "secret" not in answer.text
    headers = {"X-API-Key": keys["review"]}
    assert client.get(f"/v1/reviews{path}", headers=headers).status_code == 200
