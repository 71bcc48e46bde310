"""Processes in which scripts measure: fresh ones, of this checkout or of another one."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psutil

PATIENCE = 120.0
"""Seconds in which a server has to start, or to answer on a machine that does other work."""


def run_python(
    *arguments: str | Path,
    entered: str | None = None,
    source: Path | None = None,
    **environment: str,
) -> str:
    """Run Python, with the sources of another checkout if one is named; return what it prints.

    Where nothing is entered its standard input stays open, whose end some commands take for a stop.
    """
    if source is not None:
        environment["PYTHONPATH"] = str(source.resolve())
    stdin, held_open = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            stdin=stdin if entered is None else None,
            input=entered,
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


def run_script(script: str, *arguments: str | Path, entered: Any = None, **options: Any) -> Any:
    """Run a script, with JSON as its input; return the JSON of its last line."""
    printed = run_python("-c", script, *arguments, entered=json.dumps(entered), **options)
    return json.loads(printed.splitlines()[-1])


def seconds_of_children() -> float:
    """Return the processor seconds of the processes that this one started and that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def megabytes_of(folder: Path) -> int:
    """Return the size of the files of a folder, in megabytes of a million bytes."""
    sizes = (file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return round(sum(sizes) / 1e6)


# --- the service ----------------------------------------------------------------------------------


class Server:
    """``canonym serve`` in a process that is started at once; its messages go to a log."""

    def __init__(self, arguments: Sequence[str | Path], log: Path) -> None:
        self.log = log
        self._command = [sys.executable, "-m", "canonym", "serve", *map(str, arguments)]
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it, on the port that it had before, and wait until it is ready."""
        command = [*self._command, "--port", str(self.port)]
        with self.log.open("wb") as stream:
            self.process = subprocess.Popen(
                command, stdout=stream, stderr=stream, start_new_session=True
            )
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < until:
            said = self.log.read_text(errors="replace")
            if line := re.search(r"Serving .* on \S+:(\d+);", said):
                self.port = int(line[1])
                with contextlib.suppress(OSError, http.client.HTTPException):
                    if self.request("GET", "/readyz")[0] == 200:
                        return
            time.sleep(0.02)
        raise SystemExit(f"the server is not ready: {self.log.read_text(errors='replace')}")

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Return the status and the content of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def processes(self) -> list[psutil.Process]:
        """Return the processes of the server, the first one before its workers."""
        import psutil

        main = psutil.Process(self.process.pid)
        return [main, *main.children(recursive=True)]

    def stop(self) -> bool:
        """End it, and tell whether it did so when it was asked to."""
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return False
        return True


# --- memory ---------------------------------------------------------------------------------------

_STAGE = re.compile(r"progress: (.+): [\d,]+ (?:names|records)$")


class _Watch:
    """Samples the memory of a process and its children, and keeps the peak of every stage."""

    def __init__(self, process: int) -> None:
        self.stage = "beginning"
        self.stages: dict[str, dict[str, float]] = {}
        self._process, self._ended = process, threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        """Sample no more."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        before = time.perf_counter()
        while not self._ended.wait(0.05):
            stage = self.stages.setdefault(
                self.stage, {"seconds": 0.0, "anonymous": 0, "mapped": 0, "together": 0}
            )
            now = time.perf_counter()
            stage["seconds"] += now - before
            before = now
            anonymous, mapped = _memory_of(self._process)
            for kind, kilobytes in (
                ("anonymous", anonymous),
                ("mapped", mapped),
                ("together", anonymous + mapped),
            ):
                stage[kind] = max(stage[kind], round(kilobytes / 1024))


def _memory_of(process: int) -> tuple[int, int]:
    """Return the anonymous and the mapped memory of a process and its children, in kilobytes."""
    anonymous = mapped = 0
    try:
        status = Path(f"/proc/{process}/status").read_text()
        children = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:  # it has ended
        return 0, 0
    for line in status.splitlines():
        if line.startswith(("RssAnon", "RssShmem")):
            anonymous += int(line.split()[1])
        elif line.startswith("RssFile"):
            mapped += int(line.split()[1])
    for child in children.split():
        more = _memory_of(int(child))
        anonymous, mapped = anonymous + more[0], mapped + more[1]
    return anonymous, mapped


def watched(*arguments: str) -> dict[str, Any]:
    """Run a command of canonym, and return its seconds and its memory, whole and by stage.

    Twenty times a second the memory of it and of its children is added up, from
    ``/proc/PID/status``: "anonymous" is RssAnon and RssShmem, what a process cannot give back;
    "mapped" is RssFile, pages of files that the system may drop. Peaks go to the stage that the
    command reported last.
    """
    begun = time.perf_counter()
    command = [sys.executable, "-m", "canonym", *arguments, "-v"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        watch = _Watch(process.pid)
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if stage := _STAGE.search(line):
                watch.stage = stage[1]
        _, status, usage = os.wait4(process.pid, 0)
        watch.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("".join(said))
    for stage in watch.stages.values():
        stage["seconds"] = round(stage["seconds"], 1)
    peak = {
        kind: max(stage[kind] for stage in watch.stages.values())
        for kind in ("anonymous", "mapped", "together")
    }
    return {
        "seconds": round(time.perf_counter() - begun, 1),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_megabytes": peak | {"ru_maxrss": round(usage.ru_maxrss / 1024)},
        "stages": watch.stages,
    }
