"""Damaged files, a fixed number for each reader.

Every input is a small file of a known format, changed at random (`fuzz_mutation`), for one reader
(`fuzz_targets`). It follows from the seed, the reader and its number alone, so `--only` makes it
again. A worker reads many inputs in one process: it may raise a `CanonymError` and nothing else,
take ten seconds for one, and take a gigabyte beyond what it starts with. An index that passes its
verification has to answer as the whole one does.

    python benchmarks/fuzz.py [--inputs N] [--seconds S] [--readers NAME …] [--folder FOLDER]
    python benchmarks/fuzz.py --only READER NUMBER

What is done is kept in the folder, and a second run goes on from there.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import logging
import math
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from canonym.errors import CanonymError
from canonym.io.files import cache_folder
from fuzz_mutation import mutate
from fuzz_targets import TARGETS, Case
from record import RESULTS, parser, save

LONGEST = 10  # seconds for one input
MEMORY = 1 << 30  # bytes beyond what a worker has when it begins
REPORT = 500  # inputs between two reports of a worker
_SLOW = f"over {LONGEST} s"


# --- one input ------------------------------------------------------------------------------------


class Inputs:
    """The damaged inputs of a reader, made and read one at a time in a folder."""

    def __init__(self, reader: str, folder: Path, seed: int) -> None:
        self.reader, self.seed = reader, seed
        self.cases = TARGETS[reader](folder)
        self.pieces = [content for case in self.cases for content in case.files.values()]

    def write(self, number: int) -> tuple[Case, Path]:
        """Damage one file of one case; return both."""
        rng = Random(f"{self.seed} {self.reader} {number}")
        case = rng.choice(self.cases)
        path = rng.choice(list(case.files))
        content = case.files[path]
        if case.changes and rng.random() < 0.5:
            damaged = rng.choice(case.changes)(rng, content)
        else:
            damaged = mutate(rng, content, self.pieces)
        if case.is_changed:
            for each, whole in case.files.items():
                each.write_bytes(whole)
        path.write_bytes(damaged)
        return case, path

    def restore(self, case: Case, path: Path) -> None:
        """Undo what `write` did."""
        if len(case.files) > 1:
            path.write_bytes(case.files[path])

    def run(self, number: int) -> tuple[str, str]:
        """Read one input; return the outcome, and where a fault came from."""
        case, path = self.write(number)
        try:
            case.read(case.source)
        except CanonymError as error:
            str(error).encode("utf-8", "surrogatepass")
            return "refused", ""
        except Exception as error:  # every other one is what this is looking for
            return "fault", _describe(error)
        finally:
            self.restore(case, path)
        return "read", ""


def _describe(error: Exception) -> str:
    """The kind of an error, and the last place in canonym that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "canonym" in Path(frame.filename).parts] or frames
    last = ours[-1]
    place = f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.lineno}"
    return f"{type(error).__name__} at {place} in {last.name}"


# --- the worker -----------------------------------------------------------------------------------


def work(reader: str, first: int, last: int, seed: int, skip: set[int]) -> None:
    """Read a range of inputs and report in lines of JSON; file 3 holds the number at hand."""
    warnings.simplefilter("ignore")
    logging.disable()
    # Some libraries write to standard output; the parent reads nothing but reports there.
    reports = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # The alarm prints where the time went, and then ends the process, in whatever code it is.
    faulthandler.register(signal.SIGALRM, chain=True)
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(dir=shared) as folder:
        inputs = Inputs(reader, Path(folder), seed)
        for case in inputs.cases:  # whole ones are read, and what they import is no input's fault
            case.read(case.source)
        _limit_memory()
        found: dict[str, Any] = {"faults": {}}
        for number in range(first, last):
            os.pwrite(3, f"{number:<12}".encode(), 0)
            if number not in skip:
                signal.alarm(LONGEST)
                start = time.perf_counter()
                outcome, fault = inputs.run(number)
                signal.alarm(0)
                taken = time.perf_counter() - start
                found[outcome] = found.get(outcome, 0) + 1
                if taken > found.get("slowest", (0, 0))[0]:
                    found["slowest"] = (round(taken, 4), number)
                if fault:
                    found["faults"].setdefault(fault, []).append(number)
            if (number + 1) % REPORT == 0 or number + 1 == last:
                print(json.dumps({**found, "done": number + 1}), file=reports, flush=True)
                found = {"faults": {}}


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


# --- the parent -----------------------------------------------------------------------------------


def fuzz(reader: str, folder: Path, n: int, seed: int, until: float) -> dict[str, Any]:
    """Run workers until `n` inputs are done or the time is over; return what there is."""
    path = folder / f"{reader}.json"
    state: dict[str, Any] = {"seed": seed, "done": 0, "refused": 0, "read": 0, "seconds": 0.0}
    state |= {"slowest": [0, 0], "faults": {}, "skip": []}
    if path.exists():
        found = json.loads(path.read_text())
        state = found if found["seed"] == seed else state
    for number in state["faults"].pop(_SLOW, ()):
        _try_alone(reader, folder, state, number, path)
    while state["done"] < n and time.monotonic() < until:
        start = time.monotonic()
        ended = _run_worker(reader, folder, state, min(n, state["done"] + 20 * REPORT), path, until)
        state["seconds"] = round(state["seconds"] + time.monotonic() - start, 1)
        if ended and ended[1] == _SLOW:
            _try_alone(reader, folder, state, ended[0], path)
        elif ended:
            _add_fault(state, *ended)
        path.write_text(json.dumps(state))
    print(file=sys.stderr)
    return state


def _try_alone(reader: str, folder: Path, state: dict[str, Any], number: int, path: Path) -> None:
    """Read a slow input once more: other work on the machine may have taken the time."""
    alone = {**state, "done": number, "skip": [n for n in state["skip"] if n != number]}
    ended = _run_worker(reader, folder, alone, number + 1, path, math.inf)
    done = state["done"]
    state.update(alone, done=done, skip=[*alone["skip"], number])
    if ended:
        _add_fault(state, *ended)


def _add_fault(state: dict[str, Any], number: int, how: str) -> None:
    state["skip"] = sorted({*state["skip"], number})
    state["faults"].setdefault(how, []).append(number)


def _run_worker(
    reader: str, folder: Path, state: dict[str, Any], last: int, path: Path, until: float
) -> tuple[int, str] | None:
    """Run one worker; return the input that ended it, if one did."""
    marks = folder / f"{reader}.number"
    command = [sys.executable, __file__, "--work", reader, str(state["done"]), str(last)]
    command += [str(state["seed"]), ",".join(map(str, state["skip"]))]
    with marks.open("w+b") as number, (folder / f"{reader}.log").open("a") as log:
        os.dup2(number.fileno(), 3, inheritable=True)
        worker = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, pass_fds=(3,)
        )
        assert worker.stdout is not None
        for line in worker.stdout:
            _merge(state, json.loads(line))
            path.write_text(json.dumps(state))
            n_faults = sum(map(len, state["faults"].values()))
            progress = f"\r{reader:<22} {state['done']:>8,} of {last:,}, {n_faults} faults"
            print(progress, end="", file=sys.stderr, flush=True)
            if time.monotonic() > until:
                worker.terminate()
                worker.wait()
                return None
        code = worker.wait()
        if not code:
            return None
        at = int(marks.read_bytes() or b"-1")
    if at < 0 or code > 0:
        raise SystemExit(f"the worker of {reader} failed; see {folder / reader}.log")
    hung = code == -signal.SIGALRM
    return at, _SLOW if hung else f"killed by signal {-code}"


def _merge(state: dict[str, Any], found: dict[str, Any]) -> None:
    state["done"] = found["done"]
    for outcome in ("refused", "read"):
        state[outcome] += found.get(outcome, 0)
    state["slowest"] = max(state["slowest"], list(found.get("slowest", (0, 0))))
    for fault, numbers in found["faults"].items():
        state["faults"].setdefault(fault, []).extend(numbers)


# --- command --------------------------------------------------------------------------------------


def show(reader: str, number: int, seed: int) -> None:
    """Make one input again, print it, and read it with its traceback."""
    with TemporaryDirectory() as folder:
        inputs = Inputs(reader, Path(folder), seed)
        case, path = inputs.write(number)
        print(f"{path.relative_to(folder)}: {path.read_bytes()[:3000]!r}")
        print(case.read(case.source))


def summary(states: dict[str, dict[str, Any]], before: dict[str, Any]) -> dict[str, Any]:
    """What is written as the result; a reader that had more inputs `before` keeps its figures."""
    readers = {
        name: {
            "seed": state["seed"],
            "inputs": state["done"],
            "read": state["read"],
            "refused": state["refused"],
            "slowest_seconds": state["slowest"][0],
            "faults": {fault: len(found) for fault, found in state["faults"].items()},
        }
        for name, state in states.items()
    }
    for name, row in before.items():
        if name not in readers or readers[name]["inputs"] < row["inputs"]:
            readers[name] = row
    return {
        "inputs": sum(row["inputs"] for row in readers.values()),
        "faults": sum(sum(row["faults"].values()) for row in readers.values()),
        "longest_seconds_allowed": LONGEST,
        "bytes_allowed": MEMORY,
        "readers": dict(sorted(readers.items())),
    }


def main() -> None:
    """Read the damaged inputs, print the faults and write the result."""
    arguments = parser(__doc__)
    arguments.add_argument("--inputs", type=int, default=100_000, help="for each reader")
    arguments.add_argument("--seconds", type=float, default=float("inf"), help="for each reader")
    arguments.add_argument("--readers", nargs="+", choices=TARGETS, default=list(TARGETS))
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--folder", type=Path, default=cache_folder() / "fuzz")
    arguments.add_argument("--only", nargs=2, metavar=("READER", "NUMBER"))
    arguments.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.work:
        reader, first, last, seed, skip = options.work
        work(reader, int(first), int(last), int(seed), {int(n) for n in skip.split(",") if n})
        return
    if options.only:
        show(options.only[0], int(options.only[1]), options.seed)
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    for reader in options.readers:
        until = time.monotonic() + options.seconds
        state = fuzz(reader, options.folder, options.inputs, options.seed, until)
        for fault, numbers in state["faults"].items():
            print(f"  {len(numbers):>6} {fault} (such as {reader} {numbers[0]})")
    states = {
        path.stem: json.loads(path.read_text()) for path in sorted(options.folder.glob("*.json"))
    }
    path = RESULTS / "fuzz.json"
    before = json.loads(path.read_text())["readers"] if path.exists() else {}
    save("fuzz", summary(states, before), packages=("numpy", "pyarrow", "rdflib"))


if __name__ == "__main__":
    main()
