"""Link a column of a polars frame, eager or lazy; needs polars, and the extra ``tables``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from canonym.bulk.batch import link_fields, link_schema, link_table
from canonym.errors import InvalidInput, require
from canonym.linker import Linker, LinkOptions, as_linker
from canonym.linking.links import check_options

if TYPE_CHECKING:
    import polars as pl

__all__ = ["link", "link_column"]

Frame = TypeVar("Frame", "pl.DataFrame", "pl.LazyFrame")


def link_column(
    frame: Frame,
    column: str,
    linker: Linker | str | Path | None = None,
    *,
    context_column: str | None = None,
    abbreviations: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    **options: Unpack[LinkOptions],
) -> Frame:
    """Link a column of a frame; return a frame with the columns ``canonym_id``, … added.

    A lazy frame stays lazy: its columns are checked at once, and its mentions are linked when it is
    collected. Rows that a filter or a ``head`` leaves out are not linked.

    Parameters
    ----------
    frame : polars.DataFrame or polars.LazyFrame
        Any frame.
    column : str
        The column with the mentions: strings, or a categorical or enumeration of strings. Null and
        blank strings give a row without a concept and with the reason ``"empty"``.
    linker, context_column, abbreviations, columns, **options
        As of `canonym.integrations.pandas.link_column`.

    Returns
    -------
    polars.DataFrame or polars.LazyFrame
        As given. The columns of `canonym.bulk.link_schema` stand last.

    Raises
    ------
    InvalidInput
        If there is no such column or it holds no strings, if the frame has a column of the result
        already, or if an option is unknown or out of range.
    MissingExtra
        Without polars, or pyarrow (extra ``tables``).

    Examples
    --------
    >>> import polars
    >>> from canonym import Concept, Linker, Terminology
    >>> from canonym.integrations.polars import link_column
    >>> terminology = Terminology.build([Concept("X:1", "Myocardial infarction")])
    >>> linker = Linker.build(terminology, encoders=["chargrams"])
    >>> visits = polars.DataFrame({"dx": ["Myocardial Infarctions", None]})
    >>> link_column(visits, "dx", linker).select("canonym_id", "canonym_reason").rows()
    [('X:1', ''), (None, 'empty')]
    """
    pl = require("polars", "a polars frame")
    if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        raise InvalidInput(
            f"{type(frame).__name__} was given; expected a polars.DataFrame or a LazyFrame"
        )
    linker = as_linker(linker)
    how: dict[str, Any] = {"context_column": context_column, "abbreviations": abbreviations}
    how |= {"columns": columns, **check_options(options)}
    link_table(linker, pl.DataFrame(schema=frame.collect_schema()).to_arrow(), column, **how)
    added = link(column, linker, **how).name.prefix_fields("canonym_")
    free = link_schema(columns).names[0]
    return frame.with_columns(added.alias(free)).unnest(free)


def link(
    column: str,
    linker: Linker | str | Path | None = None,
    *,
    context_column: str | None = None,
    abbreviations: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    **options: Unpack[LinkOptions],
) -> pl.Expr:
    """Return an expression that links a column: a struct with the fields ``id``, ``label``, ….

    Parameters
    ----------
    column, linker, context_column, abbreviations, columns, **options
        As for `link_column`.

    Returns
    -------
    polars.Expr
        Named like the column. Its fields are `canonym.bulk.link_schema` without the prefix.

    Examples
    --------
    >>> import polars
    >>> from canonym import Concept, Linker, Terminology
    >>> from canonym.integrations.polars import link
    >>> terminology = Terminology.build([Concept("X:1", "Myocardial infarction")])
    >>> linker = Linker.build(terminology, encoders=["chargrams"])
    >>> visits = polars.DataFrame({"dx": ["Myocardial Infarctions", None]})
    >>> visits.select(link("dx", linker).struct.field("id")).to_series().to_list()
    ['X:1', None]
    """
    pl = require("polars", "a polars frame")
    pyarrow = require("pyarrow", "a polars frame", "tables")
    opened = as_linker(linker)
    how: dict[str, Any] = {"context_column": context_column, "abbreviations": abbreviations}
    how |= {"columns": columns, **check_options(options)}

    def linked(cells: Any) -> Any:
        table = link_table(opened, cells.struct.unnest().to_arrow(), column, **how)
        links = pl.from_arrow(table.select(link_schema(columns).names))
        return links.to_struct(column).struct.rename_fields(list(fields))

    fields = pl.from_arrow(pyarrow.schema(link_fields(columns)).empty_table()).schema
    names = [name for name in dict.fromkeys([column, context_column]) if name is not None]
    return pl.struct(names).map_batches(linked, return_dtype=pl.Struct(fields), is_elementwise=True)
