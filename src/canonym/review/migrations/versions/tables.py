"""Makes the tables, and keeps decisions from being changed or removed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"  # those before it were of development alone
down_revision = None

_KEPT = "decisions are only ever added"


def upgrade() -> None:
    """Make the tables and the guards of decisions."""
    op.create_table(
        "reviews",
        sa.Column("id", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("name", "terminology")),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("columns", sa.JSON, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("column", "context_column")),
        sa.Column("created", sa.Float(53), nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("created_by", "problem")),
        sa.Column("shelf", sa.Text, nullable=False, server_default=""),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("review_id", sa.Integer, sa.ForeignKey("reviews.id"), nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("mention", "context")),
        sa.Column("frequency", sa.BigInteger, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("proposal", sa.JSON, nullable=False),
        sa.Column("confidence", sa.Float(53), nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("decision_id", sa.Integer),
        sa.Column("concept", sa.Text, nullable=False, server_default=""),
    )
    by_doubt = ["review_id", "state", "confidence", "frequency", "concept"]
    op.create_index("items_by_doubt", "items", by_doubt)
    op.create_index("items_by_concept", "items", ["review_id", "concept"])
    op.create_index("items_by_index", "items", ["review_id", "fingerprint"])
    op.create_table(
        "rows",
        sa.Column("review_id", sa.Integer, sa.ForeignKey("reviews.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("item_id", sa.Integer, sa.ForeignKey("items.id")),
        sa.Column("cells", sa.JSON, nullable=False),
    )
    op.create_index("rows_by_item", "rows", ["item_id"])
    op.create_table(
        "workbooks",
        sa.Column("review_id", sa.Integer, sa.ForeignKey("reviews.id"), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("sheet", sa.Text),
        sa.Column("header_row", sa.Integer),
    )
    op.create_table(
        "decisions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("item_id", sa.Integer, sa.ForeignKey("items.id"), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("concepts", sa.JSON, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("comment", "fingerprint", "who")),
        sa.Column("made", sa.Float(53), nullable=False),
        sa.Column("before", sa.Integer),
        sa.UniqueConstraint("item_id", "version"),
    )
    _guard_decisions()


def _guard_decisions() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for change in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER decisions_{change.lower()} BEFORE {change} ON decisions "
                f"BEGIN SELECT RAISE(ABORT, '{_KEPT}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION keep_decisions() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_KEPT}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER decisions_kept BEFORE UPDATE OR DELETE ON decisions "
        "FOR EACH ROW EXECUTE FUNCTION keep_decisions()"
    )
