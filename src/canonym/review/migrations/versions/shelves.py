"""Keeps reviews archived or deleted, what was accepted unseen apart, and finds rows of an item."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add a column and an index, and give what was accepted unseen its own state."""
    op.add_column("reviews", sa.Column("shelf", sa.Text, nullable=False, server_default=""))
    op.create_index("rows_by_item", "rows", ["item_id"])
    op.execute(
        "UPDATE items SET state = 'accepted' WHERE state = 'linked' AND decision_id IN "
        "(SELECT id FROM decisions WHERE kind = 'accept')"
    )
