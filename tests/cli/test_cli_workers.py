"""``--workers`` of link and evaluate: the same bytes, whatever their number."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from canonym import Concept, Linker, Name, Terminology
from tests.cli.running import command, run

PARTS = ("heart", "liver", "kidney", "lung", "skin", "bone", "nerve", "muscle", "eye", "ear")
KINDS = ("failure", "attack", "cancer", "infection", "inflammation", "injury", "pain", "cyst")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of eighty concepts, with a synonym that was added."""
    records: list[Concept | Name] = []
    for number, (part, kind) in enumerate(itertools.product(PARTS, KINDS)):
        records += [
            Concept(f"X:{number}", f"{part} {kind}"),
            Name(f"{kind} of the {part}", f"X:{number}"),
        ]
    folder = tmp_path_factory.mktemp("workers") / "index"
    linker = Linker.build(Terminology.build(records), folder=folder)
    linker.synonyms.add("the big one", "X:1")
    return folder


@pytest.fixture
def mentions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """More mentions than four batches hold; some are composite, misspelt, or nothing."""
    monkeypatch.setattr("canonym.linking.links.BATCH", 16)
    words = [f"{a} and {b} {KINDS[0]}s" for a, b in itertools.pairwise(PARTS)]
    return words + [f"{kind} {part[:-1]}" for part in PARTS for kind in KINDS] + ["the big one", ""]


def corpus(mentions: list[str], first: int = 0) -> str:
    """Write PubTator documents of seven mentions each."""
    documents = []
    for number, place in enumerate(range(0, len(mentions), 7), start=first):
        some = [one for one in mentions[place : place + 7] if one]
        text, lines = "", []
        for concept, one in enumerate(some):
            start = len(text)
            text += f"{one} here. "
            lines.append(f"{number}\t{start}\t{start + len(one)}\t{one}\tDisease\tX:{concept}")
        documents.append("\n".join([f"{number}|t|{text.strip()}", f"{number}|a|", *lines, ""]))
    return "\n".join(documents)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("names", ["--explain", "-k", "3", "-o", "out.jsonl"]),
        ("column", ["--column", "dx", "-o", "out.csv"]),
        ("corpus", ["-o", "out.pubtator"]),
    ],
)
def test_the_bytes_are_the_same_for_any_number(
    index: Path, mentions: list[str], tmp_path: Path, kind: str, options: list[str]
) -> None:
    file = tmp_path / kind
    if kind == "corpus":
        file.write_text(corpus(mentions))
    elif kind == "column":
        file.write_text("".join(["id,dx\n", *(f'{i},"{one}"\n' for i, one in enumerate(mentions))]))
    else:
        file.write_text("".join(f"{one or '-'}\n" for one in mentions))
    written = set()
    for workers in ("1", "2", "3"):
        out = tmp_path / f"{workers}-{options[-1]}"
        given = [*options[:-1], str(out), "--workers", workers]
        run("link", "-q", "--index", index, "--file", file, *given)
        written.add(out.read_bytes())
    (content,) = written
    assert content.count(b"\n") >= len(mentions)
    assert b"the big one" in content
    assert content.count(b"X:1") > 3


@pytest.mark.parametrize(
    "options",
    [
        ["--protocol", "biosyn"],
        ["--protocol", "refined", "--training"],
        ["--protocol", "raw"],
    ],
)
def test_an_evaluation_is_the_same_for_any_number(
    index: Path, mentions: list[str], tmp_path: Path, options: list[str]
) -> None:
    file = tmp_path / "corpus.pubtator"
    file.write_text(corpus(mentions))
    if options[-1] == "--training":
        before = tmp_path / "train.pubtator"
        before.write_text(corpus(mentions[::2], 1000))
        options = [*options, str(before)]
    given = ["evaluate", str(file), "--index", str(index), *options, "--mentions"]
    written = []
    for workers in ("1", "3"):
        out = tmp_path / f"{workers}.json"
        run(*given, "--json", out, "--workers", workers)
        written.append(out.read_bytes())
    assert len(json.loads(written[0])["mentions"]) > 30
    assert written[0] == written[1]


def test_a_stopped_run_goes_on_with_another_number(index: Path, tmp_path: Path) -> None:
    """A worker is killed; then the run is stopped with Ctrl-C; then it ends."""
    out = tmp_path / "out.tsv"
    batches = [
        "".join(f"{n} {PARTS[i % 10]} {KINDS[i % 8]}\n" for i in range(1024)) for n in range(18)
    ]
    arguments = ["link", "--index", str(index), "-f", "-", "-o", str(out), "--resume"]

    killed = _started([*arguments, "--workers", "2"], batches[:5], out, longer_than=0)
    os.kill(_workers(killed)[0], signal.SIGKILL)
    # Half of the input is left, however much this run does: three workers write nothing before
    # each has had two batches.
    _, errors = killed.communicate("".join(batches[5:9]), timeout=60)
    assert killed.returncode == 1
    assert "Error: a worker process ended before its work was done: it was killed" in errors
    assert "with --resume continues from there" in errors
    assert "Traceback" not in errors

    done = out.with_name("out.tsv.partial").stat().st_size
    stopped = _started([*arguments, "--workers", "3"], batches, out, longer_than=done)
    workers = _workers(stopped)
    os.killpg(stopped.pid, signal.SIGINT)  # as a terminal does
    _, errors = stopped.communicate(timeout=60)  # workers that still start end when they have
    assert stopped.returncode == 130
    assert errors.endswith("Stopped.\n")
    assert "with --resume continues from there" in errors
    assert "Traceback" not in errors
    assert len(workers) == 3
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)

    run(*arguments, input="".join(batches))
    run(*arguments[:3], "-o", tmp_path / "whole.tsv", input="".join(batches))
    assert out.read_bytes() == (tmp_path / "whole.tsv").read_bytes()


def _started(
    arguments: list[str], batches: list[str], out: Path, *, longer_than: int
) -> subprocess.Popen[str]:
    """Start a command that waits for more input, and wait until it has written something."""
    process = subprocess.Popen(
        command(*arguments),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write("".join(batches))
    process.stdin.flush()
    partial = out.with_name(out.name + ".partial")
    deadline = time.monotonic() + 60
    while not partial.exists() or partial.stat().st_size <= longer_than:
        assert process.poll() is None
        assert time.monotonic() < deadline, f"{partial} has not grown beyond {longer_than} bytes"
        time.sleep(0.02)
    return process


def _workers(process: subprocess.Popen[str]) -> list[int]:
    """Return the processes that a process has started, without the helper of multiprocessing."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/children")
    found = [one for thread in threads for one in thread.read_text().split()]
    return [int(one) for one in found if "spawn_main" in Path(f"/proc/{one}/cmdline").read_text()]
