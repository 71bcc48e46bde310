"""Lets a queue be sorted, and what has the same proposal be found, without reading its items."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add frequencies to the index of doubt, and a column with the concepts of a proposal."""
    op.add_column("items", sa.Column("concept", sa.Text, nullable=False, server_default=""))
    op.create_index("items_by_concept", "items", ["review_id", "concept"])
    op.drop_index("items_by_doubt", "items")
    columns = ["review_id", "state", "confidence", "frequency"]
    op.create_index("items_by_doubt", "items", columns)
