"""RDF files parsed into a graph by rdflib, without fetching anything."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput, ReadError, require
from canonym.streams import open_bytes

__all__ = ["FORMATS", "parse_rdf"]

FORMATS = ("xml", "turtle", "json-ld")
"""Syntaxes that `parse_rdf` reads; N-Triples are Turtle."""


def parse_rdf(path: str | Path, *, syntax: str | None = None) -> Any:
    """Parse RDF/XML, Turtle, N-Triples or JSON-LD, plain or compressed.

    Parameters
    ----------
    path : str or Path
        The file.
    syntax : str, optional
        One of `FORMATS`; by default told by the content.

    Returns
    -------
    rdflib.Graph
        All statements of the file.

    Raises
    ------
    MissingExtra
        If rdflib is not installed.
    InvalidInput
        If `syntax` is unknown.
    ReadError
        If the file is in another syntax, malformed, or refers to a remote JSON-LD context.
    """
    if syntax is not None and syntax not in FORMATS:
        raise InvalidInput(f"syntax={syntax!r} is unknown: use one of {', '.join(FORMATS)}")
    rdflib = require("rdflib", "reading OWL and SKOS", "owl")
    path = Path(path)
    with open_bytes(path) as source:
        content = source.read()
    if syntax is None:
        syntax = _detect(path, content)
    if syntax == "json-ld":
        _refuse_remote_contexts(path, content)
    graph = rdflib.Graph()
    with _quiet():
        try:
            graph.parse(data=content, format=syntax, publicID="file:///")
        except Exception as error:  # rdflib lets the errors of its parsers through, of every kind
            raise ReadError(
                path,
                f"is not well-formed {syntax} ({' '.join(str(error).split())[:200]})",
                line=_line(error),
            ) from error
    return graph


def _line(error: Exception) -> int | None:
    """Line of a parser's error, counted from 1."""
    if hasattr(error, "getLineNumber"):  # XML
        return int(error.getLineNumber())
    lines = getattr(error, "lines", None)  # Turtle: line ends before the error
    return lines + 1 if isinstance(lines, int) else None


def _detect(path: Path, content: bytes) -> str:
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"{", b"[")):
        return "json-ld"
    head = content[:65536]
    if b"<Ontology" in head and b"<rdf:RDF" not in head:
        raise ReadError(path, "is OWL/XML: save it as RDF/XML or Turtle (ROBOT and Protégé do)")
    if start.startswith((b"Prefix(", b"Ontology(", b"Prefix:", b"Ontology:")):
        raise ReadError(
            path, "is in OWL functional or Manchester syntax: save it as RDF/XML or Turtle"
        )
    if start.startswith((b"<?xml", b"<!DOCTYPE", b"<!--", b"<rdf:")) or b"<rdf:RDF" in head:
        return "xml"
    return "turtle"


def _refuse_remote_contexts(path: Path, content: bytes) -> None:
    """Keep rdflib from fetching a JSON-LD context: canonym works offline."""
    try:
        pending = [json.loads(content)]
    except (ValueError, RecursionError) as error:
        raise ReadError(
            path, f"is not JSON ({error})", line=getattr(error, "lineno", None)
        ) from error
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            contexts = item.get("@context", [])
            for context in contexts if isinstance(contexts, list) else [contexts]:
                remote = context.get("@import") if isinstance(context, dict) else context
                if isinstance(remote, str):
                    raise ReadError(
                        path,
                        f"refers to the context {remote!r}, which is not fetched: put the context "
                        "itself into the file, or convert it to Turtle",
                    )
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep rdflib from logging every ill-typed date with a traceback."""
    logger = logging.getLogger("rdflib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
