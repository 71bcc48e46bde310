"""``canonym map``: the concepts that two terminologies share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from canonym.cli.exchange import day_of, mapping_set_options
from canonym.cli.key_options import KeyCommand
from canonym.cli.named_indexes import open_terminology
from canonym.cli.options import Number, overwrite_option
from canonym.cli.progress import counter, note
from canonym.io.files import write_file
from canonym.io.places import check_outputs

if TYPE_CHECKING:
    import datetime


@click.command("map", cls=KeyCommand)
@click.argument("left", type=click.Path())
@click.argument("right", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="Write this file, as SSSOM.")
@click.option(
    "--many",
    is_flag=True,
    help="Let a concept have several partners. Otherwise the most confident pairs come first, and "
    "each concept has one partner at most.",
)
@click.option(
    "--min-confidence",
    type=Number(0, 1),
    default=0.5,
    help="Leave out pairs with a smaller probability of being right.",
)
@click.option("--no-xrefs", is_flag=True, help="Ignore cross-references of both terminologies.")
@mapping_set_options
@overwrite_option
def map_(
    left: str,
    right: str,
    output: str,
    no_xrefs: bool,
    mapping_set_id: str | None,
    license: str | None,
    date: datetime.datetime | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Map the concepts of LEFT to those of RIGHT, two terminologies.

    All names of a concept count, the margin to the next best partner on either side, the partners
    of parents and children, and cross-references. The result is a mapping set in SSSOM with a
    confidence for each pair. Deprecated concepts are left out.

    \b
      canonym map doid.db mesh.db -o doid-mesh.sssom.tsv
      canonym map doid.db mesh.db -o doid-mesh.sssom.tsv --min-confidence 0.9
    """
    from canonym.exchange.alignment import map_terminologies
    from canonym.exchange.mappings import origin_of
    from canonym.exchange.sssom import write_concept_mappings

    check_outputs({"-o": output}, (left, right), overwrite=overwrite)
    with open_terminology(left) as one, open_terminology(right) as other:
        with counter("Searching", unit="names") as report:
            mapped = map_terminologies(
                one, other, use_xrefs=not no_xrefs, progress=report, **options
            )
        day = day_of(date)
        labelled = ((m, one.concept(m.left).label, other.concept(m.right).label) for m in mapped)
        with (
            write_file(output, overwrite=overwrite) as partial,
            partial.open("w", encoding="utf-8", newline="") as stream,
        ):
            write_concept_mappings(
                stream,
                labelled,
                origin_of(one, one.digest, day),
                origin_of(other, other.digest, day),
                mapping_set_id=mapping_set_id or "",
                license=license or "",
            )
    n = len(mapped)
    note(f"{n:,} {'pair is' if n == 1 else 'pairs are'} in {output}.")
