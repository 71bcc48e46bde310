"""The store of reviews: queues, decisions that are only ever added, and no lost update."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, NamedTuple, Self, TypeVar

from sqlalchemy import ColumnElement, Select, event, func, insert, select
from sqlalchemy.orm import Session, defer

from canonym.errors import InvalidInput
from canonym.exchange.mappings import UNSEEN
from canonym.review import queues
from canonym.review.database import check_database, open_database, reachable
from canonym.review.models import STATES, Decision, Item, Review, Row, Workbook
from canonym.review.table import GivenTable, Key

KINDS = {
    "link": "linked",
    UNSEEN: "accepted",
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

_BATCH = 1000  # rows that are written at once
_READ = 200  # items that are in memory at a time; a proposal takes 10 kB
_LONGEST_KEY = 500  # characters; longer ones no index of a database takes
_MOST_ALIKE = 200
_SHOWN_VALUES = 4
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
    """A kind of `KINDS`, a comment, and concepts of a link; if none, those that are proposed."""

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
        # What is decided together has the same moment, by which it is taken back together.
        session = Session(self._writer, expire_on_commit=False, info={"made": time.time()})
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
        """Return all reviews that are not deleted, the newest first."""
        there = select(Review).where(Review.shelf != "deleted").order_by(Review.id.desc())
        with self._reading() as session:
            return list(session.scalars(there))

    def review(self, id: int) -> Review:
        """Return one review."""
        with self._reading() as session:
            return _found(session.get(Review, id), "review", id)

    def change(self, id: int, **changes: str) -> Review:
        """Change fields of a review, such as its `shelf`; what is deleted is only hidden."""
        with self._writing() as session:
            review = _found(session.get(Review, id), "review", id)
            for name, value in changes.items():
                setattr(review, name, value)
            return review

    def workbook(self, id: int) -> Workbook | None:
        """Return the workbook that a review was begun from, if it was."""
        with self._reading() as session:
            return session.get(Workbook, id)

    def progress(self, id: int) -> dict[str, Any]:
        """Count items and rows by state, and what is not linked; say who decided last, and when."""
        review = self.review(id)
        counts = select(Item.state, func.count(), func.sum(Item.frequency)).group_by(Item.state)
        with self._reading() as session:
            counted = {
                state: (n, int(rows))
                for state, n, rows in session.execute(counts.where(Item.review_id == id))
            }
            n_waiting = session.scalar(queues.count(queues.waiting(review)))
            made = select(Decision).join(Item, Item.id == Decision.item_id)
            made = made.where(Item.review_id == id, Decision.who != SYSTEM)
            last = session.scalar(made.order_by(Decision.id.desc()).limit(1))
        return {
            "changed": last and last.made,
            "changed_by": last.who if last else "",
            "items": {state: counted.get(state, (0, 0))[0] for state in STATES},
            "rows": {state: counted.get(state, (0, 0))[1] for state in STATES},
            "total": sum(n for n, _ in counted.values()),
            "waiting": n_waiting or 0,
        }

    # --- linking ----------------------------------------------------------------------------------

    def aim(self, id: int, fingerprint: str) -> None:
        """Say with which index all items should be linked; those of another wait from now on."""
        self.change(id, fingerprint=fingerprint, problem="")

    def waiting(self, id: int, limit: int) -> list[Entry]:
        """Return the first items that wait to be linked, with the decision that counts."""
        with self._reading() as session:
            first = queues.waiting(_found(session.get(Review, id), "review", id))
            return list(_entries(session, first.order_by(Item.id).limit(limit)))

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
                _name_concepts(item, _current(session, item))
                if new.reopened:
                    _add(session, item, Given("reopen", comment=new.reopened), SYSTEM)
                else:
                    item.version += 1

    # --- reading ----------------------------------------------------------------------------------

    def queue(
        self,
        id: int,
        part: queues.Part = "todo",
        *,
        text: str = "",
        concepts: AbstractSet[str] | None = None,
        least: float = 0.0,
        order: queues.Order = "doubt",
        descending: bool = False,
        offset: int = 0,
        limit: int = 50,
    ) -> tuple[list[Entry], int, dict[str, int]]:
        """Return items of a queue in an order of `queues.ORDERS`, how many it has, and by concept.

        Of equal doubt, the most frequent come first. `concepts` are ids, of which one counts for
        each item. With `least` they are what `accept_above` would accept.
        """
        with self._reading() as session:
            conditions = queues.in_part(session, id, part, text, concepts)
            conditions += queues.sure_enough(id, least) if least else []
            filtered = select(Item.id).where(*conditions)
            total = session.scalar(queues.count(filtered)) or 0
            if descending:  # the same page, counted from the end
                end = max(0, total - offset)
                offset, limit = max(0, end - limit), min(limit, end)
            # Ids alone are sorted: whole items are large, and there may be many.
            page = filtered.order_by(*queues.ORDERS[order], Item.id).offset(offset).limit(limit)
            ids = list(session.scalars(page))[:: -1 if descending else 1]
            page_of = select(Item).where(Item.id.in_(ids))
            items = {entry.item.id: entry for entry in _entries(session, page_of)}
            keys = page_of.with_only_columns(Item.concept)
            counts = select(Item.concept, func.count()).where(*conditions, Item.concept.in_(keys))
            alike = session.execute(counts.group_by(Item.concept)).tuples()
            return [items[id_] for id_ in ids], total, dict(alike.all())

    def values(self, item: Item) -> list[dict[str, Any]]:
        """Return what the rows of an item have in the other columns, the most frequent first."""
        rows = select(Row.cells).where(Row.item_id == item.id)
        with self._reading() as session:
            review = _found(session.get(Review, item.review_id), "review", item.review_id)
            cells = list(session.scalars(rows))
        own = (review.column, review.context_column)
        counts = [(name, Counter(row[n] for row in cells)) for n, name in enumerate(review.columns)]
        return [
            {"name": name, "different": len(counter), "values": counter.most_common(_SHOWN_VALUES)}
            for name, counter in counts
            if name not in own
        ]

    def concepts(self, id: int) -> set[str]:
        """Return the ids of all concepts that count for an item of a review."""
        with self._reading() as session:
            return {id_ for key in queues.keys_of(session, id) for id_ in key.split(queues.BETWEEN)}

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
            undecided = Item.state.in_(queues.FILTERS["todo"]), Item.id != id
            alike = select(Item.id).where(Item.review_id == item.review_id, *same, *undecided)
            if not item.concept:
                alike = alike.where(Item.confidence < 0)
            if not item.fingerprint or item.state not in queues.FILTERS["todo"]:
                return []  # not linked yet, or decided
            first = alike.order_by(*queues.ORDERS["frequency"]).limit(_MOST_ALIKE)
            items = list(
                session.scalars(select(Item).where(Item.id.in_(list(session.scalars(first)))))
            )
        return sorted(items, key=lambda other: queues.distance(item, other))

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
        Raises `Conflict` if one of the items has another version by now, and `InvalidInput` if
        there is nothing to undo or propose, or no such item (`Absent`). Nothing is changed then.
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
                _add(session, item, decision, who)
        return self.item(id)

    def undo_last(self, id: int, who: str) -> list[Item]:
        """Take back what a person decided last in a review, and return the items as they are then.

        What was decided at once is taken back at once, but for what somebody changed since.
        """
        counting = Item.review_id == id, Decision.who == who
        own = select(Item).join(Decision, Decision.id == Item.decision_id).where(*counting)
        newest = own.with_only_columns(Decision.made).order_by(Decision.id.desc()).limit(1)
        with self._writing() as session:
            last = own.where(Decision.made == newest.scalar_subquery()).order_by(Item.id)
            items = list(session.scalars(last.with_for_update(of=Item)))
            if not items:
                raise InvalidInput("you have decided nothing here that could be undone")
            for item in items:
                _add(session, item, Given("undo"), who)
            return items

    def acceptable(self, id: int, least: float) -> dict[str, float]:
        """Count the items that `accept_above` would accept, their rows, and expected errors."""
        acceptable = select(Item).where(*queues.sure_enough(id, least)).subquery()
        sums = select(
            func.count(), func.sum(acceptable.c.frequency), func.sum(1 - acceptable.c.confidence)
        )
        with self._reading() as session:
            n, rows, errors = session.execute(sums.select_from(acceptable)).one()
        return {"items": n, "rows": int(rows or 0), "errors": max(0.0, float(errors or 0))}

    def accept_above(
        self, id: int, least: float, *, without: Sequence[int] = (), expected: int, who: str
    ) -> int:
        """Accept the proposals of all open items at least so sure, but those `without`, or none.

        Raises `Changed` if they are not as many as `expected` any more.
        """
        comment = f"accepted with all of at least {least:g}"
        with self._writing() as session:
            conditions = *queues.sure_enough(id, least), Item.id.not_in(without)
            return _decide_all(session, conditions, expected, Given(UNSEEN, (), comment), who)

    def decide_none(
        self,
        id: int,
        part: queues.Part,
        text: str,
        *,
        concepts: AbstractSet[str] | None = None,
        comment: str,
        expected: int,
        who: str,
    ) -> int:
        """Decide of all items that `queue` would return that they have no concept; all or none.

        Raises `Changed` as `accept_above` does.
        """
        with self._writing() as session:
            conditions = queues.in_part(session, id, part, text, concepts)
            return _decide_all(session, conditions, expected, Given("nil", (), comment), who)


# --- the concepts that count ----------------------------------------------------------------------


def _name_concepts(item: Item, decision: Decision | None) -> None:
    """Write into an item which concepts count: those of a decision, or else of the proposal.

    What a key has no room for is left out.
    """
    concepts = decision.concepts if decision else []
    if not concepts and item.state != "nil":
        concepts = item.proposal.get("concepts", [])
    ids = [concept["id"] for concept in concepts]
    while len(ids) > 1 and len(queues.BETWEEN.join(ids)) > _LONGEST_KEY:
        ids.pop()
    item.concept = queues.BETWEEN.join(ids)[:_LONGEST_KEY]


# --- adding decisions -----------------------------------------------------------------------------


def _decide_all(
    session: Session,
    conditions: Iterable[ColumnElement[bool]],
    expected: int,
    decision: Given,
    who: str,
) -> int:
    """Decide all items that meet some conditions, if they are as many as expected."""
    matching = select(Item).where(*conditions).order_by(Item.id)
    items = list(session.scalars(matching.with_for_update()))
    if len(items) != expected:
        raise Changed(f"{len(items):,} items are here now, and not {expected:,}: look again")
    for item in items:
        _add(session, item, decision, who)
    return len(items)


def _add(session: Session, item: Item, given: Given, who: str) -> None:
    """Add a decision to an item that is locked, and give that its next version."""
    item.version += 1
    current = _current(session, item)
    concepts = list(given.concepts)
    if given.kind in ("link", UNSEEN) and not concepts:
        concepts = item.proposal.get("concepts", [])
        if not concepts:
            raise InvalidInput(f"nothing is proposed for {item.mention!r:.100}")
    if given.kind == "undo" and current is None:
        raise InvalidInput("nothing was decided here, so there is nothing to undo")
    decision = Decision(
        item_id=item.id,
        version=item.version,
        kind=given.kind,
        concepts=concepts,
        comment=given.comment,
        fingerprint=item.fingerprint,
        who=who,
        made=session.info["made"],
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
