"""An earlier index, whose vectors and normal forms serve the names of a new terminology.

Names are compared by 128 bits of BLAKE2b. What is taken over is what would be made anew, bit by
bit: vectors only of the same encoder, and only where it encodes each name by itself.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.encoders.saved import ENCODER_MANIFEST
from canonym.errors import InvalidInput, ReadError
from canonym.indexes import load_array
from canonym.indexes.inverted import Inverted
from canonym.indexes.vectors import Vectors, join_vectors, take_vectors
from canonym.indexes.verbatim import NO_KEY, Verbatim, VerbatimWriter
from canonym.io.arrays import Empty
from canonym.io.files import file_digest, read_checksums
from canonym.linking.manifest import read_index_manifest
from canonym.linking.settings import Sieve
from canonym.mentions.spelling import Speller, SpellerWriter
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.types import Encoder, Int32Array

_USED = ("terminology.db", "encoder-", "sieve-", "speller/")
_VECTORS = ("vectors.npy", "indptr.npy", "indices.npy", "data.npy")
_ROWS = 1 << 20  # at once


class EarlierIndex:
    """An index whose work is taken over where it is the same; only its files that are used count.

    Once names are matched, `rows` has the row of the same text in the earlier index for every new
    name, −1 for one that it does not have, and `n_reused` counts those that it has.
    """

    def __init__(self, folder: str | Path, *, newest: int) -> None:
        self.folder = Path(folder)
        self.manifest = read_index_manifest(self.folder, newest=newest)
        self._check_files()
        self.terminology = Terminology(self.folder / "terminology.db")
        self._encoders: list[dict[str, Any]] = self.manifest["encoders"]
        self.rows: Int32Array
        self.n_reused = 0
        self._uses: Int32Array

    def _check_files(self) -> None:
        """Compare the files that are used with their checksums."""
        digests = read_checksums(self.folder)
        if not digests:
            raise ReadError(
                self.folder,
                "has no checksums: checksums.sha256 is missing; build the new index without it",
            )
        for name in self.manifest["files"]:
            used = name.startswith(_USED) or (name.startswith("index-") and name.endswith(_VECTORS))
            if used and file_digest(self.folder / name) != digests.get(name):
                raise ReadError(
                    self.folder / name,
                    "is damaged: its content is not what its checksum says; build the new index "
                    "without it",
                )

    # --- names ----------------------------------------------------------------------------------

    def match(self, terminology: Terminology, folder: Path, empty: Empty, memory: int) -> None:
        """Find the names of a new terminology; scratch files lie in a folder."""
        n_old = self.terminology.n_names
        self.rows, self._uses = empty((terminology.n_names,), np.int32), empty((n_old,), np.int32)
        self._uses[:] = 0
        with tempfile.TemporaryDirectory(dir=folder, prefix=".scratch-") as scratch:
            checks, first = empty((n_old,), np.uint64), 0
            with VerbatimWriter(Path(scratch)) as writer:
                for texts in self.terminology.iter_texts():
                    keys, further = _digests_of(texts)
                    writer.add(keys)
                    checks[first : first + len(texts)] = further
                    first += len(texts)
            writer.finish(memory)
            self._find(terminology, Verbatim.load(Path(scratch)), checks)

    def _find(
        self, terminology: Terminology, known: Verbatim, checks: npt.NDArray[np.uint64]
    ) -> None:
        first = 0
        for texts in terminology.iter_texts():
            keys, further = _digests_of(texts)
            rows = known.first_rows(keys)
            rows[checks[rows] != further] = -1
            self.rows[first : first + len(rows)] = rows
            np.add.at(self._uses, rows[rows >= 0], 1)
            self.n_reused += int(np.count_nonzero(rows >= 0))
            first += len(rows)

    # --- vectors --------------------------------------------------------------------------------

    def vectors(
        self, saved: Sequence[Path], encoders: Sequence[Encoder], fitted: Sequence[bool]
    ) -> list[Vectors | None]:
        """Return the vectors of each encoder; None of one that was `fitted` to other names.

        Raises
        ------
        InvalidInput
            If an encoder is another one, or its vectors depend on what is encoded together.
        """
        stored: list[Vectors | None] = []
        for number, encoder in enumerate(encoders):
            digests = read_checksums(saved[number])
            there = self.folder / saved[number].name
            earlier = read_checksums(there) if number < len(self._encoders) else {}
            same = digests == earlier
            described = digests[ENCODER_MANIFEST] == earlier.get(ENCODER_MANIFEST)
            if not (same or (fitted[number] and described)):
                names = ", ".join(encoder["name"] for encoder in self._encoders) or "none"
                raise InvalidInput(
                    f"{self.folder} has other encoders ({names}), or of other versions or "
                    "options, whose vectors are of no use: give the same in the same order, or "
                    "build the new index without it"
                )
            if not getattr(encoder, "independent", False):
                raise InvalidInput(
                    f"vectors of {type(encoder).__name__} depend, in their last digits, on the "
                    "names that are encoded together: they have to be made together; build the new "
                    f"index without {self.folder}"
                )
            stored.append(self._stored(number) if same else None)
        return stored

    def _stored(self, number: int) -> Vectors:
        place, n = self.folder / f"index-{number}", self.terminology.n_names
        if self._encoders[number]["index"] == "inverted":
            return Inverted.load(place, n_rows=n).vectors
        return load_array(place / "vectors.npy", (n, None), np.float32)

    # --- normal forms ---------------------------------------------------------------------------

    def normal_forms(
        self, sieves: Sequence[Sieve], speller: SpellerWriter | None, empty: Empty
    ) -> list[npt.NDArray[np.uint64]] | None:
        """Return the keys of every row in each sieve, and give the speller the words they have.

        None if the index lacks one of the sieves, or the words.
        """
        settings = self.manifest["settings"]
        if not {sieve.name for sieve in sieves} <= set(settings["sieves"]):
            return None
        if speller is not None:
            if not settings["spelling"]:
                return None
            self._add_words(speller)
        return [self._keys(sieve, empty) for sieve in sieves]

    def _keys(self, sieve: Sieve, empty: Empty) -> npt.NDArray[np.uint64]:
        n = self.terminology.n_names
        index = Verbatim.load(self.folder / f"sieve-{sieve.name}", n_rows=n)
        keys = empty((n,), np.uint64)
        keys[:] = NO_KEY
        for first in range(0, len(index.rows), _ROWS):
            span = slice(first, first + _ROWS)
            keys[index.rows[span]] = index.keys[span]
        return keys

    def _add_words(self, speller: SpellerWriter) -> None:
        """Count the words of the names that are taken over."""
        speller.add_words(Speller.load(self.folder / "speller").words())
        first = 0
        for texts in self.terminology.iter_texts():
            more = self._uses[first : first + len(texts)] - 1
            first += len(texts)
            for times in np.unique(more[more != 0]).tolist():
                changed = [texts[place] for place in np.flatnonzero(more == times).tolist()]
                speller.add(normalise_all(changed, PLAIN), times)

    def close(self) -> None:
        """Forget the names, whose arrays may lie in files that are about to go."""
        self.terminology.close()
        del self.rows, self._uses


def completed(stored: Vectors, rows: Int32Array, new: Callable[[], Vectors]) -> Vectors:
    """Return the vectors at `rows`, and where these are −1 those that `new` gives, in order."""
    known = rows >= 0
    if known.all():
        return take_vectors(stored, rows)
    both = join_vectors([take_vectors(stored, rows[known]), new()])
    places = np.where(known, np.cumsum(known), known.sum() + np.cumsum(~known)) - 1
    return take_vectors(both, places)


def completed_keys(
    stored: npt.NDArray[np.uint64], rows: Int32Array, new: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Return the keys at `rows`, and where these are −1 the new ones, in order."""
    keys = stored[rows]
    keys[rows < 0] = new
    return keys


def _digests_of(texts: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return 128 bits of each string, in two rows."""
    blake = hashlib.blake2b
    joined = b"".join([blake(text.encode(), digest_size=16).digest() for text in texts])
    return np.frombuffer(joined, dtype="<u8").reshape(-1, 2).T.astype(np.uint64)
