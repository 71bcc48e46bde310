"""The real server: started by the command, asked over the network, reloaded, stopped."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym.errors import InvalidInput
from canonym.service.keys import Keys
from canonym.service.server import check_host
from tests.cli.running import command, run
from tests.conftest import clean_environment


class Server:
    """``canonym serve`` in a process."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            command("serve", "--port", "0", *arguments),
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(),
        )
        assert self.process.stderr is not None
        found = re.search(r"Serving (.+) on (http://\S+);", self.process.stderr.readline())
        assert found is not None
        self.names, self.address = found.groups()
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

    def join(self) -> None:
        """Wait for the rest of the log."""
        self._reader.join()


@pytest.fixture
def started() -> Iterator[list[Server]]:
    """Servers that end with the test, however it ends."""
    servers: list[Server] = []
    yield servers
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        server.join()


def test_a_server_answers_follows_its_index_and_stops(
    index: Path, tmp_path: Path, started: list[Server]
) -> None:
    folder = Path(shutil.copytree(index, tmp_path / "small"))
    server = Server("--index", str(folder), "--index", f"other={index}")
    started.append(server)
    assert server.names == "small, other"
    assert server.get("/readyz") == {"status": "ready"}
    assert 'route="/readyz"' in server.get("/metrics")
    assert server.stop() == 0
    server.join()
    lines = [json.loads(line) for line in server.lines]
    requests = [line for line in lines if line["logger"] == "canonym.service.requests"]
    assert [(line["route"], line["status"]) for line in requests] == [
        ("/readyz", 200),
        ("/metrics", 200),
    ]
    assert all(re.fullmatch(r"[0-9a-f]{16}", line["request_id"]) for line in requests)


def test_workers_share_a_socket_and_their_counts(index: Path, started: list[Server]) -> None:
    server = Server("--index", str(index), "--workers", "2")
    started.append(server)
    for _ in range(10):
        server.get("/healthz")
    counted = server.get("/metrics")
    assert 'canonym_requests_total{method="GET",route="/healthz",status="200"} 10.0' in counted
    assert server.stop() == 0


def test_other_machines_need_a_key(index: Path, tmp_path: Path) -> None:
    message = run("serve", "--index", str(index), "--host", "0.0.0.0", code=2).output
    assert "there is no key: make one with `canonym keys add NAME --keys FILE`" in message
    keys = Keys.create(tmp_path / "keys.db")
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(InvalidInput, match="there is no key"):
            check_host(host, str(keys.path))
    keys.add("robot", "read")
    check_host("0.0.0.0", str(keys.path))
    for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9"):
        check_host(host, "")


def test_what_cannot_be_served_is_a_message(index: Path, tmp_path: Path) -> None:
    assert "no such index" in run("serve", "--index", str(tmp_path / "none"), code=2).output
    missing = run("serve", "--keys", str(tmp_path / "keys.db"), "--index", str(index), code=2)
    assert "no such file" in missing.output
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = run("serve", "--index", str(index), "--port", port, code=1).output
    assert f"127.0.0.1:{port}: cannot be listened on" in said
