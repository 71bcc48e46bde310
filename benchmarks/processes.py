"""Processes in which scripts measure: fresh ones, of this checkout or of another one."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds in which a server has to start, or to answer on a machine that does other work."""


def run_python(
    *arguments: str | Path,
    given: str | None = None,
    source: Path | None = None,
    **environment: str,
) -> str:
    """Run Python, with the sources of another checkout if one is named; return what it prints.

    Where nothing is given its standard input stays open, whose end some commands take for a stop.
    """
    if source is not None:
        environment["PYTHONPATH"] = str(source.resolve())
    stdin, held_open = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            stdin=stdin if given is None else None,
            input=given,
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
    finally:
        os.close(stdin)
        os.close(held_open)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments))[:200]}\n{done.stderr}")
    return done.stdout


def run_script(script: str, *arguments: str | Path, given: Any = None, **options: Any) -> Any:
    """Run a script, with JSON as its input; return the JSON of its last line."""
    printed = run_python("-c", script, *arguments, given=json.dumps(given), **options)
    return json.loads(printed.splitlines()[-1])


def seconds_of_children() -> float:
    """Return the processor seconds of the processes that this one started and that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def megabytes_of(folder: Path) -> int:
    """Return the size of the files of a folder, in megabytes of a million bytes."""
    sizes = (file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return round(sum(sizes) / 1e6)


def start_server(
    arguments: Sequence[str], log: Path, **options: Any
) -> tuple[subprocess.Popen[bytes], int]:
    """Start ``canonym serve``, whose messages go to a log; return its process and its port."""
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "canonym", "serve", *arguments],
            stdout=stream,
            stderr=stream,
            **options,
        )
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        if line := re.search(r"Serving .* on \S+:(\d+);", log.read_text(errors="replace")):
            return process, int(line[1])
        time.sleep(0.02)
    raise SystemExit(f"the server did not start: {log.read_text(errors='replace')}")
