"""Edges of a directed graph as compressed rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.types import Int32Array

__all__ = ["Adjacency"]


class Adjacency(NamedTuple):
    """Where the edges of each node lead.

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
        counts = self.counts[nodes]
        ends = np.cumsum(counts)
        if not len(ends) or not ends[-1]:
            return self.ends[:0]
        places = np.arange(ends[-1]) + np.repeat(self.starts[nodes] - (ends - counts), counts)
        return np.asarray(self.ends[places], dtype=np.int32)

    def distances(self, start: int) -> dict[int, int]:
        """Map every node that can be reached from `start` to the fewest edges, nearest first.

        `start` itself is in it, with 0. Nodes at one distance come in rising order.
        """
        distances = {start: 0}
        frontier, distance = [start], 0
        while frontier:
            distance += 1
            reached = sorted({end for node in frontier for end in self.of(node)})
            frontier = [node for node in reached if node not in distances]
            distances.update(dict.fromkeys(frontier, distance))
        return distances

    def levels(self, roots: npt.NDArray[np.signedinteger]) -> Int32Array:
        """Return the fewest edges from any of `roots` to each node, ``(n,)`` int32; −1 for none."""
        levels = np.full(self.n_nodes, -1, dtype=np.int32)
        frontier, level = np.asarray(roots, dtype=np.int32), 0
        while len(frontier):
            levels[frontier] = level
            level += 1
            reached = np.unique(self.of_all(frontier))
            frontier = reached[levels[reached] < 0]
        return levels

    def cycles(self) -> list[list[int]]:
        """Find one shortest cycle through the first node of every tangle.

        A tangle is a strongly connected component that has a cycle. The node after each in the list
        is one of its neighbours, and the first is one of the last; a node that is its own neighbour
        is a cycle of one.
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
