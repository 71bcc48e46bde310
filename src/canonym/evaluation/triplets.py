"""Triplets of concepts and relations: read from any table, and parted for a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from canonym.corpora.delimited import read_table
from canonym.errors import InvalidInput, ReadError
from canonym.types import Relation

__all__ = ["read_triplets", "split_triplets"]


def read_triplets(
    path: str | Path,
    *,
    head: str = "head",
    relation: str = "relation",
    tail: str = "tail",
    delimiter: str | None = None,
) -> list[Relation]:
    """Read triplets from a table with a header.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed.
    head, relation, tail : str
        Names of the columns.
    delimiter : str, optional
        What separates the cells; found in the header when missing.

    Returns
    -------
    list of Relation
        In the order of the file, each once.

    Raises
    ------
    ReadError
        If a column is missing, a row has another width than the header, a cell is empty, or there
        are no rows.
    """
    found: dict[Relation, None] = {}
    with read_table(path, column=head, delimiter=delimiter) as table:
        places = [_place(path, table.columns, name) for name in (head, relation, tail)]
        for n, row in enumerate(table, start=1):
            cells = [row.cells[place].strip() for place in places]
            if not all(cells):
                raise ReadError(
                    path, f"row {n} after the header has an empty cell: {cells}; fill or drop it"
                )
            found[Relation(*cells)] = None
    if not found:
        raise ReadError(path, "holds a header but no triplets")
    return list(found)


def _place(path: str | Path, names: Sequence[str], name: str) -> int:
    if names.count(name) != 1:
        raise ReadError(
            path, f"{names.count(name)} columns are named {name!r}; one is expected of {names}"
        )
    return names.index(name)


def split_triplets(
    triplets: Iterable[Relation],
    *,
    test_share: float = 0.2,
    by_head: bool = False,
    rng: np.random.Generator | int = 0,
) -> tuple[list[Relation], list[Relation]]:
    """Part triplets into training and test triplets at random.

    Parameters
    ----------
    triplets : iterable of Relation
        The triplets; repeated ones count once, in the order of the first.
    test_share : float
        Share of the triplets to test on, in (0, 1).
    by_head : bool
        Whether a head concept is on one side only, so that no test head was seen in training. The
        share is then met as nearly as whole heads allow, from above.
    rng : numpy.random.Generator or int
        The generator, or the seed of one.

    Returns
    -------
    train, test : list of Relation
        Each in the order given.

    Raises
    ------
    InvalidInput
        If the share is out of range or leaves one side empty.
    """
    if not 0 < test_share < 1:
        raise InvalidInput(f"test_share is {test_share}; between 0 and 1 is expected, as 0.2")
    known = list(dict.fromkeys(triplets))
    keys = [triplet.head for triplet in known] if by_head else known
    sizes = Counter(keys)
    order = list(sizes)
    n_test, chosen = 0, set()
    for i in np.random.default_rng(rng).permutation(len(order)):
        if n_test >= round(test_share * len(known)):
            break
        chosen.add(order[i])
        n_test += sizes[order[i]]
    if not 0 < n_test < len(known):
        raise InvalidInput(
            f"a test share of {test_share} of {len(known)} triplets ({len(order)} that can be told "
            "apart) leaves one side empty; give more triplets or another share"
        )
    train = [triplet for triplet, key in zip(known, keys, strict=True) if key not in chosen]
    test = [triplet for triplet, key in zip(known, keys, strict=True) if key in chosen]
    return train, test
