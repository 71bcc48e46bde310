"""Brat standoff: a folder of texts, each with a file of annotations beside it.

::

    notes/7.txt     A broken left and right hip.
    notes/7.ann     T1<tab>Disease 2 8;24 27<tab>broken hip
                    N1<tab>Reference T1 MESH:D006620<tab>Hip Fractures
                    #1<tab>AnnotatorNotes T1<tab>MESH:D006620

``docs/formats/corpora.md`` lists the lines that are read. Offsets count code points of the text
file, line ends included: a carriage return counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from canonym.corpora.gold import NO_CONCEPT, parse_ids, written_ids
from canonym.corpora.offsets import (
    PIECES,
    Piece,
    join_pieces,
    mention_pieces,
    pieces_problem,
    whole_number,
)
from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_text, read_text
from canonym.regex import GAP
from canonym.types import Document, Mention

NOTE_IDS = (
    r"(?:[A-Za-z][\w.-]*:(?:(?!\d)[\w.-])*\d[\w.-]*|[A-Za-z]{0,2}\d{4,}|"
    + "|".join(re.escape(word) for word in NO_CONCEPT if len(word) > 1)
    + ")"
)
"""Regular expression of one id in a note, in any case.

A prefix, a colon and something with a digit; or at least four digits after at most two letters; or
a word for "no concept"."""

REFERENCES: tuple[str, ...] = ("any", "all")
"""Meaning of several references of one mention: each is right, or the mention stands for all."""

_PASSED_OVER = tuple("REAM*")


def read_brat(
    path: str | Path,
    *,
    pieces: str = "join",
    references: str = "any",
    note_ids: str | None = NOTE_IDS,
    encoding: str = "utf-8",
) -> Iterator[Document]:
    """Read a brat folder, its sub-folders included, one document at a time.

    Parameters
    ----------
    path : str or Path
        The folder, or one ``.ann`` or ``.txt`` file of a pair.
    pieces : str
        Treatment of mentions in several pieces, one of `canonym.corpora.offsets.PIECES`.
    references : str
        One of `REFERENCES`.
    note_ids : str, optional
        Regular expression of one id in a note; None ignores all notes.
    encoding : str
        Encoding of the texts and annotations.

    Yields
    ------
    Document
        In the order of their names; the id is the path inside the folder, without its ending.

    Raises
    ------
    ReadError
        If half a pair is missing, a line is malformed, a reference or an id is wrong, or offsets do
        not hold the mention.
    InvalidInput
        If an option is unknown or `note_ids` is no regular expression.
    """
    if pieces not in PIECES or references not in REFERENCES:
        raise InvalidInput(
            f"pieces={pieces!r}, references={references!r}: use one of {', '.join(PIECES)} and "
            f"one of {', '.join(REFERENCES)}"
        )
    try:
        note = None if note_ids is None else re.compile(f"(?i:{note_ids})")
    except re.error as error:
        raise InvalidInput(f"note_ids={note_ids!r} is no regular expression ({error})") from error
    root, names = _names(Path(path))
    for name in names:
        annotations, text_file = root / f"{name}.ann", root / f"{name}.txt"
        for file, other in ((annotations, text_file), (text_file, annotations)):
            if not file.is_file():
                raise ReadError(
                    other,
                    f"has no {file.name} beside it: brat files come in pairs, an empty .ann stands "
                    "for a text without annotations",
                )
        text = read_text(text_file, encoding=encoding)
        block = _Annotations(annotations, name, text, note)
        if annotations.stat().st_size:
            with open_text(annotations, encoding=encoding) as stream:
                for line in stream:
                    block.add(line.rstrip("\n"), stream.line)
        yield Document(name, text, tuple(block.mentions(pieces, references)))


def _names(path: Path) -> tuple[Path, list[str]]:
    if path.suffix in (".ann", ".txt") and path.is_file():
        return path.parent, [path.stem]
    if not path.is_dir():
        raise ReadError(path, "is no folder and no .ann or .txt file")
    # Two endings of a name are one document; a readme beside the annotations is not one.
    annotated = {file.with_suffix("") for file in path.rglob("*.ann")}
    texts = {file.with_suffix("") for file in path.rglob("*.txt")}
    if not annotated:
        raise ReadError(path, f"holds no .ann file ({len(texts)} .txt files): is this brat?")
    return path, sorted(name.relative_to(path).as_posix() for name in annotated | texts)


class _Annotations:
    """The lines of one annotation file, collected and checked."""

    def __init__(self, path: Path, id_: str, text: str, note: re.Pattern[str] | None) -> None:
        self.path = path
        self.id = id_
        self.text = text
        self.note = note
        self.spans: dict[str, tuple[str, list[Piece]]] = {}
        self.references: dict[str, list[tuple[str, int]]] = {}
        self.notes: dict[str, list[str]] = {}

    def error(self, line: int, problem: str) -> ReadError:
        return ReadError(self.path, problem, line=line)

    def add(self, line: str, number: int) -> None:
        if not line.strip():
            return
        key, _, rest = line.partition("\t")
        body, _, last = rest.partition("\t")
        if key.startswith("T"):
            self.add_mention(key, body, last, number)
        elif key.startswith("N"):
            kind, of, id_ = (*body.split(" ", 2), "", "")[:3]
            prefix, _, local = id_.partition(":")
            if kind != "Reference" or not local or [of, prefix] != f"{of} {prefix}".split():
                raise self.error(
                    number, f"'Reference T1 RESOURCE:ID' was expected, found {body[:60]!r}"
                )
            self.references.setdefault(of, []).append((id_.strip(), number))
        elif key.startswith("#"):
            self.notes.setdefault(body.rpartition(" ")[2], []).append(last.strip())
        elif not key.startswith(_PASSED_OVER):
            raise self.error(number, f"{line[:60]!r} is no line of brat: is this brat?")

    def add_mention(self, key: str, body: str, written: str, number: int) -> None:
        type_, _, written_pieces = body.partition(" ")
        bounds = [piece.split(" ") for piece in written_pieces.split(";")]
        is_sound = all(len(pair) == 2 and None not in map(whole_number, pair) for pair in bounds)
        if [type_] != type_.split() or not is_sound:
            raise self.error(number, f"'TYPE START END' was expected, found {body[:60]!r}")
        if key in self.spans:
            raise self.error(number, f"the id {key} was used in a line above")
        pieces = sorted((int(start), int(end)) for start, end in bounds)
        if problem := pieces_problem(self.text, pieces, written or None):
            raise self.error(number, problem)
        self.spans[key] = (type_, pieces)

    def mentions(self, how: str, references: str) -> Iterator[Mention]:
        for key, uses in self.references.items():
            if key not in self.spans:
                line = uses[0][1]
                raise self.error(
                    line, f"the reference is to {key}, which is no mention of this file"
                )
        for key, (type_, pieces) in self.spans.items():
            ids, rule = self.gold(key, references)
            text = join_pieces(self.text, pieces, how=how)
            yield Mention(text, pieces[0][0], pieces[-1][1], type_, ids, rule, self.id)

    def gold(self, key: str, references: str) -> tuple[tuple[str, ...], str]:
        if ids := tuple(dict.fromkeys(id_ for id_, _ in self.references.get(key, ()))):
            return ids, references if len(ids) > 1 else "any"
        for note in self.notes.get(key, ()):
            parts = re.split(rf"{GAP}[|+,]\s*", note)
            if self.note and all(self.note.fullmatch(part) for part in parts):
                return parse_ids(note)
        return (), "any"


def brat_annotations(document: Document) -> str:
    """Return the annotation file of a document: mentions, their ids as notes, their flags.

    A flag such as ``negated`` is an attribute, *Negated*, which `read_brat` passes over.

    Parameters
    ----------
    document : Document
        Its mentions need offsets. Its text goes into a file beside this one, unchanged: open that
        with ``newline=""``.

    Returns
    -------
    str
        Lines that `read_brat` reads back.

    Raises
    ------
    InvalidInput
        If the offsets of a mention do not hold its text, or its type or ids cannot be written.
    """
    lines = []
    n_attributes = 0
    for i, mention in enumerate(document.mentions, start=1):
        pieces = mention_pieces(document.text, mention)
        if not mention.type or any(letter.isspace() for letter in mention.type):
            raise InvalidInput(
                f"the type {mention.type!r} is empty or holds a space; brat has none"
            )
        spans = ";".join(f"{start} {end}" for start, end in pieces)
        lines.append(f"T{i}\t{mention.type} {spans}\t{' '.join(mention.text.split())}\n")
        ids = written_ids(mention)
        if not all(re.fullmatch(f"(?i:{NOTE_IDS})", id_) for id_ in re.split(r"[|,]", ids) if id_):
            raise InvalidInput(f"the ids {ids[:60]!r} would be read back as an ordinary note")
        if ids:
            lines.append(f"#{i}\tAnnotatorNotes T{i}\t{ids}\n")
        for flag in mention.flags or ():
            n_attributes += 1
            lines.append(f"A{n_attributes}\t{flag.capitalize()} T{i}\n")
    return "".join(lines)


class BratWriter:
    """Writes documents into a folder that exists, a text and its annotations each.

    The id of a document is its path inside the folder. A type without a name is ``Concept``; blanks
    in others become ``_``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, document: Document) -> None:
        """Write a document, whose id is a path inside the folder and new (else `InvalidInput`)."""
        path = Path(document.id)
        if not document.id or path.is_absolute() or ".." in path.parts or "\0" in document.id:
            raise InvalidInput(f"the document {document.id[:60]!r} cannot be called so in a folder")
        text = self._folder / path.with_name(f"{path.name}.txt")
        if text.exists():
            raise InvalidInput(f"two documents are called {document.id[:60]!r}: brat has one file")
        mentions = tuple(
            replace(mention, type="_".join(mention.type.split()) or "Concept")
            for mention in document.mentions
        )
        annotations = brat_annotations(replace(document, mentions=mentions))
        text.parent.mkdir(parents=True, exist_ok=True)
        for file, content in ((text, document.text), (text.with_suffix(".ann"), annotations)):
            file.write_text(content, encoding="utf-8", newline="")
