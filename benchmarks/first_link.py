"""How long does a newcomer wait: for the first link of all, and for every later command?

Each run is a process of its own, ``canonym link "heart attack"``: first with an empty cache, so
that the index of ICD-10-CM is built, then with the cache it left. Beside the wall time stands the
processor time, which other work on the machine changes less.

``without_encoding`` is the first command again with an encoder that answers at once, with zeros:
what vectors of ICD-10-CM that came with canonym could spare, at the very most.

    python benchmarks/first_link.py [--repeats N]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

import numpy as np

from record import save

WITHOUT = """
import numpy as np
from canonym import encoding
from canonym.cli import main
from canonym.encoders.subword import Subword
encoding.Beside.is_worth_it = staticmethod(lambda *_: False)
encode = Subword.encode
def free(self, names):
    if len(names) < 1000:
        return encode(self, names)
    return np.zeros((len(names), self.table.shape[1]), dtype=np.float32)
Subword.encode = free
main(["link", "heart attack"])
"""


def run(cache: str, *, encoding: bool = True) -> tuple[float, float]:
    """Link one name in a fresh process; return wall and processor seconds."""
    way = ["-m", "canonym", "link", "heart attack"] if encoding else ["-c", WITHOUT]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *way],
        env={**os.environ, "CANONYM_CACHE": cache},
        capture_output=True,
        check=True,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, spent


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    first, later, without = [], [], []
    for _ in range(repeats):
        with TemporaryDirectory() as cache:
            first.append(run(cache))
            later.extend(run(cache) for _ in range(2))
        with TemporaryDirectory() as cache:
            without.append(run(cache, encoding=False))
    figures = {
        f"{when}_{kind}_seconds": [round(run[place], 2) for run in runs]
        for when, runs in (("first", first), ("later", later), ("without_encoding", without))
        for place, kind in enumerate(("wall", "processor"))
    }
    ratio = np.median([run[1] for run in first]) / np.median([run[1] for run in later])
    for name, values in figures.items():
        print(f"{name:34} {' '.join(f'{value:6.2f}' for value in values)}")
    print(f"processor time of the first command to a later one: {ratio:.1f}")
    result = {**figures, "first_to_later": round(float(ratio), 1)}
    print("saved", save("first_link", result, packages=["numpy", "simple-icd-10-cm"]).name)


if __name__ == "__main__":
    main()
