"""Speed of linking unknown mentions in two revisions of canonym, run in turn, and their answers.

Mentions of BC5CDR that no sieve knows, whose best concept a search finds, are linked to MEDIC and
to MeSH, many at a time and one by one. Both revisions build their own index. Each run is a process
with the sources of one checkout. Beside the time on the clock stands that of the processor, which
other work disturbs less.

    git worktree add ../before REVISION
    python benchmarks/unknown_mentions.py ../before .
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from inputs import MEDIC, MESH, PARTS, TREES, documents_of, texts_of
from processes import run_python, run_script
from record import data_folder, parser, save_rows

WARM, SINGLE = 300, 200

# The scripts use only names that both revisions have.
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


def compare(options: Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """Build both indexes of both terminologies, and time the revisions in turn."""
    data = data_folder()
    mentions = sorted(set(texts_of(documents_of("bc5cdr", *PARTS))))
    versions = {"before": options.before / "src", "now": options.after / "src"}
    for terminology, files in {"MEDIC": (MEDIC,), "MeSH": (MESH, TREES)}.items():
        places = {name: folder / f"{terminology}-{name}" for name in versions}
        source, trees = (*(data / file for file in files), "")[:2]
        for name, code in versions.items():
            run_python("-c", BUILD, source, places[name], trees, source=code)
        unknown = run_script(UNKNOWN, places["now"], entered=mentions, source=versions["now"])
        asked = unknown[:: max(len(unknown) // options.mentions, 1)]
        best: dict[str, dict[str, Any]] = {}
        for _ in range(options.repeats):
            for name, code in versions.items():
                arguments = (places[name], str(WARM), str(SINGLE))
                threads = str(options.threads)
                run = run_script(
                    MEASURE, *arguments, entered=asked, source=code, OMP_NUM_THREADS=threads
                )
                fastest = best.setdefault(name, run)
                for key in ("p50_ms", "p99_ms"):
                    fastest[key] = min(fastest[key], run[key])
                for key in ("per_second", "per_processor_second"):
                    fastest[key] = max(fastest[key], run[key])
        row = {"terminology": terminology, "threads": options.threads, "mentions": len(asked)}
        row |= best
        row["same answers"] = best["before"]["answers"] == best["now"]["answers"]
        row["single, times faster"] = best["before"]["p50_ms"] / best["now"]["p50_ms"]
        row["batch, times faster"] = best["now"]["per_second"] / best["before"]["per_second"]
        yield row


def main() -> None:
    """Run both revisions in turn and write the result."""
    arguments = parser(__doc__)
    arguments.add_argument("before", type=Path)
    arguments.add_argument("after", type=Path)
    arguments.add_argument("--mentions", type=int, default=2500, help="about how many")
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--threads", type=int, default=2)
    with TemporaryDirectory() as scratch:
        rows = compare(arguments.parse_args(), Path(scratch))
        save_rows("unknown_mentions", rows, packages=["numpy", "onnxruntime"])


if __name__ == "__main__":
    main()
