"""OpenRefine without its window, driven by the commands that its own page sends."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

ALL_ROWS = json.dumps({"facets": [], "mode": "row-based"})
_PATIENCE = 120


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _wait_for(what: str, done: Callable[[], Any]) -> Any:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if found := done():
            return found
        time.sleep(0.2)
    raise TimeoutError(f"OpenRefine: {what} took more than {_PATIENCE} seconds")


class OpenRefine:
    """OpenRefine in a process, with its projects in a folder; leaving the block stops it."""

    def __init__(self, workspace: Path) -> None:
        program = shutil.which("openrefine")
        if program is None:
            raise FileNotFoundError("openrefine is not installed: see tests/clients/install")
        port = _free_port()
        self.address = f"http://127.0.0.1:{port}"
        self.log = workspace.with_suffix(".log")
        options = ["-i", "127.0.0.1", "-p", str(port), "-d", str(workspace), "-m", "512M"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [program, *options, "-x", "refine.headless=true"],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "REFINE_MIN_MEMORY": "256M"},
                start_new_session=True,  # the program is a script around Java
            )
        self.client = httpx2.Client(base_url=f"{self.address}/command/", timeout=_PATIENCE)

    def __enter__(self) -> OpenRefine:
        try:
            self.version = str(_wait_for("its start", self._version))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop OpenRefine and its Java."""
        self.client.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(timeout=60)

    def _version(self) -> str | None:
        if self.process.poll() is not None:
            raise RuntimeError(f"OpenRefine stopped: {self.log.read_text(errors='replace')}")
        try:
            return str(self.client.get("core/get-version").json()["version"])
        except httpx2.TransportError:
            return None

    def project(self, name: str, table: str) -> Project:
        """Make a project of a CSV table."""
        answer = self.client.post(
            "core/create-project-from-upload",
            params={"csrf_token": self.token()},
            data={"project-name": name, "format": "text/line-based/*sv"},
            files={"project-file": ("table.csv", table.encode(), "text/csv")},
        )
        assert answer.status_code == 302, answer.text
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        return Project(self, query["project"][0])

    def token(self) -> str:
        """Return a fresh token, which every change needs."""
        return str(self.client.get("core/get-csrf-token").json()["token"])


class Project:
    """A project of OpenRefine."""

    def __init__(self, server: OpenRefine, id: str) -> None:
        self.server = server
        self.id = id

    def _change(self, command: str, **fields: Any) -> dict[str, Any]:
        data = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in fields.items()
        }
        parameters = {"project": self.id, "csrf_token": self.server.token()}
        answer = self.server.client.post(command, params=parameters, data=data)
        found: dict[str, Any] = answer.raise_for_status().json()
        assert found.get("code") in ("ok", "pending"), found
        if found["code"] == "pending":
            _wait_for(command, self._is_idle)
        return found

    def _is_idle(self) -> bool:
        parameters = {"project": self.id}
        found = self.server.client.get("core/get-processes", params=parameters).json()
        assert not found.get("exceptions"), found
        return not found["processes"]

    def guess_types(self, column: str, service: str) -> list[dict[str, Any]]:
        """Return the types that OpenRefine offers for a column, the most frequent first."""
        found = self._change("core/guess-types-of-column", columnName=column, service=service)
        types: list[dict[str, Any]] = found["types"]
        return types

    def reconcile(
        self,
        column: str,
        manifest: dict[str, Any],
        service: str,
        *,
        type: str = "",
        properties: dict[str, str] | None = None,
        limit: int = 5,
    ) -> None:
        """Reconcile a column and wait; `properties` are other columns by their property."""
        details = [
            {"column": other, "propertyName": id_, "propertyID": id_}
            for id_, other in (properties or {}).items()
        ]
        config = {
            "mode": "standard-service",
            "service": service,
            "identifierSpace": manifest["identifierSpace"],
            "schemaSpace": manifest["schemaSpace"],
            "type": {"id": type, "name": type} if type else None,
            "autoMatch": True,
            "columnDetails": details,
            "limit": limit,
        }
        self._change("core/reconcile", columnName=column, config=config, engine=ALL_ROWS)

    def extend(
        self, column: str, manifest: dict[str, Any], service: str, properties: list[str]
    ) -> None:
        """Add columns with properties of what a column was matched to, and wait."""
        wanted = [{"id": one, "name": one} for one in properties]
        self._change(
            "core/extend-data",
            baseColumnName=column,
            endpoint=service,
            identifierSpace=manifest["identifierSpace"],
            schemaSpace=manifest["schemaSpace"],
            columnInsertIndex="1",
            extension={"properties": wanted},
            engine=ALL_ROWS,
        )

    def match_all(self, column: str) -> None:
        """Match every cell to its best candidate, as the menu's Actions do."""
        self._change("core/recon-match-best-candidates", columnName=column, engine=ALL_ROWS)

    def cells(self, column: int) -> list[dict[str, Any]]:
        """Return value, judgment, match and candidates of each row of a column."""
        found = self.server.client.post(
            "core/get-rows",
            params={"project": self.id, "start": 0, "limit": 100_000},
            data={"engine": ALL_ROWS},
        ).json()
        recons = found["pool"]["recons"]
        cells = [row["cells"][column] or {} for row in found["rows"]]
        return [{"value": one.get("v")} | recons.get(str(one.get("r")), {}) for one in cells]

    def export(self) -> list[dict[str, str]]:
        """Return the table as OpenRefine exports it."""
        exported = self.server.client.post(
            "core/export-rows", data={"project": self.id, "format": "csv", "engine": ALL_ROWS}
        )
        return list(csv.DictReader(io.StringIO(exported.raise_for_status().text)))
