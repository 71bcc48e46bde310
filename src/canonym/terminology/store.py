"""A terminology in one SQLite file: read by many, never changed in place.

Row ``i`` of the name table is row ``i`` of every vector file; rows keep the order in which the
reader yielded them. The digest identifies the content: two builds from the same records have the
same digest on every machine.
"""

from __future__ import annotations

import difflib
import functools
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.io.curies import split_id
from canonym.terminology.codes import (
    CodeHit,
    IdPatterns,
    find_codes,
    find_ids,
    known_ids,
    short_words,
)
from canonym.terminology.sqlite_file import BATCH, CONCEPTS, NAMES, Database, objects, objects_at
from canonym.terminology.words import Words
from canonym.terminology.writer import write_terminology
from canonym.text.codes import may_hold_code
from canonym.types import Concept, Int32Array, Name, Record, Relation, Xref

_LISTED = 12  # values named in a message
_VALUES = {
    "types": "SELECT DISTINCT type FROM types",
    # A name without a source of its own is from the source of its concept.
    "sources": "SELECT source FROM concepts UNION SELECT source FROM names WHERE source != ''",
    "languages": "SELECT DISTINCT language FROM names",
}


class Terminology:
    """A terminology opened for reading.

    Safe to use from several threads: each has its own connection.

    Parameters
    ----------
    path : str or Path
        A file written by `Terminology.build` or ``canonym import``.

    Raises
    ------
    ReadError
        If the file is missing, is not a terminology of canonym, or is damaged.
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

    # --- building ---------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        records: Iterable[Record],
        path: str | Path | None = None,
        *,
        overwrite: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Terminology:
        """Write records to a terminology file and open it.

        Parameters
        ----------
        records : iterable of Concept, Name, Relation or Xref
            In any order; names keep theirs. The label of a concept becomes a name row. Equal names
            of a concept (same text and language) are stored once. Concepts with one id are merged.
        path : str or Path, optional
            The file to write, whole or not at all. Without it the file is temporary and is removed
            with the object.
        overwrite : bool
            Whether an existing file may be replaced.
        progress : callable, optional
            Called with the number of records read so far, after each batch.

        Returns
        -------
        Terminology
            Opened for reading; its `remarks` count what was merged or left out.

        Raises
        ------
        InvalidInput
            If a record cannot be used, there are no names at all, or the file cannot be written.
        """
        if path is not None:
            write_terminology(records, Path(path), overwrite=overwrite, progress=progress)
            return cls(path)
        folder = tempfile.mkdtemp(prefix="canonym-")
        try:
            terminology = cls.build(records, Path(folder) / "terminology.db", progress=progress)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        terminology._finalizer = weakref.finalize(
            terminology, _discard, terminology._database, folder
        )
        return terminology

    # --- closing ----------------------------------------------------------------------------------

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

    # --- counts -----------------------------------------------------------------------------------

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
        """Number of records that building merged or left out, by kind."""
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
        return dict(self._meta["languages"])

    def prefixes(self) -> dict[str, int]:
        """Count concepts by the prefix of their id, ``""`` for none, the most frequent first."""
        counts: Counter[str] = Counter()
        for batch in self._database.batches("SELECT id FROM concepts"):
            counts.update(split_id(id_)[0] for (id_,) in batch)
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    # --- concepts and names -----------------------------------------------------------------------

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

    def find_ids(self, spelling: str) -> tuple[str, ...]:
        """Return the ids of the concepts that an id names, however it is written.

        Its own or an alternative id comes first; then a prefix, the case of letters or the dot of a
        code may be missing or another. Several concepts have ids that are equally near.

        >>> from canonym import Concept, Terminology
        >>> terminology = Terminology.build([Concept("ICD10CM:E11.9", "Type 2 diabetes")])
        >>> terminology.find_ids("e119"), terminology.find_ids("ICD-10 E11.9")
        (('ICD10CM:E11.9',), ('ICD10CM:E11.9',))
        """
        own = self.resolve(spelling)
        return (own,) if own is not None else find_ids(self, self._id_patterns, spelling)

    def find_codes(self, texts: Iterable[str]) -> dict[str, CodeHit]:
        """Find the concepts of texts that are codes, or have one beside a label; leave out others.

        All are looked up together; most names are seen to be none at once.
        """
        likely = [text for text in texts if may_hold_code(text)]
        return find_codes(self, self._id_patterns, likely) if likely else {}

    def is_word_of_others(self, code: str, id: str = "") -> bool:
        """Tell whether a short code is a word in names, but for those of the concept with an id."""
        concept = self._short_words.get(code.lower())
        return concept is not None and (concept < 0 or concept != self.ordinal(id))

    @functools.cached_property
    def _id_patterns(self) -> IdPatterns:
        return IdPatterns(self)

    @functools.cached_property
    def _short_words(self) -> dict[str, int]:
        return short_words(self)

    def concept(self, id: str) -> Concept:
        """Look up the only concept that an id or a code names, spelt in any way of `find_ids`.

        If no concept has it, or several have it, that is an `InvalidInput`.
        """
        ids = self.find_ids(id) if isinstance(id, str) else ()
        if len(ids) > 1:
            raise InvalidInput(
                f"the id {id!r} may be {' or '.join(ids[:_LISTED])} in {self.path.name}; write it "
                "with its prefix"
            )
        for concept in objects(self._database, CONCEPTS, "WHERE id = ?", ids or (None,)):
            return cast(Concept, concept)
        raise InvalidInput(
            f"no concept has the id {id!r} in {self.path.name}; ids look like "
            f"{self.concepts_at([0])[0].id!r} there"
        )

    @functools.cached_property
    def words(self) -> Words:
        """The words of all names."""
        return Words.open(self)

    def search(self, words: str, *, types: Sequence[str] = ()) -> Iterator[Name]:
        """Yield a name of each concept that has one with all of these words, the nearest first.

        Words stand in any order and inflection, and the last may be the beginning of one. With
        `types` only concepts of these types are searched.

        >>> from canonym import Concept, Terminology
        >>> terminology = Terminology.build([Concept("X:1", "Acute nephritis")])
        >>> [name.concept_id for name in terminology.search("nephritis, acute")]
        ['X:1']
        """
        allowed = self.rows_where(types=types) if types else None
        seen: set[str] = set()
        for row in self.words.find(words):
            if allowed is None or allowed[row]:
                (name,) = self.names_at([row])
                if name.concept_id not in seen:
                    seen.add(name.concept_id)
                    yield name

    def ordinal(self, id: str) -> int | None:
        """Return the place of a concept (0 … `n_concepts` − 1) by its own id; None if unknown."""
        row = self._database.first("SELECT ordinal FROM concepts WHERE id = ?", (id,))
        return None if row is None else int(row[0])

    def concepts_at(self, ordinals: Sequence[int] | npt.NDArray[Any]) -> list[Concept]:
        """Return concepts by their ordinal (0 … `n_concepts` − 1), in the order given."""
        return objects_at(self._database, CONCEPTS, "ordinal", ordinals, self.n_concepts)

    def names(self, id: str) -> tuple[Name, ...]:
        """Return the names of a concept in row order, empty when the id is unknown."""
        where = "WHERE c.id = ? ORDER BY n.row"
        return tuple(objects(self._database, NAMES, where, (self.resolve(id),)))

    def names_at(self, rows: Sequence[int] | npt.NDArray[Any]) -> list[Name]:
        """Return names by their row (0 … `n_names` − 1), in the order given."""
        return objects_at(self._database, NAMES, "n.row", rows, self.n_names)

    def iter_concepts(self) -> Iterator[Concept]:
        """Yield all concepts in order."""
        yield from objects(self._database, CONCEPTS, "ORDER BY ordinal")

    def iter_deprecated(self) -> Iterator[Concept]:
        """Yield the deprecated concepts in order."""
        yield from objects(self._database, CONCEPTS, "WHERE deprecated ORDER BY ordinal")

    def iter_texts(self, batch: int = BATCH) -> Iterator[list[str]]:
        """Yield the texts of all names in row order, in lists of `batch`."""
        for rows in self._database.batches("SELECT text FROM names ORDER BY row", size=batch):
            yield [text for (text,) in rows]

    def iter_names(self) -> Iterator[Name]:
        """Yield all names in row order."""
        # Not returned: a temporary file is removed with the object, which this keeps.
        yield from objects(self._database, NAMES, "ORDER BY n.row")

    # --- arrays -----------------------------------------------------------------------------------

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

    def home(self) -> tuple[int, int]:
        """Return from where to where the ids of the commonest prefix go when ids are sorted."""
        prefix = next(iter(self.prefixes()), "")
        sql = "SELECT count(*) FROM concepts WHERE id < ?"
        begin, end = (self._database.first(sql, (prefix + sign,)) for sign in ":;")
        return (begin[0], end[0]) if prefix and begin and end else (0, 0)

    def with_prefix(self, prefix: str) -> npt.NDArray[np.bool_]:
        """Mark the concepts whose ids begin like this, ``(n_concepts,)`` bool."""
        sql = "SELECT ordinal FROM concepts WHERE substr(id, 1, ?) = ?"
        return _flags(self._database, sql, (len(prefix), prefix), self.n_concepts)

    def deprecated(self) -> npt.NDArray[np.bool_]:
        """Mark the concepts that are not in use any more, ``(n_concepts,)`` bool."""
        sql = "SELECT ordinal FROM concepts WHERE deprecated"
        return _flags(self._database, sql, (), self.n_concepts)

    def with_children(self) -> npt.NDArray[np.bool_]:
        """Mark the concepts that others stand below, ``(n_concepts,)`` bool."""
        sql = (
            "SELECT ordinal FROM concepts WHERE EXISTS ("
            "SELECT 1 FROM relations WHERE tail = id AND relation = 'is_a')"
        )
        return _flags(self._database, sql, (), self.n_concepts)

    def rows_where(
        self,
        *,
        types: Sequence[str] = (),
        sources: Sequence[str] = (),
        languages: Sequence[str] = (),
        ids: Sequence[str] = (),
        deprecated: bool = True,
    ) -> npt.NDArray[np.bool_]:
        """Mark the name rows that pass all filters.

        Parameters
        ----------
        types : sequence of str
            Semantic types; a row passes when its concept has one of them; case is ignored.
        sources : sequence of str
            Sources of the concept or of the name itself; case is ignored.
        languages : sequence of str
            Languages of the name; case is ignored, and ``""`` is an unknown language.
        ids : sequence of str
            Concepts, by id or alternative id, in any spelling.
        deprecated : bool
            Whether rows of deprecated concepts pass.

        Returns
        -------
        ndarray
            ``(n_names,)`` bool. An empty filter lets every row pass.

        Raises
        ------
        InvalidInput
            If a type, source, language or id does not occur in the terminology.
        """
        lists = {"types": types, "sources": sources, "languages": languages, "ids": ids}
        filters = {what: _as_list(what, values) for what, values in lists.items()}
        filters["ids"] = self._as_written(filters["ids"])
        try:
            return _mark_rows(self, filters, deprecated)
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            raise self._database.damage(error) from error

    def _as_written(self, ids: list[str]) -> list[str]:
        """Return ids as the terminology writes them, those that it does not have unchanged."""
        known = known_ids(self, ids) if ids else {}
        matches = {id_: self.find_ids(id_) for id_ in ids if id_ not in known}
        return [matches[id_][0] if len(matches.get(id_, ())) == 1 else id_ for id_ in ids]

    # --- relations --------------------------------------------------------------------------------

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

    def xrefs(self, id: str) -> tuple[Xref, ...]:
        """Return the cross-references and alternative ids of a concept, in order."""
        sql = "SELECT concept_id, target, kind FROM xrefs WHERE concept_id = ? ORDER BY 3, 2"
        return tuple(Xref(*row) for row in self._database.rows(sql, (self.resolve(id) or id,)))

    def with_xref(self, target: str) -> tuple[str, ...]:
        """Return the ids of the concepts that have a cross-reference, in order."""
        sql = "SELECT concept_id FROM xrefs WHERE target = ? AND kind != 'alternative' ORDER BY 1"
        return tuple(id_ for (id_,) in self._database.rows(sql, (target,)))

    def parents(self, id: str) -> tuple[str, ...]:
        """Return the ids of the direct parents."""
        return self.related(id, "is_a")

    def relations(self, id: str) -> tuple[Relation, ...]:
        """Return the relations of a concept to others, in order of relation and tail."""
        sql = "SELECT head, relation, tail FROM relations WHERE head = ? ORDER BY 2, 3"
        return tuple(Relation(*row) for row in self._database.rows(sql, (self.resolve(id) or id,)))

    def related(self, id: str, relation: str) -> tuple[str, ...]:
        """Return the ids to which a concept has a relation."""
        sql = "SELECT tail FROM relations WHERE head = ? AND relation = ? ORDER BY 1"
        rows = self._database.rows(sql, (self.resolve(id) or id, relation))
        return tuple(tail for (tail,) in rows)

    def children(self, id: str) -> tuple[str, ...]:
        """Return the ids of the direct children."""
        sql = "SELECT head FROM relations WHERE tail = ? AND relation = 'is_a' ORDER BY 1"
        return tuple(head for (head,) in self._database.rows(sql, (self.resolve(id) or id,)))


# --- filters --------------------------------------------------------------------------------------


def _mark_rows(
    terminology: Terminology, filters: dict[str, list[str]], deprecated: bool
) -> npt.NDArray[np.bool_]:
    database = terminology._database
    n_names, n_concepts = terminology.n_names, terminology.n_concepts
    rows = np.ones(n_names, dtype=np.bool_)
    concepts = np.ones(n_concepts, dtype=np.bool_)
    if filters["types"]:
        values = _known(database, "types", filters["types"])
        sql = f"SELECT concept FROM types WHERE type IN ({_marks(values)})"
        concepts &= _flags(database, sql, values, n_concepts)
    if filters["ids"]:
        concepts &= _flags_of_ids(terminology, filters["ids"])
    if not deprecated:
        concepts &= ~terminology.deprecated()
    if filters["languages"]:
        values = _known(database, "languages", filters["languages"])
        if len(values) < len(_values(database, "languages")):
            sql = f"SELECT row FROM names WHERE language IN ({_marks(values)})"
            rows &= _flags(database, sql, values, n_names)
    if filters["sources"]:
        values = _known(database, "sources", filters["sources"])
        sql = f"SELECT ordinal FROM concepts WHERE source IN ({_marks(values)})"
        passing = _flags(database, sql, values, n_concepts)[database.concept_of_row]
        if not passing.all():
            sql = f"SELECT row FROM names WHERE source != '' AND source IN ({_marks(values)})"
            passing |= _flags(database, sql, values, n_names)
        rows &= passing
    if not concepts.all():
        rows &= concepts[database.concept_of_row]
    return rows


def _as_list(what: str, values: Iterable[str]) -> list[str]:
    if isinstance(values, str):
        return [values]
    several = list(values)
    for value in several:
        if not isinstance(value, str):
            raise InvalidInput(f"{what}: {value!r:.80} is no string; strings are expected")
    return list(dict.fromkeys(several))


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _flags(
    database: Database, sql: str, parameters: Sequence[Any], n: int
) -> npt.NDArray[np.bool_]:
    """Mark the numbers that a query finds."""
    flags = np.zeros(n, dtype=np.bool_)
    for batch in database.batches(sql, parameters):
        flags[np.fromiter((number for (number,) in batch), np.int64, len(batch))] = True
    return flags


def _values(database: Database, what: str) -> list[str]:
    if what not in database.values:
        database.values[what] = sorted(value for (value,) in database.rows(_VALUES[what]))
    return database.values[what]


def _known(database: Database, what: str, requested: list[str]) -> list[str]:
    """Find the values that those given stand for, whatever their case, or name close ones."""
    values = _values(database, what)
    folded: dict[str, list[str]] = {}
    for value in values:
        folded.setdefault(value.casefold(), []).append(value)
    spellings: list[str] = []
    for value in requested:
        if value.casefold() not in folded:
            raise InvalidInput(_unknown(database, what, value, folded))
        spellings.extend(folded[value.casefold()])
    return list(dict.fromkeys(spellings))


def _unknown(database: Database, what: str, value: str, folded: dict[str, list[str]]) -> str:
    close = difflib.get_close_matches(value.casefold(), folded, n=3)
    known = [value for values in folded.values() for value in values]
    if close:
        hint = f"did you mean {' or '.join(repr(folded[value][0]) for value in close)}?"
    elif known:
        more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
        hint = f"it has {', '.join(map(repr, known[:_LISTED]))}{more}."
    else:
        hint = f"it has no {what}."
    return (
        f"{what}: {value!r} does not occur in {database.path.name}; {hint} List all with "
        f"Terminology.{what}() or `canonym terminology show {database.path}`"
    )


def _flags_of_ids(terminology: Terminology, ids: list[str]) -> npt.NDArray[np.bool_]:
    known = known_ids(terminology, ids)
    unknown = [id_ for id_ in ids if id_ not in known]
    if unknown:
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        raise InvalidInput(
            f"ids: {', '.join(map(repr, unknown[:5]))}{more} of {len(ids):,} are not in "
            f"{terminology.path.name}, whose ids look like {terminology.concepts_at([0])[0].id!r}"
        )
    flags = np.zeros(terminology.n_concepts, dtype=np.bool_)
    flags[[concepts[0].ordinal for concepts in known.values()]] = True
    return flags


def _discard(database: Database, folder: str) -> None:
    database.close()  # some systems do not remove open files
    shutil.rmtree(folder, ignore_errors=True)
