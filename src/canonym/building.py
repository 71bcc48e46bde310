"""Turn a terminology into the folder that a linker opens."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from canonym.encoders import make_encoder, save_encoder
from canonym.encoders.manifest import read_encoder_manifest
from canonym.encoding import Beside, encoder_steps, fit_encoder, reported, write_index
from canonym.errors import InvalidInput
from canonym.files import write_folder, write_manifest
from canonym.indexes.verbatim import VerbatimBuilder
from canonym.learned import Learned, add_targets
from canonym.mentions.spelling import SpellerBuilder
from canonym.settings import Settings, Sieve, chosen_sieves, complete
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.text.memo import MemoNormaliser
from canonym.types import Encoder

__all__ = ["FORMAT", "Progress", "build_folder", "build_linker"]

FORMAT = 1
"""Format number of the folders this version writes, and the newest it reads."""


class Progress(Protocol):
    """Called while something long is built: the stage, how much is done, and of how much."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


def build_folder(
    terminology: Terminology,
    folder: Path,
    *,
    encoders: Sequence[str | Encoder],
    weights: Sequence[float] | None = None,
    settings: Settings,
    learned: Learned | None = None,
    progress: Progress | None = None,
) -> None:
    """Write everything a linker needs to `folder`, which exists and is empty.

    Parameters
    ----------
    terminology : Terminology
        What is linked to. Its file becomes part of the folder.
    folder : Path
        Where to write.
    encoders : sequence of str or Encoder
        What `canonym.encoders.make_encoder` takes, or encoders ready for use. None at all leaves
        the sieves alone to find concepts.
    weights : sequence of float, optional
        One per encoder, 1 each by default.
    settings : Settings
        What is left out has its default.
    learned : Learned, optional
        Names of training mentions, to be searched as well.
    progress : Progress, optional
        Called after every batch of names.

    Raises
    ------
    InvalidInput
        If the weights do not fit the encoders.
    """
    report = progress or _silent
    chosen = complete(settings)
    weights = [1.0] * len(encoders) if weights is None else list(weights)
    if len(weights) != len(encoders):
        raise InvalidInput(
            f"{len(weights)} weights were given for {len(encoders)} encoders; expected one for each"
        )
    if encoders and (min(weights) < 0 or sum(weights) <= 0):
        raise InvalidInput(
            f"the weights are {', '.join(f'{w:g}' for w in weights)}; expected numbers of at least "
            "0, not all of them 0"
        )
    _copy(terminology.path, folder / "terminology.db")
    rows = folder / "rows"
    rows.mkdir()
    np.save(rows / "concept_of_row.npy", terminology.concept_of_row())
    np.save(rows / "scope_of_row.npy", terminology.scope_of_row())
    np.save(rows / "id_rank.npy", terminology.id_rank())
    made = [_add_encoder(terminology, folder, n, given, report) for n, given in enumerate(encoders)]
    with contextlib.ExitStack() as stack:
        beside: dict[int, Beside] = {}
        for number, (_, kind, _) in enumerate(made):
            place = folder / f"index-{number}"
            place.mkdir()
            if not beside and Beside.is_worth_it(terminology, kind):
                process = Beside(terminology, place, folder / f"encoder-{number}", kind)
                beside[number] = stack.enter_context(process)
        speller = SpellerBuilder() if chosen["spelling"] else None
        _add_normal_forms(terminology, folder, chosen_sieves(chosen["sieves"]), speller, report)
        described: list[dict[str, Any]] = []
        for number, (encoder, kind, name) in enumerate(made):
            if number in beside and beside[number].finished(report):
                index = "exact"
            else:
                index = write_index(terminology, folder / f"index-{number}", encoder, kind, report)
            same = sum(one["name"].partition(" ")[0] == name for one in described)
            described.append(
                {
                    "name": f"{name} {same + 1}" if same else name,
                    "weight": weights[number],
                    "index": index,
                    "steps": list(encoder_steps(encoder)),
                }
            )
    add_targets(terminology, folder, learned, chosen, described)
    content = {
        **({} if learned is None else {"mentions": learned.counts}),
        "terminology": {
            "digest": terminology.digest,
            "n_concepts": terminology.n_concepts,
            "n_names": terminology.n_names,
        },
        "encoders": described,
        "settings": chosen,
    }
    write_manifest(folder, kind="linker", format_number=FORMAT, content=content)


def _add_encoder(
    terminology: Terminology, folder: Path, number: int, given: str | Encoder, report: Progress
) -> tuple[Encoder, str, str]:
    """Make an encoder ready and save it; return it with its kind, and what to call it."""
    encoder = make_encoder(given) if isinstance(given, str) else given
    place = folder / f"encoder-{number}"
    fit_encoder(encoder, terminology, report)
    save_encoder(encoder, place)
    kind, _ = read_encoder_manifest(place)
    # A path would make the same index differ from place to place: the kind is name enough.
    return encoder, kind, getattr(encoder, "shipped", kind)


def _add_normal_forms(
    terminology: Terminology,
    folder: Path,
    sieves: Sequence[Sieve],
    speller: SpellerBuilder | None,
    report: Progress,
) -> None:
    """Write what is looked up by normal form, the sieves and the vocabulary, in one pass."""
    if not sieves and speller is None:
        return
    # Where the steps of a sieve go on from those of the one before, so do its strings.
    onwards: list[tuple[bool, MemoNormaliser, VerbatimBuilder]] = []
    before: tuple[str, ...] = ()
    for sieve in sieves:
        follows = bool(before) and sieve.steps[: len(before)] == before
        steps = sieve.steps[len(before) :] if follows else sieve.steps
        onwards.append((follows, MemoNormaliser(steps), VerbatimBuilder()))
        before = sieve.steps
    for batch in reported(terminology, "normal forms", report):
        plain = list(normalise_all(batch, PLAIN))
        forms = batch
        for follows, normalise, builder in onwards:
            forms = normalise(forms) if follows else normalise(batch, plain)
            builder.add(forms)
        if speller is not None:
            speller.add(plain)
    for sieve, (_, _, builder) in zip(sieves, onwards, strict=True):
        place = folder / f"sieve-{sieve.name}"
        place.mkdir()
        builder.finish().save(place)
    if speller is not None:
        place = folder / "speller"
        place.mkdir()
        speller.finish().save(place)


def _silent(stage: str, done: int, total: int) -> None:
    """Take a report of progress and do nothing with it."""


def _copy(source: Path, target: Path) -> None:
    # A terminology file is replaced, never changed: a hard link costs nothing and stays right.
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def build_linker(
    terminology: Terminology,
    folder: str | Path | None,
    *,
    overwrite: bool = False,
    finish: Callable[[Path], None] | None = None,
    **what: Any,
) -> tuple[Path, Path | None]:
    """Write a linker to a folder that appears whole or not at all; see `build_folder`.

    `finish` is called with the folder when all but what may change later is in it.

    Returns
    -------
    tuple of Path and (Path or None)
        The folder, and the temporary folder around it that the caller has to remove when no folder
        was given.
    """
    if folder is not None:
        with write_folder(folder, overwrite=overwrite) as partial:
            build_folder(terminology, partial, **what)
            if finish is not None:
                finish(partial)
        return Path(folder), None
    temporary = Path(tempfile.mkdtemp(prefix="canonym-"))
    try:
        target = temporary / "linker"
        target.mkdir()
        build_folder(terminology, target, **what)
        if finish is not None:
            finish(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return target, temporary
