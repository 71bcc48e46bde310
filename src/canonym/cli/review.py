"""``canonym review``: what people decided about links, out and back in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.exchange import check_format_options, choices_of, exchange_options
from canonym.cli.failures import printable
from canonym.cli.input_encoding import found_encoding
from canonym.cli.key_options import KeyCommand
from canonym.cli.named_indexes import open_index
from canonym.cli.options import built_index_option, overwrite_option
from canonym.cli.progress import note
from canonym.errors import InvalidInput, ReadError, require
from canonym.io.files import write_file
from canonym.io.places import check_outputs

if TYPE_CHECKING:
    from canonym.exchange.decisions import Taken
    from canonym.review.models import Review
    from canonym.review.store import Store

FORMATS = ("csv", "tsv", "xlsx", "sssom", "usagi", "omop", "fhir", "corpus")
"""Formats of `canonym.review.export`, which needs its extra to be imported."""

_SHOWN = 5


@click.group()
def review() -> None:
    """Take what people decided about links out of a review, or into an index.

    Reviews are made and decided in the browser, see `canonym serve`.

    \b
      canonym review export 1 -o reviewed.xlsx
      canonym review import reviewed.sssom.tsv --index my-index
    """


@review.command(cls=KeyCommand)
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

    export_format = format_ or _format_of(output)
    check_format_options(export_format, options)
    place = _database(reviews)
    check_outputs({"-o": output}, (place, index), overwrite=overwrite)
    linker = open_index(index) if index else None
    with Store(place) as store:
        exported = _find(store, review)
        terminology = linker.terminology if linker else None
        pieces = export_review(store, exported.id, export_format, terminology, choices_of(options))
        with write_file(output, overwrite=overwrite) as partial, partial.open("wb") as stream:
            stream.writelines(pieces)
        items = store.progress(exported.id)["items"]
    decided = items["linked"] + items["accepted"] + items["nil"]
    note(
        f"{exported.name}: {decided:,} of {sum(items.values()):,} mentions are decided ({output})."
    )
    if linker is not None and linker.fingerprint != exported.fingerprint:
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


def _find(store: Store, asked: str) -> Review:
    reviews = store.reviews()
    of_name = [review for review in reviews if review.name == asked]
    matches = [review for review in reviews if str(review.id) == asked] or of_name
    if len(matches) == 1:
        return matches[0]
    if matches:
        numbers = ", ".join(str(review.id) for review in matches)
        raise InvalidInput(
            f"several reviews are called {asked!r}: name one by its number, {numbers}"
        )
    listed = ", ".join(f"{review.id} {review.name!r:.60}" for review in reviews[:10]) or "none"
    raise InvalidInput(f"there is no review {asked!r:.80}; there are {listed}")


@review.command("import")
@click.argument("file", type=click.Path())
@built_index_option
@click.option("--dry-run", is_flag=True, help="Count what would be taken over, and change nothing.")
@click.option(
    "--skip-unknown",
    is_flag=True,
    help="Pass over rows whose concept is not in the terminology, which are refused otherwise.",
)
@click.option("--language", default="en", metavar="TAG", help="Language of the texts.")
@click.option("--encoding", metavar="NAME", help="Encoding of the file; found when left out.")
def import_decisions(file: str, index: str, encoding: str | None, **options: Any) -> None:
    """Take over what reviewers decided in FILE: SSSOM, Usagi, or an exported review.

    Accepted mappings become names of their concepts, as with `canonym synonyms add`. Rejected ones
    are forbidden, as with `canonym synonyms forbid`. All are taken over, or none.

    In SSSOM a row is reviewed if its mapping_justification is semapv:ManualMappingCuration or it
    names a reviewer, and rejected if its predicate_modifier is Not. In Usagi a row is reviewed if
    it is APPROVED, and rejected if its equivalence is UNMATCHED. Tables (CSV, TSV, .xlsx, .ods) and
    FHIR ConceptMaps are those that `canonym review export` wrote. Other rows, broader and narrower
    concepts among them, are passed over and counted.

    \b
      canonym link --index my-index --file names.txt -o links.sssom.tsv
      canonym review import links.sssom.tsv --index my-index --dry-run
      canonym review import links.sssom.tsv --index my-index
      canonym synonyms list --index my-index
    """
    from canonym.exchange.decisions import read_reviews, take_reviews

    linker = open_index(index)
    decisions = read_reviews(file, encoding=encoding or found_encoding(Path(file)))
    if decisions.made_by not in ("", linker.fingerprint):
        note(f"{file} was made by another index, or before this one was changed.")
    _report(take_reviews(linker, decisions, **options), dry_run=options["dry_run"])


def _report(taken: Taken, *, dry_run: bool) -> None:
    n_over = sum(taken.passed_over.values())
    click.echo(f"names        {len(taken.names):>8,}  accepted, {taken.new_names:,} new")
    click.echo(f"forbidden    {len(taken.forbidden):>8,}  rejected, {taken.new_forbidden:,} new")
    click.echo(f"passed over  {n_over:>8,}")
    for reason, count in sorted(taken.passed_over.items(), key=lambda pair: (-pair[1], pair[0])):
        click.echo(printable(f"             {count:>8,}  {reason}"))
    if dry_run:
        note("Nothing was changed: leave out --dry-run to take it over.")
    for text, wanted, instead in taken.without_effect[:_SHOWN]:
        note(
            printable(
                f"{text!r} was accepted for {wanted}, and {instead} is still found, which has the "
                f"name too: `canonym synonyms forbid {text!r} {instead}` changes that."
            )
        )
    if len(taken.without_effect) > _SHOWN:
        note(f"So it is for {len(taken.without_effect) - _SHOWN:,} others.")
