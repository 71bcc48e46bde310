"""The page ``docs/cli.md``, made by ``python -m canonym.cli.reference > docs/cli.md``."""

from __future__ import annotations

from collections.abc import Iterator

import click

from canonym.cli import main

_WIDTH = 100
_HEAD = """\
# Command line

The output of `--help`, command by command. `python -m canonym.cli.reference` makes this page.
"""


def reference() -> str:
    """Return the page: the help of every command."""
    root = click.Context(
        main,
        info_name="canonym",
        terminal_width=_WIDTH,
        max_content_width=_WIDTH,
        help_option_names=["-h", "--help"],
    )
    return "\n".join([_HEAD, *_sections(main, root)])


def _sections(command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield f"## {ctx.command_path}\n\n```text\n{command.get_help(ctx)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            child = command.get_command(ctx, name)
            if child is not None:
                inner = click.Context(
                    child,
                    info_name=name,
                    parent=ctx,
                    terminal_width=_WIDTH,
                    max_content_width=_WIDTH,
                )
                yield from _sections(child, inner)


if __name__ == "__main__":  # pragma: no cover - run by `make docs`
    click.echo(reference(), nl=False)
