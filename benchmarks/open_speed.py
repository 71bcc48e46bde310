"""Time and memory of opening a saved index of five million names.

The names are made up (three words of 60,000, a million concepts). The index has the sieves and the
vectors of a small word-vector file. It is built once, in the given folder. Opening is measured in
fresh processes, from before the first import of canonym to after ``Linker.load``.

    python benchmarks/open_speed.py [--names N] [--folder FOLDER]
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym import Concept, Linker, Name, Terminology
from canonym.encoders import make_encoder
from canonym.types import Record
from processes import megabytes_of, run_script
from record import parser, save

WORDS, WIDTH, SYNONYMS = 60_000, 32, 5

MEASURE = """
import json, sys, time
def memory(kind):
    for line in open("/proc/self/status"):
        if line.startswith(kind):
            return int(line.split()[1]) / 1024
start = time.perf_counter()
from canonym import Linker
imported = time.perf_counter()
linker = Linker.load(sys.argv[1])
opened = time.perf_counter()
megabytes = memory("VmRSS")
link = linker.link([sys.argv[2]])[0]
print(json.dumps({
    "import_seconds": imported - start,
    "load_seconds": opened - imported,
    "resident_megabytes": megabytes,
    "peak_megabytes": memory("VmHWM"),
    "known_name_seconds": time.perf_counter() - opened,
    "sieve": link.candidates[0].sieve,
}))
"""


def words() -> list[str]:
    """Make up words that differ."""
    syllables = [c + v for c in "bcdfghklmnprstvz" for v in "aeiou"]
    rng = np.random.default_rng(7)
    found: dict[str, None] = {}
    while len(found) < WORDS:
        found["".join(rng.choice(syllables, size=rng.integers(2, 5)))] = None
    return list(found)


def records(n_names: int) -> Iterator[Record]:
    """Yield concepts of `SYNONYMS` names each."""
    known = np.array(words(), dtype=object)
    rng = np.random.default_rng(11)
    for first in range(0, n_names // SYNONYMS, 10_000):
        size = min(10_000, n_names // SYNONYMS - first)
        drawn = known[rng.integers(0, WORDS, size=(size, SYNONYMS, 3))]
        for number, names in enumerate(drawn, start=first):
            # The number keeps names of different concepts apart.
            texts = [f"{' '.join(name)} {number}" for name in names]
            yield Concept(f"X:{number}", texts[0])
            yield from (Name(text, f"X:{number}") for text in texts[1:])


def build(folder: Path, n_names: int) -> dict[str, Any]:
    """Build the index in `folder` and return how long that took."""
    vectors = folder / "words.vec"
    rng = np.random.default_rng(5)
    with vectors.open("w", encoding="utf-8") as stream:
        stream.write(f"{WORDS} {WIDTH}\n")
        for word, vector in zip(words(), rng.standard_normal((WORDS, WIDTH)), strict=True):
            stream.write(f"{word} {' '.join(f'{x:.4f}' for x in vector)}\n")
    start = time.perf_counter()
    terminology = Terminology.build(records(n_names), folder / "names.db", overwrite=True)
    imported = time.perf_counter()
    Linker.build(
        terminology,
        encoders=[make_encoder(vectors)],
        folder=folder / "index",
        overwrite=True,
        spelling=True,
    )
    return {
        "names": terminology.n_names,
        "concepts": terminology.n_concepts,
        "terminology_seconds": round(imported - start, 1),
        "index_seconds": round(time.perf_counter() - imported, 1),
        "index_megabytes": megabytes_of(folder / "index"),
    }


def measure(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """Open the index in fresh processes."""
    with Terminology(folder / "names.db") as terminology:
        name = terminology.names_at([terminology.n_names // 2])[0].text
    return [run_script(MEASURE, folder / "index", name) for _ in range(repeats)]


def main() -> None:
    """Build, measure, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--names", type=int, default=5_000_000)
    arguments.add_argument("--folder", type=Path, help="keep the index here and use it again")
    arguments.add_argument("--repeats", type=int, default=5)
    options = arguments.parse_args()
    with TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / "built.json"
        if not note.exists():
            note.write_text(json.dumps(build(folder, options.names)))
        built = json.loads(note.read_text())
        runs = measure(folder, options.repeats)
    print(json.dumps(built))
    middle = {
        key: round(float(np.median([run[key] for run in runs])), 4)
        for key, value in runs[0].items()
        if isinstance(value, float)
    }
    for key, value in middle.items():
        print(f"{key:22} {value:10.3f}")
    save("open_speed", {**built, "runs": len(runs), "median": middle}, packages=["numpy"])


if __name__ == "__main__":
    main()
