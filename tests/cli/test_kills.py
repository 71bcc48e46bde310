"""The benchmark of killed commands: it notices what is torn, lost or left; a few of its kills."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kills
from kills import Job, Reference
from tests.cli.running import command
from tests.conftest import clean_environment

# Each is killed in its first run, and gets to its end in the next.
START = """
import os, signal, subprocess, sys
from pathlib import Path
first = not Path("../again").exists()
Path("../again").touch()
def die(): first and os.kill(os.getpid(), signal.SIGKILL)
"""
SOUND = START + "die(); Path('out').write_text('whole')"
TORN = START + "Path('out').write_text('who'); die(); Path('out').write_text('whole')"
UNTIDY = START + "Path('.part').touch(); die(); Path('out').write_text('whole')"
OTHER = START + "die(); Path('out').write_text('another')"
REFUSED = START + "die(); sys.exit('there is a lock')"
PARENT = START + "subprocess.Popen(['sleep', '60']); die(); Path('out').write_text('whole')"


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """A function that kills a script, and returns what the benchmark says of it."""
    monkeypatch.setattr(kills, "PATIENCE", 0.1)

    def run(code: str, acknowledged: Callable[[Path], int] = lambda _: 0, n: int = 1) -> list[str]:
        def read(path: Path) -> str:
            return path.read_text() if path.exists() else ""

        job = Job("job", 1, ("-c", code), "out", read, lambda _: None, acknowledged, n)
        reference = Reference("", "whole", ["out"], 1000.0, {})
        row = kills.kill_job(job, reference, tmp_path, "0", "a seed")
        return [problem.partition(" s: ")[2] or problem for problem in row["problems"]]

    return run


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (TORN, "ValueError: the output is not whole"),
        (UNTIDY, "after the next run, [], files differ: ['.part']"),
        (OTHER, "the next run, [], has another output: another"),
        (REFUSED, "the next run: 1, [], there is a lock\n"),
        (PARENT, "processes were left"),
    ],
)
def test_what_is_wrong_is_noticed(
    problems: Callable[..., list[str]], code: str, problem: str
) -> None:
    assert problems(code) == [problem]


def test_what_is_right_is_no_problem_and_what_gets_lost_is_one(
    problems: Callable[..., list[str]], tmp_path: Path
) -> None:
    assert problems(SOUND) == []
    sure: Iterator[int] = iter([5, 3])
    always = SOUND.replace("first and ", "")
    (tmp_path / "again").unlink()
    assert problems(always, lambda _: next(sure), 2) == ["ValueError: 5 were sure and 3 are left"]


@pytest.mark.slow
def test_killed_commands_lose_nothing(tmp_path: Path) -> None:
    chosen = kills.chosen_jobs("import,index --overwrite,link --resume,synonyms add,added")
    rows = kills.run_all(chosen, 20, 7, tmp_path, 1)
    assert kills.summary(rows)["kills"] > 15  # as many of every command as its share is
    assert [row["problems"] for row in rows if row["problems"]] == []
    again = kills.run_all(chosen, 20, 7, tmp_path, 1)  # has nothing left to do
    assert again == rows


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_half_written(number: int, tmp_path: Path) -> None:
    rows = (f"X:{n}\tname number {n} of {n * 7919 % 50_000}\n" for n in range(50_000))
    (tmp_path / "names.tsv").write_text("id\tname\n" + "".join(rows))
    process = subprocess.Popen(
        command("index", "names.tsv", "-o", "index", "-e", "chargrams"),
        cwd=tmp_path,
        env=clean_environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while not list(tmp_path.glob(".index.partial-*")) and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    assert [path.name for path in tmp_path.iterdir()] == ["names.tsv"]
