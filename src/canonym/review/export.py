"""Decisions as a table: the rows as they were given, with what was decided beside them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from canonym.export.rows import JOINED_BY, guarded, prefixed
from canonym.review.store import Entry, Store, decided_ids

COLUMNS = (
    "state", "id", "label", "relation", "proposed_id", "confidence", "by", "at", "comment",
)  # fmt: skip
"""Columns that are added, each with the prefix ``canonym_``."""

FORMATS = {"csv": ",", "tsv": "\t"}


def lines(store: Store, review_id: int, format: str) -> Iterator[str]:
    """Yield the lines of a table of decisions, one for each row that was given, in order.

    Cells that a spreadsheet may take for a formula get an apostrophe before them.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=FORMATS[format], lineterminator="\n")

    def line(cells: Sequence[str]) -> str:
        writer.writerow([guarded(cell) for cell in cells])
        text = buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        return text

    entries = store.entries(review_id)
    yield line([*store.review(review_id).columns, *map(prefixed, COLUMNS)])
    for row in store.rows(review_id):
        entry = entries.get(row.item_id or 0)
        yield line([*row.cells, *(_cells(entry) if entry else [""] * len(COLUMNS))])


def _cells(entry: Entry) -> list[str]:
    item, decision, _ = entry
    proposed = JOINED_BY.join(one["id"] for one in item.proposal.get("concepts", ()))
    sure = item.proposal.get("confidence")
    shown = "" if sure is None else f"{sure:.6g}"
    if decision is None:
        return [item.state, "", "", "", proposed, shown, "", "", ""]
    return [
        item.state,
        JOINED_BY.join(decided_ids(decision)),
        JOINED_BY.join(one["label"] for one in decision.concepts),
        JOINED_BY.join(one["relation"] for one in decision.concepts),
        proposed,
        shown,
        decision.who,
        datetime.fromtimestamp(decision.made, UTC).isoformat(timespec="seconds"),
        decision.comment,
    ]
