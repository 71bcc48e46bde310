"""Bodies of requests: who may send one, how fast, how large, and what it takes to read it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

import httpx2 as httpx
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.service.bodies import give_memory_back, parsed, read_form
from canonym.service.keys import Keys
from canonym.service.problems import Problem
from tests.memory import at_most

Serving = Callable[..., TestClient]


def _sent(
    client: TestClient, path: str, parts: list[bytes], headers: dict[str, str]
) -> tuple[int, int]:
    """Send a body in parts; the status of the answer, and how many parts were taken."""
    named = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {
        **{"type": "http", "method": "POST", "path": path, "headers": named, "root_path": ""},
        **{"query_string": b"", "scheme": "http", "http_version": "1.1"},
        **{"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2)},
    }
    statuses: list[int] = []
    taken = 0

    async def receive() -> dict[str, Any]:
        nonlocal taken
        if taken == len(parts):
            return {"type": "http.disconnect"}
        taken += 1
        return {"type": "http.request", "body": parts[taken - 1], "more_body": taken < len(parts)}

    async def send(message: Any) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    asyncio.run(client.app(scope, receive, send))
    return (statuses or [0])[0], taken


_JSON = {"Content-Type": "application/json"}
_PATHS = (
    *("/v1/link", "/v1/annotate", "/v1/synonyms", "/v1/forbidden", "/v1/tables", "/v1/reviews"),
    *("/v1/reviews/1/items/1/decisions", "/v1/reviews/1/accept", "/reconcile", "/reconcile/small"),
    *("/reconcile/small/match", "/reconcile/v1/match", "/reconcile/small/extend"),
)


@pytest.mark.parametrize("path", _PATHS)
def test_no_byte_is_read_of_who_may_not_ask(
    serving: Serving, index: Path, tmp_path: Path, path: str
) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    key = keys.add("robot", "admin")
    client = serving(
        index=(str(index),), keys=str(keys.path), rate_limit=1, reviews=str(tmp_path / "r.db")
    )
    body = [b'{"mentions": [']
    assert _sent(client, path, body, _JSON) == (401, 0)
    assert _sent(client, path, body, _JSON) == (429, 0)
    long = {"X-API-Key": key, "Content-Length": "99000000", **_JSON}
    assert _sent(client, path, body, long) in ((413, 0), (422, 0))  # 422 without a name
    assert _sent(client, path, body, long) == (429, 0)


def test_a_request_of_a_higher_scope_counts_once(
    serving: Serving, index: Path, tmp_path: Path
) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    headers = {"X-API-Key": keys.add("team", "review")}
    client = serving(index=(str(index),), keys=str(keys.path), rate_limit=2)
    for status in (422, 422, 429):
        assert client.post("/v1/synonyms", json={}, headers=headers).status_code == status


async def _asked(client: TestClient, content: AsyncIterator[bytes] | bytes) -> int:
    transport = httpx.ASGITransport(client.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as asking:
        return (await asking.post("/v1/link", content=content, headers=_JSON)).status_code


def test_memory_of_large_bodies_is_given_back(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back = threading.Event()
    monkeypatch.setattr("canonym.service.routing.give_memory_back", given_back.set)
    monkeypatch.setattr("canonym.service.routing._REST", 0.0)
    assert client.post("/v1/link", json={"mentions": ["hip"]}).status_code == 200
    assert not given_back.wait(0.2)
    assert client.post("/v1/link", json={"mentions": ["x" * 1_000_001]}).status_code == 422
    assert given_back.wait(10)


def test_what_only_a_circle_holds_is_given_back() -> None:
    class Node:
        other: Any = None

    node = Node()
    node.other, gone = node, weakref.ref(node)
    del node
    give_memory_back()
    assert gone() is None


def test_slow_senders_hold_no_place_of_large_bodies(client: TestClient) -> None:
    large = json.dumps({"mentions": ["cold"], "ids": ["X" * 1000] * 1500}).encode()
    assert len(large) > 1_000_000

    async def slow(until: asyncio.Event) -> AsyncIterator[bytes]:
        yield large[:-1]
        await until.wait()
        yield large[-1:]

    async def main() -> list[int]:
        until = asyncio.Event()
        senders = [asyncio.create_task(_asked(client, slow(until))) for _ in range(5)]
        await asyncio.sleep(0.2)
        quick = await asyncio.wait_for(_asked(client, large), 10)
        until.set()
        return [quick, *await asyncio.gather(*senders)]

    assert len(set(asyncio.run(main()))) == 1  # all have the same answer in the end


def test_all_bodies_on_their_way_have_a_limit(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonym.service.bodies._MOST_HELD", 2000)
    body = json.dumps({"mentions": ["cold"]}).encode()

    async def slow(until: asyncio.Event) -> AsyncIterator[bytes]:
        yield body + b" " * 1500
        await until.wait()

    async def main() -> tuple[int, int, int, int]:
        until = asyncio.Event()
        first = asyncio.create_task(_asked(client, slow(until)))
        await asyncio.sleep(0.1)
        refused, small = await _asked(client, body + b" " * 600), await _asked(client, body)
        until.set()
        return refused, small, await first, await _asked(client, body + b" " * 600)

    assert asyncio.run(main()) == (503, 200, 200, 200)


def test_two_lengths_are_refused(client: TestClient) -> None:
    headers = {"Content-Length": "5", "Transfer-Encoding": "chunked", **_JSON}
    assert _sent(client, "/v1/link", [b"{}"], headers) == (400, 0)
    assert _sent(client, "/healthz", [], headers) == (400, 0)


# --- parsing --------------------------------------------------------------------------------------


def test_json_of_too_many_members_is_not_parsed(client: TestClient) -> None:
    body = b'{"mentions": [' + b",".join([b"[]"] * 1_100_000) + b"]}"
    for path in ("/v1/link", "/reconcile/small", "/reconcile/small/match"):
        answer = client.post(path, content=body, headers=_JSON)
        assert (answer.status_code, answer.json()["limit"]) == (413, 1_000_000), path
    texts = json.dumps({"texts": [", [" * 30_000] * 8, "k": 1}).encode()
    assert client.post("/v1/annotate", content=texts, headers=_JSON).status_code == 200


def test_large_json_is_parsed_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def loads(_: bytes) -> Any:
        threads.append(threading.current_thread().name)

    monkeypatch.setattr("canonym.service.bodies.json.loads", loads)
    asyncio.run(parsed(b"[1]"))
    asyncio.run(parsed(b"[1]" + b" " * 200_000))
    assert threads[0] == threading.main_thread().name != threads[1]


@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1, max_size=5))
def test_a_form_is_read_as_it_was_written(fields: dict[str, str]) -> None:
    fields = {clean(name): clean(value) for name, value in fields.items()}
    assert asyncio.run(read_form(urlencode(fields).encode())) == fields


def clean(text: str) -> str:
    """Text that UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


@pytest.mark.parametrize("part", [1, 2, 3, 7])
def test_parts_of_a_form_are_cut_between_escapes(
    monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.setattr("canonym.service.bodies._PART", part)
    text = "a {ü}% +" * 20
    assert asyncio.run(read_form(f"q={quote_plus(text)}".encode())) == {"q": text}
    assert asyncio.run(read_form(b"q=100%&r=%zz%4")) == {"q": "100%", "r": "%zz%4"}


def test_a_form_takes_no_more_than_a_few_times_its_size() -> None:
    body = b"queries=" + b"%7B%22" * 500_000
    with at_most(5 * len(body)):
        asyncio.run(read_form(body))


def test_forms_of_many_fields_or_no_text_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no form of at most 100 fields"):
        asyncio.run(read_form(b"&".join([b"a=1"] * 101)))
    with pytest.raises(InvalidInput, match="no form in UTF-8"):
        asyncio.run(read_form(b"a=%ff"))
    assert asyncio.run(read_form(b"")) == {}


# --- keys -----------------------------------------------------------------------------------------


def test_locked_keys_hold_up_nobody_else(serving: Serving, index: Path, tmp_path: Path) -> None:
    import sqlite3

    keys = Keys.create(tmp_path / "keys.db")
    headers = {"X-API-Key": keys.add("robot", "admin")}
    client = serving(index=(str(index),), keys=str(keys.path))

    async def main() -> tuple[float, list[Any]]:
        transport = httpx.ASGITransport(client.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as asking:
            keyed = [
                asyncio.create_task(asking.get("/metrics", headers=headers)) for _ in range(20)
            ]
            await asyncio.sleep(0.1)
            began = time.monotonic()
            assert (await asking.get("/healthz")).status_code == 200
            return time.monotonic() - began, await asyncio.gather(*keyed)

    lock = sqlite3.connect(keys.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    healthy, answers = asyncio.run(main())
    assert healthy < 1
    assert {answer.status_code for answer in answers} == {503}
    assert {answer.headers["retry-after"] for answer in answers} == {"1"}
    assert time.monotonic() - began < 8
    lock.execute("ROLLBACK")
    lock.close()
    time.sleep(1.1)
    assert client.get("/metrics", headers=headers).status_code == 200
    with pytest.raises(Problem, match="at most"):
        asyncio.run(parsed(b"," * 1_100_000))
