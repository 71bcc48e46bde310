"""``canonym review export``: a reviewed list, written for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.exchange import check_format_options, choices_of, exchange_options
from canonym.cli.key_options import KeyCommand
from canonym.cli.named_indexes import open_index
from canonym.cli.options import overwrite_option
from canonym.cli.progress import note
from canonym.errors import InvalidInput, ReadError, require
from canonym.io.files import write_file
from canonym.io.places import check_outputs

if TYPE_CHECKING:
    from canonym.review.models import Review
    from canonym.review.store import Store

FORMATS = ("csv", "tsv", "xlsx", "sssom", "usagi", "omop", "fhir", "corpus")
"""Formats of `canonym.review.export`, which needs its extra to be imported."""


@click.command(cls=KeyCommand)
@click.argument("review", metavar="REVIEW")
@click.option("-o", "--output", type=click.Path(), required=True, help="Write this file.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Format of the file.  [default: by its suffix: .csv, .tsv, .xlsx, .sssom.tsv, "
    ".usagi.csv, .omop.csv, .corpus.tsv, .json for FHIR]",
)
@click.option(
    "--reviews",
    envvar="CANONYM_REVIEWS",
    show_envvar=True,
    metavar="FILE|URL",
    help="Database of reviews: a file, or postgresql://…  [default: that of `canonym serve`]",
)
@click.option(
    "-i",
    "--index",
    type=click.Path(),
    help="The index that the list was linked with, by its folder or name. omop needs it; sssom, "
    "usagi and fhir get the version of the terminology from it, and usagi the domains.",
)
@exchange_options
@overwrite_option
def export(
    review: str,
    output: str,
    format_: str | None,
    reviews: str | None,
    index: str | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Write what people decided in REVIEW, which is its number or its name.

    The tables have every row as it was uploaded, with the decision beside it. sssom, omop and fhir
    have what was decided, usagi has all mentions with their status. corpus has the mentions and
    their ids, for `canonym train subword --corpus`, `canonym train` and `canonym evaluate`.

    \b
      canonym review export 1 -o reviewed.xlsx
      canonym review export 1 -o reviewed.sssom.tsv --reviews reviews.db
      canonym review export Wards -o map.csv --index omop --format omop \\
          --format-option source-vocabulary=WARDS
    """
    require("sqlalchemy", "reviews", "service")
    from canonym.review.export import export_review
    from canonym.review.store import Store

    chosen = format_ or _format_of(output)
    check_format_options(chosen, options)
    place = _database(reviews)
    check_outputs({"-o": output}, (place, index), overwrite=overwrite)
    linker = open_index(index) if index else None
    with Store(place) as store:
        found = _find(store, review)
        terminology = linker.terminology if linker else None
        pieces = export_review(store, found.id, chosen, terminology, choices_of(options))
        with write_file(output, overwrite=overwrite) as partial, partial.open("wb") as stream:
            stream.writelines(pieces)
        items = store.progress(found.id)["items"]
    decided = items["linked"] + items["accepted"] + items["nil"]
    note(f"{found.name}: {decided:,} of {sum(items.values()):,} mentions are decided ({output}).")
    if linker is not None and linker.fingerprint != found.fingerprint:
        note(f"{index} has changed since the list was linked, or is another index.")


def _format_of(output: str) -> str:
    name = output.lower()
    for suffix in ("sssom.tsv", "usagi.csv", "omop.csv", "corpus.tsv"):
        if name.endswith(f".{suffix}"):
            return suffix.partition(".")[0]
    last = name.rpartition(".")[2]
    if last == "json":
        return "fhir"
    if last not in ("csv", "tsv", "xlsx"):
        raise InvalidInput(
            f"-o {output} does not say in which format: add --format {' | '.join(FORMATS)}"
        )
    return last


def _database(reviews: str | None) -> str:
    """Return the database; a file has to be there, for opening it would make it."""
    from canonym.review.database import default_place

    place = reviews or default_place()
    if "://" not in place and not Path(place).is_file():
        raise ReadError(
            place,
            "there is no such database of reviews; --reviews names the one of `canonym serve`",
        )
    return place


def _find(store: Store, wanted: str) -> Review:
    known = store.reviews()
    found = [one for one in known if str(one.id) == wanted] or [
        one for one in known if one.name == wanted
    ]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{one.id} {one.name!r:.60}" for one in known[:10]) or "none"
    if found:
        listed = ", ".join(str(one.id) for one in found)
        raise InvalidInput(
            f"several reviews are called {wanted!r}: name one by its number, {listed}"
        )
    raise InvalidInput(f"there is no review {wanted!r:.80}; there are {listed}")
