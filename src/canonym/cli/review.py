"""``canonym review``: what people decided about links, out and back in."""

from __future__ import annotations

import click

from canonym.cli.review_export import export
from canonym.cli.review_import import import_decisions


@click.group()
def review() -> None:
    """Take what people decided about links out of a review, or into an index.

    Reviews are made and decided in the browser, see `canonym serve`.

    \b
      canonym review export 1 -o reviewed.xlsx
      canonym review import reviewed.sssom.tsv --index my-index
    """


review.add_command(export)
review.add_command(import_decisions)
