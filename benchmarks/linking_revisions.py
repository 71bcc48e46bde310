"""Speed of linking in two revisions of canonym, run in turn: same answers, and the ratio.

The disease mentions of the BC5CDR test part are linked to MEDIC by the default encoder, a document
at a time. Two more processes show how long canonym takes to start: the command that links one name,
and the one in which the service reads an upload. Each run is a process with the sources of one
checkout; processor time counts, and the median of the ratios of neighbouring runs.

With ``--unknown`` mentions of BC5CDR that no sieve knows, whose best concept a search finds, are
linked to MEDIC and to MeSH, many at a time and one by one. Both revisions build their own index.
Beside the time on the clock stands that of the processor, which other work disturbs less.

    git worktree add ../before REVISION
    python benchmarks/linking_revisions.py ../before .
    python benchmarks/linking_revisions.py ../before . --unknown
"""

from __future__ import annotations

import hashlib
import json
import statistics
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from canonym import Linker
from canonym.terminology import import_terminology
from inputs import MEDIC, MESH, PARTS, TREES, documents_of, part_of, texts_of
from processes import run_python, run_script, seconds_of_children
from record import data_folder, parser, save

SIDES = ("before", "after")
WARM, SINGLE = 300, 200

# The scripts use only names that both revisions have.
LINK = """
import hashlib, json, sys, time
from dataclasses import replace
from canonym import Linker
from canonym.corpora import read_pubtator
linker, documents = Linker.load(sys.argv[1]), []
for document in read_pubtator(sys.argv[2]):
    mentions = tuple(one for one in document.mentions if one.type == "Disease")
    documents.append(replace(document, mentions=mentions))
list(linker.link_documents(documents[:20]))
began = time.process_time()
found = [[link.ids for link in links] for _, links in linker.link_documents(documents)]
seconds = time.process_time() - began
digest = hashlib.sha256(repr(found).encode()).hexdigest()
print(json.dumps({"seconds": seconds, "mentions": sum(map(len, found)), "digest": digest}))
"""
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


# --- documents, and the start ---------------------------------------------------------------------


def measured(source: Path, index: Path, upload: Path) -> dict[str, Any]:
    """Link the corpus, link a name and read an upload, each in a process of its own."""

    def run(*arguments: str | Path) -> tuple[float, str]:
        before = seconds_of_children()
        printed = run_python(*arguments, source=source, OMP_NUM_THREADS="1")
        return seconds_of_children() - before, printed

    corpus = part_of("bc5cdr", "test")
    result = run_script(LINK, index, corpus, source=source, OMP_NUM_THREADS="1")
    name, link = run("-m", "canonym", "link", "--index", index, "heart attack")
    read, _ = run("-m", "canonym.review.upload", upload, "t.csv", "[]")
    seconds = {"linking": result.pop("seconds"), "one name": name, "an upload": read}
    digest = hashlib.sha256((result.pop("digest") + link).encode()).hexdigest()
    return {**result, "seconds": seconds, "digest": digest}


def compare(options: Namespace, folder: Path) -> dict[str, Any]:
    """Run both revisions in turn, and return the ratios of their seconds."""
    index = folder / "index"
    Linker.build(import_terminology(data_folder() / MEDIC, folder / "medic.db"), folder=index)
    (folder / "upload").write_text("mention,n\nheart attack,1\n", encoding="utf-8")
    runs = [
        {side: measured(getattr(options, side) / "src", index, folder) for side in SIDES}
        for _ in range(options.repeats)
    ]
    if len({run[side]["digest"] for run in runs for side in SIDES}) > 1:
        raise SystemExit("the two revisions link differently")
    ratios = {
        what: [run["before"]["seconds"][what] / run["after"]["seconds"][what] for run in runs]
        for what in runs[0]["after"]["seconds"]
    }
    return {
        "mentions": runs[0]["after"]["mentions"],
        "same answers": True,
        "times as fast": {what: round(statistics.median(of), 3) for what, of in ratios.items()},
        "ratios": {what: [round(ratio, 3) for ratio in of] for what, of in ratios.items()},
    }


# --- unknown mentions -----------------------------------------------------------------------------


def compare_unknown(options: Namespace, folder: Path) -> Iterator[dict[str, Any]]:
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
        print(json.dumps(row, indent=1), flush=True)
        yield row


def main() -> None:
    """Run both revisions in turn and write the result."""
    arguments = parser(__doc__)
    arguments.add_argument("before", type=Path)
    arguments.add_argument("after", type=Path)
    arguments.add_argument("--unknown", action="store_true", help="mentions that no sieve knows")
    arguments.add_argument("--mentions", type=int, default=2500, help="unknown ones, about")
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--threads", type=int, default=2, help="for unknown mentions")
    options = arguments.parse_args()
    with TemporaryDirectory() as scratch:
        if options.unknown:
            rows = list(compare_unknown(options, Path(scratch)))
            save("unknown_mentions", {"rows": rows}, packages=["numpy", "onnxruntime"])
        else:
            result = compare(options, Path(scratch))
            print(json.dumps(result, indent=1))
            files = [data_folder() / MEDIC, part_of("bc5cdr", "test")]
            save("linking_revisions", result, packages=("numpy",), data=files)


if __name__ == "__main__":
    main()
