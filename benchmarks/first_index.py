"""What the first use of ICD-10-CM waits for: the share of each stage in building its index.

    python benchmarks/first_index.py [--rounds N]

Prints the median over rounds of the seconds and of the percentage of each stage, and the seconds of
a whole first `canonym link`. `canonym.linking.default` has the percentages as constants, by which
the progress bar moves.
"""

from __future__ import annotations

import statistics
import time
from itertools import pairwise
from tempfile import TemporaryDirectory

from processes import run_python
from record import parser

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


def run(*arguments: str) -> str:
    """Run Python with an empty data folder, and return its output."""
    with TemporaryDirectory() as folder:
        places = {name: f"{folder}/{name}" for name in ("CANONYM_DATA_HOME", "CANONYM_CACHE")}
        return run_python(*arguments, OMP_NUM_THREADS="1", **places)


def main(rounds: int) -> None:
    """Measure and print."""
    seconds: dict[str, list[float]] = {}
    whole: list[float] = []
    for _ in range(rounds):
        lines = run("-c", STAGES).splitlines()
        moments = [(stage, float(moment)) for stage, moment in (line.split("\t") for line in lines)]
        for (stage, begin), (_, end) in pairwise(moments):
            seconds.setdefault(stage, []).append(end - begin)
        began = time.monotonic()
        run("-m", "canonym", "link", "--quiet", "heart attack")
        whole.append(time.monotonic() - began)
    medians = {stage: statistics.median(values) for stage, values in seconds.items()}
    for stage, median in medians.items():
        print(f"{stage:<20}{median:6.2f} s{100 * median / sum(medians.values()):6.1f} %")
    print(
        f"{'first canonym link':<20}{statistics.median(whole):6.2f} s, fastest {min(whole):.2f} s"
    )


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=3)
    main(arguments.parse_args().rounds)
