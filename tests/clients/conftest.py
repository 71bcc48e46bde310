"""OpenRefine in a process, and the service that it asks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.openrefine import OpenRefine
from tests.service.conftest import build
from tests.service.test_server import Server


@pytest.fixture(scope="session")
def openrefine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenRefine]:
    """A headless OpenRefine with an empty workspace."""
    if shutil.which("openrefine") is None:
        pytest.skip("needs OpenRefine: run tests/clients/install")
    with OpenRefine(tmp_path_factory.mktemp("openrefine") / "workspace") as started:
        yield started


@pytest.fixture(scope="session")
def small_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small index."""
    folder = tmp_path_factory.mktemp("clients") / "small"
    build(folder)
    return folder


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Start ``canonym serve`` with arguments; it stops with the tests of the file."""
    servers: list[Server] = []
    reviews = tmp_path_factory.mktemp("reviews") / "reviews.db"

    def start(*arguments: str) -> Server:
        servers.append(Server("--reviews", reviews, *arguments))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
