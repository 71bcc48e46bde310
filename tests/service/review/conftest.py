"""Services with reviews, and their clients."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from canonym.service import Settings, create_app
from tests.chromium import pages
from tests.service.conftest import build
from tests.service.review.page import WIDE
from tests.service.test_server import Server

BASE = "http://127.0.0.1:8000"
TABLE = """term,near,n
heart attack,had a heart attack,5
broken hip,,2
heart attack,had a heart attack,1
"""


@pytest.fixture
def start(tmp_path: Path, index: Path, serving: Callable[..., TestClient]) -> Any:
    """Start services with a database of their own; clients are on the same machine."""

    def start_(**settings: Any) -> TestClient:
        given = {"index": (str(index),), "reviews": str(tmp_path / "reviews.db"), **settings}
        client = serving(**given)
        client.base_url = BASE  # type: ignore[assignment]
        client.headers["X-Reviewer"] = "ann"
        return client

    return start_


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory, index: Path) -> Iterator[TestClient]:
    """A client of a service in which tests make a review each, and see no other."""
    place = tmp_path_factory.mktemp("reviews") / "reviews.db"
    settings = Settings(index=(str(index),), reviews=str(place))
    with TestClient(create_app(settings), BASE, headers={"X-Reviewer": "ann"}) as client:
        yield client


def make(client: TestClient, table: str = TABLE, **query: str) -> dict[str, Any]:
    query = {"name": "Mine", "filename": "t.csv", "column": "term", **query}
    answer = client.post("/v1/reviews", params=query, content=table.encode())
    assert answer.status_code == 201, answer.text
    return linked(client, answer.json()["id"])


def linked(client: TestClient, review: int) -> dict[str, Any]:
    for _ in range(200):
        found: dict[str, Any] = client.get(f"/v1/reviews/{review}").json()
        if not found["waiting"]:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not linked: {found}")


def items_of(client: TestClient, review: int, part: str = "all") -> dict[str, dict[str, Any]]:
    found = client.get(f"/v1/reviews/{review}/items", params={"part": part}).json()["items"]
    return {one["mention"]: one for one in found}


def decide(client: TestClient, review: int, item: dict[str, Any], **given: Any) -> Any:
    given = {"version": item["version"], **given}
    return client.post(f"/v1/reviews/{review}/items/{item['id']}/decisions", json=given)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index that a test builds again."""
    folder = tmp_path_factory.mktemp("browser") / "small"
    build(folder)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address of a real server."""
    server = Server("--index", folder, "--reviews", folder.parent / "reviews.db")
    with contextlib.closing(server):
        yield server.address


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Open pages for people; an error in a script fails the test."""
    with pages(browser) as open_page:

        def visit_(path: str, name: str, size: dict[str, int] = WIDE) -> Any:
            page = open_page(address + path, viewport=size)
            page.fill("#reviewer", name)
            page.keyboard.press("Tab")
            return page

        yield visit_
