"""``canonym mcp``: tools for agents."""

from __future__ import annotations

import click

from canonym.cli.progress import note
from canonym.errors import require


@click.command()
@click.option(
    "--index",
    multiple=True,
    metavar="[NAME=]INDEX",
    help="A folder made by `canonym index`, or a name that `canonym info` lists, and the name that "
    "agents call it by: that of the folder when left out. Can be repeated. ICD-10-CM without any.",
)
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve over HTTP on this port of 127.0.0.1, 0 for a free one, and not over standard input "
    "and output.",
)
def mcp(index: tuple[str, ...], port: int | None) -> None:
    """Serve tools for agents by the Model Context Protocol (MCP).

    \b
      canonym mcp
      canonym mcp --index icd10cm --index hpo
      canonym mcp --index hpo --http 8765

    A client starts this command and speaks with it over standard input and output. The tools are
    link, annotate, concept, search and map_code. They look up, and change nothing. A name without a
    concept is answered with the reason.
    """
    from canonym.cli.named_indexes import open_index, open_linker

    require("mcp", "canonym mcp", "mcp")
    from canonym.service import Settings
    from canonym.service.agents.server import run

    settings = Settings(index=index)
    # What cannot be opened is refused before anything is served; ICD-10-CM is built here.
    for folder in settings.folders().values():
        open_linker(None) if folder is None else open_index(folder)
    run(
        settings,
        port=port,
        started=lambda address: note(f"Serving tools on {address}; Ctrl-C stops it."),
    )
