"""Any table with a column of ids and one of names: TSV, CSV, Parquet, a sheet of a workbook."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from canonym.errors import ReadError
from canonym.io.cells import without_decimals
from canonym.io.packaged import packaged_rows
from canonym.io.tables import Table, TableForm, no_column, open_table, shown, squeezed
from canonym.io.workbooks import check_ids
from canonym.regex import regex
from canonym.terminology.language_tags import check_language
from canonym.types import SCOPES, Concept, Name, Record, Relation

_log = logging.getLogger(__name__)

RECOGNISED: dict[str, tuple[str, ...]] = {
    role: tuple(names.split()) for role, names in packaged_rows(__file__)
}
"""Names by which a column is recognised, for each role, the first found first.

Case, spaces and punctuation do not matter: ``Concept ID`` is ``concept_id``. A column has one role,
roles are given in this order."""

# Required roles: content of the column, and the option that names it.
_ROLES = {"id": ("ids", "id_column"), "name": ("names", "name_column")}
_TREE_ROLES = {"id": ("ids", "tree_id_column"), "tree": ("tree numbers", "tree_column")}
_FLAGS = dict.fromkeys(("y", "yes", "true", "t", "1"), True) | dict.fromkeys(
    ("n", "no", "false", "f", "0", ""), False
)
_SCOPES = {scope: scope for scope in SCOPES} | {
    "": "exact",
    "preferred": "label",
    "synonym": "exact",
    "acronym": "abbreviation",
}
_IDS = ("id", "parent")
_SHORTENED = regex(r"\d(?:[.,]\d+)?E\+\d\d", re.IGNORECASE)
_ABOUT = frozenset(("label", "type", "definition", "parent", "tree"))


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
    sheet: str | None = None,
    header_row: int | None = None,
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
        A delimited file, which may be compressed, a Parquet file, or a workbook (.xlsx, .ods).
    id_column, name_column : str, optional
        Columns of ids and names. These and the following columns are recognised by the names in
        `RECOGNISED` where they are not given; ``""`` means no column. Without a column of names the
        column of labels takes its place.
    label_column : str, optional
        Column that repeats the label of the concept.
    label_flag_column : str, optional
        Column that marks labels: Y, yes, true, 1 or the opposite. Ignored beside a column of
        labels. With neither, the first name of a concept is its label.
    synonym_column : str, optional
        Column of further names, joined by `separator`.
    language_column : str, optional
        Column of BCP 47 tags; where empty, `language`.
    type_column, definition_column, parent_column : str, optional
        Columns of types and of ids of parents, joined by `separator`, and of definitions.
    scope_column : str, optional
        Column of scopes: those of a `canonym.types.Name`, or preferred, synonym, acronym.
    source_column : str
        Column of the vocabulary that contributed the name; it has to be named.
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
        String between several values in a cell; ``""`` takes each cell as one value.
    id_separator : str
        String between several ids in a cell, where a name belongs to several concepts.
    delimiter : str, optional
        Character between cells; by default the most frequent of tab, comma, semicolon and bar in
        the first line.
    quoted : bool, optional
        Whether cells may be in double quotes; by default in all files but tab-separated ones.
    sheet : str, optional
        Sheet of a workbook, by default the first that is visible.
    header_row : int, optional
        Row of a sheet that names the columns, from 1; by default found below titles.
    header : bool
        Whether the first row names the columns. Otherwise they are called ``"1"``, ``"2"``, …; the
        first is the id, the second the name.
    encoding : str
        Encoding of a delimited file.
    skip_incomplete : bool
        Leave out rows without an id or a name, and tree numbers of unknown ids, which are errors
        otherwise.
    prefix : str
        Put before ids that do not begin with it, such as ``"MESH:"``.
    language : str
        BCP 47 tag of the names.
    source, version : str
        The terminology and its version.

    Yields
    ------
    Concept, Name or Relation
        A concept at its first row, names in the order of rows; ``is_a`` relations of parent columns
        with the row, of tree numbers at the end. Rows of a concept may be apart. Where they differ
        in type, parent or definition, the concept is yielded again.

    Raises
    ------
    ReadError
        If a required column is missing, a row is ragged or incomplete, or a flag, a scope or a tree
        number is wrong.
    MissingExtra
        If a Parquet file is to be read without pyarrow, or .xlsx without openpyxl.
    """
    columns = {
        "id": id_column, "name": name_column, "label": label_column,
        "label_flag": label_flag_column, "synonym": synonym_column, "language": language_column,
        "type": type_column, "scope": scope_column, "definition": definition_column,
        "parent": parent_column, "tree": "" if trees else tree_column, "source": source_column,
    }  # fmt: skip
    if not header:
        columns = {role: name or "" for role, name in columns.items()}
        columns |= {"id": id_column or "1", "name": name_column or "2"}
    options = TableOptions(
        separator, id_separator, skip_incomplete, prefix, language, source, version, tree_types
    )
    form = TableForm(delimiter=delimiter, quoted=quoted, encoding=encoding)
    forest = Forest()
    if trees:
        with open_table(trees, **form) as table:
            forest.read(table, {"id": tree_id_column, "tree": tree_column}, options)
    form |= TableForm(sheet=sheet, header_row=header_row)
    with open_table(path, header=header, separator=separator, **form) as table:
        roles = _roles_of(table, columns)
        reader = TableRows(table, roles, options, forest)
        yield from reader.records()
    names = enumerate(table.header if header else ())
    if unread := [name for at, name in names if name and at not in roles.values()]:
        _log.warning("%s: not read are the columns %s", path, shown(unread))
    if not skip_incomplete:
        forest.check(reader.known, trees or path)
    yield from forest.relations(reader.known)


def _roles_of(table: Table, columns: Mapping[str, str | None]) -> dict[str, int]:
    """Find the columns, of which a label alone is the name."""
    roles = find_columns(table, columns)
    if "name" not in roles and "label" in roles and not columns["name"]:
        roles["name"] = roles.pop("label")
    _require(roles, table, _ROLES)
    return roles


def _require(roles: dict[str, int], table: Table, needed: dict[str, tuple[str, str]]) -> None:
    missing = [needed[role] for role in needed if role not in roles]
    if missing:
        raise table.error(
            f"no column of {' or '.join(what for what, _ in missing)} is recognised: "
            f"the columns are {shown(table.header)}. Name it with "
            f"{' and '.join(option for _, option in missing)}, or pass header=False if the first "
            "row is data"
        )


def find_columns(table: Table, columns: Mapping[str, str | None]) -> dict[str, int]:
    """Find the columns of a table by the roles they play: role to position in the header.

    `columns` maps a role to the name of its column, to None (recognise it by `RECOGNISED`) or to
    ``""`` (no column). A named column that is missing or there twice is a `ReadError`.
    """
    spellings: dict[str, list[int]] = {}
    by_name: dict[str, list[int]] = {}
    for at, name in enumerate(table.header):
        spellings.setdefault(name, []).append(at)
        by_name.setdefault(squeezed(name), []).append(at)
    roles: dict[str, int] = {}
    for role, column in columns.items():
        if not column:
            continue
        places = spellings.get(column) or by_name.get(squeezed(column), [])
        if len(places) != 1:
            n = len(places)
            problem = f"{n} columns {column!r}" if n else no_column(column, table.header)
            raise table.error(f"{problem} for {role}: the columns are {shown(table.header)}")
        roles[role] = places[0]
    for role, column in columns.items():
        if column is not None:
            continue
        for known in RECOGNISED.get(role, ()):
            places = [at for at in by_name.get(squeezed(known), []) if at not in roles.values()]
            if len(places) > 1:
                raise table.error(
                    f"{len(places)} columns {known!r} for {role}: the columns are "
                    f"{shown(table.header)}"
                )
            if places:
                roles[role] = places[0]
                break
    return roles


# --- rows -----------------------------------------------------------------------------------------


class TableOptions(NamedTuple):
    """Options of `read_table` about cells."""

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
        """Split a cell into values; empty ones are left out."""
        parts = cell.split(self.separator) if self.separator else [cell]
        return [value for part in parts if (value := part.strip())]


class TableRows:
    """Records of a table whose columns are known, row by row."""

    def __init__(
        self, table: Table, roles: dict[str, int], options: TableOptions, forest: Forest
    ) -> None:
        self.table = table
        self.roles = roles
        self.options = options
        self.forest = forest
        # Cells about each concept itself; the concept is yielded again where they are new.
        self.known: dict[str, tuple[str, ...]] = {}
        if "label" in roles:
            roles.pop("label_flag", None)
        self._spellings: dict[str, str] = {}  # of ids whose cell is another string
        self._equal: dict[str, tuple[str, str]] = {}  # ids that cells write in two ways
        self._languages: set[str] = set()  # the tags that were checked
        self.marked = "label" not in roles and not {"label_flag", "scope"}.isdisjoint(roles)

    def _compare(self, cell: str, ids: Sequence[str]) -> None:
        """Note an id that an earlier cell writes in another way."""
        if len(ids) != 1:
            return
        id_, plain = ids[0], ids[0].removeprefix(self.options.prefix)
        before = self._spellings.get(id_, plain)
        if cell != before and id_ in self.known:
            self._equal.setdefault(id_, (before, cell))
        elif cell != plain:
            self._spellings[id_] = cell

    def _tell_equal(self) -> None:
        if self._equal:
            id_, (first, second) = next(iter(self._equal.items()))
            _log.warning(
                "%d ids are written in several ways, each of which is one concept here; the first "
                "is %s, from %r and %r", len(self._equal), id_, first, second,
            )  # fmt: skip

    def records(self) -> Iterator[Record]:
        """Yield the concepts, names and parents of all rows."""
        roles, options, known, marked = self.roles, self.options, self.known, self.marked
        id_at, name_at, label_at = roles["id"], roles["name"], roles.get("label")
        language_at, source_at = roles.get("language"), roles.get("source")
        about_at = [at for role, at in roles.items() if role in _ABOUT]
        id_places = [at for role, at in roles.items() if role in _IDS]
        scoped = not {"label_flag", "scope"}.isdisjoint(roles)
        labelled: set[str] = set()
        last = ""
        ids: list[str] = []
        for cells in self.table.rows:
            text = cells[name_at].strip()
            if cells[id_at] != last:  # rows of a concept mostly stand together
                last = cells[id_at]
                self._check_ids(cells, id_places)
                ids = options.ids(last)
                self._compare(last, ids)
            if not ids or not text:
                self._check_incomplete(cells)
                continue
            scope = self._scope(cells) if scoped else "exact"
            language, vocabulary = options.language, ""
            if language_at is not None:
                language = self._language(cells[language_at].strip())
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
        self._tell_equal()

    def _describe(
        self, id_: str, cells: Sequence[str], label: str, language: str, source: str, *, first: bool
    ) -> Iterator[Record]:
        roles, options = self.roles, self.options
        types = options.values(cells[roles["type"]]) if "type" in roles else []
        if "tree" in roles:
            self.forest.add(id_, options.values(cells[roles["tree"]]))
        if options.tree_types:
            types += self.forest.letters.get(id_, [])
        definition = cells[roles["definition"]].strip() if "definition" in roles else ""
        inside = first and language == "en"  # the label of a concept counts as English
        own, types = label if inside else "", list(dict.fromkeys(types))
        yield Concept(id_, own, definition, tuple(types), options.source, options.version)
        if label and not inside:
            scope = "label" if first or self.marked else "exact"
            yield Name(label, id_, scope, language, source)
        if "parent" in roles:
            for cell in options.values(cells[roles["parent"]]):
                for parent in options.ids(cell):
                    yield Relation(id_, "is_a", parent)

    def _scope(self, cells: Sequence[str]) -> str:
        scope = "exact"
        if "scope" in self.roles:
            written = cells[self.roles["scope"]].strip().lower()
            if written not in _SCOPES:
                raise self.table.error(
                    f"the scope {written!r} is unknown: expected {', '.join(filter(None, _SCOPES))}"
                )
            scope = _SCOPES[written]
        if "label_flag" in self.roles:
            flag = without_decimals(cells[self.roles["label_flag"]].strip().lower())
            if flag not in _FLAGS:
                raise self.table.error(
                    f"{flag!r} in column {self.table.header[self.roles['label_flag']]!r} does not "
                    "say whether the name is a label: expected Y or N, 1 or 0, true or false; name "
                    "another label_flag_column, or '' for none"
                )
            if _FLAGS[flag]:
                scope = "label"
        return scope

    def _language(self, tag: str) -> str:
        if tag not in self._languages:
            check_language(tag, self.table.error)
            self._languages.add(tag)
        return tag or self.options.language

    def _check_ids(self, cells: Sequence[str], places: Sequence[int]) -> None:
        check_ids(cells, places, self.table.error)
        for at in places:
            if "+" in cells[at] and _SHORTENED.fullmatch(cells[at].strip()):
                raise self.table.error(
                    f"the id {cells[at]!r} is a long number as a spreadsheet shortens it, and its "
                    "last digits are lost: export the table again, with the column in the format "
                    "Text"
                )

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


# --- tree numbers ---------------------------------------------------------------------------------


class Forest:
    """Tree numbers and the concepts that have them.

    Tree numbers write a hierarchy as paths: ``C14.280.647`` is below ``C14.280``. `letters` are
    those that the tree numbers of each concept begin with.
    """

    def __init__(self) -> None:
        self._owners: dict[str, list[str]] = {}
        self.letters: dict[str, list[str]] = {}
        self.ids: set[str] = set()

    def add(self, id_: str, numbers: Iterable[str]) -> None:
        """Note the tree numbers of a concept."""
        for number in numbers:
            self.ids.add(id_)
            self._owners.setdefault(number, []).append(id_)
            letters = "".join(takewhile(str.isalpha, number))
            if letters and letters not in self.letters.setdefault(id_, []):
                self.letters[id_].append(letters)

    def read(self, table: Table, columns: Mapping[str, str | None], options: TableOptions) -> None:
        """Note the tree numbers of a table with one row per id and tree number."""
        roles = find_columns(table, columns)
        _require(roles, table, _TREE_ROLES)
        for cells in table.rows:
            for id_ in options.ids(cells[roles["id"]]):
                self.add(id_, options.values(cells[roles["tree"]]))

    def check(self, known: Collection[str], path: str | Path) -> None:
        """Raise if a concept with a tree number has no name."""
        strangers = self.ids.difference(known)
        if strangers:
            raise ReadError(
                path,
                f"has tree numbers of {len(strangers)} ids without a name, such as "
                f"{min(strangers)}; leave them out with skip_incomplete=True",
            )

    def relations(self, known: Container[str]) -> Iterator[Relation]:
        """Yield each step up in the tree, to the nearest number above that a known concept has."""
        for number, children in self._owners.items():
            above = number.rpartition(".")[0]
            while above and not any(id_ in known for id_ in self._owners.get(above, ())):
                above = above.rpartition(".")[0]
            for parent in self._owners.get(above, ()):
                for child in children:
                    if child != parent and child in known and parent in known:
                        yield Relation(child, "is_a", parent)
