"""Sparse vectors, searched through their columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes import (
    BoolArray,
    check_allowed,
    check_k,
    check_numbers,
    check_starts,
    load_array,
)
from canonym.indexes.selection import empty_hits, promising, sort_hits
from canonym.types import Float32Array, Hits, Int32Array, SparseVectors

_QUERY_BLOCK = 64
_FREQUENT = 0.04
_DENSE_BYTES = 1 << 28
_ARRAYS: dict[str, npt.DTypeLike] = {
    "indptr": np.int64, "indices": np.int32, "data": np.float32,
    "posting_starts": np.int64, "posting_rows": np.int32, "posting_values": np.float32,
    "frequent_columns": np.int32, "frequent_values": np.float32,
}  # fmt: skip


class Inverted:
    """Cosine (dot product of unit vectors) between sparse vectors.

    Columns that many rows have are kept as a dense block and go through one matrix product; the
    others are lists of rows, added up per query. As in `Exact`, the proposed rows are scored again
    in double precision, so that a score depends on nothing else. `arrays` are those that `build`
    makes.

    A column in a share ``f`` of the rows is met by about a share ``f`` of the queries. A posting
    costs many times what one place of the dense block costs; on 72,000 disease names the two were
    level around ``f = 0.04``.
    """

    def __init__(self, arrays: dict[str, npt.NDArray[Any]], n_columns: int) -> None:
        self._arrays = arrays
        self.n_columns = n_columns
        self._unchecked: Path | None = None  # a folder whose numbers nobody has looked at yet
        self._place = np.full(n_columns, -1, dtype=np.int32)
        frequent = arrays["frequent_columns"]
        self._place[frequent] = np.arange(len(frequent), dtype=np.int32)

    @classmethod
    def build(cls, vectors: SparseVectors) -> Inverted:
        """Make an index of unit vectors (zero vectors stay zero)."""
        from scipy import sparse

        n, width = vectors.n_rows, vectors.n_columns
        matrix = sparse.csr_array(
            (vectors.data, vectors.indices, vectors.indptr), shape=(n, width)
        ).tocsc()
        starts = matrix.indptr.astype(np.int64)
        counts = np.diff(starts)
        # The most frequent columns become dense, as many as the memory set aside for them holds.
        ranked = np.argsort(-counts, kind="stable")[: _DENSE_BYTES // max(4 * n, 1)]
        frequent = np.sort(ranked[counts[ranked] > max(_FREQUENT * n, 8)]).astype(np.int32)
        dense = np.zeros((len(frequent), n), dtype=np.float32)
        for place, column in enumerate(frequent):
            span = slice(starts[column], starts[column + 1])
            dense[place, matrix.indices[span]] = matrix.data[span]
        rare = np.ones(width, dtype=bool)
        rare[frequent] = False
        kept = np.repeat(rare, counts)
        arrays = {
            "indptr": np.asarray(vectors.indptr, dtype=np.int64),
            "indices": np.asarray(vectors.indices, dtype=np.int32),
            "data": np.asarray(vectors.data, dtype=np.float32),
            "posting_starts": np.concatenate([[0], np.cumsum(counts * rare)]).astype(np.int64),
            "posting_rows": matrix.indices[kept].astype(np.int32),
            "posting_values": matrix.data[kept].astype(np.float32),
            "frequent_columns": frequent,
            "frequent_values": dense,
        }
        return cls(arrays, width)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._arrays["indptr"]) - 1

    @property
    def vectors(self) -> SparseVectors:
        """The rows themselves."""
        if self._unchecked is not None:
            self._check_content(self._unchecked)
        arrays = self._arrays
        return SparseVectors(arrays["indptr"], arrays["indices"], arrays["data"], self.n_columns)

    def _check(self, queries: SparseVectors) -> None:
        if self._unchecked is not None:
            self._check_content(self._unchecked)
        if not isinstance(queries, SparseVectors) or queries.n_columns != self.n_columns:
            width = getattr(queries, "n_columns", getattr(queries, "shape", "?"))
            raise InvalidInput(
                f"queries have width {width}; expected sparse vectors of {self.n_columns} columns, "
                "the width of the index: were they made by another encoder?"
            )

    def search(self, queries: SparseVectors, k: int, *, allowed: BoolArray | None = None) -> Hits:
        """Return the `k` allowed rows of largest dot product for every query, ``(n, k)``.

        Ties are ordered by row. Rows that share no column with a query score 0.
        """
        check_k(k)
        check_allowed(allowed, self.n_rows)
        self._check(queries)
        hits = empty_hits(queries.n_rows, k)
        forbidden = None if allowed is None else ~allowed
        for i, scores in self._all_scores(queries):
            if forbidden is not None:
                scores[forbidden] = -np.inf
            rows = promising(scores, k).astype(np.int32)
            best, score = sort_hits(rows, self._score_rows(queries, i, rows), k)
            hits.rows[i, : len(best)] = best
            hits.scores[i, : len(best)] = score
        return hits

    def _all_scores(self, queries: SparseVectors) -> Iterator[tuple[int, Float32Array]]:
        """Yield every query's scores with all rows, good to about 1e-6."""
        frequent = self._arrays["frequent_values"]
        starts = self._arrays["posting_starts"]
        rows, values = self._arrays["posting_rows"], self._arrays["posting_values"]
        for first in range(0, queries.n_rows, _QUERY_BLOCK):
            n = min(_QUERY_BLOCK, queries.n_rows - first)
            weights = np.zeros((n, len(frequent)), dtype=np.float32)
            rare: list[list[tuple[int, float]]] = []
            for i in range(n):
                span = slice(queries.indptr[first + i], queries.indptr[first + i + 1])
                columns, given = queries.indices[span], queries.data[span]
                places = self._place[columns]
                weights[i, places[places >= 0]] = given[places >= 0]
                rare.append(list(zip(columns[places < 0], given[places < 0], strict=True)))
            block = weights @ frequent
            for i in range(n):
                if rare[i]:
                    spans = [slice(starts[c], starts[c + 1]) for c, _ in rare[i]]
                    touched = np.concatenate([rows[span] for span in spans])
                    added = np.concatenate(
                        [values[span] * w for span, (_, w) in zip(spans, rare[i], strict=True)]
                    )
                    block[i] += np.bincount(touched, added, minlength=self.n_rows)
                yield first + i, block[i]

    def score(self, queries: SparseVectors, rows: Int32Array) -> Float32Array:
        """Return the dot product of every query with chosen rows; −inf for the row −1."""
        self._check(queries)
        scores = np.full(rows.shape, -np.inf, dtype=np.float32)
        for i, chosen in enumerate(rows):
            there = chosen >= 0
            scores[i, there] = self._score_rows(queries, i, chosen[there])
        return scores

    def _score_rows(self, queries: SparseVectors, i: int, rows: Int32Array) -> Float32Array:
        span = slice(queries.indptr[i], queries.indptr[i + 1])
        query = np.zeros(self.n_columns, dtype=np.float64)
        query[queries.indices[span]] = queries.data[span]
        starts = self._arrays["indptr"][rows]
        counts = self._arrays["indptr"][rows + 1] - starts
        # The places of all chosen rows, one after the other.
        ends = np.cumsum(counts)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
        products = self._arrays["data"][places] * query[self._arrays["indices"][places]]
        owner = np.repeat(np.arange(len(rows)), counts)
        return np.bincount(owner, products, minlength=len(rows)).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write one ``.npy`` file per array to an existing folder."""
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", self._arrays[name])
        np.save(folder / "n_columns.npy", np.int64(self.n_columns))

    @classmethod
    def load(cls, folder: Path, *, n_rows: int | None = None) -> Inverted:
        """Open a saved index, memory-mapped; it has to have `n_rows`."""
        place = folder / "n_columns.npy"
        n_columns = int(load_array(place, (), np.int64))
        arrays: dict[str, npt.NDArray[Any]] = {}

        def load(name: str, *shape: int | None) -> int:
            arrays[name] = load_array(folder / f"{name}.npy", shape, _ARRAYS[name])
            return len(arrays[name])

        n = load("indptr", None if n_rows is None else n_rows + 1) - 1
        load("data", load("indices", None))
        load("posting_starts", n_columns + 1)
        load("posting_values", load("posting_rows", None))
        load("frequent_values", load("frequent_columns", None), n)
        check_numbers(folder / "frequent_columns.npy", arrays["frequent_columns"], n_columns)
        found = cls(arrays, n_columns)
        found._unchecked = folder
        return found

    def _check_content(self, folder: Path) -> None:
        """Refuse numbers that count no column or row; reading them all takes time."""
        arrays = self._arrays
        check_numbers(folder / "indices.npy", arrays["indices"], self.n_columns)
        check_numbers(folder / "posting_rows.npy", arrays["posting_rows"], self.n_rows)
        for starts, held in (("indptr", "data"), ("posting_starts", "posting_rows")):
            check_starts(folder / f"{starts}.npy", arrays[starts], len(arrays[held]))
        self._unchecked = None
