"""Speed of linking mentions that no sieve knows, beside an earlier version of canonym.

Disease and chemical mentions of BC5CDR are linked to MEDIC and to MeSH with the default encoder. A
mention counts as unknown if a search finds its best concept. Both versions build their own index,
then take turns in fresh processes, one warm-up before each figure. Beside the time on the clock
stands that of the processor, which other work on the machine disturbs less.

    git worktree add /tmp/before COMMIT
    python benchmarks/unknown_mentions.py --before /tmp/before/src
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from canonym.corpora.pubtator import read_pubtator
from record import data_folder, save

WARM, SINGLE = 300, 200

BUILD = """
import sys
from canonym import Linker, Terminology
from canonym.terminology.formats import read_terminology
source, folder, trees = sys.argv[1:]
options = {"trees": trees, "prefix": "MESH:"} if trees else {}
Linker.build(read_terminology(source, **options), folder=folder)
"""
UNKNOWN = """
import json, sys
from canonym import Linker
mentions = json.load(sys.stdin)
links = Linker.load(sys.argv[1]).link(mentions)
print(json.dumps([
    link.mention.text
    for link in links
    if link.candidates and not link.parts and link.candidates[0].sieve == "search"
]))
"""
MEASURE = """
import hashlib, json, sys, time
from canonym import Linker
folder, warm, single = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
mentions = json.load(sys.stdin)
linker = Linker.load(folder)
for _ in range(3):
    linker.link(mentions[:warm])
known, together = warm, len(mentions) - single
begun, worked = time.perf_counter(), time.process_time()
links = list(linker.link(mentions[warm:together]))
worked, begun = time.process_time() - worked, time.perf_counter() - begun
times = []
for mention in mentions[together:]:
    start = time.perf_counter()
    links += linker.link([mention])
    times.append((time.perf_counter() - start) * 1000)
times.sort()
answers = json.dumps([[c.id, c.score] for link in links for c in link.candidates])
print(json.dumps({
    "per_second": (together - warm) / begun,
    "per_processor_second": (together - warm) / worked,
    "p50_ms": times[len(times) // 2],
    "p99_ms": times[int(len(times) * 0.99)],
    "answers": hashlib.sha256(answers.encode()).hexdigest()[:16],
}))
"""


def python(source: str, script: str, *arguments: str, given: str = "", threads: int) -> str:
    """Run a script with a version of canonym, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        input=given, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def measure(versions: dict[str, str], folder: Path, options: Any) -> list[dict[str, Any]]:
    """Build both indexes of both terminologies, and time the versions in turn."""
    data = data_folder()
    corpus = [data / "bc5cdr" / f"{part}.pubtator" for part in ("train", "dev", "test")]
    mentions = sorted(
        {
            one.text
            for file in corpus
            for document in read_pubtator(file)
            for one in document.mentions
        }
    )
    sources = {
        "MEDIC": (data / "medic-2012" / "medic_06Jul2012.txt", ""),
        "MeSH": (data / "mesh-2024" / "terms.tsv.gz", str(data / "mesh-2024" / "trees.tsv.gz")),
    }
    rows = []
    for terminology, (source, trees) in sources.items():
        for name, code in versions.items():
            place = str(folder / f"{terminology}-{name}")
            python(code, BUILD, str(source), place, trees, threads=2)
        place = str(folder / f"{terminology}-now")
        every = json.dumps(mentions)
        unknown = json.loads(python(versions["now"], UNKNOWN, place, given=every, threads=2))
        chosen = json.dumps(unknown[:: max(len(unknown) // options.mentions, 1)])
        best: dict[str, dict[str, Any]] = {}
        for _ in range(options.repeats):
            for name, code in versions.items():
                place = str(folder / f"{terminology}-{name}")
                arguments = (place, str(WARM), str(SINGLE))
                printed = python(code, MEASURE, *arguments, given=chosen, threads=options.threads)
                found = json.loads(printed)
                before = best.setdefault(name, found)
                for key in ("p50_ms", "p99_ms"):
                    before[key] = min(before[key], found[key])
                for key in ("per_second", "per_processor_second"):
                    before[key] = max(before[key], found[key])
        row = {"terminology": terminology, "threads": options.threads}
        row |= {"mentions": len(json.loads(chosen)), **best}
        row["same answers"] = best["before"]["answers"] == best["now"]["answers"]
        row["single, times faster"] = best["before"]["p50_ms"] / best["now"]["p50_ms"]
        row["batch, times faster"] = best["now"]["per_second"] / best["before"]["per_second"]
        print(json.dumps(row, indent=1), flush=True)
        rows.append(row)
    return rows


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description="Time unknown mentions beside an earlier version.")
    parser.add_argument("--before", required=True, help="src folder of the earlier version")
    parser.add_argument("--mentions", type=int, default=2500, help="unknown mentions, about")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    versions = {"before": options.before, "now": str(Path(__file__).parents[1] / "src")}
    with TemporaryDirectory() as folder:
        rows = measure(versions, Path(folder), options)
    save("unknown_mentions", {"rows": rows}, packages=["numpy", "onnxruntime"])


if __name__ == "__main__":
    main()
