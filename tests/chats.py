"""A server on this machine that speaks the protocol of chats, as llama.cpp and Ollama do."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Say = Callable[[str], str]


class Chats:
    """What a model says to a question, the statuses that come before, and all requests.

    `statuses` are used up, one a request; 200 comes after them. `body` replaces a whole answer.
    """

    def __init__(self, say: Say) -> None:
        self.say = say
        self.statuses: list[int] = []
        self.headers: dict[str, str] = {}
        self.body: bytes | None = None
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        chats = self
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    chats.requests.append(content)
                    chats.keys.append(self.headers.get("Authorization"))
                    status = chats.statuses.pop(0) if chats.statuses else 200
                if self.path != "/v1/chat/completions":
                    status = 404
                body = chats.body
                if body is None:
                    said = chats.say(content["messages"][-1]["content"]) if status == 200 else ""
                    message = {"role": "assistant", "content": said}
                    body = json.dumps({"choices": [{"index": 0, "message": message}]}).encode()
                self.send_response(status)
                for name, value in chats.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def questions(self) -> list[str]:
        """What was asked, in the order in which it came."""
        return [request["messages"][-1]["content"] for request in self.requests]

    def start(self) -> None:
        """Serve from now on."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Serve nothing any more."""
        self._server.shutdown()
        self._server.server_close()


@contextlib.contextmanager
def chatting(say: Say) -> Iterator[Chats]:
    """Serve a model inside a ``with`` block."""
    chats = Chats(say)
    chats.start()
    try:
        yield chats
    finally:
        chats.stop()


def choosing(words: str) -> Say:
    """Return a model that chooses the first line with some words, and 0 where there is none."""

    def say(question: str) -> str:
        lines = question.split("\n\n", 1)[1].splitlines()
        return next((line.split(".")[0] for line in lines if words in line), "0")

    return say
