"""Replaced ids: tables of them, and terminologies brought up to date by them.

MeSH turns supplementary concepts into descriptors, UMLS merges concepts. Older corpora and code
lists keep the old ids, and a terminology made of several files may have a concept under both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from canonym.errors import ReadError
from canonym.io.streams import open_text
from canonym.io.tables import split_rows
from canonym.types import Concept, Name, Record, Relation, Xref


def read_replaced(
    path: str | Path, *, prefix: str = "", delimiter: str = "\t", encoding: str = "utf-8"
) -> dict[str, str]:
    """Read a table of replaced ids: the id in use for each old one, through all steps between.

    The table has no header: the old id in the first column, the new one in the second; further
    columns are ignored. `prefix` is put before ids that do not begin with it. An id with several
    successors is left out: the table does not say which one is meant. Ids that replace each other
    in a circle are a `ReadError`.
    """
    found: dict[str, set[str]] = {}
    with open_text(path, encoding=encoding) as stream:
        for cells in split_rows(stream, delimiter=delimiter, quoted=False):
            ids = [cell.strip() for cell in cells[:2]]
            if len(ids) < 2 or not all(ids):
                raise stream.error(
                    f"{len(cells)} cells, or an empty id, where the id given up and the one in its "
                    f"place were expected (separated by {delimiter!r})"
                )
            old, new = (id_ if id_.startswith(prefix) else prefix + id_ for id_ in ids)
            if old != new:
                found.setdefault(old, set()).add(new)
    one = {old: next(iter(those)) for old, those in found.items() if len(those) == 1}
    return {old: _last(path, old, one) for old in one}


def _last(path: str | Path, old: str, successors: Mapping[str, str]) -> str:
    met = [old]
    while (new := successors.get(met[-1])) is not None:
        if new in met:
            raise ReadError(path, f"ids take each other's place in a circle: {' → '.join(met)}")
        met.append(new)
    return met[-1]


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
