"""Names beside those of the terminology's file, in the form in which they are searched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders import load_encoder
from canonym.errors import InvalidInput, ReadError
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.vectors import Vectors, index_of, join_vectors, mean_vectors, take_vectors
from canonym.indexes.verbatim import Verbatim, keys_of
from canonym.linking.settings import Settings, Sieve, chosen_sieves
from canonym.linking.targets import Target, parse_search
from canonym.terminology import Terminology
from canonym.text import normalise, normalise_all
from canonym.types import SCOPES, Int32Array, Mention, Name

# --- blocks ---

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


# --- means ---
# MODULE: Concepts as the means of their names.


class ConceptVectors(NamedTuple):
    """A vector per concept: ``owners`` are their ordinals, rising; one index per encoder."""

    owners: Int32Array
    indexes: tuple[Exact | Inverted, ...]


def average(
    indexes: Sequence[Sequence[Exact | Inverted]], owners: Int32Array, rows: npt.NDArray[np.intp]
) -> ConceptVectors:
    """Average rows by their concept.

    Parameters
    ----------
    indexes : sequence of sequence of Exact or Inverted
        For every encoder the indexes whose rows are numbered through.
    owners : ndarray, int32
        The concept of every row.
    rows : ndarray, int
        The rows that count, rising.

    Returns
    -------
    ConceptVectors
        Of the concepts that have such a row.
    """
    concepts, groups = np.unique(owners[rows], return_inverse=True)
    means = tuple(
        index_of(mean_vectors(_stored(parts, rows), groups.astype(np.int32), len(concepts)))
        for parts in indexes
    )
    return ConceptVectors(concepts.astype(np.int32), means)


def _stored(parts: Sequence[Exact | Inverted], rows: npt.NDArray[np.intp]) -> Vectors:
    found: list[Vectors] = []
    start = 0
    for part in parts:
        mine = rows[(rows >= start) & (rows < start + part.n_rows)] - start
        found.append(take_vectors(part.vectors, mine))
        start += part.n_rows
    return join_vectors(found)


# --- learned ---
# MODULE: Names that are learned from training mentions, kept beside those of the terminology.

LearnedName = Mention | tuple[str, str | Sequence[str]]
"""A training mention: annotated, or its text and the id or ids that it stands for."""

_FOLDER = "learned"
_MEANS = "means"


class Learned(NamedTuple):
    """Names of training mentions, each once, and what became of the mentions.

    `names` have the ids of the terminology; `counts` says how many mentions there were (``given``),
    how many names came of them (``names``), and how many were left out: ``composite`` ones, which
    name several concepts together and none of them, those ``without a concept``, and those whose
    concept is ``unknown`` to the terminology.
    """

    names: tuple[Name, ...]
    counts: dict[str, int]


def learn_names(terminology: Terminology, mentions: Iterable[LearnedName]) -> Learned:
    """Take the distinct names of training mentions.

    Parameters
    ----------
    terminology : Terminology
        Whose concepts the ids are, with its prefix or without.
    mentions : iterable of Mention or (str, str or sequence of str)
        What was annotated. Where a mention has several ids each is right by itself, unless its rule
        is ``"all"``.

    Raises
    ------
    InvalidInput
        If none of the mentions has a name and a concept.
    """
    from canonym.terminology.ids import ConceptIds

    ids = ConceptIds(terminology)
    counts = dict.fromkeys(("given", "names", "composite", "without a concept", "unknown"), 0)
    found: dict[tuple[str, str], None] = {}
    for given in mentions:
        counts["given"] += 1
        text, of, rule = _fields(given)
        if not of or not normalise(text):
            counts["without a concept"] += 1
        elif rule == "all" and len(of) > 1:
            counts["composite"] += 1
        else:
            known = [concept for concept in map(ids.find, of) if concept is not None]
            counts["unknown"] += not known
            found.update(dict.fromkeys((text.strip(), concept) for concept in known))
    if not found:
        raise InvalidInput(
            f"of {counts['given']:,} training mentions none has a name and a concept of the "
            f"terminology ({counts['unknown']:,} have ids that it does not have); were the right "
            "mentions given?"
        )
    counts["names"] = len(found)
    return Learned(tuple(Name(text, concept) for text, concept in found), counts)


def _fields(given: LearnedName) -> tuple[str, Sequence[str], str]:
    if isinstance(given, Mention):
        return given.text, given.ids, given.rule
    text, of = given if isinstance(given, tuple | list) and len(given) == 2 else (None, None)
    of = (of,) if isinstance(of, str) else of
    if not (
        isinstance(text, str)
        and isinstance(of, Sequence)
        and all(isinstance(id_, str) for id_ in of)
    ):
        raise InvalidInput(
            f"a training mention is a Mention, or a pair of its text and its ids, not {given!r:.80}"
        )
    return text, tuple(of), "any"


def with_search(settings: Settings, learned: Learned | None) -> Settings:
    """Return the settings with the search that goes with what is given.

    Parameters
    ----------
    settings : Settings
        As the caller gave them.
    learned : Learned or None
        Names of training mentions, where there are any.

    Raises
    ------
    InvalidInput
        If the search wants training mentions and there are none, or the other way round.
    """
    written = settings.get("search") or ("O-T" if learned is None else "D-T + OD-T")
    wanted = any("D" in target.part for target in parse_search(written))
    if wanted and learned is None:
        raise InvalidInput(
            f"the search {written!r} looks at training mentions (D), and none were given: give "
            "mentions, or search O-T or O-C"
        )
    if learned is not None and not wanted:
        raise InvalidInput(
            f"training mentions were given, and the search {written!r} does not look at them: "
            "leave them out, or search 'D-T + OD-T'"
        )
    return {**settings, "search": written}


def add_targets(
    terminology: Terminology,
    folder: Path,
    learned: Learned | None,
    settings: dict[str, Any],
    described: Sequence[dict[str, Any]],
) -> None:
    """Write what a search needs beside the vectors of the terminology's names.

    Parameters
    ----------
    terminology : Terminology
        What is linked to.
    folder : Path
        Of the linker, with everything else in it but the manifest.
    learned : Learned, optional
        Names of training mentions.
    settings : dict
        Complete ones.
    described : sequence of dict
        The encoders, as the manifest has them.
    """
    block = (
        None if learned is None else _write_block(terminology, folder, learned, settings, described)
    )
    parts = sorted({t.part for t in parse_search(settings["search"]) if t.by_concept})
    if parts:
        indexes = [
            INDEXES[one["index"]].load(folder / f"index-{number}")
            for number, one in enumerate(described)
        ]
        owners = terminology.concept_of_row()
        for part in parts:
            _write_means(folder / _MEANS / part, _means(part, owners, indexes, block))


def _write_block(
    terminology: Terminology,
    folder: Path,
    learned: Learned,
    settings: dict[str, Any],
    described: Sequence[dict[str, Any]],
) -> Block:
    sieves = chosen_sieves(settings["sieves"])
    coders = [
        Coder(load_encoder(folder / f"encoder-{number}"), tuple(one["steps"]))
        for number, one in enumerate(described)
    ]
    has = {
        id_: {name.text for name in terminology.names(id_)}
        for id_ in {name.concept_id for name in learned.names}
    }
    block = BlockBuilder(sieves, coders).build(
        learned.names,
        [terminology.ordinal(name.concept_id) or 0 for name in learned.names],
        repeated=[name.text in has[name.concept_id] for name in learned.names],
    )
    place = folder / _FOLDER
    place.mkdir()
    save_block(block, place, sieves)
    return block


def _means(part: str, owners: Any, indexes: Sequence[Any], block: Block | None) -> ConceptVectors:
    if block is None:
        return average([(index,) for index in indexes], owners, np.arange(len(owners)))
    n = len(owners)
    counted = np.ones(n + len(block.names), dtype=np.bool_)
    if part == "D":
        counted[:n] = False
    else:
        counted[n:] = ~block.repeated if part == "OD" else False
    parts = list(zip(indexes, block.indexes, strict=True))
    return average(parts, np.concatenate([owners, block.concepts]), np.flatnonzero(counted))


def _write_means(place: Path, means: ConceptVectors) -> None:
    place.mkdir(parents=True)
    np.save(place / "owners.npy", means.owners)
    for number, index in enumerate(means.indexes):
        inner = place / f"index-{number}"
        inner.mkdir()
        index.save(inner)


def load_targets(
    terminology: Terminology,
    folder: Path,
    settings: dict[str, Any],
    described: Sequence[dict[str, Any]],
    steps: Sequence[Target],
) -> tuple[Block | None, dict[str, ConceptVectors]]:
    """Open what `add_targets` wrote.

    Parameters
    ----------
    terminology, folder, settings, described
        As `add_targets` takes them.
    steps : sequence of Target
        Of the search.

    Returns
    -------
    tuple of Block or None, and dict of str to ConceptVectors
        The names of training mentions, and the means of concepts by the part of a target.

    Raises
    ------
    ReadError
        If a file is damaged.
    """
    kinds = [one["index"] for one in described]
    block = None
    if any("D" in step.part for step in steps):
        place = folder / _FOLDER
        try:
            ordinals = np.load(place / "concepts.npy", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise ReadError(place, f"cannot be opened ({error}); build the index again") from error
        ids = [concept.id for concept in terminology.concepts_at(ordinals)]
        block = load_block(place, chosen_sieves(settings["sieves"]), kinds, ids)
    means = {}
    for part in sorted({step.part for step in steps if step.by_concept}):
        place = folder / _MEANS / part
        try:
            owners = np.load(place / "owners.npy", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise ReadError(place, f"cannot be opened ({error}); build the index again") from error
        means[part] = ConceptVectors(
            owners,
            tuple(INDEXES[kind].load(place / f"index-{n}") for n, kind in enumerate(kinds)),
        )
    return block, means
