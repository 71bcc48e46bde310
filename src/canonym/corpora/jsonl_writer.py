"""Documents and mentions written as JSON lines; `canonym.corpora.jsonl` says what is in them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any

from canonym.errors import InvalidInput
from canonym.types import Document, Mention

__all__ = ["write_jsonl_documents", "write_jsonl_mentions"]


def write_jsonl_documents(documents: Iterable[Document], stream: IO[str]) -> int:
    """Write one document a line, which `canonym.corpora.jsonl.read_jsonl_documents` reads back.

    Parameters
    ----------
    documents : iterable of Document
        Mentions need offsets, and the text that stands there.
    stream : text stream
        Where to write to, in any encoding: what is not ASCII is escaped.

    Returns
    -------
    int
        Number of documents written.

    Raises
    ------
    InvalidInput
        If a mention has no offsets, or another text than the document has there.

    Examples
    --------
    >>> import sys
    >>> mention = Mention("hip", 0, 3, ids=("D1",))
    >>> _ = write_jsonl_documents([Document("7", "hip.", (mention,))], sys.stdout)
    {"id": "7", "text": "hip.", "mentions": [{"start": 0, "end": 3, "text": "hip", "ids": ["D1"]}]}
    """
    n = 0
    for document in documents:
        mentions = []
        for mention in document.mentions:
            start, end = mention.start, mention.end
            there = None if start is None or end is None else document.text[start:end]
            if there != mention.text:
                raise InvalidInput(
                    f"mention {mention.text[:60]!r} of document {document.id!r} has "
                    + ("no offsets" if there is None else f"{there[:60]!r} at its offsets")
                    + "; write mentions a line instead"
                )
            place = {"start": start, "end": end, "text": mention.text}
            mentions.append(place | _about(mention))
        _write(stream, {"id": document.id, "text": document.text, "mentions": mentions})
        n += 1
    return n


def write_jsonl_mentions(mentions: Iterable[Mention], stream: IO[str]) -> int:
    """Write one mention a line, which `canonym.corpora.jsonl.read_jsonl_mentions` reads back.

    Parameters
    ----------
    mentions : iterable of Mention
        Any.
    stream : text stream
        Where to write to.

    Returns
    -------
    int
        Number of mentions written.
    """
    n = 0
    for mention in mentions:
        optional = {
            "start": mention.start,
            "end": mention.end,
            "document": mention.document_id or None,
            "context": mention.context or None,
        }
        found = {key: value for key, value in optional.items() if value is not None}
        _write(stream, {"mention": mention.text} | found | _about(mention))
        n += 1
    return n


def _about(mention: Mention) -> dict[str, Any]:
    """Return what a mention has beside its place; what is empty or usual is left out."""
    found: dict[str, Any] = {}
    if mention.type:
        found["type"] = mention.type
    if mention.ids:
        found["ids"] = list(mention.ids)
    if mention.rule != "any":
        found["rule"] = mention.rule
    return found


def _write(stream: IO[str], content: dict[str, Any]) -> None:
    stream.write(json.dumps(content, ensure_ascii=True) + "\n")
