"""Writers of links, one at a time or all in one call: TSV, CSV, JSON lines, Parquet."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from canonym.errors import InvalidInput
from canonym.export.arrow import ParquetWriter
from canonym.export.rows import DIGITS, JOINED_BY, RowMaker, check_unique, guarded, link_to_json
from canonym.io.encodings import without_surrogates
from canonym.io.files import format_by_suffix, write_file
from canonym.io.tables import Row, TableStyle
from canonym.types import Link

_ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})


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
    characters, become U+FFFD in both. The cells of a `canonym.io.tables.Row` are written as they
    were where the delimiter is the same.

    The delimiter of the `style` is a tab for TSV, anything else for CSV; the `stream` has its
    encoding already. The `columns` of the input table come first; result columns with the prefix
    ``canonym_`` replace the columns of the mention, and the input may have none of them
    (`InvalidInput`). With `header` the names of the columns are written before the first link,
    behind a byte order mark and a line that announces the delimiter if the style has them. With
    `formula_guard` texts of the result that a spreadsheet may take for a formula are written behind
    an apostrophe, see `canonym.export.guarded`; the cells of the input never are. `form` is as for
    `canonym.export.rows.RowMaker`: `keys`, `k`, `explain`, `one_row`, `number`.
    """

    def __init__(
        self,
        stream: IO[str],
        *,
        style: TableStyle = TableStyle(),  # noqa: B008 - it cannot be changed
        columns: Sequence[str] | None = None,
        header: bool = True,
        formula_guard: bool = True,
        **form: Any,
    ) -> None:
        self._stream = stream
        self._style = style
        self._guard = guarded if formula_guard else str
        self._columns = columns or ()
        self._maker = RowMaker(columns, **form)
        self._has_header = not header
        self._line = _line_maker(style)

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:
        """Write the rows of one link."""
        self._write_header()
        rows = [[*map(self._cell, row)] for row in self._maker.rows(link, explanation)]
        for row in rows[:-1]:
            self._write(cells, row, self._style.line_end)
        self._write(cells, rows[-1], cells.end if isinstance(cells, Row) else None)

    def close(self) -> None:
        """Write the header if there was no link; rows are written at once."""
        self._write_header()

    def _write_header(self) -> None:
        # Late, so that an error before the first link leaves the output empty.
        if not self._has_header:
            self._stream.write("\ufeff" if self._style.mark else "")
            if self._style.announced:
                self._stream.write(self._style.announced + self._style.line_end)
            self._write(self._columns, self._maker.names)
            self._has_header = True

    def _write(self, cells: Sequence[str], added: Sequence[str], end: str | None = None) -> None:
        """Write a line: the cells of the input, as they were if possible, and those added."""
        delimiter = self._style.delimiter
        if isinstance(cells, Row) and cells.delimiter == delimiter:
            line = cells.text + delimiter + self._line(added)
        else:
            line = self._line([*cells, *added])
        self._stream.write(line + (self._style.line_end if end is None else end))

    def _cell(self, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return f"{value:.{DIGITS}g}"
        return self._guard(JOINED_BY.join(value) if isinstance(value, list) else str(value))


def _line_maker(style: TableStyle) -> Callable[[Sequence[str]], str]:
    """Return the function that makes a line of cells, without its end."""

    def tsv(cells: Sequence[str]) -> str:
        return without_surrogates(style.delimiter.join(cell.translate(_ESCAPES) for cell in cells))

    if style.delimiter == "\t":
        return tsv
    buffer = io.StringIO(newline="")
    writer = csv.writer(
        buffer,
        delimiter=style.delimiter,
        quoting=csv.QUOTE_ALL if style.quote_all else csv.QUOTE_MINIMAL,
        lineterminator="\r\n",
    )

    def quoted(cells: Sequence[str]) -> str:
        writer.writerow([without_surrogates(cell) for cell in cells])
        line = buffer.getvalue().removesuffix("\r\n")
        buffer.seek(0)
        buffer.truncate()
        return line

    return quoted


class JsonLinesWriter:
    """Writes one JSON object a mention; see `link_to_json`.

    With `columns` the cells of the input row are the object under ``input``; with `explain` there
    is an ``explanation``. Lone surrogates become U+FFFD, as in tables. The other parameters are
    those of `DelimitedWriter`.
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
        self._stream.write(without_surrogates(json.dumps(content, ensure_ascii=False)) + "\n")

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
    return format_by_suffix(path, FORMATS)


def write_links(
    links: Iterable[Link],
    target: str | Path | IO[Any],
    *,
    format: str | None = None,
    k: int | None = None,
    formula_guard: bool = True,
    one_row: bool = False,
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
    formula_guard : bool
        Whether texts that a spreadsheet may take for a formula are written behind an apostrophe in
        TSV and CSV.
    one_row : bool
        Whether the parts of a composite mention share one row in TSV, CSV and Parquet.

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
            binary = format == "parquet"
            file = partial.open("wb") if binary else partial.open("w", encoding="utf-8", newline="")
            stream = stack.enter_context(file)
        writer: LinkWriter
        if format == "parquet":
            writer = ParquetWriter(stream, k=k, one_row=one_row)
        elif format == "jsonl":
            writer = JsonLinesWriter(stream, k=k)
        else:
            style = TableStyle("\t" if format == "tsv" else ",")
            writer = DelimitedWriter(
                stream, style=style, k=k, formula_guard=formula_guard, one_row=one_row
            )
        for link in links:
            writer.write(link)
            n += 1
        writer.close()
    return n
