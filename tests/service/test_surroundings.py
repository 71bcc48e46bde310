"""Around every route: ids, headers, limits, errors, the log and the counts."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from canonym.service import Settings, create_app, logs
from canonym.service.access import Buckets
from canonym.service.keys import Keys
from tests.logs import Log
from tests.service.conftest import BASE

Serving = Callable[..., TestClient]


def test_the_service_is_alive_and_ready(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_a_service_whose_indexes_are_not_open_is_not_ready(index: Path) -> None:
    # Without the lifespan nothing is opened.
    client = TestClient(create_app(Settings(index=(f"a={index}", f"b={index}"))), BASE)
    assert client.get("/healthz").status_code == 200
    waiting = client.get("/readyz")
    assert (waiting.status_code, waiting.json()["detail"]) == (503, "not open yet: a, b")
    assert waiting.headers["retry-after"] == "1"


def test_errors_are_problem_details_with_all_headers(client: TestClient) -> None:
    for method, path, status, title in (
        ("GET", "/nothing", 404, "Not Found"),
        ("PUT", "/healthz", 405, "Method Not Allowed"),
    ):
        answer = client.request(method, path, headers={"Origin": BASE})
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["title"] == title
        assert answer.json()["status"] == status
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["allow"] == "GET"


def test_a_request_keeps_its_id_or_gets_one(client: TestClient) -> None:
    kept = client.get("/healthz", headers={"X-Request-ID": "abc-1.2"})
    assert kept.headers["x-request-id"] == "abc-1.2"
    for bad in ("a b", "x" * 65, "<script>"):
        made = client.get("/healthz", headers={"X-Request-ID": bad}).headers["x-request-id"]
        assert re.fullmatch(r"[0-9a-f]{16}", made)


def test_other_origins_may_ask_before(serving: Serving, index: Path) -> None:
    asked = serving(index=(str(index),), allow_origin=("https://example.org",)).options(
        "/healthz",
        headers={
            "Origin": "https://example.org",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type",
        },
    )
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == "*"
    assert "authorization" in asked.headers["access-control-allow-headers"].lower()


def test_requests_are_counted_by_the_pattern_of_their_route(serving: Serving, index: Path) -> None:
    client = serving(index=(str(index),))
    client.get("/healthz")
    client.get("/healthz")
    client.get("/secret-mention")
    client.request("BREW", "/healthz")
    counted = client.get("/metrics").text
    assert 'canonym_requests_total{method="GET",route="/healthz",status="200"} 2.0' in counted
    assert 'method="GET",route="no route",status="404"} 1.0' in counted
    assert 'method="other",route="/healthz",status="405"} 1.0' in counted
    assert 'canonym_request_seconds_count{route="/healthz"} 3.0' in counted
    assert "secret-mention" not in counted


def test_an_index_that_fails_gives_500_without_a_trace(
    serving: Serving, index: Path, monkeypatch: pytest.MonkeyPatch, caplog: Log
) -> None:
    secret = "a secret mention"

    def fail(*_: object) -> None:
        raise RuntimeError(secret)

    monkeypatch.setattr("canonym.service.metrics.Metrics.text", fail)
    client = serving(index=(str(index),))
    answer = client.get("/metrics", headers={"Origin": BASE, "X-Request-ID": "r1"})
    assert answer.status_code == 500
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json() == {
        "type": "about:blank",
        "title": "Internal Server Error",
        "status": 500,
        "detail": "the service failed; its log says why, under this request id",
        "request_id": "r1",
    }
    failed = [record for record in caplog.records if record.exc_info]
    line = json.loads(logs.JsonFormatter(quote=False).format(failed[0]))
    assert line["error"] == "RuntimeError"
    assert any("fail" in one for one in line["trace"])
    assert secret not in json.dumps(line)
    quoted = json.loads(logs.JsonFormatter(quote=True).format(failed[0]))
    assert quoted["error_message"] == secret


@pytest.mark.parametrize("part", ["receive", "send"])
def test_a_client_that_goes_away_is_no_failure(client: TestClient, caplog: Log, part: str) -> None:
    caplog.set_level(logging.INFO)
    path = "/v1/link" if part == "receive" else "/healthz"
    scope: dict[str, Any] = {
        **{"type": "http", "method": "POST" if part == "receive" else "GET", "path": path},
        **{"headers": [], "query_string": b"", "root_path": "", "scheme": "http"},
        **{"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "http_version": "1.1"},
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        raise OSError("the connection is closed")

    asyncio.run(client.app(scope, receive, send))
    assert "the client went away" in caplog.messages
    assert not [record for record in caplog.records if record.levelno > logging.INFO]
    (line,) = (one for one in caplog.records if one.name == "canonym.service.requests")
    assert (line.facts["route"], line.facts["status"]) == (path, 499)  # type: ignore[attr-defined]


def _ask_slowly(client: TestClient, parts: list[bytes]) -> list[dict[str, Any]]:
    """Return what is sent where a body comes in parts, and its end never."""
    scope: dict[str, Any] = {
        **{"type": "http", "method": "POST", "path": "/v1/link", "headers": []},
        **{"query_string": b"", "root_path": "", "scheme": "http", "http_version": "1.1"},
        **{"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2)},
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if parts:
            return {"type": "http.request", "body": parts.pop(0), "more_body": True}
        await asyncio.sleep(60)
        raise AssertionError("nobody waits that long")

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(client.app(scope, receive, send))
    return sent


def test_a_body_has_to_come_in_time(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonym.service.bodies._PATIENCE", 0.05)
    head, body = _ask_slowly(client, [b'{"mentions": [', b'"x"'])
    assert head["status"] == 408
    assert "did not come in time" in json.loads(body["body"])["detail"]


def test_the_log_has_a_line_for_each_request(client: TestClient, caplog: Log) -> None:
    caplog.set_level(logging.INFO, "canonym.service.requests")
    client.get("/secret-mention?q=another", headers={"X-Request-ID": "r2"})
    (record,) = (one for one in caplog.records if one.name == "canonym.service.requests")
    token = logs.request_id.set("r2")
    line = json.loads(logs.JsonFormatter(quote=False).format(record))
    logs.request_id.reset(token)
    assert line["request_id"] == "r2"
    assert (line["method"], line["route"], line["status"]) == ("GET", "no route", 404)
    assert line["seconds"] >= 0
    assert "mention" not in json.dumps(line)
    assert "another" not in json.dumps(line)


def test_keys_open_routes_by_their_scope(serving: Serving, index: Path, tmp_path: Path) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    key = keys.add("robot", "read")
    client = serving(index=(str(index),), keys=str(keys.path))
    assert client.get("/healthz").status_code == 200
    refused = client.get("/metrics")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert client.get("/metrics", headers={"Authorization": f"Bearer {key}x"}).status_code == 401
    assert client.get("/metrics", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    assert client.get("/metrics", headers={"X-API-Key": key}).status_code == 200
    keys.revoke(keys.list()[0].id)
    assert client.get("/metrics", headers={"X-API-Key": key}).status_code == 401


def test_more_requests_than_allowed_have_to_wait(serving: Serving, index: Path) -> None:
    client = serving(index=(str(index),), rate_limit=2)
    assert [client.get("/metrics").status_code for _ in range(2)] == [200, 200]
    refused = client.get("/metrics")
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 30
    assert client.get("/healthz").status_code == 200


def test_buckets_are_refilled_evenly_and_each_caller_has_one() -> None:
    now = [0.0]
    buckets = Buckets(2, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(3)] == [0.0, 0.0, 30.0]
    assert buckets.take("b") == 0.0
    now[0] = 15.0
    assert buckets.take("a") == 15.0
    now[0] = 30.0
    assert buckets.take("a") == 0.0
    assert buckets.take("a") == 30.0
    for number in range(10_000):
        buckets.take(f"c{number}")
    assert len(buckets._levels) == 10_000
    assert buckets.take("a") == 0.0  # forgotten, so full again
