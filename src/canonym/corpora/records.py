"""Records of XML and JSON files, each with the line on which it starts."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from canonym.errors import ReadError
from canonym.io.streams import open_bytes

__all__ = ["Element", "read_elements", "read_json"]

_PIECE = 1 << 16


class Element(ET.Element):
    """An XML element that knows the line of its start tag."""

    line: int = 0


def read_elements(path: str | Path, tags: Collection[str]) -> Iterator[Element]:
    """Yield the elements named in `tags`, each complete, in the order of the file.

    Memory holds one record at a time. Entities are refused and nothing is fetched: a document type
    definition that the file names is not looked at.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed.
    tags : collection of str
        Names of elements none of which is inside another.

    Raises
    ------
    ReadError
        If the XML is malformed, ends too early or declares entities.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    open_elements: list[Element] = []
    ready: list[Element] = []

    def declare_entity(name: str, *_: object) -> None:
        raise ReadError(
            path,
            f"declares the entity {name!r}; no entities were expected, and they are not expanded: "
            "get the file from its publisher",
            line=parser.CurrentLineNumber,
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes)
        element.line = parser.CurrentLineNumber
        # What stands outside of records is not kept, so nothing piles up.
        if open_elements:
            open_elements[-1].append(element)
        if open_elements or tag in tags:
            open_elements.append(element)

    def end(_tag: str) -> None:
        if open_elements:
            element = open_elements.pop()
            if not open_elements:
                ready.append(element)

    def text(characters: str) -> None:
        if open_elements:
            element = open_elements[-1]
            if len(element):
                element[-1].tail = (element[-1].tail or "") + characters
            else:
                element.text = (element.text or "") + characters

    parser.EntityDeclHandler = declare_entity
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    with open_bytes(path) as source:
        more = True
        while more:
            piece = source.read(_PIECE)
            more = bool(piece)
            try:
                parser.Parse(piece, not more)
            except (expat.ExpatError, LookupError, ValueError) as error:
                raise ReadError(
                    path,
                    f"the XML is malformed or ends too early ({error}): copy or download it again",
                    line=getattr(error, "lineno", parser.CurrentLineNumber),
                ) from error
            yield from ready
            ready.clear()


def read_json(path: str | Path) -> Iterator[tuple[Any, int]]:
    """Yield the JSON values of a file: one, or many after each other (JSON lines).

    The file is read as a whole.

    Yields
    ------
    value : object
        What `json` makes of it.
    line : int
        The line on which it starts.

    Raises
    ------
    ReadError
        If the file is no JSON, or not UTF-8.
    """
    with open_bytes(path) as source:
        content = source.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(
            path,
            f"is not UTF-8 (byte 0x{content[error.start]:02x}), which JSON has to be",
            line=1 + content.count(b"\n", 0, error.start),
        ) from error
    decoder = json.JSONDecoder()
    at, line = 0, 1
    while True:
        while at < len(text) and text[at].isspace():
            line += text[at] == "\n"
            at += 1
        if at == len(text):
            return
        try:
            value, stop = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise ReadError(
                path, f"no JSON ({error})", line=getattr(error, "lineno", line)
            ) from error
        yield value, line
        line += text.count("\n", at, stop)
        at = stop
