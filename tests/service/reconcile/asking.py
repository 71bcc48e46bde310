"""Requests as clients of the Reconciliation API send them."""

from __future__ import annotations

import json
from typing import Any

from fastapi.testclient import TestClient

FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"}
BASE = "/reconcile/small"


def post_form(client: TestClient, base: str = BASE, **fields: Any) -> Any:
    """Send fields as OpenRefine does, and return what comes back."""
    texts = {
        key: field if isinstance(field, str) else json.dumps(field) for key, field in fields.items()
    }
    answer = client.post(base, data=texts)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ask(client: TestClient, base: str = BASE, **query: Any) -> list[dict[str, Any]]:
    """Return the candidates of one query of 0.2."""
    found: list[dict[str, Any]] = post_form(client, base, queries={"q": query})["q"]["result"]
    return found


def match(client: TestClient, *conditions: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    """Return the candidates of one query of 1.0-draft."""
    answer = client.post(f"{BASE}/match", json={"queries": [{"conditions": conditions, **query}]})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["results"][0]["candidates"]
    return found


def name(text: str) -> dict[str, Any]:
    """Return a condition on the name."""
    return {"matchType": "name", "propertyValue": text}


def property_is(id_: str, value: Any, **rest: Any) -> dict[str, Any]:
    """Return a condition on a property."""
    return {"matchType": "property", "propertyId": id_, "propertyValue": value, **rest}


def ids(candidates: list[dict[str, Any]]) -> list[str]:
    """Return the ids of candidates."""
    return [one["id"] for one in candidates]
