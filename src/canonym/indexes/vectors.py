"""Operations on vectors of either kind, dense or sparse: take, join, average, index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.indexes.exact import Exact, unit
from canonym.indexes.int8 import values_of
from canonym.indexes.inverted import Inverted
from canonym.indexes.unnormalised import Euclidean, Inner
from canonym.io.arrays import spans
from canonym.types import Float32Array, Int32Array, SparseVectors

Vectors = Float32Array | SparseVectors
"""The result of an encoder: ``(n, d)`` float32, or `SparseVectors`."""

KIND_OF: dict[str, str] = {"cosine": "exact", "inner": "inner", "euclidean": "euclidean"}
"""The kind of an exact index by the similarity of its encoder."""

_EXACT: dict[str, type[Exact]] = {"exact": Exact, "inner": Inner, "euclidean": Euclidean}
_BLOCK = 1 << 16


def take_vectors(vectors: Vectors, rows: npt.NDArray[np.intp] | Int32Array) -> Vectors:
    """Return the vectors of the given rows, in that order; a row may come several times."""
    if not isinstance(vectors, SparseVectors):
        return np.asarray(vectors[rows], dtype=np.float32)
    at, counts = values_of(vectors, np.asarray(rows))
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices = np.asarray(vectors.indices[at], dtype=np.int32)
    data = np.asarray(vectors.data[at], dtype=np.float32)
    return SparseVectors(indptr, indices, data, vectors.n_columns)


def join_vectors(several: Sequence[Vectors]) -> Vectors:
    """Return vectors one after the other; at least one batch, all of one kind and width."""
    if dense := [part for part in several if not isinstance(part, SparseVectors)]:
        return np.asarray(np.concatenate(dense), dtype=np.float32)
    sparse = [part for part in several if isinstance(part, SparseVectors)]
    offsets = np.cumsum([0, *(part.indptr[-1] for part in sparse)])
    ends = [part.indptr[1:] + offset for part, offset in zip(sparse, offsets, strict=False)]
    indptr = np.concatenate([np.zeros(1, dtype=np.int64), *ends])
    indices = np.concatenate([part.indices for part in sparse]).astype(np.int32)
    data = np.concatenate([part.data for part in sparse]).astype(np.float32)
    return SparseVectors(indptr, indices, data, sparse[0].n_columns)


def mean_vectors(
    vectors: Vectors, groups: Int32Array, n_groups: int, *, scaled: bool = True
) -> Vectors:
    """Return the mean of the vectors of every group 0 … `n_groups` − 1.

    It is brought to length one, unless `scaled` is off and vectors are dense.

    ``V(c) = mean_{t ∈ T(c)} V(t)`` (Xu & Bethard 2021, section 3.2). The sum, in double precision,
    has the direction of the mean. Zero for a group without vectors, or whose vectors cancel each
    other.

    >>> names = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    >>> mean_vectors(names, np.array([0, 0, 1], dtype=np.int32), 2).round(3).tolist()
    [[0.7070000171661377, 0.7070000171661377], [0.0, 1.0]]
    """
    from scipy import sparse

    def member(groups: Int32Array) -> Any:
        n = len(groups)
        return sparse.csr_array((np.ones(n), (groups, np.arange(n))), shape=(n_groups, n))

    if not isinstance(vectors, SparseVectors):
        sums = np.zeros((n_groups, vectors.shape[1]))
        for span in spans(len(groups), _BLOCK):
            sums += member(groups[span]) @ np.asarray(vectors[span], dtype=np.float64)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        if not scaled:
            lengths = np.bincount(groups, minlength=n_groups)[:, None]
        mean = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
        return np.asarray(mean, dtype=np.float32)
    values = np.asarray(vectors.data, dtype=np.float64), vectors.indices, vectors.indptr
    matrix = sparse.csr_array(values, shape=(len(groups), vectors.n_columns))
    total = (member(groups) @ matrix).tocsr()
    total.sort_indices()
    lengths = np.sqrt(total.multiply(total).sum(axis=1))
    data = total.data / np.repeat(np.where(lengths > 0, lengths, 1), np.diff(total.indptr))
    indptr, indices = total.indptr.astype(np.int64), total.indices.astype(np.int32)
    return SparseVectors(indptr, indices, data.astype(np.float32), vectors.n_columns)


def index_of(vectors: Vectors, kind: str = "exact") -> Exact | Inverted:
    """Return an index of few vectors beside one of that kind; only those of cosines are scaled.

    Sparse vectors make an inverted index. Dense ones are searched exactly: with kind ``"exact"`` or
    ``"ivf"`` they have length one.
    """
    if isinstance(vectors, SparseVectors):
        return Inverted.build(vectors)
    return _EXACT["exact" if kind == "ivf" else kind](vectors)


def dense_index(vectors: Float32Array, similarity: str) -> Exact:
    """Return an exact index of dense vectors, which have length one if compared by cosine."""
    return _EXACT[KIND_OF[similarity]](vectors)


def scaled_for(similarity: str, vectors: Vectors, encoder: object) -> Vectors:
    """Scale dense vectors that are compared by cosine, where the encoder does not do it."""
    if similarity != "cosine" or getattr(encoder, "normalise", True):
        return vectors
    return vectors if isinstance(vectors, SparseVectors) else unit(vectors)
