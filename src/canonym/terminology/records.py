"""Concepts and names as rows of the database, and back."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.terminology.database import Database
from canonym.types import SCOPES, Concept, Name

__all__ = ["CONCEPTS", "NAMES", "concept_row", "objects", "objects_at"]

CONCEPTS = (
    "SELECT id, label, definition, types, source, version, deprecated, replaced_by FROM concepts "
)
"""Start of a query whose rows `objects` turns into `Concept`."""

NAMES = (
    "SELECT n.text, c.id, n.scope, n.language, n.source FROM names n "
    "JOIN concepts c ON c.ordinal = n.concept "
)
"""Start of a query whose rows `objects` turns into `Name`."""


def concept_row(concept: Concept) -> tuple[Any, ...]:
    """Turn a concept into the values of its row, without the ordinal."""
    return (
        concept.id,
        concept.label.strip(),
        concept.definition,
        _json_list(_strings(concept.types)) if concept.types else "[]",
        concept.source,
        concept.version,
        int(concept.deprecated),
        _json_list(_strings(concept.replaced_by)) if concept.replaced_by else "[]",
    )


def _strings(values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError(f"several strings are expected, not the one string {values!r}")
    return tuple(values)


@functools.lru_cache(maxsize=4096)
def _json_list(values: tuple[str, ...]) -> str:
    return json.dumps(values, ensure_ascii=False)


def _concept(row: tuple[Any, ...]) -> Concept:
    id_, label, definition, types, source, version, deprecated, replaced_by = row
    return Concept(
        id_,
        label,
        definition,
        tuple(json.loads(types)),
        source,
        version,
        bool(deprecated),
        tuple(json.loads(replaced_by)),
    )


def _name(row: tuple[Any, ...]) -> Name:
    text, concept_id, scope, language, source = row
    return Name(text, concept_id, SCOPES[scope], language, source)


_MAKERS = {CONCEPTS: _concept, NAMES: _name}


def objects(
    database: Database, select: str, rest: str = "", parameters: Sequence[Any] = ()
) -> Iterator[Any]:
    """Yield the concepts or names that a query finds.

    Parameters
    ----------
    database : Database
        Where to look.
    select : str
        `CONCEPTS` or `NAMES`.
    rest : str
        The conditions and the order.
    parameters : sequence
        Values for the question marks in `rest`.

    Raises
    ------
    ReadError
        If a row holds what was never written.
    """
    make = _MAKERS[select]
    try:
        for row in database.rows(select + rest, parameters):
            yield make(row)
    except (ValueError, IndexError, TypeError) as error:
        raise database.damage(error) from error


def objects_at(
    database: Database,
    select: str,
    where: str,
    numbers: Sequence[int] | npt.NDArray[Any],
    n: int,
) -> list[Any]:
    """Return the concepts or names with the given numbers, in the order given.

    Parameters
    ----------
    database : Database
        Where to look.
    select : str
        `CONCEPTS` or `NAMES`.
    where : str
        The condition, with a question mark for the number.
    numbers : sequence of int
        Each from 0 to `n` − 1.
    n : int
        How many there are.

    Raises
    ------
    InvalidInput
        If a number is out of range.
    ReadError
        If a row is missing or holds what was never written.
    """
    make = _MAKERS[select]
    found = []
    for number in numbers:
        if not 0 <= number < n:
            raise InvalidInput(
                f"{number} is out of range: {database.path.name} has {n:,}, counted from 0"
            )
        row = database.first(select + where, (int(number),))
        try:
            found.append(make(row or ()))
        except (ValueError, IndexError, TypeError) as error:
            raise database.damage(error) from error
    return found
