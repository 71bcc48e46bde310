"""``canonym get``: public terminologies, fetched and indexed by name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from canonym.cli.failures import printable
from canonym.cli.progress import note, stages
from canonym.errors import InvalidInput

if TYPE_CHECKING:
    from canonym.terminology.catalogue import Entry


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--accept-licence",
    is_flag=True,
    help="Accept the licence where one must be accepted, as a script cannot be asked. Read it "
    "first.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Fetch again what is there, or index another --from: there is a new release.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(),
    metavar="PATH",
    help="Fetch nothing, and take this file, or the folder of a release, that you have fetched "
    "yourself.",
)
def get(names: tuple[str, ...], accept_licence: bool, update: bool, source: str | None) -> None:
    """Fetch a public terminology, and index it under its NAME.

    Without NAME, the catalogue is listed: what each terminology is, its licence, its size, and
    whether it is here. Every command takes the name of one that is here for its index. No other
    command fetches anything.

    What breaks off goes on where it stopped. Files and indexes are kept in the folders downloads
    and indexes of your data (CANONYM_DATA_HOME, or canonym in XDG_DATA_HOME, ~/.local/share). A
    file catalogue.toml there adds terminologies, or gives other addresses; the catalogue of the
    package explains its form. Proxies come from the environment (https_proxy). With CANONYM_MIRROR,
    files come from MIRROR/NAME/FILE alone; a folder downloads is such a mirror, served over HTTP or
    as file:///PATH.

    \b
      canonym get
      canonym get hpo
      canonym link --index hpo "no energy" "seizures"
      canonym get ctd-diseases --accept-licence
      canonym get hpo --update
      canonym get loinc --from Loinc_2.80/LoincTable/Loinc.csv
    """
    from canonym.linking.fetched import is_indexed
    from canonym.terminology.catalogue import catalogue_entry, read_catalogue

    if not names:
        if source is not None:
            raise InvalidInput("--from goes with the NAME of a terminology of the catalogue")
        _list(list(read_catalogue().values()))
        return
    if source is not None and len(names) > 1:
        raise InvalidInput("--from is the source of one terminology; name that one alone")
    if source is not None and not update and is_indexed(catalogue_entry(names[0])):
        raise InvalidInput(
            f"{names[0]} is indexed already: with --update the index is replaced, and what was "
            "added to it is kept"
        )
    for entry in [catalogue_entry(name) for name in names]:  # all are known before any is fetched
        _get(entry, accept_licence, update, source)


def _get(entry: Entry, accept_licence: bool, update: bool, source: str | None) -> None:
    from canonym.linking.fetched import FETCHING, IMPORTING, address_of, is_fetched, named_index
    from canonym.terminology import Terminology

    if entry.address and source is None and (update or not is_fetched(entry)):
        licence = f"{entry.licence} ({entry.terms})" if entry.terms else entry.licence
        note(f"{entry.title}\nfrom     {address_of(entry)}\nlicence  {licence}")
        if entry.accept and not accept_licence and sys.stdin.isatty():
            accept_licence = click.confirm("Do you accept it?", err=True)
    with stages(unit={FETCHING: "bytes", IMPORTING: "records"}) as report:
        folder = named_index(
            entry, source=source, update=update, accepted=accept_licence, progress=report
        )
    with Terminology(folder / "terminology.db") as content:
        release = ", ".join(" ".join(filter(None, pair)) for pair in content.sources())
        note(
            f"{entry.name} is here: {content.n_concepts:,} concepts, {content.n_names:,} names"
            f"{release and f' ({release})'}\n"
            f'canonym link --index {entry.name} "..."'
        )


def _list(entries: list[Entry]) -> None:
    rows = [("name", "here", "size", "licence", "terminology"), *map(_row, entries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(printable(line.rstrip()))
    note("`canonym get NAME` fetches and indexes one.")


def _row(entry: Entry) -> tuple[str, ...]:
    from canonym.linking.fetched import is_fetched, is_indexed
    from canonym.linking.named import PACKAGED

    here = "indexed" if is_indexed(entry) else "fetched" if is_fetched(entry) else ""
    if not (here or entry.address):
        here = "comes along" if entry.name in PACKAGED else "by hand"
    return (
        entry.name,
        here,
        entry.size.replace("MB", " MB"),
        entry.licence.partition(":")[0],
        entry.title,
    )
