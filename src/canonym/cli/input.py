"""The input of ``canonym link``: names, lines, a column of a table, mentions or documents.

The beginning of a file tells its kind; standard input is read like a file. A format whose reader
needs a file is read from a temporary copy of standard input.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import logging
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from canonym.cli.annotated import (
    CADEC,
    FORMATS,
    encoding_of,
    folder_format,
    look_at,
    object_of,
    read_items,
)
from canonym.cli.input_encoding import tell_encoding
from canonym.errors import InvalidInput, ReadError
from canonym.io.encodings import check_encoding
from canonym.io.streams import MAX_LINE, TextStream, detect_encoding, open_text
from canonym.io.tables import SUFFIXES, bare_suffix, is_parquet, shown
from canonym.io.workbooks import check_no_choice, open_sheet, workbook_suffix
from canonym.io.xml import is_markup
from canonym.jobs.input import (
    OF_LINES,
    Entry,
    Input,
    TableOptions,
    read_delimited,
    read_sheet,
)
from canonym.types import Document, Mention

_LOG = logging.getLogger(__name__)
STDIN = "-"
STANDARD_INPUT = Path("standard input")
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ\0", b"BZh91AY")
_OFFICE = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_IS_COMPRESSED = (
    "is compressed: decompress it before the pipe (gunzip -c FILE | canonym link), or name the "
    "file with --file"
)
_PIECE = 1 << 16
_OF_MENTIONS = ("concept", "columns", CADEC)


class Arriving(io.RawIOBase):
    """Standard input for `TextStream`: returns the bytes that have arrived, without waiting."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._kept: list[bytes] | None = []
        self._ahead = b""

    def is_office(self) -> bool:
        """Tell whether an archive or an old Office file arrives, which may be a workbook."""
        self._ahead = bytes(self._stream.read1(_PIECE))
        return self._ahead.startswith(_OFFICE)

    def read(self, size: int = -1) -> bytes:
        block = self._ahead[:size] or bytes(self._stream.read1(size))
        self._ahead = self._ahead[size:]
        if self._kept == [] and block.startswith(_PACKED):
            raise ReadError(STANDARD_INPUT, _IS_COMPRESSED)
        if self._kept is not None:
            self._kept.append(block)
        return block

    def forget(self) -> None:
        """Keep no bytes from now on: the kind is known."""
        self._kept = None

    def copy(self, path: Path) -> None:
        """Write all of standard input to a file, from its first byte."""
        with path.open("wb") as target:
            target.writelines((*(self._kept or ()), self._ahead))
            shutil.copyfileobj(self._stream, target)


def source_of(names: Sequence[str], file: str | None) -> str | None:
    """Return the file that is read, ``-`` for standard input, None where names are given."""
    return file or (None if names and list(names) != [STDIN] else STDIN)


@contextlib.contextmanager
def open_input(
    names: Sequence[str],
    file: str | None,
    *,
    kind: str | None = None,
    table: TableOptions = TableOptions(),  # noqa: B008 - it cannot be changed
    encoding: str | None = None,
) -> Iterator[Input]:
    """Open names, a file or, for ``-`` or nothing, standard input.

    Without an encoding it is found, and named if it is not UTF-8.

    Raises `InvalidInput` if there is nothing to link, too much is named, or an option does not go
    with the input, and `ReadError` if the file cannot be read.
    """
    if list(names) == [STDIN]:
        names, file = (), file or STDIN
    if names and file:
        raise InvalidInput("names and --file are both given: choose one")
    if encoding is not None:
        check_encoding(encoding)
    if not table.column and (table.context_column or table.delimiter):
        raise InvalidInput("--context-column and a delimiter go with --column")
    if names:
        if table != TableOptions() or kind:
            raise InvalidInput(
                "--column, --sheet and --input-format describe a file: give it with --file"
            )
        yield Input(iter([Entry(Mention(name)) for name in names]))
        return
    if file is None and sys.stdin.isatty():
        raise InvalidInput(
            "there is nothing to link: give names, name a --file, or pipe something in "
            "(`canonym link --help` has examples)"
        )
    with contextlib.ExitStack() as stack:
        content, lines = _open(stack, file, kind, table, encoding)
        known = content.encoding
        yield content
        if lines is not None and lines.encoding != known:  # only now is it sure
            tell_encoding(lines.path, lines.encoding)


def _open(
    stack: contextlib.ExitStack,
    file: str | None,
    kind: str | None,
    table: TableOptions,
    encoding: str | None,
) -> tuple[Input, TextStream | None]:
    """Open a file or standard input; the stream is that of what is read line by line."""
    arriving = Arriving(sys.stdin.buffer) if file in (None, STDIN) else None
    path = place = STANDARD_INPUT if arriving else Path(str(file))
    is_table = bool(table.column)
    if arriving is not None and arriving.is_office():
        place, arriving = copied(stack, arriving), None
    if arriving is None and workbook_suffix(place):
        return _open_workbook(stack, place, path, kind, table, encoding), None
    if place != path:
        raise ReadError(path, _IS_COMPRESSED)
    check_no_choice(path, table.choice)
    if arriving is not None and is_table and encoding is None:
        # Its encoding has to be known before its first row is written.
        place, arriving = copied(stack, arriving), None
    if arriving is not None:
        lines = TextStream(path, arriving, encoding, MAX_LINE, keep_ends=is_table)
    else:
        kind = kind or ("columns" if is_parquet(place) and not is_table else None)
        if place.is_dir():
            kind = kind or folder_format(place)
        if kind and kind not in OF_LINES:
            return _read_corpus(kind, place, encoding, table, shown=path), None
        known = encoding or detect_encoding(place)
        lines = stack.enter_context(open_text(place, encoding=known, keep_ends=is_table))
        lines.path = path
    format_, first, held = look_at(lines, path)
    if kind is None:
        kind = _table(first, path) if is_table else _recognise(format_, first, path)
    _LOG.info("Reading %s as %s", path, kind)
    if kind in OF_LINES:
        if arriving is not None:
            arriving.forget()
        if is_table and kind != "table":
            raise InvalidInput(f"--column goes with tables, and {path} is read as {kind}")
        if encoding is None:
            tell_encoding(path, lines.encoding)
        content = _parse(kind, itertools.chain(held, lines), lines, first, path, table)
        return content._replace(encoding=lines.encoding), lines
    if arriving is not None:
        place = copied(stack, arriving)
    return _read_corpus(kind, place, encoding, table, shown=path), None


def _open_workbook(
    stack: contextlib.ExitStack,
    file: Path,
    path: Path,
    kind: str | None,
    table: TableOptions,
    encoding: str | None,
) -> Input:
    """Open the workbook in a file, which messages call `path`."""
    if kind == "columns":
        return _read_corpus(kind, file, None, table, shown=path)
    if kind not in (None, "table"):
        raise InvalidInput(f"{path} is a workbook: --input-format {kind} does not go with it")
    sheet = stack.enter_context(open_sheet(file, table.choice, shown=path))
    if not table.column:
        raise InvalidInput(
            f"{path} is a workbook: name the column to link with --column; the sheet "
            f"{sheet.name!r} has {shown(sheet.header)} (or give --input-format columns)"
        )
    return read_sheet(sheet, table, encoding)


def copied(stack: contextlib.ExitStack, arriving: Arriving) -> Path:
    """Return a temporary copy of standard input; errors of the copy name standard input."""
    copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="canonym-"))) / "in"
    arriving.copy(copy)
    stack.enter_context(_errors_named(copy))
    return copy


@contextlib.contextmanager
def _errors_named(copy: Path) -> Iterator[None]:
    """Let errors of a copy name standard input."""
    try:
        yield
    except ReadError as error:
        if error.path != copy:
            raise
        named = ReadError(STANDARD_INPUT, error.problem, line=error.line)
        for text in getattr(error, "__notes__", ()):
            named.add_note(text)
        raise named from error


def _table(first: str, path: Path) -> str:
    """Refuse a file of JSON lines, which has keys and no columns."""
    if keys := object_of(first):
        raise InvalidInput(
            f"{path} holds JSON lines, and --column is of tables: the first object has the keys "
            f"{shown([*keys])}; call the key of the mention 'mention' and leave out --column, or "
            "name a folder with -o FOLDER/: there --column may be a key"
        )
    return "table"


def _recognise(found: str | None, first: str, path: Path) -> str:
    """Return the kind of a file without --column, by the format that its beginning shows."""
    from canonym.corpora.jsonl import is_json
    from canonym.corpora.tables import split_header

    if found is not None and found not in ("table", "columns"):
        return found
    if is_json(first):
        return "jsonl"  # whose parser says what an object needs
    if is_markup(first) or _is_list(first):
        expected = ", ".join((*(key for key in FORMATS if key != "table"), CADEC))
        raise ReadError(
            path,
            f"begins with {first.strip()[:40]!r}, which is XML, HTML or JSON and no list of names: "
            f"names, a table or a corpus is expected ({expected}); give --input-format lines if "
            "each line is a name",
        )
    if bare_suffix(path) in SUFFIXES or "\t" in first:
        other = {"table": CADEC, "columns": "columns"}.get(found or "", "lines")
        raise InvalidInput(
            f"{path} is a table: name the column to link with --column; it has "
            f"{shown(split_header(first))} (or give --input-format {other})"
        )
    return "lines"


def _is_list(first: str) -> bool:
    try:
        return isinstance(json.loads(first), list)
    except (ValueError, RecursionError):
        return False


def _parse(
    kind: str, lines: Iterable[str], stream: TextStream, first: str, path: Path, table: TableOptions
) -> Input:
    from canonym.corpora.jsonl import open_jsonl
    from canonym.corpora.pubtator import parse_pubtator
    from canonym.corpora.tables import split_header

    if kind == "pubtator":
        return Input(parse_pubtator(lines, path), documents=True, kind=kind)
    if kind == "jsonl":
        documents, read = open_jsonl(lines, path)
        items = (item if isinstance(item, Document) else Entry(item) for item in read)
        return Input(items, documents=documents, kind=kind)
    if kind == "table":
        if not table.column:
            has = shown(split_header(first))
            raise InvalidInput(f"--input-format table needs --column; {path} has {has}")
        return read_delimited(lines, stream, path, table)
    if not first:
        raise ReadError(path, "holds nothing but blank lines: one name a line is expected")
    return Input(Entry(Mention(line.rstrip("\n"))) for line in lines)


def _read_corpus(
    kind: str, path: Path, encoding: str | None, table: TableOptions, *, shown: Path
) -> Input:
    """Read a corpus whose reader opens the file itself, which messages call `shown`.

    The first item tells of a wrong file.
    """
    if table.column:
        raise InvalidInput(f"--column goes with tables, and {shown} is read as {kind}")
    _LOG.info("Reading %s as %s", path, kind)
    kind_of_corpus = "table" if kind == CADEC else kind
    if encoding is None:
        encoding = encoding_of(kind_of_corpus, path, shown=shown)
    found = read_items(kind_of_corpus, path, encoding=encoding, choice=table.choice)
    items = (item if isinstance(item, Document) else Entry(item) for item in found)
    return Input(items, documents=kind not in _OF_MENTIONS, kind=kind)


def read_ids(path: str) -> tuple[str, ...]:
    """Read the ids in a file, one a line; a line that begins with a hash is a comment."""
    with open_text(path) as lines:
        ids = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not ids:
        raise ReadError(path, "holds no ids: one id a line is expected")
    return ids
