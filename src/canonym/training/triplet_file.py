"""Triplets of a mention, a right name and a wrong one, in a table that can be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from canonym.errors import InvalidInput, ReadError
from canonym.files import write_file
from canonym.streams import open_text

__all__ = ["COLUMNS", "Triplet", "read_triplet_file", "write_triplet_file"]

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
