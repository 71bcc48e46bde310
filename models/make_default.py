"""Make the default encoder: ``python -m models.make_default --data corpora -o FOLDER``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from canonym.cli.description import print_facts
from canonym.cli.progress import counter
from canonym.cli.verbosity import is_quiet, with_verbosity
from canonym.encoders import make_encoder, save_encoder
from canonym.encoders.subword import NORMAL_STEPS, Subword
from canonym.errors import InvalidInput
from canonym.io.files import check_folder, file_digest
from canonym.training.loop.checkpoints import encoder_digest
from canonym.training.subword.fit_subword import fit_subword
from canonym.types import Encoder
from models.asking import ASKING, asking
from models.distil import distil_subword
from models.general import TEXTS, vectors_of, words_and_phrases
from models.mixture import PARTS, Mixture, check_data, digests, read_mixture
from models.run import CONTEXT, Command, making_options
from models.suite import held_out_ids

OPTIONS: Mapping[str, Any] = {
    "steps": 8000,
    "batch": 512,
    "dimensions": 128,
    "n_bits": 17,
    "temperature": 0.05,
    "dropout": 0.3,
    "learning_rate": 4e-3,
    "hard_neighbours": 1,
    "refresh": 5,
    "positives": 3,
}
"""Options of `fit_subword` for the first stage, on names alone."""

WORDS: Mapping[str, Any] = {"steps": 2000, "batch": 1024, "dropout": 0.3, "learning_rate": 4e-3}
"""Options of `models.distil.distil_subword`, with which a taught encoder
begins."""

FINISH: Mapping[str, Any] = {
    "steps": 2000,
    "batch": 512,
    "temperature": 0.05,
    "dropout": 0.3,
    "learning_rate": 2e-3,
    "hard_neighbours": 1,
    "refresh": 2,
    "searched": 1_000_000,
    "positives": 3,
    "noise": 0.1,
    "related_share": 0.1,
}
"""Options of the second stage, on names and mentions. They and the order of the stages were chosen
on the development parts: mentions from the beginning gave less. ``benchmarks/default_encoder.py``
measures each choice."""

MENTION_SHARE = 0.5
"""Share of the draws in the second stage that are mentions."""

ASKED: Mapping[str, Any] = {
    **FINISH,
    "steps": 500,
    "learning_rate": 1e-3,
    "searched": 300_000,
    "asked_dropout": 0.5,
}
"""Options of the last stage: mentions and names also search their terminology (`models.asking`)."""

RARITY = 0.25
"""How much an index weighs words by how rare they are: chosen on the development parts and the
development suite (``benchmarks/rarity.py``, ``benchmarks/domains.py``)."""


def make_default_encoder(
    data: Path,
    *,
    parts: Sequence[str] = PARTS,
    teacher: Encoder | None = None,
    steps: int | None = None,
    questions: bool = True,
    held_out: Collection[str] = (),
    seed: int = 0,
    read: Callable[..., Mixture] = read_mixture,
    normalisation: Sequence[str] = NORMAL_STEPS,
    facts: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> Subword:
    """Fit the subword encoder to the terminologies and mentions under `data`.

    A `teacher` is a general sentence encoder, with whose vectors of words training begins. `steps`
    are of the first stage; those of the words and of the mentions have a quarter of them, the last
    a sixteenth. `questions` runs the last stage; `held_out` are ids of concepts to leave out.
    `read` takes the arguments of `read_mixture`, and `facts` are kept beside those of
    the training. Equal files, options and libraries give equal bytes on the same machine.
    """
    check_data(data, parts=parts)
    of_files = {**digests(data, parts), "ICD-10-CM": _package("simple-icd-10-cm")}
    if teacher is not None:
        of_files |= {name: file_digest(data / name) for name in TEXTS}
    say = log or (lambda _: None)
    stages = _stages(parts, steps, taught=teacher is not None, questions=questions)
    total = sum(options["steps"] for options, _ in stages.values())
    chosen = {"mention_share": MENTION_SHARE, "held_out": sorted(held_out), "log": log}
    mixture = read(data, parts=(), **chosen)
    encoder, done = None, 0
    for name, (options, learned) in stages.items():
        if name == "mentions too":
            mixture = read(data, parts=learned, **chosen)
        say(f"{options['steps']:,} steps")
        common: dict[str, Any] = {
            "normalisation": normalisation,
            "seed": seed,
            "progress": _after(done, total, progress),
            "log": log,
        }
        done += options["steps"]
        if name == "words":
            assert teacher is not None
            texts = words_and_phrases(data, mixture.names)
            vectors = vectors_of(teacher, texts, log=say)
            encoder = distil_subword(texts, vectors, **options, **common)
            continue
        encoder = fit_subword(
            mixture.names,
            mixture.concepts,
            weights=mixture.weights,
            name_weights=mixture.name_weights,
            sources=mixture.sources,
            related=mixture.related if "related_share" in options else None,
            mention_queries=asking(data, parts, learned=mixture.names if held_out else None)
            if name == "mentions ask"
            else (),
            start=encoder,
            quantise=done == total,
            **options,
            **common,
        )
    assert encoder is not None
    trained = {
        "options": {name: options for name, (options, _) in stages.items()},
        "seed": seed,
        "parts": list(parts),
        "mention_share": MENTION_SHARE,
        **({"asking": ASKING} if "mentions ask" in stages else {}),
        **({} if teacher is None else {"teacher": encoder_digest(teacher)}),
        **mixture.counts,
        **({"held_out": len(held_out)} if held_out else {}),
        **(facts or {}),
        "data": of_files | dict((facts or {}).get("data", {})),
        "versions": {name: version(name) for name in ("numpy", "scipy")},
    }
    options = encoder.options() | {"trained": trained, "rarity": RARITY}
    return Subword(encoder.table, scale=encoder.scale, **options)


def _stages(
    parts: Sequence[str], steps: int | None, *, taught: bool, questions: bool
) -> dict[str, tuple[dict[str, Any], Sequence[str]]]:
    """Return the options of each stage and the parts that it reads."""
    words, first, last, asked = dict(WORDS), dict(OPTIONS), dict(FINISH), dict(ASKED)
    if steps is not None:
        first["steps"], asked["steps"] = steps, max(1, steps // 16)
        words["steps"] = last["steps"] = max(1, steps // 4)
    # The table is made by the first stage, and the manifest names used options only.
    for name in ("dimensions", "n_bits"):
        if taught:
            words[name] = first.pop(name)
    stages: dict[str, tuple[dict[str, Any], Sequence[str]]] = {
        "words": (words, ()),
        "names": (first, ()),
        "mentions too": (last, parts),
        "mentions ask": (asked, parts),
    }
    made = {"words": taught, "mentions ask": bool(questions and parts)}
    return {name: stage for name, stage in stages.items() if made.get(name, True)}


def _after(
    done: int, total: int, progress: Callable[[int, int], None] | None
) -> Callable[[int, int], None] | None:
    """Return a progress callback that counts on from the steps of earlier stages."""
    return None if progress is None else lambda step, _: progress(done + step, total)


def _package(name: str) -> str:
    return f"{name} {version(name)}"


@with_verbosity
@click.command(cls=Command, context_settings=CONTEXT)
@making_options(
    click.option(
        "--steps",
        type=click.IntRange(min=1),
        default=8000,
        show_default=True,
        help="Of the first stage; the second has a quarter of them, the last a sixteenth.",
    ),
    click.option(
        "--questions/--no-questions",
        default=True,
        show_default=True,
        help="Whether mentions search the names of MEDIC and MeSH in a last stage. The encoder "
        "that found the neighbours for the contextual one was made without.",
    ),
    click.option(
        "--hold-out",
        is_flag=True,
        help="Leave out the concepts that the suite of domains asks for.",
    ),
    click.option(
        "--teacher",
        metavar="ENCODER",
        help="Folder of a general sentence encoder, with whose vectors of words training begins: "
        "all-MiniLM-L6-v2 with weights of 8 bits for the shipped encoder.",
    ),
    parts=("train", "dev", "none"),
    parts_help="Part of the corpora whose mentions are learned from; none for terminologies alone. "
    "Can be repeated.",
)
def main(
    output: str, data: str, parts: tuple[str, ...], steps: int, questions: bool,
    hold_out: bool, teacher: str | None, seed: int, overwrite: bool,
) -> None:  # fmt: skip
    """Make the default encoder from the files it was made from.

    Names of nine open terminologies and of ICD-10-CM, and the mentions of the training and
    development parts of NCBI disease and BC5CDR; a document that is in a test part too is an error.
    Some fifteen minutes on one core, and a few more with a teacher, which needs its extra; equal
    files, options and libraries give equal bytes on the same machine.

    \b
      python -m models.make_default --data corpora -o default-encoder
      python -m models.make_default --data corpora --part train --seed 1 -o to-choose-with
      python -m models.make_default --data corpora --teacher all-MiniLM-L6-v2 -o taught
      canonym index medic.db -o medic-index --encoder default-encoder
    """
    place = Path(output)
    check_folder(place, overwrite=overwrite)
    if "none" in parts and len(parts) > 1:
        raise InvalidInput("--part none was given with another part; give one or the other")
    learned = [part for part in ("train", "dev") if part in parts]
    quarters = max(1, steps // 4) * (1 if teacher is None else 2)
    total = steps + quarters + (max(1, steps // 16) if questions and learned else 0)
    with counter("Training", unit="steps", total=total) as show:
        encoder = make_default_encoder(
            Path(data),
            parts=learned,
            teacher=None if teacher is None else make_encoder(teacher),
            steps=steps,
            questions=questions,
            held_out=held_out_ids(Path(data)) if hold_out else (),
            seed=seed,
            progress=lambda done, _total: show(done),
            log=None if is_quiet() else lambda line: click.echo(line, err=True),
        )
    save_encoder(encoder, place, overwrite=overwrite)
    if not is_quiet():
        print_facts(
            {
                "encoder": output,
                "names": f"{encoder.trained['names']:,}",
                "variants": f"{encoder.trained['variants']:,}",
                "mentioned": f"{encoder.trained['mentioned']:,}",
            }
        )


if __name__ == "__main__":
    main()
