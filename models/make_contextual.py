"""Make the contextual encoder: ``python -m models.make_contextual --encoder FOLDER -o FOLDER``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from canonym.cli.description import print_facts
from canonym.cli.progress import note, stages
from canonym.cli.verbosity import is_quiet, with_verbosity
from canonym.encoders import make_encoder
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput, Mismatch, require
from canonym.io.files import MANIFEST, check_folder, read_manifest
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.transformer import NameModule
from canonym.training.papers.biosyn import BioSyn
from canonym.training.sampling.name_table import NameTable
from models.mixture import PARTS, check_data, digests, read_annotated, read_mixture
from models.objectives import Contrastive
from models.run import (
    CONTEXT,
    PRECISION,
    RESUME,
    Command,
    Stages,
    checkpoints_beside,
    making_options,
    sentence_encoder,
    usual_precision,
    write_encoder,
)

SETTINGS: Mapping[str, Any] = {
    "max_length": 24,
    "mention_share": 0.3,
    "everyday_weight": 4.0,
    "batches": 280,
    "definitions": 16,
    "related_share": 0.1,
    "contrastive": {
        "epochs": 3,
        "learning_rate": 5e-5,
        "optimizer": "adamw",
        "schedule": "linear",
        "warm_up": 0.1,
    },
    "cosine_scale": 20.0,
    "marginalization": {
        "epochs": 2,
        "learning_rate": 5e-5,
        "optimizer": "adam",
        "schedule": "constant",
    },
    "share": 0.25,
}
"""Chosen on the development parts with encoders that had learned from the training parts alone."""


def make_contextual_encoder(
    data: Path,
    start: str | Path,
    *,
    miner: Subword,
    parts: Sequence[str] = PARTS,
    batches: int | None = None,
    seed: int = 0,
    precision: str = "auto",
    progress: Callable[[str, int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
    checkpoints: Path | None = None,
    resume: bool = False,
) -> tuple[NameModule, dict[str, Any]]:
    """Teach the sentence encoder `start` the terminologies and mentions under `data`.

    First `Contrastive` on names and mentions, in epochs of `batches`. Then BioSyn's synonym
    marginalization on the mentions with the names of MEDIC. Then the average of the weights with
    those of the start, which keeps English that neither stage has. Returns the encoder and the
    facts of its training, ready for JSON.
    """
    check_data(data, parts=parts, defined=True)
    computed = usual_precision() if precision == "auto" else precision
    begun_with = _training(Path(start))  # before the work: it may be damaged
    say = log or (lambda _: None)
    of_files = dict(digests(data, parts, defined=True))
    runs = Stages(checkpoints, resume, data=of_files, progress=progress, log=log)
    runs.check()
    chosen = {**SETTINGS, **({} if batches is None else {"batches": batches})}
    length = chosen["max_length"]
    module = NameModule.read(start, pooling="mean", max_length=length)
    mixture = read_mixture(
        data,
        parts=parts,
        mention_share=chosen["mention_share"],
        everyday_weight=chosen["everyday_weight"],
        defined=True,
        log=log,
    )
    times = chosen["contrastive"]["epochs"]
    say(f"{times} times {chosen['batches']:,} batches of names and mentions")
    objective: Any = Contrastive(
        mixture,
        miner,
        batches=chosen["batches"],
        definitions=chosen["definitions"],
        related_share=chosen["related_share"],
    )
    settings = FitSettings(seed=seed, precision=computed, **chosen["contrastive"])
    runs.run("names and mentions", module, objective, settings)
    del mixture, objective
    objective = _marginalization(data, parts, chosen["cosine_scale"], say)
    say(f"synonym marginalization on {objective.mentions.n_mentions:,} mentions of diseases")
    settings = FitSettings(seed=seed, precision=computed, **chosen["marginalization"])
    runs.run("mentions", module, objective, settings)
    untaught = NameModule.read(start, pooling="mean", max_length=length)
    average_weights(module, untaught, share=chosen["share"])
    return module, {
        "settings": dict(chosen),
        "seed": seed,
        "parts": list(parts),
        "precision": computed,
        "start": begun_with,
        "miner": hashlib.sha256(miner.table.tobytes()).hexdigest(),
        "data": of_files,
    }


def average_weights(module: NameModule, other: NameModule, *, share: float) -> None:
    """Move the weights of one encoder towards those of another, in place.

    Fine-tuning on a few thousand mentions makes an encoder forget some of what it knew. The average
    of the fine-tuned weights and those it began with keeps more of that, at no cost when encoding.

    Notes
    -----
    ``θ = (1 − share) θ + share θ_other`` for every number that is no count.

    References
    ----------
    Wortsman et al. (2022), Robust fine-tuning of zero-shot models.
    """
    if not 0 <= share <= 1:
        raise InvalidInput(f"share is {share}; expected a number between 0 and 1")
    mine, theirs = module.network.state_dict(), other.network.state_dict()
    shapes = [{name: tuple(v.shape) for name, v in state.items()} for state in (mine, theirs)]
    if shapes[0] != shapes[1]:
        first = next(
            name
            for name in {**shapes[0], **shapes[1]}
            if shapes[0].get(name) != shapes[1].get(name)
        )
        raise Mismatch(
            f"the weights cannot be averaged: {first} is {shapes[0].get(first, 'not there')} in "
            f"one and {shapes[1].get(first, 'not there')} in the other; take two encoders of one "
            "architecture and vocabulary"
        )
    module.network.load_state_dict(
        {
            name: value.lerp(theirs[name].to(value), share) if value.is_floating_point() else value
            for name, value in mine.items()
        }
    )


def _marginalization(
    data: Path, parts: Sequence[str], cosine_scale: float, log: Callable[[str], None]
) -> BioSyn:
    """Return the objective of the second stage: mentions, and the names of MEDIC."""
    diseases, chemicals = read_annotated(data, parts, log=log)
    table = NameTable.from_terminology(diseases.terminology, preparation="biosyn")
    pairs = dict.fromkeys([*diseases.pairs, *chemicals.pairs])
    mentions = [(text, [id_]) for text, id_ in pairs]
    return BioSyn(table, mentions, cosine_scale=cosine_scale)


def _training(start: Path) -> Any:
    """Return the facts of the start's training, if canonym made it."""
    if not (start / MANIFEST).is_file():
        return None
    return read_manifest(start, kind="encoder", newest=1).get("training")


@with_verbosity
@click.command(cls=Command, context_settings=CONTEXT)
@sentence_encoder("The sentence encoder to train: all-MiniLM-L6-v2, or a student of it.")
@making_options(
    click.option(
        "--batches",
        type=click.IntRange(min=1),
        default=280,
        show_default=True,
        help="Of each of the three epochs of the first stage, on names and mentions.",
    ),
    click.option(
        "--neighbours",
        default="default",
        show_default=True,
        metavar="ENCODER",
        help="A subword encoder that finds the hard neighbours of names: default has read both "
        "parts; for one part, an encoder of `python -m models.make_default --part`.",
    ),
    PRECISION,
    RESUME,
    parts=("train", "dev"),
    parts_help="Part of the corpora whose mentions are learned from. Can be repeated.",
)
def main(
    encoder: str, output: str, data: str, parts: tuple[str, ...], batches: int, neighbours: str,
    seed: int, precision: str, resume: bool, overwrite: bool,
) -> None:  # fmt: skip
    """Teach a sentence encoder names and mentions, as the contextual encoder was taught.

    Names of open terminologies with the mentions of NCBI disease and BC5CDR, then synonym
    marginalization on the mentions, then the average with the weights it began with. An
    hour and a half on one core that computes in float32, for one of four layers.

    \b
      python -m models.make_student --encoder all-MiniLM-L6-v2 --data corpora -o student
      python -m models.make_contextual --encoder student --data corpora -o taught
      canonym index medic.db -o medic-index --encoder default --encoder taught
    """
    require("torch", "training an encoder", "torch")
    place = Path(output)
    check_folder(place, overwrite=overwrite)
    miner = make_encoder(neighbours)
    if not isinstance(miner, Subword):
        raise InvalidInput(
            f"--neighbours is {neighbours!r}, which is no subword encoder; 'default' is expected, "
            "or a folder that `python -m models.make_default` made"
        )
    with stages(unit="steps") as report:
        module, facts = make_contextual_encoder(
            Path(data),
            encoder,
            miner=miner,
            parts=[part for part in ("train", "dev") if part in parts],
            batches=batches,
            seed=seed,
            precision=precision,
            progress=report,
            log=lambda line: note(line),
            checkpoints=checkpoints_beside(place),
            resume=resume,
        )
    write_encoder(place, module, facts, overwrite=overwrite)
    if not is_quiet():
        print_facts({"encoder": output, "started from": encoder, "seed": seed})


if __name__ == "__main__":
    main()
