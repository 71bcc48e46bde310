"""``canonym index``: a terminology made ready to be linked to."""

from __future__ import annotations

import click

__all__ = ["index"]


@click.command()
@click.argument("terminology", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="Folder to write.")
@click.option(
    "-e",
    "--encoder",
    "encoders",
    multiple=True,
    metavar="SPEC",
    help="default, chargrams, a folder made by `canonym fit`, a transformer, ... Several are "
    "fused. Can be repeated.  [default: default]",
)
@click.option(
    "--weight",
    "weights",
    type=float,
    multiple=True,
    help="Weight of each encoder, in the same order.  [default: 1 each]",
)
@click.option(
    "--spelling/--no-spelling",
    default=True,
    show_default=True,
    help="Correct words that the terminology does not have.",
)
@click.option(
    "--composites/--no-composites",
    default=True,
    show_default=True,
    help="Split composite mentions.",
)
@click.option(
    "--trials", is_flag=True, help="Clean doses, forms and arms off, as for clinical trials."
)
@click.option(
    "--abbreviations",
    type=click.Choice(["auto", "ab3p", "schwartz-hearst"]),
    default="auto",
    show_default=True,
    help="What finds the abbreviations of a document.",
)
@click.option(
    "--min-length",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Mentions shorter than this are looked up, not searched.",
)
@click.option("--overwrite", is_flag=True, help="Replace the output if it exists.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no report.")
def index(
    terminology: str,
    output: str,
    encoders: tuple[str, ...],
    weights: tuple[float, ...],
    spelling: bool,
    composites: bool,
    trials: bool,
    abbreviations: str,
    min_length: int,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Index TERMINOLOGY so that names can be linked to it.

    TERMINOLOGY is a file made by `canonym import`, or a source that it would recognise. The folder
    that is written opens at once, whatever its size, and holds everything that linking needs.

    \b
      canonym index doid.db -o doid-index
      canonym index doid.obo -o doid-index --encoder doid-encoder --encoder chargrams --weight 1 \\
          --weight 0.3
      canonym link --index doid-index "heart attack"
    """
    import time

    from canonym.cli.description import print_facts
    from canonym.cli.progress import stages
    from canonym.cli.sources import open_terminology
    from canonym.linker import Linker

    with open_terminology(terminology, quiet=quiet) as opened:
        began = time.monotonic()
        with stages(quiet=quiet) as report:
            linker = Linker.build(
                opened,
                encoders=encoders or ("default",),
                weights=weights or None,
                spelling=spelling,
                composites=composites,
                trials=trials,
                abbreviations=abbreviations,
                min_length=min_length,
                folder=output,
                overwrite=overwrite,
                progress=report,
            )
        if not quiet:
            described = linker.info()
            print_facts(
                {
                    "index": output,
                    "concepts": opened.n_concepts,
                    "names": opened.n_names,
                    "encoders": described["encoders"],
                    "fingerprint": described["fingerprint"],
                    "time": f"{time.monotonic() - began:.1f} s",
                }
            )
