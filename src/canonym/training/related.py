"""Names of concepts near by in the hierarchy: parents, siblings, and all below a high-level one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np

from canonym.errors import InvalidInput
from canonym.terminology.hierarchy import Hierarchy
from canonym.training.names import NameTable
from canonym.types import Int32Array

__all__ = ["RelatedNames", "check_hierarchy", "names_below"]


def check_hierarchy(hierarchy: Hierarchy, *, allow_cycles: bool = False) -> None:
    """Raise `InvalidInput` if a hierarchy has no edges, or has cycles that are not allowed."""
    if not hierarchy.n_edges:
        raise InvalidInput(
            "the hierarchy has no edges: import a terminology that says which concept is below "
            "which, or train without parents and siblings"
        )
    cycles = [] if allow_cycles else hierarchy.cycles()
    if cycles:
        shown = " → ".join((*cycles[0], cycles[0][0]))
        raise InvalidInput(
            f"the hierarchy has cycles ({len(cycles):,}), such as {shown}: a concept in one is its "
            "own ancestor. Mend the terminology, or allow cycles, which training survives: no "
            "concept is ever taken for its own parent or sibling"
        )


class RelatedNames:
    """Names of the parents and siblings of concepts.

    Parameters
    ----------
    table : NameTable
        The names.
    hierarchy : Hierarchy
        Of the same concepts.
    allow_cycles : bool
        Whether a concept may be above itself.

    Raises
    ------
    InvalidInput
        If the hierarchy has no edges, or cycles.
    """

    def __init__(
        self, table: NameTable, hierarchy: Hierarchy, *, allow_cycles: bool = False
    ) -> None:
        check_hierarchy(hierarchy, allow_cycles=allow_cycles)
        self.table, self.hierarchy = table, hierarchy

    def parents(self, concepts: Iterable[int]) -> Int32Array:
        """Return the names of the direct parents of concepts, rising; none of their own."""
        return self._names(self.hierarchy.parents, concepts)

    def siblings(self, concepts: Iterable[int]) -> Int32Array:
        """Return the names of the other children of the parents of concepts; none of their own."""
        return self._names(self.hierarchy.siblings, concepts)

    def _names(
        self, relatives: Callable[[str], tuple[str, ...]], concepts: Iterable[int]
    ) -> Int32Array:
        own = sorted(concepts)
        ids = [self.table.ids[concept] for concept in own]
        near = {other for id_ in ids if id_ in self.hierarchy for other in relatives(id_)}
        ordinals = [self.table.ordinal(id_) for id_ in near - set(ids)]
        found = np.array(sorted(o for o in ordinals if o is not None), dtype=np.int32)
        names = self.table.names
        return np.setdiff1d(names.of_all(found), names.of_all(np.array(own, dtype=np.int32)))


def names_below(
    table: NameTable,
    hierarchy: Hierarchy,
    top: str,
    *,
    n_concepts: int | None = None,
    exclude: Collection[str] = (),
    allow_cycles: bool = False,
) -> dict[str, list[str]]:
    """Group names by the high-level concept that they are below.

    Parameters
    ----------
    table : NameTable
        The names; of labels alone, it gives reference terms.
    hierarchy : Hierarchy
        Of the same concepts.
    top : str
        The concept whose children are the high-level ones. A child that is a parent of another
        child is left out.
    n_concepts : int, optional
        Only the concepts with the most names.
    exclude : collection of str
        Children that are no high-level concepts.
    allow_cycles : bool
        Whether a concept may be above itself.

    Returns
    -------
    dict of str to list of str
        Names of the concepts below each, most names first. A name that belongs to several of those
        chosen is left out everywhere.

    Raises
    ------
    InvalidInput
        If `top` is unknown or has fewer than two children with names of their own, or the hierarchy
        has cycles.

    References
    ----------
    Fivez et al. (2021), Scalable few-shot learning of robust biomedical name representations,
    section 2.3.
    """
    check_hierarchy(hierarchy, allow_cycles=allow_cycles)
    children = [child for child in hierarchy.children(top) if child not in set(exclude)]
    above = {parent for child in children for parent in hierarchy.parents(child)}
    chosen = [child for child in children if child not in above]
    rows: dict[str, Int32Array] = {}
    for child in chosen:
        ids = [id_ for id_ in hierarchy.descendants(child) if id_ != child]
        ordinals = [o for id_ in ids if (o := table.ordinal(id_)) is not None]
        rows[child] = np.unique(table.names.of_all(np.array(ordinals, dtype=np.int32)))
    largest = sorted(rows, key=lambda child: -len(rows[child]))[:n_concepts]
    every = np.concatenate([np.empty(0, np.int32), *(rows[child] for child in largest)])
    once = np.bincount(every, minlength=table.n_names) == 1
    kept = {child: rows[child][once[rows[child]]] for child in largest}
    found = {child: [table.texts[i] for i in names] for child, names in kept.items() if len(names)}
    if len(found) < 2:
        raise InvalidInput(
            f"{top!r} has {len(found)} children with names of their own below them; at least two "
            "are needed to tell one from another: choose a concept further up"
        )
    return found
