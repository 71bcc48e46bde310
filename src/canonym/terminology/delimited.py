"""Delimited files: lines split into cells, columns found by name."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from canonym.errors import ReadError
from canonym.io.streams import TextStream

__all__ = ["columns", "rows"]


def rows(
    stream: TextStream, *, delimiter: str = ",", quoted: bool = True, width: int | None = None
) -> Iterator[list[str]]:
    """Split the lines of a delimited file into cells; blank lines are left out.

    After each row `stream.line` is its (last) line.

    Parameters
    ----------
    stream : TextStream
        The lines.
    delimiter : str
        What separates cells: one character where `quoted`.
    quoted : bool
        Whether cells may be in double quotes (CSV); otherwise a quote is a character like any other
        and a row is a line.
    width : int, optional
        Number of cells that every row must have.

    Yields
    ------
    list of str
        The cells.

    Raises
    ------
    ReadError
        If a row has another width or its quotes are unbalanced.
    """
    if quoted:
        split: Iterator[list[str]] = _split_quoted(stream, delimiter)
    else:
        split = (line.rstrip("\n").split(delimiter) for line in stream if line != "\n")
    for cells in split:
        if width is not None and len(cells) != width:
            raise stream.error(
                f"{len(cells)} cells where {width} were expected (separated by {delimiter!r})"
            )
        yield cells


def columns(stream: TextStream, header: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Find columns by name.

    Parameters
    ----------
    stream : TextStream
        Where the header is from, for the message.
    header : sequence of str
        Names of all columns.
    wanted : sequence of str
        Names to find.

    Returns
    -------
    list of int
        Position of each wanted column.

    Raises
    ------
    ReadError
        If one is missing.
    """
    missing = [name for name in wanted if name not in header]
    if missing:
        found = ", ".join(repr(name[:40]) for name in header[:20])
        raise stream.error(
            f"no column {', '.join(map(repr, missing))}: the header names {found}; check the file "
            "and its delimiter"
        )
    return [list(header).index(name) for name in wanted]


def _split_quoted(stream: TextStream, delimiter: str) -> Iterator[list[str]]:
    # Strict, so that a quote that is never closed is an error and not one cell of many lines.
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    start = stream.line
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ReadError(
                stream.path,
                f"the quotes of the row that starts here are unbalanced or misplaced ({error})",
                line=start + 1,
            ) from error
        if cells is None:
            return
        start = stream.line
        if cells:
            yield cells
