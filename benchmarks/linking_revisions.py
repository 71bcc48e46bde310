"""Speed of linking in two revisions of canonym, run in turn: same answers, and the ratio.

The disease mentions of the BC5CDR test part are linked to MEDIC by the default encoder, a document
at a time. Two more processes show how long canonym takes to start: the command that links one name,
and the one in which the service reads an upload. Each run is a process with the sources of one
checkout; processor time counts, and the median of the ratios of neighbouring runs.

    git worktree add ../before REVISION
    python benchmarks/linking_revisions.py ../before .
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from canonym import Linker
from canonym.terminology import import_terminology
from record import data_folder, save

MEDIC = "medic-2012/medic_06Jul2012.txt"
CORPUS = "bc5cdr/test.pubtator"

# Only names that both revisions have.
RUN = """
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


def run(checkout: Path, *arguments: str) -> tuple[float, str]:
    """Run Python with the sources of a checkout and one thread; its processor time and output."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout.resolve() / "src"),
        "OMP_NUM_THREADS": "1",
    }
    stdin, held_open = os.pipe()  # its end would end the reading of an upload
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments],
        stdin=stdin,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.close(stdin)
    os.close(held_open)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.stdout


def measured(checkout: Path, index: Path, corpus: Path, upload: Path) -> dict[str, Any]:
    """Link the corpus, link a name and read an upload, each in a process of its own."""
    result: dict[str, Any] = json.loads(run(checkout, "-c", RUN, str(index), str(corpus))[1])
    one, link = run(checkout, "-m", "canonym", "link", "--index", str(index), "heart attack")
    read, _ = run(checkout, "-m", "canonym.review.upload", str(upload), "t.csv", "[]")
    seconds = {"linking": result.pop("seconds"), "one name": one, "an upload": read}
    digest = hashlib.sha256((result.pop("digest") + link).encode()).hexdigest()
    return {**result, "seconds": seconds, "digest": digest}


def main() -> None:
    """Run both revisions in turn and write the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    data = data_folder()
    with tempfile.TemporaryDirectory() as scratch:
        terminology = import_terminology(data / MEDIC, Path(scratch) / "medic.db")
        index = Path(scratch) / "index"
        Linker.build(terminology, folder=index)
        (Path(scratch) / "upload").write_text("mention,n\nheart attack,1\n", encoding="utf-8")
        runs = [
            {
                side: measured(getattr(options, side), index, data / CORPUS, Path(scratch))
                for side in ("before", "after")
            }
            for _ in range(options.repeats)
        ]
    if len({run[side]["digest"] for run in runs for side in run}) > 1:
        raise SystemExit("the two revisions link differently")
    ratios = {
        what: [run["before"]["seconds"][what] / run["after"]["seconds"][what] for run in runs]
        for what in runs[0]["after"]["seconds"]
    }
    result = {
        "mentions": runs[0]["after"]["mentions"],
        "same answers": True,
        "times as fast": {what: round(statistics.median(of), 3) for what, of in ratios.items()},
        "ratios": {what: [round(ratio, 3) for ratio in of] for what, of in ratios.items()},
    }
    print(json.dumps(result, indent=1))
    save("linking_revisions", result, packages=("numpy",), data=[data / MEDIC, data / CORPUS])


if __name__ == "__main__":
    main()
