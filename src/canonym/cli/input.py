"""The input of ``canonym link``: names, lines, a column of a table, mentions or documents.

The first line of a file tells its kind; standard input is read like a file.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from canonym.corpora.jsonl import parse_jsonl_documents, parse_jsonl_mentions
from canonym.corpora.pubtator import parse_pubtator
from canonym.corpora.tables import parse_table, split_header
from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import MAX_LINE, TextStream, open_text
from canonym.types import Document, Mention

_LOG = logging.getLogger(__name__)
_STDIN = "-"
_TABLE_SUFFIXES = (".csv", ".tsv", ".tab")
_COMPRESSED = (".gz", ".xz", ".bz2", ".zip")
_PUBTATOR = re.compile(r"[^|\t]+\|[ta]\|")


class Entry(NamedTuple):
    """One mention, and the cells of its row if it is from a table."""

    mention: Mention
    cells: Sequence[str] = ()


Item = Entry | Document


class Input(NamedTuple):
    """Entries or documents to link, read one at a time, and the columns of a table."""

    items: Iterator[Item]
    documents: bool = False
    columns: list[str] | None = None


class TableOptions(NamedTuple):
    """Options of tables, as `canonym.corpora.delimited.parse_table` takes them."""

    column: str | None = None
    context_column: str | None = None
    delimiter: str | None = None


class _Arriving(io.RawIOBase):
    """Standard input for `TextStream`: returns the bytes that have arrived, without waiting."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        return bytes(self._stream.read1(size))


@contextlib.contextmanager
def open_input(
    names: Sequence[str],
    file: str | None,
    *,
    kind: str | None = None,
    table: TableOptions = TableOptions(),  # noqa: B008 - it cannot be changed
    encoding: str = "utf-8",
) -> Iterator[Input]:
    """Open names, a file or, for ``-`` or nothing, standard input.

    Raises `InvalidInput` if there is nothing to link, too much is named, or an option does not go
    with the input, and `ReadError` if the file cannot be read.
    """
    if list(names) == [_STDIN]:
        names, file = (), file or _STDIN
    if names and file:
        raise InvalidInput("names and --file are both given: choose one")
    if not table.column and (table.context_column or table.delimiter):
        raise InvalidInput("--context-column and --delimiter go with --column")
    if names:
        if table.column or kind:
            raise InvalidInput("--column and --input-format describe a file: give it with --file")
        yield Input(iter([Entry(Mention(name)) for name in names]))
        return
    if file is None and sys.stdin.isatty():
        raise InvalidInput(
            "there is nothing to link: give names, name a --file, or pipe something in "
            "(`canonym link --help` has examples)"
        )
    with contextlib.ExitStack() as stack:
        if file in (None, _STDIN):
            path = Path("standard input")
            lines = TextStream(path, _Arriving(sys.stdin.buffer), encoding, MAX_LINE)
        else:
            path = Path(str(file))
            lines = stack.enter_context(open_text(path, encoding=encoding))
        blank, first = _first_line(lines)
        whole = itertools.chain(blank, [first], lines)
        if kind is None:
            kind = "table" if table.column else _recognise(first, path)
        if table.column and kind != "table":
            raise InvalidInput(f"--column goes with tables, and {path} is read as {kind}")
        _LOG.info("Reading %s as %s", path, kind)
        yield _parse(kind, whole, first, path, table)


def _first_line(lines: Iterator[str]) -> tuple[list[str], str]:
    """Return the blank lines at the beginning, and the first other line (or nothing)."""
    blank: list[str] = []
    for line in lines:
        if line.strip():
            return blank, line
        blank.append(line)
    return blank, ""


def _recognise(first: str, path: Path) -> str:
    if _PUBTATOR.match(first):
        return "pubtator"
    if first.lstrip().startswith("{"):
        return "jsonl"
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    if (suffixes and suffixes[-1] in _TABLE_SUFFIXES) or "\t" in first:
        raise InvalidInput(
            f"{path} is a table: name the column to link with --column; it has "
            f"{_columns(first)} (or give --input-format lines)"
        )
    return "lines"


def _columns(header: str) -> str:
    return ", ".join(repr(column[:40]) for column in split_header(header)[:30])


def _parse(kind: str, lines: Iterable[str], first: str, path: Path, table: TableOptions) -> Input:
    if kind == "pubtator":
        return Input(parse_pubtator(lines, path), documents=True)
    if kind == "jsonl":
        if "text" in _object(first) and "mention" not in _object(first):
            return Input(parse_jsonl_documents(lines, path), documents=True)
        return Input(map(Entry, parse_jsonl_mentions(lines, path)))
    if kind == "table":
        column, context_column, delimiter = table
        if not column:
            raise InvalidInput(f"--input-format table needs --column; {path} has {_columns(first)}")
        rows = parse_table(
            lines, path, column=column, context_column=context_column, delimiter=delimiter
        )
        return Input((Entry(row.mention, row.cells) for row in rows), columns=rows.columns)
    if not first:
        raise ReadError(path, "holds nothing but blank lines: one name a line is expected")
    return Input(Entry(Mention(line.rstrip("\n"))) for line in lines)


def _object(line: str) -> dict[str, Any]:
    """Return the JSON object of a line, or an empty one: the parser reports what is wrong."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def count_items(file: str | None, *, documents: bool) -> int | None:
    """Count the lines or documents of a file, to show the time left.

    Compressed files and standard input are not counted: that would take reading them twice.
    """
    if file in (None, _STDIN) or PurePath(str(file)).suffix.lower() in _COMPRESSED:
        return None
    with Path(str(file)).open("rb") as stream:
        if documents:
            return sum(1 for line in stream if b"|t|" in line or line.startswith(b"{"))
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def of_types(items: Iterator[Item], wanted: Sequence[str]) -> Iterator[Item]:
    """Keep the annotated mentions of some types, or all if no type is wanted.

    Raises `InvalidInput` at the end if the whole input had no mention of one of the types.
    """
    if not wanted:
        yield from items
        return
    seen: set[str] = set()
    for item in items:
        if isinstance(item, Document):
            seen.update(mention.type for mention in item.mentions)
            yield replace(item, mentions=tuple(m for m in item.mentions if m.type in wanted))
        else:
            seen.add(item.mention.type)
            if item.mention.type in wanted:
                yield item
    missing = [type_ for type_ in wanted if type_ not in seen]
    if missing:
        found = ", ".join(sorted(filter(None, seen))) or "none"
        raise InvalidInput(f"no mention has the type {missing[0]!r}; the input has {found}")


def read_ids(path: str) -> tuple[str, ...]:
    """Read the ids in a file, one a line; a line that begins with a hash is a comment."""
    with open_text(path) as lines:
        ids = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not ids:
        raise ReadError(path, "holds no ids: one id a line is expected")
    return ids
