"""What multiplies queries with rows fastest: libraries for float32 and int8, side by side.

Random unit vectors of 128 numbers, one thread, one query and 256 at once. Only the product is
timed, without the choice of the best rows, except where a library does both (FAISS, USearch).
Engines take turns; the least processor time of each counts. Those that are not installed are left
out:

    pip install faiss-cpu usearch numkong numba onnx onnxruntime
    python benchmarks/products.py
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from canonym.indexes.int8 import multiplier
from record import parser, save
from timing import least_seconds

WIDTH, REPEATS, TOGETHER = 128, 7, 256
Engine = Callable[[int], Any]


def engines(n: int) -> dict[str, Engine]:
    """Return the installed engines, each a function of the number of queries."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n, WIDTH)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    queries = rows[:TOGETHER].copy()
    coded = np.rint(rows * 127 / np.abs(rows).max()).astype(np.int8)
    asked = np.rint(queries * 63 / np.abs(queries).max()).astype(np.int8)
    shifted = (asked.astype(np.int16) + 63).astype(np.uint8)
    blocks = [np.ascontiguousarray(coded[i : i + 16384].T) for i in range(0, n, 16384)]
    transposed = np.ascontiguousarray(rows.T)
    found: dict[str, Engine] = {
        "NumPy, float32": lambda m: queries[:m] @ transposed,
        "ONNX Runtime, int8": lambda m: [multiplier(True)(shifted[:m], block) for block in blocks],
    }

    def faiss_() -> dict[str, Engine]:
        faiss: Any = importlib.import_module("faiss")
        faiss.omp_set_num_threads(1)
        flat = faiss.IndexFlatIP(WIDTH)
        flat.add(rows)
        bytes_ = faiss.IndexScalarQuantizer(
            WIDTH, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
        )
        bytes_.train(coded.astype(np.float32))
        bytes_.add(coded.astype(np.float32))
        return {
            "FAISS, float32": lambda m: flat.search(queries[:m], 20),
            "FAISS, int8": lambda m: bytes_.search(asked[:m].astype(np.float32), 20),
        }

    def usearch() -> dict[str, Engine]:
        module: Any = importlib.import_module("usearch.index")
        kind = module.MetricKind.IP
        return {
            "USearch, int8": lambda m: module.search(
                coded, asked[:m], 20, kind, exact=True, threads=1
            )
        }

    def numkong() -> dict[str, Engine]:
        module: Any = importlib.import_module("numkong")
        packed = module.dots_pack(coded, dtype="int8")
        return {"NumKong, int8": lambda m: module.dots_packed(asked[:m], packed)}

    def numba() -> dict[str, Engine]:
        module: Any = importlib.import_module("numba")

        @module.njit(fastmath=True)  # type: ignore[untyped-decorator]
        def multiply(a: Any, b: Any, out: Any) -> None:
            for i in range(b.shape[0]):
                for j in range(a.shape[0]):
                    total = np.int32(0)
                    for c in range(b.shape[1]):
                        total += np.int32(a[j, c]) * np.int32(b[i, c])
                    out[j, i] = total

        out = np.empty((TOGETHER, n), np.int32)
        return {"Numba, int8": lambda m: multiply(asked[:m], coded, out)}

    for library in (faiss_, usearch, numkong, numba):
        try:
            found.update(library())
        except ImportError as error:
            print(f"left out: {error}")
    return found


def main() -> None:
    """Time all engines in turn, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, nargs="*", default=[76_237, 263_931])
    table = []
    for n in arguments.parse_args().rows:
        every = engines(n)
        ways = {(name, m): partial(work, m) for name, work in every.items() for m in (1, TOGETHER)}
        best = least_seconds(ways, REPEATS)
        for name in every:
            one, together = (1000 * best[name, m] / m for m in (1, TOGETHER))
            table.append({"rows": n, "engine": name, "one, ms": one, "of 256, ms": together})
            print(f"{n:8,}  {name:22} {one:8.3f} {together:8.4f} ms a query", flush=True)
    save("products", {"rows": table}, packages=["numpy", "onnxruntime"])


if __name__ == "__main__":
    main()
