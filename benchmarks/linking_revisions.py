"""Speed of linking in two revisions of canonym, run in turn: same answers, and the ratio.

The disease mentions of the BC5CDR test part are linked to MEDIC by the default encoder, a document
at a time. Each run is a process with the sources of one checkout; processor time counts, and the
median of the ratios of neighbouring runs.

    git worktree add ../before REVISION
    python benchmarks/linking_revisions.py ../before .
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

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


def linked(checkout: Path, index: Path, corpus: Path) -> dict[str, float | str]:
    """Link the corpus with the sources of a checkout, in a process with one thread."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout.resolve() / "src"),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(index), str(corpus)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    result: dict[str, float | str] = json.loads(done.stdout)
    return result


def main() -> None:
    """Run both revisions in turn and write the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    data = data_folder()
    with tempfile.TemporaryDirectory() as scratch:
        terminology = import_terminology(data / MEDIC, Path(scratch) / "medic.db")
        index = Path(scratch) / "index"
        Linker.build(terminology, folder=index)
        runs = [
            {
                side: linked(getattr(given, side), index, data / CORPUS)
                for side in ("before", "after")
            }
            for _ in range(given.repeats)
        ]
    digests = {str(run[side]["digest"]) for run in runs for side in run}
    if len(digests) > 1:
        raise SystemExit("the two revisions link differently")
    ratios = [float(run["before"]["seconds"]) / float(run["after"]["seconds"]) for run in runs]
    result = {
        "mentions": runs[0]["after"]["mentions"],
        "same answers": True,
        "times as fast": round(statistics.median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
    }
    print(json.dumps(result, indent=1))
    save("linking_revisions", result, packages=("numpy",), data=[data / MEDIC, data / CORPUS])


if __name__ == "__main__":
    main()
