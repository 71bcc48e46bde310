"""What the commands share that teach an index by a corpus."""

from __future__ import annotations

import click

from canonym.cli.annotated import FORMATS
from canonym.cli.options import Decorator, with_options

__all__ = ["taught_options"]


def taught_options(
    *own: Decorator,
) -> Decorator:
    """Return a decorator that adds the corpus, the index, options of one's own, and the rest."""
    return with_options(
        click.argument("corpus", type=click.Path()),
        click.option(
            "-i",
            "--index",
            type=click.Path(),
            required=True,
            help="A folder made by `canonym index`.",
        ),
        click.option(
            "--mention-type",
            "types",
            multiple=True,
            metavar="TYPE",
            help="Only mentions of this type, such as Disease. Can be repeated.",
        ),
        *own,
        click.option(
            "--format",
            "format_",
            type=click.Choice(tuple(FORMATS)),
            help="Format of the corpus; recognised when left out.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="No report."),
    )
