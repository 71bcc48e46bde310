"""Workbooks of Excel, ``.xlsx`` and ``.xlsm``: their sheets, and the cells of one as text."""

from __future__ import annotations

import itertools
import posixpath
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from canonym.errors import CanonymError, ReadError, require
from canonym.io.cells import MAX_ROWS, NO_LONG_NUMBERS, RawRow, cell_text, loses_digits
from canonym.io.number_formats import formatted
from canonym.io.streams import decompressed

_BATCH = 500
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_DAMAGED = "cannot be read as an Excel workbook ({}): open it in Excel or LibreOffice, save it anew"


class SheetPart(NamedTuple):
    """A sheet: its name, whether it is visible, and the file inside the workbook that holds it."""

    name: str
    visible: bool
    part: str


def read_part(path: Path, part: str) -> bytes:
    """Read a file inside a workbook."""
    with decompressed(path, member=part) as source:
        return b"".join(iter(lambda: source.read(1 << 20), b""))


def sheet_parts(path: Path) -> list[SheetPart]:
    """List the sheets of a workbook, without sheets that are charts or macros."""
    try:
        main = next(
            target
            for kind, target in _relations(path, "").values()
            if kind.endswith("/officeDocument")
        )
        targets = _relations(path, main)
        found = []
        for each in ET.fromstring(read_part(path, main)).iter():
            if _local(each.tag) == "sheet":
                id_ = next(value for key, value in each.items() if _local(key) == "id")
                kind, target = targets[id_]
                if kind.endswith("/worksheet"):
                    visible = each.get("state", "visible") == "visible"
                    found.append(SheetPart(each.get("name", ""), visible, target))
    except (ET.ParseError, KeyError, StopIteration, ValueError, LookupError) as error:
        raise ReadError(path, _DAMAGED.format(f"{type(error).__name__}: {error}")) from error
    return found


def _relations(path: Path, part: str) -> dict[str, tuple[str, str]]:
    """Return type and target of each relation of a part, by its id."""
    folder, name = posixpath.split(part)
    relations = ET.fromstring(read_part(path, posixpath.join(folder, "_rels", f"{name}.rels")))
    return {
        each.get("Id", ""): (
            each.get("Type", ""),
            posixpath.normpath(posixpath.join("/", folder, each.get("Target", "")))[1:],
        )
        for each in relations
    }


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


@contextmanager
def open_workbook(
    path: Path,
) -> Iterator[tuple[list[tuple[str, bool]], Callable[[str], Iterator[RawRow]]]]:
    """Open a workbook: its sheets, each with whether it is visible, and a reader of one."""
    openpyxl = require("openpyxl", "reading and writing .xlsx files", "excel")
    parts = sheet_parts(path)
    opened = ExitStack()

    def cells(name: str, *, values: bool) -> Iterator[tuple[Any, ...]]:
        source = opened.enter_context(path.open("rb"))  # of any suffix
        workbook = openpyxl.load_workbook(source, read_only=True, data_only=values)
        opened.callback(workbook.close)
        sheet = workbook[name]
        sheet.reset_dimensions()  # what a file declares is not always so
        return iter(sheet.iter_rows())

    def read(name: str) -> Iterator[RawRow]:
        part = next(each.part for each in parts if each.name == name)
        written: Iterator[tuple[Any, ...]] = itertools.repeat(())
        with _reported(path):
            values = cells(name, values=True)
            if _FORMULA.search(read_part(path, part)):
                written = cells(name, values=False)
        rows = zip(values, written, strict=False)
        for number, (row, formulas) in enumerate(_batched(path, rows), start=1):
            if number > MAX_ROWS:
                raise ReadError(path, f"sheet {name!r} has more than {MAX_ROWS:,} rows")
            if row:
                yield _row(number, row, formulas)

    with opened:
        yield [(each.name, each.visible) for each in parts], read


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn whatever the library raises about a damaged file into a `ReadError`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about parts that are not read
        try:
            yield
        except (CanonymError, MemoryError):
            raise
        except Exception as error:
            raise ReadError(path, _DAMAGED.format(f"{type(error).__name__}: {error}")) from error


def _batched(path: Path, rows: Iterator[Any]) -> Iterator[Any]:
    while True:
        with _reported(path):
            batch = list(itertools.islice(rows, _BATCH))
        if not batch:
            return
        yield from batch


def _row(number: int, cells: tuple[Any, ...], written: tuple[Any, ...]) -> RawRow:
    texts, faults, long_numbers = [], {}, {}
    for place, cell in enumerate(cells):
        value = cell.value
        if cell.data_type == "e":
            faults[place], value = str(value), None
        elif (
            value is None
            and place < len(written)
            and written[place].data_type == "f"
            and cell.data_type != "str"  # an empty string is a value
        ):
            faults[place] = ""
        text = None
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = formatted(value, cell.number_format)
            if (lost := loses_digits(value)) is not None:
                long_numbers[place] = lost
        texts.append(cell_text(value) if text is None else text)
    return RawRow(number, texts, faults, long_numbers or NO_LONG_NUMBERS)
