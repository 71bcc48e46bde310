"""Decisions of reviewers, read from SSSOM and Usagi files.

What a reviewer accepted can become an added name, what one rejected a forbidden pair. Everything
else is passed over, with a reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from canonym.errors import ReadError
from canonym.export.sssom import BY_HAND, NOT_FOUND, PREDICATES
from canonym.io.curies import LOCAL, compact
from canonym.io.streams import open_text
from canonym.io.tables import quoted_rows, shown

_SSSOM = ("subject_label", "predicate_id", "object_id", "mapping_justification")
_USAGI = ("sourceName", "mappingStatus", "conceptId")
_PREFIX = re.compile(r"#\s+([\w.-]+):\s*[\"']?([^\"'\s]+)")
_INDEX = re.compile(r"canonym_index=(\w+)")
_OTHER_RELATION = "the relation is not exact, which an added name would claim"
_NO_CONCEPT = "the reviewer found no concept"
_NOT_REVIEWED = "not reviewed"


class Review(NamedTuple):
    """What a row says: a text is `accepted` for an id, or not, or is passed over for a `reason`."""

    line: int
    text: str
    id: str
    accepted: bool = False
    reason: str = ""
    note: str = ""


class ReviewFile(NamedTuple):
    """The rows of a file, and the fingerprint of the index that made it, if known."""

    path: str
    made_by: str
    reviews: tuple[Review, ...]


def read_reviews(path: str | Path, *, encoding: str = "utf-8") -> ReviewFile:
    """Read a file of mappings that people looked at: SSSOM TSV, or the save file of Usagi.

    Raises `ReadError` if it is neither, or a row lacks its text or its concept.
    """
    head: list[str] = []
    with open_text(path, encoding=encoding) as lines:
        header = ""
        for header in lines:
            if not header.strip():
                continue
            if not header.lstrip('\ufeff"').startswith("#"):
                break
            head.append(header.strip('\ufeff" \t\n'))
        columns = header.lstrip("\ufeff")
        tab = "\t" in columns
        names = [
            name.strip().strip('"') for name in columns.strip("\n").split("\t" if tab else ",")
        ]
        rows = quoted_rows(lines, path, "\t" if tab else ",", before=lines.line)
        table = _rows(path, names, rows)
        if set(_SSSOM) <= set(names):
            found = tuple(_sssom_reviews(path, table, _prefixes(head)))
            index = _INDEX.search("\n".join(head))
            return ReviewFile(str(path), index[1] if index else "", found)
        if set(_USAGI) <= set(names):
            return ReviewFile(str(path), "", tuple(_usagi_reviews(path, table)))
    raise ReadError(
        path,
        f"is neither SSSOM (columns {', '.join(_SSSOM)}) nor a save file of Usagi (columns "
        f"{', '.join(_USAGI)}): the columns are {shown(names)}",
        line=lines.line or None,
    )


def _rows(
    path: str | Path, names: Sequence[str], rows: Iterator[tuple[list[str], int]]
) -> Iterator[tuple[int, dict[str, str]]]:
    for cells, line in rows:
        if not any(map(str.strip, cells)):
            continue
        if len(cells) != len(names):
            raise ReadError(
                path,
                f"{len(cells)} cells where the header names {len(names)} columns: the row is cut, "
                "or a cell with a separator needs quotes",
                line=line,
            )
        yield line, dict(zip(names, map(str.strip, cells), strict=True))


def _prefixes(head: Sequence[str]) -> dict[str, str]:
    return {found[1]: found[2] for line in head if (found := _PREFIX.match(line))}


def _sssom_reviews(
    path: str | Path, table: Iterator[tuple[int, dict[str, str]]], prefixes: Mapping[str, str]
) -> Iterator[Review]:
    for line, row in table:
        text, id_ = row["subject_label"], row["object_id"]
        reviewer = row.get("reviewer_label") or row.get("reviewer_id") or row.get("author_id", "")
        denied = row.get("predicate_modifier", "").lower() == "not"
        by_hand = row["mapping_justification"] == BY_HAND
        reason = ""
        if not (by_hand or denied or row.get("reviewer_id") or row.get("reviewer_label")):
            reason = _NOT_REVIEWED
        elif row.get("subject_type", "rdfs literal") != "rdfs literal":
            reason = "the subject is no text, but an entity"
        elif id_ == NOT_FOUND:
            reason = _NO_CONCEPT
        elif not denied and row["predicate_id"] != PREDICATES["equal"]:
            reason = _OTHER_RELATION
        if not reason and not (text and id_):
            raise ReadError(
                path, "the row is reviewed, and lacks its subject_label or object_id", line=line
            )
        facts = (reviewer, row.get("mapping_date", ""), row.get("reviewer_comment", ""))
        note = ", ".join(filter(None, ("reviewed in SSSOM", *facts)))
        yield Review(line, text, _unprefixed(id_, prefixes), not denied, reason, note)


def _unprefixed(id_: str, prefixes: Mapping[str, str]) -> str:
    """Return an id as terminologies write it, whatever the file calls its prefix."""
    prefix, colon, local = id_.partition(":")
    if prefix == LOCAL and colon:
        return local
    address = prefixes[prefix] + local if colon and prefix in prefixes else id_
    short = compact(address)
    return id_ if short == address and address != id_ else short


def _usagi_reviews(
    path: str | Path, table: Iterator[tuple[int, dict[str, str]]]
) -> Iterator[Review]:
    rows = list(table)
    targets = Counter((row.get("sourceCode", ""), row["sourceName"]) for _, row in rows)
    for line, row in rows:
        status, number = row["mappingStatus"].upper(), row["conceptId"]
        equivalence = row.get("equivalence", "").upper()
        reason = ""
        if status != "APPROVED":
            reason = _NOT_REVIEWED if status in ("", "UNCHECKED") else f"the status is {status}"
        elif number in ("", "0"):
            reason = _NO_CONCEPT
        elif row.get("mappingType", "").upper() not in ("", "MAPS_TO"):
            reason = f"the target is a part of what is meant ({row['mappingType']})"
        elif targets[row.get("sourceCode", ""), row["sourceName"]] > 1:
            reason = "the text has several concepts together"
        elif equivalence in ("WIDER", "NARROWER", "INEXACT"):
            reason = _OTHER_RELATION
        if not reason and not (row["sourceName"] and number.isdecimal()):
            raise ReadError(
                path,
                f"the row is approved, and its sourceName is {row['sourceName'][:40]!r}, its "
                f"conceptId {number[:40]!r}: a text and a number are expected",
                line=line,
            )
        facts = ("reviewed in Usagi", row.get("statusSetBy", ""))
        note = ", ".join(filter(None, facts))
        yield Review(
            line, row["sourceName"], f"OMOP:{number}", equivalence != "UNMATCHED", reason, note
        )
