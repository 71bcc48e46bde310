"""Documents written as BioC, XML or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

from canonym.corpora.gold import written_ids
from canonym.corpora.spans import mention_pieces
from canonym.errors import InvalidInput
from canonym.types import Document

__all__ = ["SYNTAXES", "write_bioc"]

SYNTAXES: tuple[str, ...] = ("xml", "json")
"""The syntaxes of BioC."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
        What stands before the first line end of a text becomes the title passage and the rest the
        abstract, unless a mention runs across; then the text is one passage. Mentions need offsets.
    stream : text stream
        Where to write to.
    syntax : str
        One of `SYNTAXES`.
    source, date : str
        What the collection says of itself.

    Returns
    -------
    int
        Number of documents written.

    Raises
    ------
    InvalidInput
        If the syntax is unknown, a mention has no offsets or other text at its offsets, an id holds
        a bar or a plus, or a text holds a character that XML cannot.

    Notes
    -----
    The type, the ids and their rule are the infons ``type`` and ``identifier``; a mention without
    either has no such infon.
    """
    if syntax not in SYNTAXES:
        raise InvalidInput(f"syntax={syntax!r} is not known; use one of {', '.join(SYNTAXES)}")
    head = {"source": source, "date": date, "key": ""}
    write = _xml_document if syntax == "xml" else _json_document
    n = 0
    if syntax == "xml":
        stream.write('<?xml version="1.0" encoding="UTF-8"?>\n<collection>\n')
        stream.writelines(f"  <{key}>{_escaped(value)}</{key}>\n" for key, value in head.items())
    else:
        stream.write(json.dumps(head | {"infons": {}})[:-1])
        stream.write(', "documents": [')
    for document in documents:
        if syntax == "json":
            stream.write(",\n" if n else "\n")
        stream.write(write(_content(document)))
        n += 1
    stream.write("</collection>\n" if syntax == "xml" else "\n]}\n")
    return n


def _content(document: Document) -> dict[str, Any]:
    """Lay a document out as BioC JSON does."""
    if not document.id:
        raise InvalidInput("a document has no id, which BioC needs")
    text = document.text
    annotations: list[dict[str, Any]] = []
    for i, mention in enumerate(document.mentions):
        infons = {"type": mention.type, "identifier": written_ids(mention)}
        places = [{"offset": a, "length": b - a} for a, b in mention_pieces(text, mention)]
        annotations.append(
            {
                "id": str(i),
                "infons": {key: value for key, value in infons.items() if value},
                "text": mention.text,
                "locations": places,
            }
        )
    cut = text.find("\n")
    # A gap of one character is read back as a line end, but only between two texts.
    across = any(
        place["offset"] <= cut < place["offset"] + place["length"]
        for annotation in annotations
        for place in annotation["locations"]
    )
    whole = cut <= 0 or cut == len(text) - 1 or across
    bounds = [(0, len(text))] if whole else [(0, cut), (cut + 1, len(text))]
    passages: list[dict[str, Any]] = []
    for kind, (start, end) in zip(("title", "abstract"), bounds, strict=False):
        inside = [a for a in annotations if start <= a["locations"][0]["offset"] < end]
        passages.append(
            {
                "infons": {} if whole else {"type": kind},
                "offset": start,
                "text": text[start:end],
                "sentences": [],
                "annotations": inside,
                "relations": [],
            }
        )
    return {
        "id": document.id,
        "infons": {},
        "passages": passages,
        "annotations": [],
        "relations": [],
    }


def _json_document(content: dict[str, Any]) -> str:
    return json.dumps(content)


def _xml_document(content: dict[str, Any]) -> str:
    lines = ["  <document>", f"    <id>{_escaped(content['id'])}</id>"]
    for passage in content["passages"]:
        lines.append("    <passage>")
        lines.extend(f"      {infon}" for infon in _infons(passage["infons"]))
        lines.append(f"      <offset>{passage['offset']}</offset>")
        lines.append(f"      <text>{_escaped(passage['text'])}</text>")
        for annotation in passage["annotations"]:
            lines.append(f"      <annotation id={quoteattr(annotation['id'])}>")
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
    return [
        f"<infon key={quoteattr(key)}>{_escaped(value)}</infon>" for key, value in infons.items()
    ]


def _escaped(text: str) -> str:
    unfit = _NOT_IN_XML.search(text)
    if unfit:
        raise InvalidInput(
            f"the character U+{ord(unfit[0]):04X} cannot stand in XML; use syntax='json'"
        )
    # A bare carriage return would come back as a line end.
    return escape(text, {"\r": "&#13;"})
