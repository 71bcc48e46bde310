"""Names of a terminology to the vectors of an index, here or in a process beside this one.

A second process is worth its start where there are many names and the encoder keeps to one core:
what else there is to build then goes on meanwhile. It is run as ``python -m canonym.linking.build``, so
nothing of the caller's program is imported again."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from canonym.encoders import load_encoder, make_encoder, save_encoder
from canonym.encoders.saved import read_encoder_manifest
from canonym.errors import CanonymError, InvalidInput, NotTrained
from canonym.indexes.inverted import Inverted
from canonym.indexes.verbatim import VerbatimBuilder
from canonym.io.files import n_cores, write_folder, write_manifest
from canonym.linking.extra_names import Learned, add_targets
from canonym.linking.settings import Settings, Sieve, chosen_sieves, complete
from canonym.mentions.spelling import SpellerBuilder
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.text.memo import MemoNormaliser
from canonym.types import Encoder, Float32Array, SparseVectors

# --- encoding ---

Report = Callable[[str, int, int], None]

_BATCH = 20_000
# Fewer are encoded before a second process has begun.
_MANY = 50_000
# Encoders that keep to one core.
_ONE_CORE = {"subword", "static"}


def encoder_steps(encoder: Any) -> tuple[str, ...]:
    """Return the normalisation that names get before an encoder sees them.

    An encoder with `steps` of its own gets names as they are written. All others get the plain form
    (lower case, no punctuation), as BioSyn gives its encoders.
    """
    return () if hasattr(encoder, "steps") else PLAIN


def fit_encoder(encoder: Any, terminology: Terminology, report: Report) -> None:
    """Fit an encoder to a terminology's names, unless it is ready for use already."""
    try:
        encoder.encode([""])
    except NotTrained:
        steps = encoder_steps(encoder)
        texts = reported(terminology, "counting", report)
        encoder.fit(itertools.chain.from_iterable(normalise_all(b, steps) for b in texts))


def reported(terminology: Terminology, stage: str, report: Report) -> Iterator[list[str]]:
    """Yield the names of a terminology in batches, and report each that was used."""
    done, total = 0, terminology.n_names
    report(stage, done, total)
    for batch in terminology.iter_texts(_BATCH):
        yield batch
        done += len(batch)
        report(stage, done, total)


def write_index(
    terminology: Terminology, place: Path, encoder: Any, kind: str, report: Report
) -> str:
    """Encode all names and write their index; return its kind, a key of `blocks.INDEXES`."""
    steps = encoder_steps(encoder)
    batches = reported(terminology, f"{kind} vectors", report)
    encoded = (encoder.encode(list(normalise_all(batch, steps))) for batch in batches)
    first = next(encoded)
    if isinstance(first, SparseVectors):
        Inverted.build(_stack([first, *encoded])).save(place)
        return "inverted"
    _write_vectors(place, itertools.chain([first], encoded), terminology.n_names, first.shape[1])
    return "exact"


class Beside:
    """A process that encodes the names of a terminology while this one does something else.

    Parameters
    ----------
    terminology : Terminology
        The names.
    place : Path
        Folder of the index.
    encoder : Path
        Folder of the saved encoder.
    kind : str
        Its kind.

    Notes
    -----
    Leaving the context ends the process, whatever it was doing; if this process is killed, the
    other ends when it next tells how far it is.
    """

    def __init__(self, terminology: Terminology, place: Path, encoder: Path, kind: str) -> None:
        self._total, self._stage = terminology.n_names, f"{kind} vectors"
        self._process = subprocess.Popen(
            # -P: not what happens to lie in the current folder.
            [sys.executable, "-P", "-m", "canonym.linking.build"]
            + [str(path) for path in (terminology.path, place, encoder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    @staticmethod
    def is_worth_it(terminology: Terminology, kind: str) -> bool:
        """Return whether a second process would make an index ready sooner."""
        return (
            kind in _ONE_CORE
            and terminology.n_names >= _MANY
            and n_cores() > 1
            and bool(sys.executable)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def finished(self, report: Report) -> bool:
        """Wait for the index; return whether it is there. If not, it has to be made here."""
        assert self._process.stdout is not None
        report(self._stage, 0, self._total)
        for line in self._process.stdout:
            report(self._stage, int(line), self._total)
        return self._process.wait() == 0


def _write_vectors(place: Path, batches: Iterable[Float32Array], n: int, width: int) -> None:
    vectors = np.lib.format.open_memmap(
        place / "vectors.npy", mode="w+", dtype=np.float32, shape=(n, width)
    )
    row = 0
    for batch in batches:
        vectors[row : row + len(batch)] = batch
        row += len(batch)
    vectors.flush()


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


def main(arguments: Sequence[str]) -> int:
    """Encode beside another process: a terminology, the folder of the index, an encoder."""
    path, place, encoder = map(Path, arguments)
    try:
        with Terminology(path) as terminology:
            write_index(
                terminology,
                place,
                load_encoder(encoder),
                "",
                lambda _stage, done, _total: print(done, flush=True),
            )
    except (CanonymError, OSError):
        return 1  # the other process does it again, and says what is wrong
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# --- building ---
# MODULE: Turn a terminology into the folder that a linker opens.

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
