"""Link inside SQL: a function of a DuckDB connection; needs duckdb, and the extra ``tables``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from canonym.bulk.batch import link_batch, link_fields, link_schema, one_batch
from canonym.errors import InvalidInput, require
from canonym.linker import Linker, LinkOptions, as_linker
from canonym.linking.links import check_options

if TYPE_CHECKING:
    import duckdb

__all__ = ["register"]

_REMEMBERED = 100_000


def register(
    connection: duckdb.DuckDBPyConnection,
    linker: Linker | str | Path | None = None,
    name: str = "canonym",
    *,
    with_context: bool = False,
    abbreviations: Mapping[str, str] | None = None,
    **options: Unpack[LinkOptions],
) -> None:
    """Give a DuckDB connection the function ``canonym(text)``, which links text to concepts.

    It returns a struct with the fields ``id``, ``label``, ``score``, …: the columns of
    `canonym.bulk.link_schema` without their prefix. NULL and blank text give a struct as well,
    whose id is NULL and whose reason is ``"empty"``.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Only this connection and its cursors know the function; a database file does not keep it.
    linker : Linker, str or Path, optional
        A linker, or the folder of an index; by default ICD-10-CM, `canonym.Linker.default`.
    name : str
        The name of the function. Register several linkers under several names.
    with_context : bool
        Whether the function takes a second argument, text around the mention, to look for
        abbreviations.
    abbreviations : mapping of str to str, optional
        Short forms and their long forms.
    **options
        See `canonym.LinkOptions`.

    Raises
    ------
    InvalidInput
        If the connection has a function of that name, or an option is unknown or out of range.
    MissingExtra
        Without DuckDB, or pyarrow (extra ``tables``).

    Notes
    -----
    DuckDB calls the function with up to 2,048 rows at a time, from any of its threads. A linker may
    be used by several threads at once, so no setting of DuckDB has to change. Equal mentions are
    linked once: the links of the last 100,000 or more are remembered until the index changes.

    Examples
    --------
    >>> import duckdb
    >>> from canonym import Concept, Linker, Terminology
    >>> from canonym.integrations.duckdb import register
    >>> terminology = Terminology.build([Concept("X:1", "Myocardial infarction")])
    >>> connection = duckdb.connect()
    >>> register(connection, Linker.build(terminology, encoders=["chargrams"]))
    >>> connection.sql("SELECT canonym('Myocardial Infarctions').id").fetchall()
    [('X:1',)]
    """
    duckdb = require("duckdb", "linking in DuckDB")
    arrow = require("pyarrow", "linking in DuckDB", "tables")
    opened = as_linker(linker)
    fields, names = link_fields(), link_schema().names
    arguments = ["text", "context"] if with_context else ["text"]
    how: dict[str, Any] = {
        "context_column": "context" if with_context else None,
        "abbreviations": abbreviations,
        **check_options(options),
    }

    schema = link_schema()
    remembered: tuple[str, dict[tuple[str | None, ...], dict[str, Any]]] = ("", {})

    def linked(*columns: Any) -> Any:
        nonlocal remembered
        mentions = list(zip(*(column.to_pylist() for column in columns), strict=True))
        distinct = list(dict.fromkeys(mentions))
        now, (fingerprint, rows) = opened.fingerprint, remembered
        if fingerprint != now or len(rows) > _REMEMBERED:
            rows = {}
            remembered = now, rows
        if new := [mention for mention in distinct if mention not in rows]:
            texts = [arrow.array(cells, arrow.string()) for cells in zip(*new, strict=True)]
            batch = one_batch(arrow.table(texts, arguments))
            links = link_batch(opened, batch, "text", **how).select(names)
            rows.update(zip(new, links.to_pylist(), strict=True))
        places = {mention: place for place, mention in enumerate(distinct)}
        batch = arrow.RecordBatch.from_pylist([rows[place] for place in distinct], schema=schema)
        batch = batch.take(arrow.array([places[mention] for mention in mentions], arrow.int64()))
        return arrow.StructArray.from_arrays(batch.columns, fields=fields)

    none = one_batch(arrow.table([arrow.nulls(0) for _ in arguments], arguments))
    link_batch(opened, none, "text", **how)  # options that do not fit are found at once
    like = connection.from_arrow(arrow.schema(fields).empty_table())
    result = connection.struct_type(dict(zip(like.columns, like.types, strict=True)))
    try:
        connection.create_function(
            name,
            (lambda text, context: linked(text, context))
            if with_context
            else (lambda text: linked(text)),
            ["VARCHAR"] * len(arguments),
            result,
            type="arrow",
            null_handling="special",
        )
    except duckdb.Error as error:
        raise InvalidInput(
            f"the function {name!r} cannot be registered ({error}): give another name=, or remove "
            f"the one that is there with connection.remove_function({name!r})"
        ) from error
