"""The tables of a database of reviews.

Items are what is decided: a mention with its context, once, however many rows have it. Decisions
are only ever added. An item names the one that counts now, and its version grows with each change.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    DDL,
    JSON,
    BigInteger,
    Float,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
    event,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """Base of the models."""

    type_annotation_map = {  # noqa: RUF012
        dict[str, Any]: JSON,
        list[str]: JSON,
        list[dict[str, Any]]: JSON,
        str: Text,
        float: Float(53),
    }


class Review(Base):
    """A list of mentions, and the index that proposes concepts for them.

    ``fingerprint`` is that of the index that all items should be linked with. Items with another
    one wait to be linked; `problem` says why that ended, if it did.
    """

    __tablename__ = "reviews"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    terminology: Mapped[str]
    fingerprint: Mapped[str]
    columns: Mapped[list[str]]
    column: Mapped[str]
    context_column: Mapped[str]
    created: Mapped[float]
    created_by: Mapped[str]
    problem: Mapped[str] = mapped_column(default="")
    shelf: Mapped[str] = mapped_column(default="")  # or "archived" or "deleted"


class Workbook(Base):
    """The workbook that a review was begun from, and which sheet and header were chosen."""

    __tablename__ = "workbooks"

    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), primary_key=True)
    content: Mapped[bytes]
    sheet: Mapped[str | None]
    header_row: Mapped[int | None]


class Item(Base):
    """A mention to decide on, and what the index proposes.

    ``confidence`` is the chance that the proposal is right, or the score where the index has no
    confidence. ``decision_id`` is the decision that counts. ``concept`` has the ids of the concepts
    of that decision, or else of the proposal, a line each. ``state`` is one of `STATES`.
    """

    __tablename__ = "items"
    __table_args__ = (
        Index("items_by_doubt", "review_id", "state", "confidence", "frequency", "concept"),
        Index("items_by_index", "review_id", "fingerprint"),
        Index("items_by_concept", "review_id", "concept"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"))
    mention: Mapped[str]
    context: Mapped[str]
    frequency: Mapped[int] = mapped_column(BigInteger)
    fingerprint: Mapped[str] = mapped_column(default="")
    concept: Mapped[str] = mapped_column(default="")
    proposal: Mapped[dict[str, Any]] = mapped_column(default=dict)
    confidence: Mapped[float] = mapped_column(default=0.0)
    state: Mapped[str] = mapped_column(default="open")
    version: Mapped[int] = mapped_column(default=1)
    decision_id: Mapped[int | None] = mapped_column(default=None)


STATES = ("open", "reopened", "flagged", "accepted", "linked", "nil")
"""States of an item; the first two wait for a decision, and nobody looked at ``accepted``."""


class Row(Base):
    """A row of the table that was given, and the item that its mention is."""

    __tablename__ = "rows"
    __table_args__ = (Index("rows_by_item", "item_id"),)

    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int | None] = mapped_column(ForeignKey("items.id"))
    cells: Mapped[list[str]]


class Decision(Base):
    """Who did what to an item, and when; ``version`` is that of the item since.

    ``before`` is the decision that counted until then, to which an undo returns. ``concepts`` has
    ``id``, ``label``, ``relation`` and ``parents`` of what a link names.
    """

    __tablename__ = "decisions"
    __table_args__ = (UniqueConstraint("item_id", "version"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("items.id"))
    version: Mapped[int]
    kind: Mapped[str]
    concepts: Mapped[list[dict[str, Any]]]
    comment: Mapped[str]
    fingerprint: Mapped[str]
    who: Mapped[str]
    made: Mapped[float]
    before: Mapped[int | None]


def _guard_decisions(dialect: str, statement: str) -> None:
    """Run a statement of a database when the table of decisions is made."""
    guard = DDL(statement).execute_if(dialect=dialect)  # type: ignore[no-untyped-call]
    event.listen(Decision.__table__, "after_create", guard)


_KEPT = "decisions are only ever added"
for _change in ("UPDATE", "DELETE"):
    _guard_decisions(
        "sqlite",
        f"CREATE TRIGGER decisions_{_change.lower()} BEFORE {_change} ON decisions "
        f"BEGIN SELECT RAISE(ABORT, '{_KEPT}'); END",
    )
_guard_decisions(
    "postgresql",
    "CREATE FUNCTION keep_decisions() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{_KEPT}'; END $$",
)
_guard_decisions(
    "postgresql",
    "CREATE TRIGGER decisions_kept BEFORE UPDATE OR DELETE ON decisions "
    "FOR EACH ROW EXECUTE FUNCTION keep_decisions()",
)


class Revision(Base):
    """Which tables these are, in the form of Alembic, which can bring them up to date."""

    __tablename__ = "alembic_version"

    version_num: Mapped[str] = mapped_column(String(32), primary_key=True)
