"""From a terminology to the folder that a linker opens.

Many names are encoded in a second process, where the encoder keeps to one core: the rest is built
meanwhile. It runs as ``python -m canonym.linking.build``, so that nothing of the caller's program
is imported again.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from canonym.encoders import kind_of, load_encoder, make_encoder, save_encoder
from canonym.errors import CanonymError, InvalidInput, NotTrained
from canonym.indexes.exact import write_codes
from canonym.indexes.inverted import Inverted
from canonym.indexes.ivf import Ivf, write_lists
from canonym.indexes.verbatim import VerbatimBuilder
from canonym.io.files import n_cores, write_folder, write_manifest
from canonym.linking.extra_names import (
    TrainingMention,
    TrainingNames,
    training_names,
    with_search,
    write_targets,
)
from canonym.linking.overlay import MergedTerminology, check_overlay, merge_into
from canonym.linking.reranker import check_order, install_order, open_order
from canonym.linking.search import load_encoders
from canonym.linking.settings import Settings, Sieve, chosen_sieves, complete
from canonym.mentions.spelling import SpellerBuilder
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.text.memo import MemoNormaliser
from canonym.types import Encoder, SparseVectors

_log = logging.getLogger(__name__)

FORMAT = 1
"""Format number of the folders this version writes, and the newest it reads."""

KINDS = ("auto", "exact", "ivf")
"""Kinds of index over dense vectors: ``"ivf"`` is approximate, ``"auto"`` takes it for many."""

IVF_FROM = 1_000_000
"""Names from which on ``"auto"`` is ``"ivf"``: fewer take an exact search about 12 ms at most."""

_BATCH = 20_000
_MANY = 50_000  # fewer names are encoded before a second process has begun
_ONE_CORE = {"subword", "static"}  # encoders that keep to one core


class Progress(Protocol):
    """Called while something long is built: the stage, how much is done, and of how much."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


def build_index(
    terminology: Terminology,
    folder: str | Path | None,
    *,
    encoders: Sequence[str | Encoder],
    weights: Sequence[float] | None = None,
    overwrite: bool = False,
    mentions: Iterable[TrainingMention] | None = None,
    fold: str | Path | None = None,
    order: str | Path = "nearest",
    kind: str = "auto",
    progress: Progress | None = None,
    settings: Settings,
) -> tuple[Path, Path | None]:
    """Write an index that appears whole or not at all; see `canonym.Linker.build`.

    Returns the folder, and the temporary folder around it that the caller has to remove, where no
    folder was given.
    """
    if folder is not None and overwrite:
        check_overlay(folder, fold)
    check_order(order)
    index = _chosen_kind(kind, terminology.n_names)
    made = [make_encoder(given) if isinstance(given, str) else given for given in encoders]
    open_order(order, _names_of(made))
    training = None if mentions is None else training_names(terminology, mentions)
    settings = with_search(settings, training)
    merged = MergedTerminology(terminology)
    if fold is not None:
        merged = merge_into(terminology, fold, newest=FORMAT)

    def write(place: Path) -> None:
        report = progress or _silent
        _write(merged.terminology, place, made, weights, settings, training, index, report)
        merged.finish(place)
        if str(order) != "nearest":
            install_order(order, _names_of(made), place)

    if folder is not None:
        with write_folder(folder, overwrite=overwrite) as partial:
            write(partial)
        return Path(folder), None
    temporary = Path(tempfile.mkdtemp(prefix="canonym-"))
    try:
        target = temporary / "linker"
        target.mkdir()
        write(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return target, temporary


def _write(
    terminology: Terminology,
    folder: Path,
    encoders: Sequence[Encoder],
    weights: Sequence[float] | None,
    settings: Settings,
    training: TrainingNames | None,
    index: str,
    report: Progress,
) -> None:
    """Write everything a linker needs to an existing, empty folder."""
    chosen = complete(settings)
    weights = _checked_weights(weights, len(encoders))
    _log.info("index %s concepts, %s names", terminology.n_concepts, terminology.n_names)
    _copy(terminology.path, folder / "terminology.db")
    rows = folder / "rows"
    rows.mkdir()
    np.save(rows / "concept_of_row.npy", terminology.concept_of_row())
    np.save(rows / "scope_of_row.npy", terminology.scope_of_row())
    np.save(rows / "id_rank.npy", terminology.id_rank())
    kinds = _add_encoders(terminology, folder, encoders, report)
    with contextlib.ExitStack() as stack:
        process: dict[int, EncodingProcess] = {}
        for number, kind in enumerate(kinds):
            place = folder / f"index-{number}"
            place.mkdir()
            if not process and EncodingProcess.is_worth_it(terminology, kind):
                process[number] = stack.enter_context(
                    EncodingProcess(terminology, place, folder / f"encoder-{number}", kind, index)
                )
        speller = SpellerBuilder() if chosen["spelling"] else None
        _add_normal_forms(terminology, folder, chosen_sieves(chosen["sieves"]), speller, report)
        described: list[dict[str, Any]] = []
        for number, name in enumerate(_names_of(encoders)):
            encoder, kind = encoders[number], kinds[number]
            place = folder / f"index-{number}"
            if not (number in process and process[number].finished(report)):
                write_index(terminology, place, encoder, kind, index, report)
            described.append(
                {
                    "name": name,
                    "weight": weights[number],
                    **_described_index(place),
                    "steps": list(encoder_steps(encoder)),
                }
            )
    saved = load_encoders(folder, described) if training else []
    encode = [encoder.encode for encoder in saved]
    write_targets(terminology, folder, training, chosen, described, encode)
    content = {
        **({} if training is None else {"mentions": training.counts}),
        "terminology": {
            "digest": terminology.digest,
            "n_concepts": terminology.n_concepts,
            "n_names": terminology.n_names,
        },
        "encoders": described,
        "settings": chosen,
    }
    write_manifest(folder, kind="linker", format_number=FORMAT, content=content)


def _chosen_kind(kind: str, n_names: int) -> str:
    if kind not in KINDS:
        raise InvalidInput(f"kind is {kind!r}; expected one of {', '.join(KINDS)}")
    if kind == "auto":
        return "ivf" if n_names >= IVF_FROM else "exact"
    return kind


def _described_index(place: Path) -> dict[str, Any]:
    """Describe the index in a folder: its kind, a key of `extra_names.INDEXES`, and its recall."""
    if not (place / "vectors.npy").exists():
        return {"index": "inverted"}
    if not (place / "recall.json").exists():
        return {"index": "exact"}
    index = Ivf.load(place)
    probes, at_1, at_10 = index.recall
    found = {"lists": index.n_lists, "probes": probes, "recall@1": at_1, "recall@10": at_10}
    return {"index": "ivf", **found}


def _checked_weights(weights: Sequence[float] | None, n: int) -> list[float]:
    weights = [1.0] * n if weights is None else list(weights)
    if len(weights) != n:
        raise InvalidInput(
            f"{len(weights)} weights were given for {n} encoders; expected one for each"
        )
    numbers = all(isinstance(w, Real) and not isinstance(w, bool) for w in weights)
    if n and not (numbers and min(weights) >= 0 and 0 < sum(weights) < math.inf):
        given = ", ".join(f"{w:g}" if isinstance(w, Real) else repr(w) for w in weights)
        raise InvalidInput(
            f"the weights are {given}; expected numbers of at least 0, not all of them 0"
        )
    return weights


def _add_encoders(
    terminology: Terminology, folder: Path, encoders: Sequence[Encoder], report: Progress
) -> list[str]:
    """Make encoders ready and save them; return their kinds."""
    for number, encoder in enumerate(encoders):
        fit_encoder(encoder, terminology, report)
        save_encoder(encoder, folder / f"encoder-{number}")
    return [kind_of(encoder) for encoder in encoders]


def _names_of(encoders: Sequence[Encoder]) -> list[str]:
    """Name encoders after what is shipped, or after their kind; equal names are numbered."""
    found: list[str] = []
    for encoder in encoders:
        # A path would make the same index differ from place to place: the kind is name enough.
        name = getattr(encoder, "shipped", None) or kind_of(encoder)
        same = sum(one.partition(" ")[0] == name for one in found)
        found.append(f"{name} {same + 1}" if same else name)
    return found


def _add_normal_forms(
    terminology: Terminology,
    folder: Path,
    sieves: Sequence[Sieve],
    speller: SpellerBuilder | None,
    report: Progress,
) -> None:
    """Write the sieves and the vocabulary of the speller, in one pass over the names."""
    if not sieves and speller is None:
        return
    # A sieve whose steps begin with those of the one before goes on from its strings.
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


def encoder_steps(encoder: Any) -> tuple[str, ...]:
    """Return the normalisation of names before an encoder sees them.

    An encoder with `steps` gets names as they are written. All others get the plain form (lower
    case, no punctuation), as BioSyn gives its encoders.
    """
    return () if hasattr(encoder, "steps") else PLAIN


def fit_encoder(encoder: Any, terminology: Terminology, report: Progress) -> None:
    """Fit an encoder to a terminology's names, unless it is ready for use already."""
    try:
        encoder.encode([""])
    except NotTrained:
        steps = encoder_steps(encoder)
        texts = reported(terminology, "counting", report)
        encoder.fit(itertools.chain.from_iterable(normalise_all(b, steps) for b in texts))


def reported(terminology: Terminology, stage: str, report: Progress) -> Iterator[list[str]]:
    """Yield the names of a terminology in batches, and report each that was used."""
    done, total = 0, terminology.n_names
    report(stage, done, total)
    for batch in terminology.iter_texts(_BATCH):
        yield batch
        done += len(batch)
        report(stage, done, total)


def write_index(
    terminology: Terminology, place: Path, encoder: Any, kind: str, index: str, report: Progress
) -> None:
    """Encode all names and write their index: of the kind `index`, if vectors are dense."""
    steps = encoder_steps(encoder)
    batches = reported(terminology, f"{kind} vectors", report)
    encoded = (encoder.encode(list(normalise_all(batch, steps))) for batch in batches)
    first = next(encoded)
    if isinstance(first, SparseVectors):
        Inverted.build(_stack([first, *encoded])).save(place)
        return
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
    if index == "ivf":
        write_lists(vectors, place, report)
    else:
        write_codes(vectors, place)


class EncodingProcess:
    """A process that encodes the names of a terminology while this one does something else.

    Leaving the context ends the process. If this process is killed, the other one ends too: its
    standard input is closed.
    """

    def __init__(
        self, terminology: Terminology, place: Path, encoder: Path, kind: str, index: str
    ) -> None:
        given = [str(terminology.path), str(place), str(encoder), kind, index]
        self._process = subprocess.Popen(
            # -P: nothing is imported from the current folder.
            [sys.executable, "-P", "-m", "canonym.linking.build", *given],
            stdin=subprocess.PIPE,
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

    def finished(self, report: Progress) -> bool:
        """Wait for the index; return whether it was written. If not, it has to be made here."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            stage, done, total = line.rsplit(maxsplit=2)
            report(stage, int(done), int(total))
        return self._process.wait() == 0


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
    """Encode beside another process: a terminology, folders of index and encoder, their kinds."""
    path, place, encoder, kind, index = arguments
    try:
        with Terminology(path) as terminology:
            write_index(
                terminology,
                Path(place),
                load_encoder(Path(encoder)),
                kind,
                index,
                lambda *progress: print(*progress, flush=True),
            )
    except (CanonymError, OSError):
        return 1  # the other process does it again, and reports the error
    return 0


def _end_with_parent() -> None:
    """End this process when the one that started it has ended, however it did."""
    os.read(0, 1)  # nothing is ever written
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.exit(main(sys.argv[1:]))
