"""Names that are learned from training mentions, kept beside those of the terminology."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym.blocks import INDEXES, Block, BlockBuilder, Coder, load_block, save_block
from canonym.encoders import load_encoder
from canonym.errors import InvalidInput, ReadError
from canonym.means import ConceptVectors, average
from canonym.settings import Settings, chosen_sieves
from canonym.targets import Target, parse_search
from canonym.terminology import Terminology
from canonym.text import normalise
from canonym.types import Mention, Name

__all__ = ["Learned", "LearnedName", "add_targets", "learn_names", "load_targets", "with_search"]

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
    from canonym.evaluation.gold import ConceptIds

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
