"""Names beside those of the terminology's file, in the form in which they are searched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.vectors import Vectors, index_of, join_vectors, take_vectors
from canonym.indexes.verbatim import Verbatim, keys_of
from canonym.settings import Sieve
from canonym.text import normalise_all
from canonym.types import SCOPES, Int32Array, Name

__all__ = ["INDEXES", "Block", "BlockBuilder", "Coder", "load_block", "save_block"]

INDEXES: dict[str, type[Exact] | type[Inverted]] = {"exact": Exact, "inverted": Inverted}
"""Kinds of indexes by the name that manifests give them."""


class Coder(NamedTuple):
    """An encoder, and the steps of normalisation that come before it."""

    encoder: Any
    steps: tuple[str, ...]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode names as they are written."""
        vectors: Vectors = self.encoder.encode(list(normalise_all(texts, self.steps)))
        return vectors


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of names that the terminology's file does not have.

    Parameters
    ----------
    names : sequence of Name
        One per row.
    concepts : ndarray, shape (n,), int32
        Ordinal of the concept of each.
    repeated : ndarray, shape (n,), bool
        Whether the terminology has that name of that concept as well.
    sieves : tuple of Verbatim
        One per sieve.
    indexes : tuple of Exact or Inverted
        One per encoder.
    """

    names: Sequence[Name]
    concepts: Int32Array
    repeated: npt.NDArray[np.bool_]
    sieves: tuple[Verbatim, ...]
    indexes: tuple[Exact | Inverted, ...]

    @property
    def scopes(self) -> npt.NDArray[np.int8]:
        """Position in `SCOPES` of every row's scope, ``(n,)`` int8."""
        return np.array([SCOPES.index(name.scope) for name in self.names], dtype=np.int8)


class BlockBuilder:
    """Makes blocks of names that change a little from one to the next.

    What a name's normal forms and vectors are is remembered, so that a block with one name more
    costs one name's work.

    Parameters
    ----------
    sieves : sequence of Sieve
        How strings are looked up.
    coders : sequence of Coder
        What encodes.
    """

    def __init__(self, sieves: Sequence[Sieve], coders: Sequence[Coder]) -> None:
        self._sieves = tuple(sieves)
        self._coders = tuple(coders)
        self._place: dict[str, int] = {}
        # For every sieve the key of each text, and whether there is a string to look up.
        self._keys = [np.empty(0, dtype=np.uint64) for _ in sieves]
        self._filled = [np.empty(0, dtype=np.bool_) for _ in sieves]
        self._vectors: list[Vectors] = []

    def build(
        self,
        names: Sequence[Name],
        concepts: Sequence[int],
        *,
        repeated: Sequence[bool] | None = None,
    ) -> Block:
        """Make a block of names.

        Parameters
        ----------
        names : sequence of Name
            One per row.
        concepts : sequence of int
            The ordinals of their concepts.
        repeated : sequence of bool, optional
            See `Block`; none are by default.
        """
        texts = [name.text for name in names]
        self._learn(texts)
        places = np.array([self._place[text] for text in texts], dtype=np.int32)
        built = []
        for keys, filled in zip(self._keys, self._filled, strict=True):
            rows = np.flatnonzero(filled[places]).astype(np.int32)
            built.append(Verbatim.of_keys(keys[places[rows]], rows))
        indexes = tuple(index_of(take_vectors(vectors, places)) for vectors in self._vectors)
        again = np.zeros(len(names), dtype=np.bool_) if repeated is None else np.array(repeated)
        return Block(tuple(names), np.array(concepts, dtype=np.int32), again, tuple(built), indexes)

    def _learn(self, texts: Sequence[str]) -> None:
        known = set(texts)
        if len(self._place) > 2 * len(known) + 1000:  # most of what is remembered has gone
            self._forget()
        new = [text for text in dict.fromkeys(texts) if text not in self._place]
        if not new and len(self._vectors) == len(self._coders):
            return
        first = len(self._place)
        self._place.update((text, first + number) for number, text in enumerate(new))
        for number, sieve in enumerate(self._sieves):
            forms = list(normalise_all(new, sieve.steps))
            self._keys[number] = np.concatenate([self._keys[number], keys_of(forms)])
            there = np.array([bool(form) for form in forms], dtype=np.bool_)
            self._filled[number] = np.concatenate([self._filled[number], there])
        encoded = [coder.encode(new) for coder in self._coders]
        if self._vectors:
            encoded = [
                join_vectors([old, one]) for old, one in zip(self._vectors, encoded, strict=True)
            ]
        self._vectors = encoded

    def _forget(self) -> None:
        self._place.clear()
        self._vectors.clear()
        self._keys = [keys[:0] for keys in self._keys]
        self._filled = [filled[:0] for filled in self._filled]


def save_block(block: Block, folder: Path, sieves: Sequence[Sieve]) -> None:
    """Write a block to an existing, empty folder."""
    texts = [name.text for name in block.names]
    (folder / "texts.json").write_text(json.dumps(texts), encoding="ascii")
    np.save(folder / "concepts.npy", block.concepts)
    np.save(folder / "repeated.npy", block.repeated)
    for sieve, verbatim in zip(sieves, block.sieves, strict=True):
        place = folder / f"sieve-{sieve.name}"
        place.mkdir()
        verbatim.save(place)
    for number, index in enumerate(block.indexes):
        place = folder / f"index-{number}"
        place.mkdir()
        index.save(place)


def load_block(
    folder: Path, sieves: Sequence[Sieve], kinds: Sequence[str], ids: Sequence[str]
) -> Block:
    """Open a block that `save_block` wrote.

    Parameters
    ----------
    folder : Path
        Where it is.
    sieves : sequence of Sieve
        Those of the linker.
    kinds : sequence of str
        A key of `INDEXES` per encoder.
    ids : sequence of str
        The id of the concept of every row.

    Raises
    ------
    ReadError
        If a file is damaged.
    """
    try:
        texts = json.loads((folder / "texts.json").read_text(encoding="ascii"))
        concepts = np.load(folder / "concepts.npy", allow_pickle=False)
        repeated = np.load(folder / "repeated.npy", allow_pickle=False)
        names = [Name(text, id_) for text, id_ in zip(texts, ids, strict=True)]
    except (OSError, ValueError, TypeError) as error:
        raise ReadError(folder, f"cannot be opened ({error}); build the index again") from error
    return Block(
        names,
        concepts,
        repeated,
        tuple(Verbatim.load(folder / f"sieve-{sieve.name}") for sieve in sieves),
        tuple(INDEXES[kind].load(folder / f"index-{n}") for n, kind in enumerate(kinds)),
    )
