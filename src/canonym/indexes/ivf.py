"""Dense vectors in lists of similar ones: a search looks at the lists nearest to its query.

Every row stands in the lists of the two centres nearest to it: its neighbours beyond a border of a
list are then seldom missed. Within the lists it looks at, a search finds what `Exact` finds, with
the same scores. How many lists it takes is measured when the index is made, see
`canonym.indexes.ivf`.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym import indexes
from canonym.errors import ReadError
from canonym.indexes import BoolArray, check_numbers, check_starts, load_array
from canonym.indexes.exact import Exact, Propose, is_narrow, unit
from canonym.indexes.int8 import DenseInt8, Multiply, multiplier, worth_it
from canonym.indexes.kmeans import centres_of, nearest_centres
from canonym.indexes.selection import GROUP, LOWEST, Pairs, Promising
from canonym.io.arrays import Empty, ranges, scratch_arrays, spans
from canonym.io.files import load_json
from canonym.types import Float32Array, Int32Array

_COPIES = 2  # lists that a row stands in
_LISTS = 2  # times the square root of the number of rows
_SEEN = 20  # rows looked at for every row that is wanted, at least
_MOST = 0.25  # of all rows: looking at more takes longer than looking at all
_SCORES = 1 << 25  # held at once: 128 MiB
_SORTED = 1 << 20  # rows at once, when lists are made

Report = Callable[[str, int, int], None]
"""Called with a stage, the rows that are done, and of how many."""


class Ivf(Exact):
    """`Exact` that looks at lists only: scores are exact, and a row of another list is missed.

    A narrow filter is searched among its own rows and is exact. Behind a wide one more lists are
    looked at, so that as many rows are seen as without it.
    """

    _at_once = 512  # queries: those that look at one list share its product

    def __init__(self, vectors: Float32Array, lists: Lists, codes: DenseInt8) -> None:
        super().__init__(vectors)
        self.recall = lists.recall
        self._centres = Exact(lists.centres)
        self._rows = lists.rows
        self._starts = lists.starts
        self._sizes = np.diff(lists.starts)
        self._lists = codes
        self._unchecked: Path | None = None  # a file of rows that nobody has looked at yet

    @classmethod
    def build(cls, vectors: Float32Array) -> Ivf:
        """Make an index of finite vectors of any length; each is scaled to length one."""
        vectors = unit(vectors)
        lists = make_lists(vectors, silent)
        return cls(vectors, lists, DenseInt8.of(vectors, lists.starts, lists.rows))

    @property
    def n_lists(self) -> int:
        """Number of lists."""
        return len(self._sizes)

    # --- search ---------------------------------------------------------------------------------

    def _plan(self, n_queries: int, k: int, allowed: BoolArray | None) -> tuple[Propose, bool]:
        if not len(self._rows) or (allowed is not None and is_narrow(allowed)):
            return super()._plan(n_queries, k, allowed)
        sizes, there = self._sizes, None
        if allowed is not None:
            if self._unchecked is not None:  # now all of them are read
                check_numbers(self._unchecked, self._rows, self.n_rows)
                self._unchecked = None
            there = allowed[self._rows]
            sizes = np.diff(np.concatenate([[0], np.cumsum(there)])[self._starts])
        scanned = int(self._sizes.mean() * self.recall.probes)
        multiply = multiplier(worth_it(n_queries, scanned, self.vectors.shape[1]))

        def propose(queries: Float32Array) -> Pairs:
            lists, looked_at = self._nearest_lists(queries, k, sizes)
            n_scores = np.where(looked_at, self._sizes[lists], 0).sum(axis=1)
            many = n_scores > _MOST * len(self._rows)
            whole, few = np.flatnonzero(many), np.flatnonzero(~many)
            blocks = []
            if len(whole):
                pairs = self._promising(queries[whole], k, allowed, None)
                blocks.append(_of_queries(whole, pairs))
            step = max(1, _SCORES // max(int(n_scores[few].max(initial=0)), 1))
            for first in range(0, len(few), step):
                some = few[first : first + step]
                pairs = self._in_lists(
                    queries[some], k, lists[some], looked_at[some], there, multiply
                )
                blocks.append(_of_queries(some, pairs))
            query, row = (np.concatenate(column) for column in zip(*blocks, strict=True))
            order = np.argsort(query, kind="stable")
            return self._nearer(queries, k, query[order], row[order])

        return propose, True

    def _nearest_lists(
        self, queries: Float32Array, k: int, sizes: npt.NDArray[np.int64]
    ) -> tuple[Int32Array, BoolArray]:
        """Return the nearest lists of every query, ``(n, m)``, and which of them to look at.

        `sizes` counts the allowed rows of each list.
        """
        n_lists, probes = len(sizes), self.recall.probes
        n = probes
        while True:
            lists = self._centres.search(queries, n).rows
            seen = np.cumsum(sizes[lists], axis=1)
            needed = self._sizes[lists[:, :probes]].sum(axis=1).clip(_SEEN * k)[:, None]
            if n == n_lists or (seen[:, -1:] >= needed).all():
                return lists, (seen - sizes[lists] < needed) & (sizes[lists] > 0)
            n = min(4 * n, n_lists)

    def _in_lists(
        self,
        queries: Float32Array,
        k: int,
        lists: Int32Array,
        looked_at: BoolArray,
        there: BoolArray | None,
        multiply: Multiply,
    ) -> Pairs:
        """Return every (query, row) of the lists that may be among the `k` best of a query.

        `there` are the places of allowed rows.
        """
        coded = self._lists.coded(queries)
        owners = np.nonzero(looked_at)[0]
        probed = lists[looked_at]
        # Scores of a query stand in one line, list after list.
        sizes = self._sizes[probed]
        ends = np.cumsum(np.where(looked_at, self._sizes[lists], 0), axis=1)
        width = -(-int(ends[:, -1].max(initial=0)) // GROUP) * GROUP
        begins = ends[looked_at] - sizes + owners * width
        # A row may come twice, so that the k best rows are among the 2k best scores.
        promising = Promising(_COPIES * k, width, coded.slack, np.int32)
        scores = np.full((len(queries), width), LOWEST, dtype=np.int32)
        line = scores.reshape(-1)
        order = np.argsort(probed, kind="stable")
        bounds = np.flatnonzero(np.diff(probed[order], prepend=-1, append=-1)).tolist()
        for first, last in itertools.pairwise(bounds):
            same = order[first:last]
            block = int(probed[same[0]])
            products = self._lists.products(multiply, coded.numbers[owners[same]], block)
            if there is not None:
                products[:, ~there[self._starts[block] : self._starts[block + 1]]] = LOWEST
            for begin, product in zip(begins[same].tolist(), products, strict=True):
                line[begin : begin + len(product)] = product
        promising.add(scores, 0)
        query, column = promising.pairs()
        place = query * width + column
        part = np.searchsorted(begins, place, side="right") - 1
        row = self._rows[self._starts[probed[part]] + place - begins[part]]
        if self._unchecked is not None:
            check_numbers(self._unchecked, row, self.n_rows)
        return np.divmod(np.unique(query * self.n_rows + row), self.n_rows)

    # --- folders --------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write the index to an existing folder."""
        np.save(folder / "vectors.npy", np.asarray(self.vectors))
        Lists(self._centres.vectors, self._starts, self._rows, self.recall).save(folder)
        self._lists.save(folder)

    @classmethod
    def load(cls, folder: Path, *, n_rows: int | None = None) -> Ivf:
        """Open a saved index, memory-mapped; it has to have `n_rows`."""
        vectors = load_array(folder / "vectors.npy", (n_rows, None), np.float32, np.float16)
        n, width = vectors.shape
        lists = Lists.load(folder, n, width)
        codes = DenseInt8.load(folder, len(lists.rows), width, lists.starts)
        index = cls(vectors, lists, codes)
        if len(lists.rows) > indexes.LOOKED_AT:
            index._unchecked = folder / "rows.npy"
        else:
            check_numbers(folder / "rows.npy", lists.rows, n)
        return index


def write_lists(vectors: Float32Array, folder: Path, report: Report) -> None:
    """Write all of an `Ivf` but its vectors, which have length one or zero and may be mapped."""
    with scratch_arrays(folder) as empty:
        lists = make_lists(vectors, report, empty)
        lists.save(folder)
        DenseInt8.write(vectors, folder, lists.starts, lists.rows, empty)


class Lists(NamedTuple):
    """Rows by the centres they are nearest to: list i is ``rows[starts[i]:starts[i + 1]]``."""

    centres: Float32Array
    starts: npt.NDArray[np.int64]
    rows: Int32Array
    recall: Recall

    def save(self, folder: Path) -> None:
        """Write a file each."""
        np.save(folder / "centres.npy", self.centres)
        np.save(folder / "starts.npy", self.starts)
        np.save(folder / "rows.npy", self.rows)
        self.recall.save(folder / "recall.json")

    @classmethod
    def load(cls, folder: Path, n_rows: int, width: int) -> Lists:
        """Open the lists of so many rows, memory-mapped."""
        centres = load_array(folder / "centres.npy", (None, width), np.float32)
        places = n_rows * min(_COPIES, len(centres))
        starts = load_array(folder / "starts.npy", (len(centres) + 1,), np.int64)
        check_starts(folder / "starts.npy", starts, places)
        rows = load_array(folder / "rows.npy", (places,), np.int32)
        return cls(centres, starts, rows, Recall.load(folder / "recall.json", len(centres)))


def make_lists(vectors: Float32Array, report: Report, empty: Empty = np.empty) -> Lists:
    """Share vectors of length one or zero out to lists; the same lists whenever it is done.

    `empty` makes the arrays that have a number for every row.
    """
    n = len(vectors)
    n_lists = min(n, math.ceil(_LISTS * math.sqrt(n)))
    if not n:
        nothing = np.empty(vectors.shape, dtype=np.float32), np.zeros(1, dtype=np.int64)
        return Lists(*nothing, np.empty(0, dtype=np.int32), Recall(0, 1.0, 1.0))
    centres = centres_of(vectors, n_lists, functools.partial(report, "centres"))
    copies = min(_COPIES, n_lists)
    nearest = nearest_centres(vectors, centres, copies, functools.partial(report, "lists"), empty)
    recall = measure_recall(vectors, Exact(centres), nearest, functools.partial(report, "recall"))
    return Lists(centres, *_rows_by_list(nearest, n_lists, empty), recall)


def _rows_by_list(
    nearest: Int32Array, n_lists: int, empty: Empty
) -> tuple[npt.NDArray[np.int64], Int32Array]:
    """Return where lists start, and their rows, rising, from the lists of every row."""
    n, copies = nearest.shape
    blocks = [*spans(n, _SORTED)]
    counts = [np.bincount(nearest[block].reshape(-1), minlength=n_lists) for block in blocks]
    starts = np.concatenate([[0], np.cumsum(np.sum(counts, axis=0))]).astype(np.int64)
    rows, following = empty((n * copies,), np.int32), starts[:-1].copy()
    for block, count in zip(blocks, counts, strict=True):
        order = np.argsort(nearest[block].reshape(-1), kind="stable")
        rows[ranges(following, count)] = block.start + order // copies
        following += count
    return starts, rows


def _of_queries(queries: npt.NDArray[np.intp], pairs: Pairs) -> Pairs:
    """Number the queries of pairs as they are numbered in the whole batch."""
    return queries[pairs[0]], pairs[1]


def silent(stage: str, done: int, total: int) -> None:
    """Take a report of progress and do nothing with it."""


# --- recall ---------------------------------------------------------------------------------------

GOAL = 0.99
"""Share of searches that have to find the nearest row."""

_SAMPLE = 1000
_BLOCK = 128
_FETCHED = 20  # rows, of which the first ten that count are looked for
_EQUAL = 1 - 1e-6


class Recall(NamedTuple):
    """How many lists a search looks at, and what share of rows it finds of the first, or ten."""

    probes: int
    at_1: float
    at_10: float

    def save(self, path: Path) -> None:
        """Write a JSON file."""
        path.write_text(json.dumps(self._asdict(), indent=2) + "\n", encoding="ascii")

    @classmethod
    def load(cls, path: Path, n_lists: int) -> Recall:
        """Read a JSON file; refuse numbers that cannot be."""
        try:
            content = load_json(path)
            recall = cls(**content)
        except (OSError, ValueError, TypeError) as error:
            raise ReadError(path, f"cannot be opened ({error}); build the index again") from error
        shares = all(isinstance(share, float) and 0 <= share <= 1 for share in recall[1:])
        if (
            type(recall.probes) is not int
            or not min(1, n_lists) <= recall.probes <= n_lists
            or not shares
        ):
            raise ReadError(
                path,
                f"holds {content}, expected 1 to {n_lists:,} probes and two shares; it is damaged, "
                "build the index again",
            )
        return recall


def measure_recall(
    vectors: Float32Array, centres: Exact, lists: Int32Array, report: Callable[[int, int], None]
) -> Recall:
    """Return the fewest lists with which a search reaches `GOAL`, and the recall with them.

    A sample of rows, drawn with a fixed seed, is searched as if each were the name of a mention
    that the index does not know: its own row, and rows equal to it, do not count. What is found is
    compared with the exact answer. `lists` ``(n, copies)`` are the lists of every row. Where
    nothing can be measured, a search looks at all lists.
    """
    rng = np.random.default_rng(0)
    sample = np.sort(rng.choice(len(vectors), min(_SAMPLE, len(vectors)), replace=False))
    firsts, further = [], []
    for start in range(0, len(sample), _BLOCK):
        report(start, len(sample))
        queries = np.asarray(vectors[sample[start : start + _BLOCK]], dtype=np.float32)
        first, ten = _probes_needed(queries[queries.any(axis=1)], Exact(vectors), centres, lists)
        firsts.append(first)
        further.append(ten)
    report(len(sample), len(sample))
    first, ten = np.concatenate(firsts), np.concatenate(further)
    if not len(first):
        return Recall(centres.n_rows, 1.0, 1.0)
    probes = int(np.sort(first)[math.ceil(GOAL * len(first)) - 1])
    at_1, at_10 = (round(float((needed <= probes).mean()), 4) for needed in (first, ten))
    return Recall(probes, at_1, at_10)


def _probes_needed(
    queries: Float32Array, index: Exact, centres: Exact, lists: Int32Array
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return how many lists find the nearest other row of each query, and each of the first ten."""
    n_lists = centres.n_rows
    hits = index.search(queries, min(_FETCHED, index.n_rows))
    order = centres.search(queries, n_lists).rows
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(1, n_lists + 1, dtype=np.int32)[None], axis=1)
    needed = rank[np.arange(len(queries))[:, None, None], lists[hits.rows]].min(axis=2)
    counts = hits.scores < _EQUAL
    place = np.cumsum(counts, axis=1)
    best = np.where(counts, hits.scores, -np.inf).max(axis=1, keepdims=True)
    nearest = np.where(counts & (hits.scores == best), needed, n_lists + 1).min(axis=1)
    return nearest[counts.any(axis=1)], needed[counts & (place <= 10)]
