"""The real server: started by the command, asked over the network, reloaded, stopped."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import psutil
import pytest
import uvicorn
from fastapi.testclient import TestClient

from canonym import Name
from canonym.errors import InvalidInput
from canonym.service.connections import Connection
from canonym.service.keys import Keys
from canonym.service.server import bind, check_host
from tests.cli.running import command, run
from tests.conftest import clean_environment
from tests.service.conftest import RECORDS, build


def announced(stderr: IO[str], pattern: str) -> tuple[str, ...]:
    """Return what the line says that a server is there.

    Lines before it tell every 30 seconds how far the packaged index is, where that is built.
    """
    before: list[str] = []
    for line in stderr:
        if match := re.match(pattern, line):
            return match.groups()
        before.append(line)
    raise AssertionError(f"the server did not start: {''.join(before)}")


class Server:
    """``canonym serve`` in a process."""

    def __init__(self, *arguments: str | Path) -> None:
        self.process = subprocess.Popen(
            command("serve", "--port", "0", *map(str, arguments)),
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(),
        )
        assert self.process.stderr is not None
        self.names, self.address = announced(self.process.stderr, r"Serving (.+) on (http://\S+);")
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr:
            self.lines.extend(self.process.stderr)

    def get(self, path: str, body: Any = None) -> Any:
        """Return an answer; the socket waits for a server that is still starting."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read().decode()
        return json.loads(text) if text.startswith("{") else text

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def close(self) -> None:
        """Stop it where it still runs, and wait for the rest of the log."""
        if self.process.poll() is None:
            self.stop()
        self._reader.join()


Start = Callable[..., Server]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start servers that end with the test, however it ends."""
    servers: list[Server] = []

    def start_(*arguments: str | Path) -> Server:
        servers.append(Server(*arguments))
        return servers[-1]

    yield start_
    for server in servers:
        server.process.kill()
        server.close()


@pytest.fixture(scope="module")
def two_workers(index: Path) -> Iterator[Server]:
    """A server of two workers, whom tests may end."""
    with contextlib.closing(Server("--index", index, "--workers", "2")) as server:
        yield server
        assert server.stop() == 0


def test_lines_of_progress_go_before_the_address() -> None:
    came = io.StringIO("Encoding names: 31 s\nServing small on http://127.0.0.1:1; Ctrl-C\n{}\n")
    assert announced(came, r"Serving (.+) on (http://\S+);") == ("small", "http://127.0.0.1:1")
    assert came.read() == "{}\n"
    with pytest.raises(AssertionError, match="did not start: Error: no such file"):
        announced(io.StringIO("Error: no such file\n"), "Serving")


def test_a_server_answers_and_logs_without_mentions(index: Path, start: Start) -> None:
    server = start("--index", index, "--index", f"other={index}")
    assert server.names == "small, other"
    assert server.get("/readyz") == {"status": "ready"}
    link = server.get("/v1/link", {"terminology": "other", "mentions": ["heart attack"]})
    assert link["links"][0]["id"] == "X:1"
    server.get("/v1/search?terminology=other&prefix=heart")
    server.get("/v1/annotate", {"terminology": "small", "texts": ["a heart attack"]})
    assert server.stop() == 0
    server.close()
    lines = [json.loads(line) for line in server.lines]
    requests = [line for line in lines if line["logger"] == "canonym.service.requests"]
    assert [(line["route"], line["status"]) for line in requests] == [
        ("/readyz", 200),
        ("/v1/link", 200),
        ("/v1/search", 200),
        ("/v1/annotate", 200),
    ]
    assert all(re.fullmatch(r"[0-9a-f]{16}", line["request_id"]) for line in requests)
    assert "heart" not in "".join(server.lines)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_stop_as_soon_as_it_serves_is_no_failure(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Start, workers: str
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    server = start("--index", index, "--workers", workers)
    assert server.stop() == 0
    assert [*tmp_path.iterdir()] == []


def test_a_large_answer_leaves_no_memory(index: Path, tmp_path: Path, start: Start) -> None:
    # glibc kept 36 MB for each thread that made such an answer.
    server = start("--index", index, "--reviews", tmp_path / "reviews.db")

    def shown(table: bytes) -> int:
        headers = {"Content-Type": "application/octet-stream", "X-Reviewer": "ann"}
        request = urllib.request.Request(server.address + "/v1/tables", table, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return len(answer.read())

    def memory() -> int:
        return int(psutil.Process(server.process.pid).memory_info().rss)

    server.get("/v1/link", {"mentions": ["heart attack"]})
    shown(b"term\ncold")
    before = memory()
    assert shown(b"term\n" + b"x" * 9_000_000) > 9_000_000
    until = time.monotonic() + 15
    while memory() - before > 15e6 and time.monotonic() < until:
        time.sleep(0.1)
    assert memory() - before < 15e6


def test_a_rebuilt_index_is_followed_without_a_lost_request(
    index: Path, tmp_path: Path, start: Start
) -> None:
    folder = Path(shutil.copytree(index, tmp_path / "small"))
    server = start("--index", folder, "--threads", "4")

    def ask() -> str:
        links = server.get("/v1/link", {"mentions": ["coronary"], "k": 1})["links"]
        return str(links[0]["candidates"][0]["name"])

    assert ask() != "coronary"
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask) for _ in range(100)]
        build(folder, [*RECORDS, Name("coronary", "X:1")], overwrite=True)
        asked += [pool.submit(ask) for _ in range(20)]
        names = [one.result() for one in asked]
    assert names[-1] == "coronary"
    assert set(names) <= {names[0], "coronary"}


def test_a_stop_waits_for_open_requests(index: Path, start: Start) -> None:
    server = start("--index", index)
    server.get("/readyz")
    body = json.dumps({"mentions": ["heart attack"]}).encode()
    host, port = server.address.removeprefix("http://").split(":")
    head = f"POST /v1/link HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:10])
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert server.process.poll() is None
        connection.sendall(body[10:])
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b'"id":"X:1"' in answer
    assert server.process.wait(timeout=60) == 0
    with pytest.raises(urllib.error.URLError):
        server.get("/healthz")


def test_a_connection_that_asks_nothing_is_closed(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonym.service.connections._SECONDS", 0.3)

    async def main() -> tuple[bytes, bytes, float]:
        config = uvicorn.Config(client.app, http=Connection, lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        with bind("127.0.0.1", 0) as bound:
            serving = asyncio.create_task(server.serve(sockets=[bound]))
            port = bound.getsockname()[1]
            began = time.monotonic()
            silent, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(2):  # a head that goes on for ever
                writer.write(b"GET /healthz HT")
                await asyncio.sleep(0.05)
            nothing = await silent.read()
            writer.close()
            waited = time.monotonic() - began
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = await reader.read()  # until the server closes
            writer.close()
            server.should_exit = True
            await serving
            return nothing, answer, waited

    nothing, answer, waited = asyncio.run(main())
    assert nothing == b""
    assert 0.2 < waited < 3
    assert answer.startswith(b"HTTP/1.1 200")


def test_workers_share_a_socket_and_their_counts(two_workers: Server) -> None:
    def counted() -> float:
        asked = r'canonym_requests_total\{method="GET",route="/healthz",status="200"\} (\S+)'
        return float(re.findall(asked, two_workers.get("/metrics"))[0])

    two_workers.get("/healthz")
    before = counted()
    for _ in range(10):
        two_workers.get("/healthz")
    assert counted() == before + 10


def test_workers_end_with_their_parent(index: Path, start: Start) -> None:
    server = start("--index", index, "--workers", "2")
    server.get("/healthz")
    workers = psutil.Process(server.process.pid).children()
    assert len(workers) >= 2
    server.process.kill()
    assert psutil.wait_procs(workers, timeout=20)[1] == []
    port = int(server.address.rpartition(":")[2])
    with bind("127.0.0.1", port):
        pass


def _workers(server: Server) -> set[int]:
    children = psutil.Process(server.process.pid).children()
    return {one.pid for one in children if "spawn_main" in " ".join(one.cmdline())}


def _replaced(server: Server, pid: int) -> str:
    """Return what the log says of a worker that another took the place of."""
    until = time.monotonic() + 40
    while time.monotonic() < until:
        for line in map(json.loads, server.lines):
            if line["logger"] == "canonym.service.workers" and f"worker {pid} " in line["message"]:
                assert line["level"] == "ERROR"
                return str(line["message"])
        time.sleep(0.1)
    raise AssertionError(f"no line of the log says that {pid} ended")


@pytest.mark.parametrize("asked", [False, True])
def test_the_log_says_that_a_worker_ended(asked: bool, two_workers: Server) -> None:
    server = two_workers
    server.get("/healthz")
    before = _workers(server)
    pid = min(before, key=lambda pid: psutil.Process(pid).create_time())  # one that serves
    before.remove(pid)
    if asked:
        psutil.Process(pid).suspend()
        time.sleep(2)  # its parent waits for its answer now, for a minute if need be
    psutil.Process(pid).kill()
    told = re.fullmatch(
        rf"the worker {pid} ended with -9; the worker (\d+) takes its place", _replaced(server, pid)
    )
    assert told is not None
    assert server.get("/v1/link", {"mentions": ["heart attack"]})["links"][0]["id"] == "X:1"
    assert _workers(server) == before | {int(told[1])}


@pytest.mark.slow
def test_a_busy_worker_is_not_ended_but_one_that_stays_silent_is(
    index: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import sys, canonym.service.server as s; s.SILENCE = 9; from canonym.cli import main; "
    monkeypatch.setattr(
        "tests.service.test_server.command",
        lambda *words: [sys.executable, "-c", f"{code} sys.argv[1:] = {[*words]!r}; main()"],
    )
    server = start("--index", index, "--workers", "2")
    server.get("/healthz")
    before = _workers(server)
    pid = next(iter(before))
    psutil.Process(pid).suspend()  # as a process that does something else
    time.sleep(6.5)  # of which uvicorn would forgive 5
    psutil.Process(pid).resume()
    time.sleep(1.5)
    assert _workers(server) == before
    psutil.Process(pid).suspend()
    assert "was silent for 9 s, and is killed" in _replaced(server, pid)
    assert server.get("/healthz") == {"status": "ok"}
    assert server.stop() == 0


def _flooded(client: TestClient, n: int, text: bytes) -> tuple[list[bytes], int, int]:
    """Open connections that send a text, then ask on another one.

    Returns its answer and an answer on one that asks already, how many are open, and how many in
    the end.
    """

    async def main() -> tuple[list[bytes], int, int]:
        config = uvicorn.Config(client.app, http=Connection, lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        body = b'{"mentions": ["cold"]}'
        head = b"POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with bind("127.0.0.1", 0) as bound:
            serving = asyncio.create_task(server.serve(sockets=[bound]))
            port = bound.getsockname()[1]
            asking = await asyncio.open_connection("127.0.0.1", port)
            asking[1].write(head + b"Content-Length: %d\r\n\r\n" % len(body))
            await asyncio.sleep(0.1)
            others = [await asyncio.open_connection("127.0.0.1", port) for _ in range(n)]
            for _, writer in others:
                writer.write(text)
            await asyncio.sleep(0.2)
            n_open = len(server.server_state.connections)
            last = await asyncio.open_connection("127.0.0.1", port)
            last[1].write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answers = [await last[0].read()]
            asking[1].write(body)
            answers.append(await asking[0].readline())
            for _, writer in [asking, last, *others]:
                writer.close()
            await asyncio.sleep(0.2)
            left = len(server.server_state.connections)
            server.should_exit = True
            await serving
            return answers, n_open, left

    return asyncio.run(main())


@pytest.mark.parametrize(
    "text", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"]
)
def test_idle_connections_make_room(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    monkeypatch.setattr("canonym.service.connections.most_connections", lambda: 10)
    answers, n_open, left = _flooded(client, 40, text)
    assert [answer[:12] for answer in answers] == [b"HTTP/1.1 200"] * 2
    assert (n_open, left) == (10, 0)


def test_where_all_connections_ask_the_new_one_is_refused(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonym.service.connections.most_connections", lambda: 10)
    asking = b"POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
    answers, n_open, left = _flooded(client, 40, asking)
    assert answers[0].startswith(b"HTTP/1.1 503")
    assert b"Retry-After" in answers[0]
    assert answers[1][:12] == b"HTTP/1.1 200"
    assert (n_open, left) == (10, 0)


def test_as_many_files_may_be_open_as_are_allowed() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 400)); "
        "from canonym.service.connections import most_connections, open_files; "
        "print(open_files(), most_connections(), resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout == "400 200 (400, 400)\n"


def test_answers_on_open_connections_do_not_wait() -> None:
    with (
        bind("127.0.0.1", 0) as bound,
        socket.create_connection(bound.getsockname()),
        bound.accept()[0] as accepted,
    ):
        assert accepted.proto == socket.IPPROTO_TCP  # asyncio then sets TCP_NODELAY


def test_other_machines_need_a_key(index: Path, tmp_path: Path) -> None:
    message = run("serve", "--index", str(index), "--host", "0.0.0.0", code=2).output
    assert "there is no key: make one with `canonym serve keys add NAME --keys FILE`" in message
    keys = Keys.create(tmp_path / "keys.db")
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(InvalidInput, match="there is no key"):
            check_host(host, str(keys.path))
    keys.add("robot", "read")
    check_host("0.0.0.0", str(keys.path))
    for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9"):
        check_host(host, "")


def test_what_cannot_be_served_is_a_message(index: Path, tmp_path: Path) -> None:
    assert "no such folder" in run("serve", "--index", str(tmp_path / "none"), code=2).output
    file = index / "terminology.db"
    assert "not a saved linker" in run("serve", "--index", f"x={file}", code=2).output
    missing = run("serve", "--keys", str(tmp_path / "keys.db"), "--index", str(index), code=2)
    assert "no such file" in missing.output
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = run("serve", "--index", str(index), "--port", port, code=1).output
    assert f"127.0.0.1:{port}: cannot be listened on" in said


def test_a_missing_extra_is_named(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    said = run("serve", "--index", str(index), code=2).output
    assert "pip install 'canonym[service]'" in said


def test_texts_with_grave_accents_are_in_no_log(index: Path, start: Start) -> None:
    server = start("--index", index)
    texts = [f"`secret` Heart attack (`HA`) of a `secret` {n}." for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        asked = [{"terminology": "small", "texts": texts}] * 16
        answers = list(pool.map(lambda body: server.get("/v1/annotate", body), asked))
    assert answers == [answers[0]] * 16
    assert "X:1" in json.dumps(answers[0])
    assert server.stop() == 0
    server.close()
    assert "secret" not in "".join(server.lines)
    assert all(isinstance(json.loads(line), dict) for line in server.lines)
