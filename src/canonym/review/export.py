"""A review for others: a table beside the rows that were given, a corpus, or mappings."""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import IO, NamedTuple

from canonym import __version__
from canonym.corpora.gold import written_ids
from canonym.errors import InvalidInput, ReadError
from canonym.exchange.mappings import UNSEEN, Verdict, tool
from canonym.exchange.omop import is_omop
from canonym.exchange.writers import Choices
from canonym.export.rows import JOINED_BY, guarded, number, prefixed
from canonym.io.curies import split_id
from canonym.io.workbooks import SheetChoice, open_sheet, workbook_suffix
from canonym.review.mappings import claims_of, comment_of, write_mappings
from canonym.review.models import Decision, Review
from canonym.review.store import SEEN, Entry, Store, decided_ids
from canonym.terminology import Terminology
from canonym.types import Mention

COLUMNS = (
    "mention", "state", "id", "code", "label", "relation", "proposed_id", "confidence", "by", "at",
    "comment",
)  # fmt: skip
"""Columns that are added, each with the prefix ``canonym_``."""

CORPUS_COLUMNS = ("document", "mention", "ids", "rule", "context")
"""Columns of the mentions that an encoder can learn from."""

_PIECE = 65_536  # bytes


class Format(NamedTuple):
    """How files of a format end, and their media type."""

    suffix: str
    media_type: str


_TABS = "text/tab-separated-values; charset=utf-8"
_COMMAS = "text/csv; charset=utf-8"
FORMATS: dict[str, Format] = {
    "csv": Format(".csv", _COMMAS),
    "tsv": Format(".tsv", _TABS),
    "xlsx": Format(".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "sssom": Format(".sssom.tsv", _TABS),
    "usagi": Format(".usagi.csv", _COMMAS),
    "omop": Format(".omop.csv", _COMMAS),
    "fhir": Format(".fhir.json", "application/fhir+json"),
    "corpus": Format(".corpus.tsv", _TABS),
}
"""Formats of a review, the plain tables first."""

_OMOP = ("usagi", "omop")
"""Formats whose concepts are numbers of OMOP."""


def formats_of(terminology: Terminology) -> list[str]:
    """Return the formats that can hold concepts of a terminology."""
    first = next(terminology.iter_concepts(), None)
    if first is not None and is_omop(first.id):
        return [*FORMATS]
    return [format for format in FORMATS if format not in _OMOP]


def export_review(
    store: Store,
    review_id: int,
    format: str,
    terminology: Terminology | None = None,
    choices: Choices = Choices(),  # noqa: B008 - it cannot be changed
) -> Iterator[bytes]:
    """Return the pieces of a file in a format of `FORMATS`.

    It is made before the first piece, on the disk: no error comes later, and neither a reader who
    is slow nor a database that goes away cuts it off. See `canonym.review.mappings.write_mappings`
    for the `terminology` and the `choices`.
    """
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(tempfile.TemporaryFile(prefix="canonym-"))
        if format == "xlsx":
            _write_workbook(file, store, review_id)
        else:
            stream = io.TextIOWrapper(file, encoding="utf-8", newline="")
            if format in ("csv", "tsv"):
                _write_table(stream, store, review_id, format)
            elif format == "corpus":
                _write_corpus(stream, store, review_id)
            else:
                write_mappings(stream, store, review_id, format, terminology, choices)
            stream.detach()
        file.seek(0)
        return _pieces(file, opened.pop_all())


def _pieces(file: IO[bytes], opened: contextlib.ExitStack) -> Iterator[bytes]:
    with opened:
        yield from iter(lambda: file.read(_PIECE), b"")


# --- tables ---------------------------------------------------------------------------------------


def _write_table(stream: IO[str], store: Store, review_id: int, format: str) -> None:
    """Write a table of decisions, a line for each row that was given, in order.

    The index stands once, in the first row: such a table has no properties. Cells that a
    spreadsheet may take for a formula get an apostrophe before them.
    """
    writer = csv.writer(stream, delimiter="," if format == "csv" else "\t", lineterminator="\n")
    once = chain([prefixed("made_by"), _made_by(store.review(review_id))], repeat(""))
    for (cells, added), made_by in zip(_rows(store, review_id), once, strict=False):
        every = (*cells, *added, made_by)
        writer.writerow([guarded(x if isinstance(x, str) else number(x)) for x in every])


def _made_by(review: Review) -> str:
    return "" if review.fingerprint == "-" else tool(__version__, review.fingerprint)


def _write_workbook(stream: IO[bytes], store: Store, review_id: int) -> None:
    """Write the workbook that the review was begun from, with more columns, or a new one."""
    from canonym.export.excel import extend_workbook, write_workbook

    kept, rows = store.workbook(review_id), _rows(store, review_id)
    review = store.review(review_id)
    made_by = _made_by(review)
    with tempfile.TemporaryDirectory(prefix="canonym-") as folder:
        path = Path(folder) / "workbook"
        if kept is not None:
            path.write_bytes(kept.content)
        if kept is None or workbook_suffix(path) != ".xlsx":
            whole = ([*cells, *added] for cells, added in rows)
            write_workbook(stream, whole, made_by=made_by)
            return
        header, *decided = (added for _, added in rows)
        shown = Path(review.name)
        choice = SheetChoice(kept.sheet, kept.header_row)
        try:
            with open_sheet(path, choice, shown=shown) as sheet:
                beside = zip((row.number for row in sheet.rows), decided, strict=True)
                added_rows = {sheet.header_row: header, **dict(beside)}
                extend_workbook(stream, sheet, added_rows, made_by=made_by)
        except ReadError as error:
            problem = f"the workbook cannot be given back: {error.problem}"
            raise InvalidInput(f"{problem}; export the table as CSV") from error


def _rows(
    store: Store, review_id: int
) -> Iterator[tuple[Sequence[str], Sequence[str | float | None]]]:
    """Yield the header and the rows that were given, and beside each what was decided."""
    comments = store.comments(review_id)
    yield store.review(review_id).columns, [*map(prefixed, COLUMNS)]
    for row, entry in store.rows(review_id):
        if entry is None:
            yield row.cells, [""] * len(COLUMNS)
        else:
            yield row.cells, _cells(entry, comments.get(entry.item.id, ()))


def _cells(entry: Entry, comments: Sequence[Decision]) -> list[str | float | None]:
    item, decision, _ = entry
    ids = decided_ids(decision)
    labels = [concept["label"] for concept in decision.concepts] if decision else []
    relations = _relations(entry, decision) if decision else []
    proposed = [concept["id"] for concept in item.proposal.get("concepts", ())]
    several = (ids, [split_id(id_)[1] for id_ in ids], labels, relations, proposed)
    return [
        item.mention,
        item.state,
        *map(JOINED_BY.join, several),
        item.proposal.get("confidence"),
        decision.who if decision else "",
        Verdict(decision.kind, made=decision.made).moment if decision else "",
        comment_of(decision, comments),
    ]


def _relations(entry: Entry, decision: Decision) -> list[str]:
    """Return what each concept is to the mention; where nobody looked, as far as evidence goes."""
    if decision.kind == UNSEEN:
        return [claim.supported for claim in claims_of(entry, None)]
    return [concept["relation"] for concept in decision.concepts]


# --- mentions to learn from -----------------------------------------------------------------------


def _write_corpus(stream: IO[str], store: Store, review_id: int) -> None:
    """Write the mentions that people looked at and decided, each as a document of its own.

    What is only broader, narrower, close or related is no gold id, and left out.
    """
    writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
    writer.writerow(CORPUS_COLUMNS)
    for entry in store.entries(review_id):
        mention = _gold(entry)
        if mention is not None:
            document = f"review-{review_id}-{entry.item.id}"
            cells = (document, mention.text, written_ids(mention), mention.rule, mention.context)
            writer.writerow([" ".join(cell.split()) for cell in cells])


def _gold(entry: Entry) -> Mention | None:
    item, decision, _ = entry
    if decision is None or decision.kind not in SEEN:
        return None
    relations: Sequence[str] = [concept["relation"] for concept in decision.concepts]
    if any(relation not in ("equal", "equivalent") for relation in relations):
        return None
    rule = "nil" if not relations else "all" if len(relations) > 1 else "any"
    return Mention(item.mention, ids=tuple(decided_ids(decision)), rule=rule, context=item.context)
