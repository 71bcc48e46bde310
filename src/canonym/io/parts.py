"""Parts of workbooks: the XML files in their archives, parsed piece by piece.

No part is held as a tree, so memory does not grow with what a small file expands to. A part that
declares a document type is refused: no program writes one, and its entities could fill the memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from canonym.errors import CanonymError, ReadError
from canonym.io.streams import decompressed

_PIECE = 1 << 14  # bytes, which may stand for hundreds of full rows
_TEXT = 1 << 20  # characters

Start = Callable[[str, dict[str, str]], None]
"""Handler of a start tag: name and attributes."""


def read_part(path: Path, part: str) -> bytes:
    """Read a file inside a workbook."""
    with decompressed(path, member=part) as source:
        return b"".join(iter(lambda: source.read(1 << 20), b""))


def parse_part(
    path: Path,
    part: str,
    start: Start,
    end: Callable[[str], None] | None = None,
    text: Callable[[str], None] | None = None,
    *,
    namespaces: bool = False,
    damaged: str,
) -> Iterator[None]:
    """Parse a file inside a workbook with handlers; pause after each piece.

    With `namespaces` a name is the address and the local name, with a space between, otherwise the
    prefix is cut off. `damaged` is the message about a part that cannot be parsed, with ``{}`` for
    the reason.
    """

    def refuse(*_: object) -> None:
        raise ReadError(path, damaged.format(f"{part} declares a document type"))

    parser = expat.ParserCreate(namespace_separator=" " if namespaces else None)
    parser.buffer_text, parser.buffer_size = True, _TEXT

    def root(tag: str, attributes: dict[str, str]) -> None:
        """Take the first start tag, which shows whether names have prefixes: few files have."""
        bare = namespaces or ":" not in tag
        parser.StartElementHandler = start if bare else _local(start)
        parser.EndElementHandler = end if bare or end is None else _local(end)
        parser.StartElementHandler(tag, attributes)

    parser.StartElementHandler, parser.CharacterDataHandler = root, text
    parser.StartDoctypeDeclHandler = refuse
    with decompressed(path, member=part) as source:
        more = True
        while more:
            piece = source.read(_PIECE)
            more = bool(piece)
            try:
                parser.Parse(piece, not more)
            except CanonymError:
                raise
            except (expat.ExpatError, LookupError, ValueError, OverflowError) as error:
                raise ReadError(path, damaged.format(f"{part}: {error}")) from error
            yield


def parse_whole(path: Path, part: str, start: Start, **options: Any) -> None:
    """Parse a file inside a workbook as `parse_part` does, to its end."""
    deque(parse_part(path, part, start, **options), maxlen=0)


def _local(handler: Callable[..., None]) -> Callable[..., None]:
    def without_prefix(tag: str, *attributes: dict[str, str]) -> None:
        handler(tag.rpartition(":")[2] if ":" in tag else tag, *attributes)

    return without_prefix
