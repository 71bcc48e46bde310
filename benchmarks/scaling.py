"""How time and memory grow: with names, with mentions, with workers.

Names are those of `recombined.py`. Mentions are drawn with the repetition of a real corpus: among
the first n of BC5CDR are about ``a · n ** b`` different ones. A new mention comes at that rate, and
is a mention of the corpus, or joined from two where those run out; any other repeats one of those
before it, all with the same chance. Everything runs in processes of its own.

- ``names``: index, opening, one mention and a thousand, from 10,000 names on. Each has the distinct
  mentions of BC5CDR's test part. The memory of each stage of an import and an index is printed.
- ``mentions``: ``canonym bulk`` from start to end, from one mention on, to 500,000 names. The time
  of larger runs is projected: so much for the start, for each mention, and for each new one.
- ``workers``: ``canonym bulk`` with 1 to 4 of them, in turn.

    python benchmarks/scaling.py [names mentions workers] [--most-names N] [--most-mentions N]

A part that is not named keeps its figures. The pictures go to ``docs/guides``. How fast the machine
is at the start, a loop tells.
"""

from __future__ import annotations

import json
import math
import os
import time
import timeit
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from inputs import PARTS, documents_of, texts_of
from pictures import figure
from processes import megabytes_of, run_python, run_script, watched
from recombined import FILES, recombined, write_table
from record import RESULTS, data_folder, parser, save

NAMES = [10_000, 100_000, 500_000, 1_000_000, 5_000_000, 15_000_000]
MENTIONS = [1, 100, 10_000, 100_000, 500_000, 1_000_000]
WORKERS = [1, 2, 4]
PROJECTED = [10_000_000, 100_000_000, 1_000_000_000]
BULK_NAMES, WORKER_MENTIONS = 500_000, 200_000
PICTURES = Path(__file__).parents[1] / "docs" / "guides"
WARM, SINGLE, TOGETHER = 400, 200, 1_000
LINK = """
import json, sys, time
from canonym import Linker

def memory():
    lines = dict(line.split(":") for line in open("/proc/self/status") if "kB" in line)
    return [int(lines[kind].split()[0]) // 1024 for kind in ("RssAnon", "RssFile")]

folder, warm, single, together = sys.argv[1], *map(int, sys.argv[2:])
mentions = json.load(sys.stdin)
start = time.perf_counter()
linker = Linker.load(folder)
opened = time.perf_counter()
linker.link(mentions[:1])
first = time.perf_counter()
linker.link(mentions[1:warm])
times = []
for mention in mentions[warm : warm + single]:
    begun = time.perf_counter()
    linker.link([mention])
    times.append(time.perf_counter() - begun)
rest = mentions[warm + single :]
rates = []
for chosen in (rest[:together], rest[together:]):
    begun = time.perf_counter()
    linker.link(chosen)
    rates.append(len(chosen) / (time.perf_counter() - begun))
times.sort()
print(json.dumps({
    "open_seconds": opened - start,
    "first_mention_seconds": first - opened,
    "p50_ms": times[len(times) // 2] * 1000,
    "p99_ms": times[int(len(times) * 0.99)] * 1000,
    "per_second": max(rates),
    "linking_megabytes": memory()[0],
    "linking_mapped_megabytes": memory()[1],
}))
"""


LOOP = """
for i in range(10**7):
    s += i
"""


def loop_seconds() -> float:
    """Return the seconds in which Python adds up ten million numbers, the least of three."""
    return round(min(timeit.repeat(LOOP, "s = 0", number=1, repeat=3)), 2)


# --- one run --------------------------------------------------------------------------------------


def make_index(folder: Path, n: int) -> dict[str, Any]:
    """Import and index `n` names, unless that is done; return seconds and peak memory of both."""
    done = folder / "made.json"
    if done.exists():
        found: dict[str, Any] = json.loads(done.read_text())
        return found
    folder.mkdir(exist_ok=True)
    table, terminology, index = (str(folder / name) for name in ("names.tsv", "names.db", "index"))
    write_table(Path(table), n)
    found = {"names": n}
    for step, command in {
        "import": (table, "-o", terminology, "--type-column", "type"),
        "index": (terminology, "-o", index),
    }.items():
        told = watched(step, *command, "--overwrite")
        found[f"{step}_seconds"] = told["seconds"]
        found[f"{step}_processor_seconds"] = told["processor_seconds"]
        found[f"{step}_peak_megabytes"] = told["peak_megabytes"]["anonymous"]
        found[f"{step}_peak_mapped_megabytes"] = told["peak_megabytes"]["mapped"]
        print(step, json.dumps(told["stages"]), flush=True)
    Path(table).unlink()
    found["index_megabytes"] = megabytes_of(Path(index))
    done.write_text(json.dumps(found))
    return found


def test_mentions() -> list[str]:
    """Return the distinct mentions of BC5CDR's test part."""
    mentions = sorted(set(texts_of(documents_of("bc5cdr", "test"))))
    np.random.default_rng(0).shuffle(mentions)
    return mentions


def bulk(folder: Path, mentions: list[str], workers: int) -> float:
    """Link mentions from a file to Parquet; return the seconds from start to end."""
    import pyarrow as pa
    from pyarrow import parquet

    source = folder / "mentions.parquet"
    parquet.write_table(pa.table({"mention": mentions}), source)
    options = ("--column", "mention", "--workers", str(workers), "--overwrite", "--quiet")
    command = ("link", "--file", source, "-o", f"{folder}/linked/", "--index", folder / "index")
    began = time.perf_counter()
    run_python("-m", "canonym", *command, *options)
    return time.perf_counter() - began


# --- mentions as in a real corpus -----------------------------------------------------------------


def growth_of(stream: list[str]) -> tuple[float, float]:
    """Fit ``a · n ** b`` to the number of different strings among the first n."""
    seen: set[str] = set()
    counts = np.array([len(seen) for text in stream if seen.add(text) is None])
    n = np.arange(1, len(stream) + 1)
    b, log_a = np.polyfit(np.log(n[100:]), np.log(counts[100:]), 1)
    return float(np.exp(log_a)), float(b)


def draw(n: int) -> tuple[list[str], dict[str, float]]:
    """Draw a stream of `n` mentions; return it, and how its number of different ones grows."""
    stream = texts_of(documents_of("bc5cdr", *PARTS))
    a, b = growth_of(stream)
    rng = np.random.default_rng(0)
    rate = np.minimum(1.0, a * b * np.arange(1, n + 1) ** (b - 1))
    is_new = rng.random(n) < rate
    is_new[0] = True
    earlier = np.minimum((rng.random(n) * np.arange(n)).astype(np.int64), np.arange(n) - 1)
    source = np.where(is_new, np.arange(n), earlier)
    while (further := source[source] != source).any():
        source[further] = source[source[further]]
    number = np.cumsum(is_new) - 1
    texts = list(recombined(list(dict.fromkeys(stream)), int(is_new.sum())))
    return [texts[i] for i in number[source]], {"a": round(a, 3), "b": round(b, 3)}


def project(rows: list[dict[str, Any]], law: dict[str, float], cores: int) -> list[dict[str, Any]]:
    """Fit the time of a run by its start, its mentions and its new ones; project large runs."""
    from scipy.optimize import nnls

    table = np.array([[1, row["mentions"], row["different"]] for row in rows], dtype=float)
    seconds = np.array([row["seconds"] for row in rows])
    weights = 1 / seconds  # errors count relative to the whole
    fitted = nnls(table * weights[:, None], np.ones(len(rows)))[0]
    found = []
    for n in PROJECTED:
        different = law["a"] * n ** law["b"]
        taken = float(fitted @ [1, n, different])
        found.append(
            {
                "mentions": n,
                "different": round(different),
                "minutes": round(taken / 60, 1),
                "core_hours": round(taken * cores / 3600, 2),
                "parts": [float(f"{one:.3g}") for one in fitted],
            }
        )
    return found


# --- the three parts ------------------------------------------------------------------------------


def by_names(folder: Path, most: int) -> list[dict[str, Any]]:
    """Measure indexes of growing terminologies: all are made, then mentions linked to each."""
    rows = [make_index(folder / str(n), n) for n in NAMES if n <= most]
    mentions, arguments = test_mentions(), [str(n) for n in (WARM, SINGLE, TOGETHER)]
    for row in rows:
        place = folder / str(row["names"]) / "index"
        found = run_script(LINK, place, *arguments, entered=mentions)
        row["kind"] = json.loads((place / "canonym.json").read_text())["encoders"][0]["index"]
        row |= {key: round(value, 3) for key, value in found.items()}
        print(json.dumps(row), flush=True)
    return rows


def by_mentions(folder: Path, most: int) -> dict[str, Any]:
    """Measure bulk runs of growing streams."""
    rows, cores = [], len(os.sched_getaffinity(0))
    stream, law = draw(min(most, MENTIONS[-1]))
    streams = [stream[:n] for n in MENTIONS if n <= most]
    # Hardly any new ones: it tells the time of a mention from that of a different one.
    streams.append([*islice(cycle(stream[:100]), len(streams[-1]))])
    for mentions in streams:
        n, seconds = len(mentions), bulk(folder, mentions, cores)
        rows.append(
            {
                "mentions": n,
                "different": len(set(mentions)),
                "seconds": round(seconds, 2),
                "per_second": round(n / seconds, 1),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return {"mentions": rows, "projected": project(rows, law, cores), "different_mentions": law}


def by_workers(folder: Path, repeats: int = 2) -> list[dict[str, Any]]:
    """Measure bulk runs of one stream with more and more workers, in turn; the best counts."""
    stream, _ = draw(WORKER_MENTIONS)
    best = dict.fromkeys(WORKERS, math.inf)
    for _ in range(repeats):
        for n in WORKERS:
            best[n] = min(best[n], bulk(folder, stream, n))
    return [
        {"workers": n, "seconds": round(seconds, 2), "times_faster": round(best[1] / seconds, 2)}
        for n, seconds in best.items()
    ]


# --- result ---------------------------------------------------------------------------------------


def exponent(rows: list[dict[str, Any]], x: str, y: str, least: int) -> float:
    """Return the slope of ``log y`` over ``log x``, where x is at least `least`."""
    pairs = [(row[x], row[y]) for row in rows if row[x] >= least]
    return round(float(np.polyfit(*np.log(np.array(pairs, dtype=float)).T, 1)[0]), 3)


def exponents(result: dict[str, Any]) -> dict[str, float]:
    """Return how every measured quantity grows."""
    found = {}
    names = result.get("names", [])
    if sum(row["names"] >= 100_000 for row in names) > 1:
        per_mention = [{**row, "batch_ms": 1000 / row["per_second"]} for row in names]
        keys = (
            "p50_ms",
            "batch_ms",
            "index_processor_seconds",
            "index_peak_megabytes",
            "linking_megabytes",
        )
        found = {key: exponent(per_mention, "names", key, 100_000) for key in keys}
    drawn = result.get("mentions", [])[:-1]  # the last one repeats a hundred
    if sum(row["mentions"] >= 10_000 for row in drawn) > 1:
        found["seconds_by_mentions"] = exponent(drawn, "mentions", "seconds", 10_000)
    return found


def picture(result: dict[str, Any]) -> None:
    """Draw time over names and over mentions, with the fitted exponents."""
    fitted = result["exponents"]
    panels = (
        ("names", "p50_ms", "one mention, ms (median)", "p50_ms"),
        ("names", "index_processor_seconds", "index, processor seconds", "index_processor_seconds"),
        ("mentions", "seconds", "bulk, seconds", "seconds_by_mentions"),
    )
    with figure(PICTURES / "scale.svg", len(panels)) as row:
        for axes, (x, y, label, key) in zip(row, panels, strict=True):
            axes.set(xlabel=x, title=label)
            rows = result.get(x, [])[: -1 if x == "mentions" else None]
            if not rows:  # not measured yet
                continue
            axes.plot([r[x] for r in rows], [r[y] for r in rows], "o-", color="#00796b")
            axes.set(xscale="log", yscale="log")
            if key in fitted:
                axes.text(0.05, 0.9, f"exponent {fitted[key]:.2f}", transform=axes.transAxes)
            axes.grid(alpha=0.3)


def main() -> None:
    """Measure, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("parts", nargs="*", choices=["names", "mentions", "workers", []])
    arguments.add_argument("--folder", type=Path, help="keep indexes here, and use those that are")
    arguments.add_argument("--most-names", type=int, default=NAMES[-1])
    arguments.add_argument("--most-mentions", type=int, default=MENTIONS[-1])
    options = arguments.parse_args()
    parts = options.parts or ["names", "mentions", "workers"]
    path = RESULTS / "scaling.json"
    result: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    kept = ("names", "mentions", "projected", "different_mentions", "workers")
    result = {key: result[key] for key in kept if key in result}
    result["loop_seconds"] = loop_seconds()
    with TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        if "names" in parts:
            result["names"] = by_names(folder, options.most_names)
        if {"mentions", "workers"} & set(parts):
            place = folder / str(BULK_NAMES)
            make_index(place, BULK_NAMES)
            if "mentions" in parts:
                result |= by_mentions(place, options.most_mentions)
            if "workers" in parts:
                result["workers"] = by_workers(place)
    result["exponents"] = exponents(result)
    picture(result)
    data = [*(data_folder() / file for file in FILES)]
    save("scaling", result, packages=["numpy", "onnxruntime"], data=data)
    print(json.dumps([result["exponents"], *result.get("projected", [])], indent=1))


if __name__ == "__main__":
    main()
