"""``canonym review import``: what reviewers decided, taken over into an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.failures import printable
from canonym.cli.input_encoding import found_encoding
from canonym.cli.named_indexes import open_index
from canonym.cli.options import built_index_option
from canonym.cli.progress import note

if TYPE_CHECKING:
    from canonym.exchange.decisions import Taken

_SHOWN = 5


@click.command("import")
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
    found = read_reviews(file, encoding=encoding or found_encoding(Path(file)))
    if found.made_by not in ("", linker.fingerprint):
        note(f"{file} was made by another index, or before this one was changed.")
    _report(take_reviews(linker, found, **options), dry_run=options["dry_run"])


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
