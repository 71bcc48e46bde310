"""Annotated corpora named on the command line, recognised by how they begin."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from canonym.errors import InvalidInput, ReadError
from canonym.regex import regex

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from canonym.io.workbooks import SheetChoice
    from canonym.types import Document, Mention


FORMATS: dict[str, str] = {
    "pubtator": "PubTator",
    "bioc": "BioC, XML or JSON",
    "brat": "a folder of .txt and .ann files",
    "concept": "BioSyn's .concept, a file or a folder",
    "jsonl": "JSON lines or a JSON list, a document or a mention each",
    "table": "id<tab>mention, as CADEC and PsyTar",
    "columns": "CSV, TSV, Parquet, .xlsx or .ods, a mention a row, with named columns",
}
"""Formats of annotated corpora."""

GROUP = "canonym.corpora"
"""Entry points of readers in other packages: a format, and a function from a path to documents."""

TRIALS = "trials"
"""Clinical trials: their mentions have no ids, and can only be linked."""

ELSEWHERE: tuple[str, ...] = ("mcn", "share", "tac", "mantra", TRIALS)
"""Formats of documents that are recognised here, and whose readers are another package."""

CADEC = "cadec"
KINDS: tuple[str, ...] = (
    *("lines", "table", "jsonl", "pubtator"),
    *("bioc", "brat", "concept", "columns", CADEC),
)
"""Kinds of input of ``canonym link``; `CADEC` is the ``table`` of `FORMATS`, without a header."""

_CONCEPT = regex(r"[^|]*\|\|\d+\|\|?\d+\|\|(?>.*?\|\|)(?>.*?\|\|)")
_MCN = regex(r"[^|]+\|\|(?:C\d{7}|CUI-less|unk)(?:\|\|\d+\|\|\d+)+\s*", re.I)
_SHARE = regex(r"[^|]+\|\|[A-Za-z_]+\|\|[^|]*(?:\|\|\d+\|\|\d+)+\s*")
_INSIDE = {  # what the beginning of XML and JSON holds
    TRIALS: regex(r'<clinical_study\b|"(?:protocolSection|studies)"\s*:'),
    "tac": regex(r"<Label\b[^<>]*\bdrug="),
    "mantra": regex(r"<unit\b[^<>]*>\s*<text>"),
    "bioc": regex(r'<(?:collection|document|passage)\b|"(?:documents|passages|PubTator3)"\s*:'),
}
_OF_LINES = ("pubtator", "concept", "jsonl", "table", "columns")
_LOOKED_AT = 1 << 16  # characters of XML and JSON


class Beginning(NamedTuple):
    """How a file begins: the format it shows, or None, its first line, and the lines read."""

    format: str | None
    first: str
    lines: list[str]


def look_at(lines: Iterator[str], path: Path) -> Beginning:
    """Recognise a file by its first line that is not blank; by more lines in XML and JSON.

    The first line of a table is its header; one before it may name the delimiter.
    """
    from canonym.corpora.jsonl import is_json
    from canonym.corpora.pubtator import split_text_line
    from canonym.io.tables import announced_delimiter

    read: list[str] = []
    first = ""
    for line in lines:
        read.append(line)
        if line.strip() and not (len(read) == 1 and announced_delimiter(line)):
            first = line.rstrip("\n")
            break
    if path.suffix == ".ann":
        return Beginning("brat", first, read)
    if split_text_line(first):
        return Beginning("pubtator", first, read)
    for format, pattern in (("concept", _CONCEPT), ("mcn", _MCN), ("share", _SHARE)):
        if pattern.match(first):
            return Beginning(format, first, read)
    if first.lstrip("\ufeff \t")[:1] in {"<", "[", "{"}:
        if object_of(first).keys() & {"mention", "mentions", "text"}:
            return Beginning("jsonl", first, read)
        n = len(first)
        while n < _LOOKED_AT and (line := next(lines, "")):
            read.append(line)
            n += len(line)
        head = "".join(read)
        formats = (format for format, inside in _INSIDE.items() if inside.search(head))
        is_list = first.lstrip("\ufeff \t").startswith("[") and is_json(head)
        return Beginning(next(formats, "jsonl" if is_list else None), first, read)
    return Beginning(_table_format(first), first, read)


def _table_format(first: str) -> str | None:
    from canonym.corpora.tables import recognise_columns, split_header

    with contextlib.suppress(ReadError):  # a name may begin with a quote
        if first and {"mention", "ids"} <= recognise_columns(split_header(first)).keys():
            return "columns"
    return "table" if first.count("\t") in {1, 2} else None


def folder_format(path: Path) -> str:
    """Recognise a folder by the files in it, or below it in some formats."""
    if format := find_folder_format(path):
        return format
    inside = sorted(file.name for file in path.iterdir() if file.is_file())
    name = f": name a file in it, such as {path / inside[0]}" if inside else ""
    raise ReadError(
        path,
        f"is a folder without a corpus (.ann, .concept, .norm or .pipe files, or drug labels of "
        f"TAC 2017){name}",
    )


def find_folder_format(path: Path) -> str | None:
    """Recognise a folder as `folder_format` does; None for one of no known format."""
    from canonym.io.streams import open_text

    for format, pattern in (
        *(("concept", "*.concept"), ("brat", "*.ann"), ("mcn", "**/*.norm")),
        *(("share", "**/*.pipe"), ("share", "**/*.pipe.txt")),
    ):
        if next(path.glob(pattern), None):
            return format
    if label := next(path.glob("*.xml"), None):
        with open_text(label) as lines:
            return "tac" if look_at(lines, label).format == "tac" else None
    return None


class Corpus(NamedTuple):
    """A corpus that was read: its format, its documents and its files."""

    format: str
    documents: list[Document]
    files: tuple[Path, ...]


def open_corpus(
    path: str, *, format: str | None = None, sheet: str | None = None, header_row: int | None = None
) -> Corpus:
    """Read an annotated corpus: a file, or a folder in a format that has them.

    `format` is a key of `FORMATS`, recognised by default; `sheet` and `header_row` are those of
    `canonym.io.workbooks.SheetChoice`. Mentions without a text are grouped by
    the document that they name. A corpus without a mention is a `ReadError`.
    """
    from canonym.corpora.census import by_document
    from canonym.io.workbooks import SheetChoice
    from canonym.types import Document

    place = Path(path)
    if not place.exists():
        raise ReadError(path, "there is no such file; an annotated corpus was expected")
    format = format or _recognise(place)
    if format == TRIALS:
        raise ReadError(
            path, "holds clinical trials, whose mentions have no ids: `canonym link` links them"
        )
    encoding = encoding_of(format, place)
    choice = SheetChoice(sheet, header_row)
    documents, loose = by_document(read_items(format, place, encoding=encoding, choice=choice))
    documents += [Document(id_, "", tuple(mentions)) for id_, mentions in loose.items()]
    if not any(document.mentions for document in documents):
        raise ReadError(
            path, f"holds no annotated mention (read as {format}): there is nothing to evaluate"
        )
    files = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else ()
    return Corpus(format, documents, tuple(files) or (place,))


def _recognise(path: Path) -> str:
    from canonym.io.streams import detect_encoding, open_text
    from canonym.io.tables import is_binary

    if path.is_dir():
        return folder_format(path)
    if is_binary(path):
        return "columns"
    with open_text(path, encoding=detect_encoding(path)) as lines:
        format, first, _ = look_at(lines, path)
    if format is None:
        raise ReadError(
            path,
            f"the format is not recognised by the first line, {first[:60]!r}; say which with "
            f"--format: {', '.join(FORMATS)}",
        )
    return format


def encoding_of(format: str, path: Path, *, shown: Path | None = None) -> str:
    """Find the encoding of a corpus; XML, JSON of one object, Parquet and workbooks know theirs.

    Folders are UTF-8. What is found is named where it is not UTF-8; messages say `shown`.
    """
    from canonym.cli.input_encoding import found_encoding
    from canonym.io.tables import is_binary

    if format in _OF_LINES and path.is_file() and not is_binary(path):
        return found_encoding(path, shown=shown)
    return "utf-8"


def object_of(line: str) -> dict[str, Any]:
    """Return the JSON object of a line; empty where it continues on the next lines, as in BioC."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def read_items(
    format: str, path: Path, *, encoding: str, choice: SheetChoice
) -> Iterable[Document | Mention]:
    """Read a corpus in a format of `FORMATS` or of another package; XML and JSON know their
    encoding.
    """
    from canonym import corpora
    from canonym.io.workbooks import check_no_choice

    if format == "columns":
        return corpora.read_annotated_table(path, encoding=encoding, **choice._asdict())
    check_no_choice(path, choice)

    readers: dict[str, Callable[..., Iterable[Document | Mention]]] = {
        "pubtator": corpora.read_pubtator,
        "bioc": corpora.read_bioc,
        "brat": corpora.read_brat,
        "concept": corpora.read_concepts,
        "jsonl": _read_jsonl,
        "table": corpora.read_mention_table,
    }
    reader = readers.get(format) or _joined_reader(format)
    takes = inspect.signature(reader).parameters
    return reader(path, encoding=encoding) if "encoding" in takes else reader(path)


def joined() -> dict[str, EntryPoint]:
    """Return the readers that other packages bring, by their formats."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def no_reader(format: str, formats: Iterable[str]) -> str:
    """Say that no reader of a format is here, which formats have one, and where others are."""
    return (
        f"no reader of the format {format!r} is installed; there are "
        f"{', '.join((*formats, *sorted(joined())))}. Those of {', '.join(ELSEWHERE)} come with "
        "`pip install benchmarks/reproduce/readers` in a checkout of canonym"
    )


def _joined_reader(format: str) -> Callable[..., Iterable[Document]]:
    point = joined().get(format)
    if point is None:
        raise InvalidInput(no_reader(format, FORMATS))
    try:
        reader: Callable[..., Iterable[Document]] = point.load()
    except (ImportError, AttributeError) as error:
        raise InvalidInput(
            f"the reader of the format {format!r} of another package cannot be loaded ({error}); "
            "repair or uninstall that package"
        ) from error
    return reader


def _read_jsonl(path: Path, *, encoding: str) -> Iterator[Document | Mention]:
    from canonym.corpora.jsonl import open_jsonl
    from canonym.io.streams import open_text

    with open_text(path, encoding=encoding) as lines:
        yield from open_jsonl(lines, path)[1]
