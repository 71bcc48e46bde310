"""Link a column of a Spark data frame; needs the extra ``spark``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from canonym.bulk.batch import link_batch, link_schema, link_table
from canonym.bulk.job import reopened
from canonym.errors import InvalidInput, require
from canonym.linker import Linker, LinkOptions, as_linker

if TYPE_CHECKING:
    import pyspark.sql

__all__ = ["link_column"]


def link_column(
    frame: pyspark.sql.DataFrame,
    column: str,
    index: Linker | str | Path | None = None,
    *,
    context_column: str | None = None,
    abbreviations: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    **options: Unpack[LinkOptions],
) -> pyspark.sql.DataFrame:
    """Link a column of a Spark data frame; return one with the columns ``canonym_id``, … added.

    The frame stays lazy. Every process of Spark opens the index once, from the folder where it lies
    for this process: all machines have to see it there.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Any frame.
    column : str
        The column with the mentions, strings. Null and blank strings give a row without a concept
        and with the reason ``"empty"``.
    index : Linker, str or Path, optional
        A linker that is saved, or its folder; by default ICD-10-CM, `canonym.Linker.default`.
    context_column, abbreviations, columns, **options
        As of `canonym.bulk.link_batch`.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of `canonym.bulk.link_schema` stand last.

    Raises
    ------
    InvalidInput
        If there is no such column or it holds no strings, if the frame has a column of the result
        already, or if an option is unknown or out of range.
    MissingExtra
        Without pyspark (extra ``spark``).
    """
    require("pandas", "a Spark data frame", "spark")
    sql = require("pyspark.sql", "a Spark data frame", "spark")
    types = require("pyspark.sql.types", "a Spark data frame", "spark")
    arrow = require("pyspark.sql.pandas.types", "a Spark data frame", "spark")
    if not isinstance(frame, sql.DataFrame):
        raise InvalidInput(f"{type(frame).__name__} was given; expected a pyspark.sql.DataFrame")
    linker = as_linker(index)
    how: dict[str, Any] = {
        "context_column": context_column,
        "abbreviations": abbreviations,
        "columns": columns,
        **options,
    }
    link_table(linker, arrow.to_arrow_schema(frame.schema).empty_table(), column, **how)
    added = arrow.from_arrow_schema(link_schema(columns))
    linked = partial(_linked, linker.__reduce__(), column, how)
    return frame.mapInArrow(linked, types.StructType([*frame.schema.fields, *added.fields]))


def _linked(
    opening: tuple[Any, ...], column: str, how: Mapping[str, Any], batches: Iterable[Any]
) -> Iterator[Any]:
    """Link Arrow batches where Spark wants it."""
    linker = reopened(opening)
    for batch in batches:
        yield link_batch(linker, batch, column, **how)
