"""Replaced ids: tables of them, and terminologies brought up to date by them.

MeSH turns supplementary concepts into descriptors, UMLS merges concepts. Older corpora and code
lists keep the old ids, and a terminology made of several files may have a concept under both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.io.streams import open_text
from canonym.io.tables import find_announced, split_rows
from canonym.types import Concept, Int32Array, Name, Record, Relation, Xref

if TYPE_CHECKING:
    from canonym.terminology.store import Terminology


def read_replaced(
    path: str | Path, *, prefix: str = "", delimiter: str = "\t", encoding: str = "utf-8"
) -> dict[str, str]:
    """Read a table of replaced ids: the id in use for each old one, through all steps between.

    The table has no header: the old id in the first column, the new one in the second; further
    columns are ignored. `prefix` is put before ids that do not begin with it. An id with several
    successors is left out: the table does not say which one is meant. Ids that replace each other
    in a circle are a `ReadError`.
    """
    successors: dict[str, set[str]] = {}
    announced = find_announced(path, encoding)
    with open_text(path, encoding=encoding) as stream:
        if announced:
            next(stream)
        for cells in split_rows(stream, delimiter=announced or delimiter, quoted=False):
            ids = [cell.strip() for cell in cells[:2]]
            if len(ids) < 2 or not all(ids):
                raise stream.error(
                    f"{len(cells)} cells, or an empty id, where the id given up and the one in its "
                    f"place were expected (separated by {delimiter!r})"
                )
            old, new = (id_ if id_.startswith(prefix) else prefix + id_ for id_ in ids)
            if old != new:
                successors.setdefault(old, set()).add(new)
    single = {old: next(iter(those)) for old, those in successors.items() if len(those) == 1}
    return {old: _last(path, old, single) for old in single}


def _last(path: str | Path, old: str, successors: Mapping[str, str]) -> str:
    met = [old]
    while (new := successors.get(met[-1])) is not None:
        if new in met:
            raise ReadError(path, f"ids take each other's place in a circle: {' → '.join(met)}")
        met.append(new)
    return met[-1]


def current_id(terminology: Terminology, id_: str) -> str | None:
    """Return the id in the place of a deprecated concept, after all steps between.

    The id itself where the concept is not deprecated; None where nothing, or more than one concept,
    takes its place. `id_` is one of the terminology.
    """
    met: set[str] = set()
    while (concept := terminology.concept(id_)).deprecated:
        met.add(concept.id)
        successor = (
            terminology.resolve(concept.replaced_by[0]) if len(concept.replaced_by) == 1 else None
        )
        if successor is None or successor in met:
            return None
        id_ = successor
    return concept.id


def current_owners(terminology: Terminology) -> tuple[Int32Array, npt.NDArray[np.bool_] | None]:
    """Return the concept of every row with deprecated ones replaced, and the rows without one.

    Owners are ordinals as of `Terminology.concept_of_row`, ``(n_names,)`` int32, but for names of
    deprecated concepts those of the concept in their place. The rows of deprecated concepts that
    nothing takes the place of are ``(n_names,)`` bool, None where there are none.
    """
    owners = terminology.concept_of_row()
    place = np.arange(terminology.n_concepts, dtype=np.int32)
    gone = np.zeros(terminology.n_concepts, dtype=np.bool_)
    for concept in terminology.iter_deprecated():
        current = current_id(terminology, concept.id)
        old, new = (terminology.ordinal(id_) for id_ in (concept.id, current or concept.id))
        if old is not None and new is not None:  # both are there
            gone[old], place[old] = current is None, new
    retired = gone[owners]
    return place[owners], retired if retired.any() else None


def with_replaced(records: Iterable[Record], replaced: Mapping[str, str]) -> Iterator[Record]:
    """Move what stands under replaced ids to the concepts in their place.

    A concept with an old id becomes a name; the one in its place also gets its types, and its
    definition where it has none. At the end every old id is yielded as an alternative of the one in
    use, if a record has either of them.

    >>> from canonym.types import Concept
    >>> given = [Concept("D1", "Quetiapine"), Concept("C7", "quetiapin")]
    >>> [record.concept_id for record in with_replaced(given, {"C7": "D1"}) if record != given[0]]
    ['D1', 'D1']
    """
    met: set[str] = set()
    for record in records:
        if isinstance(record, Concept):
            met.add(record.id)
            current = replaced.get(record.id)
            if current is None:
                yield record
                continue
            if record.definition or record.types:
                yield Concept(current, "", record.definition, record.types)
            if record.label:
                yield Name(record.label, current)
        elif isinstance(record, Relation):
            head, tail = (replaced.get(id_, id_) for id_ in (record.head, record.tail))
            if head != tail or record.head == record.tail:
                yield replace(record, head=head, tail=tail)
        else:
            met.add(record.concept_id)
            yield replace(record, concept_id=replaced.get(record.concept_id, record.concept_id))
    for old, current in replaced.items():
        if old in met or current in met:
            yield Xref(current, old, "alternative")
