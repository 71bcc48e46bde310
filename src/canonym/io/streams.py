"""Files opened for reading: decompressed, decoded and guarded.

Every reader goes through this module, so that a missing, truncated, wrongly encoded or hostile file
ends in the same `ReadError` whatever the format. Memory holds one block and one line.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from canonym.errors import ReadError
from canonym.io.encodings import BOMS, Evidence, GuessingDecoder, check_encoding, without_mark
from canonym.io.files import check_regular

# --- compression ----------------------------------------------------------------------------------

# A small file may be repetitive (a header, a table of one id); only what grows on is a bomb.
_FREE_BYTES = 64 << 20
_MAX_RATIO = 200

_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw, mode="rb"),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
}
ZIP_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(RuntimeError, ValueError),  # a method that Python does not know; a name that is not UTF-8
)
"""What is raised about a damaged zip archive, beside an OSError."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_FOREIGN = {
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"\x1f\x9d": "a file of Unix compress",
    b"\xd0\xcf\x11\xe0": "an old Microsoft Office file",
    b"%PDF": "a PDF file",
    b"SQLite format 3\x00": "a SQLite database",
}


class GuardedBytes(io.RawIOBase):
    """Decompressed bytes; damage and compression bombs become a `ReadError`."""

    def __init__(
        self, path: Path, source: IO[bytes], consumed: Callable[[], int] | None = None
    ) -> None:
        self._path = path
        self._source = source
        self._consumed = consumed
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            block = self._source.read(len(buffer))
        except EOFError as error:
            raise ReadError(
                self._path, "the compressed data end too early: copy or download the file again"
            ) from error
        except (zlib.error, lzma.LZMAError, zipfile.BadZipFile, OSError) as error:
            raise ReadError(
                self._path, f"cannot be read to its end ({error}): copy or download it again"
            ) from error
        self._given += len(block)
        if self._consumed is not None and self._given > _FREE_BYTES:
            check_expansion(self._path, self._given, self._consumed())
        buffer[: len(block)] = block
        return len(block)


def check_expansion(path: Path, size: int, compressed: int) -> None:
    """Refuse what grows to `size` bytes from far fewer."""
    if size > _FREE_BYTES and size > _MAX_RATIO * max(compressed, 1):
        raise ReadError(
            path,
            f"expands to more than {_MAX_RATIO} times its size, as no terminology does: it "
            "looks like a compression bomb; decompress it yourself if you trust it",
        )


@contextmanager
def decompressed(path: Path, *, member: str | None = None) -> Iterator[GuardedBytes]:
    """Open a file, decompressed where its first bytes ask for it; `member` is a file of a zip."""
    with ExitStack() as stack:
        raw = stack.enter_context(_open_file(path))
        head = raw.peek(16)[:16]
        for magic, what in _FOREIGN.items():
            if head.startswith(magic):
                raise ReadError(
                    path, f"is {what}: text was expected, plain or as gzip, xz, bzip2 or zip"
                )
        if head.startswith(_ZIP):
            archive = stack.enter_context(_open_zip(path, raw))
            info = _choose(path, archive, member)
            source: Any = stack.enter_context(_open_member(path, archive, info))
            yield GuardedBytes(path, source, lambda: info.compress_size)
            return
        if member is not None:
            raise ReadError(path, f"member={member!r} was asked for, but this is no zip archive")
        for magic, opener in _OPENERS.items():
            if head.startswith(magic):
                source = stack.enter_context(opener(raw))
                yield GuardedBytes(path, source, raw.tell)
                return
        yield GuardedBytes(path, raw)


def members(path: str | Path) -> tuple[str, ...]:
    """List the files inside a zip archive, without folders and Finder's leftovers; else nothing."""
    with _open_file(Path(path)) as raw:
        if not raw.peek(4).startswith(_ZIP):
            return ()
        with _open_zip(Path(path), raw) as archive:
            return tuple(info.filename for info in _files(archive))


def _open_file(path: Path) -> io.BufferedReader:
    try:
        check_regular(path)
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ReadError(path, "is a folder: a file was expected")
        if not status.st_size:
            raise ReadError(path, "is empty (0 bytes)")
        return path.open("rb")
    except FileNotFoundError as error:
        is_url = len(urlsplit(str(path)).scheme) > 1 and ":/" in str(path)  # no drive: C:/
        problem = "is a URL: save it as a file first" if is_url else ""
        raise ReadError(path, problem or "there is no such file: check the path") from error
    except OSError as error:
        raise ReadError(path, f"cannot be opened ({error.strerror})") from error
    except ValueError as error:  # a NUL in the path
        raise ReadError(path, f"is no path ({error})") from error


def _open_zip(path: Path, raw: io.BufferedReader) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(raw)
    except (*ZIP_DAMAGE, OSError) as error:
        raise ReadError(
            path, f"is a damaged zip archive ({error}): copy or download it again"
        ) from error


def _files(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [
        info
        for info in archive.infolist()
        if info.filename  # a damaged archive may have one without a name
        and not info.is_dir()
        and not info.filename.startswith("__MACOSX/")
        and not info.filename.endswith(".DS_Store")
    ]


def _choose(path: Path, archive: zipfile.ZipFile, member: str | None) -> zipfile.ZipInfo:
    files = _files(archive)
    names = [info.filename for info in files]
    if "[Content_Types].xml" in names and member is None:
        raise ReadError(path, "is an Office document: save the sheet as CSV or TSV")
    listing = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    if member is not None:
        for info in files:
            if info.filename == member:
                return info
        raise ReadError(path, f"has no member {member!r}: it has {listing or 'no files'}")
    if not files:
        raise ReadError(path, "is a zip archive without files")
    if len(files) > 1:
        raise ReadError(path, f"has {len(files)} members; name one with member=...: {listing}")
    return files[0]


def _open_member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    if info.flag_bits & 0x1:
        raise ReadError(path, f"the member {info.filename!r} is encrypted: unpack it first")
    try:
        return archive.open(info)
    except (*ZIP_DAMAGE, OSError) as error:
        raise ReadError(
            path, f"the member {info.filename!r} cannot be read ({error}): unpack it first"
        ) from error


# --- text -----------------------------------------------------------------------------------------

MAX_LINE = 10_000_000
"""Longest line, in characters, that `open_text` accepts."""

_BLOCK = 1 << 20


class TextStream:
    """Lines of a text file, one at a time, each with its ``\\n`` (the last may lack it).

    Made by `open_text`. Line ends of any system arrive as ``\\n``, or as they are with `keep_ends`.
    ``line`` is the number of the line given last, from 1, and 0 before the first. ``encoding`` is
    the one in use, which a byte order mark may have announced: then ``marked`` is true. Without
    `encoding` it is UTF-8 or Windows-1252, as `GuessingDecoder` finds.
    """

    def __init__(
        self,
        path: Path,
        source: io.RawIOBase,
        encoding: str | None,
        max_line: int,
        *,
        keep_ends: bool = False,
    ) -> None:
        self.path = path
        self.line = 0
        # Python insists on the mark of "utf-16"; here a mark is looked for in any case.
        self.encoding = without_mark(encoding or "utf-8").encoding
        self.marked = False
        self._guessed = GuessingDecoder() if encoding is None else None
        self._cut = _cut_at_all_ends if keep_ends else _cut_at_line_feeds
        self._keep_ends = keep_ends
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
        for mark, encoding in BOMS:
            if first.startswith(mark):
                self.encoding, self.marked, self._guessed = encoding, True, None
                first = first[len(mark) :]
                break
        if not first:
            raise ReadError(self.path, "holds nothing: a file with at least one line was expected")
        inner = self._guessed or codecs.getincrementaldecoder(self.encoding)()
        decoder = io.IncrementalNewlineDecoder(inner, translate=not self._keep_ends)
        pending, block = "", first
        while True:
            text = self._decode(decoder, block)
            if not text and not block:
                break
            head, *lines = self._cut(text)
            pending += head
            if len(pending.rstrip("\r\n")) > max_line:
                self.line += 1
                raise self.error(
                    f"the line is longer than {max_line:,} characters: this is no text file with "
                    "one record a line, or its line ends are missing"
                )
            if lines:
                self.line += 1
                yield pending
                pending = lines.pop()
                for line in lines:
                    self.line += 1
                    yield line
            if not block:
                break
            block = source.read(size) or b""
        if self._guessed is not None:
            self._guessed.check(self.path)
        if pending:
            self.line += 1
            yield pending

    def _decode(self, decoder: io.IncrementalNewlineDecoder, block: bytes) -> str:
        try:
            text = decoder.decode(block, final=not block)
            self.encoding = self._guessed.encoding if self._guessed else self.encoding
        except UnicodeDecodeError as error:
            self.encoding = self._guessed.encoding if self._guessed else self.encoding
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


def _cut_at_line_feeds(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [*(line + "\n" for line in lines), last]


def _cut_at_all_ends(text: str) -> list[str]:
    lines = list(io.StringIO(text, newline=""))  # at \n, \r and both, as they are
    return lines if lines and lines[-1][-1] not in "\r\n" else [*lines, ""]


@contextmanager
def open_text(
    path: str | Path, *, member: str | None = None, encoding: str = "utf-8", keep_ends: bool = False
) -> Iterator[TextStream]:
    """Open a text file for reading line by line, decompressing it where needed.

    Compression (gzip, xz, bzip2, zip) is recognised by the first bytes; `member` is the file of a
    zip archive to read; `keep_ends` leaves line ends as they are. A byte order mark (UTF-8, UTF-16,
    UTF-32) overrules `encoding`. A missing, empty, truncated, corrupt or wrongly encoded file, a
    compression bomb (over 64 MiB and 200 times its size), NUL characters and endless lines become a
    `ReadError`, at the latest while the lines are read.
    """
    check_encoding(encoding)
    with decompressed(Path(path), member=member) as source:
        yield TextStream(Path(path), source, encoding, MAX_LINE, keep_ends=keep_ends)


def detect_encoding(path: str | Path) -> str:
    """Return the encoding of a text file, which is read to its end; see `canonym.io.encodings`.

    A byte order mark decides; else it is ``utf-8`` or ``cp1252``. A file that is hardly either is a
    `ReadError`. Binary files, which have NUL characters, are left to their reader to refuse.
    """
    evidence = Evidence()
    with decompressed(Path(path)) as source:
        block = source.read(_BLOCK)
        for mark, encoding in BOMS:
            if block.startswith(mark):
                return encoding
        while block:
            if b"\0" in block:
                return "utf-8"
            evidence.add(block)
            block = source.read(_BLOCK)
        evidence.add(b"", final=True)
    return evidence.encoding(path)


@contextmanager
def open_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed where needed: for XML and other parsers.

    Raises what `open_text` raises.
    """
    with decompressed(Path(path)) as source:
        buffered = io.BufferedReader(source, _BLOCK)
        if not buffered.peek(1):
            raise ReadError(path, "holds nothing after decompression")
        yield buffered


def read_text(path: str | Path, *, encoding: str = "utf-8") -> str:
    """Read a whole file, line ends kept; one of another encoding is a `ReadError` with the line."""
    if not Path(path).stat().st_size:
        return ""
    with open_bytes(path) as source:
        content = source.read()
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ReadError(
            path,
            f"is not {encoding.upper()} (byte 0x{content[error.start]:02x}): pass encoding=...",
            line=1 + content.count(b"\n", 0, error.start),
        ) from error
