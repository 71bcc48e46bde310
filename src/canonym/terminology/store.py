"""A terminology in one SQLite file: read by many, never changed in place.

Row ``i`` of the name table is row ``i`` of every vector file; rows keep the order in which the
reader yielded them. The digest identifies the content: two builds from the same records have the
same digest, whatever the machine.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.terminology.database import BATCH, FORMAT, Database
from canonym.terminology.records import CONCEPTS, NAMES, objects, objects_at
from canonym.types import Concept, Int32Array, Name, Record, Relation, Xref

__all__ = ["FORMAT", "Terminology"]


class Terminology:
    """A terminology opened for reading.

    Safe to use from several threads: each has a connection of its own.

    Parameters
    ----------
    path : str or Path
        A file written by `Terminology.build` or ``canonym import``.

    Raises
    ------
    ReadError
        If the file is missing, is not a terminology of ours, or is damaged.
    Mismatch
        If it was written by a newer version of canonym.

    Examples
    --------
    >>> from canonym import Concept, Name, Terminology
    >>> terminology = Terminology.build(
    ...     [Concept("X:1", "Myocardial infarction"), Name("heart attack", "X:1")]
    ... )
    >>> terminology.n_concepts, terminology.n_names
    (1, 2)
    >>> [name.text for name in terminology.names("X:1")]
    ['Myocardial infarction', 'heart attack']
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._database = Database(self.path)
        self._meta = self._database.meta
        self._finalizer: weakref.finalize[Any, Any] | None = None

    # --- making ---------------------------------------------------------------------------------

    @classmethod
    def build(
        cls, records: Iterable[Record], path: str | Path | None = None, *, overwrite: bool = False
    ) -> Terminology:
        """Write records to a file and open it; see `canonym.terminology.build.build_terminology`.

        Without `path` the file is temporary and goes when the object goes.
        """
        from canonym.terminology.build import build_temporary, build_terminology

        if path is not None:
            return build_terminology(records, path, overwrite=overwrite)
        return build_temporary(records)

    # --- closing --------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connections of all threads; the object cannot be used afterwards."""
        self._database.close()

    def __enter__(self) -> Terminology:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return (
            f"<Terminology {self.path.name}: {self.n_concepts:,} concepts, {self.n_names:,} names>"
        )

    # --- what it is -----------------------------------------------------------------------------

    @property
    def digest(self) -> str:
        """SHA-256 of the content, in hexadecimal."""
        return str(self._meta["digest"])

    @property
    def n_concepts(self) -> int:
        """Number of concepts."""
        return int(self._meta["n_concepts"])

    @property
    def n_names(self) -> int:
        """Number of name rows: distinct (concept, text, language) triples."""
        return int(self._meta["n_names"])

    @property
    def n_relations(self) -> int:
        """Number of distinct relations."""
        return int(self._meta["n_relations"])

    @property
    def n_xrefs(self) -> int:
        """Number of distinct cross-references and alternative ids."""
        return int(self._meta["n_xrefs"])

    @property
    def remarks(self) -> dict[str, int]:
        """What building merged or left out, by kind, with counts."""
        return dict(self._meta["remarks"])

    def sources(self) -> dict[tuple[str, str], int]:
        """Count concepts by source and version."""
        rows = self._database.rows("SELECT source, version, COUNT(*) FROM concepts GROUP BY 1, 2")
        return {(source, version): count for source, version, count in rows}

    def types(self) -> dict[str, int]:
        """Count concepts by semantic type."""
        return dict(self._database.rows("SELECT type, COUNT(*) FROM types GROUP BY 1 ORDER BY 1"))

    def languages(self) -> dict[str, int]:
        """Count name rows by language."""
        sql = "SELECT language, COUNT(*) FROM names GROUP BY 1 ORDER BY 1"
        return dict(self._database.rows(sql))

    # --- concepts and names ---------------------------------------------------------------------

    def resolve(self, id: str) -> str | None:
        """Return the id of the concept that `id` names, itself or as an alternative; else None."""
        if self._database.first("SELECT 1 FROM concepts WHERE id = ?", (id,)):
            return id
        row = self._database.first(
            "SELECT x.concept_id FROM xrefs x JOIN concepts c ON c.id = x.concept_id "
            "WHERE x.target = ? AND x.kind = 'alternative' ORDER BY c.ordinal LIMIT 1",
            (id,),
        )
        return None if row is None else str(row[0])

    def concept(self, id: str) -> Concept:
        """Look a concept up by its id or an alternative id.

        Raises
        ------
        InvalidInput
            If no concept has the id.
        """
        for concept in objects(self._database, CONCEPTS, "WHERE id = ?", (self.resolve(id),)):
            return cast(Concept, concept)
        raise InvalidInput(
            f"no concept has the id {id!r} in {self.path.name}; ids look like "
            f"{self.concepts_at([0])[0].id!r} there"
        )

    def ordinal(self, id: str) -> int | None:
        """Return the place of a concept (0 … `n_concepts` − 1) by its own id; None if unknown."""
        row = self._database.first("SELECT ordinal FROM concepts WHERE id = ?", (id,))
        return None if row is None else int(row[0])

    def concepts_at(self, ordinals: Sequence[int] | npt.NDArray[Any]) -> list[Concept]:
        """Return concepts by their ordinal (0 … `n_concepts` − 1), in the order given.

        Raises
        ------
        InvalidInput
            If an ordinal is out of range.
        """
        return objects_at(self._database, CONCEPTS, "WHERE ordinal = ?", ordinals, self.n_concepts)

    def names(self, id: str) -> tuple[Name, ...]:
        """Return the names of a concept in row order, empty when the id is unknown."""
        where = "WHERE c.id = ? ORDER BY n.row"
        return tuple(objects(self._database, NAMES, where, (self.resolve(id),)))

    def names_at(self, rows: Sequence[int] | npt.NDArray[Any]) -> list[Name]:
        """Return names by their row (0 … `n_names` − 1), in the order given.

        Raises
        ------
        InvalidInput
            If a row is out of range.
        """
        return objects_at(self._database, NAMES, "WHERE n.row = ?", rows, self.n_names)

    def iter_concepts(self) -> Iterator[Concept]:
        """Yield all concepts in order."""
        yield from objects(self._database, CONCEPTS, "ORDER BY ordinal")

    def iter_texts(self, batch: int = BATCH) -> Iterator[list[str]]:
        """Yield the texts of all names in row order, in lists of `batch`."""
        for rows in self._database.batches("SELECT text FROM names ORDER BY row", size=batch):
            yield [text for (text,) in rows]

    def iter_names(self) -> Iterator[Name]:
        """Yield all names in row order."""
        # Not returned: a temporary file is removed with the object, which this keeps.
        yield from objects(self._database, NAMES, "ORDER BY n.row")

    # --- arrays ---------------------------------------------------------------------------------

    def concept_of_row(self) -> Int32Array:
        """Return the ordinal of the concept of every row, ``(n_names,)`` int32."""
        return self._database.concept_of_row.copy()

    def scope_of_row(self) -> npt.NDArray[np.int8]:
        """Return the position in `SCOPES` of every row's scope, ``(n_names,)`` int8."""
        sql = "SELECT scope FROM names ORDER BY row"
        return np.asarray(self._database.column(sql, self.n_names, np.int8), dtype=np.int8)

    def id_rank(self) -> Int32Array:
        """Return the place of every concept when ids are sorted, ``(n_concepts,)`` int32."""
        sql = "SELECT ordinal FROM concepts ORDER BY id"
        order = self._database.column(sql, self.n_concepts, np.int32)
        rank = np.empty(self.n_concepts, dtype=np.int32)
        rank[order] = np.arange(self.n_concepts, dtype=np.int32)
        return rank

    def rows_where(
        self,
        *,
        types: Sequence[str] = (),
        sources: Sequence[str] = (),
        languages: Sequence[str] = (),
        ids: Sequence[str] = (),
        deprecated: bool = True,
    ) -> npt.NDArray[np.bool_]:
        """Mark the name rows that pass all filters given; see `canonym.terminology.filters`.

        Parameters
        ----------
        types : sequence of str
            Semantic types; a row passes when its concept has one of them. In any case.
        sources : sequence of str
            Sources of the concept or of the name itself. In any case.
        languages : sequence of str
            Languages of the name. In any case; ``""`` is "not said".
        ids : sequence of str
            Concepts, by id or alternative id.
        deprecated : bool
            Whether rows of deprecated concepts pass.

        Returns
        -------
        ndarray
            ``(n_names,)`` bool. A filter that is empty lets every row pass.

        Raises
        ------
        InvalidInput
            If a type, source, language or id does not occur in the terminology.
        """
        from canonym.terminology.filters import mark_rows

        return mark_rows(
            self._database,
            types=types,
            sources=sources,
            languages=languages,
            ids=ids,
            deprecated=deprecated,
        )

    # --- relations ------------------------------------------------------------------------------

    def iter_relations(self, relation: str | None = None) -> Iterator[Relation]:
        """Yield relations, all or of one kind, in order of head, relation and tail."""
        where, parameters = ("", ()) if relation is None else ("WHERE relation = ?", (relation,))
        sql = f"SELECT head, relation, tail FROM relations {where} ORDER BY 1, 2, 3"
        for row in self._database.rows(sql, parameters):
            yield Relation(*row)

    def iter_xrefs(self) -> Iterator[Xref]:
        """Yield cross-references and alternative ids in order."""
        sql = "SELECT concept_id, target, kind FROM xrefs ORDER BY 1, 3, 2"
        for row in self._database.rows(sql):
            yield Xref(*row)

    def parents(self, id: str) -> tuple[str, ...]:
        """Return the ids of the direct parents."""
        sql = "SELECT tail FROM relations WHERE head = ? AND relation = 'is_a' ORDER BY 1"
        return tuple(tail for (tail,) in self._database.rows(sql, (self.resolve(id) or id,)))

    def children(self, id: str) -> tuple[str, ...]:
        """Return the ids of the direct children."""
        sql = "SELECT head FROM relations WHERE tail = ? AND relation = 'is_a' ORDER BY 1"
        return tuple(head for (head,) in self._database.rows(sql, (self.resolve(id) or id,)))
