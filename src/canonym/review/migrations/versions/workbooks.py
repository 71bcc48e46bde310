"""Keeps the workbooks that reviews were begun from, so that they come back as they were."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table of workbooks."""
    op.create_table(
        "workbooks",
        sa.Column("review_id", sa.Integer, sa.ForeignKey("reviews.id"), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("sheet", sa.Text),
        sa.Column("header_row", sa.Integer),
    )
