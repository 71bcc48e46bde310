"""Tables of annotated mentions with named columns: CSV, TSV and Parquet, one mention a row.

========  ==========================================  ============================================
role      columns that are taken for it               value
========  ==========================================  ============================================
mention   mention, text, name, term, span             the mention (required)
ids       ids, id, gold, concept_id, concept, cui,    gold ids (required): a cell as in
          code, identifier                            `canonym.corpora.gold`, in Parquet also a list
rule      rule                                        ``any``, ``all`` or ``nil``; what the cell of
                                                      ids says by default, for lists ``any``
type      type, mention_type, entity_type, label      entity type
document  document, document_id, doc_id, doc, pmid    id of the document
start,    start, begin, offset_start; end,            half-open code-point offsets, may be empty
end       offset_end
context   context, sentence                           text around the mention
========  ==========================================  ============================================

Capitals, spaces and underscores in the name of a column make no difference; further columns are
left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from canonym.corpora.delimited import read_table, split_header
from canonym.corpora.gold import parse_ids
from canonym.errors import InvalidInput, ReadError, require
from canonym.io.streams import open_text
from canonym.types import Mention

__all__ = ["ROLES", "is_parquet", "read_annotated_table", "recognise_columns"]

ROLES: dict[str, tuple[str, ...]] = {
    "mention": ("mention", "text", "name", "term", "span"),
    "ids": ("ids", "id", "gold", "concept_id", "concept", "cui", "code", "identifier"),
    "rule": ("rule",),
    "type": ("type", "mention_type", "entity_type", "label"),
    "document": ("document", "document_id", "doc_id", "doc", "pmid"),
    "start": ("start", "begin", "offset_start"),
    "end": ("end", "offset_end"),
    "context": ("context", "sentence"),
}
"""Names of columns that are recognised, by role, the surest first."""

_RULES = ("any", "all", "nil")


def read_annotated_table(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Mention]:
    """Read a table of mentions and their gold ids.

    Parameters
    ----------
    path : str or Path
        A delimited file with a header, plain or compressed, or a Parquet file.
    columns : mapping of str to str, optional
        Column by role, for those of `ROLES` that are called otherwise.
    delimiter : str, optional
        What separates the cells; found in the header when missing.
    encoding : str
        Encoding of the text; Parquet has its own.

    Yields
    ------
    Mention
        In the order of the rows.

    Raises
    ------
    ReadError
        If there is no column of mentions or of ids, a row is ragged, a mention is empty, an offset
        is no whole number, or a rule is none.
    InvalidInput
        If a role is unknown.
    MissingExtra
        If a Parquet file is to be read without pyarrow.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "gold.csv"
    >>> _ = file.write_text('doc_id,Mention,ids\\n7,"hip, broken",D006620\\n')
    >>> [(one.document_id, one.text, one.ids) for one in read_annotated_table(file)]
    [('7', 'hip, broken', ('D006620',))]
    """
    given = dict(columns or {})
    unknown = [role for role in given if role not in ROLES]
    if unknown:
        raise InvalidInput(f"there is no role {unknown[0]!r}; there are {', '.join(ROLES)}")
    path = Path(path)
    if is_parquet(path):
        yield from _from_parquet(path, given)
        return
    header = split_header(_first_line(path, encoding), delimiter)
    roles = _required(header, given, path)
    with read_table(
        path, column=header[roles["mention"]], delimiter=delimiter, encoding=encoding
    ) as table:
        for number, row in enumerate(table, start=1):
            yield _mention({role: row.cells[at] for role, at in roles.items()}, path, number)


def recognise_columns(header: list[str], given: Mapping[str, str] | None = None) -> dict[str, int]:
    """Find the roles of columns by their names.

    Parameters
    ----------
    header : list of str
        Names of the columns.
    given : mapping of str to str, optional
        Column by role, which is taken instead.

    Returns
    -------
    dict of str to int
        Position by role, for the roles that have a column.
    """
    squeezed = [_squeezed(name) for name in header]
    found: dict[str, int] = {}
    for role, names in ROLES.items():
        for name in [(given or {})[role]] if role in (given or {}) else names:
            if squeezed.count(_squeezed(name)) == 1:
                found[role] = squeezed.index(_squeezed(name))
                break
    return found


def is_parquet(path: str | Path) -> bool:
    """Tell whether a file begins as Parquet files do."""
    place = Path(path)
    if not place.is_file():
        return False
    with place.open("rb") as stream:
        return stream.read(4) == b"PAR1"


def _required(header: list[str], given: Mapping[str, str], path: Path) -> dict[str, int]:
    roles = recognise_columns(header, given)
    for role in (*given, "mention", "ids"):
        if role not in roles:
            wanted = repr(given[role]) if role in given else " or ".join(ROLES[role])
            names = ", ".join(repr(name[:40]) for name in header[:30])
            raise ReadError(
                path, f"no column for {role}: {wanted} was expected, the columns are {names}"
            )
    return roles


def _from_parquet(path: Path, given: Mapping[str, str]) -> Iterator[Mention]:
    parquet = require("pyarrow.parquet", "reading Parquet files", "arrow")
    lib = require("pyarrow.lib", "reading Parquet files", "arrow")
    try:
        file = parquet.ParquetFile(path)
    except (lib.ArrowException, OSError) as error:
        raise ReadError(path, f"is no complete Parquet file ({error})") from error
    with file:
        header = list(file.schema_arrow.names)
        roles = _required(header, given, path)
        names = [header[at] for at in roles.values()]
        number = 0
        batches = file.iter_batches(columns=names)
        while True:
            try:
                batch = next(batches, None)
            except (lib.ArrowException, OSError) as error:
                raise ReadError(path, f"the Parquet file is damaged ({error})") from error
            if batch is None:
                return
            for row in batch.to_pylist():
                number += 1
                yield _mention({role: row[header[at]] for role, at in roles.items()}, path, number)


def _mention(values: Mapping[str, Any], path: Path, row: int) -> Mention:
    def text(role: str) -> str:
        value = values.get(role)
        return "" if value is None else str(value).strip()

    def offset(role: str) -> int | None:
        written = text(role)
        if not written:
            return None
        if not written.isdecimal():
            raise ReadError(path, f"row {row}: {role} is {written[:20]!r}, no whole number")
        return int(written)

    if not text("mention"):
        raise ReadError(path, f"row {row}: the mention is empty")
    written = values["ids"]
    if isinstance(written, list):
        ids, rule = tuple(str(id_) for id_ in written), "any"
    else:
        ids, rule = parse_ids(text("ids"))
    said = text("rule") or rule
    if said not in _RULES:
        raise ReadError(path, f"row {row}: rule is {said[:20]!r}, none of {', '.join(_RULES)}")
    return Mention(
        text("mention"),
        offset("start"),
        offset("end"),
        text("type"),
        ids,
        said,
        text("document"),
        text("context"),
    )


def _first_line(path: Path, encoding: str) -> str:
    with open_text(path, encoding=encoding) as lines:
        first = next((line for line in lines if line.strip()), "")
    if not first:
        raise ReadError(path, "holds no header: a first line that names the columns is expected")
    return first.rstrip("\n")


def _squeezed(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()
