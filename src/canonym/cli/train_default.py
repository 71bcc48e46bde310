"""``canonym train default``: make the encoder that comes with canonym again."""

from __future__ import annotations

import click

from canonym.cli.making_options import free_place, making_options

__all__ = ["default"]


@click.command()
@making_options(
    click.option(
        "--steps",
        type=click.IntRange(min=1),
        default=8000,
        show_default=True,
        help="Of names alone; a quarter as many with mentions follow, and a sixteenth in which "
        "mentions ask.",
    ),
    click.option(
        "--questions/--no-questions",
        default=True,
        show_default=True,
        help="Whether mentions ask at the end which name of MEDIC or MeSH they mean. Without: what "
        "the encoder was that found the neighbours for the contextual one.",
    ),
    click.option(
        "--teacher",
        metavar="ENCODER",
        help="An encoder to learn from what it takes for similar: contextual, a folder. It has to "
        "have read the same parts.",
    ),
    parts=("train", "dev", "none"),
    parts_help="Part of the corpora whose mentions are learned from; none for terminologies alone. "
    "Can be repeated.",
)
def default(
    output: str, data: str, parts: tuple[str, ...], steps: int, questions: bool,
    teacher: str | None, seed: int, overwrite: bool, quiet: bool,
) -> None:  # fmt: skip
    """Make the encoder that comes with canonym, from the files it was made from.

    Names of eight open terminologies and of ICD-10-CM, and the mentions of the training and
    development parts of NCBI disease and BC5CDR; a document that is in a test part too is an error.
    Some ten minutes on one core, and as many again with a teacher, which needs its extra; equal
    files, options and libraries give equal bytes on the same machine.

    \b
      canonym train default --data corpora -o default-encoder
      canonym train default --data corpora --part train --seed 1 -o to-choose-with
      canonym train default --data corpora --teacher contextual -o taught
      canonym index medic.db -o medic-index --encoder default-encoder
    """
    from pathlib import Path

    from canonym.cli.description import print_facts
    from canonym.cli.progress import counter
    from canonym.encoders import SHIPPED, make_encoder, save_encoder
    from canonym.errors import InvalidInput
    from canonym.training.default_encoder import make_default_encoder

    place = free_place(output, overwrite=overwrite)
    if "none" in parts and len(parts) > 1:
        raise InvalidInput("--part none was given with another part; give one or the other")
    learned = [part for part in ("train", "dev") if part in parts]
    if teacher in SHIPPED and len(learned) < 2:
        raise InvalidInput(
            f"--teacher {teacher} has read train and dev, and would tell of them; for other parts "
            "give an encoder that has read these alone (`canonym train contextual --part`)"
        )
    total = steps + max(1, steps // 4) + (max(1, steps // 16) if questions and learned else 0)
    with counter("Training", unit="steps", total=total, quiet=quiet) as show:
        encoder = make_default_encoder(
            Path(data),
            parts=learned,
            teacher=None if teacher is None else make_encoder(teacher),
            steps=steps,
            questions=questions,
            seed=seed,
            progress=lambda done, _total: show(done),
            log=None if quiet else lambda line: click.echo(line, err=True),
        )
    save_encoder(encoder, place, overwrite=overwrite)
    if not quiet:
        print_facts(
            {
                "encoder": output,
                "names": f"{encoder.trained['names']:,}",
                "variants": f"{encoder.trained['variants']:,}",
                "mentioned": f"{encoder.trained['mentioned']:,}",
            }
        )
