"""Environments and processes of peers; whatever goes wrong in one is a `PeerFailed` with a reason.

An adaptor names what it needs in ``REQUIREMENTS``. Without any it runs in the Python of the driver.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

ROOT = Path(__file__).parents[2]
ADAPTORS = Path(__file__).with_name("adaptors")
WORKER = Path(__file__).with_name("worker.py")
_LONGEST = 300


class PeerFailed(Exception):
    """A peer cannot be installed, has crashed, or takes too long; the text says which."""


def peer_cache() -> Path:
    """Return the folder of environments, logs and unfinished runs."""
    return Path(os.environ.get("CANONYM_CACHE", Path.home() / ".cache" / "canonym")) / "peers"


def requirements(adaptor: Path) -> list[str]:
    """Read what an adaptor needs, without running it."""
    for node in ast.parse(adaptor.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(one, ast.Name) and one.id == "REQUIREMENTS" for one in targets):
            found: list[str] = ast.literal_eval(node.value)  # type: ignore[attr-defined]
            return found
    raise PeerFailed(f"{adaptor.name} does not say what it needs in REQUIREMENTS")


def environment(adaptor: Path, cache: Path) -> str:
    """Return a Python that has what an adaptor needs; the environment is made once."""
    needed = requirements(adaptor)
    if not needed:
        return sys.executable
    digest = hashlib.sha256("\n".join([sys.version, *needed]).encode()).hexdigest()[:12]
    folder = cache / "environments" / f"{adaptor.stem}-{digest}"
    python, whole = folder / "bin" / "python", folder / "whole"
    if whole.exists():
        return str(python)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")
    constraints = folder.with_suffix(".constraints")
    constraints.write_text("\n".join(_held()), encoding="utf-8")
    install = ["-m", "pip", "install", "--no-input", "-c", str(constraints), *needed]
    with log.open("w", encoding="utf-8") as stream:
        for command in ([sys.executable, "-m", "venv", str(folder)], [str(python), *install]):
            done = subprocess.run(command, stdout=stream, stderr=stream, env=_clean())
            if done.returncode:
                raise PeerFailed(f"cannot be installed: {_reason(log, cache)}")
    whole.touch()
    return str(python)


def _held() -> list[str]:
    """Hold torch alone: the build of it that the project has, other pins may be impossible."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("torch==")]


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _reason(log: Path, cache: Path) -> str:
    """Return the last error of a log, or its last line, without folders of this machine."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if line.lower().startswith("error:")]
    reason = (errors or lines or ["no reason given"])[-1]
    for folder in (cache, ROOT, Path.home(), Path(sys.prefix)):
        reason = reason.replace(str(folder), "…")
    return reason if len(reason) <= _LONGEST else reason[: _LONGEST - 1] + "…"


class PeerProcess:
    """The running process of a peer; see `worker.py`."""

    def __init__(self, adaptor: Path, cache: Path, *, threads: int, timeout: float = 1800) -> None:
        self._cache, self._timeout = cache, timeout
        self._log = cache / "logs" / f"{adaptor.stem}-{id(self)}.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        python = environment(adaptor, cache)
        settings = {"OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
        settings["OPENBLAS_THREAD_TIMEOUT"] = "4"  # as the command of canonym has it
        settings["CANONYM_CACHE"] = str(cache)
        if python == sys.executable:
            settings["PYTHONPATH"] = str(ROOT / "src")
        with self._log.open("w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(
                [python, "-P", str(WORKER), str(adaptor)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                text=True, encoding="utf-8", env=_clean() | settings,
            )  # fmt: skip

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Send a request and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = Timer(self._timeout, self._process.kill)
        timer.start()
        try:
            self._process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            late = not timer.is_alive()
            timer.cancel()
        if line.endswith("\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        self.close()
        if late:
            raise PeerFailed(f"{do} took longer than {self._timeout:.0f} s")
        raise PeerFailed(f"{do} failed: {_reason(self._log, self._cache)}")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        self._process.wait()
