"""From a terminology to the folder that a linker opens.

Many names are encoded in a second process, where the encoder keeps to one core: the rest is built
meanwhile. It runs as ``python -m canonym.linking.build``, so that nothing of the caller's program
is imported again.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from canonym.encoders import kind_of, load_encoder, make_encoder, save_encoder
from canonym.errors import CanonymError, InvalidInput, NotTrained
from canonym.indexes.exact import write_codes
from canonym.indexes.inverted import write_inverted
from canonym.indexes.ivf import Ivf, silent, write_lists
from canonym.indexes.phrase_filter import PHRASES, PhraseFilter, PhraseFilterBuilder
from canonym.indexes.unnormalised import check_kind
from canonym.indexes.vectors import KIND_OF, Vectors, scaled_for
from canonym.indexes.verbatim import VerbatimWriter, keys_of
from canonym.io.arrays import ArrayWriter, open_array, scratch_arrays
from canonym.io.files import n_cores, write_folder, write_manifest
from canonym.io.sizes import parse_size
from canonym.linking.background import described_with
from canonym.linking.book import keep_rules
from canonym.linking.extra_names import (
    TrainingMention,
    TrainingNames,
    training_names,
    with_search,
    write_targets,
)
from canonym.linking.reuse import EarlierIndex, completed, completed_keys
from canonym.linking.search import WeightedEncoder, load_encoders
from canonym.linking.settings import Settings, Sieve, chosen_sieves, complete, for_texts
from canonym.mentions.binomials import BINOMIALS, BinomialsWriter
from canonym.mentions.spelling import SpellerWriter
from canonym.terminology import Terminology
from canonym.terminology.overlay import MergedTerminology, merge_into
from canonym.terminology.replaced import current_owners
from canonym.text import PLAIN, STRONG, UNORDERED, normalise_all
from canonym.text.memo import MemoNormaliser
from canonym.types import Encoder, Int32Array, SparseVectors

_log = logging.getLogger(__name__)

FORMAT = 2
"""Format number of the folders this version writes, and the newest it reads."""

KINDS = ("auto", "exact", "ivf")
"""Kinds of index over dense vectors: ``"ivf"`` is approximate, ``"auto"`` takes it for many."""

IVF_FROM = 1_000_000
"""Names from which on ``"auto"`` is ``"ivf"``: fewer take an exact search about 12 ms at most."""

MEMORY = "1GB"
"""Default of the memory that sorting takes."""

REUSED = "vectors reused"
"""End of the stage that reports how many vectors of an encoder are taken over."""

FITTED = "fitted anew"
"""End of the stage that reports an encoder of other vectors than before: it fits each version."""

_BATCH = 20_000
_MANY = 50_000  # fewer names are encoded before a second process has begun
_ONE_CORE = {"subword", "static"}  # encoders that keep to one core


class Progress(Protocol):
    """Called while something long is built: the stage, how much is done, and of how much."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


@dataclass(frozen=True)
class Work:
    """What is indexed, in which kind of index, in how many bytes; `earlier` is taken over from."""

    terminology: Terminology
    index: str
    memory: int
    report: Progress
    earlier: EarlierIndex | None = None


def build_index(
    terminology: Terminology,
    folder: str | Path | None,
    *,
    encoders: Sequence[str | Encoder],
    weights: Sequence[float] | None = None,
    overwrite: bool = False,
    mentions: Iterable[TrainingMention] | None = None,
    fold: str | Path | None = None,
    kind: str = "auto",
    memory: int | str = MEMORY,
    reuse: str | Path | None = None,
    rules: str | Path | None = None,
    progress: Progress | None = None,
    settings: Settings,
    finish: Callable[[Path], None] | None = None,
) -> tuple[Path, Path | None]:
    """Write an index that appears whole or not at all; see `canonym.Linker.build`.

    `finish` adds to the new folder before it appears. Returns the folder, and the temporary folder
    around it that the caller has to remove, where no folder was given.
    """
    index = _chosen_kind(kind, terminology.n_names)
    allowed = max(parse_size(memory, "memory") // 2, 1)  # two processes may sort at the same time
    made = [
        make_encoder(encoder) if isinstance(encoder, str) else _own(encoder) for encoder in encoders
    ]
    made, weights = _with_grams(made, weights)
    if kind != "auto":
        for encoder in made:
            check_kind(kind, similarity_of(encoder))
    training = None if mentions is None else training_names(terminology, mentions)
    settings = with_search(settings, training)
    earlier = None if reuse is None else _earlier(reuse, folder)
    merged = MergedTerminology(terminology)
    if fold is not None:
        merged = merge_into(terminology, fold, newest=FORMAT)
    work = Work(merged.terminology, index, allowed, progress or silent, earlier)

    def write(place: Path) -> None:
        keep_rules(rules, place)
        _write(work, place, made, weights, settings, training)
        merged.finish(place)
        if finish is not None:
            finish(place)

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


def _earlier(reuse: str | Path, folder: str | Path | None) -> EarlierIndex:
    if folder is not None and os.path.realpath(reuse) == os.path.realpath(folder):
        raise InvalidInput(
            f"{folder} is to be replaced, and nothing can be taken over from it meanwhile; write "
            "the new index to another folder"
        )
    return EarlierIndex(reuse, newest=FORMAT)


def _write(
    work: Work,
    folder: Path,
    encoders: Sequence[Encoder],
    weights: Sequence[float],
    settings: Settings,
    training: TrainingNames | None,
) -> None:
    """Write everything a linker needs to an existing, empty folder."""
    whole, terminology = complete(settings), work.terminology
    _log.info("index %s concepts, %s names", terminology.n_concepts, terminology.n_names)
    _copy(terminology.path, folder / "terminology.db")
    rows = _made(folder / "rows")
    owners, retired = current_owners(terminology)
    np.save(rows / "concept_of_row.npy", owners)
    if retired is not None:
        np.save(rows / "retired.npy", retired)
    np.save(rows / "scope_of_row.npy", terminology.scope_of_row())
    np.save(rows / "id_rank.npy", terminology.id_rank())
    np.save(rows / "home.npy", terminology.home())
    with contextlib.ExitStack() as stack:
        stored = _add_encoders(work, folder, encoders, stack)
        process = _started(work, folder, encoders, stored, stack)
        _add_normal_forms(work, folder, chosen_sieves(whole["sieves"]), whole["spelling"])
        described: list[dict[str, Any]] = []
        for number, name in enumerate(_names_of(encoders)):
            place = folder / f"index-{number}"
            if work.earlier is not None:
                fitted = stored[number] is None
                what, n_reused = (FITTED, 0) if fitted else (REUSED, work.earlier.n_reused)
                work.report(f"{kind_of(encoders[number])} {what}", n_reused, terminology.n_names)
            if not (number in process and process[number].finished(work.report)):
                write_index(work, _made(place), encoders[number], stored[number])
            encoder, similarity = encoders[number], similarity_of(encoders[number])
            index = _described_index(place, similarity)
            weighted = WeightedEncoder(
                name, encoder, encoder_steps(encoder), weights[number], similarity
            )
            described.append(described_with(weighted, index))
    saved = load_encoders(folder, described) if training else []
    write_targets(terminology, folder, training, whole, described, [own.encode for own in saved])
    content = {
        **({} if training is None else {"mentions": training.counts}),
        "terminology": {
            "digest": terminology.digest,
            "n_concepts": terminology.n_concepts,
            "n_names": terminology.n_names,
        },
        "encoders": described,
        "settings": whole,
        **({"fusion": "exact"} if _is_exact(encoders) else {}),
    }
    write_manifest(folder, kind="linker", format_number=FORMAT, content=content)


def _chosen_kind(kind: str, n_names: int) -> str:
    if kind not in KINDS:
        raise InvalidInput(f"kind is {kind!r}; expected one of {', '.join(KINDS)}")
    if kind == "auto":
        return "ivf" if n_names >= IVF_FROM else "exact"
    return kind


def _described_index(place: Path, similarity: str) -> dict[str, Any]:
    """Describe the index in a folder: its kind, a key of `extra_names.INDEXES`, and its recall."""
    if not (place / "vectors.npy").exists():
        return {"index": "inverted"}
    if similarity != "cosine":
        return {"index": KIND_OF[similarity], "similarity": similarity}
    if not (place / "recall.json").exists():
        return {"index": "exact"}
    index = Ivf.load(place)
    probes, at_1, at_10 = index.recall
    facts = {"lists": index.n_lists, "probes": probes, "recall@1": at_1, "recall@10": at_10}
    return {"index": "ivf", **facts}


def _checked_weights(weights: Sequence[float], n: int) -> list[float]:
    if len(weights) != n:
        raise InvalidInput(
            f"{len(weights)} weights were given for {n} encoders; expected one for each"
        )
    numbers = all(isinstance(w, Real) and not isinstance(w, bool) for w in weights)
    if n and not (numbers and min(weights) >= 0 and 0 < sum(weights) <= sys.float_info.max):
        listed = ", ".join(f"{w!r:.40}" for w in weights)
        raise InvalidInput(
            f"the weights are {listed}; expected numbers of at least 0, not all of them 0"
        )
    return list(weights)


def _with_grams(
    encoders: list[Encoder], weights: Sequence[float] | None
) -> tuple[list[Encoder], list[float]]:
    """Return the usual weights of encoders, with the n-grams that BioSyn was trained beside.

    Weights that are given count instead, and nothing is added then.
    """
    if weights is not None:
        return encoders, _checked_weights(weights, len(encoders))
    trained = [encoder for encoder in encoders if getattr(encoder, "sparse_weight", 0)]
    if trained and not any(kind_of(encoder) == "chargrams" for encoder in encoders):
        grams: Any = make_encoder("chargrams")
        if hasattr(trained[0], "steps"):
            grams.steps = trained[0].steps
        encoders = [*encoders, grams]
    together = sum(encoder.sparse_weight for encoder in trained) or 1.0  # type: ignore[attr-defined]
    return encoders, [
        float(together if kind_of(encoder) == "chargrams" else getattr(encoder, "usual_weight", 1))
        for encoder in encoders
    ]


def similarity_of(encoder: object) -> str:
    """Return how the vectors of an encoder are compared, one of `SIMILARITIES`."""
    return str(getattr(encoder, "similarity", "cosine"))


def _is_exact(encoders: Sequence[Encoder]) -> bool:
    """Return whether several encoders are summed up in all names, as BioSyn does.

    Scores of other scales than cosines may be best together and by none of them alone.
    """
    return len(encoders) > 1 and any(
        getattr(encoder, "sparse_weight", 0) or similarity_of(encoder) != "cosine"
        for encoder in encoders
    )


def _add_encoders(
    work: Work, folder: Path, encoders: Sequence[Encoder], stack: contextlib.ExitStack
) -> list[Vectors | None]:
    """Make encoders ready and save them; return the vectors that each has in an earlier index.

    `stack` keeps what is known of the earlier index, until it is left.
    """
    fitted = []
    for number, encoder in enumerate(encoders):
        fitted.append(fit_encoder(encoder, work.terminology, work.report))
        save_encoder(encoder, folder / f"encoder-{number}")
    if work.earlier is None:
        return [None] * len(encoders)
    stored = work.earlier.vectors(
        [folder / f"encoder-{number}" for number in range(len(encoders))], encoders, fitted
    )
    empty = stack.enter_context(scratch_arrays(folder))
    stack.callback(work.earlier.close)
    work.earlier.match(work.terminology, folder, empty, work.memory)
    return stored


def _started(
    work: Work,
    folder: Path,
    encoders: Sequence[Encoder],
    stored: Sequence[Vectors | None],
    stack: contextlib.ExitStack,
) -> dict[int, EncodingProcess]:
    """Start the process that encodes for one of the encoders, if that is worth it."""
    for number, encoder in enumerate(encoders):
        kind = kind_of(encoder)
        if stored[number] is None and EncodingProcess.is_worth_it(work.terminology, kind):
            place = _made(folder / f"index-{number}")
            started = EncodingProcess(work, place, folder / f"encoder-{number}")
            return {number: stack.enter_context(started)}
    return {}


def _names_of(encoders: Sequence[Encoder]) -> list[str]:
    """Name encoders after what is shipped, or after their kind; equal names are numbered."""
    distinct: list[str] = []
    for encoder in encoders:
        # A path would make the same index differ from place to place: the kind is name enough.
        name = getattr(encoder, "shipped", None) or kind_of(encoder)
        same = sum(other.partition(" ")[0] == name for other in distinct)
        distinct.append(f"{name} {same + 1}" if same else name)
    return distinct


def _add_normal_forms(work: Work, folder: Path, sieves: Sequence[Sieve], spelling: bool) -> None:
    """Write the sieves, the speller's vocabulary and the binomials, in one pass over the names."""
    if not sieves and not spelling:
        return
    # A sieve whose steps begin with those of the one before goes on from its strings.
    onwards: list[tuple[bool, MemoNormaliser, VerbatimWriter]] = []
    before: tuple[str, ...] = ()
    with contextlib.ExitStack() as stack:
        for sieve in sieves:
            follows = bool(before) and sieve.steps[: len(before)] == before and not sieve.bare
            steps = sieve.steps[len(before) :] if follows else sieve.steps
            writer = stack.enter_context(VerbatimWriter(_made(folder / f"sieve-{sieve.name}")))
            onwards.append((follows, MemoNormaliser(steps), writer))
            before = before if sieve.bare else sieve.steps
        speller = SpellerWriter(_made(folder / "speller"), work.memory // 2) if spelling else None
        known = None
        if work.earlier is not None:
            empty = stack.enter_context(scratch_arrays(folder))
            known = work.earlier.normal_forms(sieves, speller, empty)
        binomials = BinomialsWriter(_made(folder / BINOMIALS), work.memory // 8)
        counted = list(filter(None, (speller, binomials if known is None else None)))
        phrases = PhraseFilterBuilder() if before == UNORDERED and known is None else None
        unordered: Sequence[str] = ()
        bare: Sequence[str] = ()
        strong: Sequence[str] = ()
        for batch, rows in _new_names(work, "normal forms", known is not None):
            plain = list(normalise_all(batch, PLAIN))
            forms: Sequence[str] = batch
            for number, (sieve, (follows, normalise, writer)) in enumerate(
                zip(sieves, onwards, strict=True)
            ):
                if sieve.bare:
                    forms = sieve.of_names(batch, normalise)
                    bare = for_texts(batch, forms)
                else:
                    forms = unordered = normalise(forms) if follows else normalise(batch, plain)
                    strong = forms if sieve.steps == STRONG else strong
                keys = keys_of(sieve.looked_up(forms))
                writer.add(keys if known is None else completed_keys(known[number], rows, keys))
            if phrases is not None:
                phrases.add(unordered)
                phrases.add(bare)
                phrases.add_pairs(strong)
            for words in counted:
                words.add(plain)
        if speller is not None:
            speller.finish()
        for texts in () if known is None else work.terminology.iter_texts():
            binomials.add(normalise_all(texts, PLAIN))
        binomials.finish()
        for _, _, writer in onwards:
            writer.finish(work.memory)
        if before == UNORDERED:
            made = (
                phrases.finish() if phrases else phrases_of(work.terminology, sieves, work.report)
            )
            made.save(_made(folder / PHRASES))
        del known  # the files below are about to go


def phrases_of(terminology: Terminology, sieves: Sequence[Sieve], report: Progress) -> PhraseFilter:
    """Return what finds the names of a terminology in texts, bare ones where a sieve has them."""
    normalise, builder = MemoNormaliser(UNORDERED), PhraseFilterBuilder()
    strong = MemoNormaliser(STRONG)
    for batch in reported(terminology, "names for texts", report):
        builder.add(normalise(batch))
        builder.add_pairs(strong(batch))
        for sieve in sieves:
            if sieve.bare:
                builder.add(for_texts(batch, sieve.of_names(batch, normalise)))
    return builder.finish()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


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


def fit_encoder(encoder: Any, terminology: Terminology, report: Progress) -> bool:
    """Fit an encoder to the names, if it waits for them; return whether it was fitted."""
    if not _waits_for_names(encoder):
        return False
    steps = encoder_steps(encoder)
    texts = reported(terminology, "counting", report)
    names = itertools.chain.from_iterable(normalise_all(b, steps) for b in texts)
    every = terminology.n_names // getattr(encoder, "enough_names", terminology.n_names or 1)
    encoder.fit(itertools.islice(names, 0, None, max(every, 1)))
    return True


def _waits_for_names(encoder: Any) -> bool:
    if hasattr(encoder, "waits_for_names"):
        return bool(encoder.waits_for_names)
    try:
        encoder.encode([""])
    except NotTrained:
        return True
    return False


def _own(encoder: Encoder) -> Encoder:
    """Return a copy of an encoder that works unfitted too: the next index fits it to its own."""
    return copy.copy(encoder) if getattr(encoder, "waits_for_names", False) else encoder


def reported(terminology: Terminology, stage: str, report: Progress) -> Iterator[list[str]]:
    """Yield the names of a terminology in batches, and report each that was used."""
    done, total = 0, terminology.n_names
    report(stage, done, total)
    for batch in terminology.iter_texts(_BATCH):
        yield batch
        done += len(batch)
        report(stage, done, total)


def _new_names(work: Work, stage: str, taken_over: bool) -> Iterator[tuple[list[str], Int32Array]]:
    """Yield, batch by batch, the names that the earlier index lacks, and the rows of all in it.

    Nothing is `taken_over` from it where it has none of what is made: all names are new then.
    """
    first = 0
    for batch in reported(work.terminology, stage, work.report):
        rows = np.full(len(batch), -1, dtype=np.int32)
        if work.earlier is not None and taken_over:
            rows = work.earlier.rows[first : first + len(batch)].copy()
            batch = [batch[place] for place in np.flatnonzero(rows < 0).tolist()]
        yield batch, rows
        first += len(rows)


def write_index(work: Work, place: Path, encoder: Any, stored: Vectors | None = None) -> None:
    """Write the index of all names, in an existing folder; `stored` vectors are not made anew."""
    steps, kind, similarity = encoder_steps(encoder), kind_of(encoder), similarity_of(encoder)

    def vectors_of_batches() -> Iterator[Vectors]:
        for batch, rows in _new_names(work, f"{kind} vectors", stored is not None):
            texts = list(normalise_all(batch, steps))
            encode = functools.partial(encoded, texts)
            yield encode() if stored is None else completed(stored, rows, encode)

    def encoded(texts: list[str]) -> Vectors:
        return scaled_for(similarity, encoder.encode(texts), encoder)

    batches = vectors_of_batches()
    first: Any = next(batches)
    every: Iterator[Any] = itertools.chain([first], batches)
    if isinstance(first, SparseVectors):
        write_inverted(every, place)
        return
    with ArrayWriter(place / "vectors.npy", np.float32, first.shape[1:]) as writer:
        for vectors in every:
            writer.add(vectors)
    written = open_array(place / "vectors.npy")
    if similarity == "euclidean":
        return  # its search has no use for codes
    if work.index == "ivf" and similarity == "cosine":
        write_lists(written, place, work.report)
    else:
        write_codes(written, place)


class EncodingProcess:
    """A process that encodes the names of a terminology while this one does something else.

    Leaving the context ends the process. If this process is killed, the other one ends too: its
    standard input is closed.
    """

    def __init__(self, work: Work, place: Path, encoder: Path) -> None:
        self._place = place
        arguments = (work.terminology.path, place, encoder, work.index, work.memory)
        self._process = subprocess.Popen(
            # -P: nothing is imported from the current folder.
            [sys.executable, "-P", "-m", "canonym.linking.build", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    @staticmethod
    def is_worth_it(terminology: Terminology, kind: str) -> bool:
        """Return whether a second process would make an index ready sooner."""
        big = kind in _ONE_CORE and terminology.n_names >= _MANY
        return big and n_cores() > 1 and bool(sys.executable)

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
        if self._process.wait() == 0:
            return True
        shutil.rmtree(self._place)
        return False


def main(arguments: Sequence[str]) -> int:
    """Encode beside another process: a terminology, folders of index and encoder, `Work`'s rest."""
    path, place, encoder, index, memory = arguments
    try:
        with Terminology(path) as terminology:
            work = Work(terminology, index, int(memory), lambda *now: print(*now, flush=True))
            write_index(work, Path(place), load_encoder(Path(encoder)))
    except (CanonymError, OSError):
        return 1  # the other process does it again, and reports the error
    return 0


def _end_with_parent() -> None:
    """End this process when the one that started it has ended, however it did."""
    os.read(0, 1)  # nothing is ever written
    os._exit(1)


if __name__ == "__main__":
    watch = threading.Thread(target=_end_with_parent, daemon=True)
    watch.start()
    watch.join(0.1)  # the other process may have ended already
    sys.exit(main(sys.argv[1:]))
