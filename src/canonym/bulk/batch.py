"""A column of an Arrow batch, linked: one row in, one row out.

pandas, polars and DuckDB all go through `link_batch`, so they give the same links in the same
columns. Rows with equal text and context are linked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from canonym.corpora.tables import NO_VALUE
from canonym.errors import InvalidInput, require
from canonym.export.arrow import column_types
from canonym.export.rows import RESULT_COLUMNS, check_free, checked_columns, link_to_rows, prefixed
from canonym.io.tables import no_column
from canonym.linker import Linker, LinkOptions
from canonym.linking.links import check_options
from canonym.types import Link, Mention

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "EMPTY",
    "check_columns",
    "link_batch",
    "link_fields",
    "link_schema",
    "link_table",
    "one_batch",
]

EMPTY = "empty"
"""The reason of a row whose cell is null, blank or a word for no value."""

_ROWS = 1_000_000  # of one batch: Arrow's strings end at 2 GiB
_STRINGS = ("string", "large_string", "string_view", "null")
_NOTHING = NO_VALUE | {""}
_RESULT = tuple(name for name in RESULT_COLUMNS if name != "rank")


def link_schema(columns: Sequence[str] | None = None) -> pa.Schema:
    """Return the Arrow schema of the `columns` that `link_batch` adds, by default always the same.

    ``docs/formats/links.md`` describes every column.

    Raises
    ------
    InvalidInput
        If a column is none of the result.
    MissingExtra
        Without pyarrow (extra ``tables``).

    Examples
    --------
    >>> from canonym.bulk import link_schema
    >>> link_schema().names[:3]
    ['canonym_part', 'canonym_id', 'canonym_label']
    """
    arrow = require("pyarrow", "linking a column", "tables")
    return arrow.schema([field.with_name(prefixed(field.name)) for field in link_fields(columns)])


def link_fields(columns: Sequence[str] | None = None) -> list[pa.Field]:
    """Return the fields of `link_schema` without their prefix, for engines that have structs."""
    arrow = require("pyarrow", "linking a column", "tables")
    types = column_types()
    fields = {name: arrow.field(name, types[name]) for name in _RESULT}
    fields["ids"] = arrow.field("ids", arrow.list_(arrow.string()))
    if columns is None or list(columns) == ["all"]:
        return [*fields.values()]
    return [fields[name] for name in checked_columns(columns, [*fields])]


def link_batch(
    linker: Linker,
    batch: pa.RecordBatch,
    /,
    column: str,
    *,
    context_column: str | None = None,
    abbreviations: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    **options: Unpack[LinkOptions],
) -> pa.RecordBatch:
    """Link a column of an Arrow batch; return the batch with the columns of `link_schema` added.

    A row is what ``linker.link([mention], **options)[0]`` gives, written as ``canonym link
    --one-row`` does: the parts of a composite mention are joined by ``|``. It depends on its text,
    its context and the linker, never on the other rows. So a table may be cut into batches
    anywhere.

    Parameters
    ----------
    linker : Linker
        What to link with.
    batch : pyarrow.RecordBatch
        Its columns are kept as they are, its rows in order.
    column : str
        The column with the mentions: strings of any Arrow kind, dictionaries of strings too. A
        null or blank cell, and one of `canonym.corpora.tables.NO_VALUE` (``"NaN"``), gives a row
        without a concept and with the reason ``"empty"``.
    context_column : str, optional
        A column with text around the mention, to look for abbreviations.
    abbreviations : mapping of str to str, optional
        Short forms and their long forms.
    columns : sequence of str, optional
        Which columns of the result to add, such as ``["id", "label"]``; by default all.
    **options
        See `canonym.LinkOptions`. Of `k` candidates, the row holds the best.

    Raises
    ------
    InvalidInput
        If there is no such column or it holds no strings, if the batch has a column of the result
        already, or if an option is unknown or out of range.
    MissingExtra
        Without pyarrow (extra ``tables``).

    Examples
    --------
    >>> import pyarrow
    >>> from canonym import Concept, Linker, Terminology
    >>> terminology = Terminology.build([Concept("X:1", "Myocardial infarction")])
    >>> linker = Linker.build(terminology, encoders=["chargrams"])
    >>> batch = pyarrow.record_batch({"visit": [1, 2], "dx": ["myocardial infarctions", None]})
    >>> linked = link_batch(linker, batch, "dx")
    >>> linked.select(["visit", "canonym_id", "canonym_reason"]).to_pylist()[1]
    {'visit': 2, 'canonym_id': None, 'canonym_reason': 'empty'}
    """
    arrow = require("pyarrow", "linking a column", "tables")
    schema = link_schema(columns)
    check_columns(batch.schema.names, [column, context_column], columns)
    texts = [_mention(cell) for cell in _strings(batch, column)]
    contexts = _strings(batch, context_column) if context_column else [None] * len(texts)
    # Row 0 of the distinct results is that of all empty cells.
    places: dict[tuple[str, str], int] = {}
    indices = [
        places.setdefault((text, context or ""), len(places) + 1) if text else 0
        for text, context in zip(texts, contexts, strict=True)
    ]
    links = linker.link_stream(
        (Mention(text, context=context) for text, context in places),
        abbreviations=abbreviations,
        **options,
    )
    rows = [_row(Link(Mention(""), nil=True, reason=EMPTY)), *map(_row, links)]
    distinct = arrow.RecordBatch.from_pylist(rows, schema=schema)
    added = distinct.take(arrow.array(indices, type=arrow.int64()))
    whole = arrow.schema([*batch.schema, *schema], metadata=batch.schema.metadata)
    return arrow.RecordBatch.from_arrays([*batch.columns, *added.columns], schema=whole)


def link_table(
    linker: Linker,
    table: pa.Table,
    column: str,
    *,
    context_column: str | None = None,
    abbreviations: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    **options: Unpack[LinkOptions],
) -> pa.Table:
    """Link a column of an Arrow table, by `link_batch` and with its arguments.

    Parameters
    ----------
    linker, column, context_column, abbreviations, columns, **options
        As for `link_batch`.
    table : pyarrow.Table
        Its columns are kept as they are, its rows in order.

    Raises
    ------
    InvalidInput
        As `link_batch` does.
    """
    arrow = require("pyarrow", "linking a column", "tables")
    checked = check_options(options)
    whole = table.combine_chunks()  # equal mentions far apart are linked once
    batches = whole.to_batches(max_chunksize=_ROWS) or [one_batch(table)]
    return arrow.Table.from_batches(
        [
            link_batch(
                linker,
                batch,
                column,
                context_column=context_column,
                abbreviations=abbreviations,
                columns=columns,
                **checked,
            )
            for batch in batches
        ]
    )


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """Return a table of few rows, or of none, as one batch."""
    arrow = require("pyarrow", "linking a column", "tables")
    columns = [column.combine_chunks() for column in table.columns]
    return arrow.RecordBatch.from_arrays(columns, schema=table.schema)


def check_columns(
    columns: Sequence[Any], needed: Iterable[Any], added: Sequence[str] | None = None
) -> None:
    """Refuse a table without a needed column (None aside), or with one that is added already."""
    for name in needed:
        n = 1 if name is None else list(columns).count(name)
        if not n:
            there = ", ".join(map(repr, columns)) or "none"
            missing = no_column(str(name), [str(column) for column in columns])
            raise InvalidInput(f"there is {missing}; the columns are: {there}")
        if n > 1:
            raise InvalidInput(f"{n} columns are named {name!r}: rename all but one of them")
    check_free(columns, link_schema(added).names)


def _strings(batch: pa.RecordBatch, column: str) -> list[str | None]:
    types = require("pyarrow.types", "linking a column", "tables")
    cells = batch.column(batch.schema.get_field_index(column))
    kind = cells.type.value_type if types.is_dictionary(cells.type) else cells.type
    if str(kind) not in _STRINGS:
        raise InvalidInput(
            f"the column {column!r} holds {cells.type}; expected strings: cast it, or name another"
        )
    texts: list[str | None] = cells.to_pylist()
    return texts


def _mention(cell: str | None) -> str:
    """Return the text of a cell, an empty one where it stands for no value."""
    return "" if cell is None or cell.strip() in _NOTHING else cell


def _row(link: Link) -> dict[str, Any]:
    """Return the cells of `link_schema` for a link."""
    (row,) = link_to_rows(link, 1, k=1, one_row=True)
    return {prefixed(name): cell for name, cell in row.items()} | {prefixed("ids"): link.ids}
