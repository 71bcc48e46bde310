"""Exact filters: which name rows belong to given types, sources, languages or ids."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.terminology.database import Database

__all__ = ["mark_rows"]

_CHUNK = 500  # ids in one query
_LISTED = 12  # values named in a message
_VALUES = {
    "types": "SELECT DISTINCT type FROM types",
    # A name without a source of its own is from the source of its concept.
    "sources": "SELECT source FROM concepts UNION SELECT source FROM names WHERE source != ''",
    "languages": "SELECT DISTINCT language FROM names",
}


def mark_rows(
    database: Database,
    *,
    types: Sequence[str] = (),
    sources: Sequence[str] = (),
    languages: Sequence[str] = (),
    ids: Sequence[str] = (),
    deprecated: bool = True,
) -> npt.NDArray[np.bool_]:
    """Mark the name rows that pass every filter; what `Terminology.rows_where` calls.

    Parameters
    ----------
    database : Database
        The terminology.
    types, sources, languages, ids, deprecated
        As of `Terminology.rows_where`.

    Returns
    -------
    ndarray
        ``(n_names,)`` bool.

    Raises
    ------
    InvalidInput
        If a type, source, language or id does not occur in the terminology.
    """
    lists = {"types": types, "sources": sources, "languages": languages, "ids": ids}
    given = {what: _as_list(what, values) for what, values in lists.items()}
    try:
        return _mark_rows(database, given, deprecated)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise database.damage(error) from error


def _mark_rows(
    database: Database, given: dict[str, list[str]], deprecated: bool
) -> npt.NDArray[np.bool_]:
    n_names, n_concepts = database.meta["n_names"], database.meta["n_concepts"]
    rows = np.ones(n_names, dtype=np.bool_)
    concepts = np.ones(n_concepts, dtype=np.bool_)
    if given["types"]:
        wanted = _known(database, "types", given["types"])
        sql = f"SELECT concept FROM types WHERE type IN ({_marks(wanted)})"
        concepts &= _flags(database, sql, wanted, n_concepts)
    if given["ids"]:
        concepts &= _flags_of_ids(database, given["ids"], n_concepts)
    if not deprecated:
        sql = "SELECT ordinal FROM concepts WHERE deprecated"
        concepts &= ~_flags(database, sql, (), n_concepts)
    if given["languages"]:
        wanted = _known(database, "languages", given["languages"])
        if len(wanted) < len(_values(database, "languages")):
            sql = f"SELECT row FROM names WHERE language IN ({_marks(wanted)})"
            rows &= _flags(database, sql, wanted, n_names)
    if given["sources"]:
        wanted = _known(database, "sources", given["sources"])
        sql = f"SELECT ordinal FROM concepts WHERE source IN ({_marks(wanted)})"
        passing = _flags(database, sql, wanted, n_concepts)[database.concept_of_row]
        if not passing.all():
            sql = f"SELECT row FROM names WHERE source != '' AND source IN ({_marks(wanted)})"
            passing |= _flags(database, sql, wanted, n_names)
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


def _known(database: Database, what: str, given: list[str]) -> list[str]:
    """Find the values that those given mean, in any case, or say which are close."""
    values = _values(database, what)
    folded: dict[str, list[str]] = {}
    for value in values:
        folded.setdefault(value.casefold(), []).append(value)
    wanted: list[str] = []
    for value in given:
        if value.casefold() not in folded:
            raise InvalidInput(_unknown(database, what, value, folded))
        wanted.extend(folded[value.casefold()])
    return list(dict.fromkeys(wanted))


def _unknown(database: Database, what: str, value: str, folded: dict[str, list[str]]) -> str:
    close = difflib.get_close_matches(value.casefold(), folded, n=3)
    known = [value for values in folded.values() for value in values]
    if close:
        hint = f"did you mean {' or '.join(repr(folded[each][0]) for each in close)}?"
    elif known:
        more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
        hint = f"it has {', '.join(map(repr, known[:_LISTED]))}{more}."
    else:
        hint = f"it has no {what}."
    return (
        f"{what}: {value!r} does not occur in {database.path.name}; {hint} List all with "
        f"Terminology.{what}() or `canonym terminology show {database.path}`"
    )


def _flags_of_ids(database: Database, ids: list[str], n: int) -> npt.NDArray[np.bool_]:
    ordinals: dict[str, int] = {}
    for sql in (
        "SELECT id, ordinal FROM concepts WHERE id IN ({})",
        "SELECT x.target, MIN(c.ordinal) FROM xrefs x JOIN concepts c ON c.id = x.concept_id "
        "WHERE x.target IN ({}) AND x.kind = 'alternative' GROUP BY x.target",
    ):
        missing = [id_ for id_ in ids if id_ not in ordinals]
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            ordinals.update(database.rows(sql.format(_marks(chunk)), chunk))
    unknown = [id_ for id_ in ids if id_ not in ordinals]
    if unknown:
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        example = database.first("SELECT id FROM concepts WHERE ordinal = 0")
        raise InvalidInput(
            f"ids: {', '.join(map(repr, unknown[:5]))}{more} of {len(ids):,} are not in "
            f"{database.path.name}, whose ids look like {example[0] if example else ''!r}"
        )
    flags = np.zeros(n, dtype=np.bool_)
    flags[np.fromiter(ordinals.values(), np.int64, len(ordinals))] = True
    return flags
