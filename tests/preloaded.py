"""The command of canonym, run in a fork of a process that has imported it already.

A new Python takes half a second to import canonym, which is most of what a small command takes.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

_MODULES = ["cli", "linker", "linking.pipeline"]
_MODULES += [f"cli.{name}" for name in ("link", "index", "import_", "terminology", "synonyms")]


def run(arguments: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run canonym in a folder; return what it writes to both streams."""
    said = folder.parent / "said"
    job = {"arguments": arguments, "folder": str(folder), "environment": environment}
    process = _started()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({**job, "said": str(said)}) + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "done\n"
    return said.read_text(encoding="utf-8")


@functools.cache
def _started() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.preloaded"],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)  # it ends with its input
    return process


def _serve() -> None:
    """Run each command that a line of the input tells, in a child that is forked for it."""
    commands = [importlib.import_module(f"canonym.{name}") for name in _MODULES]
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                _take_place(**job)
                commands[0].main(job["arguments"], prog_name="canonym")
            except Exception:
                traceback.print_exc()
            finally:
                for stream in (sys.stdout, sys.stderr):
                    stream.flush()
                os._exit(0)
        os.waitpid(child, 0)
        print("done", flush=True)


def _take_place(folder: str, environment: dict[str, str], said: str, **_: object) -> None:
    """Go where the command is to run, and write to a file what it says."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    nothing, file = os.open(os.devnull, os.O_RDONLY), os.open(said, os.O_CREAT | os.O_RDWR)
    os.truncate(file, 0)
    for number, stream in enumerate((nothing, file, file)):
        os.dup2(stream, number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115


if __name__ == "__main__":
    _serve()
