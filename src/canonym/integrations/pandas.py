"""Link a column of a pandas table; needs pandas, and the extra ``tables``."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from canonym.bulk.batch import check_columns, link_schema, link_table
from canonym.errors import InvalidInput, require
from canonym.linker import Linker, LinkOptions, as_linker

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["link_column"]


def link_column(
    frame: pd.DataFrame,
    column: Hashable,
    linker: Linker | str | Path | None = None,
    *,
    context_column: Hashable | None = None,
    abbreviations: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    **options: Unpack[LinkOptions],
) -> pd.DataFrame:
    """Link a column of a table; return a table with the columns ``canonym_id``, … added.

    The given table stays as it is. Its index, columns and their types are those of the result.

    Parameters
    ----------
    frame : pandas.DataFrame
        Any table.
    column : hashable
        The column with the mentions. None, NaN, NA and blank strings give a row without a concept
        and with the reason ``"empty"``.
    linker : Linker, str or Path, optional
        A linker, or the folder of an index; by default ICD-10-CM, `canonym.Linker.default`.
    context_column, abbreviations, columns, **options
        As of `canonym.bulk.link_batch`.

    Returns
    -------
    pandas.DataFrame
        The columns of `canonym.bulk.link_schema` stand last.

    Raises
    ------
    InvalidInput
        If there is no such column or it holds no strings, if the table has a column of the result
        already, or if an option is unknown or out of range.
    MissingExtra
        Without pandas, or pyarrow (extra ``tables``).

    Examples
    --------
    >>> import pandas
    >>> from canonym import Concept, Linker, Terminology
    >>> from canonym.integrations.pandas import link_column
    >>> terminology = Terminology.build([Concept("X:1", "Myocardial infarction")])
    >>> linker = Linker.build(terminology, encoders=["chargrams"])
    >>> visits = pandas.DataFrame({"dx": ["Myocardial Infarctions", None]}, index=[7, 8])
    >>> link_column(visits, "dx", linker)[["dx", "canonym_id", "canonym_reason"]]
                           dx canonym_id canonym_reason
    7  Myocardial Infarctions        X:1
    8                     NaN        NaN          empty
    """
    pandas = require("pandas", "a pandas table")
    arrow = require("pyarrow", "a pandas table", "tables")
    if not isinstance(frame, pandas.DataFrame):
        raise InvalidInput(f"{type(frame).__name__} was given; expected a pandas.DataFrame")
    if frame.columns.nlevels > 1:
        raise InvalidInput(
            f"the columns have {frame.columns.nlevels} levels, and the result has one: flatten "
            "them first, with frame.columns.to_flat_index()"
        )
    check_columns(list(frame.columns), [column, context_column], columns)
    names = [name for name in dict.fromkeys([column, context_column]) if name is not None]
    table = arrow.table([_cells(frame[name]) for name in names], list(map(str, names)))
    linked = link_table(
        as_linker(linker),
        table,
        str(column),
        context_column=None if context_column is None else str(context_column),
        abbreviations=abbreviations,
        columns=columns,
        **options,
    )
    added = linked.select(link_schema(columns).names).to_pandas().set_axis(frame.index)
    return pandas.concat([frame, added], axis="columns")


def _cells(series: pd.Series[Any]) -> Any:
    """Return a column as an Arrow array of strings, with nulls for NaN."""
    arrow = require("pyarrow", "a pandas table", "tables")
    if series.isna().all():  # such as an empty column of a CSV file, which pandas reads as numbers
        return arrow.nulls(len(series))
    try:
        return arrow.array(series, from_pandas=True)
    except (arrow.ArrowException, UnicodeError) as error:
        raise InvalidInput(
            f"the column {series.name!r} holds more than strings ({error}): make strings of them "
            f"first, with frame[{series.name!r}].astype('string')"
        ) from error
