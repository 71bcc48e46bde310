"""``python benchmarks/reproduce picture``: the names of an index laid out in the plane."""

from __future__ import annotations

import click

from canonym.cli.options import Number, overwrite_option
from models.run import CONTEXT, Command

_FILE = click.Path()


@click.command(cls=Command, context_settings=CONTEXT)
@click.option(
    "-i",
    "--index",
    type=_FILE,
    help="A folder made by `canonym index`, or a terminology, which is then indexed for this run. "
    "ICD-10-CM when left out.",
)
@click.option("-o", "--output", type=_FILE, required=True, help="The picture: *.svg or *.png.")
@overwrite_option
@click.option(
    "--by",
    type=click.Choice(("concept", "type")),
    default="concept",
    show_default=True,
    help="What is coloured: several names of each concept, or the labels of concepts of each type.",
)
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Concepts of this type. Can be repeated.  [default: all; by type, the six most frequent]",
)
@click.option("--ids", type=_FILE, metavar="FILE", help="Only the concepts in this file.")
@click.option(
    "--concepts",
    type=click.IntRange(1, 5000),
    help="The most concepts drawn.  [default: 20; by type, 150 of each]",
)
@click.option(
    "--names",
    type=click.IntRange(2, 1000),
    default=12,
    show_default=True,
    help="By concept: the most names of each.",
)
@click.option(
    "--method",
    type=click.Choice(("tsne", "umap")),
    default="tsne",
    show_default=True,
    help="How to lay out; umap needs the package umap-learn.",
)
@click.option(
    "--perplexity",
    type=Number(0, min_open=True),
    help="Neighbours that count.  [default: 30, or fewer]",
)
@click.option(
    "--encoder",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Which encoder of the index.",
)
@click.option("--title", default="", help="What stands above the picture.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
def picture(
    index: str | None,
    output: str,
    overwrite: bool,
    by: str,
    types: tuple[str, ...],
    ids: str | None,
    concepts: int | None,
    names: int,
    method: str,
    perplexity: float | None,
    encoder: int,
    title: str,
    seed: int,
) -> None:
    """Draw the neighbourhoods of an encoder: what it puts together, and what it keeps apart.

    Names are drawn at random (--seed), encoded as the index was made, and laid out in the plane by
    t-SNE or UMAP. In an SVG the pointer shows the name of a point.

    \b
      python benchmarks/reproduce picture --index doid-index -o names.svg
      python benchmarks/reproduce picture --index mesh-index --by type \\
          --type C --type F --type D -o types.svg
    """
    from pathlib import Path

    from canonym.cli.input import read_ids
    from canonym.cli.named_indexes import open_linker
    from canonym.cli.progress import activity, note
    from canonym.errors import InvalidInput
    from canonym.io.places import check_outputs
    from reproduce.measures.pictures import (
        FORMATS,
        choose_names,
        encode_names,
        make_picture,
        write_picture,
    )

    if Path(output).suffix.lower().lstrip(".") not in FORMATS:
        raise InvalidInput(f"{output}: the name of the file has to end in .svg or .png")
    check_outputs({"-o": output}, (index, ids), overwrite=overwrite)
    linker = open_linker(index)
    shown = choose_names(
        linker.terminology,
        by=by,
        types=types,
        ids=read_ids(ids) if ids else (),
        concepts=concepts,
        names=names,
        seed=seed,
    )
    with activity("Placing names"):
        vectors = encode_names(linker, [one.name for one in shown], encoder=encoder)
        found = make_picture(shown, vectors, by=by, method=method, seed=seed, perplexity=perplexity)
    write_picture(found, output, title=title, overwrite=overwrite)
    note(f"{len(shown):,} names in {len(found.groups):,} groups: {output}.")
