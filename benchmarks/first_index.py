"""What the first use of ICD-10-CM waits for: the share of each stage in building its index.

    python benchmarks/first_index.py [ROUNDS]

Prints the median over rounds of the seconds and of the percentage of each stage, and the seconds of
a whole first `canonym link`. `canonym.linking.default` has the percentages as constants, by which
the progress bar moves.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

STAGES = """
import time
from canonym import Linker
from canonym.linking import default
move, begun = default._Whole._move, {}
def noted(whole, stage, part):
    begun.setdefault(stage, time.monotonic())
    move(whole, stage, part)
default._Whole._move = noted
Linker.default()
for stage, moment in {**begun, "end": time.monotonic()}.items():
    print(stage, moment, sep="\\t")
"""


def run(command: list[str], folder: Path) -> str:
    """Run a command with an empty data folder, and return its output."""
    environment = {
        **os.environ,
        "CANONYM_DATA_HOME": str(folder / "data"),
        "CANONYM_CACHE": str(folder / "cache"),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def main(rounds: int) -> None:
    """Measure and print."""
    seconds: dict[str, list[float]] = {}
    whole: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as scratch:
            lines = run([sys.executable, "-c", STAGES], Path(scratch)).splitlines()
        moments = [(stage, float(moment)) for stage, moment in (line.split("\t") for line in lines)]
        for (stage, begin), (_, end) in pairwise(moments):
            seconds.setdefault(stage, []).append(end - begin)
        with tempfile.TemporaryDirectory() as scratch:
            began = time.monotonic()
            run([sys.executable, "-m", "canonym", "link", "--quiet", "heart attack"], Path(scratch))
            whole.append(time.monotonic() - began)
    medians = {stage: statistics.median(values) for stage, values in seconds.items()}
    for stage, median in medians.items():
        print(f"{stage:<20}{median:6.2f} s{100 * median / sum(medians.values()):6.1f} %")
    print(
        f"{'first canonym link':<20}{statistics.median(whole):6.2f} s, fastest {min(whole):.2f} s"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
