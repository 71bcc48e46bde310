"""Memory of the tables that training keeps: of names, and of CODER's triplets.

The names are those that `recombined` makes; `--triplets` are drawn at random between their
concepts, of 900 relations. A process of its own makes the tables; what it holds more than before is
divided by the number of names or triplets. "Peak" is the most at any time, "kept" what stays.

    python benchmarks/name_table_memory.py --names 1000000 2000000 --triplets 5000000
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from processes import run_python, run_script
from recombined import write_table
from record import parser, save

MEASURE = """
import ctypes, gc, json, random, sys
import numpy as np
from canonym import Terminology
from canonym.training.sampling.name_table import NameTable
from canonym.training.sampling.relations import RelationTable
from canonym.types import Relation

def memory(which):
    lines = dict(line.split(":") for line in open("/proc/self/status") if "kB" in line)
    return int(lines[which].split()[0]) * 1024

def forget_peak():
    open("/proc/self/clear_refs", "w").write("5")

def measured(what, make, n):
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # or what was freed before is used again
    forget_peak()
    before = memory("RssAnon")
    start = memory("VmHWM")
    made = make()
    found = {"n": n(made), "peak": memory("VmHWM") - start}
    gc.collect()
    found["kept"] = memory("RssAnon") - before
    for kind in ("peak", "kept"):
        found[kind + "_per_one"] = found[kind] / found["n"]
    result[what] = found
    return made

def drawn(ids, n):
    rng = random.Random(3)
    for _ in range(n):
        yield Relation(rng.choice(ids), f"r{rng.randrange(900)}", rng.choice(ids))

result = {}
terminology = Terminology(sys.argv[1])
terminology.scope_of_row(), terminology.concept_of_row()
table = measured("names", lambda: NameTable.from_terminology(terminology), lambda t: t.n_names)
if n := int(sys.argv[2]):
    make = lambda: RelationTable(table, drawn(table.ids, n))
    measured("triplets", make, lambda made: len(made.triplets))
print(json.dumps(result))
"""


def measure(n_names: int, n_triplets: int, folder: Path) -> dict[str, Any]:
    """Make a terminology of so many names, and measure its tables."""
    table, store = folder / "names.tsv", folder / "names.db"
    write_table(table, n_names)
    run_python("-m", "canonym", "import", table, "-o", store, "--quiet")
    measured: dict[str, Any] = run_script(MEASURE, store, str(n_triplets))
    store.unlink()
    return measured


def main() -> None:
    """Measure each size, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--names", type=int, nargs="+", default=[1_000_000, 2_000_000])
    arguments.add_argument("--triplets", type=int, default=0)
    options = arguments.parse_args()
    rows = []
    for n_names in options.names:
        with TemporaryDirectory() as folder:
            found = measure(n_names, options.triplets, Path(folder))
        for what, one in found.items():
            rows.append({"table": what, "of_names": n_names, **one})
            print(
                f"{one['n']:>12,} {what}: {one['peak_per_one']:.0f} B each at the peak, "
                f"{one['kept_per_one']:.0f} B kept"
            )
    save("name-table-memory", {"rows": rows}, packages=("numpy",))


if __name__ == "__main__":
    main()
