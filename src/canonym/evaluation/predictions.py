"""Predictions of other tools, or of another run: ids by document and offsets.

The first line of a file tells its format.

==============================  ===================================================================
first line                      content
==============================  ===================================================================
``{``                           JSON lines: ``document``, ``start``, ``end`` and ``ids``, as
                                ``canonym link`` writes them
names of columns, ``id`` and    a table, tabs or commas, a line per candidate, as ``canonym link``
``rank`` or ``code`` or         writes it: the first of each part of a mention; no id is NIL
``label`` among them
``7|t|A title``                 PubTator
anything else                   document, start, end and ids, separated by tabs, a line per mention
==============================  ===================================================================

Ids in one cell are joined by a bar where the tool takes the mention for several concepts; ``-1``,
``NIL`` or nothing is NIL. ::

    document	start	end	ids
    10087562	0	18	D016171
    10087562	94	116	D011471|D010051
    10087562	138	162	-1
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from canonym.corpora.gold import parse_ids
from canonym.corpora.jsonl import parse_jsonl_mentions
from canonym.corpora.offsets import whole_number
from canonym.corpora.pubtator import parse_pubtator, split_text_line
from canonym.errors import ReadError
from canonym.export.rows import JOINED_BY, unguarded
from canonym.io.streams import open_text
from canonym.io.tables import find_announced

Key = tuple[str, int, int]
"""Document, start and end of a mention."""

_NEEDED = ("document", "start", "end", "id")


class _Prediction(NamedTuple):
    """Ids of a mention, with their line; lines of one group belong to one mention."""

    document: str
    start: str
    end: str
    ids: tuple[str, ...]
    line: int
    group: str = ""


def read_predictions(path: str | Path) -> dict[Key, tuple[str, ...]]:
    """Read the ids that a tool gave to mentions.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed, in a format of this module.

    Returns
    -------
    dict of (document, start, end) to tuple of str
        Ids per mention, one per concept; none for NIL.

    Raises
    ------
    ReadError
        If a line has other columns than the first, an offset is missing or no number, or a mention
        occurs twice with different ids.
    """
    predicted: dict[Key, tuple[str, ...]] = {}
    first: dict[Key, _Prediction] = {}
    for row in _read(path):
        start, end = whole_number(row.start), whole_number(row.end)
        if start is None or end is None:
            raise ReadError(
                path,
                f"offsets {row.start[:20]!r} and {row.end[:20]!r} are no numbers",
                line=row.line,
            )
        key = (row.document, start, end)
        before = first.setdefault(key, row)
        if before is row:
            predicted[key] = row.ids
        elif row.group and row.group == before.group:  # a further part of the same mention
            predicted[key] += tuple(id_ for id_ in row.ids if id_ not in predicted[key])
        elif predicted[key] != row.ids:
            raise ReadError(
                path,
                f"{'|'.join(row.ids) or 'NIL'} for a mention that line {before.line} gives "
                f"{'|'.join(predicted[key]) or 'NIL'}: one line per mention",
                line=row.line,
            )
    return predicted


def _read(path: str | Path) -> Iterator[_Prediction]:
    named = find_announced(path)
    with open_text(path) as lines:
        if named:
            next(lines)
        head = next((line for line in lines if line.strip()), "")
    with open_text(path) as lines:
        if named:
            next(lines)
        if head.startswith("{"):
            yield from _from_json(lines, path)
        elif split_text_line(head):
            yield from _from_pubtator(lines, path)
        else:
            delimiter = named or ("\t" if "\t" in head else ",")
            columns = [cell.strip() for cell in head.rstrip("\n").split(delimiter)]
            if "id" in columns and {"rank", "code", "label"} & set(columns):
                yield from _from_table(lines, path, delimiter, columns, before=lines.line)
            else:
                yield from _from_lines(lines, path)


def _from_json(lines: Iterable[str], path: str | Path) -> Iterator[_Prediction]:
    for number, mention in enumerate(parse_jsonl_mentions(lines, path), start=1):
        if mention.start is None or mention.end is None:
            raise ReadError(
                path, f"mention {number}, {mention.text[:60]!r}, has no 'start' and 'end'"
            )
        ids = () if mention.rule == "nil" else mention.ids
        yield _Prediction(mention.document_id, str(mention.start), str(mention.end), ids, number)


def _from_pubtator(lines: Iterable[str], path: str | Path) -> Iterator[_Prediction]:
    for document in parse_pubtator(lines, path):
        for number, mention in enumerate(document.mentions, start=1):
            yield _Prediction(
                document.id, str(mention.start), str(mention.end), mention.ids, number
            )


def _from_table(
    lines: Iterable[str], path: str | Path, delimiter: str, columns: list[str], *, before: int
) -> Iterator[_Prediction]:
    if missing := [name for name in _NEEDED if name not in columns]:
        raise ReadError(
            path,
            f"has no column {missing[0]!r}; predictions of mentions in documents have "
            + ", ".join(_NEEDED),
            line=before + 1,
        )
    # Tab-separated tables quote nothing.
    tabs = delimiter == "\t"
    rows = csv.reader(
        lines, delimiter=delimiter, quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL
    )
    for number, cells in enumerate(rows, start=1):
        if number == 1 or not any(cells):
            continue
        if len(cells) != len(columns):
            raise ReadError(
                path,
                f"{len(cells)} cells where there are {len(columns)} columns",
                line=before + rows.line_num,
            )
        row = dict(zip(columns, cells, strict=True))
        if row.get("rank", "") not in {"", "1"}:
            continue
        # With --one-row the ids of the parts share a cell.
        ids = tuple(filter(None, map(unguarded, row["id"].split(JOINED_BY))))
        group = row.get("row") or (row.get("part", "") and "parts")
        document = unguarded(row["document"])
        yield _Prediction(document, row["start"], row["end"], ids, before + rows.line_num, group)


def _from_lines(lines: Iterable[str], path: str | Path) -> Iterator[_Prediction]:
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in line.rstrip("\n").split("\t")]
        if not any(cells) or (number == 1 and cells[1:3] == ["start", "end"]):
            continue
        if len(cells) not in {3, 4}:
            raise ReadError(
                path,
                f"{len(cells)} columns; document, start, end and ids were expected, separated "
                "by tabs",
                line=number,
            )
        document, start, end = cells[:3]
        ids, _ = parse_ids("".join(cells[3:]))
        yield _Prediction(document, start, end, ids, number)
