"""Speed of correcting words in two revisions of canonym, run in turn: same answers, and the ratio.

The words of the BC5CDR abstracts that MEDIC's names, and MeSH's, do not have, but for those in
capitals, are corrected and guessed, each once. Then all distinct mentions are prepared, as
`canonym.mentions.prepare` does it. Each run is a process with the sources of one checkout;
processor time counts, the first word's apart, and the median of the ratios of neighbouring runs.
Both revisions open one speller.

    git worktree add ../before REVISION
    python benchmarks/spelling_speed.py ../before .
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from canonym.mentions.spelling import Speller
from canonym.terminology import import_terminology
from record import data_folder, save

MEDIC = "medic-2012/medic_06Jul2012.txt"
MESH = "mesh-2024/terms.tsv.gz"
CORPORA = tuple(f"bc5cdr/{part}.pubtator" for part in ("train", "dev", "test"))

# Only names that both revisions have.
RUN = """
import hashlib, json, re, sys, time
from pathlib import Path
from canonym.corpora import read_pubtator
from canonym.mentions.prepare import Preparation
from canonym.mentions.spelling import Speller
folder = Path(sys.argv[1])
documents = [document for path in sys.argv[2:] for document in read_pubtator(path)]
words = sorted({word for one in documents for word in re.findall(r"[^\\W\\d_]{4,}", one.text)})
mentions = sorted({mention.text for one in documents for mention in one.mentions})
speller = Speller.load(folder)
unknown = [word for word in words if not word.isupper() and not speller._known(word)]
unknown.sort(key=lambda word: not (word.islower() and len(word) >= 7))
speller, times, answers = Speller.load(folder), [], []
for asked in (unknown[:1], unknown[1:]):
    began = time.process_time()
    answers += [(speller.correct(word), speller.guesses(word)) for word in asked]
    times.append(time.process_time() - began)
preparation = Preparation(Speller.load(folder))
began = time.process_time()
answers += [preparation.prepare(mention) for mention in mentions]
times.append(time.process_time() - began)
print(json.dumps({
    "unknown words": len(unknown),
    "mentions": len(mentions),
    "first word": times[0],
    "word": times[1] / (len(unknown) - 1),
    "mention": times[2] / len(mentions),
    "digest": hashlib.sha256(repr(answers).encode()).hexdigest(),
}))
"""
MEASURED = ("first word", "word", "mention")


def run(checkout: Path, speller: Path) -> dict[str, Any]:
    """Correct and prepare with the sources of a checkout, in a process with one thread."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout.resolve() / "src"),
        "OMP_NUM_THREADS": "1",
    }
    corpora = [str(data_folder() / corpus) for corpus in CORPORA]
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(speller), *corpora],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def compare(before: Path, after: Path, speller: Path, repeats: int) -> dict[str, Any]:
    """Run both revisions in turn; times are medians, in milliseconds."""
    pairs = [(run(before, speller), run(after, speller)) for _ in range(repeats)]
    if len({one["digest"] for pair in pairs for one in pair}) > 1:
        raise SystemExit("the two revisions correct differently")
    result = {key: pairs[0][1][key] for key in ("unknown words", "mentions")}
    for key in MEASURED:
        old, new = (1000 * statistics.median(pair[i][key] for pair in pairs) for i in (0, 1))
        ratio = statistics.median(pair[0][key] / pair[1][key] for pair in pairs)
        result[f"{key}, ms"] = {
            "before": round(old, 4),
            "after": round(new, 4),
            "times as fast": round(ratio, 2),
        }
    return result


def main() -> None:
    """Run both revisions for both vocabularies and write the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    sources = {"MEDIC": data_folder() / MEDIC, "MeSH": data_folder() / MESH}
    result: dict[str, Any] = {"same answers": True}
    for name, source in sources.items():
        with TemporaryDirectory() as scratch:
            terminology = import_terminology(source, Path(scratch) / "names.db")
            speller = Speller.build(text for batch in terminology.iter_texts() for text in batch)
            speller.save(Path(scratch))
            compared = compare(given.before, given.after, Path(scratch), given.repeats)
        result[name] = {"words": len(speller), **compared}
        print(name, json.dumps(result[name], indent=1), flush=True)
    data = [*sources.values(), *(data_folder() / corpus for corpus in CORPORA)]
    print(save("spelling_speed", result, packages=("numpy",), data=data))


if __name__ == "__main__":
    main()
