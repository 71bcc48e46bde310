"""The server process: one socket, one worker or several, and a stop that drops nothing."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from canonym.errors import CanonymError, InvalidInput, require
from canonym.io.heap import give_large_blocks_back
from canonym.service.keys import Keys
from canonym.service.settings import Settings, is_local

if TYPE_CHECKING:
    from fastapi import FastAPI

_PATIENCE = 30  # seconds that open requests have to end in
SILENCE = 60
"""Seconds after which a worker that does not answer its parent is ended: most are only busy."""


def check_host(host: str, keys: str) -> None:
    """Refuse to be open to other machines without a key in use, and a file that holds none."""
    used = any(key.revoked is None for key in Keys(keys).list()) if keys else False
    if not used and not is_local(host):
        raise InvalidInput(
            f"--host {host} opens the service to other machines, and there is no key: make one "
            "with `canonym serve keys add NAME --keys FILE` and pass --keys FILE, or stay with "
            "--host 127.0.0.1"
        )


def run_server(
    settings: Settings, *, host: str, port: int, workers: int, started: Callable[[str], None]
) -> None:
    """Serve until a signal stops it; `started` is called with the address once it is bound.

    Raises `OSError` if the address is in use, or is none of this machine. See `check_host` too.
    """
    uvicorn = require("uvicorn", "the service", "service")
    from canonym.service.connections import open_files
    from canonym.service.logs import start_logging

    check_host(host, settings.keys)
    shown = f"[{host}]" if ":" in host else host
    # A wanted end is no failure, from the first moment on: until uvicorn listens to signals, and
    # when it has ended its work and raises the signal again.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with bind(host, port) as bound, tempfile.TemporaryDirectory(prefix="canonym-") as scratch:
        started(f"http://{shown}:{bound.getsockname()[1]}")
        # Workers are new processes: the environment tells them everything.
        os.environ.update(settings.to_environment())
        if workers > 1:
            from canonym.service.metrics import FOLDER

            os.environ[FOLDER] = scratch
        config = uvicorn.Config(
            "canonym.service.server:application",
            factory=True,
            http="canonym.service.connections:Connection",
            workers=workers,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=_PATIENCE,
            timeout_worker_healthcheck=SILENCE,
            # As many are taken before the first is looked at, some three times over.
            backlog=min(2048, open_files() // 8),
        )
        if workers > 1:
            from canonym.service.workers import Workers

            start_logging(quote=settings.log_mentions)  # each worker starts its own
            if settings.reviews:
                from canonym.review.database import open_database

                with contextlib.suppress(CanonymError):  # a worker says so, and tries again
                    open_database(settings.reviews).dispose()  # tables are made once, not by each
            Workers(config, sockets=[bound]).run()
        else:
            uvicorn.Server(config).run(sockets=[bound])


def application() -> FastAPI:
    """Make the application of a server process, with its log."""
    from canonym.service import create_app
    from canonym.service.logs import start_logging

    give_large_blocks_back()  # a worker is a new process
    _end_with_parent()
    settings = Settings.from_environment()
    start_logging(quote=settings.log_mentions)
    return create_app(settings)


def _end_with_parent() -> None:
    """Let a worker stop when its parent has ended, however that was: it would hold the port."""
    parent = multiprocessing.parent_process()

    def wait(parent: Any) -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    if parent is not None:
        threading.Thread(target=wait, args=(parent,), daemon=True).start()


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family)
    except OSError as error:
        raise OSError(
            error.errno, f"cannot be listened on ({error.strerror})", f"{host}:{port}"
        ) from error
    # asyncio sends small parts at once only where the protocol is named; otherwise each answer
    # on an open connection waits 40 ms.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, bound.detach())
