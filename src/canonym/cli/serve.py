"""``canonym serve``: the service over HTTP."""

from __future__ import annotations

import os
from typing import Any

import click

from canonym.cli.options import Decorator, Number, with_options
from canonym.cli.progress import note
from canonym.errors import require


def _option(flag: str, help: str, **settings: Any) -> Decorator:
    """Return an option that an environment variable can set as well."""
    variable = f"CANONYM_{flag.removeprefix('--').replace('-', '_').upper()}"
    return click.option(flag, help=help, envvar=variable, show_envvar=True, **settings)


def _text(flag: str, help: str, **settings: Any) -> Decorator:
    """Return an option that is empty where it is not given."""
    return _option(flag, help, default="", show_default=False, **settings)


class _Indexes(click.types.StringParamType):
    """Folders, several of which are separated in a variable as they are in PATH."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [part for part in rv.split(os.pathsep) if part]


_limits = with_options(
    _option(
        "--threads", "Batches that a worker links at a time.", type=click.IntRange(1, 64), default=2
    ),
    _option(
        "--queue",
        "Further batches that may wait; those beyond are answered with 503.",
        type=click.IntRange(0),
        default=32,
    ),
    _option(
        "--max-batch",
        "Most mentions or queries of a request; a larger one is answered with 413.",
        type=click.IntRange(10),
        default=1000,
    ),
    _option(
        "--max-body",
        "Most bytes of a request; a larger one is answered with 413.",
        type=click.IntRange(1000),
        default=10_000_000,
    ),
    _option(
        "--rate-limit",
        "Most requests a minute, for each key or else address, and each worker; others are "
        "answered with 429.  [default: no limit]",
        type=click.IntRange(0),
        default=0,
        show_default=False,
    ),
)


@click.group(invoke_without_command=True)
@click.pass_context
@_option(
    "--index",
    "A folder made by `canonym index`, or a name that `canonym info` lists, and the name under "
    "which it is served: that of the folder when left out. Can be repeated. ICD-10-CM without any.",
    type=_Indexes(),
    multiple=True,
    metavar="[NAME=]INDEX",
)
@_option(
    "--host",
    "Address to listen on; one that other machines reach needs --keys.",
    default="127.0.0.1",
)
@_option(
    "--port", "Port to listen on; 0 for a free one.", type=click.IntRange(0, 65535), default=8000
)
@_option(
    "--workers",
    "Processes that answer; they share the memory of the indexes.",
    type=click.IntRange(1, 256),
    default=1,
)
@_text(
    "--keys",
    "File of API keys, see `canonym serve keys`; every request then needs one.",
    type=click.Path(),
)
@_text(
    "--reviews",
    "Database of reviews: a file, or postgresql://…  [default: canonym/reviews.db in the folder of "
    "the user's data]",
    metavar="FILE|URL",
)
@_limits
@_option(
    "--match-confidence",
    "From this confidence on, a candidate is a match that needs no review. Needs an index with a "
    "confidence from annotated mentions.",
    type=Number(0, 1),
    default=0.85,  # LEAST_CONFIDENCE of canonym.exchange.auto_accept, which help need not import
)
@_text(
    "--second-look",
    "Who chooses where a link is unsure, as for `canonym link`; a language model at an address is "
    "sent the mentions and the text around them.",
    metavar="WHO",
)
@_option("--log-mentions", "Let the log quote requests where they explain an error.", is_flag=True)
@_text("--public-url", "Address at which clients reach the service, behind a proxy.", metavar="URL")
@_option(
    "--allow-origin",
    "Origin whose pages may ask a service without keys, such as https://example.org, or * for all "
    "of them. Can be repeated. Without any, the service's own pages, and OpenRefine on this "
    "machine.",
    multiple=True,
    metavar="ORIGIN",
)
def serve(ctx: click.Context, host: str, port: int, workers: int, **settings: Any) -> None:
    """Serve linking, reconciliation and pages for people over HTTP.

    \b
      canonym serve
      canonym serve --index doid-index --index mesh=indexes/mesh-2026 --workers 4
      canonym serve --index doid-index --keys keys.db --host 0.0.0.0

    People open the address in a browser: / takes a name, a list or a text and shows the links,
    /reviews a list of mentions of which people decide.
    Programs use /v1/link, /v1/annotate, /v1/search and /v1/concepts/ID, see /openapi.json.
    OpenRefine takes /reconcile/NAME as a reconciliation service. An index that is built again under
    the same name is opened again without a pause. SIGTERM and Ctrl-C let open requests end.
    """
    if ctx.invoked_subcommand is not None:
        return
    from canonym.cli.named_indexes import open_index, open_linker
    from canonym.io.heap import give_large_blocks_back
    from canonym.service import Settings
    from canonym.service.server import check_host, run_server

    require("fastapi", "the service", "service")
    give_large_blocks_back()  # before opening an index starts a thread that tells how far that is
    chosen = Settings(**settings)
    check_host(host, chosen.keys)
    # What cannot be opened is refused before anything is bound; ICD-10-CM is built here.
    for folder in chosen.folders().values():
        open_linker(None) if folder is None else open_index(folder)
    if chosen.reviews:
        from canonym.review.store import Store

        Store(chosen.reviews).close()
    names = ", ".join(chosen.folders())
    run_server(
        chosen,
        host=host,
        port=port,
        workers=workers,
        started=lambda address: note(f"Serving {names} on {address}; Ctrl-C stops it."),
    )


_SCOPES = ("read", "review", "admin")

_file = click.option(
    "--keys",
    "file",
    type=click.Path(),
    envvar="CANONYM_KEYS",
    show_envvar=True,
    required=True,
    help="File of the keys, the same as for `canonym serve`.",
)


@serve.group()
def keys() -> None:
    """Add, list and revoke the API keys of the service.

    Changes count at once, also in a running service. The file holds hashes, from which no key can
    be found.

    \b
      canonym serve keys add "curation team" --scope review --keys keys.db
      canonym serve keys list --keys keys.db
      canonym serve keys revoke 1f0c2a9b --keys keys.db
    """


@keys.command()
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(_SCOPES),
    default="read",
    help="What the key allows: linking and looking up; also changing synonyms and forbidden pairs, "
    "and seeing, deciding and exporting all reviews; everything.",
)
@_file
def add(name: str, scope: str, file: str) -> None:
    """Make a key for NAME and print it, this one time.

    \b
      canonym serve keys add "curation team" --scope review --keys keys.db
    """
    from canonym.service.keys import Keys

    click.echo(Keys.create(file).add(name, scope))


@keys.command("list")
@_file
def list_(file: str) -> None:
    """List the keys as a table: id, name, scope, day of making, day of revoking.

    \b
      canonym serve keys list --keys keys.db
    """
    from datetime import UTC, datetime

    from canonym.service.keys import Keys

    def day(seconds: int | None) -> str:
        return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).date().isoformat()

    click.echo("\t".join(("id", "name", "scope", "created", "revoked")))
    for key in Keys(file).list():
        cells = (key.id, key.name, key.scope, day(key.created), day(key.revoked))
        click.echo("\t".join(cells))


@keys.command()
@click.argument("id_", metavar="ID")
@_file
def revoke(id_: str, file: str) -> None:
    """Revoke the key ID, for good.

    \b
      canonym serve keys revoke 1f0c2a9b --keys keys.db
    """
    from canonym.service.keys import Keys

    Keys(file).revoke(id_)
