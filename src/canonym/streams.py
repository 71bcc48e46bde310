"""Files opened for reading: decompressed, decoded and guarded.

Every reader goes through this module, so that a missing, truncated, wrongly encoded or hostile file
ends in the same `ReadError` whatever the format. Memory stays bounded: nothing here holds more than
one block and one line.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from canonym.compression import decompressed, members
from canonym.errors import InvalidInput, ReadError

__all__ = ["MAX_LINE", "TextStream", "members", "open_bytes", "open_text"]

MAX_LINE = 10_000_000
"""Longest line, in characters, that `open_text` accepts by default."""

_BLOCK = 1 << 20
_BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class TextStream:
    """Lines of a text file, one at a time, each with its ``\\n`` (the last may lack it).

    What `open_text` gives. Line ends of any system arrive as ``\\n``.

    Attributes
    ----------
    path : Path
        The file.
    line : int
        Number of the line given last, counted from 1; 0 before the first.
    encoding : str
        The encoding in use: the one asked for, or the one a byte order mark announced.
    """

    def __init__(self, path: Path, source: io.RawIOBase, encoding: str, max_line: int) -> None:
        self.path = path
        self.line = 0
        self.encoding = encoding
        self._lines = self._read(source, max_line)

    def __iter__(self) -> Iterator[str]:
        # The generator itself, not `self`: one call less for each of millions of lines.
        return self._lines

    def __next__(self) -> str:
        return next(self._lines)

    def error(self, problem: str) -> ReadError:
        """Make the `ReadError` of `problem` at the line given last."""
        return ReadError(self.path, problem, line=self.line or None)

    def _read(self, source: io.RawIOBase, max_line: int) -> Iterator[str]:
        size = max(min(_BLOCK, max_line), 16)  # so that only a line over two blocks can be too long
        first = source.read(size) or b""
        for mark, encoding in _BOMS:
            if first.startswith(mark):
                self.encoding = encoding
                first = first[len(mark) :]
                break
        if not first:
            raise ReadError(self.path, "holds nothing: a file with at least one line was expected")
        decoder = io.IncrementalNewlineDecoder(
            codecs.getincrementaldecoder(self.encoding)(), translate=True
        )
        pending, block = "", first
        while True:
            text = self._decode(decoder, block)
            if not text and not block:
                break
            head, newline, tail = text.partition("\n")
            pending += head
            if len(pending) > max_line:
                self.line += 1
                raise self.error(
                    f"the line is longer than {max_line:,} characters: this is no text file with "
                    "one record a line, or its line ends are missing"
                )
            if newline:
                self.line += 1
                yield pending + newline
                lines = tail.split("\n")
                pending = lines.pop()
                for line in lines:
                    self.line += 1
                    yield line + "\n"
            if not block:
                break
            block = source.read(size) or b""
        if pending:
            self.line += 1
            yield pending

    def _decode(self, decoder: io.IncrementalNewlineDecoder, block: bytes) -> str:
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(self.encoding, errors="replace")
            raise ReadError(
                self.path,
                f"the line is not {self.encoding.upper()} (byte 0x{error.object[error.start]:02x})"
                ": save the file as UTF-8, or pass encoding=... (often 'latin-1' or 'cp1252')",
                line=self.line + 1 + before.replace("\r\n", "\n").count("\n"),
            ) from error
        if "\0" in text:
            raise ReadError(
                self.path,
                "the line holds a NUL character: this is a binary file or an archive to be "
                "unpacked first, or it is UTF-16 without a mark (pass encoding='utf-16-le')",
                line=self.line + 1 + text.count("\n", 0, text.index("\0")),
            )
        return text


@contextmanager
def open_text(
    path: str | Path,
    *,
    member: str | None = None,
    encoding: str = "utf-8",
    max_line: int = MAX_LINE,
    max_bytes: int | None = None,
) -> Iterator[TextStream]:
    """Open a text file for reading line by line, decompressing it where needed.

    Compression (gzip, xz, bzip2, zip) is recognised by the first bytes, not by the suffix.

    Parameters
    ----------
    path : str or Path
        The file.
    member : str, optional
        Which file of a zip archive to read; needed when it has several.
    encoding : str
        Encoding of the text. A byte order mark (UTF-8, UTF-16, UTF-32) overrules it.
    max_line : int
        Longest line accepted, in characters.
    max_bytes : int, optional
        Most bytes accepted after decompression; without it only compressed files are limited, to
        200 times their size (from 64 MiB on).

    Yields
    ------
    TextStream
        The lines.

    Raises
    ------
    ReadError
        If the file is missing, a folder, empty, truncated, corrupt, a compression bomb, in another
        encoding, with NUL characters, or has an endless line. All but the first three show while
        the lines are read.
    InvalidInput
        If `encoding` is unknown or a limit is not positive.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "names.tsv"
    >>> _ = file.write_text("MESH:D009203\\tMyocardial Infarction\\n")
    >>> with open_text(file) as lines:
    ...     [line.rstrip("\\n").split("\\t") for line in lines]
    [['MESH:D009203', 'Myocardial Infarction']]
    """
    try:
        " ".encode(encoding)
    except LookupError as error:
        raise InvalidInput(
            f"encoding={encoding!r} is not known: use a name such as 'utf-8' or 'latin-1'"
        ) from error
    if max_line < 1:
        raise InvalidInput(f"max_line={max_line} is not positive")
    with decompressed(Path(path), member=member, max_bytes=max_bytes) as source:
        yield TextStream(Path(path), source, encoding, max_line)


@contextmanager
def open_bytes(
    path: str | Path, *, member: str | None = None, max_bytes: int | None = None
) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressing it where needed: for XML and other parsers.

    Parameters and errors are those of `open_text`, without the decoding.

    Yields
    ------
    IO[bytes]
        The decompressed bytes.
    """
    with decompressed(Path(path), member=member, max_bytes=max_bytes) as source:
        buffered = io.BufferedReader(source, _BLOCK)
        if not buffered.peek(1):
            raise ReadError(path, "holds nothing after decompression")
        yield buffered
