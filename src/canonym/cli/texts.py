"""The input of ``canonym annotate``: running text, a text a line, or the documents of a corpus."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from canonym.cli.annotated import ELSEWHERE, find_folder_format, folder_format, look_at
from canonym.cli.input import STANDARD_INPUT, STDIN, Arriving, copied, open_input
from canonym.cli.input_encoding import found_encoding
from canonym.errors import InvalidInput, ReadError
from canonym.io.encodings import check_encoding
from canonym.io.streams import detect_encoding, open_text
from canonym.io.xml import is_markup
from canonym.jobs.input import Input
from canonym.types import Document

_OF_TEXTS = ("text", "lines")
"""Kinds of input: one text, or a folder of .txt files; a text a line."""

_OF_DOCUMENTS = ("pubtator", "bioc", "brat", "jsonl")


@contextlib.contextmanager
def open_texts(
    file: str | None, *, kind: str | None = None, encoding: str | None = None
) -> Iterator[Input]:
    """Open a file, a folder, or, for ``-`` or nothing, standard input, as documents.

    Raises `InvalidInput` if there is nothing to read, and `ReadError` if it cannot be read.
    """
    if encoding is not None:
        check_encoding(encoding)
    if file is None and sys.stdin.isatty():
        raise InvalidInput(
            "there is no text: name a file, or pipe something in (`canonym annotate --help` has "
            "examples)"
        )
    with contextlib.ExitStack() as stack:
        path = STANDARD_INPUT if file in (None, STDIN) else Path(str(file))
        place = copied(stack, Arriving(sys.stdin.buffer)) if file in (None, STDIN) else path
        kind = kind or _recognise(place, path)
        if kind in _OF_TEXTS:
            texts = _read_texts(place, path, kind, encoding)
            texts_input = Input(texts, documents=True, kind=kind)
        else:
            texts_input = stack.enter_context(
                open_input((), str(place), kind=kind, encoding=encoding)
            )
            if not texts_input.documents:
                raise InvalidInput(
                    f"{path} holds mentions without a text around them: `canonym link` links those"
                )
        yield texts_input


def _recognise(place: Path, path: Path) -> str:
    """Return the kind of a file at a place, which messages call `path`, by how it begins."""
    if place.is_dir():
        format = find_folder_format(place)
        corpus = format in (*_OF_DOCUMENTS, *ELSEWHERE) or not _text_files(place)
        return folder_format(place) if corpus else "text"
    with open_text(place, encoding=detect_encoding(place)) as lines:
        kind, first, _ = look_at(lines, place)
    if kind in (*_OF_DOCUMENTS, *ELSEWHERE):
        return str(kind)
    if is_markup(first):
        raise ReadError(
            path,
            f"begins with {first.strip()[:40]!r}, which is XML, HTML or JSON: text is expected, or "
            f"{', '.join(_OF_DOCUMENTS)}; give --input-format text if it is text",
        )
    return "text"


def _text_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.txt"))


def _read_texts(place: Path, path: Path, kind: str, encoding: str | None) -> Iterator[Document]:
    """Yield a document for each text; its id is the name of the file, or the number of the line."""
    for file in _text_files(place) if place.is_dir() else [place]:
        shown = file if place.is_dir() else path
        used = encoding or found_encoding(file, shown=shown)
        with open_text(file, encoding=used, keep_ends=True) as lines:
            if kind == "text":
                name = shown.stem if shown != STANDARD_INPUT else "text"
                yield Document(name, "".join(lines))
                continue
            for number, line in enumerate(lines, start=1):
                yield Document(str(number), line.rstrip("\r\n"))
