"""BioC, in XML and in JSON: documents of passages with annotations.

``docs/formats/corpora.md`` lists the elements that are read. Between two passages stands a line end
and, in wider gaps, spaces, so that offsets stay right. They count code points. Programs in Java
count UTF-16 units and others bytes: a document whose annotations all hold their text when counted
so, and do not otherwise, is read that way.

References
----------
Comeau et al. (2013), BioC: a minimalist approach to interoperability for biomedical text
processing.
"""

from __future__ import annotations

import contextlib
import html
import json
import logging
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from canonym.corpora.gold import parse_ids, written_ids
from canonym.corpora.offsets import (
    PIECES,
    Piece,
    join_pieces,
    mention_pieces,
    pieces_problem,
    whole_number,
)
from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_bytes
from canonym.io.xml import NOT_IN_XML, Element, read_json, read_numbered_elements
from canonym.types import Document, Mention

_log = logging.getLogger(__name__)

ID_KEYS: tuple[str, ...] = (
    *("identifier", "MESH", "MEDIC", "OMIM", "CUI", "UMLS", "SNOMEDCT", "concept_id"),
    *("NCBI Gene", "NCBI Taxonomy", "NCBI Homologene"),
)
"""Infons that hold ids; the first that an annotation has counts. Case is ignored."""

COMPOSITES: tuple[str, ...] = ("whole", "parts", "both")
"""Which annotations of a composite are read: itself, its parts, or both (they overlap)."""

_LARGEST_GAP = 10_000_000


class _Options(NamedTuple):
    id_keys: Sequence[str]
    composites: str
    pieces: str


def read_bioc(
    path: str | Path,
    *,
    id_keys: Sequence[str] = ID_KEYS,
    composites: str = "whole",
    pieces: str = "join",
) -> Iterator[Document]:
    """Read the documents of a BioC file, XML or JSON, plain or compressed.

    XML is read one document at a time, JSON as a whole. A JSON file may hold a collection, a list
    of documents, an answer of the PubTator service, or one of these on each line.

    Parameters
    ----------
    path : str or Path
        The file; its first character tells the syntax.
    id_keys : sequence of str
        Infons that hold ids; the first that an annotation has counts.
    composites : str
        One of `COMPOSITES`.
    pieces : str
        Treatment of mentions in several pieces, one of `canonym.corpora.offsets.PIECES`.

    Yields
    ------
    Document
        With its mentions in the order of the file.

    Raises
    ------
    ReadError
        If the file is not BioC, offsets are missing or do not hold the text, passages overlap, or
        there is no document at all.
    InvalidInput
        If an option is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "one.json"
    >>> _ = file.write_text('''{"documents": [{"id": "7", "passages": [{"offset": 0,
    ... "text": "Broken hip", "annotations": [{"id": "a", "infons": {"identifier": "MESH:D006620"},
    ... "text": "hip", "locations": [{"offset": 7, "length": 3}]}]}]}]}''')
    >>> [mention.ids for mention in next(read_bioc(file)).mentions]
    [('MESH:D006620',)]
    """
    if composites not in COMPOSITES:
        raise InvalidInput(
            f"composites={composites!r} is not known; use one of {', '.join(COMPOSITES)}"
        )
    if pieces not in PIECES:
        raise InvalidInput(f"pieces={pieces!r} is not known; use one of {', '.join(PIECES)}")
    options = _Options(tuple(key.lower() for key in id_keys), composites, pieces)
    documents: Iterator[tuple[Any, int]] = _from_json(path)
    with open_bytes(path) as source:
        start = source.read(256).lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")
    if start.startswith(b"<"):
        elements = read_numbered_elements(path, ("document",))
        documents = ((_document_element(element), element.line) for element in elements)
    n = 0
    copies: list[str] = []
    for content, line in documents:
        yield _read_document(content, path, line, options, copies)
        n += 1
    if not n:
        raise ReadError(path, "holds no document: a BioC collection of at least one was expected")
    if copies:
        _log.warning(
            "%s: %d annotations write another text than their offsets hold, a copy in ASCII; the "
            "first is %s. The mention is what the offsets hold.", path, len(copies), copies[0],
        )  # fmt: skip


def _document_element(element: Element) -> dict[str, Any]:
    return {
        "id": element.findtext("id"),
        "passages": [
            _text_element(passage)
            | {"sentences": [_text_element(part) for part in passage.iterfind("sentence")]}
            for passage in element.iterfind("passage")
        ],
        "annotations": _annotation_elements(element),
    }


def _text_element(element: ET.Element) -> dict[str, Any]:
    return {
        "offset": element.findtext("offset"),
        "text": element.findtext("text"),
        "annotations": _annotation_elements(element),
        "line": getattr(element, "line", None),
    }


def _annotation_elements(parent: ET.Element) -> list[dict[str, Any]]:
    return [
        {
            "id": element.get("id"),
            "infons": {i.get("key", ""): i.text or "" for i in element.iterfind("infon")},
            "locations": [dict(place.attrib) for place in element.iterfind("location")],
            "text": element.findtext("text"),
            "line": getattr(element, "line", None),
        }
        for element in parent.iterfind("annotation")
    ]


def _from_json(path: str | Path) -> Iterator[tuple[Any, int]]:
    for value, line in read_json(path):
        for collection in value if isinstance(value, list) else [value]:
            if not isinstance(collection, dict):
                raise ReadError(
                    path, "holds no BioC: an object with documents was expected", line=line
                )
            inside = [collection[key] for key in ("documents", "PubTator3") if key in collection]
            for document in inside[0] if inside and isinstance(inside[0], list) else [collection]:
                yield document, line


class _Unit(NamedTuple):
    """What offsets count, as an encoding and the bytes of one unit in it."""

    encoding: str
    width: int

    def count(self, text: str) -> int:
        return len(text.encode(self.encoding, "surrogatepass")) // self.width

    def cut(self, text: str, n: int) -> str | None:
        """Return the first `n` units; None if they end inside a character."""
        start = text.encode(self.encoding, "surrogatepass")[: n * self.width]
        try:
            return start.decode(self.encoding, "surrogatepass")
        except UnicodeDecodeError:
            return None


_CODE_POINTS = _Unit("utf-32-le", 4)
_OTHER_UNITS = (_Unit("utf-16-le", 2), _Unit("utf-8", 1))


def _read_document(
    content: Any, path: str | Path, line: int, options: _Options, copies: list[str]
) -> Document:
    """Read a document; note the annotations that write a copy of their text."""
    reader = _Reader(path, line, options)
    try:
        document = reader.document(content)
        copies.extend(reader.copies)
        return document
    except ReadError:
        for unit in _OTHER_UNITS:
            other = _Reader(path, line, options, unit)
            with contextlib.suppress(ReadError):
                document = other.document(content)
                if other.verified:
                    copies.extend(other.copies)
                    _log.info("%s: offsets of %r count in %s", path, document.id, unit.encoding)
                    return document
        raise


class _Reader:
    """One document of a file, being read.

    `verified` tells whether annotations say what they hold, and all that do hold it.
    """

    def __init__(
        self, path: str | Path, line: int, options: _Options, unit: _Unit = _CODE_POINTS
    ) -> None:
        self.path = path
        self.line = line
        self.options = options
        self.unit = unit
        self.id = ""
        self.text = ""
        self.verified = False
        self.copies: list[str] = []
        self._end = 0  # of the text, in units
        self._parts: list[tuple[int, int, str]] = []  # start in units and in the text, the part

    def error(self, problem: str, part: Any = None) -> ReadError:
        line = part.get("line") if isinstance(part, dict) else None
        where = f"document {self.id!r}: " if self.id else ""
        return ReadError(self.path, where + problem, line=line or self.line)

    def document(self, content: Any) -> Document:
        if not isinstance(content, dict) or not isinstance(content.get("passages"), list):
            raise self.error("holds no BioC: a document with passages was expected")
        if content.get("id") in (None, ""):
            raise self.error("a document has no id")
        self.id = str(content["id"])
        annotations = self.parts(content, "annotations")
        for passage in self.parts(content, "passages"):
            sentences = self.parts(passage, "sentences")
            for part in [passage] if passage.get("text") or not sentences else sentences:
                self.add_text(part)
            for part in (passage, *sentences):
                annotations.extend(self.parts(part, "annotations"))
        mentions = (self.mention(annotation) for annotation in annotations)
        return Document(self.id, self.text, tuple(m for m in mentions if m is not None))

    def parts(self, content: dict[str, Any], key: str) -> list[dict[str, Any]]:
        parts = content.get(key) or []
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            raise self.error(f"{key!r} is no list of objects", content)
        return list(parts)

    def number(self, part: dict[str, Any], key: str, owner: dict[str, Any]) -> int:
        number = part.get(key)
        value = whole_number(number.strip()) if isinstance(number, str) else number
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.error(f"the {key} is {number!r:.80}; a whole number is expected", owner)
        return value

    def add_text(self, part: dict[str, Any]) -> None:
        offset = self.number(part, "offset", part)
        text = part.get("text") or ""
        if not isinstance(text, str):
            raise self.error("the text of a passage is no string", part)
        gap = offset - self._end
        if gap < 0:
            raise self.error(
                f"a passage starts at {offset:,}, inside the former one, which ends at "
                f"{self._end:,}: offsets count code points from the start of the document",
                part,
            )
        if gap > _LARGEST_GAP:
            raise self.error(f"a passage starts {gap:,} characters after the former one", part)
        if text:
            self.text += "\n" + " " * (gap - 1) if gap else ""
            self._parts.append((offset, len(self.text), text))
            self.text += text
            self._end = offset + (len(text) if self.unit is _CODE_POINTS else self.unit.count(text))

    def place(self, offset: int, owner: dict[str, Any]) -> int:
        """Return where in the text an offset is."""
        if self.unit is _CODE_POINTS:
            return offset
        for start, at, text in reversed(self._parts):
            if offset >= start:
                before = self.unit.cut(text, offset - start)
                if before is None:
                    raise self.error("an offset is inside a character", owner)
                beyond = max(0, offset - start - self.unit.count(text))
                return at + len(before) + beyond
        raise self.error(f"the offset {offset:,} is before the text", owner)

    def mention(self, annotation: dict[str, Any]) -> Mention | None:
        infons = annotation.get("infons") or {}
        if not isinstance(infons, dict):
            raise self.error("'infons' is no object", annotation)
        values = {str(key).lower(): value for key, value in infons.items() if value is not None}
        role = str(values.get("compositerole", "")).lower()
        skipped = {"whole": "individualmention", "parts": "compositemention"}
        if role and role == skipped.get(self.options.composites):
            return None
        spans: list[Piece] = []
        for place in self.parts(annotation, "locations"):
            start = self.number(place, "offset", annotation)
            end = start + self.number(place, "length", annotation)
            spans.append((self.place(start, annotation), self.place(end, annotation)))
        spans.sort()
        written = annotation.get("text")
        if problem := pieces_problem(self.text, spans, str(written) if written else None):
            raise self.error(f"annotation {annotation.get('id')!r}: {problem}", annotation)
        self.verified = self.verified or bool(written)
        covered = join_pieces(self.text, spans, how="cover")
        forms = [covered, join_pieces(self.text, spans)]
        if written and not any(str(written).split() == form.split() for form in forms):
            self.copies.append(f"{str(written)[:60]!r} for {covered[:60]!r} in {self.id!r}")
        ids = next((str(values[key]) for key in self.options.id_keys if key in values), "")
        gold, rule = parse_ids(ids, composite="|;")
        text = join_pieces(self.text, spans, how=self.options.pieces)
        type_, start, end = str(values.get("type", "")), spans[0][0], spans[-1][1]
        return Mention(text, start, end, type_, gold, rule, self.id)


# --- writing --------------------------------------------------------------------------------------

SYNTAXES: tuple[str, ...] = ("xml", "json")
"""The syntaxes of BioC."""


def write_bioc(
    documents: Iterable[Document],
    stream: IO[str],
    *,
    syntax: str = "xml",
    source: str = "",
    date: str = "",
) -> int:
    """Write documents as one BioC collection, which `canonym.corpora.bioc.read_bioc` reads back.

    Parameters
    ----------
    documents : iterable of Document
        The text before the first line end becomes the title passage and the rest the abstract,
        unless a mention runs across; then the text is one passage. Mentions need offsets.
    stream : text stream
        Target.
    syntax : str
        One of `SYNTAXES`.
    source, date : str
        Recorded in the head of the collection.

    Returns
    -------
    int
        Number of documents written.

    Raises
    ------
    InvalidInput
        If the syntax is unknown, the offsets of a mention do not hold its text, or an id or a text
        cannot be written.

    Notes
    -----
    The type is the infon ``type``, the ids and their rule are ``identifier``.
    """
    writer = BioCWriter(stream, syntax=syntax, source=source, date=date)
    for document in documents:
        writer.write(document)
    writer.close()
    return writer.n


class BioCWriter:
    """Writes the documents of `write_bioc` one at a time; `n` counts them."""

    def __init__(
        self, stream: IO[str], *, syntax: str = "xml", source: str = "", date: str = ""
    ) -> None:
        if syntax not in SYNTAXES:
            raise InvalidInput(f"syntax={syntax!r} is not known; use one of {', '.join(SYNTAXES)}")
        self.n = 0
        self._stream = stream
        self._xml = syntax == "xml"
        head = {"source": source, "date": date, "key": ""}
        if self._xml:
            lines = [f"  <{key}>{_escaped(value)}</{key}>\n" for key, value in head.items()]
            self._head = "".join(('<?xml version="1.0" encoding="UTF-8"?>\n<collection>\n', *lines))
        else:
            self._head = json.dumps(head | {"infons": {}})[:-1] + ', "documents": ['

    def write(self, document: Document, infons: Sequence[Mapping[str, str]] = ()) -> None:
        """Write a document; `infons` are further facts about its mentions, in order."""
        content = _content(document, infons)
        between = ",\n" if self.n else "\n"
        text = _xml_document(content) if self._xml else between + json.dumps(content)
        self._stream.write(self._head + text)
        self._head = ""
        self.n += 1

    def close(self) -> None:
        """Write the end of the collection."""
        self._stream.write(self._head + ("</collection>\n" if self._xml else "\n]}\n"))


def _content(document: Document, further: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """Lay a document out as BioC JSON does."""
    if not document.id:
        raise InvalidInput("a document has no id, which BioC needs")
    text = document.text
    annotations: list[dict[str, Any]] = []
    for i, mention in enumerate(document.mentions):
        infons = {"type": mention.type, "identifier": written_ids(mention)}
        infons |= further[i] if further else {}
        infons = {key: value for key, value in infons.items() if value}
        places = [{"offset": a, "length": b - a} for a, b in mention_pieces(text, mention)]
        whole = {"id": str(i), "infons": infons, "text": mention.text, "locations": places}
        annotations.append(whole)
    cut = text.find("\n")
    # A gap of one character is read back as a line end, but only between two texts.
    across = any(
        place["offset"] <= cut < place["offset"] + place["length"]
        for annotation in annotations
        for place in annotation["locations"]
    )
    alone = cut <= 0 or cut == len(text) - 1 or across
    bounds = [(0, len(text))] if alone else [(0, cut), (cut + 1, len(text))]
    passages: list[dict[str, Any]] = []
    for kind, (start, end) in zip(("title", "abstract"), bounds, strict=False):
        inside = [a for a in annotations if start <= a["locations"][0]["offset"] < end]
        head = {"infons": {} if alone else {"type": kind}, "offset": start, "text": text[start:end]}
        passages.append(head | {"sentences": [], "annotations": inside, "relations": []})
    rest: dict[str, Any] = {"annotations": [], "relations": []}
    return {"id": document.id, "infons": {}, "passages": passages} | rest


def _xml_document(content: dict[str, Any]) -> str:
    lines = ["  <document>", f"    <id>{_escaped(content['id'])}</id>"]
    for passage in content["passages"]:
        lines.append("    <passage>")
        lines.extend(f"      {infon}" for infon in _infons(passage["infons"]))
        lines.append(f"      <offset>{passage['offset']}</offset>")
        lines.append(f"      <text>{_escaped(passage['text'])}</text>")
        for annotation in passage["annotations"]:
            lines.append(f"      <annotation id={_quoted(annotation['id'])}>")
            lines.extend(f"        {infon}" for infon in _infons(annotation["infons"]))
            lines.extend(
                f'        <location offset="{place["offset"]}" length="{place["length"]}"/>'
                for place in annotation["locations"]
            )
            lines.append(f"        <text>{_escaped(annotation['text'])}</text>")
            lines.append("      </annotation>")
        lines.append("    </passage>")
    lines.append("  </document>")
    return "\n".join(lines) + "\n"


def _infons(infons: dict[str, str]) -> list[str]:
    return [f"<infon key={_quoted(key)}>{_escaped(value)}</infon>" for key, value in infons.items()]


def _escaped(text: str) -> str:
    if unfit := NOT_IN_XML.search(text):
        raise InvalidInput(
            f"the character U+{ord(unfit[0]):04X} cannot stand in XML; use syntax='json'"
        )
    # A bare carriage return would come back as a line end.
    return html.escape(text, quote=False).replace("\r", "&#13;")


def _quoted(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # loads an HTTP client, which no reader needs

    return quoteattr(text)
