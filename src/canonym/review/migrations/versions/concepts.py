"""Lets a queue be filtered by the concepts that count: decided ones go before proposed ones."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_LONGEST = 500
_TOGETHER = 1000
_ITEMS = sa.table(
    "items",
    *map(sa.column, ("id", "state", "decision_id", "concept")),
    sa.column("proposal", sa.JSON),
)
_DECISIONS = sa.table("decisions", sa.column("id"), sa.column("concepts", sa.JSON))


def upgrade() -> None:
    """Write the ids of the concepts that count into their column, and that into the index."""
    op.drop_index("items_by_doubt", "items")
    columns = ["review_id", "state", "confidence", "frequency", "concept"]
    op.create_index("items_by_doubt", "items", columns)
    decided = _ITEMS.outerjoin(_DECISIONS, _DECISIONS.c.id == _ITEMS.c.decision_id)
    items = sa.select(_ITEMS, _DECISIONS.c.concepts).select_from(decided).order_by(_ITEMS.c.id)
    connection, last = op.get_bind(), 0
    while rows := connection.execute(items.where(_ITEMS.c.id > last).limit(_TOGETHER)).all():
        last = rows[-1].id
        for row in rows:
            counting = row.concepts or (row.proposal.get("concepts") if row.state != "nil" else ())
            if (key := _key([concept["id"] for concept in counting or ()])) != row.concept:
                changed = sa.update(_ITEMS).where(_ITEMS.c.id == row.id)
                connection.execute(changed.values(concept=key))


def _key(ids: list[str]) -> str:
    while len(ids) > 1 and len("\n".join(ids)) > _LONGEST:
        ids.pop()
    return "\n".join(ids)[:_LONGEST]
