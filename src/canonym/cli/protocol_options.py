"""What ``canonym evaluate`` asks about protocols and their variants."""

from __future__ import annotations

import click

from canonym.cli.options import Decorator, with_options

__all__ = ["protocol_options"]

protocol_options: Decorator = with_options(
    click.option(
        "-p",
        "--protocol",
        type=click.Choice(("biosyn", "refined", "zero-shot", "plain", "raw")),
        default="biosyn",
        show_default=True,
        help="The rules: what is asked and what is right.",
    ),
    click.option(
        "--split",
        type=click.Choice(("gold", "text", "file", "none")),
        help="What says that a mention is composite.  [default: gold; file for .concept files]",
    ),
    click.option(
        "--same",
        type=click.Choice(("text", "pair")),
        help="When the refined protocol takes mentions for the same: by text, or by text and ids.",
    ),
    click.option(
        "--glosses",
        is_flag=True,
        help="Look a mention in brackets up as the one before it where that is found better, and "
        "the other way round. Linking does it; the published protocols do not.",
    ),
)
