"""``canonym fit``: an encoder of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = ["fit"]


@click.command()
@click.argument("terminology", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="Folder to write.")
@click.option("--steps", type=click.IntRange(min=1), default=3000, show_default=True)
@click.option(
    "--batch", type=click.IntRange(min=2), default=512, show_default=True, help="Names in a step."
)
@click.option(
    "--dimensions",
    type=click.IntRange(min=1),
    default=128,
    show_default=True,
    help="Width of the vectors.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--held-out",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="Names set aside to measure the gain in a first run; 0 saves that run.",
)
@click.option("--overwrite", is_flag=True, help="Replace the output if it exists.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no report.")
def fit(
    terminology: str,
    output: str,
    steps: int,
    batch: int,
    dimensions: int,
    seed: int,
    held_out: int,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Fit an encoder to the synonyms of TERMINOLOGY, in minutes and without a GPU.

    Twice: once without some of the names, which are then looked up, to show what is gained over the
    encoder that comes with canonym; and once with all names, which is what is written.

    \b
      canonym fit doid.db -o doid-encoder
      canonym index doid.db -o doid-index --encoder doid-encoder
    """
    import time
    from pathlib import Path

    from canonym.cli.description import print_facts
    from canonym.cli.progress import stages
    from canonym.cli.sources import open_terminology
    from canonym.encoders import save_encoder
    from canonym.errors import InvalidInput
    from canonym.training.subword import fit_subword

    if Path(output).exists() and not overwrite:
        raise InvalidInput(f"{output} exists already; choose another folder or pass --overwrite")
    began = time.monotonic()
    with open_terminology(terminology, quiet=quiet) as opened:
        names = [text for texts in opened.iter_texts() for text in texts]
        concepts = opened.concept_of_row()
    options: dict[str, Any] = {
        "steps": steps,
        "batch": batch,
        "dimensions": dimensions,
        "seed": seed,
    }
    facts: dict[str, Any] = {"encoder": output, "names": len(names)}
    with stages(unit="steps", quiet=quiet) as report:
        if held_out:
            facts |= _gain(names, concepts, held_out, options, report)
        encoder = fit_subword(
            names, concepts, progress=lambda done, total: report("Fitting", done, total), **options
        )
    save_encoder(encoder, output, overwrite=overwrite)
    if not quiet:
        print_facts({**facts, "time": f"{time.monotonic() - began:.0f} s"})


def _gain(
    names: Sequence[str],
    concepts: npt.NDArray[np.int32],
    n: int,
    options: dict[str, Any],
    report: Any,
) -> dict[str, str]:
    """Fit without some names, look these up, and say how that compares with the default encoder."""
    from canonym.encoders import make_encoder
    from canonym.training.held_out import accuracy, hold_out
    from canonym.training.subword import fit_subword

    held = hold_out(names, concepts, n=n, seed=options["seed"])
    fitted = fit_subword(
        [names[row] for row in held.rest],
        concepts[held.rest],
        progress=lambda done, total: report("Fitting without the names set aside", done, total),
        **options,
    )
    before = 100 * accuracy(make_encoder("default"), held, names, concepts)
    after = 100 * accuracy(fitted, held, names, concepts)
    return {
        "names set aside": f"{len(held.names):,} looked up among {len(held.searched):,}",
        "found, default encoder": f"{before:.1f} %",
        "found, fitted encoder": f"{after:.1f} %",
        "gain": f"{after - before:+.1f} points",
    }
