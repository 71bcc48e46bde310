"""OpenDocument spreadsheets, ``.ods``: their sheets, and the cells of one as text."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.parsers import expat

from canonym.errors import ReadError
from canonym.io.cells import MAX_COLUMNS, MAX_ROWS, RawRow, cell_text, loses_digits
from canonym.io.number_formats import shown_code
from canonym.io.xlsx import read_part

CONTENT = "content.xml"
_ODF = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TABLE, _OFFICE, _TEXT = (_ODF % name for name in ("table", "office", "text"))
_CALCEXT = "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}"
_MOST_EQUAL = 100_000  # rows that one element stands for, if they are not empty
_NUMBERS = {"float", "currency", "percentage"}
_DIGITS = 300  # of a whole number that is read as one
_SHORTEST_LONG = 4  # characters of a number with more than 15 digits: 1E16
_MIDNIGHT = re.compile(r"T00:00:00(?:\.0+)?$")


@contextmanager
def open_workbook(
    path: Path,
) -> Iterator[tuple[list[tuple[str, bool]], Callable[[str], Iterator[RawRow]]]]:
    """Open a spreadsheet: its sheets, each with whether it is visible, and a reader of one."""
    content = read_part(path, CONTENT)
    yield _sheets(path, content), lambda name: _reported(path, _rows(path, content, name))


def _sheets(path: Path, content: bytes) -> list[tuple[str, bool]]:
    hidden: set[str] = set()
    found: list[tuple[str, bool]] = []
    style, depth = "", 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal style, depth
        if tag == "style:style":
            style = attributes.get("style:name", "")
        elif tag == "style:table-properties" and attributes.get("table:display") == "false":
            hidden.add(style)
        elif tag == "table:table":
            depth += 1
            if depth == 1:
                shown = attributes.get("table:style-name") not in hidden
                found.append((attributes.get("table:name", ""), shown))

    def end(tag: str) -> None:
        nonlocal depth
        depth -= tag == "table:table"

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise ReadError(path, f"is a damaged spreadsheet ({CONTENT}: {error})") from error
    return found


def _reported(path: Path, rows: Iterator[RawRow]) -> Iterator[RawRow]:
    try:
        yield from rows
    except (ET.ParseError, RecursionError) as error:  # a prefix of no namespace; endless nesting
        raise ReadError(path, f"is a damaged spreadsheet ({CONTENT}: {error})") from error


def _rows(path: Path, content: bytes, name: str) -> Iterator[RawRow]:
    number, depth, inside = 0, 0, False
    for event, element in ET.iterparse(io.BytesIO(content), events=("start", "end")):
        if element.tag == f"{_TABLE}table":
            if event == "start":
                depth += 1
                inside = inside or (depth == 1 and element.get(f"{_TABLE}name") == name)
                continue
            depth -= 1
            element.clear()
            if inside and not depth:
                return
        elif event == "end" and element.tag == f"{_TABLE}table-row" and depth == 1:
            if inside:
                repeats = _repeats(element, "rows", MAX_ROWS)
                cells, faults, long_numbers = _cells(element)
                # Empty rows at the end of a sheet are one element for a million rows.
                filled = any(cells) or faults
                if filled and repeats > _MOST_EQUAL:
                    raise ReadError(
                        path,
                        f"row {number + 1:,} of sheet {name!r} stands there {repeats:,} times, and "
                        f"at most {_MOST_EQUAL:,} equal rows are expected: delete them",
                    )
                for row in range(number + 1, number + repeats + 1) if filled else ():
                    if row > MAX_ROWS:
                        raise ReadError(path, f"sheet {name!r} has more than {MAX_ROWS:,} rows")
                    yield RawRow(row, cells, faults, long_numbers)
                number += repeats
            element.clear()


def _repeats(element: ET.Element, what: str, most: int) -> int:
    written = element.get(f"{_TABLE}number-{what}-repeated", "1")
    return max(1, _count(written, most))


def _count(written: str, most: int) -> int:
    # Of thousands of digits the first ones tell that it is too many.
    return min(int(written[:9]), most) if written.isdecimal() else 1


def _cells(row: ET.Element) -> tuple[list[str], dict[int, str], dict[int, bool]]:
    """Return the texts of a row, its faults and its long numbers, as in `RawRow`."""
    texts: list[str] = []
    faults: dict[int, str] = {}
    long_numbers: dict[int, bool] = {}
    gap = 0  # empty cells, which may be 16,384 at the end of a row
    for cell in row:
        if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        repeats = _repeats(cell, "columns", MAX_COLUMNS)
        fault = None
        text = "" if cell.tag.endswith("}covered-table-cell") else _text(cell)
        if cell.get(f"{_CALCEXT}value-type") == "error":
            text, fault = "", text or "an error"
        elif cell.get(f"{_TABLE}formula") and not cell.get(f"{_OFFICE}value-type"):
            fault = ""
        if text or fault is not None:
            texts += [""] * gap
            gap = 0
            places = range(len(texts), len(texts) + repeats)
            if fault is not None:
                faults |= dict.fromkeys(places, fault)
            if (lost := _loses_digits(cell)) is not None:
                long_numbers |= dict.fromkeys(places, lost)
            texts += [text] * repeats
        else:
            gap += repeats
        if len(texts) > MAX_COLUMNS:
            break
    return texts, faults, long_numbers


def _text(cell: ET.Element) -> str:
    paragraphs = (_paragraph(each) for each in cell if each.tag == f"{_TEXT}p")
    shown = "\n".join(paragraphs)
    kind, value = cell.get(f"{_OFFICE}value-type"), cell.get(f"{_OFFICE}value", "")
    if kind in _NUMBERS:
        number = _number(value)
        if number is None:
            return shown
        # The format is that of another file part, but its result stands in the cell.
        code = shown_code(number, shown) if kind == "float" else None
        return cell_text(number) if code is None else code
    if kind == "boolean":
        return cell.get(f"{_OFFICE}boolean-value", "").upper()
    if kind == "date":
        return _MIDNIGHT.sub("", cell.get(f"{_OFFICE}date-value", shown))
    if kind == "string":
        return cell.get(f"{_OFFICE}string-value") or shown
    return shown


def _number(written: str) -> float | None:
    if written.isdecimal() and len(written) <= _DIGITS:
        return int(written)
    try:
        return float(written)
    except ValueError:
        return None


def _loses_digits(cell: ET.Element) -> bool | None:
    written = cell.get(f"{_OFFICE}value", "")
    if cell.get(f"{_OFFICE}value-type") not in _NUMBERS or len(written) < _SHORTEST_LONG:
        return None
    number = _number(written)
    return None if number is None else loses_digits(number)


def _paragraph(element: ET.Element) -> str:
    """Return the text of a paragraph without notes; spaces and tabs are elements."""
    text = element.text or ""
    for each in element:
        if each.tag == f"{_TEXT}s":
            count = each.get(f"{_TEXT}c", "1")
            text += " " * _count(count, 1000)
        elif each.tag == f"{_TEXT}tab":
            text += "\t"
        elif each.tag == f"{_TEXT}line-break":
            text += "\n"
        elif each.tag not in (f"{_OFFICE}annotation", f"{_TEXT}note", f"{_TEXT}ruby-text"):
            text += _paragraph(each)
        text += each.tail or ""
    return text
