"""Decisions as a table beside the rows that were given, or as mappings in SSSOM."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from canonym import __version__
from canonym.export.mappings import Origin
from canonym.export.rows import JOINED_BY, guarded, prefixed
from canonym.export.sssom import BY_HAND, NOT_FOUND, PREDICATES, UNSPECIFIED, MappingTable
from canonym.io.curies import with_prefix
from canonym.review.models import Decision
from canonym.review.store import Entry, Store, decided_ids
from canonym.terminology import Terminology

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


# --- SSSOM ----------------------------------------------------------------------------------------

_MAPPING = (
    "subject_label", "subject_type", "predicate_id", "predicate_modifier", "object_id",
    "object_label", "mapping_justification", "author_label", "reviewer_label", "mapping_date",
    "comment",
)  # fmt: skip


def sssom(store: Store, review_id: int, terminology: Terminology) -> str:
    """Return the decisions of a review as literal mappings, which `canonym synonyms` takes back.

    Of several concepts for one mention none is said to be exact. Proposals that were refused are
    mappings with the modifier ``Not``.
    """
    stream = io.StringIO()
    table = MappingTable(stream, _MAPPING)
    review = store.review(review_id)
    prefixes = tuple(terminology.prefixes()) or ("",)
    metadata = {
        "mapping_set_id": f"urn:canonym:review:{review.fingerprint}:{review_id}",
        "mapping_set_title": review.name,
        "license": UNSPECIFIED,
    }
    table.begin(Origin(__version__, review.fingerprint, prefixes), metadata, prefixes)
    for entry in store.entries(review_id).values():
        if entry.decision is not None and entry.decision.kind in ("link", "nil"):
            for row in _mappings(entry, entry.decision):
                table.write(row)
    return stream.getvalue()


def _mappings(entry: Entry, decision: Decision) -> Iterator[Mapping[str, str]]:
    common = {
        "subject_label": entry.item.mention,
        "subject_type": "rdfs literal",
        "predicate_id": PREDICATES["equal"],
        "mapping_justification": BY_HAND,
        "author_label": decision.who,
        "reviewer_label": decision.who,
        "mapping_date": datetime.fromtimestamp(decision.made, UTC).date().isoformat(),
        "comment": decision.comment,
    }
    together = len(decision.concepts) > 1
    for one in decision.concepts:
        relation = "related" if together and one["relation"] == "equal" else one["relation"]
        named = {"object_id": with_prefix(one["id"]), "object_label": one["label"]}
        yield {**common, **named, "predicate_id": PREDICATES[relation]}
    if not decision.concepts:
        yield {**common, "object_id": NOT_FOUND}
    proposed = entry.item.proposal.get("concepts", ())
    if len(proposed) == 1 and proposed[0]["id"] not in decided_ids(decision):
        named = {"object_id": with_prefix(proposed[0]["id"]), "object_label": proposed[0]["label"]}
        yield {**common, **named, "predicate_modifier": "Not"}
