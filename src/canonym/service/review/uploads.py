"""Uploads of tables: read in processes that are ended when they take long, or nobody waits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from pathlib import Path

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from canonym.review.models import Workbook
from canonym.review.table import Layout, clean
from canonym.review.upload import ROWS, SECONDS, SHEETS, UPLOAD
from canonym.service.problems import Problem
from canonym.service.work import in_turn

_log = logging.getLogger(__name__)
_PATIENCE = 30.0  # seconds until another upload is read
_AT_ONCE = 2


class Upload:
    """A table that was read; its rows wait in a file. `sheets` are those of a workbook."""

    def __init__(self, folder: Path, content: bytes, layout: Layout) -> None:
        self._file = folder / ROWS
        self._content = content
        self._layout = layout
        self.sheets: list[str] = json.loads((folder / SHEETS).read_text(encoding="utf-8"))

    def workbook(self) -> Workbook | None:
        """Return the upload as a review keeps it, if it is a workbook."""
        if not self.sheets:
            return None
        sheet, header_row = self._layout.sheet, self._layout.header_row
        return Workbook(content=self._content, sheet=sheet, header_row=header_row)

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the header, and the rows."""
        with self._file.open(encoding="utf-8") as stream:
            yield from map(json.loads, stream)


class Uploads:
    """Room for a few uploads at a time."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(_AT_ONCE)

    @contextlib.asynccontextmanager
    async def read(self, request: Request, name: str, layout: Layout) -> AsyncIterator[Upload]:
        """Read the body of a request as a table; the rows are gone when the block ends."""
        content = await request.body()
        with tempfile.TemporaryDirectory(prefix="canonym-") as folder:
            await run_in_threadpool((Path(folder) / UPLOAD).write_bytes, content)
            await self._read(request, Path(folder), clean(name).replace("\0", ""), layout)
            yield Upload(Path(folder), content, layout)

    async def _read(self, request: Request, folder: Path, name: str, layout: Layout) -> None:
        async with in_turn(self._room, _PATIENCE, "too many uploads are being read"):
            code, problem = await _run(request, folder, name, layout)
        if problem:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, json.loads(problem))
        if code:
            _log.error("the process that reads uploads ended with %d", code)
            detail = f"{name or 'the text'} cannot be read within the limits; review a part of it"
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


async def _run(
    request: Request, folder: Path, name: str, layout: Layout
) -> tuple[int | None, bytes]:
    """Run the process that reads, and return its exit code and what is wrong with the upload."""
    process = await asyncio.create_subprocess_exec(
        # Without the folder in which the service was started: what lies there is no module of ours.
        *(sys.executable, "-P", "-m", "canonym.review.upload", str(folder), name),
        json.dumps(layout),
        stdin=asyncio.subprocess.PIPE,  # whose end tells it that this process has ended
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # whose threads take memory
    )
    reading = asyncio.ensure_future(_output(process))
    leaving = asyncio.ensure_future(_until_gone(request))
    try:
        await asyncio.wait({reading, leaving}, timeout=SECONDS, return_when="FIRST_COMPLETED")
        if reading.done():
            return process.returncode, reading.result()
        if leaving.done():
            raise ClientDisconnect
        detail = f"{name or 'the text'} takes more than {SECONDS} seconds to read; review a part"
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
    finally:
        leaving.cancel()
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await reading


async def _output(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    output = await process.stdout.read()
    await process.wait()
    return output


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
