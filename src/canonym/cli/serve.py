"""``canonym serve``: the service over HTTP."""

from __future__ import annotations

from typing import Any

import click

from canonym.cli.options import Decorator, Number, with_options
from canonym.cli.serve_keys import keys


def _option(flag: str, **settings: Any) -> Decorator:
    """Return an option that an environment variable can set as well."""
    name = flag.removeprefix("--").replace("-", "_").upper()
    return click.option(flag, envvar=f"CANONYM_{name}", show_envvar=True, **settings)


class _Indexes(click.types.StringParamType):
    """Folders, several of which are separated in a variable as they are in PATH."""

    def split_envvar_value(self, rv: str) -> list[str]:
        import os

        return [part for part in rv.split(os.pathsep) if part]


_limits = with_options(
    _option(
        "--threads",
        type=click.IntRange(1, 64),
        default=2,
        show_default=True,
        help="Batches that a worker links at a time.",
    ),
    _option(
        "--queue",
        type=click.IntRange(0),
        default=32,
        show_default=True,
        help="Further batches that may wait; those beyond are answered with 503.",
    ),
    _option(
        "--max-batch",
        type=click.IntRange(10),
        default=1000,
        show_default=True,
        help="Most mentions or queries of a request; a larger one is answered with 413.",
    ),
    _option(
        "--max-body",
        type=click.IntRange(1000),
        default=10_000_000,
        show_default=True,
        help="Most bytes of a request; a larger one is answered with 413.",
    ),
    _option(
        "--rate-limit",
        type=click.IntRange(0),
        default=0,
        help="Most requests a minute, for each key or else address, and each worker; others are "
        "answered with 429.  [default: no limit]",
    ),
)


@click.group(invoke_without_command=True)
@click.pass_context
@_option(
    "--index",
    type=_Indexes(),
    multiple=True,
    metavar="[NAME=]INDEX",
    help="A folder made by `canonym index`, or a name that `canonym info` lists, and the name "
    "under which it is served: that of the folder when left out. Can be repeated. ICD-10-CM "
    "without any.",
)
@_option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; one that other machines reach needs --keys.",
)
@_option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 for a free one.",
)
@_option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Processes that answer; they share the memory of the indexes.",
)
@_option(
    "--keys",
    type=click.Path(),
    default="",
    help="File of API keys, see `canonym serve keys`; every request then needs one.",
)
@_option(
    "--reviews",
    default="",
    metavar="FILE|URL",
    help="Database of reviews: a file, or postgresql://…  [default: canonym/reviews.db in the "
    "folder of the user's data]",
)
@_limits
@_option(
    "--match-confidence",
    type=Number(0, 1),
    default=0.85,  # LEAST_CONFIDENCE of canonym.exchange.auto_accept, which help need not import
    show_default=True,
    help="From this confidence on, a candidate is a match that needs no review. Needs an index "
    "with a confidence from annotated mentions.",
)
@_option(
    "--second-look",
    default="",
    metavar="WHO",
    help="Who chooses where a link is unsure, as for `canonym link`; a language model at an "
    "address is sent the mentions and the text around them.",
)
@_option(
    "--log-mentions", is_flag=True, help="Let the log quote requests where they explain an error."
)
@_option(
    "--public-url",
    default="",
    metavar="URL",
    help="Address at which clients reach the service, behind a proxy.",
)
@_option(
    "--allow-origin",
    multiple=True,
    metavar="ORIGIN",
    help="Origin whose pages may ask a service without keys, such as https://example.org, or * for "
    "all of them. Can be repeated. Without any, the service's own pages, and OpenRefine on this "
    "machine.",
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
    from canonym.cli.progress import note
    from canonym.errors import require
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


serve.add_command(keys)
