"""A server on this machine that serves files as servers do: well, badly, or not to the end."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Served:
    """A file, and how it is served."""

    content: bytes = b""
    etag: str = '"1"'
    modified: str = ""
    ranges: bool = True
    length: bool = True
    chunked: bool = False
    stop_after: int | None = None  # bytes of the body, whatever the length says
    pause: float = 0.0  # seconds after each thousand bytes
    status: int = 200
    location: str = ""
    headers: dict[str, str] = field(default_factory=dict)


class Mirror:
    """The files by path, the address, and the headers of all requests."""

    def __init__(self) -> None:
        self.files: dict[str, Served] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                mirror.requests.append((self.path, dict(self.headers)))
                with contextlib.suppress(ConnectionError):
                    mirror.answer(self)
                self.close_connection = True

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """Say nothing of clients that are gone."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Mirror:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def put(self, path: str, content: bytes, **how: Any) -> Served:
        """Serve content at a path."""
        self.files[path] = Served(content, **how)
        return self.files[path]

    def paths(self) -> list[str]:
        """Return the paths that were asked for."""
        return [path for path, _ in self.requests]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a request as the file at its path says."""
        served = self.files.get(handler.path)
        if served is None:
            handler.send_error(404)
            return
        body, start = served.content, None
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        condition = handler.headers.get("If-Range", "")
        if (
            asked
            and served.status == 200
            and served.ranges
            and condition in ("", served.etag, served.modified)
        ):
            start = int(asked[1])
        if start is not None and start >= len(body):
            handler.send_error(416)
            return
        handler.send_response(served.status if start is None else 206)
        if start is not None:
            handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            body = body[start:]
        headers = {"ETag": served.etag, "Last-Modified": served.modified}
        headers |= {"Location": served.location, **served.headers}
        if served.chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif served.length:
            headers["Content-Length"] = str(len(body))
        for name, value in headers.items():
            if value:
                handler.send_header(name, value)
        handler.end_headers()
        for block in self._blocks(body[: served.stop_after], served.pause):
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(block), block) if served.chunked else block)
            handler.wfile.flush()
        if served.chunked and served.stop_after is None:
            handler.wfile.write(b"0\r\n\r\n")

    @staticmethod
    def _blocks(body: bytes, pause: float) -> Iterator[bytes]:
        for start in range(0, len(body), 1000):
            yield body[start : start + 1000]
            time.sleep(pause)
