"""Links as Arrow tables and Parquet files; needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from canonym.errors import require
from canonym.export.rows import (
    COLUMNS,
    check_unique,
    link_to_rows,
    links_to_rows,
    prefixed,
    result_columns,
)
from canonym.io.encodings import without_surrogates
from canonym.types import Link

_ROW_GROUP = 50_000


class ParquetWriter:
    """Writes a Parquet file with the rows and columns of `DelimitedWriter`; needs pyarrow.

    Parameters
    ----------
    target : str, Path or binary stream
        Target.
    k, columns, explain, one_row
        As for `DelimitedWriter`.
    """

    def __init__(
        self,
        target: str | Path | IO[bytes],
        *,
        k: int | None = None,
        columns: Sequence[str] | None = None,
        explain: bool = False,
        one_row: bool = False,
    ) -> None:
        check_unique(columns)
        self._one_row = one_row
        self._arrow = require("pyarrow", "writing Parquet", "tables")
        parquet = require("pyarrow.parquet", "writing Parquet", "tables")
        self._k = k
        self._number = 1
        self._explain = explain
        self._columns = columns
        self._schema = _arrow_schema(self._arrow, columns, explain)
        self._writer = parquet.ParquetWriter(target, self._schema)
        self._pending: list[dict[str, Any]] = []

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:
        """Add the rows of one link."""
        for row in link_to_rows(link, self._number, k=self._k, one_row=self._one_row):
            if self._explain:
                row["explanation"] = explanation
            if self._columns is not None:
                cells_of = dict(zip(self._columns, cells, strict=True))
                row = cells_of | {prefixed(key): value for key, value in row.items()}
            self._pending.append(row)
        self._number += 1
        if len(self._pending) >= _ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(_arrow_table(self._arrow, self._pending, self._schema))
        self._pending = []

    def close(self) -> None:
        """Write the last rows and the footer."""
        if self._pending:
            self._flush()
        self._writer.close()


def column_types() -> dict[str, Any]:
    """Return the Arrow types of `COLUMNS` and of the explanation; needs pyarrow."""
    arrow = require("pyarrow", "an Arrow table", "tables")
    whole, number = arrow.int64(), arrow.float64()
    special = {
        "row": whole, "start": whole, "end": whole, "rank": arrow.int32(), "score": number,
        "margin": number, "confidence": number, "types": arrow.list_(arrow.string()),
        "nil": arrow.bool_(),
    }  # fmt: skip
    return {name: special.get(name, arrow.string()) for name in (*COLUMNS, "explanation")}


def _arrow_schema(arrow: Any, columns: Sequence[str] | None, explain: bool) -> Any:
    types = column_types()
    if columns is not None:
        types = {prefixed(name): type_ for name, type_ in types.items()}
    names = result_columns(columns, explain=explain)
    return arrow.schema([(name, types.get(name, arrow.string())) for name in names])


def _arrow_table(arrow: Any, rows: list[dict[str, Any]], schema: Any) -> Any:
    columns = ([row[field.name] for row in rows] for field in schema)
    arrays = [
        arrow.array(
            [without_surrogates(cell) if isinstance(cell, str) else cell for cell in cells],
            type=field.type,
        )
        for field, cells in zip(schema, columns, strict=True)
    ]
    return arrow.Table.from_arrays(arrays, schema=schema)


def links_to_arrow(links: Iterable[Link], *, k: int | None = None) -> Any:
    """Turn links into a ``pyarrow.Table`` with the columns `COLUMNS`, one row a candidate.

    Parameters
    ----------
    links : iterable of Link
        Any number.
    k : int, optional
        Most candidates of a mention, all by default.

    Raises
    ------
    MissingExtra
        If pyarrow is not installed.
    """
    arrow = require("pyarrow", "an Arrow table", "tables")
    return _arrow_table(arrow, links_to_rows(links, k=k), _arrow_schema(arrow, None, False))
