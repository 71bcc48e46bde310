"""Decisions of reviewers, read from SSSOM, Usagi, FHIR ConceptMaps and tables, for an index.

What a reviewer accepted can become an added name, what one rejected a forbidden pair. Everything
else is passed over, with a reason.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from canonym.errors import CanonymError, ReadError
from canonym.exchange.fhir import DECISION
from canonym.exchange.mappings import UNSEEN, local_id
from canonym.exchange.sssom import BY_HAND, NOT_FOUND, PREDICATES, unshielded
from canonym.export.excel import properties_of
from canonym.export.rows import JOINED_BY, prefixed, unguarded
from canonym.io.curies import LOCAL, compact
from canonym.io.streams import open_text
from canonym.io.tables import Table, announced_delimiter, open_table, quoted_rows, shown
from canonym.io.workbooks import check_ids, workbook_suffix
from canonym.linker import Linker
from canonym.regex import GAP, regex
from canonym.terminology.ids import ConceptIds
from canonym.terminology.overlay import checked_name
from canonym.text import STRONG, normalise
from canonym.types import Name

_SSSOM = ("subject_label", "predicate_id", "object_id", "mapping_justification")
_USAGI = ("sourceName", "mappingStatus", "conceptId")
# What the head may say for all rows whose own cell is empty.
_SLOTS = ("predicate_modifier", "subject_type")
_TABLE = tuple(map(prefixed, ("mention", "state", "id", "relation", "proposed_id")))
_INDEX = regex(r"canonym(?:_index=| \S+, index )(\w+)")  # as SSSOM names it, or other formats
_MADE_BY = regex(rf"{GAP}\[canonym [^][]*\]$|\A.*\(canonym [^()]*\)$", re.DOTALL)
_SAME = ("equal", "equivalent")
_OTHER_RELATION = "the relation is not exact, which an added name would claim"
_NO_CONCEPT = "the reviewer found no concept"
_NOT_REVIEWED = "not reviewed"
_SEVERAL = "the text has several concepts together"


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
    """Read what people decided on: SSSOM TSV, Usagi, a FHIR ConceptMap, or a table of decisions.

    A ConceptMap and a table, delimited or a workbook, are those that a review was exported as.
    Raises `ReadError` if it is none of these, or a row lacks its text or its concept.
    """
    if workbook_suffix(path):
        with open_table(path) as table:
            if not set(_TABLE) <= set(table.header):
                raise _unknown_columns(path, table.header)
            return _table_file(path, list(_sheet_rows(table)), properties_of(path))
    head: list[str] = []
    with open_text(path, encoding=encoding) as lines:
        header, named = "", None
        for header in lines:
            if not header.strip():
                continue
            if lines.line == 1 and (named := announced_delimiter(header)):
                continue
            if not header.lstrip('\ufeff"').startswith("#"):
                break
            head.append(header.strip('\ufeff" \t\n'))
        columns = header.lstrip("\ufeff")
        if columns.startswith("{"):
            return _concept_map(path, columns + "".join(lines))
        delimiter = named or max("\t,;", key=columns.count)
        names = [name.strip().strip('"') for name in columns.strip("\n").split(delimiter)]
        table_rows = _rows(path, names, quoted_rows(lines, path, delimiter, before=lines.line))
        if set(_SSSOM) <= set(names):
            made_by = _index_of("\n".join(head))
            if made_by:  # a label of another program may begin with an apostrophe
                table_rows = (
                    (line, {key: unshielded(cell) for key, cell in row.items()})
                    for line, row in table_rows
                )
            reviews = tuple(_sssom_reviews(path, table_rows, head))
            return ReviewFile(str(path), made_by, reviews)
        if set(_USAGI) <= set(names):
            return ReviewFile(str(path), "", tuple(_usagi_reviews(path, table_rows)))
        if set(_TABLE) <= set(names):
            return _table_file(path, list(table_rows), "")
    raise _unknown_columns(path, names, line=lines.line or None)


def _sheet_rows(table: Table) -> Iterator[tuple[int, dict[str, str]]]:
    ids = [table.header.index(name) for name in map(prefixed, ("id", "proposed_id"))]
    for number, cells in enumerate(table.rows, start=2):
        check_ids(cells, ids, table.error)
        yield getattr(cells, "number", number), dict(zip(table.header, cells, strict=True))


def _unknown_columns(path: str | Path, names: Sequence[str], line: int | None = None) -> ReadError:
    return ReadError(
        path,
        f"is neither SSSOM (columns {', '.join(_SSSOM)}), nor a save file of Usagi (columns "
        f"{', '.join(_USAGI)}), nor an exported review (columns {', '.join(_TABLE)}): the columns "
        f"are {shown(names)}",
        line=line,
    )


def _index_of(text: str) -> str:
    match = _INDEX.search(text)
    return match[1] if match else ""


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


def _sssom_reviews(
    path: str | Path, table: Iterator[tuple[int, dict[str, str]]], head: Sequence[str]
) -> Iterator[Review]:
    pairs = [line.removeprefix("#").partition(":")[::2] for line in head]
    told = {name: value.partition(" #")[0].strip(" \t\"'") for name, value in pairs}
    prefixes = {name.strip(): value for name, value in told.items() if value and name[:1].isspace()}
    slots = {name.strip(): value for name, value in told.items() if name.strip() in _SLOTS}
    for line, cells in table:
        row = cells | {name: value for name, value in slots.items() if not cells.get(name)}
        text, id_ = row["subject_label"], row["object_id"]
        reviewer = row.get("reviewer_label") or row.get("reviewer_id") or row.get("author_id", "")
        modifier = row.get("predicate_modifier", "").lower()
        denied = modifier == "not"
        by_hand = row["mapping_justification"] == BY_HAND
        reason = ""
        if not (by_hand or denied or row.get("reviewer_id") or row.get("reviewer_label")):
            reason = _NOT_REVIEWED
        elif row.get("subject_type", "") not in ("", "rdfs literal"):
            reason = "the subject is no text, but an entity"
        elif id_ in ("", NOT_FOUND):
            reason = _NO_CONCEPT
        elif not denied and (modifier or row["predicate_id"] != PREDICATES["equal"]):
            reason = _OTHER_RELATION
        if not reason and not text:
            raise ReadError(path, "the row is reviewed, and lacks its subject_label", line=line)
        facts = [reviewer, row.get("mapping_date", ""), row.get("reviewer_comment", "")]
        if row.get("author_label"):  # else the comment is that of a program
            facts.append(row.get("comment", ""))
        note = _note("SSSOM", *facts)
        yield Review(line, text, _unprefixed(id_, prefixes), not denied, reason, note)


def _note(where: str, *facts: str) -> str:
    return ", ".join(filter(None, (f"reviewed in {where}", *facts)))


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
            reason = _SEVERAL
        elif equivalence in ("WIDER", "NARROWER", "INEXACT"):
            reason = _OTHER_RELATION
        if not reason and not (row["sourceName"] and number.isdecimal()):
            raise ReadError(
                path,
                f"the row is approved, and its sourceName is {row['sourceName'][:40]!r}, its "
                f"conceptId {number[:40]!r}: a text and a number are expected",
                line=line,
            )
        comment = _MADE_BY.sub("", row.get("comment", ""))  # what a program wrote
        note = _note("Usagi", row.get("statusSetBy", ""), comment)
        text, accepted = row["sourceName"], equivalence != "UNMATCHED"
        yield Review(line, text, f"OMOP:{number}", accepted, reason, note)
        refused = row.get("sourceAutoAssignedConceptIds", "")
        if status == "APPROVED" and refused and row.get("createdBy", "").startswith("canonym "):
            ids = (id_ for id_ in refused.split(";") if id_.isdecimal())
            yield from (Review(line, text, f"OMOP:{id_}", note=note) for id_ in ids)


# --- what a review was exported as ----------------------------------------------------------------


def _table_file(
    path: str | Path, rows: Sequence[tuple[int, dict[str, str]]], properties: str
) -> ReviewFile:
    # CSV and TSV have no properties, but a column for it.
    told = (properties, *(row.get(prefixed("made_by"), "") for _, row in rows))
    made_by = next(filter(None, map(_index_of, told)), "")
    return ReviewFile(str(path), made_by, tuple(_table_reviews(rows)))


def _table_reviews(rows: Sequence[tuple[int, dict[str, str]]]) -> Iterator[Review]:
    """Yield each decision once, however many rows have the mention."""
    seen: set[tuple[str, ...]] = set()
    names = [*_TABLE, *map(prefixed, ("by", "at", "comment"))]
    decided = {n: [unguarded(row.get(name, "")).strip() for name in names] for n, row in rows}
    meant = {(cells[0], id_) for cells in decided.values() for id_ in cells[2].split(JOINED_BY)}
    for line, cells in decided.items():
        text, state, ids, relations, proposed, *facts = cells
        if not text or tuple(cells) in seen:
            continue
        seen.add(tuple(cells))
        reason = ""
        if state not in ("linked", "nil"):
            reason = _NOT_REVIEWED
        elif not ids:
            reason = _NO_CONCEPT
        elif JOINED_BY in ids:
            reason = _SEVERAL
        elif relations not in _SAME:
            reason = _OTHER_RELATION
        note = _note("a table", *facts)
        yield Review(line, text, ids, True, reason, note)
        refused = bool(proposed) and JOINED_BY not in proposed and (text, proposed) not in meant
        if refused and reason != _NOT_REVIEWED:
            yield Review(line, text, proposed, note=note)


def _concept_map(path: str | Path, text: str) -> ReviewFile:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ReadError(path, f"is no JSON ({error})") from error
    if not isinstance(content, dict) or content.get("resourceType") != "ConceptMap":
        raise ReadError(path, "is JSON, and no ConceptMap of FHIR, which is expected then")
    try:
        elements = [element for group in content.get("group", ()) for element in group["element"]]
        reviews = tuple(
            review for element in elements for review in _element_reviews(path, element)
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ReadError(path, f"is no ConceptMap that can be read ({error!r})") from error
    return ReviewFile(str(path), _index_of(str(content.get("description", ""))), reviews)


def _element_reviews(path: str | Path, element: Mapping[str, Any]) -> Iterator[Review]:
    text = element.get("display") or element["code"]
    targets = element.get("target", ())
    for facts in _decisions(element):  # no concept, or a refused one
        reason = "" if facts.get("id") else _NO_CONCEPT
        yield Review(0, text, facts.get("id", ""), False, reason, _fhir_note(facts))
    for target in targets:
        if "code" not in target:
            continue
        facts = next(_decisions(target), {})
        id_ = facts.get("id", "")
        if id_ and local_id(id_) != target["code"]:
            raise ReadError(
                path, f"{text!r:.60} has the code {target['code']!r:.40}, and was decided as {id_}"
            )
        word = target.get("equivalence") or target.get("relationship")
        reason = "" if word in _SAME else _OTHER_RELATION
        if not id_ or facts.get("kind") == UNSEEN:
            reason = _NOT_REVIEWED
        elif len(targets) > 1:
            reason = _SEVERAL
        yield Review(0, text, id_, True, reason, _fhir_note(facts))


def _decisions(element: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for extension in element.get("extension", ()):
        if extension.get("url") == DECISION:
            yield {part["url"]: part["valueString"] for part in extension["extension"]}


def _fhir_note(facts: Mapping[str, str]) -> str:
    return _note("FHIR", *(facts.get(key, "") for key in ("by", "at", "comment")))


# --- taken over into an index ---------------------------------------------------------------------


class Taken(NamedTuple):
    """What was taken over.

    Names and forbidden pairs, with how many are new; the number of rows passed over by reason; and
    of the names accepted those for which another concept is still found.
    """

    names: tuple[Name, ...]
    new_names: int
    forbidden: tuple[tuple[str, str], ...]
    new_forbidden: int
    passed_over: dict[str, int]
    without_effect: tuple[tuple[str, str, str], ...]


def take_reviews(
    linker: Linker,
    file: ReviewFile,
    *,
    language: str = "en",
    skip_unknown: bool = False,
    dry_run: bool = False,
) -> Taken:
    """Add accepted names and forbidden pairs to an index, all of them or none.

    Raises `ReadError` if a reviewed id is unknown (unless `skip_unknown`), a text cannot be looked
    up, or a text is accepted and rejected for one concept.
    """
    passed_over: Counter[str] = Counter()
    decided: dict[tuple[str, str], tuple[Review, Name]] = {}
    known = ConceptIds(linker.terminology)
    barred = {(normalise(text, STRONG), id_) for text, id_ in linker.synonyms.forbidden}
    for review in file.reviews:
        reason = review.reason
        id_ = None if reason else known.find(review.id)
        if id_ is None:
            if not reason and not skip_unknown:
                raise _unknown(linker, file, known)
            passed_over[reason or "the concept is not in the terminology"] += 1
            continue
        try:
            name = checked_name(linker.terminology, review.text, id_, language)
        except CanonymError as error:
            raise ReadError(file.path, str(error), line=review.line or None) from error
        key = (normalise(name.text, STRONG), id_)
        earlier, _ = decided.setdefault(key, (review, name))
        if earlier.accepted != review.accepted:
            raise ReadError(
                file.path,
                f"{review.text!r} is accepted and rejected for {review.id} (the other row is in "
                f"line {earlier.line}): keep one of the two",
                line=review.line or None,
            )
        if review.accepted and key in barred:
            passed_over["the pair is forbidden (`canonym synonyms allow` allows it again)"] += 1
            del decided[key]
    names = tuple(name for review, name in decided.values() if review.accepted)
    pairs = tuple(
        (name.text, name.concept_id) for review, name in decided.values() if not review.accepted
    )
    if dry_run:
        new_names = sum(1 for name in names if name.text not in _texts(linker, name.concept_id))
        new_pairs = sum((normalise(text, STRONG), id_) not in barred for text, id_ in pairs)
        return Taken(names, new_names, pairs, new_pairs, dict(passed_over), ())
    new_names, new_pairs = linker.synonyms.update(names, pairs)
    notes = {(name.text, name.concept_id): review.note for review, name in decided.values()}
    linker.pipeline.names.overlay.note(notes)
    left = tuple(_without_effect(linker, names))
    return Taken(names, new_names, pairs, new_pairs, dict(passed_over), left)


def _texts(linker: Linker, id_: str) -> set[str]:
    added = {name.text for name in linker.synonyms if name.concept_id == id_}
    return added | {name.text for name in linker.terminology.names(id_)}


def _unknown(linker: Linker, file: ReviewFile, known: ConceptIds) -> ReadError:
    reviewed = [review for review in file.reviews if not review.reason]
    missing = [review for review in reviewed if known.find(review.id) is None]
    example = linker.terminology.concepts_at([0])[0].id
    other = (
        "the file is of another terminology"
        if len(missing) == len(reviewed)
        else "pass over such rows with skip_unknown=True"
    )
    return ReadError(
        file.path,
        f"{missing[0].id!r} is no concept of {linker.folder}, whose ids look like {example!r}; so "
        f"it is in {len(missing):,} of {len(reviewed):,} reviewed rows: {other}",
        line=missing[0].line or None,
    )


def _without_effect(linker: Linker, names: Sequence[Name]) -> Iterator[tuple[str, str, str]]:
    """Yield accepted texts, their concept, and what is found for them instead."""
    for name, link in zip(names, linker.link([name.text for name in names]), strict=True):
        if link.ids != (name.concept_id,):
            yield name.text, name.concept_id, "|".join(link.ids) or "NIL"
