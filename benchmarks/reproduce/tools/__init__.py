"""Commands beside the tables: what the papers needed once, and linking does not."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import click

from canonym.cli.verbosity import with_verbosity

TOOLS = {
    "agreement": "reproduce.tools.corpus:agreement",
    "corpus": "reproduce.tools.corpus:corpus",
    "mcsm": "reproduce.tools.vectors:mcsm",
    "picture": "reproduce.tools.picture:picture",
    "relations": "reproduce.tools.vectors:relations",
    "trials": "reproduce.tools.corpus:trials",
    "word-vectors": "reproduce.tools.word_vectors:word_vectors",
}
"""Name, module and attribute of each."""


def tool(name: str) -> click.Command:
    """Return the command of a name."""
    module, attribute = TOOLS[name].split(":")
    command: click.Command = getattr(importlib.import_module(module), attribute)
    return with_verbosity(command)


def run(arguments: Sequence[str], tables: click.Command) -> None:
    """Run the tool that the first argument names, or else the command of the tables."""
    program = "python benchmarks/reproduce"
    if arguments and arguments[0] in TOOLS:
        tool(arguments[0]).main(list(arguments[1:]), prog_name=f"{program} {arguments[0]}")
    else:
        tables.main(list(arguments), prog_name=program)
