"""Work in several processes: order, errors, bounds, and processes that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from canonym import InvalidInput, ReadError
from canonym.io.files import n_cores
from canonym.io.processes import check_workers, ordered_map


def work(item: str) -> str:
    """Do what the item says, in a process of its own."""
    if item == "fail":
        raise ReadError("a.txt", "has no line", line=3)
    if item == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "process":
        return str(os.getpid())
    if item in os.environ:
        return os.environ[item]
    return item.upper()


def test_results_come_in_order_from_other_processes() -> None:
    items = ["process", *map(str, range(20)), "process"]
    found = list(ordered_map(work, items, workers=2))
    assert found[1:-1] == items[1:-1]
    assert str(os.getpid()) not in found


@pytest.mark.parametrize(("items", "workers"), [(["process"], 2), (["process"] * 3, 1), ([], 2)])
def test_one_item_or_one_worker_needs_no_process(items: list[str], workers: int) -> None:
    assert set(ordered_map(work, items, workers=workers)) <= {str(os.getpid())}


def test_cores_are_shared_between_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    share = str(max(n_cores() // 2, 1))
    items = ["OMP_NUM_THREADS", "MKL_NUM_THREADS"]
    assert list(ordered_map(work, items, workers=2)) == ["7", share]
    assert "MKL_NUM_THREADS" not in os.environ


def test_few_items_are_read_ahead() -> None:
    read: list[int] = []

    def items() -> Iterator[str]:
        for number in range(1000):
            read.append(number)
            yield str(number)

    results = ordered_map(work, items(), workers=2)
    assert next(results) == "0"
    assert len(read) == 4
    results.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_comes_after_the_results_before_it(workers: int) -> None:
    done: list[str] = []  # takes what comes before an error
    with pytest.raises(ReadError) as caught:
        done.extend(ordered_map(work, ["a", "b", "fail", "c"], workers=workers))
    assert str(caught.value) == "a.txt, line 3: has no line"
    assert done == ["A", "B"]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_input_comes_after_its_results(workers: int) -> None:
    def items() -> Iterator[str]:
        yield from "abc"
        raise InvalidInput("no more")

    done: list[str] = []  # takes what comes before an error
    with pytest.raises(InvalidInput, match="no more"):
        done.extend(ordered_map(work, items(), workers=workers))
    assert done == ["A", "B", "C"]


def test_a_killed_process_is_an_error_and_no_hang() -> None:
    with pytest.raises(ChildProcessError, match="a worker process ended before its work was done"):
        list(ordered_map(work, ["a", "die", *"bcdefg"], workers=2))


def test_no_file_is_closed_twice_when_a_process_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Connection] = []  # kept, so that none has the number of another
    close = Connection._close

    def slow(end: Connection, *arguments: Any) -> None:
        closed.append(end)
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.5)  # in which the main thread comes
        close(end, *arguments)

    monkeypatch.setattr(Connection, "_close", slow)
    with pytest.raises(ChildProcessError, match="a worker process ended before its work was done"):
        list(ordered_map(work, ["a", "die", *"bcdefg"], workers=2))
    assert len(set(map(id, closed))) == len(closed)


ENDLESS = """
import os, time
from canonym.io.processes import ordered_map

def work(_):
    time.sleep(0.05)
    return os.getpid()

if __name__ == "__main__":
    for pid in ordered_map(work, iter(int, 1), workers=2):
        print(pid, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_one_that_started_it(number: int, tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    pids: set[int] = set()
    while len(pids) < 2:
        pids.add(int(parent.stdout.readline()))
    parent.send_signal(number)
    _, errors = parent.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors if number == signal.SIGINT else True
    assert errors.count("Traceback") <= 1  # that of the script, none of a worker
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.parametrize("workers", [-1, 257, 1.5, True, "2", None])
def test_a_number_of_processes_is_checked(workers: object) -> None:
    with pytest.raises(InvalidInput, match="expected a number of processes, at most 256"):
        check_workers(workers)  # type: ignore[arg-type]


def test_no_number_stands_for_the_cores() -> None:
    assert check_workers(0) == n_cores()
    assert check_workers(3) == 3
