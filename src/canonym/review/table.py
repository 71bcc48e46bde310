"""The table to review: its columns, its rows, and each mention with its context once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from canonym.corpora.jsonl import is_json, parse_jsonl_rows
from canonym.corpora.tables import mention_of, parse_cells
from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import detect_encoding, open_text
from canonym.io.tables import SUFFIXES, announced_delimiter, bare_suffix, shown, whole_count
from canonym.io.workbooks import SheetChoice, open_sheet, workbook_suffix
from canonym.io.xml import is_markup

Key = tuple[str, str]
"""A mention and its context: what is decided once."""

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "line": ""}
"""What may stand between the cells of a line; ``line`` has one cell a line."""

MOST_ROWS = 200_000
MOST_CELLS = 2_000_000
MOST_CHARACTERS = 50_000_000
_JSON = (".json", ".jsonl", ".ndjson")


class Layout(NamedTuple):
    """How a person says that an upload is to be read; what is None is found out.

    `sheet` is one of a workbook, `header_row` counts rows of a sheet or lines of a text from 1, and
    `separator` is one of `SEPARATORS`.
    """

    sheet: str | None = None
    header_row: int | None = None
    separator: str | None = None


class GivenTable(NamedTuple):
    """Rows as they were given, each with the mention that it holds, and how often that occurs."""

    columns: tuple[str, ...]
    column: str
    context_column: str
    rows: list[tuple[Key, list[str]]]
    frequencies: dict[Key, int]


def read_upload(path: Path, name: str, layout: Layout = Layout()) -> Iterator[list[str]]:  # noqa: B008 - it cannot be changed
    """Yield the header of a file that was uploaded as `name`, and its rows, as ``canonym link``.

    JSON lines and a JSON list of objects are a table whose columns are the keys. What is neither is
    read as a mention a line; its one column is called ``mention``. Pasted text has an empty name.
    What is no table, or larger than a review may be, is a `ReadError` with the name of the upload.
    """
    shown_as = Path(name or "the text")
    cells = characters = 0
    try:
        for n, row in enumerate(_rows(path, shown_as, layout)):
            yield [clean(cell) for cell in row]
            cells += len(row)
            characters += sum(map(len, row))
            for what, number, most in (
                ("rows", n, MOST_ROWS),
                ("cells", cells, MOST_CELLS),
                ("characters", characters, MOST_CHARACTERS),
            ):
                if number > most:
                    problem = f"has more than {most:,} {what}; review a part, or fewer columns"
                    raise ReadError(shown_as, problem)
    except ReadError as error:
        raise ReadError(shown_as, error.problem, line=error.line) from error


def _rows(path: Path, shown_as: Path, layout: Layout) -> Iterator[Sequence[str]]:
    if workbook_suffix(path):
        choice = SheetChoice(layout.sheet, layout.header_row)
        with open_sheet(path, choice, shown=shown_as) as sheet:
            yield sheet.header
            yield from sheet.rows
        return
    separator = None if layout.separator is None else SEPARATORS[layout.separator]
    with open_text(path, encoding=detect_encoding(path), keep_ends=True) as lines:
        for _ in itertools.islice(lines, (layout.header_row or 1) - 1):
            pass
        if separator:
            yield from _cells(lines, shown_as, separator)
            return
        beginning = _beginning(lines, shown_as)
        every = itertools.chain(beginning, lines)
        if separator is None and _is_json(beginning, shown_as):
            yield from parse_jsonl_rows(every, shown_as)
            return
        if separator is None and _is_table(beginning, shown_as):
            yield from _cells(every, shown_as, None)
            return
        if is_markup(first := "".join(beginning[-1:])):
            raise ReadError(
                shown_as,
                f"begins with {first.strip()[:40]!r}, which is XML, HTML or JSON: a table, a JSON "
                "list, or a mention a line is expected",
            )
        yield ["mention"]
        for n, line in enumerate(every):
            if (text := line.strip()) and not (n == 0 and announced_delimiter(line)):
                yield [text]


def _cells(lines: Iterator[str], shown_as: Path, separator: str | None) -> Iterator[Sequence[str]]:
    table = parse_cells(lines, shown_as, delimiter=separator)
    yield [cell.strip() for cell in table.header]
    yield from table.rows


def _beginning(lines: Iterator[str], shown_as: Path) -> list[str]:
    """Return the lines up to the first that shows what they are."""
    beginning: list[str] = []
    for line in lines:
        beginning.append(line)
        if line.strip("\ufeff \t\r\n") not in ("", "[") and not announced_delimiter(line):
            break
        if len(beginning) > MOST_ROWS:  # 9 million take 5 seconds
            raise ReadError(shown_as, f"begins with more than {MOST_ROWS:,} empty lines")
    return beginning


def _is_json(beginning: Sequence[str], shown_as: Path) -> bool:
    suffix = bare_suffix(shown_as)
    return suffix in _JSON or (suffix not in SUFFIXES and is_json("".join(beginning)))


def _is_table(beginning: Sequence[str], shown_as: Path) -> bool:
    if bare_suffix(shown_as) in SUFFIXES:
        return True
    first = beginning[-1] if beginning else ""
    named = [mark for mark in map(announced_delimiter, beginning) if mark]
    return any(mark in first for mark in ("\t", *named))


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which a database cannot hold."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def as_table(
    columns: Sequence[str],
    rows: list[list[str]],
    *,
    column: str = "",
    context_column: str = "",
    frequency_column: str = "",
) -> GivenTable:
    """Find the mentions in a table; rows without one are kept, but there is nothing to decide.

    A missing column, a frequency that is no number, or no mention at all is an `InvalidInput`.
    """
    for name in filter(None, (column, context_column, frequency_column)):
        if (n := list(columns).count(name)) != 1:
            problem = f"there are {n} columns" if n else "there is no column"
            raise InvalidInput(f"{problem} {name!r:.80}; the columns are {shown(columns)}")
    if not column and len(columns) > 1:
        raise InvalidInput(f"choose the column with the mentions: {shown(columns)}")
    places = [list(columns).index(name) if name else None for name in (
        column or columns[0], context_column, frequency_column
    )]  # fmt: skip
    keyed: list[tuple[Key, list[str]]] = []
    frequencies: dict[Key, int] = {}
    for number, cells in enumerate(rows, start=1):
        mention, context, frequency = ("" if at is None else cells[at].strip() for at in places)
        mention = mention_of(mention, context).text
        key = (mention, context)
        keyed.append((key, cells))
        if mention:
            times = whole_count(frequency) if frequency_column else 1
            if times is None:
                problem = f"the frequency is {frequency!r:.60}; a whole number is expected"
                raise InvalidInput(f"row {number}: {problem}")
            frequencies[key] = frequencies.get(key, 0) + times
    if not frequencies:
        raise InvalidInput("there is no mention to review: give one a line, or another column")
    return GivenTable(tuple(columns), column or columns[0], context_column, keyed, frequencies)
