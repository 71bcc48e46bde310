"""Lists of similar names (``--kind ivf``) beside the exact search, at growing numbers of names.

The names are those that `recombined` makes, with the lengths and words of real ones. The questions
are the distinct mentions of BC5CDR's development and test parts.

Recall is the share of mentions whose best score is that of the exact search, and the share of its
ten best rows. "Unknown" are the mentions whose best exact score is below 1: no name has their
vector. Times are CPU times of one thread, best of several, k = 20, and include all but encoding;
both indexes scan whole numbers with ONNX Runtime.

    OMP_NUM_THREADS=1 python benchmarks/ivf.py 100000 1000000
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym.encoders import make_encoder
from canonym.indexes import exact, int8
from canonym.indexes.exact import Exact, write_codes
from canonym.indexes.ivf import Ivf, write_lists
from canonym.types import Encoder
from inputs import documents_of, part_of, texts_of
from recombined import FILES, real_names, recombined
from record import data_folder, parser, save
from timing import least_seconds

K = 20
SINGLE = 60  # queries one at a time


def write_vectors(names: list[str], encoder: Encoder, path: Path) -> np.ndarray[Any, Any]:
    """Encode names into a file, block by block, and map it."""
    width = encoder.encode([""]).shape[1]
    vectors = np.lib.format.open_memmap(
        path, mode="w+", dtype=np.float32, shape=(len(names), width)
    )
    for first in range(0, len(names), 20_000):
        block = names[first : first + 20_000]
        vectors[first : first + len(block)] = encoder.encode(block)
    vectors.flush()
    return np.load(path, mmap_mode="r")


def measure(
    names: list[str], encoder: Encoder, queries: np.ndarray[Any, Any], scratch: Path, repeats: int
) -> dict[str, Any]:
    """Build both indexes of the names, and compare answers and times."""
    vectors = write_vectors(names, encoder, scratch / "vectors.npy")
    seconds: dict[str, float] = {}
    for kind in ("exact", "ivf"):
        (scratch / kind).mkdir()
        os.link(scratch / "vectors.npy", scratch / kind / "vectors.npy")
        start = time.process_time()
        if kind == "exact":
            write_codes(vectors, scratch / kind)
        else:
            write_lists(vectors, scratch / kind, lambda *_: None)
        seconds[kind] = round(time.process_time() - start, 1)
    whole, lists = Exact.load(scratch / "exact"), Ivf.load(scratch / "ivf")
    expected, found = whole.search(queries, 10), lists.search(queries, 10)
    right = found.scores[:, 0] == expected.scores[:, 0]
    unknown = expected.scores[:, 0] < 1 - 1e-6
    both = (found.rows[:, :, None] == expected.rows[:, None]).any(axis=1)

    def times(index: Exact) -> dict[str, float]:
        def single() -> None:
            for query in queries[:SINGLE]:
                index.search(query[None], K)

        ways = {"single": single, "batch": lambda: index.search(queries, K)}
        n_queries = {"single": SINGLE, "batch": len(queries)}
        best = least_seconds(ways, repeats)
        return {way: round(1000 * best[way] / n, 3) for way, n in n_queries.items()}

    exact_ms, ivf_ms = times(whole), times(lists)
    return {
        "names": len(names),
        "lists": lists.n_lists,
        "probes": lists.recall.probes,
        "recall_at_build": [lists.recall.at_1, lists.recall.at_10],
        "mention_recall_at_1": round(float(right.mean()), 4),
        "unknown_mention_recall_at_1": round(float(right[unknown].mean()), 4),
        "unknown_mentions": int(unknown.sum()),
        "mention_recall_at_10": round(float(both.mean()), 4),
        "exact_ms": exact_ms,
        "ivf_ms": ivf_ms,
        "times_faster": {way: round(exact_ms[way] / ivf_ms[way], 2) for way in exact_ms},
        "build_seconds": seconds,
    }


def main() -> None:
    """Measure, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("sizes", type=int, nargs="+", metavar="NAMES")
    arguments.add_argument("--repeats", type=int, default=3)
    options = arguments.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        arguments.error("times of one thread need OMP_NUM_THREADS=1")
    exact.n_cores = lambda: 1
    int8._WARM = 0  # the import of ONNX Runtime is no part of a search
    data = data_folder()
    real = real_names(data)
    mentions = sorted(set(texts_of(documents_of("bc5cdr", "dev", "test"))))
    encoder = make_encoder("default")
    queries = encoder.encode(mentions)
    results = []
    for size in options.sizes:
        with TemporaryDirectory() as scratch:
            names = list(recombined(real, size))
            results.append(
                measure(names, encoder, queries, Path(scratch), options.repeats)
                | {"real_names": min(size, len(real))}
            )
        print(results[-1], flush=True)
    files = [part_of("bc5cdr", part) for part in ("dev", "test")]
    save(
        "ivf",
        {"mentions": len(mentions), "k": K, "sizes": results},
        packages=["numpy", "onnxruntime"],
        data=[*(data / file for file in FILES), *files],
    )


if __name__ == "__main__":
    main()
