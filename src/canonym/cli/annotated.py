"""Annotated corpora named on the command line, recognised by their content."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from canonym.errors import ReadError

if TYPE_CHECKING:
    from canonym.types import Document, Mention


FORMATS: dict[str, str] = {
    "pubtator": "PubTator",
    "bioc": "BioC, XML or JSON",
    "brat": "a folder of .txt and .ann files",
    "concept": "BioSyn's .concept, a file or a folder",
    "jsonl": "JSON lines, a document or a mention each",
    "table": "id<tab>mention, as CADEC and PsyTar",
    "columns": "CSV, TSV or Parquet, a mention a row, with named columns",
}
"""Formats of annotated corpora."""

_PUBTATOR = re.compile(r"[^|\t]+\|[ta]\|")
_CONCEPT = re.compile(r"[^|]*\|\|\d+\|\|?\d+\|\|.*\|\|.*\|\|")


class Corpus(NamedTuple):
    """A corpus that was read: its format, its documents and its files."""

    format: str
    documents: list[Document]
    files: tuple[Path, ...]


def open_corpus(path: str, *, format: str | None = None) -> Corpus:
    """Read an annotated corpus: a file, or a folder of brat or concept files.

    `format` is a key of `FORMATS`, recognised by default. Mentions without a text are grouped by
    the document that they name. A corpus without a mention is a `ReadError`.
    """
    place = Path(path)
    if not place.exists():
        raise ReadError(path, "there is no such file; an annotated corpus was expected")
    format = format or _recognise(place)
    documents = _documents(_reader(format)(place))
    if not any(document.mentions for document in documents):
        raise ReadError(
            path, f"holds no annotated mention (read as {format}): there is nothing to evaluate"
        )
    files = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else ()
    return Corpus(format, documents, tuple(files) or (place,))


def _recognise(path: Path) -> str:
    if path.is_dir():
        for format, pattern in (("concept", "*.concept"), ("brat", "*.ann")):
            if next(path.glob(pattern), None):
                return format
        raise ReadError(path, "a folder with .ann or .concept files was expected; name a file")
    from canonym.corpora.tables import recognise_columns, split_header
    from canonym.io.tables import is_parquet

    if is_parquet(path):
        return "columns"
    first = _first_line(path)
    if _PUBTATOR.match(first):
        return "pubtator"
    if _CONCEPT.match(first):
        return "concept"
    start = first.lstrip("\ufeff \t")[:1]
    if start in {"<", "["}:
        return "bioc"
    if start == "{":
        found = _object(first)
        return "jsonl" if found.keys() & {"mention", "mentions", "text"} else "bioc"
    if {"mention", "ids"} <= recognise_columns(split_header(first)).keys():
        return "columns"
    if first.count("\t") in {1, 2}:
        return "table"
    raise ReadError(
        path,
        f"the format is not recognised by the first line, {first[:60]!r}; say which with --format: "
        + ", ".join(FORMATS),
    )


def _first_line(path: Path) -> str:
    from canonym.io.streams import open_text

    with open_text(path) as lines:
        return next((line.rstrip("\n") for line in lines if line.strip()), "")


def _object(line: str) -> dict[str, Any]:
    """Return the JSON object of a line; empty where it continues on the next lines, as in BioC."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _documents(items: Iterable[Document | Mention]) -> list[Document]:
    from canonym.types import Document

    found: list[Document] = []
    loose: dict[str, list[Mention]] = {}
    for item in items:
        if isinstance(item, Document):
            found.append(item)
        else:
            loose.setdefault(item.document_id, []).append(item)
    return found + [Document(id_, "", tuple(mentions)) for id_, mentions in loose.items()]


def _jsonl(path: Path) -> Iterable[Document | Mention]:
    from canonym.corpora import read_jsonl_documents, read_jsonl_mentions

    mentions = "mention" in _object(_first_line(path))
    return read_jsonl_mentions(path) if mentions else read_jsonl_documents(path)


def _reader(format: str) -> Callable[[Path], Iterable[Document | Mention]]:
    from canonym import corpora

    readers: dict[str, Callable[[Path], Iterable[Document | Mention]]] = {
        "pubtator": corpora.read_pubtator,
        "bioc": corpora.read_bioc,
        "brat": corpora.read_brat,
        "concept": corpora.read_concepts,
        "jsonl": _jsonl,
        "table": corpora.read_mention_table,
        "columns": corpora.read_annotated_table,
    }
    return readers[format]
