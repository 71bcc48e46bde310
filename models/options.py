"""What the commands share that make an encoder from the data folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from canonym.cli.options import Decorator, with_options
from canonym.errors import InvalidInput
from canonym.io import files

__all__ = [
    "PRECISION",
    "RESUME",
    "checkpoints_beside",
    "free_place",
    "making_options",
    "sentence_encoder",
    "write_encoder",
]

PRECISION: Decorator = click.option(
    "--precision",
    type=click.Choice(("auto", "bf16", "fp16", "float32")),
    default="auto",
    show_default=True,
    help="What the encoder computes in; auto is bf16 where that is faster than float32.",
)

RESUME: Decorator = click.option(
    "--resume",
    is_flag=True,
    help="Go on with a run that was stopped, from its checkpoints in OUTPUT.checkpoints.",
)


def sentence_encoder(text: str) -> Decorator:
    """Return the option that names the transformer to begin with; `text` says what it is for."""
    return click.option(
        "-e",
        "--encoder",
        type=click.Path(exists=True, file_okay=False),
        required=True,
        metavar="FOLDER",
        help=text,
    )


def making_options(*own: Decorator, parts: tuple[str, ...] = (), parts_help: str = "") -> Decorator:
    """Return a decorator that adds output, data, parts if any, options of one's own, the rest."""
    of_parts = click.option(
        "--part",
        "parts",
        type=click.Choice(parts),
        multiple=True,
        default=("train", "dev"),
        show_default=True,
        help=parts_help,
    )
    return with_options(
        click.option(
            "-o",
            "--output",
            type=click.Path(),
            required=True,
            metavar="FOLDER",
            help="Folder to write.",
        ),
        click.option(
            "--data",
            type=click.Path(exists=True, file_okay=False),
            envvar="CANONYM_DATA",
            required=True,
            metavar="FOLDER",
            help="The terminologies and corpora.  [default: $CANONYM_DATA]",
        ),
        *((of_parts,) if parts else ()),
        *own,
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Of every draw.",
        ),
        click.option("--overwrite", is_flag=True, help="Replace the output if it exists."),
        click.option("-q", "--quiet", is_flag=True, help="No progress and no report."),
    )


def free_place(output: str, *, overwrite: bool) -> Path:
    """Return where an encoder is to be written, if that can be.

    Raises
    ------
    InvalidInput
        If something is there and may not be replaced, or there is no such parent folder.
    """
    place = Path(output)
    if place.exists() and not overwrite:
        raise InvalidInput(f"{place} exists already; choose another name or pass --overwrite")
    if not place.absolute().parent.is_dir():
        raise InvalidInput(f"{place}: the folder {place.parent} does not exist; create it first")
    return place


def checkpoints_beside(place: Path) -> Path:
    """Return the folder of the checkpoints of what is written to `place`."""
    return place.with_name(f"{place.name}.checkpoints")


def write_encoder(place: Path, module: Any, facts: Mapping[str, Any], *, overwrite: bool) -> None:
    """Write the encoder of a `canonym.training.modules.transformer.NameModule`, and how it came about.

    Its checkpoints are removed then.
    """
    from canonym.training.loop.checkpoints import remove_checkpoints

    with files.write_folder(place, overwrite=overwrite) as partial:
        module.to_encoder().save(partial)
        content = {"encoder": "transformer", "training": facts}
        files.write_manifest(partial, kind="encoder", format_number=1, content=content)
    remove_checkpoints(checkpoints_beside(place))
