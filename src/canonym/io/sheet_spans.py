"""Where rows and cells stand in the XML of a sheet of Excel, so that cells can be put in between.

All other bytes stay as they are: formats, formulas and their values, charts, macros.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from canonym.errors import ReadError
from canonym.io.cells import column_number

_TAG = re.compile(rb"<(?:[^\"'>]|\"[^\"]*\"|'[^']*')*>")

_ENCODING = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*encoding=[\"']([\w-]+)")


class CellSpan(NamedTuple):
    """A cell: its column from 1, its bytes, and whether there is content."""

    column: int
    start: int
    end: int
    filled: bool


class RowSpan(NamedTuple):
    """A row: its number from 1, where it starts, where its end tag does, and its cells."""

    number: int
    start: int
    end_tag: int
    cells: list[CellSpan]


def start_tag(xml: bytes, at: int) -> bytes:
    """Return the start tag that begins at a byte."""
    match = _TAG.match(xml, at)
    return match[0] if match else b""


class SpanReader:
    """Notes the rows of the sheet `name`.

    Of rows other than `whole` the cells up to the column `beyond` are left out, for a sheet has
    millions.
    """

    def __init__(
        self, path: Path, xml: bytes, name: str, *, beyond: int = 0, whole: int = 0
    ) -> None:
        self.rows: list[RowSpan] = []
        self._beyond, self._whole = beyond, whole
        self._xml = xml
        self._inside = False  # of the element that holds the rows
        self._number = self._column = 0  # rows and columns before
        self._row = self._cell = 0  # where they start
        self._cells: list[CellSpan] = []
        self._depth: int | None = None  # of elements in a cell
        self._filled = False
        self._parser = parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        encoding = _ENCODING.match(xml)
        if xml.startswith((b"\xff\xfe", b"\xfe\xff")) or (
            encoding and encoding[1].lower() not in (b"utf-8", b"us-ascii")
        ):
            raise ReadError(path, f"sheet {name!r} is not UTF-8: save the workbook anew")
        try:
            parser.Parse(xml, True)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise ReadError(path, f"sheet {name!r} is damaged ({error})") from error

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._depth is not None:
            self._depth += 1
            self._filled = True
            return
        tag = tag.rpartition(":")[2]
        if tag == "sheetData":
            self._inside = True
        elif not self._inside:
            return
        elif tag == "row":
            self._number = int(attributes.get("r", self._number + 1))
            self._row = self._parser.CurrentByteIndex
            self._column, self._cells = 0, []
        elif tag == "c":
            here = column_number(attributes["r"]) if "r" in attributes else self._column + 1
            self._column = here
            self._cell = self._parser.CurrentByteIndex
            self._depth = 0
            self._filled = False

    def _end(self, tag: str) -> None:
        if self._depth:
            self._depth -= 1
            return
        tag = tag.rpartition(":")[2]
        if tag == "sheetData":
            self._inside = False
        elif not self._inside:
            return
        elif tag == "row":
            end_tag, _ = self._element_end(self._row)
            self.rows.append(RowSpan(self._number, self._row, end_tag, self._cells))
        elif tag == "c":
            if self._column > self._beyond or self._number == self._whole:
                _, end = self._element_end(self._cell)
                self._cells.append(CellSpan(self._column, self._cell, end, self._filled))
            self._depth = None

    def _element_end(self, start: int) -> tuple[int, int]:
        """Return where the end tag of an element begins and ends; an empty one has none."""
        tag = start_tag(self._xml, start)
        if tag.endswith(b"/>"):
            return start + len(tag), start + len(tag)
        at = self._parser.CurrentByteIndex
        return at, at + len(start_tag(self._xml, at))

    def free_column(self, header_row: int) -> int:
        """Return the first column with nothing in it or to its right, from the header on."""
        taken = [
            cell.column + 1
            for row in self.rows
            if row.number >= header_row
            for cell in row.cells
            if cell.filled
        ]
        return max(taken, default=1)


def replaced(xml: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    """Put other bytes in place of some, named by their start and end; none overlap."""
    pieces, done = [], 0
    for start, end, content in sorted(edits):
        pieces += [xml[done:start], content]
        done = end
    return b"".join([*pieces, xml[done:]])
