"""JSON lines: one document a line, or one mention a line; or a JSON list of these.

::

    {"id": "1", "text": "A broken hip.", "mentions": [{"start": 2, "end": 12, "type": "Disease"}]}
    {"mention": "broken hip", "context": "A broken hip.", "type": "Disease", "ids": ["D006620"]}

=============  =========================  ========================================================
key            of                         value
=============  =========================  ========================================================
``text``       document (required)        the text
``id``         document                   string or number; the line's number when missing
``mentions``   document                   list of mentions, none when missing
``start``,     mention of a document      half-open code-point offsets in the text
``end``        (required)
``text``       mention of a document      optional; checked against the offsets
``mention``    mention a line (required)  the mention; ``start`` and ``end`` are kept when given
``context``    mention a line             text around it
``document``   mention a line             id of the document it is from
``type``       mention                    entity type
``ids``        mention                    gold ids: a list of strings, or one string
``rule``       mention                    ``any`` (default), ``all`` or ``nil``, see
                                          `canonym.corpora.gold`
=============  =========================  ========================================================

Other keys are ignored, so the output of ``canonym link`` can be read again. null, NaN and a key
that is left out mean no value: programs write a missing value in each of these ways. A line without
a mention is an empty one, so that lines and rows stay in step; a file without any is refused.

A file may also be one list, ``["broken hip", …]`` or ``[{…}, …]``, which is read as a whole; a
string in it is a mention. `is_json` recognises both, and `open_jsonl` tells documents from
mentions."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from canonym.corpora.gold import RULES
from canonym.corpora.offsets import span_problem
from canonym.corpora.tables import NO_VALUE
from canonym.errors import InvalidInput, ReadError
from canonym.io.cells import cell_text
from canonym.io.encodings import without_surrogates
from canonym.io.streams import open_text
from canonym.io.xml import JSON_STRING
from canonym.regex import regex
from canonym.types import Document, Mention

_log = logging.getLogger(__name__)

# Not "[18F]FDG", "[ ] gout" or "{gout}", which are names.
_BEGINS = regex(
    rf"\ufeff?\s*(?:\{{\s*(?:{JSON_STRING}\s*(?::|\Z)|\}}[ \t\r]*(?:\n|\Z))"
    rf"|\[\s*(?:{JSON_STRING}\s*(?:,|\]\s*\Z|\Z)|\]\s*\Z|\{{\s*(?:{JSON_STRING}\s*:|\}})))"
)
_SEPARATOR = regex(r"\s*([,\]])\s*")
_MOST_WITHOUT = 10_000  # lines before the first with a mention; they have to be held


def read_jsonl_documents(path: str | Path, *, encoding: str = "utf-8") -> Iterator[Document]:
    """Read a file of one document a line, plain or compressed.

    Parameters
    ----------
    path : str or Path
        The file.
    encoding : str
        Encoding of the text.

    Yields
    ------
    Document
        In the order of the file; blank lines are left out.

    Raises
    ------
    ReadError
        If a line is no JSON object, lacks a key, has a value of the wrong type, or its offsets are
        wrong.
    """
    with open_text(path, encoding=encoding) as lines:
        yield from _documents(_records(lines, path))


def read_jsonl_mentions(path: str | Path, *, encoding: str = "utf-8") -> Iterator[Mention]:
    """Read a file of one mention a line, plain or compressed.

    Parameters and errors are those of `read_jsonl_documents`.

    Yields
    ------
    Mention
        In the order of the file; an empty one for a line without a mention.
    """
    with open_text(path, encoding=encoding) as lines:
        yield from parse_jsonl_mentions(lines, path)


def is_json(beginning: str) -> bool:
    """Tell whether a text begins as JSON lines do, or a JSON list of strings or objects.

    >>> is_json('{"mention": "hip"}'), is_json('[\\n  "hip",'), is_json("[ ] hip")
    (True, True, False)
    """
    return _BEGINS.match(beginning) is not None


def open_jsonl(
    lines: Iterable[str], path: str | Path
) -> tuple[bool, Iterator[Document] | Iterator[Mention]]:
    """Tell by the first object whether lines hold documents, and read these or mentions."""
    records = _records(lines, path)
    first = next(records, None)
    keys = first.content.keys() if first else set()
    every = itertools.chain([first] if first else [], records)
    if "mention" not in keys and keys & {"text", "mentions"}:
        return True, _documents(every)
    return False, _mentions(every)


def parse_jsonl_mentions(lines: Iterable[str], path: str | Path) -> Iterator[Mention]:
    """Read mentions from lines; errors name `path`."""
    return _mentions(_records(lines, path))


def parse_jsonl_rows(lines: Iterable[str], path: str | Path) -> Iterator[list[str]]:
    """Read objects as the rows of a table, its header first; errors name `path`.

    The columns are the keys of all objects, in the order in which they appear. Values of a list are
    joined by a bar.
    """
    rows = [record.content for record in _records(lines, path)]
    columns = list(dict.fromkeys(key for row in rows for key in row)) or ["mention"]
    yield columns
    for row in rows:
        yield [_cell(row.get(column)) for column in columns]


def _cell(value: Any) -> str:
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return "|".join(map(_cell, value))
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value != value else cell_text(value)


def _documents(records: Iterable[_Record]) -> Iterator[Document]:
    for record in records:
        text = record.text("text", required="text" not in record.content)
        id_ = record.value("id")
        id_ = record.line if id_ is None else id_
        if not isinstance(id_, str | int) or isinstance(id_, bool):
            raise record.error(f"'id' is {_shown(id_)}; a string or a whole number is expected")
        mentions = record.value("mentions") or []
        if not isinstance(mentions, list):
            raise record.error(f"'mentions' is {_shown(mentions)}; a list is expected")
        document_mentions = tuple(
            _document_mention(record.part(m), text, str(id_)) for m in mentions
        )
        yield Document(str(id_), text, document_mentions)


def _mentions(records: Iterable[_Record]) -> Iterator[Mention]:
    without: list[_Record] = []
    known = False
    for record in records:
        if not known and "mention" not in record.content:
            without.append(record)
            if len(without) > _MOST_WITHOUT:
                break
            continue
        if not known:
            known = True
            yield from map(_line_mention, without)
        yield _line_mention(record)
    if without and not known:
        without[0].text("mention", required=True)  # which it has not


def _line_mention(record: _Record) -> Mention:
    text = record.text("mention")
    text = "" if text.strip() in NO_VALUE else text
    ids, rule = record.gold()
    start, end, type_ = record.offset("start"), record.offset("end"), record.text("type")
    document, context = record.text("document"), record.text("context")
    return Mention(text, start, end, type_, ids, rule, document, context)


def _document_mention(record: _Record, text: str, document_id: str) -> Mention:
    start, end = record.required_offset("start"), record.required_offset("end")
    written = None if record.value("text") is None else record.text("text")
    if problem := span_problem(text, start, end, written):
        raise record.error(problem)
    ids, rule = record.gold()
    return Mention(text[start:end], start, end, record.text("type"), ids, rule, document_id)


class _Record:
    """One JSON object and the line it is from."""

    def __init__(self, content: Any, path: str | Path, line: int) -> None:
        self.path = path
        self.line = line
        if not isinstance(content, dict):
            raise self.error(f"found {_shown(content)}; an object ({{...}}) is expected")
        self.content: dict[str, Any] = content

    def error(self, problem: str) -> ReadError:
        return ReadError(self.path, problem, line=self.line)

    def part(self, content: Any) -> _Record:
        return _Record(content, self.path, self.line)

    def value(self, key: str) -> Any:
        """Return a value; None where it is missing, as null, NaN or without its key."""
        value = self.content.get(key)
        return None if value != value else value

    def text(self, key: str, *, required: bool = False) -> str:
        value = self.value(key)
        if value is None and not required:
            return ""
        if value is None:
            raise self.error(f"the object has no {key!r}; its keys are {', '.join(self.content)}")
        if not isinstance(value, str):
            raise self.error(f"{key!r} is {_shown(value)}; a string is expected")
        return value

    def offset(self, key: str) -> int | None:
        return None if self.value(key) is None else self.required_offset(key)

    def required_offset(self, key: str) -> int:
        value = self.value(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # of a data frame: a column with missing values has no whole numbers
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(f"{key!r} is {_shown(value)}; a whole number is expected")
        return value

    def gold(self) -> tuple[tuple[str, ...], str]:
        ids = self.value("ids") or ()
        ids = [ids] if isinstance(ids, str) else ids
        if not isinstance(ids, list | tuple) or not all(isinstance(id_, str) for id_ in ids):
            raise self.error(f"'ids' is {_shown(ids)}; a list of strings is expected")
        rule = self.text("rule") or "any"
        if rule not in RULES:
            raise self.error(f"'rule' is {rule!r}; one of {', '.join(RULES)} is expected")
        return tuple(ids), rule


def _records(lines: Iterable[str], path: str | Path) -> Iterator[_Record]:
    halves: list[int] = []  # lines with half a character
    for content, written, number in _values(lines, path):
        if "\\ud" in written.lower():  # as half a character is always written
            text = json.dumps(content, ensure_ascii=False)
            if text != without_surrogates(text):
                halves.append(number)
        yield _Record(content, path, number)
    if halves:
        _log.warning(
            "%s: %d lines hold half a character (a lone surrogate such as \\ud800), the first is "
            "line %d: it cannot be written, and becomes U+FFFD", path, len(halves), halves[0],
        )  # fmt: skip


def _values(lines: Iterable[str], path: str | Path) -> Iterator[tuple[Any, str, int]]:
    """Yield the values of JSON lines or of a list, each as it is written, and its line."""
    numbered = enumerate(lines, start=1)
    blank = True
    for number, line in numbered:
        if not line.strip():
            continue
        if blank and line.lstrip("\ufeff \t").startswith("["):
            rest = "".join(line for _, line in numbered)
            yield from _elements(line.lstrip("\ufeff") + rest, path, number)
            return
        blank = False
        try:
            yield json.loads(line), line, number
        except (ValueError, RecursionError) as error:
            raise ReadError(
                path, f"no JSON ({error}): one object a line is expected", line=number
            ) from error


def _elements(text: str, path: str | Path, line: int) -> Iterator[tuple[Any, str, int]]:
    """Yield the elements of a JSON list that begins in a line; a string is a mention."""

    def error(problem: object) -> ReadError:
        problem = f"no JSON ({problem}): a list of strings or objects is expected"
        return ReadError(path, problem, line=line)

    decode = json.JSONDecoder().raw_decode
    at = len(text) - len(text[text.index("[") + 1 :].lstrip())
    before = 0
    while True:
        line += text.count("\n", before, at)
        before = at
        try:
            content, stop = decode(text, at)
        except (ValueError, RecursionError) as reason:
            raise error(getattr(reason, "msg", reason)) from reason
        is_mention = content is None or isinstance(content, str)
        yield {"mention": content} if is_mention else content, text[at:stop], line
        gap = _SEPARATOR.match(text, stop)
        if gap is None:
            raise error("a comma or ] is missing")
        at = gap.end()
        if gap[1] == "]":
            break
    if rest := text[at:]:
        raise error(f"{rest[:20]!r} follows the list")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- writing --------------------------------------------------------------------------------------


def write_jsonl_documents(documents: Iterable[Document], stream: IO[str]) -> int:
    """Write one document a line, which `canonym.corpora.jsonl.read_jsonl_documents` reads back.

    Parameters
    ----------
    documents : iterable of Document
        Mentions need offsets, and the text at their offsets.
    stream : text stream
        Target, in any encoding: characters beyond ASCII are escaped.

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
        Target.

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
        facts = {key: value for key, value in optional.items() if value is not None}
        _write(stream, {"mention": mention.text} | facts | _about(mention))
        n += 1
    return n


def _about(mention: Mention) -> dict[str, Any]:
    """Return the type, ids and rule of a mention; empty and usual values are left out."""
    facts: dict[str, Any] = {}
    if mention.type:
        facts["type"] = mention.type
    if mention.ids:
        facts["ids"] = list(mention.ids)
    if mention.rule != "any":
        facts["rule"] = mention.rule
    return facts


def _write(stream: IO[str], content: dict[str, Any]) -> None:
    stream.write(json.dumps(content, ensure_ascii=True) + "\n")
