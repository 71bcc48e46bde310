"""Candidates of training mentions, found with the current encoder (BioSyn)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from canonym.encoders.chargrams import CharGrams
from canonym.errors import NotTrained
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.vectors import dense_index
from canonym.training.objective import Encode, comparable
from canonym.types import Encoder, Float32Array, Hits, Int32Array, SparseVectors

# Names that are encoded and searched at once; this bounds the memory of a refresh.
_NAMES = 65_536


class Candidates(NamedTuple):
    """Candidates of each string, and their sparse scores."""

    rows: Int32Array  # (n, k), the sparse candidates first
    sparse: Float32Array  # (n, k)
    dense: Int32Array  # (n, k), the nearest by the encoder; (n, 0) where it is not asked


class CandidateSearch:
    """Retrieves candidates by an untrained scorer and by the encoder in training, in proportion.

    `sparse` gives the sparse scores, cosines of its vectors: character 1- and 2-grams by default,
    as in the paper. An encoder that is not fitted yet is fitted to the names.

    Notes
    -----
    The ``k − ⌊α k⌋`` names of the largest sparse score, which never change, and the ``⌊α k⌋``
    nearest by the encoder in training; where the two overlap, the next nearest. The indexes of
    linking search a block of names at a time: memory grows with ``len(texts) · k``, never with
    ``len(texts) · len(names)``. Nearest is by `similarity`, one of `canonym.types.SIMILARITIES`.

    References
    ----------
    Sung et al. (2020), Biomedical Entity Representations with Synonym Marginalization, section 3.3.
    """

    def __init__(
        self,
        names: Sequence[str],
        texts: Sequence[str],
        *,
        k: int = 20,
        dense_ratio: float = 0.5,
        sparse: Encoder | None = None,
        similarity: str = "cosine",
    ) -> None:
        self.names, self.texts, self.similarity = names, texts, similarity
        self.k = min(k, len(names))
        # A ratio such as 0.29 of 100 is a hair below 29 in binary.
        self.n_sparse = self.k - int(dense_ratio * self.k + 1e-9)
        encoder: Any = CharGrams(n_min=1, n_max=2) if sparse is None else sparse
        try:
            vectors = encoder.encode(names)
        except NotTrained:
            vectors = encoder.fit(names).encode(names)
        self._index: Exact | Inverted
        self._encoder = encoder
        self._queries: Any = encoder.encode(texts)
        if isinstance(vectors, SparseVectors):
            self._index = Inverted.build(vectors)
        else:
            self._index = Exact.build(vectors)
            self._queries = Exact.build(self._queries).vectors
        self._sparse = np.empty((len(texts), 0), dtype=np.int32)
        if self.n_sparse:
            self._sparse = self._index.search(self._queries, self.n_sparse).rows

    def refresh(self, encode: Encode) -> Candidates:
        """Find the candidates with the current encoder."""
        rows = self._sparse
        dense = np.empty((len(self.texts), 0), dtype=np.int32)
        if self.n_sparse < self.k:
            dense = self.dense_names(encode, self.texts, self.k)
            rows = merge_candidates(self._sparse, dense, self.k)
        return Candidates(rows, self._index.score(self._queries, rows), dense)

    def dense_names(self, encode: Encode, texts: Sequence[str], k: int) -> Int32Array:
        """Return the ``(n, k)`` names nearest by the encoder for any strings."""
        return nearest_names(encode, self.names, texts, k, self.similarity).rows

    def sparse_names(self, texts: Sequence[str], k: int) -> Int32Array:
        """Return the ``(n, k)`` names of the largest sparse score for any strings."""
        queries: Any = self._encoder.encode(texts)
        if not isinstance(queries, SparseVectors):
            queries = Exact.build(queries).vectors
        return self._index.search(queries, k).rows


def merge_candidates(sparse: Int32Array, dense: Int32Array, k: int) -> Int32Array:
    """Fill up sparse candidates with dense ones that are not among them."""
    n, s = sparse.shape
    new = ~(dense[:, :, None] == sparse[:, None, :]).any(axis=2)
    taken = new & (new.cumsum(axis=1) <= k - s)
    return np.concatenate([sparse, dense[taken].reshape(n, k - s)], axis=1)


def nearest_names(
    encode: Encode, names: Sequence[str], texts: Sequence[str], k: int, similarity: str = "cosine"
) -> Hits:
    """Find the names nearest to strings by a similarity, encoding a block of names at a time."""
    encode = comparable(encode, similarity)
    queries = encode(texts)
    rows = np.empty((len(texts), 0), dtype=np.int32)
    scores = np.empty((len(texts), 0), dtype=np.float32)
    for first in range(0, len(names), _NAMES):
        block = names[first : first + _NAMES]
        index = dense_index(encode(block), similarity)
        hits = index.search(queries, min(k, len(block)))
        rows = np.concatenate([rows, hits.rows + np.int32(first)], axis=1)
        scores = np.concatenate([scores, hits.scores], axis=1)
        # Earlier rows come first, so a stable sort keeps ties in the order of the rows.
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        rows = np.take_along_axis(rows, order, axis=1)
        scores = np.take_along_axis(scores, order, axis=1)
    return Hits(rows, scores)
