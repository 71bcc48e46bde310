"""The hierarchy of a terminology: its ``is_a`` edges as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.io.arrays import ranges
from canonym.types import Int32Array

if TYPE_CHECKING:
    from canonym.terminology.store import Terminology


class Hierarchy:
    """Parents, children and what follows from them; cycles do no harm.

    Made by `from_terminology` or `from_edges`. Methods take ids and alternative ids and return ids.
    Inside, a concept is its ordinal, and the edges are compressed rows of int32.

    Attributes
    ----------
    ids : tuple of str
        Ids by ordinal.
    up, down : Adjacency
        The parents and the children of every ordinal.

    Examples
    --------
    >>> hierarchy = Hierarchy.from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal")])
    >>> hierarchy.ancestors("cat"), hierarchy.siblings("cat"), hierarchy.distance("cat", "dog")
    (('pet', 'animal'), ('dog',), 2)
    """

    def __init__(
        self,
        ids: Sequence[str],
        edges: Iterable[tuple[str, str]],
        *,
        alternatives: Mapping[str, int] | None = None,
    ) -> None:
        self.ids = tuple(ids)
        self._ordinals = {**(alternatives or {}), **{id_: i for i, id_ in enumerate(self.ids)}}
        children, parents, dangling = [], [], []
        for child, parent in edges:
            tail, head = self._ordinals.get(child), self._ordinals.get(parent)
            if tail is None or head is None:
                dangling.append((child, parent))
            else:
                children.append(tail)
                parents.append(head)
        self._dangling = tuple(dangling)
        n = len(self.ids)
        keys = np.array(children, dtype=np.int64) * n + np.array(parents, dtype=np.int64)
        keys = np.unique(keys)  # each edge once
        tails, heads = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
        self.up = Adjacency.build(tails, heads, n)
        self.down = Adjacency.build(heads, tails, n)

    @classmethod
    def from_terminology(cls, terminology: Terminology) -> Hierarchy:
        """Read the ``is_a`` relations of a terminology; ordinals are those of its concepts."""
        sql = "SELECT id FROM concepts ORDER BY ordinal"
        ids = [id_ for (id_,) in terminology._database.rows(sql)]
        edges = ((edge.head, edge.tail) for edge in terminology.iter_relations("is_a"))
        return cls(ids, edges, alternatives=alternative_ordinals(terminology, ids))

    @classmethod
    def from_edges(
        cls, edges: Iterable[tuple[str, str]], ids: Sequence[str] | None = None
    ) -> Hierarchy:
        """Make a hierarchy from (child, parent) edges.

        Edges from or to concepts beyond `ids` dangle. Without `ids`, every id in `edges` is a
        concept. A repeated id in `ids` is an `InvalidInput`.
        """
        if ids is None:
            edges = list(edges)
            ids = list(dict.fromkeys(id_ for edge in edges for id_ in edge))
        elif len(set(ids)) != len(ids):
            raise InvalidInput(f"ids: {len(ids) - len(set(ids))} of {len(ids)} are repeated")
        return cls(ids, edges)

    def __repr__(self) -> str:
        return f"<Hierarchy: {self.n_concepts:,} concepts, {self.n_edges:,} edges>"

    @property
    def n_concepts(self) -> int:
        """Number of concepts, with and without parents."""
        return len(self.ids)

    @property
    def n_edges(self) -> int:
        """Number of distinct edges between concepts."""
        return len(self.up.ends)

    def __contains__(self, id: object) -> bool:
        return id in self._ordinals

    def _ordinal(self, id: str) -> int:
        ordinal = self._ordinals.get(id)
        if ordinal is None:
            example = f", whose ids look like {self.ids[0]!r}" if self.ids else ""
            raise InvalidInput(f"{id!r} is no concept of the hierarchy{example}")
        return ordinal

    def _names(self, ordinals: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.ids[ordinal] for ordinal in ordinals)

    # --- neighbours -------------------------------------------------------------------------------

    def parents(self, id: str) -> tuple[str, ...]:
        """Return the direct parents, by ordinal."""
        return self._names(self.up.of(self._ordinal(id)))

    def children(self, id: str) -> tuple[str, ...]:
        """Return the direct children, by ordinal."""
        return self._names(self.down.of(self._ordinal(id)))

    def siblings(self, id: str) -> tuple[str, ...]:
        """Return the other children of the direct parents, by ordinal."""
        ordinal = self._ordinal(id)
        siblings = {child for parent in self.up.of(ordinal) for child in self.down.of(parent)}
        return self._names(sorted(siblings - {ordinal}))

    def ancestors(self, id: str) -> tuple[str, ...]:
        """Return all concepts above, nearest first; never the concept itself."""
        return self._names(list(self.up.distances(self._ordinal(id)))[1:])

    def descendants(self, id: str) -> tuple[str, ...]:
        """Return all concepts below, nearest first; never the concept itself."""
        return self._names(list(self.down.distances(self._ordinal(id)))[1:])

    def roots(self) -> tuple[str, ...]:
        """Return the concepts without parents, by ordinal."""
        return self._names(np.flatnonzero(self.up.counts == 0).tolist())

    # --- distances --------------------------------------------------------------------------------

    def distance(self, first: str, second: str) -> int | None:
        """Count the edges between two concepts through their nearest common ancestor.

        It is 0 for a concept and itself, 1 for a child and its parent, 2 for siblings; None where
        the two have no ancestor in common.
        """
        up = self.up.distances
        return edges_between(up(self._ordinal(first)), up(self._ordinal(second)))

    # --- defects ----------------------------------------------------------------------------------

    def dangling(self) -> tuple[tuple[str, str], ...]:
        """Return the (child, parent) edges of which one end is no concept."""
        return self._dangling

    def cycles(self) -> list[tuple[str, ...]]:
        """Find concepts that are above themselves.

        For each tangle (concepts that are all above each other) one shortest cycle through its
        first concept: a parent follows each id, and the first id follows the last.
        """
        return [self._names(cycle) for cycle in self.up.cycles()]


def edges_up(id: str, parents: Callable[[str], Iterable[str]]) -> dict[str, int]:
    """Map a concept and all concepts above it to the fewest edges up to them, nearest first."""
    edges = {id: 0}
    waiting = [id]
    for below in waiting:
        for parent in parents(below):
            if parent not in edges:
                edges[parent] = edges[below] + 1
                waiting.append(parent)
    return edges


def edges_between(up: Mapping[Any, int], other_up: Mapping[Any, int]) -> int | None:
    """Count the edges through the nearest common ancestor of two concepts with these `edges_up`."""
    return min((up[above] + other_up[above] for above in up.keys() & other_up.keys()), default=None)


def alternative_ordinals(terminology: Terminology, ids: Sequence[str]) -> dict[str, int]:
    """Return the ordinal of the concept that each alternative id stands for; `ids` are its own.

    As in `Terminology.resolve`, the first concept that claims an id has it.
    """
    ordinals = {id_: i for i, id_ in enumerate(ids)}
    first: dict[str, int] = {}
    for concept, target in terminology._database.rows(
        "SELECT concept_id, target FROM xrefs WHERE kind = 'alternative'"
    ):
        ordinal = ordinals.get(concept)
        if ordinal is not None and target not in ordinals:
            first[target] = min(ordinal, first.get(target, ordinal))
    return first


class Adjacency(NamedTuple):
    """Edges of a directed graph as compressed rows.

    The neighbours of node ``i`` are ``ends[starts[i]:starts[i + 1]]``, int32 and rising; ``starts``
    is ``(n + 1,)`` int64.
    """

    starts: npt.NDArray[np.int64]
    ends: Int32Array

    @classmethod
    def build(cls, tails: Int32Array, heads: Int32Array, n: int) -> Adjacency:
        """Compress the edges from `tails` to `heads`, each ``(m,)``, of a graph of `n` nodes."""
        order = np.lexsort((heads, tails))
        starts = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(tails, minlength=n), out=starts[1:])
        return cls(starts, np.ascontiguousarray(heads[order], dtype=np.int32))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.starts) - 1

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of neighbours of each node, ``(n,)`` int64."""
        return np.diff(self.starts)

    def of(self, node: int) -> list[int]:
        """Return the neighbours of a node, rising."""
        neighbours: list[int] = self.ends[self.starts[node] : self.starts[node + 1]].tolist()
        return neighbours

    def of_all(self, nodes: npt.NDArray[np.signedinteger]) -> Int32Array:
        """Return the neighbours of several nodes, ``(m,)`` int32, one node after the other."""
        places = ranges(self.starts[nodes], self.counts[nodes])
        return np.asarray(self.ends[places], dtype=np.int32)

    def distances(self, start: int) -> dict[int, int]:
        """Map every node reachable from `start` to the fewest edges, nearest first.

        `start` itself has 0. Nodes at one distance are in rising order.
        """
        distances = {start: 0}
        frontier, distance = [start], 0
        while frontier:
            distance += 1
            reached = sorted({end for node in frontier for end in self.of(node)})
            frontier = [node for node in reached if node not in distances]
            distances.update(dict.fromkeys(frontier, distance))
        return distances

    def cycles(self) -> list[list[int]]:
        """Find one shortest cycle through the first node of every strongly connected component.

        The next node is a neighbour of each, and the first of the last; a node that is its own
        neighbour is a cycle of one.
        """
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        n = self.n_nodes
        if not len(self.ends):
            return []
        graph = csr_matrix((np.ones(len(self.ends)), self.ends, self.starts), shape=(n, n))
        _, tangle = connected_components(graph, directed=True, connection="strong")
        tails = np.repeat(np.arange(n), self.counts)
        tangled = np.bincount(tangle)[tangle] > 1
        tangled[tails[tails == self.ends]] = True
        nodes = np.flatnonzero(tangled)
        _, first = np.unique(tangle[nodes], return_index=True)
        return [self._shortest_cycle(node) for node in nodes[np.sort(first)].tolist()]

    def _shortest_cycle(self, start: int) -> list[int]:
        came_from: dict[int, int] = {}
        frontier = [start]
        while True:  # it ends, for in a tangle there is a way back
            reached = []
            for node in frontier:
                for end in self.of(node):
                    if end == start:
                        cycle = [node]
                        while cycle[-1] != start:
                            cycle.append(came_from[cycle[-1]])
                        return cycle[::-1]
                    if end not in came_from:
                        came_from[end] = node
                        reached.append(end)
            frontier = reached
