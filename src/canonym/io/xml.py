"""XML and JSON files read record by record, without fetching anything.

Entities are read where they stand for a short text, as ``&owl;`` does for an address; entities that
refer to each other or to files are refused, for they make a small file fill the memory or read what
it should not.
"""

from __future__ import annotations

import contextlib
import json
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from canonym.errors import ReadError
from canonym.io.streams import open_bytes
from canonym.regex import regex

_PIECE = 1 << 16
_TEXT_PIECE = 1 << 20  # characters, so that a long text is put together of few
_MAX_PROLOG = 1 << 22
_LONGEST_ENTITY = 200  # characters, so that no file grows to more than a hundred times its size
JSON_STRING = r'"(?:[^"\\\n]|\\.)*"'
"""A pattern of a string in JSON."""

NOT_IN_XML = regex("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that no XML can hold."""

# Names may begin with "<", "[" or "{", as "<5 % burn", "[18F]FDG" and "{gout}" do.
_MARKUP = regex(
    rf"\s*(?:<[?!/A-Za-z]|\{{\s*(?:{JSON_STRING}\s*(?::|$)|$)"
    rf"|\[\s*(?:{JSON_STRING}\s*(?:,|$)|[\[{{]\s*(?:[\"\[{{\d]|$)|$))"
)


class Prolog(NamedTuple):
    """Beginning of an XML file: its root element, and the address of its DTD or empty."""

    root: str
    doctype: str


class Element(ET.Element):
    """An XML element that knows the line of its start tag."""

    line: int = 0


class _RootReachedError(Exception):
    """Ends the parse: the prolog is known."""


def is_markup(line: str) -> bool:
    """Tell whether a file that begins with a line is XML, HTML or JSON, and no list of names."""
    return _MARKUP.match(line) is not None


def guard_entities(path: str | Path, parser: expat.XMLParserType) -> None:
    """Let a parser refuse entities that are no short text, and those that nobody declares."""

    def declare(
        name: str, is_parameter: bool, value: str | None, _base: object, *_external: object
    ) -> None:
        if is_parameter or value is None or len(value) > _LONGEST_ENTITY or set(value) & set("&<%"):
            raise ReadError(
                path,
                f"declares the entity {name!r}, and only entities that stand for a text of up to "
                f"{_LONGEST_ENTITY} characters are read: write that text where the entity stands, "
                "or get the file from its publisher",
                line=parser.CurrentLineNumber,
            )

    def skip(name: str, _is_parameter: bool) -> None:
        raise ReadError(
            path,
            f"uses the entity {name!r}, which it does not declare: write the character itself",
            line=parser.CurrentLineNumber,
        )

    parser.EntityDeclHandler = declare
    parser.SkippedEntityHandler = skip


def read_prolog(path: str | Path) -> Prolog:
    """Read an XML file up to its root element; see `guard_entities`."""
    doctype = ""

    def start_doctype(_name: str, system: str | None, _public: str | None, _internal: bool) -> None:
        nonlocal doctype
        doctype = system or ""

    def start_element(name: str, _attributes: dict[str, str]) -> None:
        raise _RootReachedError(name)

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = start_doctype
    guard_entities(path, parser)
    parser.StartElementHandler = start_element
    with open_bytes(path) as source:
        try:
            for _ in range(_MAX_PROLOG // _PIECE):
                piece = source.read(_PIECE)
                parser.Parse(piece, not piece)
            raise ReadError(path, f"has no root element in its first {_MAX_PROLOG:,} bytes")
        except _RootReachedError as reached:
            return Prolog(reached.args[0], doctype)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise ReadError(
                path, f"is not XML ({error})", line=getattr(error, "lineno", None)
            ) from error


def check_xml(path: str | Path, content: bytes, *, most: int) -> None:
    """Refuse entities, as `guard_entities` does, and elements nested deeper than `most`.

    Other faults are left to the parser that reads the file.
    """
    depth = 0
    parser = expat.ParserCreate()

    def start(tag: str, _attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > most:
            raise ReadError(
                path,
                f"<{tag}> is nested {depth:,} elements deep, and at most {most:,} were expected: "
                "save the ontology as Turtle or N-Triples (ROBOT and Protégé do), or get it from "
                "its publisher",
                line=parser.CurrentLineNumber,
            )

    def end(_tag: str) -> None:
        nonlocal depth
        depth -= 1

    guard_entities(path, parser)
    parser.StartElementHandler, parser.EndElementHandler = start, end
    with contextlib.suppress(expat.ExpatError, LookupError, ValueError):
        for at in range(0, len(content), _PIECE):
            parser.Parse(content[at : at + _PIECE], False)


def read_elements(path: str | Path, tags: Collection[str]) -> Iterator[ET.Element]:
    """Yield the elements named in `tags`, each complete, in the order of the file.

    Memory holds one element: each is gone once the next one is asked for. Call `read_prolog`
    first, which refuses entities. Twice as fast as `read_numbered_elements`.
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
            raise _malformed(path, error, error.position[0]) from error


def read_numbered_elements(path: str | Path, tags: Collection[str]) -> Iterator[Element]:
    """Yield the elements named in `tags`, none inside another, each with its line.

    Memory holds one element. Entities are refused, and a document type definition that the file
    names is not looked at.
    """
    parser = expat.ParserCreate()
    parser.buffer_text, parser.buffer_size = True, _TEXT_PIECE
    open_elements: list[Element] = []
    ready: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes)
        element.line = parser.CurrentLineNumber
        # Content outside of the wanted elements is not kept, so nothing piles up.
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

    guard_entities(path, parser)
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text
    with open_bytes(path) as source:
        more = True
        while more:
            piece = source.read(_PIECE)
            more = bool(piece)
            try:
                parser.Parse(piece, not more)
            except (expat.ExpatError, LookupError, ValueError) as error:
                line = getattr(error, "lineno", parser.CurrentLineNumber)
                raise _malformed(path, error, line) from error
            yield from ready
            ready.clear()


def _malformed(path: str | Path, error: Exception, line: int) -> ReadError:
    return ReadError(
        path,
        f"the XML is malformed or ends too early ({error}): copy or download it again",
        line=line,
    )


def read_json(path: str | Path) -> Iterator[tuple[Any, int]]:
    """Yield the JSON values of a file, one or many after each other, each with its first line.

    The file is read as a whole.
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
