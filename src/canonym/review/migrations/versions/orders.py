"""Lets the index of doubt hold frequencies too, so that a queue is sorted without its items."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the index again with one column more."""
    op.drop_index("items_by_doubt", "items")
    columns = ["review_id", "state", "confidence", "frequency"]
    op.create_index("items_by_doubt", "items", columns)
