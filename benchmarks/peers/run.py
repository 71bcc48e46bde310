"""canonym beside other tools: the same names, mentions and rules, in one run on one machine.

Each peer of `PEERS` runs in a process of its own, in an environment that is made in the cache
folder at the first run. A peer that cannot be installed, or fails later, is listed with its error,
and the others go on. All indexes are built first. Then the peers take turns at mentions that none
of them has met; each turn has others. At last they answer the test parts, which canonym's
evaluation scores. A run that was stopped goes on where it was.

    python -m peers.run
    python -m peers.run --speed --limit 300   # the times alone; the accuracy stays as it was saved
    python -m peers.run --peers rapidfuzz "canonym" --name few
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from canonym.terminology.formats import read_terminology
from peers.processes import ADAPTORS, PeerFailed, PeerProcess, peer_cache
from peers.scoring import CORPORA, TERMINOLOGY, Task, distinct_documents, make_task
from record import RESULTS, data_folder, parser, save, settings_of

PEERS: dict[str, tuple[str, dict[str, str]]] = {
    name: (settings.pop("adaptor"), settings) for name, settings in settings_of(__file__).items()
}
"""Adaptor and settings of each peer."""

SPEED_NAMES, SPEED_MENTIONS = "NCBI disease", "BC5CDR disease"
"""Corpora whose names are indexed and whose mentions are looked up where time is measured: the
training mentions of the one are names, those of the other are not."""


class Comparison:
    """The peers of a run, their processes, and what was found so far."""

    def __init__(
        self,
        peers: Mapping[str, tuple[Path, dict[str, str]]],
        tasks: Mapping[str, Task],
        *,
        cache: Path,
        kept: Path,
        threads: int = 2,
        timeout: float = 1800,
    ) -> None:
        self.peers, self.tasks, self.cache, self._kept = peers, tasks, cache, kept
        self._options: dict[str, Any] = {"threads": threads, "timeout": timeout}
        self._running: dict[str, tuple[str, PeerProcess]] = {}
        empty: dict[str, Any] = {"builds": {}, "turns": [], "scores": {}, "error": ""}
        before = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        self.found = {name: before.get(name) or json.loads(json.dumps(empty)) for name in peers}

    def run(self, turns: Sequence[Mapping[str, Any]], corpora: Sequence[str]) -> None:
        """Build, take turns at the speed, and answer the questions of corpora."""
        for name in self.peers:
            self._attempt("build", self._process, name, SPEED_NAMES)
        for number, turn in enumerate(turns):
            for name in self.peers:
                if len(self.found[name]["turns"]) == number:
                    self._attempt(f"turn {number + 1}", self._time, name, turn)
        for corpus in corpora:
            for name in self.peers:
                if corpus not in self.found[name]["scores"]:
                    self._attempt(corpus, self._answer, name, corpus)
        self.close()
        self._kept.unlink(missing_ok=True)

    def close(self) -> None:
        """End all processes."""
        for _, process in self._running.values():
            process.close()
        self._running.clear()

    def _attempt(self, step: str, work: Callable[[str, Any], Any], name: str, given: Any) -> None:
        """Do a step of a peer that has not failed before, and keep what it found."""
        found = self.found[name]
        if found["error"]:
            return
        begun = time.perf_counter()
        try:
            work(name, given)
        except PeerFailed as failure:
            found["error"] = str(failure)
            if name in self._running:
                self._running.pop(name)[1].close()
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        self._kept.write_text(json.dumps(self.found), encoding="utf-8")
        told = found["error"] or f"{time.perf_counter() - begun:.1f} s"
        print(f"{name}, {step}: {told}", file=sys.stderr, flush=True)

    def _process(self, name: str, corpus: str) -> PeerProcess:
        """Return the process of a peer, with the names of a corpus indexed."""
        adaptor, settings = self.peers[name]
        indexed, process = self._running.get(name) or (
            "",
            PeerProcess(adaptor, self.cache, **self._options),
        )
        self._running[name] = corpus, process
        if indexed != corpus:
            built = process.ask("build", names=self.tasks[corpus].names, settings=settings)
            self.found[name]["builds"][corpus] = built["seconds"]
            self.found[name]["versions"] = built["versions"]
        return process

    def _time(self, name: str, turn: Mapping[str, Any]) -> None:
        measured = self._process(name, SPEED_NAMES).ask("measure", **turn)
        self.found[name]["turns"].append(measured)

    def _answer(self, name: str, corpus: str) -> None:
        task = self.tasks[corpus]
        found = self._process(name, corpus).ask("answer", documents=task.documents)
        self.found[name]["scores"][corpus] = task.score(found["candidates"])


def share_out(
    documents: Sequence[Sequence[str]], known: set[str], n_turns: int, limit: int = 0
) -> list[dict[str, Any]]:
    """Deal distinct mentions out to turns: a batch, one of unknown mentions, and single ones."""
    turns: list[dict[str, Any]] = []
    for turn in range(n_turns):
        dealt = documents[turn::n_turns]
        singles, unknown, mixed = dealt[::5], dealt[1::5] + dealt[2::5], dealt[3::5] + dealt[4::5]
        lacking = [[text for text in some if text not in known] for some in unknown]
        batches = {"distinct": mixed, "unknown": [some for some in lacking if some]}
        turns.append(
            {
                "batches": {kind: first(some, limit) for kind, some in batches.items()},
                "singles": [text for some in first(singles, limit) for text in some],
            }
        )
    return turns


def first(documents: Sequence[Sequence[str]], limit: int) -> list[list[str]]:
    """Return the first documents, up to about `limit` mentions; all of them without a limit."""
    chosen: list[list[str]] = []
    for document in documents:
        if limit and sum(map(len, chosen)) >= limit:
            break
        chosen.append([*document])
    return chosen


def row_of(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a peer: medians of its turns, and quantiles of all single mentions."""
    row: dict[str, Any] = {"peer": name, "versions": found.get("versions", {})}
    if found["error"]:
        row["error"] = found["error"]
    row["accuracy"] = found["scores"]
    row["build_seconds"] = found["builds"].get(SPEED_NAMES)
    turns = found["turns"]
    if turns:
        for kind in ("distinct", "unknown"):
            rates = [turn[kind]["mentions"] / turn[kind]["seconds"] for turn in turns]
            count = sum(turn[kind]["mentions"] for turn in turns)
            row[kind] = {"mentions": count, "per_second": median(rates)}
        singles = [one for turn in turns for one in turn["single_ms"]]
        p50, p99 = np.quantile(singles, [0.5, 0.99]).tolist()
        row["single"] = {"mentions": len(singles), "p50_ms": p50, "p99_ms": p99}
        row["peak_megabytes"] = max(turn["peak_megabytes"] for turn in turns)
    return row


def with_saved_accuracy(rows: Sequence[dict[str, Any]], result: str) -> list[dict[str, Any]]:
    """Return rows with the accuracy of the result that is saved."""
    path = RESULTS / f"{result}.json"
    saved = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    accuracy = {row["peer"]: row["accuracy"] for row in saved}
    return [{**row, "accuracy": accuracy.get(row["peer"], {})} for row in rows]


def _key(options: argparse.Namespace) -> str:
    """Tell runs apart: a run goes on only with the same code and options."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256(repr(sorted(vars(options).items())).encode())
    for path in sorted([*root.glob("src/**/*.py"), *Path(__file__).parent.rglob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _options() -> argparse.Namespace:
    arguments = parser(__doc__)
    arguments.add_argument(
        "--peers", nargs="+", choices=PEERS, default=[*PEERS], help="these alone"
    )
    arguments.add_argument("--name", default="peers", help="save results/NAME.json")
    arguments.add_argument("--speed", action="store_true", help="keep the accuracy that was saved")
    arguments.add_argument("--limit", type=int, default=0, help="mentions of a batch, about")
    arguments.add_argument("--turns", type=int, default=3)
    arguments.add_argument("--threads", type=int, default=os.cpu_count())
    arguments.add_argument("--budget", type=float, default=20, help="seconds of a batch, about")
    arguments.add_argument(
        "--timeout", type=float, default=1800, help="seconds of a build or answer"
    )
    return arguments.parse_args()


def main() -> None:
    """Compare, print and save."""
    options = _options()
    data = data_folder()
    cache = peer_cache()
    terminology = read_terminology(data / TERMINOLOGY)
    tasks = {name: make_task(data, terminology, corpus) for name, corpus in CORPORA.items()}
    names = [text for text, _ in tasks[SPEED_NAMES].names]
    mentions = distinct_documents(terminology, CORPORA[SPEED_MENTIONS])
    turns = share_out(mentions, set(names), options.turns, options.limit)
    for number, turn in enumerate(turns):
        turn |= {"pilot": names[number :: len(turns)][:100], "budget": options.budget}
    chosen = {
        name: (ADAPTORS / f"{adaptor}.py", settings)
        for name, (adaptor, settings) in PEERS.items()
        if name in options.peers
    }
    comparison = Comparison(
        chosen, tasks, cache=cache, kept=cache / f"run-{_key(options)}.json",
        threads=options.threads, timeout=options.timeout,
    )  # fmt: skip
    try:
        comparison.run(turns, [] if options.speed else [*CORPORA])
    finally:
        comparison.close()
    rows = [row_of(name, found) for name, found in comparison.found.items()]
    if options.speed:
        rows = with_saved_accuracy(rows, options.name)
    for row in rows:
        print(json.dumps(row))
    files = [data / TERMINOLOGY]
    files += [data / corpus.folder / "test.pubtator" for corpus in CORPORA.values()]
    result = {
        "limit": options.limit, "turns": options.turns, "threads": options.threads,
        "names": len(set(names)), "rows": rows,
    }  # fmt: skip
    save(options.name, result, packages=["numpy", "onnxruntime"], data=files)


if __name__ == "__main__":
    main()
