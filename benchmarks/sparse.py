"""What finds the best rows of sparse vectors fastest: canonym now and before, and other libraries.

Names of MEDIC, of MeSH, and recombined ones (`recombined.py`), as character 1- and 2-grams; the 20
best rows of mentions of BC5CDR, 256 together and one at a time, encoded beforehand. Engines take
turns in processes of their own, one thread each; the least processor time counts. `peak MiB` is
what a search of 256 allocates at most beside the index, as far as Python sees it. Engines that are
not installed are left out:

    pip install sparse_dot_topn numba onnxruntime
    git worktree add /tmp/before COMMIT
    python benchmarks/sparse.py --before /tmp/before/src medic mesh 1000000
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import argparse
import hashlib
import importlib
import json
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym.types import SparseVectors
from processes import run_python
from record import data_folder, parser, rows_of, save

K, TOGETHER, SINGLE = 20, 256, 40
Found = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]  # scores and rows
Search = Callable[[SparseVectors], Found]


def names_of(terminology: str) -> list[str]:
    """Return the names of ``medic``, of ``mesh``, or so many recombined ones."""
    from canonym.terminology import read_records
    from canonym.types import Name
    from inputs import MEDIC, MESH
    from recombined import real_names, recombined

    data = data_folder()
    if terminology == "medic":
        records = read_records(data / MEDIC)
        return [record.text for record in records if isinstance(record, Name)]
    if terminology == "mesh":
        return [row["term"] for row in rows_of(data / MESH)]
    return list(recombined(real_names(data), int(terminology)))


def write_vectors(terminology: str, folder: Path) -> int:
    """Encode names and mentions into a folder, and return the number of names."""
    from canonym.encoders.chargrams import CharGrams
    from canonym.text import PLAIN, normalise_all
    from inputs import documents_of, texts_of

    mentions = set(texts_of(documents_of("bc5cdr", "dev", "test")))
    chosen = np.random.default_rng(0).permutation(sorted(set(normalise_all(mentions, PLAIN))))
    names = list(normalise_all(names_of(terminology), PLAIN))
    encoder = CharGrams().fit(names)
    for kind, texts in (("names", names), ("mentions", chosen[: TOGETHER + SINGLE].tolist())):
        np.savez(folder / f"{kind}.npz", **encoder.encode(texts)._asdict())
    return len(names)


def read_vectors(folder: Path, kind: str) -> SparseVectors:
    """Return what `write_vectors` wrote."""
    with np.load(folder / f"{kind}.npz") as saved:
        *arrays, n_columns = saved.values()
    return SparseVectors(*arrays, int(n_columns))


def part_of(vectors: SparseVectors, first: int, last: int) -> SparseVectors:
    """Return the vectors from `first` to `last`."""
    span = slice(vectors.indptr[first], vectors.indptr[last])
    starts = vectors.indptr[first : last + 1] - vectors.indptr[first]
    return SparseVectors(starts, vectors.indices[span], vectors.data[span], vectors.n_columns)


# --- engines --------------------------------------------------------------------------------------


def canonym_(names: SparseVectors) -> Search:
    """The index of the installed canonym."""
    from canonym.indexes import exact, int8
    from canonym.indexes.inverted import Inverted

    exact.n_cores = lambda: 1
    int8._WARM = 0  # the import of ONNX Runtime is no part of a search
    index = Inverted.build(names)

    def search(queries: SparseVectors) -> Found:
        hits = index.search(queries, K)
        return hits.scores, hits.rows

    return search


def canonym_numpy(names: SparseVectors) -> Search:
    """The same without ONNX Runtime."""
    from canonym.indexes import int8

    int8._is_installed = lambda: False
    return canonym_(names)


def matrix(vectors: SparseVectors) -> Any:
    """Return vectors as a matrix of SciPy."""
    from scipy import sparse

    shape = (vectors.n_rows, vectors.n_columns)
    return sparse.csr_array((vectors.data, vectors.indices, vectors.indptr), shape=shape)


def scipy_(names: SparseVectors) -> Search:
    """The product of names and 64 dense queries, and the best of each."""
    rows = matrix(names)

    def search(queries: SparseVectors) -> Found:
        scores, best = [], []
        for first in range(0, queries.n_rows, 64):
            block = matrix(part_of(queries, first, min(first + 64, queries.n_rows)))
            product = (rows @ block.toarray().T).T
            there = np.argpartition(product, -K, axis=1)[:, -K:]
            best.append(there)
            scores.append(np.take_along_axis(product, there, axis=1))
        return np.concatenate(scores), np.concatenate(best)

    return search


def sparse_dot_topn(names: SparseVectors) -> Search:
    """The sparse product in C++ that keeps the best of every row."""
    module: Any = importlib.import_module("sparse_dot_topn")
    from scipy import sparse

    columns = sparse.csr_matrix(matrix(names).T)

    def search(queries: SparseVectors) -> Found:
        found = module.sp_matmul_topn(
            sparse.csr_matrix(matrix(queries)), columns, top_n=K, sort=True, n_threads=1
        )
        return found.data, found.indices

    return search


def numba_(names: SparseVectors) -> Search:
    """Postings added up column by column in compiled code, and the best of each."""
    numba: Any = importlib.import_module("numba")
    postings = matrix(names).tocsc()

    @numba.njit  # type: ignore[untyped-decorator]
    def add(starts: Any, rows: Any, values: Any, columns: Any, weights: Any, total: Any) -> None:
        total[:] = 0
        for place in range(len(columns)):
            for i in range(starts[columns[place]], starts[columns[place] + 1]):
                total[rows[i]] += values[i] * weights[place]

    total = np.empty(names.n_rows, np.float32)

    def search(queries: SparseVectors) -> Found:
        scores, best = [], []
        for first, last in zip(queries.indptr[:-1], queries.indptr[1:], strict=True):
            add(
                postings.indptr, postings.indices, postings.data,
                queries.indices[first:last], queries.data[first:last], total,
            )  # fmt: skip
            there = np.argpartition(total, -K)[-K:]
            best.append(there)
            scores.append(total[there])
        return np.array(scores), np.array(best)

    return search


ENGINES: dict[str, Callable[[SparseVectors], Search]] = {
    "canonym before": canonym_,
    "canonym, ONNX Runtime": canonym_,
    "canonym, NumPy": canonym_numpy,
    "SciPy": scipy_,
    "sparse_dot_topn": sparse_dot_topn,
    "Numba": numba_,
}


def measure(engine: str, folder: Path) -> dict[str, Any]:
    """Time one engine in this process."""
    names, mentions = (read_vectors(folder, kind) for kind in ("names", "mentions"))
    search = ENGINES[engine](names)
    together = part_of(mentions, 0, TOGETHER)
    alone = [part_of(mentions, i, i + 1) for i in range(TOGETHER, TOGETHER + SINGLE)]
    scores, rows = search(together)
    search(alone[0])
    found: dict[str, Any] = {
        "answers": hashlib.sha256(scores.tobytes() + rows.tobytes()).hexdigest()[:16],
        "kth": [float(each) for each in np.sort(scores.reshape(TOGETHER, -1))[:, -K]],
    }
    begun = time.process_time()
    search(together)
    found["of 256, ms"] = (time.process_time() - begun) * 1000 / TOGETHER
    begun = time.process_time()
    for query in alone:
        search(query)
    found["one, ms"] = (time.process_time() - begun) * 1000 / SINGLE
    tracemalloc.start()
    search(together)
    found["peak MiB"] = tracemalloc.get_traced_memory()[1] / 2**20
    return found


def in_turn(folder: Path, engines: list[str], before: str, repeats: int) -> dict[str, Any]:
    """Return the best of several turns of every engine."""
    best: dict[str, Any] = {}
    for _ in range(repeats):
        for engine in engines:
            source = Path(before) if engine == "canonym before" else None
            try:
                said = run_python(__file__, "--engine", engine, folder, source=source)
            except SystemExit as error:
                if "ModuleNotFoundError" in str(error):
                    continue
                raise
            found = json.loads(said)
            known = best.setdefault(engine, found)
            for figure in ("one, ms", "of 256, ms"):
                known[figure] = min(known[figure], found[figure])
    return best


def main() -> None:
    """Time all engines on all terminologies, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("terminologies", nargs="*", default=["medic", "mesh", "1000000"])
    arguments.add_argument("--before", default="", help="src folder of an earlier version")
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.engine:
        print(json.dumps(measure(options.engine, Path(options.terminologies[0]))))
        return
    table = []
    for terminology in options.terminologies:
        with TemporaryDirectory() as scratch:
            n = write_vectors(terminology, Path(scratch))
            engines = [name for name in ENGINES if options.before or name != "canonym before"]
            best = in_turn(Path(scratch), engines, options.before, options.repeats)
        ours = best["canonym, NumPy"]
        for engine, found in best.items():
            row = {"terminology": terminology, "rows": n, "engine": engine}
            row |= {figure: found[figure] for figure in ("one, ms", "of 256, ms", "peak MiB")}
            row["same answers"] = found["answers"] == ours["answers"]
            row["kth differs by"] = float(np.abs(np.subtract(found["kth"], ours["kth"])).max())
            table.append(row)
            print(json.dumps(row), flush=True)
        save("sparse", {"rows": table}, packages=["numpy", "scipy"])


if __name__ == "__main__":
    main()
