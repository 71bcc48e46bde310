"""Rows beside the terminology's: training mentions, added synonyms, means of concepts."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.indexes import check_numbers, load_array
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.ivf import Ivf
from canonym.indexes.unnormalised import Euclidean, Inner
from canonym.indexes.vectors import Vectors, index_of, join_vectors, mean_vectors, take_vectors
from canonym.indexes.verbatim import Verbatim, keys_of
from canonym.io.files import load_json
from canonym.linking.settings import Settings, Sieve, Target, chosen_sieves, parse_search
from canonym.ranking.pooling import RowsByConcept
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds
from canonym.text import normalise, normalise_all
from canonym.types import SCOPES, Int32Array, Mention, Name

INDEXES: dict[str, type[Exact] | type[Inverted]] = {
    "exact": Exact,
    "inverted": Inverted,
    "ivf": Ivf,
    "inner": Inner,
    "euclidean": Euclidean,
}
"""Kinds of indexes, by their name in a manifest."""

Encode = Callable[[Sequence[str]], Vectors]
"""Encodes names as they are written."""

TrainingMention = Mention | tuple[str, str | Sequence[str]]
"""A training mention: annotated, or its text and the id or ids of its concepts."""

_TRAINING_NAMES = "learned"  # folders of an index
_MEANS = "means"


# --- names of training mentions and added synonyms ------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExtraNames:
    """Rows of names that the terminology's file does not have.

    `concepts` are ordinals, ``(n,)`` int32. `repeated` marks names that the terminology has of
    that concept as well. There is one look-up per sieve, and one index per encoder.
    """

    names: Sequence[Name]
    concepts: Int32Array
    repeated: npt.NDArray[np.bool_]
    sieves: tuple[Verbatim, ...]
    indexes: tuple[Exact | Inverted, ...]

    @functools.cached_property
    def rows(self) -> RowsByConcept:
        """The rows of each concept."""
        return RowsByConcept(self.concepts)

    @property
    def scopes(self) -> npt.NDArray[np.int8]:
        """Position in `SCOPES` of the scope of every row, ``(n,)`` int8."""
        return np.array([SCOPES.index(name.scope) for name in self.names], dtype=np.int8)


class ExtraNamesBuilder:
    """Makes rows of names, again and again as names are added.

    Normal forms and vectors of names are remembered: one name more costs one name's work. `kinds`
    are those of the indexes, one per encoder.
    """

    def __init__(
        self, sieves: Sequence[Sieve], encoders: Sequence[Encode], kinds: Sequence[str]
    ) -> None:
        self._sieves = tuple(sieves)
        self._encoders = tuple(encoders)
        self._kinds = tuple(kinds)
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
    ) -> ExtraNames:
        """Make the rows of names with the ordinals of their concepts; see `ExtraNames`."""
        texts = [name.text for name in names]
        self._add(texts)
        places = np.array([self._place[text] for text in texts], dtype=np.int32)
        sieves = []
        for keys, filled in zip(self._keys, self._filled, strict=True):
            rows = np.flatnonzero(filled[places]).astype(np.int32)
            sieves.append(Verbatim.of_keys(keys[places[rows]], rows))
        return ExtraNames(
            tuple(names),
            np.array(concepts, dtype=np.int32),
            np.zeros(len(names), dtype=np.bool_) if repeated is None else np.array(repeated),
            tuple(sieves),
            tuple(
                index_of(take_vectors(vectors, places), kind)
                for vectors, kind in zip(self._vectors, self._kinds, strict=True)
            ),
        )

    def _add(self, texts: Sequence[str]) -> None:
        if len(self._place) > 2 * len(set(texts)) + 1000:  # most remembered names are gone
            self._place.clear()
            self._vectors.clear()
            self._keys = [keys[:0] for keys in self._keys]
            self._filled = [filled[:0] for filled in self._filled]
        new = [text for text in dict.fromkeys(texts) if text not in self._place]
        if not new and len(self._vectors) == len(self._encoders):
            return
        first = len(self._place)
        self._place.update((text, first + number) for number, text in enumerate(new))
        for number, sieve in enumerate(self._sieves):
            forms = sieve.of_names(new, partial(normalise_all, steps=sieve.steps))
            keys = keys_of(sieve.looked_up(forms))
            self._keys[number] = np.concatenate([self._keys[number], keys])
            filled = np.array([bool(form) for form in forms], dtype=np.bool_)
            self._filled[number] = np.concatenate([self._filled[number], filled])
        encoded = [encode(new) for encode in self._encoders]
        if self._vectors:
            pairs = zip(self._vectors, encoded, strict=True)
            encoded = [join_vectors([old, more]) for old, more in pairs]
        self._vectors = encoded


class TrainingNames(NamedTuple):
    """The distinct names of training mentions, and how many mentions were used or left out.

    `counts` has the mentions ``given`` and the ``names`` they made. Left out are ``composite``
    ones, those ``without a concept``, and those whose concept is ``unknown`` to the terminology.
    """

    names: tuple[Name, ...]
    counts: dict[str, int]


def training_names(terminology: Terminology, mentions: Iterable[TrainingMention]) -> TrainingNames:
    """Take the distinct names of training mentions, with the terminology's ids.

    Each id of a mention is right by itself, unless the rule of the mention is ``"all"``.

    Raises
    ------
    InvalidInput
        If none of the mentions has a name and a concept.
    """
    ids = ConceptIds(terminology)
    counts = dict.fromkeys(("given", "names", "composite", "without a concept", "unknown"), 0)
    pairs: dict[tuple[str, str], None] = {}
    for mention in mentions:
        counts["given"] += 1
        text, gold, rule = _fields(mention)
        if not gold or not normalise(text):
            counts["without a concept"] += 1
        elif rule == "all" and len(gold) > 1:
            counts["composite"] += 1
        else:
            known = [concept for concept in map(ids.find, gold) if concept is not None]
            counts["unknown"] += not known
            pairs.update(dict.fromkeys((text.strip(), concept) for concept in known))
    if not pairs:
        raise InvalidInput(
            f"of {counts['given']:,} training mentions none has a name and a concept of the "
            f"terminology ({counts['unknown']:,} have ids that it does not have); were the right "
            "mentions given?"
        )
    counts["names"] = len(pairs)
    return TrainingNames(tuple(Name(text, concept) for text, concept in pairs), counts)


def _fields(mention: TrainingMention) -> tuple[str, Sequence[str], str]:
    if isinstance(mention, Mention):
        return mention.text, mention.ids, mention.rule
    text, gold = (
        mention if isinstance(mention, tuple | list) and len(mention) == 2 else (None, None)
    )
    gold = (gold,) if isinstance(gold, str) else gold
    if not (
        isinstance(text, str)
        and isinstance(gold, Sequence)
        and all(isinstance(id_, str) for id_ in gold)
    ):
        raise InvalidInput(
            "a training mention is a Mention, or a pair of its text and its ids, not "
            f"{mention!r:.80}"
        )
    return text, tuple(gold), "any"


def with_search(settings: Settings, training: TrainingNames | None) -> Settings:
    """Complete the settings with the search that fits the names given.

    Raises
    ------
    InvalidInput
        If the search wants training mentions and there are none, or the other way round.
    """
    written = settings.get("search") or ("O-T" if training is None else "D-T + OD-T")
    uses_training = any("D" in target.part for target in parse_search(written))
    if uses_training and training is None:
        raise InvalidInput(
            f"the search {written!r} looks at training mentions (D), and none were given: give "
            "mentions, or search O-T or O-C"
        )
    if training is not None and not uses_training:
        raise InvalidInput(
            f"training mentions were given, and the search {written!r} does not look at them: "
            "leave them out, or search 'D-T + OD-T'"
        )
    return {**settings, "search": written}


# --- means of concepts ----------------------------------------------------------------------------


class ConceptMeans(NamedTuple):
    """One vector per concept: ``owners`` are the rising ordinals; one index per encoder."""

    owners: Int32Array
    indexes: tuple[Exact | Inverted, ...]


def concept_means(
    indexes: Sequence[Sequence[Exact | Inverted]], owners: Int32Array, rows: npt.NDArray[np.intp]
) -> ConceptMeans:
    """Average rows by their concept.

    For every encoder, `indexes` are numbered through; `owners` is the concept of every row, and
    `rows` are the rising rows that count.
    """
    concepts, groups = np.unique(owners[rows], return_inverse=True)

    def averaged(parts: Sequence[Exact | Inverted]) -> Exact | Inverted:
        (kind,) = (name for name, made in INDEXES.items() if type(parts[0]) is made)
        scaled = kind not in ("inner", "euclidean")
        vectors = _stored(parts, rows)
        means = mean_vectors(vectors, groups.astype(np.int32), len(concepts), scaled=scaled)
        return index_of(means, kind)

    return ConceptMeans(concepts.astype(np.int32), tuple(map(averaged, indexes)))


def _stored(parts: Sequence[Exact | Inverted], rows: npt.NDArray[np.intp]) -> Vectors:
    blocks: list[Vectors] = []
    start = 0
    for part in parts:
        inside = rows[(rows >= start) & (rows < start + part.n_rows)] - start
        blocks.append(take_vectors(part.vectors, inside))
        start += part.n_rows
    return join_vectors(blocks)


# --- folders --------------------------------------------------------------------------------------


def write_targets(
    terminology: Terminology,
    folder: Path,
    training: TrainingNames | None,
    settings: Mapping[str, Any],
    described: Sequence[Mapping[str, Any]],
    encoders: Sequence[Encode],
) -> None:
    """Write training names and concept means into an index, as its search needs them."""
    names = None
    if training is not None:
        sieves = chosen_sieves(settings["sieves"])
        kinds = [encoder["index"] for encoder in described]
        builder = ExtraNamesBuilder(sieves, encoders, kinds)
        names = _build_training_names(terminology, training, builder)
        _save(names, folder / _TRAINING_NAMES, sieves)
    parts = sorted({t.part for t in parse_search(settings["search"]) if t.by_concept})
    if not parts:
        return
    indexes = [
        INDEXES[encoder["index"]].load(folder / f"index-{number}")
        for number, encoder in enumerate(described)
    ]
    for part in parts:
        means = _means_of_part(part, terminology.concept_of_row(), indexes, names)
        place = folder / _MEANS / part
        place.mkdir(parents=True)
        np.save(place / "owners.npy", means.owners)
        _save_indexes(place, means.indexes)


def _build_training_names(
    terminology: Terminology, training: TrainingNames, builder: ExtraNamesBuilder
) -> ExtraNames:
    known = {
        id_: {name.text for name in terminology.names(id_)}
        for id_ in {name.concept_id for name in training.names}
    }
    return builder.build(
        training.names,
        [terminology.ordinal(name.concept_id) or 0 for name in training.names],
        repeated=[name.text in known[name.concept_id] for name in training.names],
    )


def _means_of_part(
    part: str, owners: Int32Array, indexes: Sequence[Exact | Inverted], names: ExtraNames | None
) -> ConceptMeans:
    if names is None:
        return concept_means([(index,) for index in indexes], owners, np.arange(len(owners)))
    n = len(owners)
    counted = np.ones(n + len(names.names), dtype=np.bool_)
    if part == "D":
        counted[:n] = False
    else:
        counted[n:] = ~names.repeated if part == "OD" else False
    parts = list(zip(indexes, names.indexes, strict=True))
    return concept_means(parts, np.concatenate([owners, names.concepts]), np.flatnonzero(counted))


def _save(names: ExtraNames, folder: Path, sieves: Sequence[Sieve]) -> None:
    folder.mkdir()
    texts = [name.text for name in names.names]
    (folder / "texts.json").write_text(json.dumps(texts), encoding="ascii")
    np.save(folder / "concepts.npy", names.concepts)
    np.save(folder / "repeated.npy", names.repeated)
    for sieve, verbatim in zip(sieves, names.sieves, strict=True):
        place = folder / f"sieve-{sieve.name}"
        place.mkdir()
        verbatim.save(place)
    _save_indexes(folder, names.indexes)


def _save_indexes(folder: Path, indexes: Sequence[Exact | Inverted]) -> None:
    for number, index in enumerate(indexes):
        place = folder / f"index-{number}"
        place.mkdir()
        index.save(place)


def load_targets(
    terminology: Terminology,
    folder: Path,
    settings: Mapping[str, Any],
    described: Sequence[Mapping[str, Any]],
    steps: Sequence[Target],
) -> tuple[ExtraNames | None, dict[str, ConceptMeans]]:
    """Open what `write_targets` wrote: training names, and means by the part of a target.

    Raises
    ------
    ReadError
        If a file is damaged.
    """
    kinds = [encoder["index"] for encoder in described]
    names = None
    if any("D" in step.part for step in steps):
        sieves = chosen_sieves(settings["sieves"])
        names = _load_names(terminology, folder / _TRAINING_NAMES, sieves, kinds)
    means = {}
    for part in sorted({step.part for step in steps if step.by_concept}):
        place = folder / _MEANS / part
        owners = load_array(place / "owners.npy", (None,), np.int32)
        check_numbers(place / "owners.npy", owners, terminology.n_concepts)
        means[part] = ConceptMeans(owners, _load_indexes(place, kinds, len(owners)))
    return names, means


def _load_names(
    terminology: Terminology, folder: Path, sieves: Sequence[Sieve], kinds: Sequence[str]
) -> ExtraNames:
    path = folder / "texts.json"
    try:
        texts = load_json(path)
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("no list of texts")
    except (OSError, ValueError) as error:
        raise ReadError(path, f"cannot be opened ({error}); build the index again") from error
    n = len(texts)
    concepts = load_array(folder / "concepts.npy", (n,), np.int32)
    check_numbers(folder / "concepts.npy", concepts, terminology.n_concepts)
    repeated = load_array(folder / "repeated.npy", (n,), np.bool_)
    ids = [concept.id for concept in terminology.concepts_at(concepts)]
    names = [Name(text, id_) for text, id_ in zip(texts, ids, strict=True)]
    return ExtraNames(
        names,
        concepts,
        repeated,
        tuple(Verbatim.load(folder / f"sieve-{sieve.name}", n_rows=n) for sieve in sieves),
        _load_indexes(folder, kinds, n),
    )


def _load_indexes(folder: Path, kinds: Sequence[str], n_rows: int) -> tuple[Exact | Inverted, ...]:
    # Few rows stand beside an index, and are searched exactly.
    return tuple(
        INDEXES["exact" if kind == "ivf" else kind].load(folder / f"index-{number}", n_rows=n_rows)
        for number, kind in enumerate(kinds)
    )
