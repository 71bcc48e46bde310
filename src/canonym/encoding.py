"""Names of a terminology to the vectors of an index, here or in a process beside this one.

A second process is worth its start where there are many names and the encoder keeps to one core:
what else there is to build then goes on meanwhile. It is run as ``python -m canonym.encoding``, so
nothing of the caller's program is imported again.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from canonym.cores import n_cores
from canonym.encoders import load_encoder
from canonym.errors import CanonymError, NotTrained
from canonym.indexes.inverted import Inverted
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.types import Float32Array, SparseVectors

__all__ = ["Beside", "encoder_steps", "fit_encoder", "reported", "write_index"]

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
            [sys.executable, "-P", "-m", "canonym.encoding"]
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
