"""Links as Arrow tables and Parquet files; needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from canonym.errors import require
from canonym.export.rows import COLUMNS, RowMaker, check_unique
from canonym.io.encodings import without_surrogates
from canonym.types import Link

_ROW_GROUP = 50_000


class ParquetWriter:
    """Writes a Parquet file with the rows and columns of `DelimitedWriter`; needs pyarrow.

    `target` is a path or a binary stream. The `columns` of the input table come first; `form` is as
    for `canonym.export.rows.RowMaker`.
    """

    def __init__(
        self, target: str | Path | IO[bytes], *, columns: Sequence[str] | None = None, **form: Any
    ) -> None:
        check_unique(columns)
        self._arrow = require("pyarrow", "writing Parquet", "tables")
        parquet = require("pyarrow.parquet", "writing Parquet", "tables")
        self._maker = RowMaker(columns, **form)
        self._schema = _arrow_schema(self._arrow, columns or (), self._maker)
        self._writer = parquet.ParquetWriter(target, self._schema)
        self._pending: list[list[Any]] = []

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:
        """Add the rows of one link."""
        self._pending += ([*cells, *row] for row in self._maker.rows(link, explanation))
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


def _arrow_schema(arrow: Any, columns: Sequence[str], maker: RowMaker) -> Any:
    types = column_types()
    added = zip(maker.names, map(types.__getitem__, maker.keys), strict=True)
    return arrow.schema([*((name, arrow.string()) for name in columns), *added])


def _arrow_table(arrow: Any, rows: list[list[Any]], schema: Any) -> Any:
    columns = ([row[place] for row in rows] for place in range(len(schema)))
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
    links, k
        As of `canonym.export.links_to_rows`.

    Raises
    ------
    MissingExtra
        If pyarrow is not installed.
    """
    arrow = require("pyarrow", "an Arrow table", "tables")
    maker = RowMaker(k=k)
    rows = [row for link in links for row in maker.rows(link)]
    return _arrow_table(arrow, rows, _arrow_schema(arrow, (), maker))
