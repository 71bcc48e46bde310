"""Tables of mentions with a header: CSV, TSV, Parquet, sheets of workbooks, one mention a row.

In a tab-separated table a quote is a character like any other and a row is a line; with every other
delimiter cells may be in double quotes and then hold delimiters and line ends. A first line such as
``sep=;`` names the delimiter and is no row. Blank lines are left out, but for tables of one column,
where they are an empty cell. Columns of annotated mentions are
recognised by the names in `ROLES`; case, spaces and underscores make no difference, and further
columns are ignored. A cell of ids is read as in `canonym.corpora.gold`, and may be a list in
Parquet.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from canonym.corpora.gold import RULES, parse_ids
from canonym.corpora.offsets import whole_number
from canonym.errors import InvalidInput, ReadError
from canonym.io.cells import without_decimals
from canonym.io.streams import open_text
from canonym.io.tables import (
    DELIMITERS,
    Row,
    announced_delimiter,
    check_delimiter,
    is_parquet,
    no_column,
    open_parquet,
    quoted_rows,
    shown,
    squeezed,
)
from canonym.io.workbooks import (
    Sheet,
    SheetChoice,
    check_ids,
    check_no_choice,
    open_sheet,
    workbook_suffix,
)
from canonym.types import Mention

ROLES: dict[str, tuple[str, ...]] = {
    "mention": ("mention", "text", "name", "term", "span"),
    "ids": ("ids", "id", "gold", "concept_id", "concept", "cui", "code", "identifier"),
    "rule": ("rule",),
    "type": ("type", "mention_type", "entity_type", "label"),
    "document": ("document", "document_id", "doc_id", "doc", "pmid"),
    "start": ("start", "begin", "offset_start"),
    "end": ("end", "offset_end"),
    "context": ("context", "sentence"),
}
"""Names of columns that are recognised, by role, the surest first."""

NO_VALUE = frozenset(("nan", "NaN", "NaT", "<NA>", "None", "NULL", "#N/A"))
"""What programs write for a missing value, and nobody for a name; "NA" may be one."""

_TITLES = 20  # lines that are looked at for the header
_NO_HEADER = "holds no header: a first line that names the columns is expected"


# --- tables with a column to link -----------------------------------------------------------------


class TableRow(NamedTuple):
    """A row of a table: all its cells, and the mention in one of them.

    A cell that holds one of `NO_VALUE` is an empty mention.
    """

    cells: Row
    mention: Mention


class CellTable(NamedTuple):
    """A table of which no column is chosen: its header and the line of that, and further rows."""

    header: Row
    line: int
    delimiter: str
    announced: str
    rows: Iterator[Row]


class MentionTable:
    """The rows of a table, read one at a time; iterate over it once.

    `columns` are the header, and `delimiter` stands between the cells. `announced` is what stands
    before the header: a line that names the delimiter, and titles; mostly empty.
    """

    def __init__(
        self, columns: Row, delimiter: str, rows: Iterator[TableRow], announced: str = ""
    ) -> None:
        self.columns = columns
        self.delimiter = delimiter
        self.announced = announced
        self._rows = rows

    def __iter__(self) -> Iterator[TableRow]:
        return self._rows


@contextmanager
def read_table(
    path: str | Path,
    *,
    column: str,
    context_column: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[MentionTable]:
    """Open a table of mentions, plain or compressed.

    Parameters
    ----------
    path : str or Path
        The file.
    column : str
        Name of the column to link.
    context_column : str, optional
        Name of a column with text around the mention, in which abbreviations are looked for.
    delimiter : str, optional
        Character between the cells; by default as the first line announces (``sep=;``), or found in
        the header.
    encoding : str
        Encoding of the text.

    Yields
    ------
    MentionTable
        Its columns and its rows.

    Raises
    ------
    ReadError
        If a column is missing or named twice, a row has another number of cells than the header, or
        quotes are unbalanced.
    InvalidInput
        If the delimiter is not one character.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "patients.csv"
    >>> _ = file.write_text("patient,diagnosis\\n7,broken hip\\n")
    >>> with read_table(file, column="diagnosis") as table:
    ...     [row.mention.text for row in table]
    ['broken hip']
    """
    with open_text(path, encoding=encoding) as lines:
        yield parse_table(
            lines, path, column=column, context_column=context_column, delimiter=delimiter
        )


def parse_table(
    lines: Iterable[str],
    path: str | Path,
    *,
    column: str,
    context_column: str | None = None,
    delimiter: str | None = None,
) -> MentionTable:
    """Read a table from lines as `read_table` does; errors name `path`."""
    columns = [name for name in (column, context_column) if name is not None]
    table = parse_cells(lines, path, delimiter=delimiter, columns=columns)
    error = partial(ReadError, path, line=table.line)
    mention = _reader(table.header, column, context_column, error, "is the delimiter right?")
    rows = (TableRow(cells, mention(cells)) for cells in table.rows)
    return MentionTable(table.header, table.delimiter, rows, table.announced)


def parse_cells(
    lines: Iterable[str],
    path: str | Path,
    *,
    delimiter: str | None = None,
    columns: Collection[str] = (),
) -> CellTable:
    """Read the rows of a table from lines, all as long as the header; errors name `path`.

    The header is the first line, or one of the next that has the `columns` where the first has not.
    """
    iterator = iter(lines)
    n, first, announced = _header_line(iterator)
    if not first:
        raise ReadError(path, _NO_HEADER)
    check_delimiter(delimiter)
    named = announced_delimiter(announced)
    head, at = [first], 0
    if columns and not _has(first, delimiter or named, columns):
        head += itertools.islice(iterator, _TITLES)
        below = range(1, len(head))
        at = next((at for at in below if _has(head[at], delimiter or named, columns)), 0)
    delimiter = delimiter or named or _guess_delimiter(head[at])
    cells = _split(itertools.chain(head[at:], iterator), delimiter, path, before=n - 1 + at)
    header, line = next(cells)
    rows = _rows(cells, len(header), path)
    above = announced + head[0][len(head[0].rstrip("\r\n")) :] if announced and at else announced
    above = (above if delimiter == named else "") + "".join(head[:at]).rstrip("\r\n")
    return CellTable(header, line, delimiter, above, rows)


def _has(line: str, delimiter: str | None, columns: Collection[str]) -> bool:
    """Tell whether a line is a header with some columns."""
    cells = line.strip("\r\n\ufeff").split(delimiter or _guess_delimiter(line))
    return {*columns}.issubset(cell.strip().strip('"') for cell in cells)


def _header_line(lines: Iterable[str]) -> tuple[int, str, str]:
    """Read on to the header: its line number, the line, and the line that announces a delimiter."""
    announced = ""
    for n, line in enumerate(lines, start=1):
        if not announced and announced_delimiter(line):
            announced = line.strip("\r\n\ufeff")
        elif line.strip():
            return n, line, announced
    return 0, "", announced


def sheet_table(
    sheet: Sheet, *, column: str, context_column: str | None = None
) -> Iterator[tuple[list[str], Mention]]:
    """Return the rows of a sheet, each with the mention in a column, as `parse_table` does."""
    advice = "another row may name them: header_row=..."
    mention = _reader(sheet.header, column, context_column, sheet.error, advice)
    sheet.reads = {sheet.header.index(name) for name in (column, context_column) if name}
    return ((cells, mention(cells)) for cells in sheet.rows)


def _reader(
    header: Sequence[str],
    column: str,
    context_column: str | None,
    error: Callable[[str], ReadError],
    advice: str,
) -> Callable[[Sequence[str]], Mention]:
    """Return what makes the mention of a row, once its columns are found."""
    for name in filter(None, (column, context_column)):
        if (count := header.count(name)) != 1:
            problem = f"{count} columns named {name!r}" if count else no_column(name, header)
            raise error(f"{problem}; the columns are {shown(header)} ({advice})")
    at = header.index(column)
    context_at = None if context_column is None else header.index(context_column)
    return lambda cells: mention_of(cells[at], "" if context_at is None else cells[context_at])


def mention_of(text: str, context: str) -> Mention:
    """Return the mention in a cell, which is empty where that holds one of `NO_VALUE`."""
    return Mention("" if text.strip() in NO_VALUE else text, context=context)


def split_header(line: str, delimiter: str | None = None) -> list[str]:
    """Split the first line of a table into the names of its columns."""
    check_delimiter(delimiter)
    return next(_split(iter([line]), delimiter or _guess_delimiter(line), "header"))[0]


def _guess_delimiter(line: str) -> str:
    # A header without any has one column.
    return next((delimiter for delimiter in DELIMITERS if delimiter in line), ",")


def _rows(rows: Iterator[tuple[Row, int]], width: int, path: str | Path) -> Iterator[Row]:
    for cells, line in rows:
        if not cells:
            if width > 1:
                continue
            cells.append("")
        if len(cells) != width:
            raise ReadError(
                path,
                f"{len(cells)} cells where the header names {width} columns: check the quotes and "
                "the delimiter",
                line=line,
            )
        yield cells


def _split(
    lines: Iterator[str], delimiter: str, path: str | Path, *, before: int = 0
) -> Iterator[tuple[Row, int]]:
    """Yield each row and the line where it starts; the row of a blank line has no cells."""
    if delimiter == "\t":
        for number, line in enumerate(lines, start=before + 1):
            text = line.rstrip("\r\n")
            yield Row(text.split("\t") if text else (), line, delimiter), number
        return
    taken: list[str] = []  # the lines of one row

    def noted() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    for cells, start in quoted_rows(noted(), path, delimiter, before=before, blank=True):
        yield Row(cells, "".join(taken), delimiter), start
        taken.clear()


# --- annotated tables -----------------------------------------------------------------------------


def read_annotated_table(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    sheet: str | None = None,
    header_row: int | None = None,
) -> Iterator[Mention]:
    """Read a table of mentions and their gold ids.

    Parameters
    ----------
    path : str or Path
        A delimited file with a header, plain or compressed, a Parquet file, or a workbook.
    columns : mapping of str to str, optional
        Column by role, for roles of `ROLES` whose column has another name.
    delimiter : str, optional
        Character between the cells; by default found in the header.
    encoding : str
        Encoding of a delimited file.
    sheet : str, optional
        Sheet of a workbook, by default the first that is visible.
    header_row : int, optional
        Row of a sheet that names the columns, from 1; by default found below titles.

    Yields
    ------
    Mention
        In the order of the rows.

    Raises
    ------
    ReadError
        If a required column is missing, a row is ragged, a mention is empty, or an offset or a rule
        is malformed.
    InvalidInput
        If a role is unknown.
    MissingExtra
        If a Parquet file is to be read without pyarrow, or .xlsx without openpyxl.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "gold.csv"
    >>> _ = file.write_text('doc_id,Mention,ids\\n7,"hip, broken",D006620\\n')
    >>> [(one.document_id, one.text, one.ids) for one in read_annotated_table(file)]
    [('7', 'hip, broken', ('D006620',))]
    """
    role_columns = dict(columns or {})
    if unknown := [role for role in role_columns if role not in ROLES]:
        raise InvalidInput(f"there is no role {unknown[0]!r}; there are {', '.join(ROLES)}")
    path = Path(path)
    choice = SheetChoice(sheet, header_row)
    if workbook_suffix(path):
        yield from _from_sheet(path, role_columns, choice)
        return
    check_no_choice(path, choice)
    if is_parquet(path):
        yield from _from_parquet(path, role_columns)
        return
    with open_text(path, encoding=encoding) as lines:
        _, first, announced = _header_line(lines)
    if not first:
        raise ReadError(path, _NO_HEADER)
    header = split_header(first.rstrip("\n"), delimiter or announced_delimiter(announced))
    roles = _required(header, role_columns, partial(ReadError, path))
    with read_table(
        path, column=header[roles["mention"]], delimiter=delimiter, encoding=encoding
    ) as table:
        for number, row in enumerate(table, start=1):
            values = {role: row.cells[at] for role, at in roles.items()}
            yield _mention(values, _row_error(path, number))


def recognise_columns(
    header: list[str], further: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Return the position of the column of each role; `further` names columns by role."""
    columns = [squeezed(name) for name in header]
    known = ROLES | {role: (name,) for role, name in (further or {}).items()}
    places: dict[str, int] = {}
    for role in ROLES:
        matches = (name for name in map(squeezed, known[role]) if columns.count(name) == 1)
        if (name := next(matches, None)) is not None:
            places[role] = columns.index(name)
    return places


def _required(
    header: list[str], columns: Mapping[str, str], error: Callable[[str], ReadError]
) -> dict[str, int]:
    roles = recognise_columns(header, columns)
    for role in (*columns, "mention", "ids"):
        if role not in roles:
            expected = repr(columns[role]) if role in columns else " or ".join(ROLES[role])
            raise error(
                f"no column for {role}: {expected} was expected, the columns are {shown(header)}"
            )
    return roles


def _from_parquet(path: Path, columns: Mapping[str, str]) -> Iterator[Mention]:
    with open_parquet(path) as (header, rows):
        roles = _required(header, columns, partial(ReadError, path))
        names = [header[at] for at in roles.values()]
        for number, cells in enumerate(rows(names), start=1):
            yield _mention(dict(zip(roles, cells, strict=True)), _row_error(path, number))


def _from_sheet(path: Path, columns: Mapping[str, str], choice: SheetChoice) -> Iterator[Mention]:
    with open_sheet(path, choice) as sheet:
        roles = _required(list(sheet.header), columns, sheet.error)
        sheet.reads = roles.values()
        for cells in sheet.rows:
            check_ids(cells, [roles["ids"]], sheet.error)
            yield _mention({role: cells[at] for role, at in roles.items()}, sheet.error)


def _row_error(path: Path, row: int) -> Callable[[str], ReadError]:
    return lambda problem: ReadError(path, f"row {row}: {problem}")


def _mention(values: Mapping[str, Any], error: Callable[[str], ReadError]) -> Mention:
    def text(role: str) -> str:
        value = values.get(role)
        return "" if value is None else str(value).strip()

    def offset(role: str) -> int | None:
        written = text(role)
        if not written:
            return None
        number = whole_number(without_decimals(written))
        if number is None:
            raise error(f"{role} is {written[:20]!r}, no whole number")
        return number

    if not text("mention"):
        raise error("the mention is empty")
    written = values["ids"]
    if isinstance(written, list):
        ids, rule = tuple(str(id_) for id_ in written), "any"
    else:
        ids, rule = parse_ids(text("ids"))
    rule = text("rule") or rule
    if rule not in RULES:
        raise error(f"rule is {rule[:20]!r}, none of {', '.join(RULES)}")
    span, document, context = (offset("start"), offset("end")), text("document"), text("context")
    return Mention(text("mention"), *span, text("type"), ids, rule, document, context)
