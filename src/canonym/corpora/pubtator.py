"""The PubTator format: title, abstract, annotations, a blank line.

::

    8701013|t|Famotidine-associated delirium.
    8701013|a|Famotidine is a histamine H2-receptor antagonist ...
    8701013	0	10	Famotidine	Chemical	D015738
    8701013	22	30	delirium	Disease	D003693
    8701013	CID	D015738	D003693

=========  ==================================  ==================================================
line       columns                             becomes
=========  ==================================  ==================================================
title      ``id|t|text``                       the text of the document up to the first line end
abstract   ``id|a|text``                       the text after it; may be missing
mention    id, start, end, mention, type, ids  a `Mention`; a seventh column (the parts of a
           and optionally parts, tab-separated composite mention) is the gold's and is ignored
relation   id, name, head, tail                nothing
=========  ==================================  ==================================================

Offsets are code points in title + one character + abstract. That character is ``\\n`` here, so that
no mention runs across and the title can be separated again.

Ids are read as in `canonym.corpora.gold`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from canonym.corpora.gold import parse_ids, written_ids
from canonym.corpora.offsets import span_problem
from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_text
from canonym.types import Document, Mention

_LOG = logging.getLogger(__name__)
_LINE_ENDS = dict.fromkeys(map(ord, "\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")


def read_pubtator(path: str | Path, *, encoding: str = "utf-8") -> Iterator[Document]:
    """Read the documents of a PubTator file, plain or compressed, one at a time.

    Parameters
    ----------
    path : str or Path
        The file.
    encoding : str
        Encoding of the text.

    Yields
    ------
    Document
        With its mentions in the order of the file. A document id that occurs again is yielded
        again and logged as a warning: the NCBI disease corpus has one such document.

    Raises
    ------
    ReadError
        If a line is malformed, belongs to another document than the one around it, or its offsets
        do not hold the mention; if there is no document at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "one.pubtator"
    >>> _ = file.write_text("7|t|Broken hip\\n7\\t0\\t10\\tBroken hip\\tDisease\\tD1\\n")
    >>> [(mention.text, mention.ids) for mention in next(read_pubtator(file)).mentions]
    [('Broken hip', ('D1',))]
    """
    with open_text(path, encoding=encoding) as lines:
        yield from parse_pubtator(lines, path)


def parse_pubtator(lines: Iterable[str], path: str | Path) -> Iterator[Document]:
    """Read documents from lines as `read_pubtator` does; errors name `path`."""
    seen: set[str] = set()
    block: _Block | None = None
    number = 0
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\n")
        if not line.strip():
            if block is not None:
                yield block.document(seen)
                block = None
            continue
        text_line = split_text_line(line)
        if text_line and text_line[1] == "t" and block is not None:
            yield block.document(seen)
            block = None
        if block is None:
            if not text_line:
                raise ReadError(
                    path,
                    f"a document begins with 'id|t|title', found {line[:60]!r}: is this PubTator?",
                    line=number,
                )
            block = _Block(text_line[0], path, number)
        if text_line:
            block.add_text(*text_line, number)
        else:
            block.add_annotation(line.split("\t"), number)
    if block is not None:
        yield block.document(seen)
    if not seen:
        raise ReadError(path, "holds no document: 'id|t|title' was expected", line=number or None)


def split_text_line(line: str) -> tuple[str, str, str] | None:
    """Split the line of a title, ``id|t|title``, or of an abstract; None for another line."""
    id_, _, rest = line.partition("|")
    kind, bar, text = rest.partition("|")
    return (id_, kind, text) if id_ and "\t" not in id_ and bar and kind in ("t", "a") else None


class _Block:
    """The lines of one document, collected and checked."""

    def __init__(self, id_: str, path: str | Path, line: int) -> None:
        self.id = id_
        self.path = path
        self.line = line
        self.texts: dict[str, str] = {}
        self.annotations: list[tuple[list[str], int]] = []

    def error(self, line: int, problem: str) -> ReadError:
        return ReadError(self.path, problem, line=line)

    def check_id(self, id_: str, line: int) -> None:
        if id_ != self.id:
            raise self.error(
                line,
                f"this line belongs to document {id_[:40]!r}, but document {self.id!r} is not "
                "closed by a blank line",
            )

    def add_text(self, id_: str, kind: str, text: str, line: int) -> None:
        self.check_id(id_, line)
        if kind in self.texts:
            raise self.error(line, f"document {id_!r} has a second |{kind}| line")
        self.texts[kind] = text

    def add_annotation(self, cells: list[str], line: int) -> None:
        if len(cells) == 1:
            raise self.error(line, f"neither a text nor tab-separated columns: {cells[0][:60]!r}")
        self.check_id(cells[0], line)
        if len(cells) == 4 and not cells[1].isdecimal():
            return  # a relation between two ids, such as CID
        if not 5 <= len(cells) <= 7:
            raise self.error(
                line,
                f"{len(cells)} columns; a mention has 6 (id, start, end, mention, type, ids): the "
                "line may be cut off, or separated by something other than tabs",
            )
        self.annotations.append((cells, line))

    def document(self, seen: set[str]) -> Document:
        if self.id in seen:
            message = "%s, line %d: the document id %s was met before; both documents are kept"
            _LOG.warning(message, self.path, self.line, self.id)
        seen.add(self.id)
        text = self.texts.get("t", "")
        if "a" in self.texts:
            text = f"{text}\n{self.texts['a']}"
        mentions = tuple(self.mention(text, cells, line) for cells, line in self.annotations)
        return Document(self.id, text, mentions)

    def mention(self, text: str, cells: list[str], line: int) -> Mention:
        try:
            start, end = int(cells[1]), int(cells[2])
        except ValueError as error:
            raise self.error(
                line, f"offsets {cells[1][:20]!r} and {cells[2][:20]!r} are not both whole numbers"
            ) from error
        if problem := span_problem(text, start, end, cells[3]):
            raise self.error(line, problem)
        ids, rule = parse_ids(cells[5] if len(cells) > 5 else "")
        return Mention(text[start:end], start, end, cells[4].strip(), ids, rule, self.id)


def write_pubtator(documents: Iterable[Document], stream: IO[str]) -> int:
    """Write documents in the PubTator format.

    Parameters
    ----------
    documents : iterable of Document
        The text before the first line end is the title, the rest the abstract. Mentions need
        offsets.
    stream : text stream
        Target.

    Returns
    -------
    int
        Number of documents written.

    Raises
    ------
    InvalidInput
        If an id, a type or a document id holds a separator of the format, or a mention has no
        offsets.

    Notes
    -----
    Tabs and line ends inside a text become spaces, one for one, so that offsets stay right.
    """
    n = 0
    for document in documents:
        stream.write(pubtator_text(document))
        n += 1
    return n


def pubtator_text(document: Document) -> str:
    """Return one document in the PubTator format, with the blank line that closes it."""
    _check_cell(document.id, "document id", "|\t\n")
    title, line_end, abstract = document.text.partition("\n")
    lines = [f"{document.id}|t|{_one_line(title)}"]
    if line_end:
        lines.append(f"{document.id}|a|{_one_line(abstract)}")
    for mention in document.mentions:
        if mention.start is None or mention.end is None:
            raise InvalidInput(
                f"mention {mention.text[:60]!r} of document {document.id!r} has no offsets, which "
                "PubTator needs; write JSONL instead"
            )
        _check_cell(mention.type, "type", "\t\n")
        cells = [document.id, str(mention.start), str(mention.end), _one_line(mention.text)]
        for id_ in mention.ids:
            _check_cell(id_, "id", "\t\n")
        lines.append("\t".join([*cells, mention.type, written_ids(mention)]))
    return "\n".join(lines) + "\n\n"


def _one_line(text: str) -> str:
    return text.translate(_LINE_ENDS)


def _check_cell(cell: str, what: str, separators: str) -> None:
    if any(separator in cell for separator in separators):
        raise InvalidInput(
            f"the {what} {cell[:60]!r} holds a separator of PubTator; write JSONL instead"
        )
