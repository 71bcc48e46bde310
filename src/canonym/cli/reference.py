"""The pages ``docs/cli``, a command each, made by ``python -m canonym.cli.reference docs/cli``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from canonym.cli import main

_WIDTH = 100
_HEAD = """\
# Command line

`canonym --help`. Each command has a page with what its `--help` says.
"""


def reference() -> dict[str, str]:
    """Return the pages by the names of their files."""
    assert isinstance(main, click.Group)
    root = click.Context(main, None, "canonym", terminal_width=_WIDTH, **main.context_settings)
    commands = {name: main.get_command(root, name) for name in main.list_commands(root)}
    listed = (f"- [`canonym {name}`]({name}.md)\n" for name in commands)
    pages = {"canonym.md": f"{_HEAD}\n{_help(main, root)}\n{''.join(listed)}"}
    for name, command in commands.items():
        assert command is not None
        pages[f"{name}.md"] = "\n".join(_sections(command, click.Context(command, root, name)))[1:]
    return pages


def _help(command: click.Command, ctx: click.Context) -> str:
    return f"```text\n{command.get_help(ctx)}\n```\n"


def _sections(command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield f"## {ctx.command_path}\n\n{_help(command, ctx)}"
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            child = command.get_command(ctx, name)
            if child is not None:
                yield from _sections(child, click.Context(child, ctx, name))


if __name__ == "__main__":  # pragma: no cover - run by `make docs`
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for file, page in reference().items():
        (folder / file).write_text(page, encoding="utf-8")
