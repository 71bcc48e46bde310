"""Rows of a table of names, turned into records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from canonym.errors import ReadError
from canonym.terminology.headers import Table, described, open_table, recognise
from canonym.terminology.readers.trees import Forest
from canonym.types import SCOPES, Concept, Name, Record, Relation

# --- table rows ---

_FLAGS = dict.fromkeys(("y", "yes", "true", "t", "1", "1.0"), True) | dict.fromkeys(
    ("n", "no", "false", "f", "0", "0.0", ""), False
)
_SCOPES = {scope: scope for scope in SCOPES} | {
    "": "exact",
    "preferred": "label",
    "synonym": "exact",
    "acronym": "abbreviation",
}
_ABOUT = frozenset(("label", "type", "definition", "parent", "tree"))


class TableOptions(NamedTuple):
    """What the caller says about the cells; as the parameters of `read_table`."""

    separator: str
    id_separator: str
    skip_incomplete: bool
    prefix: str
    language: str
    source: str
    version: str
    tree_types: bool

    def ids(self, cell: str) -> list[str]:
        """Split a cell into ids with their prefix."""
        parts = cell.split(self.id_separator) if self.id_separator else [cell]
        ids = [part.strip() for part in parts]
        return [id_ if id_.startswith(self.prefix) else self.prefix + id_ for id_ in ids if id_]

    def values(self, cell: str) -> list[str]:
        """Split a cell into values, empty ones left out."""
        parts = cell.split(self.separator) if self.separator else [cell]
        return [value for part in parts if (value := part.strip())]


class TableRows:
    """The records of a table whose columns are known, row by row."""

    def __init__(
        self, table: Table, roles: dict[str, int], options: TableOptions, forest: Forest
    ) -> None:
        self.table = table
        self.roles = roles
        self.options = options
        self.forest = forest
        # What the rows say about each concept itself; the concept is yielded where that is new.
        self.known: dict[str, tuple[str, ...]] = {}
        if "label" in roles:
            roles.pop("label_flag", None)
        self.marked = "label" not in roles and not {"label_flag", "scope"}.isdisjoint(roles)

    def records(self) -> Iterator[Record]:
        """Yield the concepts, names and parents of all rows."""
        roles, options, known, marked = self.roles, self.options, self.known, self.marked
        id_at, name_at, label_at = roles["id"], roles["name"], roles.get("label")
        language_at, source_at = roles.get("language"), roles.get("source")
        about_at = [at for role, at in roles.items() if role in _ABOUT]
        scoped = not {"label_flag", "scope"}.isdisjoint(roles)
        labelled: set[str] = set()
        last = ""
        ids: list[str] = []
        for cells in self.table.rows:
            text = cells[name_at].strip()
            if cells[id_at] != last:  # rows of a concept mostly stand together
                last = cells[id_at]
                ids = options.ids(last)
            if not ids or not text:
                self._check_incomplete(cells)
                continue
            scope = self._scope(cells) if scoped else "exact"
            language, vocabulary = options.language, ""
            if language_at is not None:
                language = cells[language_at].strip() or language
            if source_at is not None:
                vocabulary = cells[source_at].strip()
            about = tuple([cells[at] for at in about_at])
            for id_ in ids:
                before = known.get(id_)
                own = scope
                if label_at is None and not marked and before is None:
                    own = "label"
                elif own == "label" and (id_ in labelled or not marked):
                    own = "exact"
                if marked and own == "label":
                    labelled.add(id_)
                label, tongue = (text if own == "label" else ""), language
                if label_at is not None:
                    label, tongue = cells[label_at].strip(), options.language
                if before != about:
                    known[id_] = about
                    first = before is None
                    yield from self._describe(id_, cells, label, tongue, vocabulary, first=first)
                elif label_at is None:
                    label = ""
                if text == label and language == tongue:
                    continue  # it is the label, which the concept has
                yield Name(text, id_, own, language, vocabulary)
            if "synonym" in roles:
                for synonym in options.values(cells[roles["synonym"]]):
                    for id_ in ids:
                        yield Name(synonym, id_, "exact", language, vocabulary)

    def _describe(
        self,
        id_: str,
        cells: Sequence[str],
        label: str,
        language: str,
        vocabulary: str,
        *,
        first: bool,
    ) -> Iterator[Record]:
        roles, options = self.roles, self.options
        types = options.values(cells[roles["type"]]) if "type" in roles else []
        if "tree" in roles:
            self.forest.add(id_, options.values(cells[roles["tree"]]))
        if options.tree_types:
            types += self.forest.letters(id_)
        inside = first and language == "en"  # the label of a concept counts as English
        yield Concept(
            id_,
            label if inside else "",
            cells[roles["definition"]].strip() if "definition" in roles else "",
            tuple(dict.fromkeys(types)),
            options.source,
            options.version,
        )
        if label and not inside:
            scope = "label" if first or self.marked else "exact"
            yield Name(label, id_, scope, language, vocabulary)
        if "parent" in roles:
            for cell in options.values(cells[roles["parent"]]):
                for parent in options.ids(cell):
                    yield Relation(id_, "is_a", parent)

    def _scope(self, cells: Sequence[str]) -> str:
        scope = "exact"
        if "scope" in self.roles:
            given = cells[self.roles["scope"]].strip().lower()
            if given not in _SCOPES:
                raise self.table.error(
                    f"the scope {given!r} is unknown: expected {', '.join(filter(None, _SCOPES))}"
                )
            scope = _SCOPES[given]
        if "label_flag" in self.roles:
            flag = cells[self.roles["label_flag"]].strip().lower()
            if flag not in _FLAGS:
                raise self.table.error(
                    f"{flag!r} in column {self.table.header[self.roles['label_flag']]!r} does not "
                    "say whether the name is a label: expected Y or N, 1 or 0, true or false; name "
                    "another label_flag_column, or '' for none"
                )
            if _FLAGS[flag]:
                scope = "label"
        return scope

    def _check_incomplete(self, cells: Sequence[str]) -> None:
        # Spreadsheets leave empty rows behind; others lost something.
        if not self.options.skip_incomplete and any(map(str.strip, cells)):
            shown = ", ".join(
                f"{self.table.header[at]}={cells[at][:40]!r}"
                for at in sorted({self.roles["id"], self.roles["name"]})
            )
            raise self.table.error(
                f"the row lacks its id or its name ({shown}); leave such rows out with "
                "skip_incomplete=True"
            )


# --- table ---
# MODULE: Any table with a column of ids and a column of names: TSV, CSV or Parquet.

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
