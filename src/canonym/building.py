"""Turn a terminology into the folder that a linker opens."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from canonym.encoders import make_encoder, save_encoder
from canonym.encoders.manifest import read_encoder_manifest
from canonym.errors import InvalidInput, NotTrained
from canonym.files import write_folder, write_manifest
from canonym.indexes.inverted import Inverted
from canonym.indexes.verbatim import VerbatimBuilder
from canonym.learned import Learned, add_targets
from canonym.mentions.spelling import SpellerBuilder
from canonym.settings import Settings, Sieve, chosen_sieves, complete
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.text.memo import MemoNormaliser
from canonym.types import Encoder, SparseVectors

__all__ = ["FORMAT", "Progress", "build_folder", "build_linker"]

FORMAT = 1
"""Format number of the folders this version writes, and the newest it reads."""

_BATCH = 20_000


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
    speller = SpellerBuilder() if chosen["spelling"] else None
    _add_normal_forms(terminology, folder, chosen_sieves(chosen["sieves"]), speller, report)
    described: list[dict[str, Any]] = []
    for number, given in enumerate(encoders):
        encoder = make_encoder(given) if isinstance(given, str) else given
        place = folder / f"encoder-{number}"
        steps = encoder_steps(encoder)
        fit_encoder(encoder, terminology, report)
        save_encoder(encoder, place)
        kind, _ = read_encoder_manifest(place)
        index = _add_index(terminology, folder / f"index-{number}", encoder, kind, report)
        # A path would make the same index differ from place to place: the kind is name enough.
        name = "default" if given == "default" else kind
        same = sum(one["name"].partition(" ")[0] == name for one in described)
        described.append(
            {
                "name": f"{name} {same + 1}" if same else name,
                "weight": weights[number],
                "index": index,
                "steps": list(steps),
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
    for batch in _reported(terminology, "normal forms", report):
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


def fit_encoder(encoder: Any, terminology: Terminology, report: Progress | None = None) -> None:
    """Fit an encoder to a terminology's names, unless it is ready for use already."""
    try:
        encoder.encode([""])
    except NotTrained:
        steps = encoder_steps(encoder)
        texts = _reported(terminology, "counting", report or _silent)
        encoder.fit(itertools.chain.from_iterable(normalise_all(b, steps) for b in texts))


def _add_index(
    terminology: Terminology, place: Path, encoder: Any, kind: str, report: Progress
) -> str:
    place.mkdir()
    steps = encoder_steps(encoder)
    batches = _reported(terminology, f"{kind} vectors", report)
    encoded = (encoder.encode(list(normalise_all(batch, steps))) for batch in batches)
    first = next(encoded)
    if isinstance(first, SparseVectors):
        Inverted.build(_stack([first, *encoded])).save(place)
        return "inverted"
    vectors = np.lib.format.open_memmap(
        place / "vectors.npy",
        mode="w+",
        dtype=np.float32,
        shape=(terminology.n_names, first.shape[1]),
    )
    row = 0
    for batch in itertools.chain([first], encoded):
        vectors[row : row + len(batch)] = batch
        row += len(batch)
    vectors.flush()
    return "exact"


def encoder_steps(encoder: Any) -> tuple[str, ...]:
    """Return the normalisation that names get before an encoder sees them.

    An encoder with `steps` of its own gets names as they are written. All others get the plain form
    (lower case, no punctuation), as BioSyn gives its encoders.
    """
    return () if hasattr(encoder, "steps") else PLAIN


def _stack(batches: list[SparseVectors]) -> SparseVectors:
    offsets = np.cumsum([0, *(batch.indptr[-1] for batch in batches)])
    return SparseVectors(
        np.concatenate(
            [np.zeros(1, np.int64)]
            + [b.indptr[1:] + offset for b, offset in zip(batches, offsets, strict=False)]
        ),
        np.concatenate([batch.indices for batch in batches]),
        np.concatenate([batch.data for batch in batches]),
        batches[0].n_columns,
    )


def _reported(
    terminology: Terminology, stage: str, report: Callable[[str, int, int], None]
) -> Iterator[list[str]]:
    done, total = 0, terminology.n_names
    report(stage, done, total)
    for batch in terminology.iter_texts(_BATCH):
        yield batch
        done += len(batch)
        report(stage, done, total)


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
