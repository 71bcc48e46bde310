"""XML read record by record, without entities and without fetching anything."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from canonym.errors import ReadError
from canonym.io.streams import open_bytes

__all__ = ["Prolog", "read_elements", "read_prolog"]

_PIECE = 1 << 16
_MAX_PROLOG = 1 << 22


class Prolog(NamedTuple):
    """What stands before the content of an XML file.

    ``root`` is the name of the root element, ``attributes`` are its attributes, and ``doctype`` is
    the address of the document type definition, or empty.
    """

    root: str
    attributes: dict[str, str]
    doctype: str


class _RootReachedError(Exception):
    """Ends the parse: the prolog is known."""


def read_prolog(path: str | Path) -> Prolog:
    """Read an XML file up to its root element.

    Raises
    ------
    ReadError
        If the file is not XML, or declares entities: the formats read here have none, and entities
        that refer to each other are how a small file is made to fill the memory.
    """
    doctype, root, attributes = "", "", {}

    def start_doctype(_name: str, system: str | None, _public: str | None, _internal: bool) -> None:
        nonlocal doctype
        doctype = system or ""

    def declare_entity(name: str, *_: object) -> None:
        raise ReadError(
            path,
            f"declares the entity {name!r}; no entities were expected, and they are not expanded: "
            "get the file from its publisher",
            line=parser.CurrentLineNumber,
        )

    def start_element(name: str, found: dict[str, str]) -> None:
        nonlocal root, attributes
        root, attributes = name, found
        raise _RootReachedError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = start_doctype
    parser.EntityDeclHandler = declare_entity
    parser.StartElementHandler = start_element
    with open_bytes(path) as source:
        try:
            for _ in range(_MAX_PROLOG // _PIECE):
                piece = source.read(_PIECE)
                parser.Parse(piece, not piece)
            raise ReadError(path, f"has no root element in its first {_MAX_PROLOG:,} bytes")
        except _RootReachedError:
            return Prolog(root, attributes, doctype)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise ReadError(
                path, f"is not XML ({error})", line=getattr(error, "lineno", None)
            ) from error


def read_elements(path: str | Path, tags: Collection[str]) -> Iterator[ET.Element]:
    """Yield the elements named in `tags`, each complete, in the order of the file.

    An element is gone once the next one is asked for: memory holds one record at a time. Call
    `read_prolog` first, which refuses entities.

    Raises
    ------
    ReadError
        If the XML is malformed or ends too early.
    """
    with open_bytes(path) as source:
        root: ET.Element | None = None
        try:
            for event, element in ET.iterparse(source, events=("start", "end")):
                if event == "start":
                    root = element if root is None else root
                elif element.tag in tags:
                    yield element
                    if root is not None:
                        root.clear()
        except ET.ParseError as error:
            raise ReadError(
                path,
                f"the XML is malformed or ends too early ({error}): copy or download it again",
                line=error.position[0],
            ) from error
