"""Peers of the comparison: made-up ones, in processes of their own, without any network."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Document, Mention, Name, Terminology
from canonym.evaluation.dictionary import build_dictionary
from canonym.evaluation.protocols import PROTOCOLS
from canonym.evaluation.questions import make_questions
from canonym.terminology.ids import ConceptIds
from peers import processes, run
from peers.processes import PeerFailed, PeerProcess, environment, requirements
from peers.run import ADAPTORS, PEERS, SPEED_NAMES, Comparison, row_of, share_out
from peers.scoring import Task
from peers.worker import Peer

HEAD = "REQUIREMENTS = []\nPACKAGES = []\n"
EQUAL = """
def build(names, **settings):
    print("building")  # is no answer
    return {text for text, _ in names}

def candidates(index, mentions):
    return [[(text, None)] if text in index else [] for text in mentions]
"""

Adaptor = Callable[..., Path]


@pytest.fixture
def adaptor(tmp_path: Path) -> Adaptor:
    def write(body: str, head: str = HEAD, name: str = "made_up") -> Path:
        path = tmp_path / f"{name}.py"
        path.write_text(head + body, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def task() -> Task:
    records = [Concept("X:1", "cold"), Concept("X:2", "common cold"), Concept("X:3", "fever")]
    terminology = Terminology.build([*records, Name("cold", "X:2")])
    text = "a cold, a fever, a chill"
    mentions = (
        Mention("cold", 2, 6, ids=("X:2",)),
        Mention("fever", 10, 15, ids=("X:3",)),
        Mention("chill", 19, 24, ids=("X:3",)),
    )
    asked = make_questions(
        [Document("1", text, mentions)], ConceptIds(terminology), PROTOCOLS["biosyn"]
    )
    dictionary = build_dictionary(terminology, encoders=())
    names = [(name.text, name.concept_id) for name in terminology.iter_names()]
    return Task(asked.questions, dictionary, names)


def process(adaptor: Path, tmp_path: Path, timeout: float = 60) -> PeerProcess:
    return PeerProcess(adaptor, tmp_path, threads=1, timeout=timeout)


def compare(adaptors: dict[str, Path], task: Task, folder: Path) -> Comparison:
    return Comparison(
        {name: (path, {}) for name, path in adaptors.items()}, {SPEED_NAMES: task},
        cache=folder, kept=folder / "kept.json", threads=1,
    )  # fmt: skip


TURN = {
    "batches": {"distinct": [["cold"], ["fever"]], "unknown": [["chill"]]},
    "singles": ["cold", "chill"], "pilot": ["fever", "cold"], "budget": 1,
}  # fmt: skip


# --- the protocol of adaptors ---------------------------------------------------------------------


def test_a_process_builds_answers_and_measures(
    adaptor: Adaptor, tmp_path: Path, task: Task
) -> None:
    peer = process(adaptor(EQUAL), tmp_path)
    built = peer.ask("build", names=task.names, settings={})
    found = peer.ask("answer", documents=[["cold", "chill"], ["cold"]])
    measured = peer.ask("measure", **TURN)
    peer.close()
    assert built["seconds"] > 0
    assert found["candidates"] == [[["cold", None]], [], [["cold", None]]]
    assert measured["distinct"]["mentions"] == 2
    assert measured["unknown"]["mentions"] == 1
    assert len(measured["single_ms"]) == 2
    assert 1 < measured["peak_megabytes"] < 500


def test_settings_reach_the_adaptor_and_equal_mentions_are_asked_once(
    adaptor: Adaptor, tmp_path: Path
) -> None:
    body = """
def build(names, *, word):
    return word

def candidates(index, mentions):
    return [[(f"{index} {len(mentions)}", "X:1")] for _ in mentions]
"""
    peer = process(adaptor(body), tmp_path)
    peer.ask("build", names=[["cold", "X:1"]], settings={"word": "of"})
    found = peer.ask("answer", documents=[["a", "b"], ["a"]])["candidates"]
    peer.close()
    assert found == [[["of 2", "X:1"]]] * 3


def test_an_adaptor_may_see_documents(adaptor: Adaptor, tmp_path: Path) -> None:
    body = """
def build(names):
    return None

def candidates_in_documents(index, documents):
    return [[(" ".join(some), "X:1")] for some in documents for _ in some]
"""
    peer = process(adaptor(body), tmp_path)
    peer.ask("build", names=[], settings={})
    found = peer.ask("answer", documents=[["a", "b"], ["a"]])["candidates"]
    peer.close()
    assert [one[0][0] for one in found] == ["a b", "a b", "a"]


@pytest.mark.parametrize("name", sorted({adaptor for adaptor, _ in PEERS.values()}))
def test_every_adaptor_says_what_it_needs(name: str) -> None:
    assert all(
        "==" in one or one == "more-itertools" for one in requirements(ADAPTORS / f"{name}.py")
    )


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("exact", {}),
        ("linker", {}),
    ],
)
def test_the_peers_without_an_environment_find_a_name(
    name: str, settings: dict[str, str], task: Task
) -> None:
    peer = Peer(ADAPTORS / f"{name}.py")
    peer.build(task.names, settings)
    found = [of_mention[0] for of_mention in peer.answer([["fever"], ["fever"]])["candidates"]]
    assert found in ([("fever", None)] * 2, [("fever", "X:3")] * 2)


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_peer_that_cannot_be_installed_says_why(
    adaptor: Adaptor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(command: list[str], stdout: Any, **_: Any) -> subprocess.CompletedProcess[str]:
        if "pip" in command:
            stdout.write(f"Looking in {tmp_path}\nERROR: No distribution for nowhere==1\nhint\n")
            stdout.flush()
        return subprocess.CompletedProcess(command, int("pip" in command))

    monkeypatch.setattr(processes.subprocess, "run", fail)
    path = adaptor(EQUAL, 'REQUIREMENTS = ["nowhere==1"]\nPACKAGES = ["nowhere"]\n')
    with pytest.raises(PeerFailed) as failure:
        environment(path, tmp_path)
    assert str(failure.value) == "cannot be installed: ERROR: No distribution for nowhere==1"


def test_an_environment_is_made_once_and_holds_torch(
    adaptor: Adaptor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def record(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        Path(command[-1] if "venv" in command else tmp_path).mkdir(parents=True, exist_ok=True)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(processes.subprocess, "run", record)
    path = adaptor(EQUAL, 'REQUIREMENTS = ["somewhere==1"]\nPACKAGES = []\n')
    first, second = environment(path, tmp_path), environment(path, tmp_path)
    assert first == second != sys.executable
    assert len(commands) == 2
    install = commands[1]
    constraints = Path(install[install.index("-c") + 1]).read_text(encoding="utf-8")
    assert install[-1] == "somewhere==1"
    assert [line.split("==")[0] for line in constraints.splitlines()] == ["torch"]


CRASHES = """
import os

def build(names):
    return None

def candidates(index, mentions):
    if "chill" in mentions:
        {crash}
    return [[] for _ in mentions]
"""


@pytest.mark.parametrize(
    ("crash", "reason"),
    [
        ("raise ValueError('too cold')", "measure failed: ValueError: too cold"),
        ("os._exit(3)", "measure failed: no reason given"),
    ],
)
def test_a_peer_that_crashes_half_way_is_listed_and_the_others_go_on(
    crash: str, reason: str, adaptor: Adaptor, task: Task, tmp_path: Path
) -> None:
    peers = {
        "crashes": adaptor(CRASHES.format(crash=crash), name="crashes"),
        "equal": adaptor(EQUAL, name="equal"),
    }
    comparison = compare(peers, task, tmp_path)
    comparison.run([TURN, TURN], [SPEED_NAMES])
    rows = {name: row_of(name, found) for name, found in comparison.found.items()}
    assert rows["crashes"]["error"] == reason
    assert rows["crashes"]["build_seconds"] > 0
    assert "distinct" not in rows["crashes"]
    assert "error" not in rows["equal"]
    assert rows["equal"]["distinct"]["mentions"] == 4
    assert rows["equal"]["accuracy"][SPEED_NAMES]["lenient, all"]["value"] == pytest.approx(2 / 3)


def test_a_peer_that_takes_too_long_is_ended(adaptor: Adaptor, tmp_path: Path) -> None:
    body = "import time\n\ndef build(names):\n    time.sleep(60)\n"
    peer = process(adaptor(body), tmp_path, timeout=0.3)
    with pytest.raises(PeerFailed, match="build took longer than 0 s"):
        peer.ask("build", names=[], settings={})


def test_a_name_that_nobody_has_is_the_failure_of_its_peer(
    adaptor: Adaptor, task: Task, tmp_path: Path
) -> None:
    body = EQUAL.replace("[(text, None)] if text in index else []", "[('who', None)]")
    comparison = compare({"odd": adaptor(body)}, task, tmp_path)
    comparison.run([], [SPEED_NAMES])
    assert "'who' for 'cold'" in comparison.found["odd"]["error"]


def test_a_run_that_was_stopped_goes_on_where_it_was(
    adaptor: Adaptor, task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peers = {"equal": adaptor(EQUAL)}
    stopped = compare(peers, task, tmp_path)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stopped, "_answer", stop)
    with pytest.raises(KeyboardInterrupt):
        stopped.run([TURN], [SPEED_NAMES])
    stopped.close()
    kept = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    assert len(kept["equal"]["turns"]) == 1
    again = compare(peers, task, tmp_path)
    again.run([TURN], [SPEED_NAMES])
    assert again.found["equal"]["turns"] == kept["equal"]["turns"]
    assert SPEED_NAMES in again.found["equal"]["scores"]
    assert not (tmp_path / "kept.json").exists()


# --- scores and shares ----------------------------------------------------------------------------


def test_names_get_all_their_concepts_and_ids_stand_for_themselves(task: Task) -> None:
    by_name = task.score([[("cold", None)], [("fever", None)], []])
    assert by_name["lenient, all"]["value"] == pytest.approx(2 / 3)
    assert by_name["strict, all"]["value"] == pytest.approx(1 / 3)  # X:1 has it as its label
    by_id = task.score([[("cold", "X:2")], [("fever", "X:1")], [("shiver", "X:3")]])
    assert by_id["lenient, all"]["value"] == 1.0
    assert by_id["strict, all"]["value"] == pytest.approx(2 / 3)
    with pytest.raises(PeerFailed, match="2 answers to 3 strings"):
        task.score([[], []])


def test_no_mention_is_dealt_out_twice_and_unknown_ones_are_no_names() -> None:
    documents = [[f"{number} a", f"{number} b"] for number in range(60)]
    known = {f"{number} a" for number in range(60)}
    turns = share_out(documents, known, 3)
    dealt = [
        text
        for turn in turns
        for some in (*turn["batches"].values(), [turn["singles"]])
        for document in some
        for text in document
    ]
    assert len(dealt) == len(set(dealt)) == 96  # 120 less the names among the unknown
    assert not known & {
        text for turn in turns for some in turn["batches"]["unknown"] for text in some
    }
    limited = share_out(documents, known, 3, limit=5)
    assert [len(turn["singles"]) for turn in limited] == [6, 6, 6]


def test_a_row_has_medians_of_turns_and_quantiles_of_single_mentions() -> None:
    turns = [
        {
            "distinct": {"mentions": 10, "seconds": seconds},
            "unknown": {"mentions": 4, "seconds": 2.0},
            "single_ms": [1.0, 3.0], "peak_megabytes": peak,
        }
        for seconds, peak in ((1.0, 7.0), (2.0, 9.0), (5.0, 8.0))
    ]  # fmt: skip
    found = {"builds": {SPEED_NAMES: 0.5}, "turns": turns, "scores": {}, "error": ""}
    row = row_of("one", found)
    assert row["distinct"] == {"mentions": 30, "per_second": 5.0}
    assert row["unknown"] == {"mentions": 12, "per_second": 2.0}
    assert row["single"] == {"mentions": 6, "p50_ms": 2.0, "p99_ms": 3.0}
    assert (row["peak_megabytes"], row["build_seconds"]) == (9.0, 0.5)


def test_the_times_alone_keep_the_accuracy_that_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = {"rows": [{"peer": "one", "accuracy": {"NCBI disease": 1}}]}
    (tmp_path / "peers.json").write_text(json.dumps(saved), encoding="utf-8")
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    rows = run.with_saved_accuracy(
        [{"peer": "one", "accuracy": {}}, {"peer": "two", "accuracy": {}}], "peers"
    )
    assert [row["accuracy"] for row in rows] == [{"NCBI disease": 1}, {}]
