"""Options that the ways of training share; defaults are those of each paper."""

from __future__ import annotations

from typing import Any

import click

from canonym.cli.annotated import FORMATS
from canonym.cli.options import Decorator, with_options

__all__ = [
    "cosine_options",
    "data_options",
    "loop_options",
    "preparation_option",
    "run_recipe",
    "scratch_options",
]

_FILE = click.Path()
_AT_LEAST_1 = click.IntRange(min=1)


def data_options(*, corpus: str) -> Decorator:
    """Return the options that say what is trained, and on what.

    Parameters
    ----------
    corpus : str
        What the corpus is for: its help; empty for none.
    """
    given = [
        click.option(
            "-e",
            "--encoder",
            required=True,
            metavar="SPEC",
            help="What to begin with: a Hugging Face or sentence-transformers folder, a model of "
            "the hub in the local cache, hf:NAME to download one, or scratch for a small one of "
            "random weights. For few-shot any encoder that `canonym index` takes.",
        ),
        click.option(
            "-t",
            "--terminology",
            "terminologies",
            type=_FILE,
            multiple=True,
            required=True,
            help="A terminology, or a source that `canonym import` recognises. Several are read "
            "one after the other. Can be repeated.",
        ),
    ]
    if corpus:
        given.append(
            click.option(
                "-c",
                "--corpus",
                "corpora",
                type=_FILE,
                multiple=True,
                help=f"{corpus} Can be repeated.",
            )
        )
    return with_options(
        *given,
        click.option(
            "--dev",
            type=_FILE,
            help="An annotated dev part: accuracy@1 of the encoder alone, under BioSyn's protocol, "
            "is measured on it after each epoch.",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(tuple(FORMATS)),
            help="Format of the corpora; recognised when left out.",
        ),
        click.option(
            "--mention-type",
            "types",
            multiple=True,
            metavar="TYPE",
            help="Only mentions of this type, such as Disease. Can be repeated.",
        ),
        click.option(
            "--corrections", type=_FILE, metavar="FILE", help="Words to correct, wrong||right."
        ),
        click.option("-o", "--output", type=_FILE, required=True, help="Folder to write."),
    )


def preparation_option(default: str) -> Decorator:
    """Return the option that says how strings are prepared."""
    return click.option(
        "--preparation",
        type=click.Choice(("biosyn", "none")),
        default=default,
        show_default=True,
        help="What is done to names and mentions: biosyn is lower case without punctuation.",
    )


def cosine_options() -> Decorator:
    """Return the options of a loss of cosines."""
    return with_options(
        click.option(
            "--cosine-scale",
            type=click.FloatRange(min=0, min_open=True),
            help="Train on the cosine times this instead of the inner product, as suits sentence "
            "encoders.",
        ),
        click.option(
            "--cosine-middle",
            type=click.FloatRange(-1, 1),
            default=0.0,
            show_default=True,
            help="Taken off the cosine first; 0.8 suits --loss pair-wise.",
        ),
    )


def scratch_options() -> Decorator:
    """Return the options of a transformer, and of one that begins with nothing."""
    sizes = (("width", 256), ("layers", 4), ("heads", 4), ("vocabulary", 8000))
    return with_options(
        *(
            click.option(
                f"--{name}",
                type=_AT_LEAST_1,
                default=value,
                show_default=True,
                help=f"With --encoder scratch: {_SIZES[name]}.",
            )
            for name, value in sizes
        )
    )


_SIZES = {
    "width": "columns of a vector",
    "layers": "layers of the transformer",
    "heads": "attention heads of a layer",
    "vocabulary": "most tokens",
}


def loop_options(
    *,
    epochs: int | None = 10,
    max_steps: int | None = None,
    batch_size: int,
    batch_help: str,
    learning_rate: float,
    weight_decay: float = 0.01,
    optimizer: str = "adamw",
    schedule: str = "linear",
    warm_up: float = 0.0,
    accumulation: int = 1,
    clip: float | None = None,
    patience: int | None = None,
    pooling: str | None = None,
    max_length: int = 25,
) -> Decorator:
    """Return the options of the loop and of what is written meanwhile, with their defaults.

    Parameters
    ----------
    batch_help : str
        What a batch is counted in.
    pooling, max_length
        Of the transformer; no pooling where none is trained.
    epochs, max_steps, batch_size, learning_rate, weight_decay, optimizer, schedule, warm_up, \
accumulation, clip, patience
        Those of `canonym.training.loop.fit.FitSettings`.
    """
    shown: Any = {"show_default": True}
    # An option without a value is off; click says nothing of it by itself.
    transformer = [
        click.option(
            "--pooling", type=click.Choice(("auto", "cls", "mean", "max")), default=pooling, **shown
        ),
        click.option(
            "--max-length", type=click.IntRange(min=3), default=max_length, **shown,
            help="Most tokens of a name.",
        ),
    ]  # fmt: skip
    return with_options(
        *(transformer if pooling else []),
        click.option(
            "--epochs", type=_AT_LEAST_1, default=epochs, show_default=epochs is not None,
            help="Times to sample and train." + ("" if epochs else "  [default: all --max-steps]"),
        ),
        click.option("--max-steps", type=_AT_LEAST_1, default=max_steps, **shown,
                     help="Stop after so many steps."),
        click.option("--batch-size", type=_AT_LEAST_1, default=batch_size, **shown,
                     help=f"{batch_help} in a batch."),
        click.option("--learning-rate", type=float, default=learning_rate, **shown),
        click.option("--weight-decay", type=float, default=weight_decay, **shown),
        click.option("--optimizer", type=click.Choice(("adamw", "adam")), default=optimizer,
                     **shown),
        click.option("--schedule", type=click.Choice(("linear", "constant")), default=schedule,
                     **shown, help="Whether the rate falls to 0 or stays."),
        click.option("--warm-up", type=float, default=warm_up, **shown,
                     help="Share of the steps in which the rate rises from 0."),
        click.option("--accumulation", type=_AT_LEAST_1, default=accumulation, **shown,
                     help="Batches of a step, of each process."),
        click.option("--clip", type=float, default=clip, show_default=clip is not None,
                     help="Scale longer gradients down to this norm."),
        click.option("--precision", type=click.Choice(("float32", "bf16", "fp16")),
                     default="float32", **shown, help="What the encoder computes in."),
        click.option("--early-stopping", "patience", type=_AT_LEAST_1, default=patience, **shown,
                     metavar="EPOCHS", help="Stop after so many epochs without a better score."),
        click.option("--keep", type=click.Choice(("best", "last")), default="best", **shown,
                     help="Which weights to keep, where there is a score to choose by."),
        click.option("--seed", type=click.IntRange(min=0), default=0, **shown),
        click.option("--device", default="auto", **shown,
                     help="cpu, cuda, cuda:1, mps; auto is a GPU if there is one."),
        click.option("--checkpoints", type=_FILE, metavar="FOLDER",
                     help="Where checkpoints go.  [default: OUTPUT.checkpoints]"),
        click.option("--checkpoint-every", type=_AT_LEAST_1, default=500, **shown,
                     help="Steps between checkpoints; there is one after each epoch too."),
        click.option("--keep-checkpoints", is_flag=True,
                     help="Do not remove them when the encoder is written."),
        click.option("--resume", is_flag=True, help="Go on from the newest whole checkpoint."),
        click.option("--log", type=_FILE, metavar="FILE",
                     help="Write each step's loss and rate as a line of JSON."),
        click.option("--tensorboard", type=_FILE, metavar="FOLDER", help="Log for TensorBoard."),
        click.option("--dry-run", is_flag=True,
                     help="Sample the first epoch, show what is in it, and train nothing."),
        click.option("--overwrite", is_flag=True, help="Replace the output if it exists."),
        click.option("-q", "--quiet", is_flag=True, help="No progress and no report."),
    )  # fmt: skip


def run_recipe(recipe: str, given: dict[str, Any], *names: str, **renamed: str) -> None:
    """Hand what belongs to the objective over under its own names, and the rest as it is."""
    from canonym.cli.train.run import Request, run_training

    options = {name: given.pop(name) for name in names}
    options |= {name: given.pop(flag) for name, flag in renamed.items()}
    run_training(Request(recipe, options, **given))
