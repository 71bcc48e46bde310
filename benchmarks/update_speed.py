"""`canonym index` of a new version of MeSH: whole, and with ``--reuse`` of the index before.

The new version has two names in a hundred changed: a third each is left out, renamed and added,
drawn with a fixed seed. Both ways run in turn; the files that come out are compared byte by byte.
Seconds of all processes are counted by the processor, and by the clock.

    OMP_NUM_THREADS=1 python benchmarks/update_speed.py [--pairs N] [--kind ivf]
"""

from __future__ import annotations

import argparse
import csv
import filecmp
import gzip
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from record import data_folder, save

FILE = "mesh-2024/terms.tsv.gz"
CHANGED = 0.02


def read_names(path: Path) -> list[tuple[str, str]]:
    """Return the ids and names of MeSH."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["descriptor_ui"], row["term"]) for row in rows]


def changed(names: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out, rename and add some names."""
    rng = random.Random(0)
    found = []
    for concept, name in names:
        chance = rng.random()
        if chance < CHANGED / 3:
            continue
        if chance < CHANGED * 2 / 3:
            name = f"{name} {rng.choice(names)[1].split()[-1]}"
        found.append((concept, name))
        if chance > 1 - CHANGED / 3:
            found.append((concept, f"{rng.choice(names)[1].split()[0]} {name}"))
    return found


def write_table(names: list[tuple[str, str]], path: Path) -> None:
    """Write a table that `canonym import` takes as it is."""
    lines = ["id\tname\n", *(f"{concept}\t{name}\n" for concept, name in names)]
    path.write_text("".join(lines), encoding="utf-8")


def canonym(*arguments: str) -> dict[str, float]:
    """Run a command; return the seconds that it took."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "canonym", *arguments, "--quiet"]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.perf_counter() - begun, "processor_seconds": used}


def same(one: Path, other: Path) -> bool:
    """Tell whether two folders hold the same files with the same bytes."""
    names = sorted(str(file.relative_to(one)) for file in one.rglob("*") if file.is_file())
    others = sorted(str(file.relative_to(other)) for file in other.rglob("*") if file.is_file())
    return names == others and filecmp.cmpfiles(one, other, names, shallow=False)[0] == names


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--kind", default="exact", choices=("exact", "ivf"))
    options = parser.parse_args()
    source = data_folder() / FILE
    old = read_names(source)
    new = changed(old)
    known = {name for _, name in old}
    ways: dict[str, list[dict[str, float]]] = {"whole": [], "reuse": []}
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for version, names in (("old", old), ("new", new)):
            write_table(names, folder / f"{version}.tsv")
            canonym("import", str(folder / f"{version}.tsv"), "-o", str(folder / f"{version}.db"))
        index = ("index", "--kind", options.kind, "--overwrite")
        canonym(*index, str(folder / "old.db"), "-o", str(folder / "old"))
        for _ in range(options.pairs):
            for way, runs in ways.items():
                more = ("--reuse", str(folder / "old")) if way == "reuse" else ()
                runs.append(canonym(*index, str(folder / "new.db"), "-o", str(folder / way), *more))
                print(way, runs[-1], flush=True)
        equal = same(folder / "whole", folder / "reuse")
    medians: dict[str, Any] = {
        way: {key: round(statistics.median(run[key] for run in runs), 2) for key in runs[0]}
        for way, runs in ways.items()
    }
    ratios = [
        whole["processor_seconds"] / reuse["processor_seconds"]
        for whole, reuse in zip(*ways.values(), strict=True)
    ]
    result = {
        "names": len(new),
        "new_names": sum(name not in known for _, name in new),
        "kind": options.kind,
        "pairs": options.pairs,
        "same_bytes": equal,
        "median": medians,
        "times_faster": {"median": round(statistics.median(ratios), 2), "least": min(ratios)},
        "load_average": round(os.getloadavg()[0], 1),
    }
    print(result)
    print(save(f"update_speed_{options.kind}", result, packages=["numpy"], data=[source]))


if __name__ == "__main__":
    main()
