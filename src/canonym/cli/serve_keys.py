"""``canonym serve keys``: who may use the service."""

from __future__ import annotations

import click

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


@click.group()
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
