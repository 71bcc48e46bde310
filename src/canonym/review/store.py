"""The store of reviews: queues, decisions that are only ever added, and no lost update."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, NamedTuple, Self, TypeVar

from sqlalchemy import JSON, ColumnElement, Select, Text, cast, event, func, insert, literal, select
from sqlalchemy.orm import Session, defer

from canonym.errors import InvalidInput
from canonym.exchange.mappings import UNSEEN
from canonym.review.database import check_database, open_database, reachable
from canonym.review.models import STATES, Decision, Item, Review, Row, Workbook
from canonym.review.table import GivenTable, Key
from canonym.text import UNORDERED, normalise

KINDS = {
    "link": "linked",
    UNSEEN: "linked",
    "nil": "nil",
    "flag": "flagged",
    "comment": "",
    "undo": "",
}
"""What a person may do to an item, and the state that it has then; empty where that depends.

`UNSEEN` is a link that was accepted along with all others that are as sure.
"""

SEEN = ("link", "nil")
"""Kinds of decisions on what a mention means, of a person who looked at it."""

DECIDED = (*SEEN, UNSEEN)
"""Kinds of decisions on what a mention means."""

SYSTEM = "canonym"
"""Who decides that an item is open again."""

FILTERS: dict[str, tuple[str, ...]] = {
    "todo": ("open", "reopened"),
    "reopened": ("reopened",),
    "flagged": ("flagged",),
    "decided": ("linked", "nil"),
    "all": STATES,
}
"""Parts of a queue, and the states of their items."""

ORDERS: dict[str, tuple[Any, ...]] = {
    # First what has a proposal, the most doubtful first; then the rest, the nearest to one first.
    "doubt": (Item.confidence < 0, func.abs(Item.confidence), Item.frequency.desc()),
    "frequency": (Item.frequency.desc(),),
    "row": (),
    "text": (func.lower(Item.mention),),
}
"""Orders of a queue; what is equal in one is in that of the rows."""

_BATCH = 1000  # rows that are written at once
_READ = 200  # items that are in memory at a time; a proposal takes 10 kB
_LONGEST_KEY = 500  # characters; longer ones no index of a database takes
_BETWEEN = "\n"  # ids of a key, which may have a space in them
_MOST_ALIKE = 200
_LONGEST_COMPARED = 100  # characters
_T = TypeVar("_T")


class Conflict(InvalidInput):
    """Somebody else changed an item since it was read."""

    def __init__(self, item_id: int) -> None:
        super().__init__("somebody else changed this item meanwhile: look at it as it is now")
        self.item_id = item_id


class Changed(InvalidInput):
    """What would be accepted at once is no more what somebody saw."""


class Absent(InvalidInput):
    """There is no such review or item."""


class Given(NamedTuple):
    """What a person decides: a kind of `KINDS`, concepts of a link, and a comment."""

    kind: str
    concepts: tuple[dict[str, Any], ...] = ()
    comment: str = ""


class Proposed(NamedTuple):
    """What an index proposes for an item, and why a decision is open again, if it is."""

    proposal: dict[str, Any]
    confidence: float
    reopened: str = ""


class Entry(NamedTuple):
    """An item, the decision that counts, and all that happened to it, in order."""

    item: Item
    decision: Decision | None
    history: tuple[Decision, ...] = ()


class Acceptable(NamedTuple):
    """How many items a bulk decision would accept, their rows, and the errors to expect."""

    items: int
    rows: int
    errors: float


class Store:
    """Reviews in a database, which several processes may use at once.

    `place` is a file, or a URL that begins with ``postgresql://``. Where the database fails, all
    methods raise `canonym.review.database.Unreachable`, and work again when it is back.
    """

    def __init__(self, place: str, *, create: bool = True) -> None:
        self._engine = open_database(place, create=create)
        self._writer = self._engine.execution_options(immediate=True)

    def close(self) -> None:
        """Close the connections; those that other threads use now, when they are given back."""
        event.listen(self._engine, "checkin", lambda _, record: record.invalidate())
        self._engine.dispose()

    def check(self) -> None:
        """Look whether the database is there, with the tables of this release."""
        check_database(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Session]:
        with reachable(self._engine), Session(self._engine) as session:
            yield session

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Session]:
        """Begin a transaction; it is on the disk when the block has ended."""
        session = Session(self._writer, expire_on_commit=False)
        with reachable(self._engine), session, session.begin():
            yield session

    # --- reviews ----------------------------------------------------------------------------------

    def create(
        self,
        name: str,
        terminology: str,
        table: GivenTable,
        *,
        who: str,
        workbook: Workbook | None = None,
    ) -> int:
        """Add a review of a table; its items wait to be linked. `workbook` has the table in it."""
        with self._writing() as session:
            review = Review(
                name=name,
                terminology=terminology,
                fingerprint="-",  # none yet, which differs from that of the items
                columns=list(table.columns),
                column=table.column,
                context_column=table.context_column,
                created=time.time(),
                created_by=who,
            )
            session.add(review)
            session.flush()
            if workbook is not None:
                workbook.review_id = review.id
                session.add(workbook)
            # Rows and not objects, and a batch at a time: there may be hundreds of thousands.
            ids: dict[Key, int] = {}
            items: Iterator[dict[str, Any]] = (
                {"review_id": review.id, "mention": mention, "context": context, "frequency": n}
                for (mention, context), n in table.frequencies.items()
            )
            made = insert(Item).returning(Item.mention, Item.context, Item.id)
            while batch := list(islice(items, _BATCH)):
                added = session.execute(made, batch)
                ids.update(((mention, context), id_) for mention, context, id_ in added)
            rows: Iterator[dict[str, Any]] = (
                {"review_id": review.id, "number": n, "item_id": ids.get(key), "cells": cells}
                for n, (key, cells) in enumerate(table.rows, start=1)
            )
            while batch := list(islice(rows, _BATCH)):
                session.execute(insert(Row), batch)
            return review.id

    def reviews(self) -> list[Review]:
        """Return all reviews, the newest first."""
        with self._reading() as session:
            return list(session.scalars(select(Review).order_by(Review.id.desc())))

    def review(self, id: int) -> Review:
        """Return one review."""
        with self._reading() as session:
            return _found(session.get(Review, id), "review", id)

    def workbook(self, id: int) -> Workbook | None:
        """Return the workbook that a review was begun from, if it was."""
        with self._reading() as session:
            return session.get(Workbook, id)

    def progress(self, id: int) -> dict[str, Any]:
        """Count items and their rows by state, and the items that are not linked yet."""
        review = self.review(id)
        counts = select(Item.state, func.count(), func.sum(Item.frequency)).group_by(Item.state)
        with self._reading() as session:
            counted = {
                state: (n, int(rows))
                for state, n, rows in session.execute(counts.where(Item.review_id == id))
            }
            waiting = session.scalar(_count(_waiting(review)))
        return {
            "items": {state: counted.get(state, (0, 0))[0] for state in STATES},
            "rows": {state: counted.get(state, (0, 0))[1] for state in STATES},
            "total": sum(n for n, _ in counted.values()),
            "waiting": waiting or 0,
        }

    # --- linking ----------------------------------------------------------------------------------

    def aim(self, id: int, fingerprint: str) -> None:
        """Say with which index all items should be linked; those of another wait from now on."""
        with self._writing() as session:
            review = _found(session.get(Review, id), "review", id)
            review.fingerprint, review.problem = fingerprint, ""

    def fail(self, id: int, problem: str) -> None:
        """Say why the items that wait cannot be linked."""
        with self._writing() as session:
            _found(session.get(Review, id), "review", id).problem = problem

    def waiting(self, id: int, limit: int) -> list[Entry]:
        """Return the first items that wait to be linked, with the decision that counts."""
        with self._reading() as session:
            waiting = _waiting(_found(session.get(Review, id), "review", id))
            return list(_entries(session, waiting.order_by(Item.id).limit(limit)))

    def propose(self, fingerprint: str, proposals: Iterable[tuple[Item, Proposed]]) -> None:
        """Keep what an index proposes for items, where nobody changed them meanwhile.

        Those that somebody changed still wait, and come again.
        """
        with self._writing() as session:
            for seen, new in proposals:
                item = session.get(Item, seen.id, with_for_update=True)
                if item is None or item.version != seen.version:
                    continue
                item.fingerprint = fingerprint
                item.proposal, item.confidence = new.proposal, new.confidence
                item.version += 1
                _name_concepts(item, _current(session, item))
                if new.reopened:
                    _add(session, item, Given("reopen", comment=new.reopened), SYSTEM)

    # --- reading ----------------------------------------------------------------------------------

    def queue(
        self,
        id: int,
        part: str = "todo",
        *,
        text: str = "",
        concepts: AbstractSet[str] | None = None,
        order: str = "doubt",
        offset: int = 0,
        limit: int = 50,
    ) -> tuple[list[Entry], int]:
        """Return items of a part of the queue in an order of `ORDERS`, and how many there are.

        Of equal doubt, the most frequent come first. `concepts` are ids, of which one counts for
        each item.
        """
        with self._reading() as session:
            filtered = select(Item.id).where(*_in_part(session, id, part, text, concepts))
            # Ids alone are sorted: whole items are large, and there may be many.
            page = filtered.order_by(*ORDERS[order], Item.id).offset(offset).limit(limit)
            total = session.scalar(_count(filtered)) or 0
            ids = list(session.scalars(page))
            items = {entry.item.id: entry for entry in _entries(session, _with_ids(ids))}
            return [items[id_] for id_ in ids], total

    def concepts(self, id: int) -> set[str]:
        """Return the ids of all concepts that count for an item of a review."""
        with self._reading() as session:
            return {id_ for key in _keys(session, id) for id_ in key.split(_BETWEEN)}

    def item(self, id: int) -> Entry:
        """Return an item with its whole history."""
        with self._reading() as session:
            item = _found(session.get(Item, id), "item", id)
            made = select(Decision).where(Decision.item_id == id).order_by(Decision.id)
            history = tuple(session.scalars(made))
            counts = {decision.id: decision for decision in history}
            return Entry(item, counts.get(item.decision_id or 0), history)

    def alike(self, id: int) -> list[Item]:
        """Return other items to decide that have the same proposal as one, or none as it has none.

        Those with the same words come first, then those spelled most like it.
        """
        with self._reading() as session:
            item = _found(session.get(Item, id), "item", id)
            same = Item.concept == item.concept, Item.fingerprint == item.fingerprint
            undecided = Item.state.in_(FILTERS["todo"]), Item.id != id
            alike = select(Item.id).where(Item.review_id == item.review_id, *same, *undecided)
            if not item.concept:
                alike = alike.where(Item.confidence < 0)
            if not item.fingerprint or item.state not in FILTERS["todo"]:
                return []  # not linked yet, or decided
            ids = list(session.scalars(alike.order_by(*ORDERS["frequency"]).limit(_MOST_ALIKE)))
            items = list(session.scalars(_with_ids(ids)))
        return sorted(
            items, key=lambda other: (not same_words(item, other), -_likeness(item, other))
        )

    def entries(self, id: int, *, proposals: bool = True) -> Iterator[Entry]:
        """Yield all items of a review with what counts, in order; few are in memory at a time.

        Without `proposals`, which are the most of an item, those are not read.
        """
        with self._reading() as session:
            items = select(Item).where(Item.review_id == id).order_by(Item.id)
            items = items.options(*([] if proposals else [defer(Item.proposal, raiseload=True)]))
            yield from _entries(session, items.execution_options(yield_per=_READ))

    def comments(self, id: int) -> dict[int, list[Decision]]:
        """Return what was only commented on the items of a review, in order, by item."""
        comments = select(Decision).join(Item, Item.id == Decision.item_id)
        comments = comments.where(Item.review_id == id, Decision.kind == "comment")
        by_item: dict[int, list[Decision]] = {}
        with self._reading() as session:
            for decision in session.scalars(comments.order_by(Decision.id)):
                by_item.setdefault(decision.item_id, []).append(decision)
        return by_item

    def rows(self, id: int) -> Iterator[tuple[Row, Entry | None]]:
        """Yield the rows of the table as they were given, in order, each with its item, if any."""
        rows = select(Row, Item, Decision).outerjoin(Item, Item.id == Row.item_id)
        rows = rows.outerjoin(Decision, Decision.id == Item.decision_id)
        rows = rows.where(Row.review_id == id).order_by(Row.number)
        with self._reading() as session:
            for row, item, decision in session.execute(rows.execution_options(yield_per=_READ)):
                yield row, Entry(item, decision) if item else None

    # --- deciding ---------------------------------------------------------------------------------

    def decide(
        self,
        id: int,
        decision: Given,
        *,
        version: int,
        who: str,
        also: Mapping[int, int] | None = None,
    ) -> Entry:
        """Add a decision to an item as it was seen, and return the item as it is then.

        `also` has versions of further items of the review by their ids: the decision is theirs too.

        Raises
        ------
        Conflict
            If one of the items has another version by now; nothing is changed.
        InvalidInput
            If there is nothing to undo, or no such item (`Absent`).
        """
        seen = {**(also or {}), id: version}
        with self._writing() as session:
            for_update = select(Item).where(Item.id.in_(seen)).order_by(Item.id).with_for_update()
            items = {item.id: item for item in session.scalars(for_update)}
            review_id = _found(items.get(id), "item", id).review_id
            for id_, expected in seen.items():
                item = items.get(id_)
                if item is None or item.review_id != review_id:
                    raise Absent(f"the review {review_id} has no item {id_}")
                if item.version != expected:
                    raise Conflict(id_)
            for item in items.values():
                item.version += 1
                _add(session, item, decision, who)
        return self.item(id)

    def acceptable(self, id: int, least: float) -> Acceptable:
        """Count what `accept_above` would accept."""
        acceptable = _acceptable(id, least).subquery()
        sums = select(
            func.count(), func.sum(acceptable.c.frequency), func.sum(1 - acceptable.c.confidence)
        )
        with self._reading() as session:
            n, rows, errors = session.execute(sums.select_from(acceptable)).one()
        return Acceptable(n, int(rows or 0), max(0.0, float(errors or 0)))

    def accept_above(self, id: int, least: float, *, expected: int, who: str) -> int:
        """Accept the proposals of all open items that are at least so sure; all or none.

        Raises
        ------
        Changed
            If they are not as many as `expected` any more.
        """
        with self._writing() as session:
            items = list(session.scalars(_acceptable(id, least).with_for_update()))
            if len(items) != expected:
                raise Changed(
                    f"{len(items):,} items are that sure now, and not {expected:,}: look again"
                )
            for item in items:
                item.version += 1
                comment = f"accepted with all of at least {least:g}"
                decision = Given(UNSEEN, tuple(item.proposal["concepts"]), comment)
                _add(session, item, decision, who)
            return len(items)

    def decide_none(
        self,
        id: int,
        part: str,
        text: str,
        *,
        concepts: AbstractSet[str] | None = None,
        comment: str,
        expected: int,
        who: str,
    ) -> int:
        """Decide of all items that `queue` would return that they have no concept; all or none.

        Raises
        ------
        Changed
            If they are not as many as `expected` any more.
        """
        with self._writing() as session:
            conditions = _in_part(session, id, part, text, concepts)
            matching = select(Item).where(*conditions).order_by(Item.id)
            items = list(session.scalars(matching.with_for_update()))
            if len(items) != expected:
                raise Changed(
                    f"{len(items):,} items are here now, and not {expected:,}: look again"
                )
            for item in items:
                item.version += 1
                _add(session, item, Given("nil", (), comment), who)
            return len(items)


# --- the concepts that count ----------------------------------------------------------------------


def _in_part(
    session: Session, id: int, part: str, text: str, concepts: AbstractSet[str] | None
) -> list[ColumnElement[bool]]:
    """Return the conditions of items in a part of a queue, with a text in their mention.

    One of some concepts counts for each, if they are not None.
    """
    conditions = [Item.review_id == id, Item.state.in_(FILTERS[part])]
    if text:
        conditions.append(Item.mention.icontains(text, autoescape=True))
    if concepts is not None:
        keys = (key for key in _keys(session, id) if not concepts.isdisjoint(key.split(_BETWEEN)))
        conditions.append(Item.concept.in_(_listed(session, [*keys])))
    return conditions


def _keys(session: Session, id: int) -> Iterable[str]:
    """Return what the items of a review have in `Item.concept`, each once; an index has it."""
    keys = select(Item.concept).where(Item.review_id == id, Item.concept != "").distinct()
    return session.scalars(keys)


def _listed(session: Session, values: Sequence[str]) -> Select[str]:
    """Select some values, which are one parameter: a database takes only so many."""
    listed = json.dumps(values)
    if session.get_bind().dialect.name == "sqlite":
        return select(func.json_each(listed).table_valued("value").c.value)
    elements = func.json_array_elements_text(cast(literal(listed, Text), JSON))
    return select(elements.column_valued())


def _name_concepts(item: Item, decision: Decision | None) -> None:
    """Write into an item which concepts count: those of a decision, or else of the proposal.

    What a key has no room for is left out.
    """
    concepts = decision.concepts if decision else []
    if not concepts and item.state != "nil":
        concepts = item.proposal.get("concepts", [])
    ids = [concept["id"] for concept in concepts]
    while len(ids) > 1 and len(_BETWEEN.join(ids)) > _LONGEST_KEY:
        ids.pop()
    item.concept = _BETWEEN.join(ids)[:_LONGEST_KEY]


# --- adding decisions -----------------------------------------------------------------------------


def _add(session: Session, item: Item, given: Given, who: str) -> None:
    """Add a decision to an item that is locked, and has its new version already."""
    current = _current(session, item)
    if given.kind == "undo" and current is None:
        raise InvalidInput("nothing was decided here, so there is nothing to undo")
    decision = Decision(
        item_id=item.id,
        version=item.version,
        kind=given.kind,
        concepts=list(given.concepts),
        comment=given.comment,
        fingerprint=item.fingerprint,
        who=who,
        made=time.time(),
        before=item.decision_id,
    )
    session.add(decision)
    session.flush()
    if given.kind == "comment":
        return
    if given.kind == "undo" and current is not None:
        item.decision_id = current.before
        counts = session.get(Decision, current.before) if current.before else None
    else:
        item.decision_id, counts = decision.id, decision
    kinds = {**KINDS, "reopen": "reopened"}
    item.state = "open" if counts is None else kinds[counts.kind]
    _name_concepts(item, counts)


def _current(session: Session, item: Item) -> Decision | None:
    return session.get(Decision, item.decision_id) if item.decision_id else None


def same_words(item: Item, other: Item) -> bool:
    """Tell whether the mentions of two items have the same words, in whatever form and order."""
    return normalise(item.mention, UNORDERED) == normalise(other.mention, UNORDERED)


def _likeness(item: Item, other: Item) -> float:
    """Return how alike two mentions are spelled, from 0 to 1."""
    first, second = (compared.mention[:_LONGEST_COMPARED].lower() for compared in (item, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _waiting(review: Review) -> Select[Item]:
    return select(Item).where(Item.review_id == review.id, Item.fingerprint != review.fingerprint)


def _acceptable(id: int, least: float) -> Select[Item]:
    """Select the open items that may be accepted unseen: those with a contradiction may not."""
    sure = Item.confidence >= max(least, 1e-9)  # 0 is that of items without a proposal
    meant = Item.proposal["by_hand"].as_boolean().is_not(True)
    return select(Item).where(Item.review_id == id, Item.state == "open", sure, meant)


def _with_ids(ids: Sequence[int]) -> Select[Item]:
    return select(Item).where(Item.id.in_(ids))


def _count(selected: Select[Any]) -> Select[int]:
    return select(func.count()).select_from(selected.subquery())


def _entries(session: Session, selected: Select[Item]) -> Iterator[Entry]:
    joined = selected.outerjoin(Decision, Decision.id == Item.decision_id).add_columns(Decision)
    return (Entry(item, decision) for item, decision in session.execute(joined))


def _found(row: _T | None, what: str, id: int) -> _T:
    if row is None:
        raise Absent(f"there is no {what} {id}")
    return row


def decided_ids(decision: Decision | None) -> Sequence[str]:
    """Return the ids of the concepts that a decision links to."""
    return [concept["id"] for concept in decision.concepts] if decision else []
