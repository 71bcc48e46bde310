"""Links written as text, one at a time: TSV, CSV, JSON lines."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from typing import IO, Any, Protocol

from canonym.export.rows import (
    COLUMNS,
    DIGITS,
    RESULT_COLUMNS,
    check_unique,
    link_to_json,
    link_to_rows,
    result_columns,
    without_surrogates,
)
from canonym.types import Link

__all__ = ["DelimitedWriter", "JsonLinesWriter", "LinkWriter"]

_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_NEEDS_ESCAPE = re.compile(r"[\t\n\r]")


class LinkWriter(Protocol):
    """Writes links one at a time, in the order they come."""

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:
        """Write one link; `cells` are those of the input row it is from."""
        ...

    def close(self) -> None:
        """Write what is pending; the stream stays open."""
        ...


class DelimitedWriter:
    """Writes TSV or CSV rows.

    In TSV a tab, a line end or a carriage return inside a cell is written as ``\\t``, ``\\n`` or
    ``\\r``; nothing is quoted. In CSV cells are quoted where needed. Lone surrogates, which are no
    characters, become U+FFFD in both.

    Parameters
    ----------
    stream : text stream
        Where to write to.
    delimiter : str
        Tab for TSV, anything else for CSV.
    k : int, optional
        Most candidates of a mention, all by default.
    columns : sequence of str, optional
        Columns of the input table. They come first, and those of the result, with the prefix
        ``canonym_``, take the place of the columns of the mention.
    explain : bool
        Whether there is a last column with the explanation.
    first_row : int
        Number of the first link.
    header : bool
        Whether the names of the columns are written first, before the first link.

    Raises
    ------
    InvalidInput
        If the input table has a column of the result already.
    """

    def __init__(
        self,
        stream: IO[str],
        *,
        delimiter: str = "\t",
        k: int | None = None,
        columns: Sequence[str] | None = None,
        explain: bool = False,
        first_row: int = 1,
        header: bool = True,
    ) -> None:
        self._k = k
        self._number = first_row
        self._explain = explain
        self._keys = COLUMNS if columns is None else ("row", *RESULT_COLUMNS)
        names = result_columns(columns, explain=explain)
        self._header = names if header else None
        self._write = _cell_writer(stream, delimiter)

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:
        """Write the rows of one link."""
        self._write_header()
        for row in link_to_rows(link, self._number, k=self._k):
            values = [*cells, *(_cell(row[key]) for key in self._keys)]
            self._write([*values, explanation] if self._explain else values)
        self._number += 1

    def close(self) -> None:
        """Write the header if there was no link; rows are written at once."""
        self._write_header()

    def _write_header(self) -> None:
        # Late, so that an error before the first link leaves the output empty.
        if self._header is not None:
            self._write(self._header)
            self._header = None


def _cell_writer(stream: IO[str], delimiter: str) -> Callable[[Sequence[str]], Any]:
    def write_tsv(cells: Sequence[str]) -> None:
        line = "\t".join(
            _NEEDS_ESCAPE.sub(lambda found: _ESCAPES[found[0]], cell) for cell in cells
        )
        stream.write(without_surrogates(line) + "\n")

    if delimiter == "\t":
        return write_tsv
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    return lambda cells: writer.writerow([without_surrogates(cell) for cell in cells])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    return "|".join(value) if isinstance(value, list) else str(value)


class JsonLinesWriter:
    """Writes one JSON object a mention; see `link_to_json`.

    With `columns` the cells of the input row are the object under ``input``; with `explain` there
    is an ``explanation``. The other parameters are those of `DelimitedWriter`.
    """

    def __init__(
        self,
        stream: IO[str],
        *,
        k: int | None = None,
        columns: Sequence[str] | None = None,
        explain: bool = False,
    ) -> None:
        check_unique(columns)
        self._stream = stream
        self._k = k
        self._columns = columns
        self._explain = explain

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:
        """Write the object of one link."""
        content = link_to_json(link, k=self._k)
        if self._columns is not None:
            content["input"] = dict(zip(self._columns, cells, strict=True))
        if self._explain:
            content["explanation"] = explanation
        line = json.dumps(content, ensure_ascii=False)
        if (
            without_surrogates(line) != line
        ):  # only as an escape does a lone surrogate survive UTF-8
            line = json.dumps(content)
        self._stream.write(line + "\n")

    def close(self) -> None:
        """Do nothing: every object is written at once."""
