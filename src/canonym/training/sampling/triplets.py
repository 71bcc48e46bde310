"""Triplets of a mention, a right name and a wrong one, in a table that can be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.indexes.exact import Exact
from canonym.io.files import write_file
from canonym.io.streams import open_text
from canonym.training.objective import Encode
from canonym.training.sampling.names import LinkedMentions, NameTable, RelatedNames
from canonym.training.sampling.random import check_sizes, draw_apart, draw_some
from canonym.types import Float32Array, Int32Array

# --- triplet file ---

COLUMNS: tuple[str, ...] = ("mention", "positive", "negative", "ids", "strategy")
"""Columns of the table; see `Triplet`."""


class Triplet(NamedTuple):
    """A training mention, a name that is to be near it, and one that is not.

    Attributes
    ----------
    mention, positive, negative : str
        The strings.
    ids : tuple of str
        Concepts of the mention.
    strategy : str
        How the two names were chosen.
    """

    mention: str
    positive: str
    negative: str
    ids: tuple[str, ...] = ()
    strategy: str = ""


def write_triplet_file(path: str | Path, triplets: Iterable[Triplet]) -> int:
    """Write triplets as tab-separated values with a header; ids are joined by bars.

    Parameters
    ----------
    path : str or Path
        The file; it appears whole or not at all.
    triplets : iterable of Triplet
        What to write.

    Returns
    -------
    int
        Number of triplets.

    Raises
    ------
    InvalidInput
        If a string is empty or holds a tab or a line end, or an id a bar.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "triplets.tsv"
    >>> write_triplet_file(file, [Triplet("flu", "influenza", "fever", ("MESH:D7",), "random")])
    1
    >>> read_triplet_file(file)[0].ids
    ('MESH:D7',)
    """
    n = 0
    with write_file(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("\t".join(COLUMNS) + "\n")
        for n, triplet in enumerate(triplets, start=1):
            stream.write("\t".join(_cells(triplet, n)) + "\n")
    return n


def _cells(triplet: Triplet, n: int) -> Iterator[str]:
    cells = (*triplet[:3], "|".join(triplet.ids), triplet.strategy)
    for column, cell in zip(COLUMNS, cells, strict=True):
        if column in COLUMNS[:3] and not cell.strip():
            raise InvalidInput(f"triplet {n}: the {column} is empty; a string is expected")
        if len(cell.splitlines()) > 1 or "\t" in cell or cell.endswith(("\n", "\r")):
            raise InvalidInput(
                f"triplet {n}: the {column} {cell[:60]!r} holds a tab or a line end, which the "
                "table cannot; replace it by a space"
            )
        yield cell
    if any("|" in id_ for id_ in triplet.ids):
        raise InvalidInput(f"triplet {n}: an id of {triplet.ids} holds a bar, which joins ids")


def read_triplet_file(path: str | Path) -> list[Triplet]:
    """Read what `write_triplet_file` wrote, or a table of the same columns, plain or compressed.

    Parameters
    ----------
    path : str or Path
        The file. Columns may come in any order; ``ids`` and ``strategy`` may be missing, and
        others are passed over.

    Returns
    -------
    list of Triplet
        In the order of the file.

    Raises
    ------
    ReadError
        If a column is missing or there twice, a row has another number of cells than the header or
        an empty string, or there are no rows. It names the line.
    """
    found: list[Triplet] = []
    places: dict[str, int] = {}
    width = 0
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            cells = line.rstrip("\r\n").split("\t")
            if not line.strip():
                continue
            if not places:
                places, width = _places(path, cells, number), len(cells)
                continue
            if len(cells) != width:
                raise ReadError(
                    path,
                    f"{len(cells)} cells where the header names {width} columns: check the tabs",
                    line=number,
                )
            found.append(_triplet(path, cells, places, number))
    if not found:
        raise ReadError(path, "holds no triplets: a header and at least one row are expected")
    return found


def _places(path: str | Path, header: list[str], number: int) -> dict[str, int]:
    for name in COLUMNS:
        count = header.count(name)
        if count > 1 or (not count and name in COLUMNS[:3]):
            raise ReadError(
                path,
                f"{count} columns are named {name!r}; one is expected beside "
                f"{', '.join(COLUMNS)}, and the header has {', '.join(map(repr, header[:10]))}",
                line=number,
            )
    return {name: header.index(name) for name in COLUMNS if name in header}


def _triplet(path: str | Path, cells: list[str], places: dict[str, int], number: int) -> Triplet:
    for name in COLUMNS[:3]:
        if not cells[places[name]].strip():
            raise ReadError(path, f"the {name} is empty; fill it or drop the row", line=number)
    ids = cells[places["ids"]] if "ids" in places else ""
    mention, positive, negative = (cells[places[name]] for name in COLUMNS[:3])
    strategy = cells[places["strategy"]] if "strategy" in places else ""
    return Triplet(mention, positive, negative, tuple(filter(None, ids.split("|"))), strategy)


# --- triplets ---
# MODULE: Triplets of a mention, a positive and a negative, chosen by DILBERT's four strategies.

SEARCHED: tuple[str, ...] = ("training", "all")
"""What re-sampling searches: names of the concepts of training mentions, or all names."""

# Mentions whose nearest names are held in memory at once.
_MENTIONS = 256


class _Choice(NamedTuple):
    positives: Int32Array
    negatives: Int32Array


class TripletSampler:
    """Chooses positives and negatives of every mention and pairs each with each.

    Parameters
    ----------
    table : NameTable
        The names.
    mentions : LinkedMentions
        The mentions.
    n_positives, n_negatives : int
        Most names of either kind for a mention.
    related : RelatedNames, optional
        Where names of parents and siblings come from.
    n_parents, n_siblings : int
        Names of parents added to the positives, and of siblings added to the negatives.

    Raises
    ------
    InvalidInput
        If names of parents or siblings are wanted and `related` is missing.

    References
    ----------
    Miftahutdinov et al. (2021), Drug and Disease Interpretation Learning with Biomedical Entity
    Representation Transformer, section 4.
    """

    def __init__(
        self,
        table: NameTable,
        mentions: LinkedMentions,
        *,
        n_positives: int = 30,
        n_negatives: int = 5,
        related: RelatedNames | None = None,
        n_parents: int = 0,
        n_siblings: int = 0,
    ) -> None:
        check_sizes(n_positives=n_positives, n_negatives=n_negatives)
        if min(n_parents, n_siblings) < 0:
            raise InvalidInput(
                f"n_parents is {n_parents} and n_siblings {n_siblings}; 0 or more are expected"
            )
        if (n_parents or n_siblings) and related is None:
            raise InvalidInput(
                "names of parents or siblings are wanted, but no hierarchy was given: give the one "
                "of the terminology"
            )
        self.table, self.mentions, self.related = table, mentions, related
        self.n_positives, self.n_negatives = n_positives, n_negatives
        self.n_parents, self.n_siblings = n_parents, n_siblings

    def right_names(self, mention: int) -> Int32Array:
        """Return the names of the concepts of a mention, rising."""
        concepts = np.array(self.mentions.concepts.of(mention), dtype=np.int32)
        return np.unique(self.table.names.of_all(concepts))

    def random(self, rng: np.random.Generator) -> Int32Array:
        """Draw positives among the names of the mention's concepts, negatives among all others.

        Parameters
        ----------
        rng : numpy.random.Generator
            Draws.

        Returns
        -------
        ndarray, shape (n, 3), int32
            Mention, positive and negative of each triplet; mention by mention. With `n_parents`,
            names of parents stand among the positives and never among the negatives.

        Raises
        ------
        InvalidInput
            If every name is a right name of every mention.
        """
        choices = []
        for mention in range(self.mentions.n_mentions):
            right = self.right_names(mention)
            positives, barred = draw_some(right, self.n_positives, rng), right
            if self.n_parents and self.related is not None:
                above = self.related.parents(self.mentions.concepts.of(mention))
                added = draw_some(above, self.n_parents, rng)
                positives = np.concatenate([positives, added])
                barred = np.union1d(right, added)
            negatives = draw_apart(self.table.n_names, barred, self.n_negatives, rng)
            choices.append(_Choice(positives, negatives))
        found = _triplets(choices)
        if not len(found):
            raise InvalidInput(
                "every name of the terminology is a right one for every mention, and negatives are "
                "other names: give the whole terminology"
            )
        return found

    def resampled(
        self, encode: Encode, rng: np.random.Generator, *, searched: str = "training"
    ) -> Int32Array:
        """Take the nearest right names as positives, and the names ranked above them as negatives.

        Parameters
        ----------
        encode : Encode
            A model that was trained with random sampling.
        rng : numpy.random.Generator
            Draws names of siblings.
        searched : str
            One of `SEARCHED`.

        Returns
        -------
        ndarray, shape (n, 3), int32
            As `random`, with positives nearest first. Negatives are the `n_negatives` nearest wrong
            names among those nearer than the nearest right one, and with `n_siblings` names of
            siblings. A mention for which a right name is the nearest has no negatives of the first
            kind, and without siblings no triplets; there may be none at all.

        Differences
        -----------
        The released code takes the names below the last right one of 1,024 nearest as negatives;
        here, as in the paper, those above the first. The paper leaves open how many neighbours are
        retrieved; here all of the searched names are ranked.
        """
        if searched not in SEARCHED:
            raise InvalidInput(
                f"searched is {searched!r}; expected {' or '.join(map(repr, SEARCHED))}"
            )
        rows = np.arange(self.table.n_names, dtype=np.int32)
        if searched == "training":
            concepts = np.unique(self.mentions.concepts.ends)
            rows = np.unique(self.table.names.of_all(concepts))
        index = Exact(encode([self.table.texts[row] for row in rows]))
        queries = encode(self.mentions.texts)
        choices: list[_Choice] = []
        for first in range(0, self.mentions.n_mentions, _MENTIONS):
            block = range(first, min(first + _MENTIONS, self.mentions.n_mentions))
            right = [np.searchsorted(rows, self.right_names(mention)) for mention in block]
            vectors = queries[self.mentions.text_of[block.start : block.stop]]
            choices += self._nearest(index, vectors, right, rows)
        if self.n_siblings and self.related is not None:
            for mention, choice in enumerate(choices):
                near = self.related.siblings(self.mentions.concepts.of(mention))
                added = draw_some(near, self.n_siblings, rng)
                new = added[~np.isin(added, choice.negatives)]
                choices[mention] = choice._replace(
                    negatives=np.concatenate([choice.negatives, new])
                )
        return _triplets(choices)

    def _nearest(
        self,
        index: Exact,
        vectors: Float32Array,
        right: list[npt.NDArray[np.intp]],
        rows: Int32Array,
    ) -> list[_Choice]:
        """Choose for a block of mentions; `right` are positions in `rows`."""
        width = max(len(places) for places in right)
        padded = np.full((len(right), width), -1, dtype=np.int32)
        for i, places in enumerate(right):
            padded[i, : len(places)] = places
        own = index.score(vectors, padded)
        order = np.argsort(-own, axis=1, kind="stable")[:, : self.n_positives]
        nearest = np.take_along_axis(padded, order, axis=1)
        # What is nearer than the nearest right name is wrong, and comes first.
        hits = index.search(vectors, min(self.n_negatives, len(rows)))
        best = own.max(axis=1)
        above = (hits.scores > best[:, None]) & (hits.rows >= 0)
        return [
            _Choice(rows[nearest[i][nearest[i] >= 0]], rows[hits.rows[i][above[i]]])
            for i in range(len(right))
        ]


def _triplets(choices: list[_Choice]) -> Int32Array:
    """Pair every positive of a mention with every negative."""
    parts = [
        np.stack(
            [
                np.full(len(positives) * len(negatives), mention),
                np.repeat(positives, len(negatives)),
                np.tile(negatives, len(positives)),
            ],
            axis=1,
        )
        for mention, (positives, negatives) in enumerate(choices)
    ]
    return np.concatenate(parts).astype(np.int32)
