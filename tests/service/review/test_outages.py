"""A database of reviews that goes away while the service works, and comes back."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from canonym.review import proposals
from canonym.review.database import Unreachable
from tests.logs import Log
from tests.postgresql import cluster

N = 200  # mentions, which are linked in several batches


class Outage:
    """A database in one place, which can be taken away and brought back."""

    def __init__(self, place: str, take: Callable[[], None], bring: Callable[[], None]) -> None:
        self.place = place
        self.take = take
        self.bring = bring


@pytest.fixture(params=["sqlite", "postgresql"])
def outage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Outage]:
    """A database of either kind: a file that is moved, or a server that is stopped."""
    if request.param == "sqlite":
        place, away = tmp_path / "reviews.db", tmp_path / "away"

        def move(source: Path, target: Path) -> None:
            target.mkdir(exist_ok=True)
            for file in source.glob("reviews.db*"):
                shutil.move(file, target / file.name)

        yield Outage(str(place), lambda: move(tmp_path, away), lambda: move(away, tmp_path))
        return
    with cluster() as started:
        address = started.create().replace("canonym@", "canonym:secret@")
        yield Outage(address, started.stop, started.start)


def _until(holds: Callable[[], Any], what: str) -> Any:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if found := holds():
            return found
        time.sleep(0.05)
    raise AssertionError(f"not so in 30 seconds: {what}")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Two events: linking has come to its second batch, and it may go on."""
    reached, free = threading.Event(), threading.Event()
    calls = []
    proposed = proposals._proposed

    def slow(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            reached.set()
            free.wait(60)
        return proposed(*arguments)

    monkeypatch.setattr(proposals, "_proposed", slow)
    yield reached, free
    free.set()


def _begin(client: TestClient, name: str) -> int:
    content = "\n".join(f"heart attack {n}" for n in range(N)).encode()
    answer = client.post(f"/v1/reviews?name={name}", content=content)
    assert answer.status_code == 201, answer.text
    number: int = answer.json()["id"]
    return number


def test_a_review_goes_on_when_its_database_is_back(
    serving: Callable[..., TestClient],
    index: Path,
    outage: Outage,
    held: tuple[threading.Event, threading.Event],
    caplog: Log,
) -> None:
    reached, free = held
    client = serving(index=(str(index),), reviews=outage.place)
    client.base_url = "http://127.0.0.1:8000"  # type: ignore[assignment]
    client.headers["X-Reviewer"] = "ann"
    review = _begin(client, "first")
    assert client.get("/readyz").status_code == 200
    assert reached.wait(30)
    outage.take()
    free.set()
    for path in ("/readyz", f"/v1/reviews/{review}", "/v1/reviews", f"/v1/reviews/{review}/export"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5"), path
        assert "cannot use the database of reviews now" in answer.json()["detail"]
    assert client.post(f"/v1/reviews/{review}/link").status_code == 503
    assert client.get("/healthz").status_code == 200
    assert client.post("/v1/link", json={"mentions": ["cold"]}).status_code == 200
    _until(lambda: "linking waits for the database" in caplog.text, "the log says so")
    outage.bring()
    _until(lambda: client.get("/readyz").status_code == 200, "the service is ready")
    found = _until(
        lambda: not (now := client.get(f"/v1/reviews/{review}").json())["waiting"] and now, "linked"
    )
    assert (found["total"], found["problem"]) == (N, "")
    assert client.post(f"/v1/reviews/{review}/link").status_code == 200
    assert _begin(client, "second") > review
    assert "secret" not in caplog.text
    traces = [record for record in caplog.records if record.exc_info]
    assert traces == []
    assert [one for one in caplog.records if one.levelno == logging.ERROR] != []


def test_a_problem_that_cannot_be_kept_does_not_stop_a_review_for_ever(
    serving: Callable[..., TestClient],
    index: Path,
    outage: Outage,
    monkeypatch: pytest.MonkeyPatch,
    caplog: Log,
) -> None:
    client = serving(index=(str(index),), reviews=outage.place)
    client.base_url = "http://127.0.0.1:8000"  # type: ignore[assignment]
    client.headers["X-Reviewer"] = "ann"

    def fail(*_: object) -> None:
        outage.take()
        raise RuntimeError("the index is broken")

    with monkeypatch.context() as patch:
        patch.setattr("canonym.service.review.jobs.link_waiting", fail)
        client.post("/v1/reviews?name=first", content=b"cold")  # 201, or 503 if it is too late
        _until(lambda: "linking waits for the database" in caplog.text, "it could not be kept")
    assert client.get("/readyz").status_code == 503
    outage.bring()
    _until(lambda: client.get("/readyz").status_code == 200, "the service is ready")
    _until(lambda: not client.get("/v1/reviews/1").json()["waiting"], "linked")


def test_an_export_that_cannot_be_made_is_not_begun(
    serving: Callable[..., TestClient],
    index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: Log,
) -> None:
    client = serving(index=(str(index),), reviews=str(tmp_path / "reviews.db"))
    client.base_url = "http://127.0.0.1:8000"  # type: ignore[assignment]
    client.headers["X-Reviewer"] = "ann"
    review = _begin(client, "first")

    def rows(*_: object) -> Iterator[Any]:
        raise Unreachable("reviews.db", "is gone")
        yield

    monkeypatch.setattr("canonym.review.store.Store.rows", rows)
    answer = client.get(f"/v1/reviews/{review}/export")
    assert answer.status_code == 503
    assert "cannot use the database of reviews now" in answer.text
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_file_that_was_removed_is_not_made_again(
    serving: Callable[..., TestClient], index: Path, tmp_path: Path
) -> None:
    place = tmp_path / "reviews.db"
    client = serving(index=(str(index),), reviews=str(place))
    assert client.get("/readyz").status_code == 200
    place.unlink()
    time.sleep(0.1)
    assert client.get("/readyz").status_code == 503
    assert not place.exists()


def test_a_server_that_starts_in_an_outage_is_ready_later(
    serving: Callable[..., TestClient], index: Path, outage: Outage
) -> None:
    client = serving(index=(str(index),), reviews=outage.place)
    assert client.get("/readyz").status_code == 200
    outage.take()
    if "://" not in outage.place:  # a worker that is new makes a new file
        return
    other = serving(index=(str(index),), reviews=outage.place)
    assert other.get("/readyz").status_code == 503
    assert other.get("/healthz").status_code == 200
    outage.bring()
    _until(lambda: other.get("/readyz").status_code == 200, "the service is ready")


def test_a_database_that_was_dropped_and_made_again_gets_its_tables(
    serving: Callable[..., TestClient], index: Path
) -> None:
    with cluster() as started:
        place = started.create()
        name = place.partition("@/")[2].partition("?")[0]
        client = serving(index=(str(index),), reviews=place)
        client.base_url = "http://127.0.0.1:8000"  # type: ignore[assignment]
        client.headers["X-Reviewer"] = "ann"
        _begin(client, "first")
        started.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        _until(lambda: client.get("/readyz").status_code == 503, "the database is gone")
        started.execute(f'CREATE DATABASE "{name}"')
        _until(lambda: client.get("/readyz").status_code == 200, "the service is ready")
        assert client.get("/v1/reviews").json() == {"reviews": []}
