"""Batches of relation triplets in which every concept comes several times (CODER)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_text
from canonym.terminology.hierarchy import Adjacency
from canonym.training.sampling.name_table import NameTable, distinct_rows
from canonym.training.sampling.random import n_batches_of, shuffled
from canonym.types import Int32Array, Relation


def read_relations(path: str | Path) -> list[Relation]:
    """Read relations, ``head<tab>relation<tab>tail`` a line."""
    relations = []
    with open_text(path) as stream:
        for line in stream:
            cells = line.rstrip("\r\n").split("\t")
            if not line.strip():
                continue
            if len(cells) != 3 or not all(cell.strip() for cell in cells):
                raise stream.error(
                    f"head, relation and tail are expected with tabs between, found {line[:60]!r}"
                )
            relations.append(Relation(*(cell.strip() for cell in cells)))
    if not relations:
        raise ReadError(path, "holds no relation; head<tab>relation<tab>tail lines are expected")
    return relations


class RelationTable:
    """Distinct (head, relation, tail) triplets between named concepts, as rising numbers.

    With `strict`, an unknown concept is an error; otherwise its triplets are left out and counted.
    With `synonyms`, a terminology without any relation has each concept with two names or more as
    a triplet with itself: both names of a pair are the concept's.
    """

    def __init__(
        self,
        table: NameTable,
        relations: Iterable[Relation],
        *,
        strict: bool = True,
        synonyms: bool = False,
    ) -> None:
        numbers: dict[str, int] = {}
        columns = [array("i"), array("i"), array("i")]  # 88 million of UMLS are no list of tuples
        named = table.names.counts > 0
        unknown: dict[str, None] = {}
        self.n_left_out = 0
        for relation in relations:
            ends = (table.ordinal(relation.head), table.ordinal(relation.tail))
            for id_, end in zip((relation.head, relation.tail), ends, strict=True):
                if end is None:
                    unknown[id_] = None
            head, tail = ends
            if head is None or tail is None or not (named[head] and named[tail]):
                self.n_left_out += 1
                continue
            number = numbers.setdefault(relation.relation, len(numbers))
            for column, value in zip(columns, (head, number, tail), strict=True):
                column.append(value)
        if unknown and strict:
            raise InvalidInput(
                f"relations name {len(unknown):,} concepts that the terminology does not have, "
                f"such as {next(iter(unknown))!r} (ids look like {table.ids[0]!r}); drop those "
                "relations, or give the terminology they belong to"
            )
        if synonyms and not columns[0] and not self.n_left_out:
            several = np.flatnonzero(table.names.counts > 1).tolist()
            numbers["synonym"] = 0
            for column, values in zip(columns, (several, [0] * len(several), several), strict=True):
                column.extend(values)
        if not columns[0]:
            raise InvalidInput(
                "no concept has two names, which could be drawn together; give a terminology with "
                "synonyms"
                if numbers
                else f"no relation between named concepts is left ({self.n_left_out:,} were left "
                "out): import a terminology with relations, or give some; the variant 'none' "
                "learns from synonyms alone"
            )
        self.relations = tuple(numbers)
        self.triplets = distinct_rows(columns, (len(table.ids), len(numbers), len(table.ids)))


class RelationBatches:
    """Deals triplets into batches, each several times, with other names each time.

    A batch of ``k`` holds ``⌊k / m⌋`` different triplets, the last of an epoch perhaps fewer. Each
    of its concepts has at least ``m`` terms, so that every term has a positive. See Yuan et al.
    (2020), CODER, sections 3.3 and 4.2.
    """

    def __init__(
        self,
        names: Adjacency,
        triplets: Int32Array,
        *,
        batch_size: int = 128,
        repeats: int = 8,
        n_batches: int | None = None,
    ) -> None:
        if not 2 <= repeats <= batch_size**0.5:
            raise InvalidInput(
                f"repeats is {repeats} of batch_size {batch_size}; expected between 2 and the root "
                f"of batch_size ({int(batch_size**0.5)}), so that a batch has positives and "
                "negatives"
            )
        self.names, self.triplets = names, triplets
        self.counts = names.counts  # of every concept, once and not in each batch
        self.repeats = repeats
        self.n_different = batch_size // repeats
        self.n_batches = n_batches

    def draw(self, rng: np.random.Generator) -> Mapping[str, npt.NDArray[Any]]:
        """Sample an epoch: a seed alone, of which each batch is drawn when its turn comes.

        So a plan takes 8 bytes however many triplets there are, in checkpoints and on the way to
        other processes, and a batch is the same in every process.
        """
        return {"seed": rng.integers(2**63, size=1)}

    @property
    def n_drawn(self) -> int:
        """Number of triplets of an epoch, each of which comes once."""
        n = len(self.triplets)
        return n if self.n_batches is None else min(n, self.n_batches * self.n_different)

    def count(self) -> int:
        """Return the number of batches of an epoch."""
        return n_batches_of(self.n_drawn, self.n_different)

    def batch(
        self, plan: Mapping[str, npt.NDArray[Any]], number: int
    ) -> tuple[Int32Array, Int32Array, Int32Array]:
        """Return the triplets ``(k, 3)`` of a batch with their repetitions, and the names."""
        seed, start = int(plan["seed"][0]), number * self.n_different
        places = np.arange(start, min(start + self.n_different, self.n_drawn))
        drawn = self.triplets[shuffled(places, len(self.triplets), seed)]
        triplets = np.repeat(drawn, self.repeats, axis=0)
        rng = np.random.default_rng([seed, number])
        heads, tails = (self._draw_names(triplets[:, end], rng) for end in (0, 2))
        return triplets, heads, tails

    def _draw_names(self, concepts: Int32Array, rng: np.random.Generator) -> Int32Array:
        places = (rng.random(len(concepts)) * self.counts[concepts]).astype(np.int64)
        return np.asarray(self.names.ends[self.names.starts[concepts] + places])
