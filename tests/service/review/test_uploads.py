"""Uploads that take too much: they end within limits, and with the client that sent them."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from fastapi.testclient import TestClient

from canonym.review import upload as reading
from canonym.service.review import uploads

CELL = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
SPREADSHEET = "application/vnd.oasis.opendocument.spreadsheet"
SLOW = "import time; time.sleep(60)"


def _ods(rows: str) -> bytes:
    """A spreadsheet with a header and further rows."""
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    head = f"<table:table-row>{CELL.format('term')}</table:table-row>"
    content = (
        f"<office:document-content{names}><office:body><office:spreadsheet>"
        f'<table:table table:name="a">{head}{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", SPREADSHEET)
        archive.writestr("content.xml", content)
    return stream.getvalue()


def _repeated(text: str, rows: int = 1, cells: int = 1) -> str:
    cell = CELL.format(text).replace("-cell ", f'-cell table:number-columns-repeated="{cells}" ', 1)
    return f'<table:table-row table:number-rows-repeated="{rows}">{cell}</table:table-row>'


@pytest.fixture
def client(start: Callable[..., TestClient]) -> TestClient:
    """A client on the machine of a service with a database of its own."""
    return start()


def _readers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if _reads(child)]


def _reads(child: psutil.Process) -> bool:
    try:
        return child.status() != psutil.STATUS_ZOMBIE and "canonym.review.upload" in child.cmdline()
    except psutil.NoSuchProcess:  # it has ended meanwhile
        return False


@pytest.mark.parametrize(
    "rows",
    [
        _repeated("cold", rows=1_000_000_000),
        _repeated("cold" * 1000, rows=1_000_000),
        _repeated("", rows=1_000_000_000) + _repeated("cold"),
        _repeated("cold", cells=1_000_000_000),
        _repeated("cold", rows=100_000, cells=100_000),
    ],
    ids=["rows", "characters", "empty", "cells", "both"],
)
@pytest.mark.parametrize("path", ["/v1/tables", "/v1/reviews"])
def test_a_small_file_cannot_take_much(
    client: TestClient, rows: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "SECONDS", 8)
    before, began = psutil.Process().memory_info().rss, time.monotonic()
    params = {"filename": "t.ods", "name": "x", "column": "term"}
    answer = client.post(path, params=params, content=_ods(rows))
    assert answer.status_code in (200, 201, 422), answer.text
    if answer.status_code == 422:
        assert answer.json()["detail"].startswith("t.ods")
    assert time.monotonic() - began < 20
    assert psutil.Process().memory_info().rss - before < 200 << 20
    assert _readers() == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.ods", _ods("<table:table-row>")),
        ("t.ods", _ods(_repeated("cold") + "&lol;")),
        ("t.xlsx", _ods("")[:-30]),
        ("t.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 1000),
        ("", b"PK\x03\x04" + b"\0" * 100),
    ],
    ids=["damaged", "entity", "cut", "old", "pasted"],
)
def test_a_damaged_file_is_told_by_the_name_that_it_was_given_under(
    client: TestClient, name: str, content: bytes
) -> None:
    answer = client.post("/v1/tables", params={"filename": name}, content=content)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(name or "the text")


def test_reading_may_take_so_much_memory_and_time(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import resource; print(resource.getrlimit(resource.{}))"
    for name, limit in (("RLIMIT_DATA", 1 << 30), ("RLIMIT_CPU", reading.SECONDS)):
        command = f"from canonym.review.upload import _limit; _limit(); {code.format(name)}"
        printed = asyncio.run(_output(command))
        assert printed == f"({limit}, {limit})\n"
    command = "import os; from canonym.review.upload import _limit; _limit(); print(os.nice(0))"
    assert int(asyncio.run(_output(command))) == min(19, os.nice(0) + reading._NICE)
    monkeypatch.setattr(uploads, "SECONDS", 0.01)
    answer = client.post("/v1/tables", content=b"cold")
    assert answer.status_code == 422
    assert "takes more than 0.01 seconds to read" in answer.json()["detail"]
    assert _readers() == []


async def _output(code: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    return (await process.communicate())[0].decode()


def test_reading_ends_with_the_client(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    _read_slowly(monkeypatch)
    seen: list[int] = []

    async def receive() -> dict[str, Any]:
        if not seen:
            seen.append(0)
            return {"type": "http.request", "body": b"cold", "more_body": False}
        while not _readers():
            await asyncio.sleep(0.05)
        seen.append(len(_readers()))
        return {"type": "http.disconnect"}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        **{"type": "http", "method": "POST", "path": "/v1/tables", "root_path": ""},
        **{"headers": [(b"x-reviewer", b"ann"), (b"host", b"localhost")], "query_string": b""},
        **{"scheme": "http", "http_version": "1.1", "client": ("127.0.0.1", 1)},
        "server": ("127.0.0.1", 2),
    }
    began = time.monotonic()
    asyncio.run(client.app(scope, receive, send))
    assert (seen, sent, _readers()) == ([0, 1], [], [])
    assert time.monotonic() - began < 20


def _read_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process that reads an upload take a minute."""
    begin = asyncio.create_subprocess_exec

    async def slowly(program: str, *arguments: str, **options: Any) -> Any:
        return await begin(program, "-c", SLOW, *arguments, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", slowly)


def test_reading_ends_with_the_service(tmp_path: Path) -> None:
    (tmp_path / "upload").write_bytes(_ods(_repeated("", rows=1_000_000_000) * 50_000))
    command = [sys.executable, "-m", "canonym.review.upload", str(tmp_path), "t.ods"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=30) == 1


def test_reading_imports_nothing_from_where_the_service_was_started(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "csv.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    answer = client.post("/v1/tables", params={"filename": "t.csv"}, content=b"a,b\n1,2\n")
    assert (answer.status_code, answer.json()["n_rows"]) == (200, 1)


def test_memory_of_large_uploads_is_given_back(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back = threading.Event()
    monkeypatch.setattr("canonym.service.routing.give_memory_back", given_back.set)
    monkeypatch.setattr("canonym.service.routing._REST", 0.0)
    table = b"term\n" + b"cold\n" * 300
    ask = {"url": "/v1/tables", "params": {"filename": "t.csv"}}
    assert client.post(**ask, content=table).status_code == 200
    assert not given_back.wait(0.2)
    monkeypatch.setattr("canonym.service.routing.LARGE", 1000)
    assert client.post(**ask, content=table).status_code == 200
    assert given_back.wait(10)


def test_few_uploads_are_read_at_a_time(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    _read_slowly(monkeypatch)
    monkeypatch.setattr(uploads, "SECONDS", 3)
    monkeypatch.setattr(uploads, "_PATIENCE", 0.5)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(client.post, "/v1/tables", content=b"cold") for _ in range(4)]
        most = 0
        while not all(one.done() for one in asked):
            most = max(most, len(_readers()))
            time.sleep(0.05)
    assert sorted(one.result().status_code for one in asked) == [422, 422, 503, 503]
    assert most == 2


def test_a_reader_that_is_killed_is_a_message(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.SLOW", "import os; os.kill(os.getpid(), 9)")
    _read_slowly(monkeypatch)
    answer = client.post("/v1/tables", params={"filename": "t.csv"}, content=b"cold")
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("t.csv cannot be read within the limits")
