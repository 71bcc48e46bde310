"""Runs the steps on the connection that `canonym.review.database` opened."""

from __future__ import annotations

from alembic import context


def run() -> None:
    """Run what is missing, inside the transaction of the connection."""
    context.configure(connection=context.config.attributes["connection"])
    context.run_migrations()


if hasattr(context, "config"):  # it is run by Alembic, and not only imported
    run()
