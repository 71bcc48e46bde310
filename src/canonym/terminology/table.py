"""Any table with a column of ids and a column of names: TSV, CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from canonym.errors import ReadError
from canonym.terminology.headers import Table, described, open_table, recognise
from canonym.terminology.table_rows import TableOptions, TableRows
from canonym.terminology.trees import Forest
from canonym.types import Record

__all__ = ["read_table"]

# Roles that must have a column: what is in it, and the option that names it.
_ROLES = {"id": ("ids", "id_column"), "name": ("names", "name_column")}
_TREE_ROLES = {"id": ("ids", "tree_id_column"), "tree": ("tree numbers", "tree_column")}


def read_table(
    path: str | Path,
    *,
    id_column: str | None = None,
    name_column: str | None = None,
    label_column: str | None = None,
    label_flag_column: str | None = None,
    synonym_column: str | None = None,
    language_column: str | None = None,
    type_column: str | None = None,
    scope_column: str | None = None,
    definition_column: str | None = None,
    parent_column: str | None = None,
    source_column: str = "",
    tree_column: str | None = None,
    trees: str | Path | None = None,
    tree_id_column: str | None = None,
    tree_types: bool = False,
    separator: str = "|",
    id_separator: str = "",
    delimiter: str | None = None,
    quoted: bool | None = None,
    header: bool = True,
    skip_incomplete: bool = False,
    prefix: str = "",
    language: str = "en",
    source: str = "",
    version: str = "",
    encoding: str = "utf-8",
) -> Iterator[Record]:
    """Read a table of names, one row per name or one per concept.

    Parameters
    ----------
    path : str or Path
        A delimited file, which may be compressed, or a Parquet file.
    id_column, name_column : str, optional
        Columns of ids and names. These two and the following are recognised by the names in
        `canonym.terminology.headers.RECOGNISED` where they are not given; ``""`` says that there is
        none. Without a column of names, the column of labels is it.
    label_column : str, optional
        Column that repeats the label of the concept.
    label_flag_column : str, optional
        Column that says whether the name of the row is the label: Y, yes, true, 1 or the opposite.
        Not used beside a column of labels. With neither, the first name of a concept is its label.
    synonym_column : str, optional
        Column of further names, joined by `separator`.
    language_column : str, optional
        Column of BCP 47 tags; where empty, `language`.
    type_column, definition_column, parent_column : str, optional
        Columns of types and of ids of parents, joined by `separator`, and of definitions.
    scope_column : str, optional
        Column of scopes: those of a `canonym.types.Name`, or preferred, synonym, acronym.
    source_column : str
        Column that says which vocabulary contributed the name; never recognised by itself.
    tree_column : str, optional
        Column of tree numbers such as ``C14.280.647``, joined by `separator`: the parent is the
        concept of the longest tree number that is a beginning of this one.
    trees : str or Path, optional
        A second table with one row per id and tree number; `tree_column` is then a column of it.
    tree_id_column : str, optional
        Column of ids in `trees`.
    tree_types : bool
        Take the letters that a tree number begins with as types.
    separator : str
        What joins several values in a cell; ``""`` takes each cell as one value.
    id_separator : str
        What joins several ids in a cell, where names of a row belong to several concepts.
    delimiter, quoted, header, encoding
        As of `canonym.terminology.headers.open_table`. Without a header, columns are called
        ``"1"``, ``"2"``, …; the first is the id, the second the name.
    skip_incomplete : bool
        Leave out rows without an id or a name, and tree numbers of unknown ids, which are errors
        otherwise.
    prefix : str
        Put before ids that do not begin with it (``"MESH:"``).
    language : str
        BCP 47 tag of the names.
    source, version : str
        The terminology and its version.

    Yields
    ------
    Concept, Name or Relation
        A concept at its first row, names in the order of rows; ``is_a`` relations of parent columns
        with the row, of tree numbers at the end. Rows of a concept may be apart. Where they differ
        in type, parent or definition, the concept is yielded again with what is new.

    Raises
    ------
    ReadError
        If no column of ids or names is found, a row is ragged or incomplete, a flag or scope is not
        understood, or a tree number belongs to no concept.
    MissingExtra
        If a Parquet file is to be read without pyarrow.
    """
    chosen = {
        "id": id_column,
        "name": name_column,
        "label": label_column,
        "label_flag": label_flag_column,
        "synonym": synonym_column,
        "language": language_column,
        "type": type_column,
        "scope": scope_column,
        "definition": definition_column,
        "parent": parent_column,
        "tree": "" if trees else tree_column,
        "source": source_column,
    }
    if not header:
        chosen = {role: name or "" for role, name in chosen.items()}
        chosen |= {"id": id_column or "1", "name": name_column or "2"}
    options = TableOptions(
        separator, id_separator, skip_incomplete, prefix, language, source, version, tree_types
    )
    forest = Forest()
    if trees:
        with open_table(trees, delimiter=delimiter, quoted=quoted, encoding=encoding) as table:
            roles = recognise(table, {"id": tree_id_column, "tree": tree_column})
            _required(roles, table, _TREE_ROLES)
            for cells in table.rows:
                for id_ in options.ids(cells[roles["id"]]):
                    forest.add(id_, options.values(cells[roles["tree"]]))
    with open_table(
        path,
        delimiter=delimiter,
        quoted=quoted,
        header=header,
        encoding=encoding,
        separator=separator,
    ) as table:
        roles = recognise(table, chosen)
        if "name" not in roles and "label" in roles and not name_column:
            roles["name"] = roles.pop("label")
        _required(roles, table, _ROLES)
        reader = TableRows(table, roles, options, forest)
        yield from reader.records()
    strangers = forest.ids - reader.known.keys()
    if strangers and not skip_incomplete:
        raise ReadError(
            trees or path,
            f"has tree numbers of {len(strangers)} ids without a name, such as "
            f"{min(strangers)}; leave them out with skip_incomplete=True",
        )
    yield from forest.relations(reader.known)


def _required(roles: dict[str, int], table: Table, wanted: dict[str, tuple[str, str]]) -> None:
    missing = [wanted[role] for role in wanted if role not in roles]
    if missing:
        raise table.error(
            f"no column of {' or '.join(what for what, _ in missing)} is recognised: "
            f"{described(table)}. Name it with {' and '.join(option for _, option in missing)}, or "
            "pass header=False if the first row is data"
        )
