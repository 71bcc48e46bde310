"""Writers of links, one at a time or all in one call: TSV, CSV, JSON lines, Parquet."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from canonym.errors import InvalidInput
from canonym.export.arrow import ParquetWriter
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
from canonym.io.files import write_file
from canonym.types import Link

_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_NEEDS_ESCAPE = re.compile(r"[\t\n\r]")


class LinkWriter(Protocol):
    """Writes links one at a time, in the order they come."""

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:
        """Write one link; `cells` are those of its input row."""
        ...

    def close(self) -> None:
        """Write pending rows; the stream stays open."""
        ...


class DelimitedWriter:
    """Writes TSV or CSV rows.

    In TSV a tab, a line end or a carriage return inside a cell is written as ``\\t``, ``\\n`` or
    ``\\r``; nothing is quoted. In CSV cells are quoted where needed. Lone surrogates, which are no
    characters, become U+FFFD in both.

    Parameters
    ----------
    stream : text stream
        Target.
    delimiter : str
        Tab for TSV, anything else for CSV.
    k : int, optional
        Most candidates of a mention, all by default.
    columns : sequence of str, optional
        Columns of the input table. They come first; result columns with the prefix ``canonym_``
        replace the columns of the mention.
    explain : bool
        Whether there is a last column with the explanation.
    first_row : int
        Number of the first link.
    header : bool
        Whether the names of the columns are written before the first link.

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
        if without_surrogates(line) != line:
            # Only as an escape does a lone surrogate survive UTF-8.
            line = json.dumps(content)
        self._stream.write(line + "\n")

    def close(self) -> None:
        """Do nothing: every object is written at once."""


# --- files ----------------------------------------------------------------------------------------

FORMATS: dict[str, tuple[str, ...]] = {
    "tsv": (".tsv", ".tab"),
    "csv": (".csv",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
"""Formats by name, each with the suffixes that stand for it."""


def format_of(path: str | Path) -> str:
    """Return the name of the format that a file's suffix stands for."""
    suffix = Path(path).suffix.lower()
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    known = ", ".join(itertools.chain.from_iterable(FORMATS.values()))
    raise InvalidInput(
        f"{path}: the suffix names no format; use one of {known}, or name the format"
    )


def write_links(
    links: Iterable[Link],
    target: str | Path | IO[Any],
    *,
    format: str | None = None,
    k: int | None = None,
) -> int:
    """Write links to a file or a stream.

    Parameters
    ----------
    links : iterable of Link
        Taken one at a time: any number fits.
    target : str, Path or stream
        A file appears whole or not at all. A stream takes text, for Parquet bytes.
    format : str, optional
        A key of `FORMATS`; by default the one of the suffix of the path.
    k : int, optional
        Most candidates of a mention, all by default.

    Returns
    -------
    int
        Number of links written.

    Raises
    ------
    InvalidInput
        If the format is unknown.
    MissingExtra
        If the format is Parquet and pyarrow is not installed.
    """
    is_path = isinstance(target, str | Path)
    if format is None:
        if not is_path:
            raise InvalidInput("a stream has no suffix: name the format")
        format = format_of(str(target))
    if format not in FORMATS:
        raise InvalidInput(f"format={format!r} is unknown; expected one of {', '.join(FORMATS)}")
    n = 0
    with contextlib.ExitStack() as stack:
        stream: Any = target
        if is_path:
            partial = stack.enter_context(write_file(str(target)))
            if format == "parquet":
                stream = stack.enter_context(partial.open("wb"))
            else:
                stream = stack.enter_context(partial.open("w", encoding="utf-8", newline=""))
        writer: LinkWriter
        if format == "parquet":
            writer = ParquetWriter(stream, k=k)
        elif format == "jsonl":
            writer = JsonLinesWriter(stream, k=k)
        else:
            writer = DelimitedWriter(stream, delimiter="\t" if format == "tsv" else ",", k=k)
        for link in links:
            writer.write(link)
            n += 1
        writer.close()
    return n
