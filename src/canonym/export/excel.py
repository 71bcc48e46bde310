"""Links in workbooks of Excel: in a copy of the workbook that was read, or in a new one.

A row of a sheet stays one row. Text is stored as text, whatever it begins with: never as a formula.
"""

from __future__ import annotations

import copy
import io
import itertools
import logging
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import IO, Any

from canonym.errors import InvalidInput, ReadError
from canonym.export.rows import JOINED_BY, RowMaker
from canonym.io.cells import MAX_COLUMNS, MAX_ROWS, column_letters, column_number
from canonym.io.parts import read_part
from canonym.io.sheet_spans import RowSpan, SpanReader, replaced, start_tag
from canonym.io.streams import ZIP_DAMAGE
from canonym.io.workbooks import Sheet, SheetRow
from canonym.io.xlsx import sheet_parts
from canonym.io.xml import NOT_IN_XML
from canonym.regex import regex
from canonym.types import Link

_log = logging.getLogger(__name__)

Value = str | float | bool | None
"""Content of a cell."""

_Part = tuple[zipfile.ZipInfo, Iterable[bytes]]

_LONGEST = 32_767  # characters of a cell in Excel
_ESCAPE = regex(r"_(?=x[0-9A-Fa-f]{4}_)")  # Excel reads _x0041_ as A
_SPANS = re.compile(rb"\sspans=(?:\"[^\"]*\"|'[^']*')")
_STYLE = re.compile(rb"\ss=\"[^\"]*\"")
_DIMENSION = re.compile(rb"(<(?:\w+:)?dimension\s[^<>]*?ref=\")([A-Z]+\d+)(?::([A-Z]+)(\d+))?\"")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^<>]*?ref=\"[A-Z]+\d+:([A-Z]+)(\d+)\"")
_SIGNATURES = "_xmlsignatures/"


class WorkbookWriter:
    """Writes a workbook when it is closed: one row a mention, its best candidate.

    `sheet` is the sheet of Excel whose rows were linked: its workbook is copied, with the result in
    the first columns to the right that are free. Without it `columns` are as for `DelimitedWriter`.
    `made_by` says what made the links, for the properties of the workbook, and `form` is as for
    `canonym.export.rows.RowMaker`.
    """

    def __init__(
        self,
        stream: IO[bytes],
        *,
        sheet: Sheet | None = None,
        columns: Sequence[str] | None = None,
        made_by: str = "",
        **form: Any,
    ) -> None:
        self._stream = stream
        self._sheet = sheet
        self._made_by = made_by
        self._maker = RowMaker(columns, k=1, one_row=True, **form)
        header = [*(columns or ()), *self._maker.names] if sheet is None else self._maker.names
        self._rows: dict[int, Sequence[Value]] = {1 if sheet is None else sheet.header_row: header}

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:
        """Take one link."""
        values: list[Value] = [
            JOINED_BY.join(value) if isinstance(value, list) else value
            for value in next(self._maker.rows(link, explanation))
        ]
        if isinstance(cells, SheetRow) and self._sheet is not None:
            self._rows[cells.number] = values
        else:
            self._rows[len(self._rows) + 1] = [*cells, *values]

    def close(self) -> None:
        """Write the workbook."""
        if self._sheet is None:
            write_workbook(self._stream, self._rows.values(), made_by=self._made_by)
        else:
            extend_workbook(self._stream, self._sheet, self._rows, made_by=self._made_by)


def write_workbook(
    stream: IO[bytes], rows: Iterable[Sequence[Value]], *, made_by: str = ""
) -> None:
    """Write a new workbook; the first of the rows is a bold header."""
    _write_parts(stream, _new_parts(rows, made_by))


def extend_workbook(
    stream: IO[bytes], sheet: Sheet, rows: Mapping[int, Sequence[Value]], *, made_by: str = ""
) -> None:
    """Write a copy of the workbook of a sheet, with more cells in some rows, by their numbers.

    They stand in the first columns to the right of the table that are free. One of the rows is the
    header; all have as many cells. Whatever else is in the workbook stays as it is, but for the
    property `canonym`, which says what it was `made_by`.
    """
    with zipfile.ZipFile(sheet.file) as archive:
        if any(name.startswith(_SIGNATURES) for name in archive.namelist()):
            _log.warning("%s is signed; the signature does not hold for the copy", sheet.file)
    _write_parts(stream, _copied_parts(sheet, rows, made_by))


def properties_of(path: str | Path) -> str:
    """Return the properties that users give to a workbook, as XML; empty where it has none."""
    with zipfile.ZipFile(path) as archive:
        named = _PROPERTIES in archive.namelist()
        return archive.read(_PROPERTIES).decode("utf-8", "replace") if named else ""


def _write_parts(stream: IO[bytes], parts: Iterable[_Part]) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for info, pieces in parts:
            try:
                with archive.open(info, "w") as part:
                    part.writelines(pieces)
            except RuntimeError as error:  # what Excel cannot read either
                problem = "the workbook is too large: write TSV, CSV or Parquet"
                raise InvalidInput(problem) from error
    stream.write(whole.getbuffer())


def _clean(text: str) -> str:
    """Return what XML and a cell can hold of a text."""
    text = NOT_IN_XML.sub("\ufffd", text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# --- a copy of a workbook -------------------------------------------------------------------------


def _copied_parts(
    sheet: Sheet, rows: Mapping[int, Sequence[Value]], made_by: str
) -> Iterator[_Part]:
    """Yield the files of a workbook; the sheet has the cells of the rows beside its table."""
    name = next(part for title, _, part in sheet_parts(sheet.file) if title == sheet.name)
    content = _extended(sheet, read_part(sheet.file, name), rows)
    try:
        with zipfile.ZipFile(sheet.file) as archive:
            names = {_PROPERTIES, *_ANNOUNCED}.intersection(archive.namelist())
            files = {part: archive.read(part) for part in names}
            changed = {name: content, **_stamped(files, made_by)}
            for info in archive.infolist():
                new = changed.pop(info.filename, None)
                yield copy.copy(info), [archive.read(info) if new is None else new]
            for added, new in changed.items():
                yield _info(added), [new]
    except ZIP_DAMAGE as error:
        raise ReadError(
            sheet.file, f"cannot be copied ({error}): save the workbook anew"
        ) from error


def _stamped(files: Mapping[str, bytes], made_by: str) -> dict[str, bytes]:
    """Return the files of a workbook that change so that a property says what it was made by."""
    if not made_by:
        return {}
    content = files.get(_PROPERTIES)
    changed = {} if content else {n: _before_end(files[n], xml) for n, xml in _ANNOUNCED.items()}
    content = content or _NO_PROPERTIES
    if (at := content.find(b'name="canonym"')) >= 0:  # of an earlier run
        content = content[: content.rfind(b"<", 0, at)] + content[content.find(_END, at) + 9 :]
    number = next(n for n in itertools.count(2) if b'pid="%d"' % n not in content)
    text = escape(_clean(made_by), quote=False).encode()
    return {**changed, _PROPERTIES: _before_end(content, _PROPERTY % (number, text))}


def _before_end(xml: bytes, added: bytes) -> bytes:
    """Put something at the end of the outermost element of a file."""
    before, end, name = xml.rpartition(b"</")
    return before + added + end + name


def _style(xml: bytes, row: RowSpan, column: int) -> bytes:
    """Return the attribute with the style of a cell."""
    for cell in row.cells:
        if cell.column == column:
            match = _STYLE.search(start_tag(xml, cell.start))
            return match[0] if match else b""
    return b""


def _extended(sheet: Sheet, xml: bytes, rows: Mapping[int, Sequence[Value]]) -> bytes:
    table = {"beyond": len(sheet.header), "whole": sheet.header_row}
    spans = SpanReader(sheet.file, xml, sheet.name, **table)
    width = len(rows[sheet.header_row])
    merged = (
        column_number(column.decode()) + 1
        for column, last in _MERGED.findall(xml)
        if int(last) >= sheet.header_row
    )
    taken = max(merged, default=1)
    first = max(spans.free_column(sheet.header_row), taken, len(sheet.header) + 1)
    if first + width - 1 > MAX_COLUMNS:
        raise sheet.error(
            f"{width} columns are needed on the right, and {MAX_COLUMNS - first + 1} are free"
        )
    edits: list[tuple[int, int, bytes]] = []
    for row in spans.rows:
        if row.number not in rows:
            continue
        tag = start_tag(xml, row.start)
        prefix = tag[1 : tag.index(b"row")].decode()
        header = row.number == sheet.header_row
        style = _style(xml, row, len(sheet.header)) if header else b""
        new = _cells(rows[row.number], row.number, first, style, prefix)
        right = [cell for cell in row.cells if cell.column >= first]
        at = right[0].start if right else row.end_tag
        edits.append((row.start, row.start + len(tag), _SPANS.sub(b"", tag)))
        edits.append((at, at, new))
        edits += [(cell.start, cell.end, b"") for cell in right if cell.column < first + width]
    if match := _DIMENSION.search(xml):
        start, before, end_column, end_row = match.group(2), match[1], match[3], match[4]
        last = max(column_number((end_column or start).decode()), first + width - 1)
        bottom = end_row or start.lstrip(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        corner = column_letters(last).encode() + bottom
        edits.append((*match.span(), before + start + b":" + corner + b'"'))
    return replaced(xml, edits)


def _cells(
    values: Iterable[Value], row: int, first: int, style: bytes = b"", prefix: str = ""
) -> bytes:
    cells = []
    for column, value in enumerate(values, first):
        if value is None or value == "":
            continue
        head = f'<{prefix}c r="{column_letters(column)}{row}"{style.decode()}'
        if isinstance(value, str):
            text = escape(_ESCAPE.sub("_x005F_", _clean(value)), quote=False)
            inner = f'<{prefix}t xml:space="preserve">{text}</{prefix}t>'
            cells.append(f'{head} t="inlineStr"><{prefix}is>{inner}</{prefix}is></{prefix}c>')
        elif isinstance(value, bool):
            cells.append(f'{head} t="b"><{prefix}v>{value:d}</{prefix}v></{prefix}c>')
        else:
            cells.append(f"{head}><{prefix}v>{value!r}</{prefix}v></{prefix}c>")
    return "".join(cells).encode()


# --- a new workbook -------------------------------------------------------------------------------

_SHEET_HEAD = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet '
    b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
)
_EMPTY = Path(__file__).with_name("workbook")
# Files of a workbook beside its sheet, by the names that they have in `_EMPTY`.
_BESIDE = {
    "content_types.xml": "[Content_Types].xml",
    "rels.xml": "_rels/.rels",
    "workbook.xml": "xl/workbook.xml",
    "workbook_rels.xml": "xl/_rels/workbook.xml.rels",
    "styles.xml": "xl/styles.xml",
}
_OOXML = b"http://schemas.openxmlformats.org"
_RELATION = b"%s/officeDocument/2006/relationships" % _OOXML
_PROPERTIES = "docProps/custom.xml"
_PROPERTY_TYPE = b"custom-properties"
_NO_PROPERTIES = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<Properties '
    b'xmlns="%s/officeDocument/2006/%s"></Properties>' % (_OOXML, _PROPERTY_TYPE)
)
_PROPERTY = (
    b'<property xmlns="%s/officeDocument/2006/%s" fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" '
    b'pid="%%d" name="canonym"><lpwstr xmlns="%s/officeDocument/2006/docPropsVTypes">%%s</lpwstr>'
    b"</property>" % (_OOXML, _PROPERTY_TYPE, _OOXML)
)
_END = b"property>"
# What says that a workbook has such properties, by file.
_ANNOUNCED = {
    "[Content_Types].xml": b'<Override xmlns="%s/package/2006/content-types" '
    b'PartName="/docProps/custom.xml" '
    b'ContentType="application/vnd.openxmlformats-officedocument.%s+xml"/>'
    % (_OOXML, _PROPERTY_TYPE),
    "_rels/.rels": b'<Relationship xmlns="%s/package/2006/relationships" Id="canonym" '
    b'Type="%s/%s" Target="docProps/custom.xml"/>' % (_OOXML, _RELATION, _PROPERTY_TYPE),
}


def _new_parts(rows: Iterable[Sequence[Value]], made_by: str) -> Iterator[_Part]:
    """Yield the files of a workbook with one sheet, whose first row is a bold header."""
    parts = {
        name: (_EMPTY / file).read_text(encoding="utf-8").encode() for file, name in _BESIDE.items()
    }
    whole = {name: [part] for name, part in (parts | _stamped(parts, made_by)).items()}
    for name, pieces in {**whole, "xl/sheet1.xml": _sheet(rows)}.items():
        yield _info(name), pieces


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # of 1980, so that equal links give equal files
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _sheet(rows: Iterable[Sequence[Value]]) -> Iterator[bytes]:
    yield _SHEET_HEAD
    for n, row in enumerate(rows, start=1):
        if n > MAX_ROWS:
            raise InvalidInput(
                f"a sheet has at most {MAX_ROWS:,} rows, and more are to be written: write TSV, "
                "CSV or Parquet"
            )
        yield b'<row r="%d">%s</row>' % (n, _cells(row, n, 1, b' s="1"' if n == 1 else b""))
    yield b"</sheetData></worksheet>"
