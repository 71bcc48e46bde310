"""Time and memory of an import.

Two imports: MeSH 2024 from its two tables (263,936 terms), and five million made-up names from a
table with ids, names, a flag for the label and a type. The yardstick runs beside each: the ``csv``
module over the same file and ``sqlite3.executemany`` of the same rows into one table with one
index, the least that any import into SQLite has to do. The ratio varies less between machines than
the times. Each measurement is a fresh process, whose peak memory is read at its end.

    python benchmarks/import_speed.py [--names N] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from canonym.terminology import import_terminology
from record import data_folder, save

WORDS, PER_CONCEPT, BATCH = 50_000, 9, 20_000


def write_names(path: Path, n: int) -> None:
    """Write a table of made-up names: one to nine per concept, of one to five words each."""
    rng = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(4, 10))) for _ in range(WORDS)]
    written = concept = 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write("id\tname\tpreferred\ttype\n")
        while written < n:
            concept += 1
            count = min(rng.randint(1, PER_CONCEPT), n - written)
            for i in range(count):
                name = " ".join(rng.choices(words, k=rng.randint(1, 5)))
                flag = "N" if i else "Y"
                stream.write(f"SYN:{concept:07d}\t{name}\t{flag}\tT{concept % 20}\n")
            written += count


def import_source(source: Path, output: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Import a source and say what came out."""
    terminology = import_terminology(source, output, **options)
    return {
        "concepts": terminology.n_concepts,
        "names": terminology.n_names,
        "relations": terminology.n_relations,
        "digest": terminology.digest,
        "megabytes_on_disk": round(output.stat().st_size / 1e6, 1),
    }


def import_bare(source: Path, output: Path, columns: dict[str, str]) -> dict[str, Any]:
    """Do the least: split the rows, store id and name, index them by id."""
    opener = gzip.open if source.suffix == ".gz" else open
    connection = sqlite3.connect(output, isolation_level=None)
    connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN")
    connection.execute("CREATE TABLE names (id TEXT, name TEXT)")
    with opener(source, "rt", encoding="utf-8", newline="") as stream:
        rows: Iterator[list[str]] = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        header = next(rows)
        id_at, name_at = header.index(columns["id"]), header.index(columns["name"])
        while batch := list(itertools.islice(rows, BATCH)):
            pairs = [(cells[id_at], cells[name_at]) for cells in batch]
            connection.executemany("INSERT INTO names VALUES (?, ?)", pairs)
    connection.execute("CREATE INDEX names_by_id ON names (id)")
    connection.execute("COMMIT")
    count = connection.execute("SELECT COUNT(*) FROM names").fetchone()[0]
    connection.close()
    return {"rows": count}


JOBS = {"import": import_source, "bare": import_bare}


def run_job(job: str, source: str, output: str, options: str) -> None:
    """Do one job in this process and print what it took."""
    start, used = time.perf_counter(), time.process_time()
    result = JOBS[job](Path(source), Path(output), json.loads(options))
    result["seconds"] = round(time.perf_counter() - start, 2)
    result["processor_seconds"] = round(time.process_time() - used, 2)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result["peak_megabytes"] = round(kilobytes / 1024, 1)
    print(json.dumps(result))


def measure(job: str, source: Path, options: dict[str, str]) -> dict[str, Any]:
    """Do one job in a fresh process."""
    with TemporaryDirectory() as folder:
        output = Path(folder) / "terminology.db"
        command = [sys.executable, __file__, "--job", job, str(source), str(output)]
        done = subprocess.run(
            [*command, json.dumps(options)], capture_output=True, text=True, check=True
        )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"  {job:<7} {json.dumps(result)}", flush=True)
    return result


def compare(
    source: Path, options: dict[str, str], columns: dict[str, str], *, seconds: float
) -> dict[str, Any]:
    """Measure an import between two runs of the yardstick."""
    before = measure("bare", source, columns)
    imported = measure("import", source, options)
    after = measure("bare", source, columns)
    yardstick = (before["processor_seconds"] + after["processor_seconds"]) / 2
    ratio = round(imported["processor_seconds"] / yardstick, 2)
    print(f"  {ratio} times the yardstick; at most {seconds} s asked for", flush=True)
    return {
        "import": imported,
        "yardstick": [before, after],
        "ratio_of_processor_time": ratio,
        "seconds_asked_for": seconds,
        "load_average": round(os.getloadavg()[0], 1),
        # An import is one thread: on a machine that is busy with other things it takes as many
        # seconds of its processor, and more on the clock.
        "met_on_the_clock": imported["seconds"] < seconds,
        "met_in_processor_time": imported["processor_seconds"] < seconds,
        "met_in_memory": imported["peak_megabytes"] < 1000,
    }


def main() -> None:
    """Measure both and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", type=int, default=5_000_000)
    parser.add_argument("--folder", type=Path, help="where to write the made-up names")
    parser.add_argument("--job", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        run_job(*arguments.job)
        return
    mesh = data_folder() / "mesh-2024"
    terms, trees = mesh / "terms.tsv.gz", mesh / "trees.tsv.gz"
    print("MeSH 2024", flush=True)
    result: dict[str, Any] = {
        "mesh_2024": compare(
            terms,
            {"trees": str(trees), "prefix": "MESH:", "source": "MeSH", "version": "2024"},
            {"id": "descriptor_ui", "name": "term"},
            seconds=15,
        )
    }
    with TemporaryDirectory(dir=arguments.folder) as folder:
        table = Path(folder) / "names.tsv"
        write_names(table, arguments.names)
        print(f"{arguments.names:,} made-up names, {table.stat().st_size / 1e6:.0f} MB", flush=True)
        result["made_up"] = compare(table, {}, {"id": "id", "name": "name"}, seconds=90)
    result["sqlite"] = sqlite3.sqlite_version
    print(save("import_speed", result, packages=("numpy",), data=(terms, trees)))


if __name__ == "__main__":
    main()
