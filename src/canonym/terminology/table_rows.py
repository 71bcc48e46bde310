"""Rows of a table of names, turned into records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from canonym.terminology.headers import Table
from canonym.terminology.trees import Forest
from canonym.types import SCOPES, Concept, Name, Record, Relation

__all__ = ["TableOptions", "TableRows"]

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
