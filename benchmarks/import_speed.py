"""Time and memory of an import.

Two imports: MeSH 2024 from its two tables (263,936 terms), and five million made-up names from a
table with ids, names, a flag for the label and a type. Each is a fresh process, whose peak memory
is read at its end.

    python benchmarks/import_speed.py [--names N] [--folder FOLDER]
"""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from inputs import MESH, TREES
from processes import run_script
from record import data_folder, parser, save

WORDS, PER_CONCEPT = 50_000, 9
IMPORT = """
import json, resource, sys, time
from canonym.terminology import import_terminology
start, used = time.perf_counter(), time.process_time()
terminology = import_terminology(sys.argv[1], sys.argv[2], **json.load(sys.stdin))
print(json.dumps({
    "concepts": terminology.n_concepts,
    "names": terminology.n_names,
    "relations": terminology.n_relations,
    "digest": terminology.digest,
    "seconds": round(time.perf_counter() - start, 2),
    "processor_seconds": round(time.process_time() - used, 2),
    "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
}))
"""


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


def measure(source: Path, /, **options: str) -> dict[str, Any]:
    """Import a source in a fresh process."""
    with TemporaryDirectory() as folder:
        output = Path(folder) / "terminology.db"
        measured = run_script(IMPORT, source, output, entered=options)
        measured["megabytes_on_disk"] = round(output.stat().st_size / 1e6, 1)
    print(source.name, measured, flush=True)
    return {"import": measured}


def main() -> None:
    """Measure both and write the result."""
    arguments = parser(__doc__)
    arguments.add_argument("--names", type=int, default=5_000_000)
    arguments.add_argument("--folder", type=Path, help="where to write the made-up names")
    options = arguments.parse_args()
    files = [data_folder() / file for file in (MESH, TREES)]
    about = {"prefix": "MESH:", "source": "MeSH", "version": "2024"}
    result: dict[str, Any] = {"mesh_2024": measure(files[0], trees=str(files[1]), **about)}
    with TemporaryDirectory(dir=options.folder) as folder:
        table = Path(folder) / "names.tsv"
        write_names(table, options.names)
        result["made_up"] = measure(table)
    result["sqlite"] = sqlite3.sqlite_version
    save("import_speed", result, packages=("numpy",), data=files)


if __name__ == "__main__":
    main()
