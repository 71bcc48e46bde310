"""What asks in marginalization over all names: mentions, and names of the terminology."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.terminology.adjacency import Adjacency
from canonym.training.names import LinkedMentions, NameTable
from canonym.types import Int32Array

__all__ = ["Askers", "asking_mentions", "asking_names", "mentions_as_names", "other_names"]


class Askers(NamedTuple):
    """Strings that ask for names of their concepts.

    Attributes
    ----------
    texts : list of str
        The strings; one that stands for other concepts elsewhere is there twice.
    concepts : Adjacency
        The concepts of each, of which any is right.
    own : (n,) int32
        The name that each is itself, −1 for none.
    chances : (n,) float64
        How often each is drawn; they add up to 1.
    """

    texts: list[str]
    concepts: Adjacency
    own: Int32Array
    chances: npt.NDArray[np.float64]


def other_names(table: NameTable, askers: Askers, number: int) -> Int32Array:
    """Return the names of the concepts of a string, rising, but not the string itself."""
    concepts = np.array(askers.concepts.of(number), dtype=np.int32)
    names: Int32Array = np.unique(table.names.of_all(concepts))
    others: Int32Array = names[names != askers.own[number]]
    return others


def mentions_as_names(linked: LinkedMentions) -> list[tuple[str, int]]:
    """Return the mentions of one concept, as names of it."""
    counts = linked.concepts.counts
    return [
        (linked.texts[text], linked.concepts.of(mention)[0])
        for mention, text in enumerate(linked.text_of.tolist())
        if counts[mention] == 1
    ]


def asking_mentions(table: NameTable, linked: LinkedMentions) -> Askers:
    """Return distinct mentions; one that is annotated ``n`` times has a chance like ``√n``."""
    times = Counter(
        (text, tuple(linked.concepts.of(mention)))
        for mention, text in enumerate(linked.text_of.tolist())
    )
    texts = [linked.texts[text] for text, _ in times]
    edges = [(i, concept) for i, (_, concepts) in enumerate(times) for concept in concepts]
    tails, heads = np.array(edges, dtype=np.int32).T
    own = [-1 if (number := table.number(text)) is None else number for text in texts]
    chances = np.sqrt(np.array(list(times.values()), dtype=np.float64))
    return Askers(
        texts,
        Adjacency.build(tails, heads, len(texts)),
        np.array(own, dtype=np.int32),
        chances / chances.sum(),
    )


def asking_names(table: NameTable, n: int) -> Askers:
    """Return those of the first `n` names of which a concept has another name, all alike."""
    several = table.names.counts > 1
    of_names = np.repeat(np.arange(table.n_names), table.concepts.counts)
    found = np.unique(of_names[several[table.concepts.ends]])
    asking: Int32Array = found[found < n].astype(np.int32)
    owners = np.repeat(np.arange(len(asking)), table.concepts.counts[asking]).astype(np.int32)
    return Askers(
        [table.texts[name] for name in asking],
        Adjacency.build(owners, table.concepts.of_all(asking), len(asking)),
        asking,
        np.full(len(asking), 1 / max(len(asking), 1)),
    )
