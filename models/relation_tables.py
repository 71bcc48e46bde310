"""Relations between concepts, read from tables with a column of heads and one of tails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from canonym.errors import ReadError
from canonym.io.streams import open_text
from canonym.types import Relation

__all__ = ["read_relation_table"]


def read_relation_table(
    path: str | Path,
    *,
    head: str,
    tail: str,
    relation: str,
    relation_column: bool = False,
    head_prefix: str = "",
    tail_prefix: str = "",
    delimiter: str = "\t",
) -> Iterator[Relation]:
    """Read a table of relations, plain or compressed.

    Parameters
    ----------
    path : str or Path
        A table with a header.
    head, tail : str
        Columns of ids.
    relation : str
        What the relation is called; the column that says so with `relation_column`.
    relation_column : bool
        Whether `relation` is a column.
    head_prefix, tail_prefix : str
        Put before the ids.
    delimiter : str
        What separates cells.

    Yields
    ------
    Relation
        One a row; rows with an empty id are left out.

    Raises
    ------
    ReadError
        If a column is missing, or a row has too few cells.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.tsv"
    ...     _ = path.write_text("drug\\tdisease\\nD1\\tC2\\n")
    ...     list(read_relation_table(path, head="drug", tail="disease", relation="treats"))
    [Relation(head='D1', relation='treats', tail='C2')]
    """
    with open_text(path) as lines:
        header = next(iter(lines), "").rstrip("\r\n").split(delimiter)
        wanted = [head, tail, *([relation] if relation_column else [])]
        missing = [name for name in wanted if name not in header]
        if missing:
            raise ReadError(
                path, f"there is no column {missing[0]!r}; there are {', '.join(header)}", line=1
            )
        places = [header.index(name) for name in wanted]
        for number, line in enumerate(lines, start=2):
            cells = line.rstrip("\r\n").split(delimiter)
            if not line.strip():
                continue
            if len(cells) <= max(places):
                raise ReadError(
                    path,
                    f"{len(cells)} cells; at least {max(places) + 1} are expected",
                    line=number,
                )
            found = [cells[place].strip() for place in places]
            if found[0] and found[1]:
                name = found[2] if relation_column else relation
                yield Relation(head_prefix + found[0], name, tail_prefix + found[1])
