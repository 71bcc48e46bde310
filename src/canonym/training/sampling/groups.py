"""Names by concept, to draw batches from: synonyms, hard neighbours, names of related concepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.encoders.hashing import hash_features, sum_rows
from canonym.encoders.inputs import distinct_names
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.io.arrays import ranges, spans
from canonym.types import Float32Array, Int32Array

# Queries, and names searched, for hard neighbours: few enough for seconds instead of minutes.
POOL_SIZE, SEARCHED = 16_384, 131_072
NEAREST = 8
_SHARE = 0.25  # of the names of a batch that add a name of a related concept
_BLOCK = 1024
_GROUPS_BLOCK = 2048


def find_hard_neighbours(
    queries: Float32Array,
    query_concepts: Int32Array,
    vectors: Float32Array,
    concepts: Int32Array,
    rng: np.random.Generator,
    *,
    k: int = 8,
    query_sources: npt.NDArray[Any] | None = None,
    sources: npt.NDArray[Any] | None = None,
) -> npt.NDArray[np.int64]:
    """Find near names of other concepts: rows ``(q, k)`` of `vectors`, −1 where a part has none.

    It takes the nearest name in each of `k` random parts, not the `k` nearest of all: those are
    almost as near for many names and less alike, and a maximum is found faster than a selection. A
    neighbour has to share one of the bits of `sources` with the query: two sources have different
    concepts for one thing, one source has not.
    """
    nearest = np.full((len(queries), k), -1, dtype=np.int64)
    for column, part in enumerate(np.array_split(rng.permutation(len(vectors)), k)):
        if not len(part):
            continue
        # Sorted by concept, the names of the query's own concept are one stretch.
        part = part[np.argsort(concepts[part], kind="stable")]
        own = concepts[part]
        candidates = np.ascontiguousarray(vectors[part].T)
        for block in spans(len(queries), _BLOCK):
            scores = queries[block] @ candidates
            low = np.searchsorted(own, query_concepts[block])
            lengths = np.searchsorted(own, query_concepts[block], side="right") - low
            rows = np.repeat(np.arange(len(scores)), lengths)
            scores[rows, ranges(low, lengths)] = -np.inf
            if sources is not None and query_sources is not None:
                apart = (query_sources[block, None] & sources[part]) == 0
                np.copyto(scores, -np.inf, where=apart)
            best = scores.argmax(axis=1)
            good = np.isfinite(scores[np.arange(len(scores)), best])
            nearest[block, column] = np.where(good, part[best], -1)
    return nearest


def hashed(encoder: Subword, texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], Int32Array]:
    """Return `canonym.encoders.hashing.hash_features` of texts that an encoder has normalised."""
    grams = (encoder.n_min, encoder.n_max)
    return hash_features(texts, grams=grams, n_bits=encoder.table.shape[0].bit_length() - 1)


class SynonymGroups:
    """Distinct names of each concept, as rows sorted by concept."""

    def __init__(
        self,
        encoder: Subword,
        names: list[str],
        concepts: Int32Array,
        weights: npt.NDArray[Any] | None,
        sources: npt.NDArray[Any] | None,
        name_weights: npt.NDArray[Any] | None = None,
    ) -> None:
        self.encoder = encoder
        texts = encoder.texts(names)
        distinct, number_of = distinct_names(["", *texts])
        number_of = number_of[1:]  # 0 where nothing is left of a name
        keys = concepts.astype(np.int64) * len(distinct) + number_of
        weighted = np.flatnonzero(number_of > 0)
        _, rows, places = np.unique(keys[weighted], return_index=True, return_inverse=True)
        rows = weighted[rows]
        self.given = rows
        self.texts = [texts[row] for row in rows]
        self.text_numbers = number_of[rows]
        self.concepts = concepts[rows]
        n_concepts = int(self.concepts[-1]) + 1 if len(rows) else 0
        self.sources = None
        if sources is not None:
            bits = np.asarray(sources)
            # Compared pair by pair in the search: the fewer bytes the better.
            self.sources = bits.astype(np.min_scalar_type(bits.max(initial=0)))[self.concepts]
        self.sizes = np.bincount(self.concepts, minlength=n_concepts)
        self.starts = np.cumsum(self.sizes) - self.sizes
        chances = self.sizes[self.concepts] > 1
        if not chances.any():
            raise InvalidInput(
                f"none of {len(np.unique(concepts)):,} concepts has two different names, and an "
                "encoder learns from synonyms: use a terminology with synonyms, or the default "
                "encoder as it is"
            )
        shares = chances.astype(np.float64)
        if weights is not None:
            shares *= np.asarray(weights, dtype=np.float64)[self.concepts]
        if name_weights is not None:
            weight_of = np.asarray(name_weights, dtype=np.float64)
            if weight_of.shape != (len(names),):
                raise InvalidInput(
                    f"{len(names):,} names were given with name_weights of shape "
                    f"{weight_of.shape}; one number for each name is expected"
                )
            # Equal names are one name, as they are without weights.
            largest = np.full(len(rows), -np.inf)
            with np.errstate(invalid="ignore"):  # checked below
                np.maximum.at(largest, places, weight_of[weighted])
                shares *= largest
        if not (shares.min() >= 0 and 0 < shares.sum() < np.inf):
            raise InvalidInput(
                "weights have to be finite, none below 0, and at least one name of a concept with "
                "two names needs one above 0"
            )
        self.cumulative = np.cumsum(shares)

    def encode(self, table: Float32Array, rows: npt.NDArray[np.int64]) -> Float32Array:
        """Encode some rows with the table so far."""
        return self.encode_texts(table, [self.texts[row] for row in rows])

    def encode_texts(self, table: Float32Array, texts: Sequence[str]) -> Float32Array:
        """Encode normalised texts with the table so far."""
        vectors = np.empty((len(texts), table.shape[1]), dtype=np.float32)
        for place in spans(len(texts), _GROUPS_BLOCK):
            vectors[place] = sum_rows(table, *hashed(self.encoder, texts[place]))
        vectors /= np.sqrt(np.square(vectors).sum(axis=1, keepdims=True) + 1e-12)
        return vectors

    def draw_names(self, n: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draw names that have synonyms, by weight."""
        points = rng.random(n) * self.cumulative[-1]
        return np.asarray(np.searchsorted(self.cumulative, points, side="right"))

    def draw(self, n: int, positives: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draw names with `positives` synonyms each."""
        return self.with_synonyms(self.draw_names(n, rng), positives, rng)

    def with_synonyms(
        self, rows: npt.NDArray[np.int64], positives: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Add `positives` names of the concept of each row, with replacement."""
        return np.concatenate((rows, self.names_of(np.tile(self.concepts[rows], positives), rng)))

    def names_of(
        self, concepts: npt.NDArray[Any], rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw a name of each concept; each has one."""
        places = (rng.random(len(concepts)) * self.sizes[concepts]).astype(np.int64)
        return np.asarray(self.starts[concepts] + places)

    def has(self, concept: int) -> bool:
        """Return whether a concept has a name."""
        return concept < len(self.sizes) and bool(self.sizes[concept])


class HardPool:
    """Hard neighbours of a pool of names, found with the current table."""

    def __init__(
        self,
        groups: SynonymGroups,
        table: Float32Array,
        rng: np.random.Generator,
        *,
        searched: int = SEARCHED,
    ) -> None:
        self.groups = groups
        # Each name is searched once, and used as often as it was drawn.
        self.rows, self.draws = np.unique(groups.draw_names(POOL_SIZE, rng), return_inverse=True)
        places = np.sort(rng.permutation(len(groups.texts))[:searched])
        sources = groups.sources
        neighbours = find_hard_neighbours(
            groups.encode(table, self.rows),
            groups.concepts[self.rows],
            groups.encode(table, places),
            groups.concepts[places],
            rng,
            k=NEAREST,
            query_sources=None if sources is None else sources[self.rows],
            sources=None if sources is None else sources[places],
        )
        self.found = np.where(neighbours >= 0, places[neighbours], -1)

    def draw(
        self, drawn: int, positives: int, n: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw names of the pool, with `positives` synonyms and `n` neighbours each."""
        places = self.draws[rng.integers(len(self.draws), size=drawn)]
        anchors = self.groups.with_synonyms(self.rows[places], positives, rng)
        columns = rng.integers(NEAREST, size=(n, drawn))
        near = self.found[places, columns].ravel()
        near = self.groups.with_synonyms(near[near >= 0], 1, rng)
        return np.concatenate((anchors, near))


class Relatives:
    """Pairs of concepts that a relation joins, in either direction."""

    def __init__(self, groups: SynonymGroups, pairs: npt.NDArray[Any]) -> None:
        from scipy.sparse import csr_array

        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
            raise InvalidInput(
                f"related concepts of shape {pairs.shape} and type {pairs.dtype} were given; pairs "
                "of whole numbers are expected"
            )
        self.groups = groups
        n = len(groups.sizes)
        known = pairs[((pairs >= 0) & (pairs < n)).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
        named = known[(groups.sizes[known] > 0).all(axis=1)]
        both = np.concatenate((named, named[:, ::-1]))
        ones = np.ones(len(both), dtype=bool)  # numbers of repeated pairs would be summed
        self._joined = csr_array((ones, (both[:, 0], both[:, 1])), shape=(n, n))
        self._counts = np.diff(self._joined.indptr)

    def along(self, rows: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return the rows, and for some of them a name of a related concept."""
        some = rows[rng.random(len(rows)) < _SHARE]
        concepts = self.groups.concepts[some]
        concepts = concepts[self._counts[concepts] > 0]
        places = (rng.random(len(concepts)) * self._counts[concepts]).astype(np.int64)
        others = self._joined.indices[self._joined.indptr[concepts] + places]
        return np.concatenate((rows, self.groups.names_of(others, rng)))

    def among(self, concepts: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which pairs of some concepts are related."""
        distinct, places = np.unique(concepts, return_inverse=True)
        joined = self._joined[distinct][:, distinct].toarray()
        return np.asarray(joined[places][:, places])
