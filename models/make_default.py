"""Making the encoder that comes with canonym, from the files that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.training.loop.checkpoints import encoder_digest
from canonym.training.subword.fit import fit_subword
from canonym.training.subword.mention_search import MentionQueries, make_query_set
from canonym.types import Encoder
from models.annotated import PARTS, read_annotated
from models.mixture import Mixture, digests, mixture_files, read_mixture
from models.options import free_place, making_options

# --- default encoder ---

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
"""Options of `canonym.training.subword.fit.fit_subword` for the names."""

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
    "teacher_share": 0.5,
    "related_share": 0.1,
}
"""The same for names and mentions together, afterwards. Chosen on the development parts, as is the
order: mentions from the beginning gave less on mentions and on everyday names. What each choice is
worth: ``benchmarks/default_encoder.py``."""

MENTION_SHARE = 0.5
"""Share of the draws that are mentions then."""

ASKED: Mapping[str, Any] = {
    **{name: value for name, value in FINISH.items() if name not in ("steps", "teacher_share")},
    "steps": 500,
    "learning_rate": 1e-3,
    "searched": 300_000,
    "asked_dropout": 0.5,
}
"""The same for the last steps, in which mentions ask besides which name of a terminology they mean
(`canonym.training.subword.mention_search`)."""

ASKING: Mapping[str, int] = {"diseases": 48, "chemicals": 16, "wrong": 10, "right": 5}
"""Mentions of diseases and of chemicals that ask in a batch, and candidates of each."""

OWN_SHARE = 0.4
"""Share of the encoder of the names alone in the similarities that the teacher tells."""

_LEAST_WEIGHT = 1.0  # of a concept whose names a teacher is asked about: no chemical has it
_BLOCK = 16_384


def check_data(data: Path, *, parts: Sequence[str] = PARTS, defined: bool = False) -> None:
    """Make sure that every file is there before hours are spent.

    Raises
    ------
    InvalidInput
        If one is not.
    """
    files = mixture_files(parts, defined=defined)
    missing = [path for path in files.values() if not (data / path).is_file()]
    if missing:
        raise InvalidInput(
            f"{data} lacks {len(missing)} of the files that the encoder is made from "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); give the folder that "
            "holds the terminologies and corpora, or set CANONYM_DATA to it"
        )


def make_default_encoder(
    data: Path,
    *,
    parts: Sequence[str] = PARTS,
    teacher: Encoder | None = None,
    steps: int | None = None,
    questions: bool = True,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> Subword:
    """Fit the subword encoder to the terminologies and mentions under `data`.

    Parameters
    ----------
    data : Path
        The folder with the files of `models.mixture.mixture_files`.
    parts : sequence of str
        Parts of the corpora that are learned from: both for the encoder that is given away, the
        training part alone for one to make choices with.
    teacher : Encoder, optional
        Gives dense vectors; what it takes for similar is learned as well, see
        `canonym.training.subword.losses.multi_positive_loss`. It has to have read `parts` alone. It is
        asked about the names of diseases, not of chemicals, whose letters tell more.
    steps : int, optional
        Steps of the names; those with mentions are a quarter as many, and those in which mentions
        ask a sixteenth. By default as in `OPTIONS`.
    questions : bool
        Whether mentions ask at the end, see `ASKED`.
    seed, log
        Those of `canonym.training.subword.fit.fit_subword`.
    progress : callable, optional
        Called with the number of steps done and in all.

    Returns
    -------
    Subword
        Of 8-bit integers; how it came about is in ``trained``. Equal files, options and libraries
        give equal bytes on the same machine.

    Raises
    ------
    InvalidInput
        If a file is missing.
    Mismatch
        If a document that is learned from is in a test part too.
    """
    check_data(data, parts=parts)
    of_files = {**digests(data, parts), "ICD-10-CM": _package("simple-icd-10-cm")}
    say = log or (lambda _: None)
    first, last, asked = dict(OPTIONS), dict(FINISH), dict(ASKED)
    if steps is not None:
        first["steps"], last["steps"] = steps, max(1, steps // 4)
        asked["steps"] = max(1, steps // 16)
    if teacher is None:
        del last["teacher_share"]  # what was not used is not told
    stages = {"names": (first, ()), "mentions too": (last, parts)}
    if questions and parts:
        stages["mentions ask"] = (asked, parts)
    total = sum(options["steps"] for options, _ in stages.values())
    encoder, done, mixture = None, 0, None
    for name, (options, learned) in stages.items():
        if mixture is None or name == "mentions too":
            mixture = read_mixture(data, parts=learned, mention_share=MENTION_SHARE, log=log)
        told = None
        if teacher is not None and name == "mentions too":
            assert encoder is not None
            told = similarities(mixture, teacher, encoder, log=say)
        say(f"{options['steps']:,} steps")
        encoder = fit_subword(
            mixture.names,
            mixture.concepts,
            weights=mixture.weights,
            name_weights=mixture.name_weights,
            sources=mixture.sources,
            teacher=told,
            related=mixture.related if "related_share" in options else None,
            mention_queries=asking(data, parts) if name == "mentions ask" else (),
            start=encoder,
            quantise=done + options["steps"] == total,
            seed=seed,
            progress=_after(done, total, progress),
            log=log,
            **options,
        )
        done += options["steps"]
    assert encoder is not None
    assert mixture is not None
    trained = {
        "options": {name: options for name, (options, _) in stages.items()},
        "seed": seed,
        "parts": list(parts),
        "mention_share": MENTION_SHARE,
        **({"asking": ASKING} if "mentions ask" in stages else {}),
        **({} if teacher is None else {"teacher": encoder_digest(teacher), "own_share": OWN_SHARE}),
        **mixture.counts,
        "data": of_files,
        "versions": {name: version(name) for name in ("numpy", "scipy")},
    }
    return Subword(encoder.table, scale=encoder.scale, **encoder.options() | {"trained": trained})


def asking(
    data: Path, parts: Sequence[str], kinds: Mapping[str, int] = ASKING
) -> list[MentionQueries]:
    """Return what asks in a batch, of `parts` under `data`.

    Parameters
    ----------
    kinds : mapping
        Like `ASKING`.

    Returns
    -------
    list of MentionQueries
        Mentions of diseases, and of chemicals; only those of which there are some.
    """
    found = []
    for annotated in read_annotated(data, parts):
        names = ((name.text, name.concept_id) for name in annotated.terminology.iter_names())
        questions = make_query_set(annotated.pairs, names)
        n = kinds["chemicals" if annotated.chemicals else "diseases"]
        if questions.texts:
            found.append(MentionQueries(questions, n=n, wrong=kinds["wrong"], right=kinds["right"]))
    return found


def similarities(
    mixture: Mixture,
    teacher: Encoder,
    own: Encoder,
    *,
    log: Callable[[str], None] = lambda _: None,
) -> npt.NDArray[np.float16]:
    """Return vectors whose products are what two encoders take for similar, by their share.

    Parameters
    ----------
    mixture : Mixture
        The names.
    teacher, own : Encoder
        They give dense vectors. The second has `OWN_SHARE`.
    log : callable
        Called with a line of text for each block of names.

    Returns
    -------
    ndarray, shape (n_names, d), float16
        The `teacher` of `canonym.training.subword.fit.fit_subword`; zero for chemicals.

    Raises
    ------
    InvalidInput
        If an encoder gives sparse vectors.
    """
    asked = np.flatnonzero(mixture.weights[mixture.concepts] >= _LEAST_WEIGHT)
    names = [mixture.names[row] for row in asked]
    parts = ((teacher, 1 - OWN_SHARE), (own, OWN_SHARE))
    found: npt.NDArray[np.float16] | None = None
    for start in range(0, len(names), _BLOCK):
        log(f"asking the teacher about {len(names):,} names, {start:,} done")
        block = names[start : start + _BLOCK]
        vectors = np.hstack([share**0.5 * _dense(encoder, block) for encoder, share in parts])
        if found is None:
            found = np.zeros((len(mixture.names), vectors.shape[1]), dtype=np.float16)
        found[asked[start : start + _BLOCK]] = vectors
    return np.zeros((len(mixture.names), 1), np.float16) if found is None else found


def _dense(encoder: Encoder, names: list[str]) -> npt.NDArray[np.float32]:
    vectors = encoder.encode(names)
    if not isinstance(vectors, np.ndarray):
        raise InvalidInput("a teacher gives dense vectors; one with sparse vectors was given")
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    lengths[lengths == 0] = 1
    unit: npt.NDArray[np.float32] = vectors / lengths
    return unit


def _after(
    done: int, total: int, progress: Callable[[int, int], None] | None
) -> Callable[[int, int], None] | None:
    """Return what counts on from the steps that were done before."""
    return None if progress is None else lambda step, _: progress(done + step, total)


def _package(name: str) -> str:
    return f"{name} {version(name)}"


# --- train default ---
# MODULE: ``canonym train default``: make the encoder that comes with canonym again.


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
    from models.make_default import make_default_encoder

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


if __name__ == "__main__":
    default()
