"""Memory and time of `canonym import` and `canonym index`, stage by stage, and of opening.

The names are those that `recombined` makes. Every command is a process of its own. Twenty times a
second the memory of it and of its children is added up, from ``/proc/PID/status``: "anonymous" is
RssAnon and RssShmem, what a process cannot give back; "mapped" is RssFile, pages of files that the
system may drop. Peaks go to the stage that the command reported last. The index is then opened in
fresh processes, which link 1,000 mentions of BC5CDR.

    python benchmarks/build_memory.py --names 500000 2000000 15000000 [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from canonym.corpora.pubtator import read_pubtator
from recombined import FILES, write_table
from record import data_folder, save

MENTIONS, CORPUS = 1000, "bc5cdr/test.pubtator"
OPENED = 3  # processes
STAGE = re.compile(r"progress: (.+): [\d,]+ (?:names|records)$")

OPEN = """
import json, sys, time
from canonym import Linker
def memory():
    lines = dict(line.split(":") for line in open("/proc/self/status") if "kB" in line)
    return {kind: round(int(lines[key].split()[0]) / 1024)
            for kind, key in (("anonymous", "RssAnon"), ("mapped", "RssFile"))}
mentions = json.load(sys.stdin)
begun = time.perf_counter()
linker = Linker.load(sys.argv[1])
opened = time.perf_counter() - begun
found = {"load_seconds": opened, "loaded_megabytes": memory()}
for name in ("link_seconds", "link_again_seconds"):
    begun = time.perf_counter()
    linker.link(mentions)
    found[name] = time.perf_counter() - begun
print(json.dumps(found | {"linked_megabytes": memory()}))
"""


class Watch:
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
            anonymous, mapped = memory_of(self._process)
            for kind, found in (
                ("anonymous", anonymous),
                ("mapped", mapped),
                ("together", anonymous + mapped),
            ):
                stage[kind] = max(stage[kind], round(found / 1024))


def memory_of(process: int) -> tuple[int, int]:
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
        more = memory_of(int(child))
        anonymous, mapped = anonymous + more[0], mapped + more[1]
    return anonymous, mapped


def watched(*arguments: str) -> dict[str, Any]:
    """Run a command of canonym, and return its seconds and its memory, whole and by stage."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "canonym", *arguments, "-v"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        watch = Watch(process.pid)
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            found = STAGE.search(line)
            if found:
                watch.stage = found[1]
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


def opened(index: Path, mentions: list[str]) -> dict[str, Any]:
    """Open an index in fresh processes and link mentions; return the middle of each figure."""
    runs = []
    for _ in range(OPENED):
        done = subprocess.run(
            [sys.executable, "-c", OPEN, str(index)],
            input=json.dumps(mentions),
            capture_output=True,
            text=True,
            check=True,
        )
        runs.append(json.loads(done.stdout))

    def middle(values: list[Any]) -> Any:
        if isinstance(values[0], dict):
            return {key: middle([value[key] for value in values]) for key in values[0]}
        return round(statistics.median(values), 3)

    found: dict[str, Any] = middle(runs)
    return found


def measure(n: int, folder: Path, mentions: list[str], options: list[str]) -> dict[str, Any]:
    """Import and index `n` names, unless that is done, and open the index."""
    table, terminology, index = folder / f"{n}.tsv", folder / f"{n}.db", folder / f"{n}-index"
    if not table.exists():
        write_table(table, n)
    found: dict[str, Any] = {"names": n}
    found["import"] = watched("import", str(table), "-o", str(terminology), "--overwrite")
    found["index"] = watched("index", str(terminology), "-o", str(index), "--overwrite", *options)
    sizes = [file.stat().st_size for file in index.rglob("*") if file.is_file()]
    found["index_megabytes"] = round(sum(sizes) / 1e6)
    return found | {"opened": opened(index, mentions)}


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--names", type=int, nargs="+", default=[500_000, 2_000_000, 15_000_000])
    parser.add_argument("--folder", type=Path, help="keep tables and indexes here")
    parser.add_argument("--options", nargs=argparse.REMAINDER, default=[], help="of canonym index")
    arguments = parser.parse_args()
    corpus = data_folder() / CORPUS
    known = (m.text for document in read_pubtator(corpus) for m in document.mentions)
    mentions = list(dict.fromkeys(known))[:MENTIONS]
    sizes = []
    with TemporaryDirectory() as scratch:
        for n in arguments.names:
            sizes.append(measure(n, arguments.folder or Path(scratch), mentions, arguments.options))
            print(json.dumps(sizes[-1]), flush=True)
    path = save(
        "build_memory",
        {"options": arguments.options, "mentions": len(mentions), "sizes": sizes},
        packages=["numpy"],
        data=[*(data_folder() / file for file in FILES), corpus],
    )
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
